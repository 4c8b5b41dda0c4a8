/* decode.c — decodes a parsed module: places variables in device memory, lays functions out as
 * ops, closes the call graph. See decode.h. */
#include "grader/sim/code/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants: one slot for each (value, size), behind BASE_CONST ---- */

struct const_map {
    struct {
        u64 value;
        u32 bytes, offset;
    } * entry; /* free where bytes is 0 */
    u32 size, used;
};

static u32 const_hash(u64 value, u32 bytes) {
    return (u32)((value * 0x9e3779b97f4a7c15ull) >> 32) ^ bytes * 0x85ebca6bu;
}

static void const_grow(struct const_map *map) {
    struct const_map old = *map;
    map->size = old.size ? old.size * 2 : 256;
    map->entry = xcalloc(map->size, sizeof *map->entry);
    for (u32 i = 0; i < old.size; i++) {
        if (!old.entry[i].bytes) continue;
        u32 h = const_hash(old.entry[i].value, old.entry[i].bytes) & (map->size - 1);
        while (map->entry[h].bytes) h = (h + 1) & (map->size - 1);
        map->entry[h] = old.entry[i];
    }
    free(old.entry);
}

static u32 const_alloc_slot(struct sim_module *m, u64 value, u32 bytes) {
    assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    u32 size = bytes == 1 ? 64 : bytes * 32;
    ARENA_GROW(&m->arena, m->consts, m->const_bytes, (size_t)m->const_bytes + size,
               m->const_capacity, 65536);
    unsigned char *p = m->consts + m->const_bytes;
    for (u32 l = 0; l < 32; l++) {
        if (bytes == 1) *(u32 *)p = value ? ~0u : 0;
        if (bytes == 2) ((u16 *)p)[l] = (u16)value;
        if (bytes == 4) ((u32 *)p)[l] = (u32)value;
        if (bytes == 8) ((u64 *)p)[l] = value;
    }
    m->const_bytes += size;
    return m->const_bytes - size;
}

ref decode_slot_const(struct decoder *d, u64 value, unsigned bytes) {
    struct const_map *map = d->consts;
    if (map->used * 2 >= map->size) const_grow(map);
    u32 h = const_hash(value, bytes) & (map->size - 1);
    while (map->entry[h].bytes && (map->entry[h].bytes != bytes || map->entry[h].value != value))
        h = (h + 1) & (map->size - 1);
    if (!map->entry[h].bytes) {
        map->entry[h].value = value;
        map->entry[h].bytes = bytes;
        map->entry[h].offset = const_alloc_slot(d->m, value, bytes);
        map->used++;
    }
    return REF(BASE_CONST, map->entry[h].offset);
}

/* ---- module variables ---- */

bool decode_var_address(struct decoder *d, const struct ptx_var *v, u64 *out) {
    if (v->definition) v = v->definition;
    for (u32 i = 0; i < d->m->nvars; i++)
        if (d->m->vars[i].var == v) return *out = d->m->vars[i].address, true;
    return false;
}

static bool allocate_module_vars(struct decoder *d) {
    struct sim_module *m = d->m;
    m->vars = arena_array(&m->arena, struct module_var, m->ptx->nvars);
    for (unsigned i = 0; i < m->ptx->nvars; i++) {
        const struct ptx_var *v = m->ptx->vars[i];
        if (v->space != PTX_GLOBAL && v->space != PTX_CONST) continue;
        if (v->is_extern)
            return err_set(d->e, ERR_UNSUPPORTED,
                           "variable `%s` is declared extern but defined nowhere in the program",
                           v->name);
        if (v->is_managed && m->twin) {
            m->vars[m->nvars] = (struct module_var){v, m->twin->vars[m->nvars].address, true};
            m->nvars++;
            continue;
        }
        u64 at = v->is_managed ? memory_alloc_host_shared(m->memory, v->bytes, v->name) : 0;
        if (!at) at = memory_alloc(m->memory, v->bytes, v->name);
        if (!at)
            return err_set(d->e, ERR_LIMIT, "no device memory left for variable `%s` (%llu bytes)",
                           v->name, (unsigned long long)v->bytes);
        struct allocation *a = memory_find_allocation(m->memory, at);
        a->is_module_var = true;
        a->is_constant = v->space == PTX_CONST;
        m->vars[m->nvars++] = (struct module_var){v, at, false};
    }
    return true;
}

/* ---- functions ---- */

static bool decode_hint(struct decoder *d) { return decode_no_operands(d); }

static const struct {
    const char *name;
    bool (*decode)(struct decoder *);
} families[] = {
    {"ld", decode_memory},
    {"ldu", decode_memory},
    {"st", decode_memory},
    {"atom", decode_atomic},
    {"red", decode_atomic},
    {"cvta", decode_cvta},
    {"isspacep", decode_isspacep},
    {"bra", decode_branch},
    {"brx", decode_branch},
    {"call", decode_call},
    {"ret", decode_return},
    {"exit", decode_return},
    {"trap", decode_return},
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
    {"shfl", decode_warp_sync},
    {"vote", decode_warp_sync},
    {"match", decode_warp_sync},
    {"redux", decode_warp_sync},
    {"activemask", decode_no_operands},
    {"membar", decode_no_operands},
    {"fence", decode_fence},
    {"nanosleep", decode_no_operands},
    {"prefetch", decode_hint},
    {"prefetchu", decode_hint},
    {"griddepcontrol", decode_hint},
    {"discard", decode_hint},
    {"applypriority", decode_hint},
    {"pmevent", decode_hint},
    {"brkpt", decode_hint},
    {"nop", decode_hint},
    {"set", decode_set},
    {"mma", decode_matrix},
    {"wmma", decode_matrix},
    {"wgmma", decode_warpgroup},
    {"ldmatrix", decode_matrix},
    {"stmatrix", decode_matrix},
    {"movmatrix", decode_matrix},
    {"alloca", decode_alloca},
    {"stacksave", decode_alloca},
    {"stackrestore", decode_alloca},
    {"cp", decode_cp},
    {"tensormap", decode_tensormap},
    {"mbarrier", decode_mbarrier},
    {"setmaxnreg", decode_hint},
    {"createpolicy", decode_createpolicy},
    {"getctarank", decode_getctarank},
    {"mapa", decode_mapa},
    {"elect", decode_warp_sync},
    {"tex", decode_texture},
    {"tld4", decode_texture},
    {"suld", decode_surface},
    {"sust", decode_surface},
    {"txq", decode_texture_query},
    {"suq", decode_texture_query},
    {"vadd2", decode_video},
    {"vsub2", decode_video},
    {"vavrg2", decode_video},
    {"vabsdiff2", decode_video},
    {"vmin2", decode_video},
    {"vmax2", decode_video},
    {"vset2", decode_video},
    {"vadd4", decode_video},
    {"vsub4", decode_video},
    {"vavrg4", decode_video},
    {"vabsdiff4", decode_video},
    {"vmin4", decode_video},
    {"vmax4", decode_video},
    {"vset4", decode_video},
};

bool decode_insn(struct decoder *d) {
    char family[64];
    if (!strncmp(d->insn->opcode, "st.async.", 9) || !strncmp(d->insn->opcode, "red.async.", 10))
        return decode_async_store(d);
    decode_opcode_part(d->insn->opcode, 0, family, sizeof family);
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, family) == 0) return families[i].decode(d);
    return decode_regular(d);
}

static void count_reads(struct decoder *d, const struct ptx_operand *p, bool written) {
    if ((p->kind == PTX_OP_REG && !written) || p->kind == PTX_OP_ADDRESS)
        if (p->reg >= 0) d->read_counts[p->reg]++;
    for (unsigned i = 0; i < p->nitems; i++) count_reads(d, &p->items[i], written);
}

/* Returns true if the instruction writes its first operand; some have no destination. */
bool decode_writes_first_operand(const struct ptx_insn *in) {
    static const char *const no_dst[] = {"bar",          "bra",        "brx",
                                         "membar",       "fence",      "nanosleep",
                                         "stackrestore", "setmaxnreg", "pmevent"};
    if (in->noperands && in->operands[0].kind == PTX_OP_ADDRESS) return false;
    if (strncmp(in->opcode, "bar", 3) == 0 && decode_opcode_has(in->opcode, "red")) return true;
    for (unsigned i = 0; i < sizeof no_dst / sizeof *no_dst; i++)
        if (strncmp(in->opcode, no_dst[i], strlen(no_dst[i])) == 0) return false;
    return strncmp(in->opcode, "call", 4) != 0;
}

static void count_store_uses(struct decoder *d, const struct ptx_operand *p) {
    if (p->kind == PTX_OP_REG && p->reg >= 0) d->store_use_counts[p->reg]++;
    for (unsigned i = 0; i < p->nitems; i++) count_store_uses(d, &p->items[i]);
}

static void count_all_reads(struct decoder *d) {
    for (unsigned i = 0; i < d->f->ninsns; i++) {
        const struct ptx_insn *in = &d->f->insns[i];
        if (strncmp(in->opcode, "st.", 3) == 0 && in->noperands > 1)
            count_store_uses(d, &in->operands[1]);
        if (in->guard >= 0) d->read_counts[in->guard]++;
        for (unsigned k = 0; k < in->noperands; k++)
            count_reads(d, &in->operands[k], k == 0 && decode_writes_first_operand(in));
    }
}

struct param_area *decode_find_param_area(struct decoder *d, const struct ptx_var *v) {
    for (u32 i = 0; i < d->nparam_areas; i++)
        if (d->param_areas[i].var == v) return &d->param_areas[i];
    return NULL;
}

static u32 align_to(u32 at, u32 align) { return align > 1 ? (at + align - 1) / align * align : at; }

/* Reserves `bytes` behind *at, aligned; sets *start. Sums have 64 bits, since the program chooses
 * these numbers. Beyond max_bytes, which is PTX's limit or ours, it sets the error and returns
 * false. */
static bool reserve_bytes(struct decoder *d, u32 *at, u64 bytes, u64 align, u64 max_bytes,
                          const char *description, u32 *start) {
    u64 from = align > 1 ? (*at + align - 1) / align * align : *at;
    if (bytes > max_bytes || from > max_bytes - bytes)
        return err_set(d->e, ERR_LIMIT, "`%s`: more than %llu bytes of %s",
                       d->f ? d->f->name : "the module", (unsigned long long)max_bytes,
                       description);
    *start = (u32)from;
    *at = (u32)(from + bytes);
    return true;
}

static bool add_param_area(struct decoder *d, const struct ptx_var *v) {
    u32 start = 0;
    u64 words = (v->bytes + 3) / 4;
    if (!reserve_bytes(d, &d->frame_bytes, words * 128, 64, MAX_FRAME_BYTES,
                       "registers and parameters of calls", &start))
        return false;
    d->param_areas[d->nparam_areas++] = (struct param_area){v, start, (u32)words * 4};
    return true;
}

/* Lays out parameters and return values, so that a call finds them in order. A kernel's lie in
 * constant memory. */
static bool layout_formals(struct decoder *d) {
    const struct ptx_func *f = d->f;
    for (unsigned i = 0; !f->is_entry && i < f->nparams + f->nrets; i++) {
        const struct ptx_var *v = i < f->nparams ? &f->params[i] : &f->rets[i - f->nparams];
        if (v->space != PTX_PARAM)
            return err_set(d->e, ERR_UNSUPPORTED,
                           "not implemented: register parameters of function `%s`", f->name);
        if (!add_param_area(d, v)) return false;
    }
    d->c->formals = d->param_areas;
    d->c->nformals = d->nparam_areas;
    d->c->nrets = f->nrets;
    return true;
}

static bool layout_var(struct decoder *d, const struct ptx_var *v, u32 *shared_offset) {
    u32 start = 0;
    if (v->space == PTX_PARAM) return add_param_area(d, v);
    if (v->space == PTX_LOCAL) {
        if (!reserve_bytes(d, &d->c->local_bytes, v->bytes, v->align, MAX_LOCAL_BYTES,
                           "local memory a thread", &start))
            return false;
        d->local_vars[d->nlocal_vars++] = (struct var_offset){v, start};
    }
    if (v->space == PTX_SHARED && v->bytes) {
        if (!reserve_bytes(d, shared_offset, v->bytes, v->align, MAX_SHARED_BYTES, "shared memory",
                           &start))
            return false;
        d->shared_vars[d->nshared_vars++] = (struct var_offset){v, start};
    }
    return true;
}

/* Lays out a function's variables. `shared_offset`: where its own shared memory begins. */
static bool layout_vars(struct decoder *d, u32 shared_offset) {
    const struct ptx_func *f = d->f;
    struct arena *a = &d->m->arena;
    d->param_areas = arena_array(a, struct param_area, f->nparams + f->nrets + f->nvars);
    d->local_vars = arena_array(a, struct var_offset, f->nvars);
    struct var_offset *shareds = arena_array(a, struct var_offset, d->nshared_vars + f->nvars);
    if (d->nshared_vars) memcpy(shareds, d->shared_vars, d->nshared_vars * sizeof *shareds);
    d->shared_vars = shareds;
    if (!layout_formals(d)) return false;
    for (unsigned i = 0; i < f->nvars; i++)
        if (!layout_var(d, f->vars[i], &shared_offset)) return false;
    d->c->local_bytes = align_to(d->c->local_bytes, 16);
    d->c->static_shared = shared_offset;
    d->c->shared_vars = d->shared_vars;
    d->c->nshared_vars = d->nshared_vars;
    return true;
}

void decode_mark_leaders(const struct ptx_func *f, unsigned char *leader) {
    for (unsigned i = 0; i < f->ninsns; i++)
        for (unsigned k = 0; k < f->insns[i].noperands; k++)
            if (f->insns[i].operands[k].kind == PTX_OP_LABEL)
                leader[f->insns[i].operands[k].target] = 1;
    for (unsigned i = 0; i < f->ntables; i++)
        for (unsigned k = 0; k < f->tables[i].ntargets; k++) leader[f->tables[i].targets[k]] = 1;
}

void decode_emit_fallthrough(struct decoder *d) {
    struct sim_module *m = d->m;
    if (m->nops == d->c->first_op || decode_ends_segment(&m->ops[m->nops - 1])) return;
    const struct ptx_insn *in = d->insn;
    d->insn = NULL;
    struct op *o = decode_emit_named(d, "nop");
    o->kind = OP_FALLTHROUGH;
    o->weight = 0;
    o->loc = m->ops[m->nops - 2].loc;
    d->insn = in;
}

/* Lays out the instructions; insn_ops[i] = first op of instruction i. */
static bool emit_body(struct decoder *d, u32 *insn_ops) {
    const struct ptx_func *f = d->f;
    unsigned char *leader = xcalloc(f->ninsns + 1, 1);
    decode_mark_leaders(f, leader);
    bool ok = true;
    decode_emit_stack_prologue(d);
    for (unsigned i = 0; ok && i < f->ninsns; i++) {
        if (leader[i]) decode_emit_fallthrough(d);
        d->insn = &f->insns[i];
        insn_ops[i] = d->m->nops;
        ok = d->contractions ? decode_contracted_insn(d, i) : decode_insn(d);
        if (ok) decode_emit_fence_notes(d);
        d->c->may_sync_with_host |= decode_may_sync_with_host(&f->insns[i]);
    }
    if (ok && leader[f->ninsns])
        decode_emit_fallthrough(d); /* for a label behind the last instruction */
    free(leader);
    if (!ok) return false;
    d->insn = NULL;
    insn_ops[f->ninsns] = d->m->nops;
    decode_emit_stack_epilogue(d);
    struct op *o = decode_emit_named(d, "ret"); /* for code that runs past its end */
    o->weight = 0;
    o->kind = f->is_entry ? OP_EXIT : OP_RET;
    return true;
}

static void patch_branches(struct decoder *d, const u32 *insn_ops, u32 first_table) {
    struct sim_module *m = d->m;
    for (u32 i = d->c->first_op; i < m->nops; i++) {
        struct op *o = &m->ops[i];
        if (o->kind != OP_BRA) continue;
        assert(o->target <= d->f->ninsns);
        o->target = insn_ops[o->target];
        if (o->target <= i) o->flags |= OPF_BACKWARD;
    }
    for (u32 t = first_table; t < m->ntables; t++)
        for (u32 k = 0; k < m->tables[t].count; k++)
            m->tables[t].targets[k] = insn_ops[m->tables[t].targets[k]];
}

static void bind_lane_functions(struct sim_module *m, u32 first) {
    op_fn *const *lanes = lanes_default_table();
    for (u32 i = first; i < m->nops; i++) {
        struct op *o = &m->ops[i];
        if (o->kind == OP_LANEWISE) o->run = o->env ? core_run_with_fp_env : lanes[o->opcode];
    }
}

/* Returns the source location of the first instruction that has one. */
static u32 find_first_loc(const struct decoder *d) {
    for (unsigned i = 0; i < d->f->ninsns; i++)
        if (d->m->ptx->locs[d->f->insns[i].loc].line) return d->f->insns[i].loc;
    return 0;
}

/* Begins a function: its registers get slots, and the analyses of its PTX run. */
static void begin_func(struct decoder *d, struct sim_func *c) {
    const struct ptx_func *f = c->func;
    d->f = f;
    d->c = c;
    d->frame_bytes = 0;
    d->slot_lists[c - d->m->funcs].first = d->nslots;
    d->nparam_areas = d->nlocal_vars = 0;
    d->carry_flag = REF_NONE;
    d->regs = arena_array(&d->m->arena, ref, f->nregs);
    d->read_counts = xcalloc(f->nregs * 2ul, sizeof *d->read_counts);
    d->store_use_counts = d->read_counts + f->nregs;
    count_all_reads(d);
    decode_find_contractions(d);
    decode_find_missing_fences(d);
    for (unsigned i = 0; i < f->nregs; i++)
        d->regs[i] = decode_slot_new(d, decode_reg_bytes(f->regs[i].type));
    c->block_slot_bytes = B_SLOT_COUNT * SLOT_BYTES;
    c->first_op = d->m->nops;
    d->loc = find_first_loc(d);
    d->insn = NULL;
}

/* Lays the variables out and emits the ops of the body. */
static bool emit_func(struct decoder *d, u32 shared_offset, u32 *insn_ops) {
    bool ok = layout_vars(d, shared_offset);
    d->reg_arrays = ok ? decode_array_objects(d) : NULL;
    d->reg_objects = ok ? decode_param_objects(d) : NULL;
    ok = ok && emit_body(d, insn_ops);
    free(d->reg_arrays);
    free(d->reg_objects);
    d->reg_arrays = d->reg_objects = NULL;
    if (ok && d->frame_bytes > MAX_FRAME_BYTES)
        ok = err_set(d->e, ERR_LIMIT, "`%s` has too many registers", d->f->name);
    return ok;
}

static bool decode_func(struct decoder *d, struct sim_func *c, u32 shared_offset) {
    const struct ptx_func *f = c->func;
    begin_func(d, c);
    u32 *insn_ops = xcalloc(f->ninsns + 1, sizeof *insn_ops), first_table = d->m->ntables,
        saved_nshareds = d->nshared_vars;
    bool ok = emit_func(d, shared_offset, insn_ops);
    if (ok) patch_branches(d, insn_ops, first_table);
    if (ok) decode_find_unassigned(d);
    if (ok) decode_merge_accesses(d);
    if (ok && f->is_entry) decode_find_mod_sets(d);
    d->nshared_vars = saved_nshareds;
    free(insn_ops), free(d->read_counts), free(d->contractions), free(d->fence_checked);
    d->fence_checked = NULL;
    c->end_op = d->m->nops;
    d->slot_lists[c - d->m->funcs].n = d->nslots - d->slot_lists[c - d->m->funcs].first;
    c->frame_bytes = (d->frame_bytes + 63) & ~63u;
    if (ok) decode_find_cas_retries(d);
    if (ok) decode_find_address_reuse(d);
    if (ok) bind_lane_functions(d->m, c->first_op);
    return ok;
}

/* ---- the module ---- */

static void list_funcs(struct sim_module *m) {
    m->funcs = arena_array(&m->arena, struct sim_func, m->ptx->nfuncs);
    m->kernels = arena_array(&m->arena, struct sim_kernel, m->ptx->nfuncs);
    for (unsigned i = 0; i < m->ptx->nfuncs; i++)
        if (m->ptx->funcs[i]->has_body)
            m->funcs[m->nfuncs++] =
                (struct sim_func){.func = m->ptx->funcs[i], .name = m->ptx->funcs[i]->name};
}

/* Places the shared variables that functions or several kernels use first, at the same offset for
 * every kernel. */
static bool layout_module_shared(struct decoder *d, u32 *at) {
    const struct ptx_module *p = d->m->ptx;
    *at = 0;
    d->shared_vars = arena_array(&d->m->arena, struct var_offset, p->nvars);
    for (unsigned i = 0; i < p->nvars; i++) {
        const struct ptx_var *v = p->vars[i];
        if (v->space != PTX_SHARED || !v->bytes) continue;
        u32 start = 0;
        if (!reserve_bytes(d, at, v->bytes, v->align, MAX_SHARED_BYTES, "shared memory", &start))
            return false;
        d->shared_vars[d->nshared_vars++] = (struct var_offset){v, start};
    }
    return true;
}

static bool references_module_shared(const struct ptx_module *p, const struct ptx_operand *o) {
    if (o->var && o->var->space == PTX_SHARED && o->var->bytes)
        for (unsigned i = 0; i < p->nvars; i++)
            if (p->vars[i] == o->var) return true;
    for (unsigned i = 0; i < o->nitems; i++)
        if (references_module_shared(p, &o->items[i])) return true;
    return false;
}

/* Returns true if the kernel calls a function or names a common shared variable; other kernels
 * don't pay for these. */
static bool uses_module_shared(const struct ptx_module *p, const struct ptx_func *f) {
    for (unsigned i = 0; i < f->ninsns; i++) {
        if (strncmp(f->insns[i].opcode, "call", 4) == 0) return true;
        for (unsigned k = 0; k < f->insns[i].noperands; k++)
            if (references_module_shared(p, &f->insns[i].operands[k])) return true;
    }
    return false;
}

static bool decode_all(struct decoder *d) {
    struct sim_module *m = d->m;
    u32 func_shared_bytes;
    if (!layout_module_shared(d, &func_shared_bytes)) return false;
    for (u32 i = 0; i < m->nfuncs; i++) {
        if (m->funcs[i].func->is_entry) continue;
        if (!decode_func(d, &m->funcs[i], func_shared_bytes)) return false;
        func_shared_bytes = m->funcs[i].static_shared;
    }
    for (u32 i = 0; i < m->nfuncs; i++) {
        if (!m->funcs[i].func->is_entry) continue;
        if (!decode_func(d, &m->funcs[i],
                         func_shared_bytes && uses_module_shared(m->ptx, m->funcs[i].func)
                             ? func_shared_bytes
                             : 0))
            return false;
        struct sim_kernel *k = &m->kernels[m->nkernels++];
        *k = (struct sim_kernel){.module = m, .func_index = i};
        m->funcs[i].kernel = k;
        const struct ptx_func *f = m->funcs[i].func;
        u32 start = 0;
        for (unsigned p = 0; p < f->nparams; p++)
            if (!reserve_bytes(d, &k->param_bytes, f->params[p].bytes, f->params[p].align,
                               MAX_PARAM_BYTES, "parameters", &start))
                return false;
    }
    return true;
}

static void share_slots(const struct decoder *d) {
    struct sim_module *m = d->m;
    m->unshared_ops = m->ops, m->unshared_mems = m->mems, m->unshared_warp_syncs = m->warp_syncs;
    for (u32 i = 0; i < m->nfuncs; i++)
        decode_share_slots(m, &m->funcs[i], d->slots + d->slot_lists[i].first, d->slot_lists[i].n);
}

/* What follows from all functions together, and what changes ops at last. */
static void analyze_module(const struct decoder *d) {
    struct sim_module *m = d->m;
    decode_build_segments(m);
    for (u32 i = 0; i < m->nfuncs; i++) code_find_barrier_divergence(m, &m->funcs[i]);
    code_index_stats(m);
    share_slots(d);
    unsigned char *state = xcalloc(m->nfuncs, 1);
    for (u32 i = 0; i < m->nfuncs; i++)
        if (!state[i]) decode_call_closure(m, &m->funcs[i], state);
    free(state);
}

enum { MAX_FUNCTIONS = 20000 }; /* decode_call_closure recurses along call chains */

bool code_decode(struct sim_module *m, struct err *e) {
    if (m->ptx->nfuncs > MAX_FUNCTIONS)
        return err_set(e, ERR_LIMIT, "more than %d functions in one module", MAX_FUNCTIONS);
    struct const_map consts = {0};
    struct decoder d = {.m = m,
                        .consts = &consts,
                        .e = e,
                        .module_uses_grid_sync = decode_uses_grid_workspace(m->ptx)};
    d.module_polls_global = decode_has_global_polls(m->ptx);
    list_funcs(m);
    d.slot_lists = xcalloc(m->nfuncs + 1, sizeof *d.slot_lists);
    bool ok = allocate_module_vars(&d) && decode_all(&d);
    if (ok) analyze_module(&d);
    free(consts.entry), free(d.slots), free(d.slot_lists);
    return ok;
}

/* decode.c — a parsed module to executable code: variables placed in device memory, functions laid
 * out as ops and segments, the call graph closed. See decode.h. */
#include "grader/sim/code/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants: one slot for each (value, size), behind BASE_CONST ---- */

struct const_map {
    struct {
        u64 value;
        u32 bytes, at;
    } * entry; /* bytes 0 = free */
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

static u32 const_place(struct sim_module *m, u64 value, u32 bytes) {
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
        map->entry[h].at = const_place(d->m, value, bytes);
        map->used++;
    }
    return REF(BASE_CONST, map->entry[h].at);
}

/* ---- module variables ---- */

bool decode_var_address(struct decoder *d, const struct ptx_var *v, u64 *out) {
    if (v->definition) v = v->definition;
    for (u32 i = 0; i < d->m->nvars; i++)
        if (d->m->vars[i].var == v) return *out = d->m->vars[i].address, true;
    return false;
}

static bool place_vars(struct decoder *d) {
    struct sim_module *m = d->m;
    m->vars = arena_array(&m->arena, struct placed_var, m->ptx->nvars);
    for (unsigned i = 0; i < m->ptx->nvars; i++) {
        const struct ptx_var *v = m->ptx->vars[i];
        if (v->space != PTX_GLOBAL && v->space != PTX_CONST) continue;
        if (v->is_extern)
            return err_set(d->e, ERR_UNSUPPORTED,
                           "variable `%s` is declared extern and defined nowhere in the program",
                           v->name);
        u64 at = v->is_managed ? memory_alloc_shared(m->memory, v->bytes, v->name) : 0;
        if (!at) at = memory_alloc(m->memory, v->bytes, v->name);
        if (!at)
            return err_set(d->e, ERR_LIMIT, "no device memory left for variable `%s` (%llu bytes)",
                           v->name, (unsigned long long)v->bytes);
        struct allocation *a = memory_at(m->memory, at);
        a->module = true;
        a->constant = v->space == PTX_CONST;
        m->vars[m->nvars++] = (struct placed_var){v, at};
    }
    return true;
}

/* ---- functions ---- */

static bool decode_hint(struct decoder *d) { return decode_bare(d); }

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
    {"ret", decode_end},
    {"exit", decode_end},
    {"trap", decode_end},
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
    {"shfl", decode_rendezvous},
    {"vote", decode_rendezvous},
    {"match", decode_rendezvous},
    {"redux", decode_rendezvous},
    {"activemask", decode_bare},
    {"membar", decode_bare},
    {"fence", decode_fence},
    {"nanosleep", decode_bare},
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
    {"alloca", decode_stack},
    {"stacksave", decode_stack},
    {"stackrestore", decode_stack},
    {"cp", decode_cp},
    {"tensormap", decode_tensormap},
    {"mbarrier", decode_mbarrier},
    {"setmaxnreg", decode_hint},
    {"createpolicy", decode_into_zero},
    {"getctarank", decode_getctarank},
    {"mapa", decode_mapa},
    {"elect", decode_rendezvous},
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
    decode_opcode_part(d->in->opcode, 0, family, sizeof family);
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, family) == 0) return families[i].decode(d);
    return decode_plain(d);
}

static void count_reads(struct decoder *d, const struct ptx_operand *p, bool written) {
    if ((p->kind == PTX_OP_REG && !written) || p->kind == PTX_OP_ADDRESS)
        if (p->reg >= 0) d->reads[p->reg]++;
    for (unsigned i = 0; i < p->nitems; i++) count_reads(d, &p->items[i], written);
}

/* The first operand is written, except where an instruction has no destination. */
bool decode_writes_first_operand(const struct ptx_insn *in) {
    static const char *const none[] = {"bar",       "bra",          "brx",        "membar", "fence",
                                       "nanosleep", "stackrestore", "setmaxnreg", "pmevent"};
    if (in->noperands && in->operands[0].kind == PTX_OP_ADDRESS) return false;
    if (strncmp(in->opcode, "bar", 3) == 0 && decode_opcode_has(in->opcode, "red")) return true;
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        if (strncmp(in->opcode, none[i], strlen(none[i])) == 0) return false;
    return strncmp(in->opcode, "call", 4) != 0;
}

static void count_stored(struct decoder *d, const struct ptx_operand *p) {
    if (p->kind == PTX_OP_REG && p->reg >= 0) d->stored[p->reg]++;
    for (unsigned i = 0; i < p->nitems; i++) count_stored(d, &p->items[i]);
}

static void count_all_reads(struct decoder *d) {
    for (unsigned i = 0; i < d->f->ninsns; i++) {
        const struct ptx_insn *in = &d->f->insns[i];
        if (strncmp(in->opcode, "st.", 3) == 0 && in->noperands > 1)
            count_stored(d, &in->operands[1]);
        if (in->guard >= 0) d->reads[in->guard]++;
        for (unsigned k = 0; k < in->noperands; k++)
            count_reads(d, &in->operands[k], k == 0 && decode_writes_first_operand(in));
    }
}

struct param_area *decode_area_of(struct decoder *d, const struct ptx_var *v) {
    for (u32 i = 0; i < d->nareas; i++)
        if (d->areas[i].var == v) return &d->areas[i];
    return NULL;
}

static u32 align_to(u32 at, u32 align) { return align > 1 ? (at + align - 1) / align * align : at; }

/* Takes `bytes` behind `*at`, aligned: where they begin is in `*start`. In 64 bits, since all of
 * these numbers are the program's; past `most`, which is PTX's own limit or ours, nothing is taken.
 */
static bool take_room(struct decoder *d, u32 *at, u64 bytes, u64 align, u64 most, const char *what,
                      u32 *start) {
    u64 from = align > 1 ? (*at + align - 1) / align * align : *at;
    if (bytes > most || from > most - bytes)
        return err_set(d->e, ERR_LIMIT, "`%s`: more than %llu bytes of %s",
                       d->f ? d->f->name : "the module", (unsigned long long)most, what);
    *start = (u32)from;
    *at = (u32)(from + bytes);
    return true;
}

static bool add_area(struct decoder *d, const struct ptx_var *v) {
    u32 start = 0;
    u64 words = (v->bytes + 3) / 4;
    if (!take_room(d, &d->frame, words * 128, 64, MOST_FRAME, "registers and parameters of calls",
                   &start))
        return false;
    d->areas[d->nareas++] = (struct param_area){v, start, (u32)words * 4};
    return true;
}

/* Parameters and returns of a function first, so that a call finds them in order. */
static bool lay_out_vars(struct decoder *d, u32 shared_at) {
    const struct ptx_func *f = d->f;
    struct arena *a = &d->m->arena;
    d->areas = arena_array(a, struct param_area, f->nparams + f->nrets + f->nvars);
    d->locals = arena_array(a, struct var_place, f->nvars);
    struct var_place *shareds = arena_array(a, struct var_place, d->nshareds + f->nvars);
    if (d->nshareds) memcpy(shareds, d->shareds, d->nshareds * sizeof *shareds);
    d->shareds = shareds;
    for (unsigned i = 0; !f->is_entry && i < f->nparams + f->nrets; i++) {
        const struct ptx_var *v = i < f->nparams ? &f->params[i] : &f->rets[i - f->nparams];
        if (v->space != PTX_PARAM)
            return err_set(d->e, ERR_UNSUPPORTED,
                           "not implemented: register parameters of function `%s`", f->name);
        if (!add_area(d, v)) return false;
    }
    d->c->formals = d->areas;
    d->c->nformals = d->nareas;
    d->c->nrets = f->nrets;
    for (unsigned i = 0; i < f->nvars; i++) {
        const struct ptx_var *v = f->vars[i];
        u32 start = 0;
        if (v->space == PTX_PARAM && !add_area(d, v)) return false;
        if (v->space == PTX_LOCAL) {
            if (!take_room(d, &d->c->local_bytes, v->bytes, v->align, MOST_LOCAL,
                           "local memory a thread", &start))
                return false;
            d->locals[d->nlocals++] = (struct var_place){v, start};
        }
        if (v->space == PTX_SHARED && v->bytes) {
            if (!take_room(d, &shared_at, v->bytes, v->align, MOST_SHARED, "shared memory", &start))
                return false;
            d->shareds[d->nshareds++] = (struct var_place){v, start};
        }
    }
    d->c->local_bytes = align_to(d->c->local_bytes, 16);
    d->c->static_shared = shared_at;
    d->c->shared = d->shareds;
    d->c->nshared = d->nshareds;
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

static bool is_control(const struct op *o) { return o->kind != OP_LANES; }

void decode_fall(struct decoder *d) {
    struct sim_module *m = d->m;
    if (m->nops == d->c->first_op || is_control(&m->ops[m->nops - 1])) return;
    const struct ptx_insn *in = d->in;
    d->in = NULL;
    struct op *o = decode_emit_named(d, "nop");
    o->kind = OP_FALL;
    o->weight = 0;
    o->loc = m->ops[m->nops - 2].loc;
    d->in = in;
}

/* Lays out the instructions; places[i] = op of instruction i. */
static bool emit_body(struct decoder *d, u32 *places) {
    const struct ptx_func *f = d->f;
    unsigned char *leader = xcalloc(f->ninsns + 1, 1);
    decode_mark_leaders(f, leader);
    bool ok = true;
    decode_begin_stack(d);
    for (unsigned i = 0; ok && i < f->ninsns; i++) {
        if (leader[i]) decode_fall(d);
        d->in = &f->insns[i];
        places[i] = d->m->nops;
        ok = d->contractions ? decode_contracted(d, i) : decode_insn(d);
        if (ok) decode_note_registers(d);
    }
    if (ok && leader[f->ninsns]) decode_fall(d); /* a label behind the last instruction */
    free(leader);
    if (!ok) return false;
    d->in = NULL;
    places[f->ninsns] = d->m->nops;
    decode_end_stack(d);
    struct op *o = decode_emit_named(d, "ret"); /* for code that runs off its end */
    o->weight = 0;
    o->kind = f->is_entry ? OP_EXIT : OP_RET;
    return true;
}

static void patch_branches(struct decoder *d, const u32 *places, u32 first_table) {
    struct sim_module *m = d->m;
    for (u32 i = d->c->first_op; i < m->nops; i++) {
        struct op *o = &m->ops[i];
        if (o->kind != OP_BRA) continue;
        assert(o->target <= d->f->ninsns);
        o->target = places[o->target];
        if (o->target <= i) o->flags |= OPF_BACKWARD;
    }
    for (u32 t = first_table; t < m->ntables; t++)
        for (u32 k = 0; k < m->tables[t].count; k++)
            m->tables[t].targets[k] = places[m->tables[t].targets[k]];
}

static void bind(struct sim_module *m, u32 first) {
    op_fn *const *lanes = lanes_best();
    for (u32 i = first; i < m->nops; i++) {
        struct op *o = &m->ops[i];
        if (o->kind == OP_LANES) o->run = o->env ? core_run_in_environment : lanes[o->row];
    }
}

/* Of the first instruction that has a line. */
static u32 first_place(const struct decoder *d) {
    for (unsigned i = 0; i < d->f->ninsns; i++)
        if (d->m->ptx->locs[d->f->insns[i].loc].line) return d->f->insns[i].loc;
    return 0;
}

static bool decode_func(struct decoder *d, struct code *c, u32 shared_at) {
    const struct ptx_func *f = c->func;
    d->f = f;
    d->c = c;
    d->frame = 0;
    d->nareas = d->nlocals = 0;
    d->carry = REF_NONE;
    d->regs = arena_array(&d->m->arena, ref, f->nregs);
    d->reads = xcalloc(f->nregs * 2ul, sizeof *d->reads);
    d->stored = d->reads + f->nregs;
    count_all_reads(d);
    decode_find_contractions(d);
    decode_find_unfenced(d);
    for (unsigned i = 0; i < f->nregs; i++)
        d->regs[i] = decode_slot_new(d, decode_reg_bytes(f->regs[i].type));
    c->block_bytes = B_SLOTS * SLOT_BYTES;
    c->first_op = d->m->nops;
    d->loc = first_place(d);
    u32 *places = xcalloc(f->ninsns + 1, sizeof *places), first_table = d->m->ntables,
        saved = d->nshareds;
    d->in = NULL;
    bool ok = lay_out_vars(d, shared_at);
    d->arrays = ok ? decode_roots_arrays(d) : NULL;
    d->roots = ok ? decode_roots_params(d) : NULL;
    ok = ok && emit_body(d, places);
    free(d->arrays);
    free(d->roots);
    d->arrays = d->roots = NULL;
    if (ok && d->frame > MOST_FRAME)
        ok = err_set(d->e, ERR_LIMIT, "`%s` has too many registers", d->f->name);
    if (ok) patch_branches(d, places, first_table);
    if (ok) decode_find_unassigned(d);
    if (ok) decode_merge_memory(d);
    if (ok && f->is_entry) c->changes = decode_roots_changed(d);
    d->nshareds = saved;
    free(places), free(d->reads), free(d->contractions), free(d->watched);
    d->watched = NULL;
    c->end_op = d->m->nops;
    c->frame_bytes = (d->frame + 63) & ~63u;
    if (ok) decode_find_rechecked(d);
    if (ok) decode_find_repeats(d);
    if (ok) bind(d->m, c->first_op);
    return ok;
}

/* ---- segments ---- */

/* To add the constant 0 is to look, not to draw. */
static bool draws(const struct sim_module *m, const struct op *o) {
    if (o->kind != OP_LANES || strcmp(insn_rows[o->row].name, "atom") != 0) return false;
    const struct mem_desc *d = &m->mems[o->aux];
    u32 value = 1;
    if (ref_base(d->operand[0]) == BASE_CONST)
        memcpy(&value, m->consts + ref_offset(d->operand[0]), sizeof value);
    bool global = d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC;
    return global && d->verb == MEM_ATOM && d->result != REF_NONE && value &&
           (d->atom == ATOM_ADD || d->atom == ATOM_INC || d->atom == ATOM_DEC);
}

static void build_segments(struct sim_module *m) {
    u32 n = 0;
    for (u32 i = 0; i < m->nops; i++) n += is_control(&m->ops[i]);
    m->segments = arena_array(&m->arena, struct segment, n);
    m->segment_of = arena_array(&m->arena, u32, m->nops + 1);
    struct segment s = {0};
    for (u32 i = 0; i < m->nops; i++) {
        s.last = i;
        s.insns += m->ops[i].weight;
        s.draws |= draws(m, &m->ops[i]);
        if (!is_control(&m->ops[i])) continue;
        m->segments[m->nsegments] = s;
        m->segment_of[s.first] = m->nsegments++;
        s = (struct segment){.first = i + 1};
    }
}

/* ---- the call graph ---- */

enum { RECURSION_FRAMES = 1 << 20, RECURSION_LOCAL = 64 << 10 };

static void close_calls(struct sim_module *m, struct code *c, unsigned char *state) {
    u32 i = (u32)(c - m->codes), frame = 0, local = 0;
    state[i] = 1;
    for (u32 k = 0; k < c->ncallees + (c->calls_unknown ? m->ncodes : 0); k++) {
        u32 j = k < c->ncallees ? c->callees[k] : k - c->ncallees;
        struct code *q = &m->codes[j];
        if (q->func->is_entry) continue;
        if (state[j] == 1) {
            c->recursive = q->recursive = true;
            continue;
        }
        if (state[j] == 0) close_calls(m, q, state);
        c->communicates |= q->communicates;
        c->awaits |= q->awaits, c->looks |= q->looks;
        if (q->dynamic_align > c->dynamic_align) c->dynamic_align = q->dynamic_align;
        c->cooperative |= q->cooperative;
        c->reads_textures |= q->reads_textures;
        c->writes_surfaces |= q->writes_surfaces;
        c->clusters |= q->clusters;
        c->async_reads |= q->async_reads;
        c->cluster_barrier |= q->cluster_barrier;
        c->allocates |= q->allocates;
        c->updates_global |= q->updates_global;
        c->narrow_global |= q->narrow_global;
        c->narrow_shared |= q->narrow_shared;
        c->recursive |= q->recursive;
        if (q->max_frame > frame) frame = q->max_frame;
        if (q->max_local > local) local = q->max_local;
    }
    /* A chain of calls is no longer than the module has functions: sums saturate, and the launch
     * finds no memory for them. */
    c->max_frame =
        c->frame_bytes > UINT32_MAX / 2 - frame ? UINT32_MAX / 2 : c->frame_bytes + frame;
    c->max_local =
        c->local_bytes > UINT32_MAX / 2 - local ? UINT32_MAX / 2 : c->local_bytes + local;
    if (c->recursive) c->max_frame += RECURSION_FRAMES, c->max_local += RECURSION_LOCAL;
    if (c->func->is_entry && c->allocates) c->max_local = align_to(c->max_local, 16) + ALLOCA_BYTES;
    if (c->reads_textures && c->writes_surfaces)
        c->communicates = true; /* blocks may see each other's texels */
    state[i] = 2;
}

/* ---- the module ---- */

static void list_codes(struct sim_module *m) {
    m->codes = arena_array(&m->arena, struct code, m->ptx->nfuncs);
    m->kernels = arena_array(&m->arena, struct sim_kernel, m->ptx->nfuncs);
    for (unsigned i = 0; i < m->ptx->nfuncs; i++)
        if (m->ptx->funcs[i]->has_body)
            m->codes[m->ncodes++] =
                (struct code){.func = m->ptx->funcs[i], .name = m->ptx->funcs[i]->name};
}

/* Shared variables that functions or several kernels use lie first, at the same place for every
 * kernel. */
static bool place_common_shared(struct decoder *d, u32 *at) {
    const struct ptx_module *p = d->m->ptx;
    *at = 0;
    d->shareds = arena_array(&d->m->arena, struct var_place, p->nvars);
    for (unsigned i = 0; i < p->nvars; i++) {
        const struct ptx_var *v = p->vars[i];
        if (v->space != PTX_SHARED || !v->bytes) continue;
        u32 start = 0;
        if (!take_room(d, at, v->bytes, v->align, MOST_SHARED, "shared memory", &start))
            return false;
        d->shareds[d->nshareds++] = (struct var_place){v, start};
    }
    return true;
}

static bool names_common(const struct ptx_module *p, const struct ptx_operand *o) {
    if (o->var && o->var->space == PTX_SHARED && o->var->bytes)
        for (unsigned i = 0; i < p->nvars; i++)
            if (p->vars[i] == o->var) return true;
    for (unsigned i = 0; i < o->nitems; i++)
        if (names_common(p, &o->items[i])) return true;
    return false;
}

/* A kernel that neither calls nor names a common variable does not pay for them. */
static bool uses_common(const struct ptx_module *p, const struct ptx_func *f) {
    for (unsigned i = 0; i < f->ninsns; i++) {
        if (strncmp(f->insns[i].opcode, "call", 4) == 0) return true;
        for (unsigned k = 0; k < f->insns[i].noperands; k++)
            if (names_common(p, &f->insns[i].operands[k])) return true;
    }
    return false;
}

static bool decode_all(struct decoder *d) {
    struct sim_module *m = d->m;
    u32 functions;
    if (!place_common_shared(d, &functions)) return false;
    for (u32 i = 0; i < m->ncodes; i++) {
        if (m->codes[i].func->is_entry) continue;
        if (!decode_func(d, &m->codes[i], functions)) return false;
        functions = m->codes[i].static_shared;
    }
    for (u32 i = 0; i < m->ncodes; i++) {
        if (!m->codes[i].func->is_entry) continue;
        if (!decode_func(d, &m->codes[i],
                         functions && uses_common(m->ptx, m->codes[i].func) ? functions : 0))
            return false;
        struct sim_kernel *k = &m->kernels[m->nkernels++];
        *k = (struct sim_kernel){.module = m, .code = i};
        m->codes[i].kernel = k;
        const struct ptx_func *f = m->codes[i].func;
        u32 start = 0;
        for (unsigned p = 0; p < f->nparams; p++)
            if (!take_room(d, &k->param_bytes, f->params[p].bytes, f->params[p].align, MOST_PARAMS,
                           "parameters", &start))
                return false;
    }
    return true;
}

enum { MOST_FUNCTIONS = 20000 }; /* close_calls recurses along call chains */

bool code_decode(struct sim_module *m, struct err *e) {
    if (m->ptx->nfuncs > MOST_FUNCTIONS)
        return err_set(e, ERR_LIMIT, "more than %d functions in one module", MOST_FUNCTIONS);
    struct const_map consts = {0};
    struct decoder d = {
        .m = m, .consts = &consts, .e = e, .meets_grid = decode_names_workspace(m->ptx)};
    d.looks = decode_has_looks(m->ptx);
    list_codes(m);
    bool ok = place_vars(&d) && decode_all(&d);
    free(consts.entry);
    if (!ok) return false;
    build_segments(m);
    for (u32 i = 0; i < m->ncodes; i++) code_find_forks(m, &m->codes[i]);
    code_own_stats(m);
    unsigned char *state = xcalloc(m->ncodes, 1);
    for (u32 i = 0; i < m->ncodes; i++)
        if (!state[i]) close_calls(m, &m->codes[i], state);
    free(state);
    return true;
}

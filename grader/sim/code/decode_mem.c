/* decode_mem.c — decodes loads, stores, atomics and address conversions. See decode.h.
 *
 * ld{.weak|.volatile|.relaxed|.acquire}{.scope}{.space}{.nc}{.cache hints}{.vec}.type d, [a]
 * Modifiers without an effect here (scopes, prefetch sizes, L1's eviction priorities) are known
 * by name; any other is an error. eviction.c has the eviction classes of L2. */
#include "grader/sim/code/decode.h"

#include "grader/sim/device.h"

#include <string.h>

/* What a dotted part of a memory opcode means. */
enum modifier_kind {
    PART_IGNORED,
    PART_SPACE,
    PART_STRONG,
    PART_CLUSTER_SCOPE,
    PART_VECTOR,
    PART_CACHE,
    PART_EVICTION,
    PART_NC,
    PART_ATOM
};
enum { STRONG_RELEASE = 2, STRONG_ACQUIRE = 4, BLOCK_SCOPE = 1 };
static const struct {
    const char *name;
    u8 kind, value;
} modifiers[] = {
    {"global", PART_SPACE, SPACE_GLOBAL},
    {"shared", PART_SPACE, SPACE_SHARED},
    {"local", PART_SPACE, SPACE_LOCAL},
    {"const", PART_SPACE, SPACE_CONST},
    {"param", PART_SPACE, SPACE_PARAM},
    {"shared::cta", PART_SPACE, SPACE_SHARED},
    {"shared::cluster", PART_SPACE, SPACE_CLUSTER},
    {"param::entry", PART_SPACE, SPACE_PARAM},
    {"param::func", PART_SPACE, SPACE_PARAM},
    {"v2", PART_VECTOR, 2},
    {"v4", PART_VECTOR, 4},
    {"v8", PART_VECTOR, 8},
    {"volatile", PART_STRONG, 1},
    {"relaxed", PART_STRONG, 1},
    {"acquire", PART_STRONG, STRONG_ACQUIRE},
    {"release", PART_STRONG, STRONG_RELEASE},
    {"acq_rel", PART_STRONG, STRONG_RELEASE | STRONG_ACQUIRE},
    {"mmio", PART_STRONG, 1},
    {"weak", PART_IGNORED, 0},
    {"cta", PART_CLUSTER_SCOPE, BLOCK_SCOPE},
    {"cluster", PART_CLUSTER_SCOPE, 0},
    {"gpu", PART_IGNORED, 0},
    {"sys", PART_IGNORED, 0},
    {"ca", PART_CACHE, 'a'},
    {"cg", PART_CACHE, 'g'},
    {"cs", PART_CACHE, 's'},
    {"lu", PART_CACHE, 'l'},
    {"cv", PART_CACHE, 'v'},
    {"wb", PART_CACHE, 'b'},
    {"wt", PART_CACHE, 't'},
    {"nc", PART_NC, 1},
    {"unified", PART_IGNORED, 0},
    {"noftz", PART_IGNORED, 0},
    {"L1::evict_normal", PART_IGNORED, 0},
    {"L1::evict_last", PART_IGNORED, 0},
    {"L1::evict_first", PART_IGNORED, 0},
    {"L1::evict_unchanged", PART_IGNORED, 0},
    {"L1::no_allocate", PART_CACHE, 'n'},
    {"L2::evict_last", PART_EVICTION, L2_EVICT_LAST},
    {"L2::evict_first", PART_EVICTION, L2_EVICT_FIRST},
    {"L2::evict_normal", PART_EVICTION, L2_EVICT_NORMAL},
    {"L2::64B", PART_IGNORED, 0},
    {"L2::128B", PART_IGNORED, 0},
    {"L2::256B", PART_IGNORED, 0},
    {"L2::cache_hint", PART_IGNORED, 0}, /* the last operand is a policy: eviction.c */
#define ATOM(id, name) {name, PART_ATOM, ATOM_##id},
#include "grader/sim/code/atoms.def"
#undef ATOM
};

static bool parse_part(struct mem_desc *m, const char *name) {
    for (unsigned i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        if (strcmp(modifiers[i].name, name) != 0) continue;
        switch ((enum modifier_kind)modifiers[i].kind) {
        case PART_SPACE: m->space = modifiers[i].value; break;
        case PART_STRONG:
            m->strong = 1;
            m->is_release |= (modifiers[i].value & STRONG_RELEASE) != 0;
            m->is_acquire |= (modifiers[i].value & STRONG_ACQUIRE) != 0;
            break;
        case PART_CLUSTER_SCOPE:
            m->is_cluster_scope = 1;
            m->is_block_scope = modifiers[i].value == BLOCK_SCOPE;
            break;
        case PART_VECTOR: m->count = modifiers[i].value; break;
        case PART_CACHE: m->cache_op = modifiers[i].value; break;
        case PART_EVICTION: m->l2_eviction = modifiers[i].value; break;
        case PART_NC: m->nc = 1; break;
        case PART_ATOM: m->atom = modifiers[i].value; break;
        case PART_IGNORED: break;
        }
        return true;
    }
    return false;
}

static bool parse_modifiers(struct decoder *d, struct mem_desc *m) {
    const char *opcode = d->insn->opcode;
    char part[64];
    enum ptx_type t = decode_opcode_type(opcode);
    m->space = SPACE_GENERIC;
    m->count = 1;
    m->type = (u8)t;
    m->width = (u8)ptx_type_bytes(t);
    m->is_signed = t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
    for (unsigned i = 1; decode_opcode_part(opcode, i, part, sizeof part); i++) {
        if (ptx_type_of(part, strlen(part)) != PTX_NO_TYPE) continue;
        if (!parse_part(m, part))
            return decode_unsupported(d, "not implemented: modifier .%s in", part);
    }
    if (t == PTX_NO_TYPE || t == PTX_PRED) return decode_unsupported(d, "missing type in");
    decode_set_eviction(d, m);
    return true;
}

u32 decode_add_desc(struct decoder *d, const struct mem_desc *desc) {
    struct sim_module *m = d->m;
    ARENA_GROW(&m->arena, m->mems, m->nmems, m->nmems + 1, m->mems_capacity, 256);
    m->mems[m->nmems] = *desc;
    m->mems[m->nmems].stat = m->nstats;
    m->nstats += desc->space == SPACE_GENERIC ? 4 : desc->space == SPACE_CLUSTER ? 2 : 1;
    return m->nmems++;
}

u32 decode_add_bulk_desc(struct decoder *d) {
    struct mem_desc m = {.verb = MEM_STORE,
                         .space = SPACE_GENERIC,
                         .type = PTX_B8,
                         .cache_op = 'g',
                         .is_bulk = true};
    decode_set_eviction(d, &m);
    return decode_add_desc(d, &m);
}

/* Decodes an element of 128 bits, a register that is two of 64 bits side by side. */
static bool decode_b128_element(struct decoder *d, const struct ptx_operand *p,
                                struct mem_desc *m) {
    ref r;
    if (m->count != 1 || p->kind != PTX_OP_REG || !decode_source(d, p, PTX_B128, &r))
        return decode_unsupported(d, "not implemented: this operand form of");
    m->reg[0] = r;
    m->reg[1] = r + 256;
    m->type = PTX_B64;
    m->count = 2;
    m->width = m->reg_bytes = 8;
    return true;
}

/* Returns true if the value that an element is loaded into is only stored again, or unused:
 * programs copy structures with their padding. */
static bool is_copy_only(const struct decoder *d, const struct ptx_operand *q) {
    return q->kind == PTX_OP_REG && q->reg >= 0 &&
           d->read_counts[q->reg] == d->store_use_counts[q->reg];
}

/* Decodes the register, or each register of a { … } operand. */
static bool decode_elements(struct decoder *d, const struct ptx_operand *p, struct mem_desc *m) {
    if (m->type == PTX_B128) return decode_b128_element(d, p, m);
    unsigned n = p->kind == PTX_OP_VECTOR ? p->nitems : 1, bytes = 0;
    if (n != m->count) return decode_unsupported(d, "%u registers for %u elements in", n, m->count);
    for (unsigned i = 0; i < n; i++) {
        const struct ptx_operand *q = p->kind == PTX_OP_VECTOR ? &p->items[i] : p;
        if (m->verb == MEM_LOAD) {
            if (!decode_destination(d, q, &m->reg[i], &bytes)) return false;
            if (n > 1 && (is_copy_only(d, q) || q->kind == PTX_OP_SINK))
                m->copy_only_mask |= (u8)(1 << i);
        } else {
            enum ptx_type t =
                q->kind == PTX_OP_REG ? d->f->regs[q->reg].type : (enum ptx_type)m->type;
            if (!decode_source(d, q, t, &m->reg[i])) return false;
            bytes = decode_reg_bytes(t);
        }
        if (bytes) m->reg_bytes = (u8)bytes;
    }
    if (!m->reg_bytes) m->reg_bytes = (u8)decode_reg_bytes((enum ptx_type)m->type);
    if (m->reg_bytes < m->width || m->reg_bytes > 8 || m->width > 8)
        return decode_unsupported(d, "registers of the wrong size in");
    return true;
}

/* ---- parameters ---- */

static u32 param_offset(const struct ptx_func *f, const struct ptx_var *v, bool *found) {
    u32 offset = 0;
    *found = false;
    for (unsigned i = 0; i < f->nparams; i++) {
        u32 align = f->params[i].align ? f->params[i].align : 1;
        offset = (offset + align - 1) / align * align;
        if (&f->params[i] == v) return *found = true, offset;
        offset += (u32)f->params[i].bytes;
    }
    return 0;
}

/* Returns the slot behind BASE_BLOCK that holds the kernel parameter at `offset`, as `m` describes
 * it. */
static ref find_param_slot(struct decoder *d, u32 offset, const struct mem_desc *m) {
    struct sim_func *c = d->c;
    for (u32 i = 0; i < c->nparam_slots; i++)
        if (c->param_slots[i].offset == offset && c->param_slots[i].bytes == m->width &&
            c->param_slots[i].reg_bytes == m->reg_bytes &&
            c->param_slots[i].is_signed == m->is_signed)
            return REF(BASE_BLOCK, c->param_slots[i].at);
    if (c->nparam_slots % 64 == 0) {
        struct param_slot *grown =
            arena_alloc(&d->m->arena, (c->nparam_slots + 64) * sizeof *grown);
        if (c->nparam_slots) memcpy(grown, c->param_slots, c->nparam_slots * sizeof *grown);
        c->param_slots = grown;
    }
    u32 size = m->reg_bytes * 32u;
    c->param_slots[c->nparam_slots++] =
        (struct param_slot){offset, c->block_slot_bytes, m->width, m->reg_bytes, m->is_signed};
    c->block_slot_bytes += size;
    return REF(BASE_BLOCK, c->block_slot_bytes - size);
}

static bool decode_kernel_param(struct decoder *d, struct mem_desc *m, const struct ptx_operand *a,
                                const struct ptx_operand *to) {
    bool found;
    u32 offset = param_offset(d->f, a->var, &found);
    if (!found || a->offset < 0 || (u64)a->offset + m->width * m->count > a->var->bytes)
        return decode_unsupported(d, "access outside the parameter in");
    static const char *const mov[] = {[2] = "mov.b16", [4] = "mov.b32", [8] = "mov.b64"};
    if (!decode_elements(d, to, m)) return false;
    for (unsigned i = 0; i < m->count; i++) {
        if (m->reg[i] == REF_NONE) continue;
        ref slot = find_param_slot(d, offset + (u32)a->offset + i * m->width, m);
        struct op *o = decode_emit_named(d, mov[m->reg_bytes]);
        o->weight = i == 0;
        o->src[0] = slot;
        o->dst = m->reg[i];
    }
    return true;
}

static bool decode_function_param(struct decoder *d, struct mem_desc *m,
                                  const struct ptx_operand *a, const struct ptx_operand *value) {
    struct param_area *area = decode_find_param_area(d, a->var);
    if (!area || a->offset < 0 || (u64)a->offset + m->width * m->count > area->bytes)
        return decode_unsupported(d, "access outside the parameter in");
    if (!decode_elements(d, value, m)) return false;
    u32 aux = decode_add_desc(d, m);
    struct op *o = decode_emit_named(d, m->verb == MEM_LOAD ? "paramld" : "paramst");
    o->aux = aux;
    o->target = area->offset;
    o->imm = a->offset;
    return true;
}

/* ---- loads and stores ---- */

static u8 space_of_var(const struct ptx_var *v, u8 space) {
    if (!v || space != SPACE_GENERIC) return space;
    return v->space == PTX_SHARED  ? SPACE_SHARED
           : v->space == PTX_LOCAL ? SPACE_LOCAL
           : v->space == PTX_CONST ? SPACE_CONST
                                   : SPACE_GLOBAL;
}

static bool resolve_access_address(struct decoder *d, struct mem_desc *m,
                                   const struct ptx_operand *p, struct address *a) {
    if (!decode_address(d, p, a)) return false;
    m->address32 = a->address32;
    m->space = space_of_var(a->var, m->space);
    if (m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC)
        m->underlying_objects = decode_underlying_objects(d, p);
    const struct var_offset *array =
        m->space == SPACE_SHARED ? decode_underlying_array(d, p) : NULL;
    if (array)
        m->array_begin = array->offset, m->array_end = array->offset + (u32)array->var->bytes;
    return true;
}

/* Records accesses narrower than a word: races are tracked by words, unless a kernel has such
 * accesses (race/exec_shared.c). */
static void record_access_width(struct decoder *d, const struct mem_desc *m) {
    if (m->width >= 4) return;
    if (m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC) d->c->has_subword_global = true;
    if (m->space == SPACE_SHARED || m->space == SPACE_GENERIC || m->space == SPACE_CLUSTER)
        d->c->has_subword_shared = true;
}

void decode_emit_access_at(struct decoder *d, const struct mem_desc *m, ref address, s64 offset) {
    record_access_width(d, m);
    u32 aux = decode_add_desc(d, m);
    struct op *o = decode_emit_named(d, m->verb == MEM_LOAD ? "ld" : "st");
    o->aux = aux;
    o->src[0] = address;
    o->imm = offset;
}

bool decode_emit_access(struct decoder *d, struct mem_desc *m, const struct ptx_operand *p) {
    struct address at;
    if (!resolve_access_address(d, m, p, &at)) return false;
    decode_emit_access_at(d, m, at.base, at.offset);
    return true;
}

/* Returns true if a load may poll the workspace of the grid barrier. It then waits before its
 * segment runs: core/grid_barrier.c. */
static bool may_poll_grid(const struct decoder *d, const struct mem_desc *m) {
    bool global = m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC;
    return d->module_uses_grid_sync && m->verb == MEM_LOAD && m->strong && global &&
           m->width == 4 && m->count == 1;
}

bool decode_memory(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    struct mem_desc m = {
        .reg = {REF_NONE, REF_NONE, REF_NONE, REF_NONE, REF_NONE, REF_NONE, REF_NONE, REF_NONE}};
    if (in->noperands < 2) return decode_unsupported(d, "missing operand in");
    m.verb = in->opcode[0] == 'l' ? MEM_LOAD : MEM_STORE;
    if (strncmp(in->opcode, "ldu", 3) == 0) decode_mark_lowered("ldu");
    if (!parse_modifiers(d, &m)) return false;
    const struct ptx_operand *a = &in->operands[m.verb == MEM_LOAD ? 1 : 0],
                             *v = &in->operands[m.verb == MEM_LOAD ? 0 : 1];
    if (m.space == SPACE_PARAM && a->kind == PTX_OP_ADDRESS && a->var && a->reg < 0)
        return d->f->is_entry && m.verb == MEM_LOAD && !decode_find_param_area(d, a->var)
                   ? decode_kernel_param(d, &m, a, v)
                   : decode_function_param(d, &m, a, v);
    struct address at;
    if (!decode_elements(d, v, &m) || !resolve_access_address(d, &m, a, &at)) return false;
    bool is_global_access = m.space != SPACE_SHARED && m.space != SPACE_CLUSTER;
    if (m.verb == MEM_LOAD && m.strong && is_global_access && m.space != SPACE_LOCAL)
        d->c->interblock_dependent = true;
    if (m.verb == MEM_LOAD && m.strong)
        d->c->may_spin = true, m.is_poll = is_global_access && decode_is_poll(d);
    if (m.verb == MEM_STORE && m.strong && is_global_access) d->c->updates_global = true;
    record_access_width(d, &m);
    u32 aux = decode_add_desc(d, &m);
    if (may_poll_grid(d, &m)) decode_emit_fallthrough(d);
    decode_begin_interblock_sync(d, &m);
    struct op *o = decode_emit_named(d, m.verb == MEM_LOAD ? "ld" : "st");
    o->aux = aux;
    o->src[0] = at.base;
    o->imm = at.offset;
    if (may_poll_grid(d, &m)) o->flags |= OPF_GRID_POLL;
    decode_mark_interblock_sync(d, &m, o);
    return true;
}

/* ---- atomics ---- */

static bool is_atomic_supported(const struct mem_desc *m) {
    bool wide_float = m->type == PTX_F32 || m->type == PTX_F64;
    bool half =
        m->type == PTX_F16 || m->type == PTX_BF16 || m->type == PTX_F16X2 || m->type == PTX_BF16X2;
    bool swap = m->atom == ATOM_EXCH || m->atom == ATOM_CAS;
    if (wide_float) return m->atom == ATOM_ADD || m->atom == ATOM_EXCH;
    if (half)
        return m->atom == ATOM_ADD ||
               (m->space == SPACE_GLOBAL && (m->atom == ATOM_MIN || m->atom == ATOM_MAX));
    if (m->width == 16) return swap;
    return m->width == 4 || m->width == 8 || (m->width == 2 && swap);
}

/* Returns true if the value that the atomic leaves in memory depends on the order of blocks. */
static bool is_order_dependent(const struct mem_desc *m) {
    bool is_float = m->type == PTX_F32 || m->type == PTX_F64 || m->type == PTX_F16 ||
                    m->type == PTX_BF16 || m->type == PTX_F16X2 || m->type == PTX_BF16X2;
    return m->verb == MEM_ATOM || is_float || m->atom == ATOM_EXCH || m->atom == ATOM_CAS;
}

static const struct ptx_operand *vector_element(const struct ptx_operand *p, unsigned e) {
    return p->kind == PTX_OP_VECTOR ? &p->items[e] : p;
}

/* Returns true for an addition of the constant 1 to shared memory whose old value is unused. From
 * compute capability 8.0 on ptxas has a special instruction for it, and the hardware merges lanes
 * that update one word (docs/time-model.md, Atomics). */
static bool is_increment(const struct decoder *d, const struct mem_desc *m) {
    bool word = m->type == PTX_U32 || m->type == PTX_S32 || m->type == PTX_B32;
    if (m->verb != MEM_RED || m->atom != ATOM_ADD || m->space != SPACE_SHARED || !word)
        return false;
    if (d->m->options->device->cc_major < 8 || ref_base(m->operand[0]) != BASE_CONST) return false;
    u32 value;
    memcpy(&value, d->m->consts + ref_offset(m->operand[0]), sizeof value);
    return value == 1;
}

/* Decodes the atomic of one element; its operands begin with the address, at `first`. */
static bool decode_atomic_element(struct decoder *d, struct mem_desc m, unsigned first,
                                  unsigned e) {
    const struct ptx_insn *in = d->insn;
    unsigned operands = m.atom == ATOM_CAS ? 2 : 1, bytes = 0;
    if (first) {
        const struct ptx_operand *to = vector_element(&in->operands[0], e);
        if (!decode_destination(d, to, &m.result, &bytes)) return false;
        /* ptxas, too, drops a result that nothing reads. */
        if (to->kind == PTX_OP_REG && d->read_counts[to->reg] == 0) m.result = REF_NONE;
    }
    if (m.result == REF_NONE) m.verb = MEM_RED;
    else if (bytes != m.width) return decode_unsupported(d, "registers of the wrong size in");
    for (unsigned i = 0; i < operands; i++)
        if (!decode_source(d, vector_element(&in->operands[first + 1 + i], e),
                           (enum ptx_type)m.type, &m.operand[i]))
            return false;
    struct address at;
    if (!resolve_access_address(d, &m, &in->operands[first], &at)) return false;
    bool is_global_access = m.space != SPACE_SHARED && m.space != SPACE_CLUSTER;
    if (is_global_access && is_order_dependent(&m)) d->c->interblock_dependent = true;
    if (is_global_access) d->c->updates_global = true;
    if (m.verb == MEM_ATOM) d->c->may_spin = true;
    record_access_width(d, &m);
    m.is_increment = is_increment(d, &m);
    u32 aux = decode_add_desc(d, &m);
    if (!e) decode_begin_interblock_sync(d, &m);
    struct op *o = decode_emit_named(d, "atom");
    o->aux = aux;
    o->src[0] = at.base;
    o->imm = at.offset + e * m.width;
    o->weight = e == 0;
    if (!e) decode_mark_interblock_sync(d, &m, o);
    return true;
}

bool decode_atomic(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    struct mem_desc m = {.verb = MEM_ATOM, .result = REF_NONE, .operand = {REF_NONE, REF_NONE}};
    unsigned first = in->opcode[0] == 'r' ? 0 : 1;
    if (!parse_modifiers(d, &m)) return false;
    unsigned operands = first + 1 + (m.atom == ATOM_CAS ? 2 : 1), n = m.count;
    if (!is_atomic_supported(&m)) return decode_unsupported(d, "not implemented: instruction");
    if (in->noperands < operands) return decode_unsupported(d, "missing operand in");
    for (unsigned i = 0; i < operands; i++)
        if (i != first && in->operands[i].kind != PTX_OP_SINK &&
            (in->operands[i].kind == PTX_OP_VECTOR ? in->operands[i].nitems : 1) != n)
            return decode_unsupported(d, "wrong number of elements in");
    m.count = 1;
    m.reg_bytes = m.width;
    for (unsigned e = 0; e < n; e++) {
        m.vector_bytes = e ? 0 : (u8)(n * m.width);
        if (!decode_atomic_element(d, m, first, e)) return false;
    }
    if (!first) decode_mark_lowered("red");
    return true;
}

/* ---- address conversions ---- */

static u64 find_window(const char *opcode) {
    if (decode_opcode_has(opcode, "shared") || decode_opcode_has(opcode, "shared::cta") ||
        decode_opcode_has(opcode, "shared::cluster"))
        return SHARED_WINDOW;
    if (decode_opcode_has(opcode, "local")) return LOCAL_WINDOW;
    if (decode_opcode_has(opcode, "param")) return PARAM_WINDOW;
    return 0; /* global and constant addresses are generic addresses */
}

bool decode_cvta(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    ref src, dst;
    unsigned bytes;
    if (in->noperands < 2 || decode_opcode_type(in->opcode) != PTX_U64)
        return decode_unsupported(d, "not implemented: instruction");
    if (!decode_source(d, &in->operands[1], PTX_U64, &src) ||
        !decode_destination(d, &in->operands[0], &dst, &bytes))
        return false;
    if (bytes != 8) return decode_unsupported(d, "registers of the wrong size in");
    u64 window = find_window(in->opcode);
    struct op *o = decode_emit_named(d, "cvta");
    o->src[0] = src;
    o->dst = dst;
    o->imm = (s64)(decode_opcode_has(in->opcode, "to") ? 0 - window : window);
    return true;
}

bool decode_isspacep(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    ref src, dst;
    unsigned bytes;
    if (in->noperands < 2 || !decode_source(d, &in->operands[1], PTX_U64, &src) ||
        !decode_destination(d, &in->operands[0], &dst, &bytes))
        return false;
    struct mem_desc m = {.space = SPACE_GENERIC};
    char part[32];
    if (bytes != 1 || !decode_opcode_part(in->opcode, 1, part, sizeof part) ||
        !parse_part(&m, part) || m.space == SPACE_GENERIC)
        return decode_unsupported(d, "not implemented: instruction");
    struct op *o = decode_emit_named(d, "isspacep");
    o->src[0] = src;
    o->dst = dst;
    o->aux = m.space;
    return true;
}

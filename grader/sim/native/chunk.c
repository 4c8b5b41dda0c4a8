/* chunk.c — collects the ops of one chunk: which registers it uses, and how its values depend on
 * the lane. See native.h. */
#include "grader/sim/native/generate.h"

#include <string.h>

/* ---- registers ---- */

static bool is_register(ref r) {
    return r != REF_NONE && (ref_base(r) == BASE_FRAME || ref_base(r) == BASE_WARP);
}

/* Returns the index of the register's var, or -1 if it must end the chunk: the table is full, or
 * the register has been used with another size. */
static int find_var(struct chunk *c, ref r, u32 bytes) {
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].r == r) return c->vars[i].bytes == bytes ? (int)i : -1;
    if (c->nvars == CHUNK_MAX_VARS) return -1;
    bool may_vary = ref_base(r) == BASE_WARP || c->varying[ref_offset(r) / 4] || bytes == 1;
    c->vars[c->nvars] = (struct chunk_var){.r = r,
                                           .bytes = (u8)bytes,
                                           .class = may_vary ? VALUE_OFFSET : VALUE_UNIFORM,
                                           .def = -1,
                                           .root = c->nvars};
    return (int)c->nvars++;
}

/* Records that the op reads a register, or another operand. */
static bool read_operand(struct chunk *c, ref r, u32 bytes, struct chunk_operand *s) {
    *s = (struct chunk_operand){.var = -1, .def = -1, .class = VALUE_UNIFORM};
    if (!is_register(r)) return true;
    s->var = find_var(c, r, bytes);
    if (s->var < 0) return false;
    struct chunk_var *v = &c->vars[s->var];
    if (!v->is_defined) v->is_read_first = true;
    s->def = v->def, s->class = v->class, s->root = v->root;
    return true;
}

static bool write_register(struct chunk *c, ref r, u32 bytes, u8 class, u32 root, bool is_guarded) {
    if (r == REF_NONE) return true;
    int i = find_var(c, r, bytes);
    if (i < 0) return false;
    struct chunk_var *v = &c->vars[i];
    if (is_guarded && !v->is_defined) v->is_read_first = true;
    v->is_written = v->is_defined = true;
    v->def = (int)c->nops, v->class = class, v->root = root;
    return true;
}

/* ---- guards ---- */

static u32 constant_mask(const struct chunk *c, ref r) {
    u32 v;
    memcpy(&v, c->m->consts + ref_offset(r), sizeof v);
    return v;
}

static bool is_guarded(const struct chunk *c, const struct op *o) {
    return ref_base(o->guard) != BASE_CONST || (constant_mask(c, o->guard) ^ o->guard_xor) != ~0u;
}

/* ---- ops ---- */

static void classify(struct chunk_op *k, bool guarded) {
    const struct chunk_operand *a = &k->src[0], *b = &k->src[1];
    bool uniform = k->row->kind == ROW_VALUE && !guarded;
    for (u32 i = 0; i < k->row->source_count; i++) uniform &= k->src[i].class == VALUE_UNIFORM;
    k->class = uniform ? VALUE_UNIFORM : VALUE_VARYING;
    if (uniform || guarded || k->o->flags & OPF_SAT) return;
    bool first = a->class == VALUE_OFFSET, second = b->class == VALUE_OFFSET;
    if ((k->row->is_move && first) ||
        (k->row->is_add && first && !second && b->class == VALUE_UNIFORM))
        k->class = VALUE_OFFSET, k->root = a->root;
    if (k->row->is_add == 1 && second && !first && a->class == VALUE_UNIFORM)
        k->class = VALUE_OFFSET, k->root = b->root;
}

static bool read_sources(struct chunk *c, struct chunk_op *k) {
    const struct op *o = k->o;
    const struct opcode_desc *d = &insn_opcodes[o->opcode];
    struct chunk_operand guard;
    for (u32 i = 0; i < k->row->source_count; i++)
        if (!read_operand(c, o->src[i], native_type_bytes(d->src[i]), &k->src[i])) return false;
    bool has_predicate = k->row->kind == ROW_SELECT || (k->row->kind == ROW_COMPARE && o->aux != 0);
    if (has_predicate && !read_operand(c, o->src[2], 1, &k->src[2])) return false;
    if (k->row->kind == ROW_CARRY && k->row->takes_carry &&
        !read_operand(c, o->src[3], 1, &k->src[3]))
        return false;
    return !is_guarded(c, o) || read_operand(c, o->guard, 1, &guard);
}

static bool add_regular(struct chunk *c, struct chunk_op *k) {
    const struct op *o = k->o;
    u32 bytes = native_type_bytes(insn_opcodes[o->opcode].dst);
    bool guarded = is_guarded(c, o);
    if (!read_sources(c, k)) return false;
    classify(k, guarded);
    if (!write_register(c, o->dst, bytes, k->class, k->root, guarded)) return false;
    if (k->row->kind == ROW_CARRY && k->row->gives_carry)
        return write_register(c, o->src[3], 1, VALUE_VARYING, 0, guarded);
    return k->row->kind != ROW_COMPARE ||
           write_register(c, o->src[3], 1, VALUE_VARYING, 0, guarded);
}

static bool is_simple_load(const struct chunk *c, const struct op *o, const struct mem_desc *d) {
    u32 span = (u32)d->width * d->count;
    return d->verb == MEM_LOAD && !d->strong && !d->is_texture && !d->is_bulk && !d->is_poll &&
           !d->is_cp_async && d->width <= 8 && d->reg_bytes <= 8 && span <= 16 && d->count <= 4 &&
           !(span & (span - 1)) && !is_guarded(c, o) &&
           !(o->flags & (OPF_GRID_POLL | OPF_INTERBLOCK_SYNC)) &&
           (d->space == SPACE_GLOBAL || d->space == SPACE_CONST || d->space == SPACE_SHARED);
}

/* Loads whose address varies in another way than a register at the chunk's begin end the chunk. */
static bool add_load(struct chunk *c, struct chunk_op *k) {
    const struct op *o = k->o;
    const struct mem_desc *d = &c->m->mems[o->aux];
    if (!is_simple_load(c, o, d) || !read_operand(c, o->src[0], d->address32 ? 4 : 8, &k->src[0]) ||
        k->src[0].class == VALUE_VARYING)
        return false;
    k->class = k->src[0].class == VALUE_UNIFORM ? VALUE_UNIFORM : VALUE_VARYING;
    k->root = k->src[0].root;
    for (u32 e = 0; e < d->count; e++)
        if (!write_register(c, d->reg[e], d->reg_bytes, k->class, 0, false)) return false;
    c->nloads++;
    return true;
}

bool chunk_add(struct chunk *c, const struct op *o) {
    static int ld;
    if (!ld) ld = insn_find_opcode("ld");
    if (c->nops == CHUNK_MAX_OPS || o->kind != OP_LANEWISE) return false;
    u32 nvars = c->nvars;
    struct chunk_var vars[CHUNK_MAX_VARS];
    memcpy(vars, c->vars, c->nvars * sizeof *vars);
    struct chunk_op *k = &c->ops[c->nops];
    *k = (struct chunk_op){.o = o, .row = native_row(o)};
    bool ok = o->opcode == ld            ? add_load(c, k)
              : k->row->kind != ROW_CALL ? add_regular(c, k)
                                         : false;
    if (ok) return c->nops++, true;
    c->nvars = nvars;
    memcpy(c->vars, vars, c->nvars * sizeof *vars);
    return false;
}

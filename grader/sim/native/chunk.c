/* chunk.c — collects the ops of one chunk: a run of regular ops and loads within one segment that
 * becomes one loop over the lanes (native.h). Records which registers it uses, and how its values
 * depend on the lane. The generator adds ops until chunk_add() returns false. */
#include "grader/sim/native/generate.h"

#include <string.h>

enum { NO_ROOT = 0 }; /* where the class has no root */

/* ---- registers ---- */

/* Registers lie in a function's frame, or with the warp's own state. */
bool chunk_is_register(ref r) {
    return r != REF_NONE && (ref_base(r) == BASE_FRAME || ref_base(r) == BASE_WARP);
}

/* Returns true if lanes may have different values: `varying` tells of words of the frame alone. */
static bool may_vary(const struct chunk *c, ref r, u32 bytes) {
    bool is_predicate = bytes == 1;
    return ref_base(r) == BASE_WARP || is_predicate || c->varying[ref_offset(r) / 4];
}

static int find_or_add_var(struct chunk *c, ref r, u32 bytes);

/* Gives a new var the class that it has in the loop. Where lanes may have any values, it is its own
 * root, as outside of loops; the root of another var is a var of the chunk, too. Returns false if
 * the chunk must end before this op. */
static bool enter_loop_class(struct chunk *c, u32 i) {
    struct chunk_var *v = &c->vars[i];
    int n = loop_find_or_add_var(c->loop, v->r, v->bytes);
    if (n < 0) return false;
    const struct loop_var *lv = &c->loop->vars[n];
    v->loop_var = (u32)n;
    v->class = lv->class == LOOP_UNKNOWN || lv->class == LOOP_UNIFORM ? VALUE_UNIFORM
               : v->bytes == 1                                        ? VALUE_VARYING
                                                                      : VALUE_ROOT_PLUS_UNIFORM;
    if (lv->class != LOOP_AFFINE || lv->root == v->loop_var) return true;
    const struct loop_var *root = &c->loop->vars[lv->root];
    int at = find_or_add_var(c, root->r, root->bytes);
    c->vars[i].root = (u32)at;
    return at >= 0;
}

/* Returns the index of the register's var, which it adds if needed. Returns -1 if the chunk must
 * end before this op: the table is full, or the chunk has used the register with another size. At
 * the chunk's start, a register that may vary is its own root. */
static int find_or_add_var(struct chunk *c, ref r, u32 bytes) {
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].r == r) return c->vars[i].bytes == bytes ? (int)i : -1;
    if (c->nvars == CHUNK_MAX_VARS) return -1;
    c->vars[c->nvars] =
        (struct chunk_var){.r = r,
                           .bytes = (u8)bytes,
                           .class = may_vary(c, r, bytes) ? VALUE_ROOT_PLUS_UNIFORM : VALUE_UNIFORM,
                           .def = -1,
                           .root = c->nvars};
    u32 i = c->nvars++;
    return c->loop && !enter_loop_class(c, i) ? -1 : (int)i;
}

/* Describes an operand; for a register, also records the read. Returns false if the chunk must end.
 */
static bool read_operand(struct chunk *c, ref r, u32 bytes, struct chunk_operand *s) {
    *s = (struct chunk_operand){.var = -1, .def = -1, .class = VALUE_UNIFORM};
    if (!chunk_is_register(r)) return true;
    s->var = find_or_add_var(c, r, bytes);
    if (s->var < 0) return false;
    struct chunk_var *v = &c->vars[s->var];
    if (!v->is_written) v->is_live_in = true;
    s->def = v->def;
    s->class = v->class;
    s->root = v->root;
    return true;
}

/* Records that the next op writes a register. Lanes that its guard excludes keep the old value, so
 * that is read, too. */
static bool write_register(struct chunk *c, ref r, u32 bytes, u8 class, u32 root, bool guarded) {
    if (r == REF_NONE) return true;
    int i = find_or_add_var(c, r, bytes);
    if (i < 0) return false;
    struct chunk_var *v = &c->vars[i];
    if (guarded && !v->is_written) v->is_live_in = true;
    v->is_written = true;
    v->def = (int)c->nops;
    v->class = class;
    v->root = root;
    return true;
}

/* ---- guards ---- */

static u32 constant_mask(const struct sim_module *m, ref r) {
    u32 v;
    memcpy(&v, m->consts + ref_offset(r), sizeof v);
    return v;
}

/* An op without a guard predicate (@p) has a constant there that is true in all lanes. */
bool chunk_is_guarded(const struct sim_module *m, const struct op *o) {
    return ref_base(o->guard) != BASE_CONST || (constant_mask(m, o->guard) ^ o->guard_xor) != ~0u;
}
static bool is_guarded(const struct chunk *c, const struct op *o) {
    return chunk_is_guarded(c->m, o);
}

/* ---- ops ---- */

/* A loop's condition is mostly a comparison that no other predicate takes part in. */
static bool is_scalar_compare(const struct chunk_op *item) {
    return item->row->kind == ROW_COMPARE && item->o->aux == 0;
}

/* Sets the class of the result. It is uniform if all operands are; a sum or a difference of a
 * root's value and a uniform amount keeps the root. The root must be the first operand of a
 * difference. A guard may exclude lanes, and saturation may clip some: then lanes differ in any
 * way. */
static void classify(struct chunk_op *item, bool guarded) {
    const struct chunk_operand *a = &item->src[0], *b = &item->src[1];
    bool uniform = !guarded && (item->row->kind == ROW_VALUE || is_scalar_compare(item));
    for (u32 i = 0; i < item->row->source_count; i++)
        uniform &= item->src[i].class == VALUE_UNIFORM;
    item->class = uniform ? VALUE_UNIFORM : VALUE_VARYING;
    if (uniform || guarded || item->o->flags & OPF_SAT) return;
    bool is_first_root = a->class == VALUE_ROOT_PLUS_UNIFORM,
         is_second_root = b->class == VALUE_ROOT_PLUS_UNIFORM;
    if ((item->row->is_move && is_first_root) ||
        (item->row->add_kind != ADD_NONE && is_first_root && b->class == VALUE_UNIFORM)) {
        item->class = VALUE_ROOT_PLUS_UNIFORM;
        item->root = a->root;
    } else if (item->row->add_kind == ADD_SUM && is_second_root && a->class == VALUE_UNIFORM) {
        item->class = VALUE_ROOT_PLUS_UNIFORM;
        item->root = b->root;
    }
}

/* src[2] is the predicate that selp selects by, and that setp combines its result with (`aux` says
 * how; 0: not at all). */
static bool reads_predicate(const struct chunk_op *item) {
    return item->row->kind == ROW_SELECT || (item->row->kind == ROW_COMPARE && item->o->aux != 0);
}

static bool read_sources(struct chunk *c, struct chunk_op *item) {
    const struct op *o = item->o;
    struct chunk_operand guard; /* only the read counts */
    for (u32 i = 0; i < item->row->source_count; i++)
        if (!read_operand(c, o->src[i], native_source_bytes(o, i), &item->src[i])) return false;
    if (reads_predicate(item) && !read_operand(c, o->src[2], 1, &item->src[2])) return false;
    if (item->row->kind == ROW_CARRY && item->row->takes_carry &&
        !read_operand(c, o->src[3], 1, &item->src[3]))
        return false;
    return !is_guarded(c, o) || read_operand(c, o->guard, 1, &guard);
}

static bool add_regular(struct chunk *c, struct chunk_op *item) {
    const struct op *o = item->o;
    u32 bytes = native_result_bytes(o);
    bool guarded = is_guarded(c, o);
    if (!read_sources(c, item)) return false;
    classify(item, guarded);
    if (item->row->kind == ROW_COMPARE && !c->loop) item->class = VALUE_VARYING;
    if (!write_register(c, o->dst, bytes, item->class, item->root, guarded)) return false;
    /* src[3] is a second result: the carry out, or setp's second predicate. */
    bool has_second_result =
        item->row->kind == ROW_COMPARE || (item->row->kind == ROW_CARRY && item->row->gives_carry);
    u8 second = is_scalar_compare(item) ? item->class : VALUE_VARYING;
    return !has_second_result || write_register(c, o->src[3], 1, second, NO_ROOT, guarded);
}

static bool is_plain_access(const struct mem_desc *d) {
    return !d->strong && !d->is_texture && !d->is_bulk && !d->is_poll && !d->is_cp_async &&
           (d->space == SPACE_GLOBAL || d->space == SPACE_CONST || d->space == SPACE_SHARED);
}

/* Registers have up to 8 bytes here, and the loop over lanes loads 1 to 16 bytes at once. */
static bool has_simple_size(const struct mem_desc *d) {
    u32 span = (u32)d->width * d->count;
    return d->width <= 8 && d->reg_bytes <= 8 && span <= 16 && d->count <= 4 &&
           !(span & (span - 1));
}

/* Loads by which blocks may wait for each other stay with the interpreter. */
static bool is_simple_load(const struct chunk *c, const struct op *o, const struct mem_desc *d) {
    return d->verb == MEM_LOAD && is_plain_access(d) && has_simple_size(d) && !is_guarded(c, o) &&
           !(o->flags & (OPF_GRID_POLL | OPF_INTERBLOCK_SYNC));
}

/* A load joins the chunk only if its address is uniform, or a register's value at the start of the
 * chunk plus a uniform amount. */
static bool add_load(struct chunk *c, struct chunk_op *item) {
    const struct op *o = item->o;
    const struct mem_desc *desc = &c->m->mems[o->aux];
    struct chunk_operand *address = &item->src[0];
    if (!is_simple_load(c, o, desc) ||
        !read_operand(c, o->src[0], desc->address32 ? 4 : 8, address) ||
        address->class == VALUE_VARYING)
        return false;
    item->class = address->class == VALUE_UNIFORM ? VALUE_UNIFORM : VALUE_VARYING;
    item->root = address->root;
    for (u32 e = 0; e < desc->count; e++)
        if (!write_register(c, desc->reg[e], desc->reg_bytes, item->class, NO_ROOT, false))
            return false;
    c->nloads++;
    return true;
}

bool chunk_add(struct chunk *c, const struct op *o) {
    static int ld;
    if (!ld) ld = insn_find_opcode("ld");
    if (c->nops == CHUNK_MAX_OPS || o->kind != OP_LANEWISE) return false;
    u32 nvars_before = c->nvars;
    struct chunk_var vars_before[CHUNK_MAX_VARS];
    memcpy(vars_before, c->vars, c->nvars * sizeof *c->vars);
    struct chunk_op *item = &c->ops[c->nops];
    *item = (struct chunk_op){.o = o, .row = native_row(o), .group = -1};
    bool is_added =
        o->opcode == ld ? add_load(c, item) : item->row->kind != ROW_CALL && add_regular(c, item);
    if (is_added) {
        c->nops++;
        return true;
    }
    c->nvars = nvars_before;
    memcpy(c->vars, vars_before, c->nvars * sizeof *c->vars);
    return false;
}

/* Stores of one value by all lanes stay with the interpreter, which reports them. */
static bool is_simple_store(const struct chunk *c, const struct op *o, const struct mem_desc *d) {
    return d->verb == MEM_STORE && is_plain_access(d) && d->space != SPACE_CONST &&
           has_simple_size(d) && !is_guarded(c, o) && !c->is_masked &&
           !(o->flags & (OPF_GRID_POLL | OPF_INTERBLOCK_SYNC));
}

bool chunk_add_store(struct chunk *c, const struct op *o) {
    const struct mem_desc *d = &c->m->mems[o->aux];
    struct chunk_op *item = &c->ops[0];
    struct chunk_operand value;
    if (o->kind != OP_LANEWISE || strcmp(insn_opcodes[o->opcode].name, "st") != 0 ||
        !is_simple_store(c, o, d))
        return false;
    *item = (struct chunk_op){.o = o, .row = native_row(o), .class = VALUE_VARYING, .group = -1};
    if (!read_operand(c, o->src[0], d->address32 ? 4 : 8, &item->src[0]) ||
        item->src[0].class != VALUE_ROOT_PLUS_UNIFORM)
        return false;
    item->root = item->src[0].root;
    for (u32 e = 0; e < d->count; e++)
        if (d->reg[e] == REF_NONE || !read_operand(c, d->reg[e], d->reg_bytes, &value))
            return false;
    c->nops = 1;
    return c->is_store = true;
}

/* ---- ops that only the interpreter executes, in a loop ---- */

static bool read_value(struct chunk *c, ref r, u32 bytes, bool *uniform) {
    struct chunk_operand s;
    if (r == REF_NONE || !read_operand(c, r, bytes, &s)) return r == REF_NONE;
    *uniform &= s.class == VALUE_UNIFORM;
    return true;
}

static bool call_memory(struct chunk *c, const struct op *o, bool guarded) {
    const struct mem_desc *d = &c->m->mems[o->aux];
    bool is_load = d->verb == MEM_LOAD, ok, uniform = true;
    u32 operand_bytes = d->width == 8 ? 8 : 4;
    bool is_atomic = d->verb == MEM_ATOM || d->verb == MEM_RED;
    if (d->is_texture || d->is_bulk || d->is_cp_async || d->is_poll ||
        (is_atomic && (d->width < 4 || d->width > 8 || d->vector_bytes)))
        return false;
    ok = read_value(c, o->src[0], d->address32 ? 4 : 8, &uniform);
    for (u32 e = 0; e < d->count && ok && d->verb == MEM_STORE; e++)
        ok = read_value(c, d->reg[e], d->reg_bytes, &uniform);
    for (u32 e = 0; e < 2 && ok && is_atomic; e++)
        ok = read_value(c, d->operand[e], operand_bytes, &uniform);
    for (u32 e = 0; e < d->count && ok && is_load; e++)
        ok = write_register(c, d->reg[e], d->reg_bytes, VALUE_VARYING, NO_ROOT, guarded);
    if (ok && d->verb == MEM_ATOM)
        ok = write_register(c, d->result, operand_bytes, VALUE_VARYING, NO_ROOT, guarded);
    return ok;
}

static bool call_regular(struct chunk *c, const struct op *o, bool guarded, u8 *class) {
    const struct opcode_desc *d = &insn_opcodes[o->opcode];
    bool uniform = !guarded;
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++)
        if (d->src[i] != PTX_NO_TYPE &&
            !read_value(c, o->src[i], native_type_bytes(d->src[i]), &uniform))
            return false;
    *class = uniform ? VALUE_UNIFORM : VALUE_VARYING;
    return write_register(c, o->dst, native_type_bytes(d->dst), *class, NO_ROOT, guarded);
}

bool chunk_add_call(struct chunk *c, const struct op *o) {
    const struct opcode_desc *d = &insn_opcodes[o->opcode];
    bool is_memory = !strcmp(d->name, "ld") || !strcmp(d->name, "st") || !strcmp(d->name, "atom"),
         guarded = is_guarded(c, o), uniform;
    c->calls_only = true;
    c->ops[0] =
        (struct chunk_op){.o = o, .row = native_row(o), .class = VALUE_VARYING, .group = -1};
    if (o->kind != OP_LANEWISE || (!is_memory && d->form != FORM_REGULAR) ||
        (guarded && !read_value(c, o->guard, 1, &uniform)))
        return false;
    bool ok =
        is_memory ? call_memory(c, o, guarded) : call_regular(c, o, guarded, &c->ops[0].class);
    c->nops += ok;
    return ok;
}

/* write.c — writes a chunk as C: the checks and scalar values, then the commit, then the loop over
 * lanes. See native.h.
 *
 * Names: by var, L lanes in the frame, v a lane's value, w a predicate's lanes, first the first
 * value as a scalar; by op, value a scalar, m a pattern, a an address, p where a load reads, q its
 * lanes, x a lane's f32 whose NaN isn't canonical yet. */
#include "grader/sim/native/generate.h"

#include <stdio.h>
#include <string.h>

const char *native_type_name(u32 bytes) { return bytes == 2 ? "u16" : bytes == 8 ? "u64" : "u32"; }

/* A predicate takes 32 bits in the loop over lanes. */
static u32 bits_of_var(const struct chunk_var *v) { return v->bytes == 1 ? 32 : 8u * v->bytes; }

bool chunk_is_load(const struct chunk_op *item) { return item->row->kind == ROW_CALL; }
const struct mem_desc *chunk_load_desc(const struct chunk *c, const struct chunk_op *item) {
    return &c->m->mems[item->o->aux];
}
u32 chunk_load_span(const struct mem_desc *d) { return (u32)d->width * d->count; }
/* ---- registers of a loop ---- */

const struct loop_var *chunk_loop_var(const struct chunk *c, u32 i) {
    return &c->loop->vars[c->vars[i].loop_var];
}
/* Returns true if the loop holds the register as a scalar. */
static bool is_scalar_var(const struct chunk *c, u32 i) {
    return c->loop && chunk_loop_var(c, i)->class != LOOP_VECTOR;
}
/* ---- operands ---- */

/* Reads a constant slot's lane. */
static u64 constant_lane(const struct chunk *c, ref r, u32 bytes, u32 lane) {
    u64 v = 0;
    memcpy(&v, c->m->consts + ref_offset(r) + (size_t)lane * bytes, bytes);
    return v;
}
static bool is_same_in_lanes(const struct chunk *c, ref r, u32 bytes) {
    for (u32 l = 1; l < 32; l++)
        if (constant_lane(c, r, bytes, l) != constant_lane(c, r, bytes, 0)) return false;
    return true;
}

static void write_fixed(const struct chunk *c, struct buf *out, ref r, u32 bytes) {
    if (ref_base(r) == BASE_CONST)
        buf_printf(out, "(%s)0x%llxull", native_type_name(bytes),
                   (unsigned long long)constant_lane(c, r, bytes, 0));
    else
        buf_printf(out, "*(const %s *)(x->base[%u] + %u)", native_type_name(bytes), ref_base(r),
                   ref_offset(r));
}

/* The i-th source as a scalar of the checks. */
void chunk_write_scalar(const struct chunk *c, struct buf *out, const struct chunk_op *item, u32 i,
                        u32 bytes) {
    const struct chunk_operand *s = &item->src[i];
    if (s->var < 0) return write_fixed(c, out, item->o->src[i], bytes);
    if (s->def < 0) return buf_printf(out, "first%d", s->var);
    const struct chunk_op *def = &c->ops[s->def];
    if (!chunk_is_load(def)) return buf_printf(out, "value%d", s->def);
    const struct mem_desc *d = chunk_load_desc(c, def);
    u32 e = 0;
    for (u32 j = 0; j < d->count; j++)
        if (d->reg[j] == item->o->src[i]) e = j;
    buf_printf(out, "value%d_%u", s->def, e);
}

/* The i-th source in the loop over lanes. */
static void write_lane(const struct chunk *c, struct buf *out, const struct chunk_op *item, u32 i,
                       u32 bytes) {
    ref r = item->o->src[i];
    if (r == REF_NONE) buf_puts(out, "0");
    else if (item->src[i].var >= 0) buf_printf(out, "v%d", item->src[i].var);
    else if (ref_base(r) == BASE_BLOCK) buf_printf(out, "k%d_%u", (int)(item - c->ops), i);
    else if (is_same_in_lanes(c, r, bytes)) write_fixed(c, out, r, bytes);
    else
        buf_printf(out, "((const %s *)(x->base[%u] + %u))[l]", native_type_name(bytes), BASE_CONST,
                   ref_offset(r));
}

static int var_of(const struct chunk *c, ref r) {
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].r == r) return (int)i;
    return -1;
}

/* A predicate's lane, all ones or 0, with the lanes of `flip` inverted. */
static void write_predicate(const struct chunk *c, struct buf *out, ref r, u32 flip) {
    int v = var_of(c, r);
    if (v >= 0) buf_printf(out, "(v%d", v);
    else if (ref_base(r) == BASE_CONST)
        buf_printf(out, "(predicate_of((u32)0x%llxu, lane_bit[l])",
                   (unsigned long long)constant_lane(c, r, 4, 0));
    else
        buf_printf(out, "(predicate_of(*(const u32 *)(x->base[%u] + %u), lane_bit[l])", ref_base(r),
                   ref_offset(r));
    if (flip == ~0u) buf_puts(out, " ^ ~0u)");
    else if (flip) buf_printf(out, " ^ predicate_of(0x%xu, lane_bit[l]))", flip);
    else buf_puts(out, ")");
}

static bool is_always_on(const struct chunk *c, const struct op *o) {
    return ref_base(o->guard) == BASE_CONST &&
           ((u32)constant_lane(c, o->guard, 4, 0) ^ o->guard_xor) == ~0u;
}

/* ---- what the checks need ---- */

static void mark_needed(struct chunk *c, const struct chunk_operand *s) {
    if (s->var < 0) return;
    if (s->def < 0) {
        c->vars[s->var].needs_scalar = true;
        return;
    }
    struct chunk_op *item = &c->ops[s->def];
    if (item->needs_scalar || chunk_is_load(item)) return;
    item->needs_scalar = true;
    for (u32 i = 0; i < item->row->source_count; i++) mark_needed(c, &item->src[i]);
}

static void write_first_values(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        if (!v->needs_scalar) continue;
        bool may_vary = ref_base(v->r) == BASE_WARP || c->varying[ref_offset(v->r) / 4];
        buf_printf(out, "    const %s first%u = ", native_type_name(v->bytes), i);
        if (is_scalar_var(c, i)) buf_printf(out, "S%u;\n", v->loop_var);
        else buf_printf(out, "L%u[first];\n", i);
        if (!may_vary && !c->loop)
            buf_printf(out, "    if (fails(is_uniform%u(L%u, mask, first%u))) return 0;\n",
                       v->bytes * 8, i, i);
    }
}

static void write_call(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                       void (*write)(const struct chunk *, struct buf *, const struct chunk_op *,
                                     u32, u32)) {
    if (item->o->flags & OPF_SAT) buf_puts(out, "lane_saturate(");
    buf_printf(out, "lane_%s(", item->row->id);
    for (u32 i = 0; i < item->row->source_count; i++) {
        if (i) buf_puts(out, ", ");
        write(c, out, item, i, native_source_bytes(item->o, i));
    }
    if (!strcmp(item->row->id, "cvta")) buf_printf(out, ", %lldll", (long long)item->o->imm);
    buf_puts(out, item->o->flags & OPF_SAT ? "))" : ")");
}

/* The value of an element in its register: the type in memory, extended. */
static void write_element(struct buf *out, const struct mem_desc *d, const char *format, u32 j,
                          u32 e) {
    if (d->is_signed && d->width < d->reg_bytes)
        buf_printf(out, "(%s)(s%u)(s%u)", native_type_name(d->reg_bytes), d->reg_bytes * 8,
                   d->width * 8);
    else buf_printf(out, "(%s)", native_type_name(d->reg_bytes));
    buf_printf(out, format, j, e);
}

static void write_uniform_elements(const struct chunk *c, struct buf *out, u32 j) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[j]);
    for (u32 e = 0; e < d->count; e++) {
        char text[64];
        snprintf(text, sizeof text, "*(const u%u *)(p%%u + %u)", d->width * 8, e * d->width);
        if (d->reg[e] == REF_NONE) continue;
        buf_printf(out, "    const %s value%u_%u = ", native_type_name(d->reg_bytes), j, e);
        write_element(out, d, text, j, e);
        buf_puts(out, ";\n");
    }
}

static void write_checks(const struct chunk *c, struct buf *out) {
    for (u32 j = 0, load = 0; j < c->nops; j++) {
        const struct chunk_op *item = &c->ops[j];
        if (chunk_is_load(item)) {
            chunk_write_load_check(c, out, j, load++);
            if (item->class == VALUE_UNIFORM) write_uniform_elements(c, out, j);
        } else if (item->needs_scalar) {
            buf_printf(
                out, "    const %s value%u = ", native_type_name(native_result_bytes(item->o)), j);
            write_call(c, out, item, chunk_write_scalar);
            buf_puts(out, ";\n");
        }
    }
}

/* ---- the loop over lanes ---- */

static void write_fixed_operands(const struct chunk *c, struct buf *out) {
    for (u32 j = 0; j < c->nops; j++)
        for (u32 i = 0; i < c->ops[j].row->source_count; i++) {
            const struct op *o = c->ops[j].o;
            u32 bytes = native_source_bytes(o, i);
            if (o->src[i] == REF_NONE || ref_base(o->src[i]) != BASE_BLOCK || bytes == 1) continue;
            buf_printf(out, "    const %s k%u_%u = ", native_type_name(bytes), j, i);
            write_fixed(c, out, o->src[i], bytes);
            buf_puts(out, ";\n");
        }
}

static void begin_assignment(const struct chunk *c, struct buf *out, const struct op *o, ref dst) {
    int i = var_of(c, dst);
    buf_printf(out, "        v%d = ", i);
    if (is_always_on(c, o)) return;
    buf_printf(out, "choose%u(", bits_of_var(&c->vars[i]));
    write_predicate(c, out, o->guard, o->guard_xor);
    buf_puts(out, ", ");
}
static void end_assignment(const struct chunk *c, struct buf *out, const struct op *o, ref dst) {
    if (is_always_on(c, o)) buf_puts(out, ";\n");
    else buf_printf(out, ", v%d);\n", var_of(c, dst));
}

/* Declares <name><j>: the comparison, combined with a predicate if the op has one, or the old value
 * where the op's guard is false. */
static void write_combined(const struct chunk *c, struct buf *out, const struct op *o, ref dst,
                           const char *name, u32 j) {
    if (dst == REF_NONE) return;
    buf_printf(out, "        const u32 %s%u = ", name, j);
    if (!is_always_on(c, o)) {
        buf_puts(out, "choose32(");
        write_predicate(c, out, o->guard, o->guard_xor);
        buf_puts(out, ", ");
    }
    buf_printf(out, "(t%u%s)", j, name[0] == 'q' ? " ^ ~0u" : "");
    if (o->aux) {
        buf_puts(out, o->aux == 1 ? " & " : o->aux == 2 ? " | " : " ^ ");
        write_predicate(c, out, o->src[2], (u32)o->imm);
    }
    if (!is_always_on(c, o)) buf_printf(out, ", v%d)", var_of(c, dst));
    buf_puts(out, ";\n");
}

/* setp: both results come from the predicates as they were. */
static void write_compare(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                          u32 j) {
    const struct op *o = item->o;
    buf_printf(out, "        const u32 t%u = ", j);
    if (item->needs_scalar && item->class == VALUE_UNIFORM) buf_printf(out, "value%u", j);
    else write_call(c, out, item, write_lane);
    buf_puts(out, ";\n");
    write_combined(c, out, o, o->dst, "is_true", j);
    write_combined(c, out, o, o->src[3], "q_false", j);
    if (o->dst != REF_NONE) buf_printf(out, "        v%d = is_true%u;\n", var_of(c, o->dst), j);
    if (o->src[3] != REF_NONE)
        buf_printf(out, "        v%d = q_false%u;\n", var_of(c, o->src[3]), j);
}

static void write_logic(const struct chunk *c, struct buf *out, const struct chunk_op *item) {
    buf_printf(out, "lane_%s(", item->row->id);
    write_predicate(c, out, item->o->src[0], (u32)item->o->imm);
    buf_puts(out, ", ");
    if (item->row->source_count > 1)
        write_predicate(c, out, item->o->src[1], (u32)((u64)item->o->imm >> 32));
    else buf_puts(out, "0");
    buf_puts(out, ")");
}

static void write_select(const struct chunk *c, struct buf *out, const struct chunk_op *item) {
    u32 bytes = native_result_bytes(item->o);
    buf_printf(out, "choose%u(", bytes * 8);
    write_predicate(c, out, item->o->src[2], (u32)item->o->imm);
    buf_puts(out, ", ");
    write_lane(c, out, item, 0, bytes);
    buf_puts(out, ", ");
    write_lane(c, out, item, 1, bytes);
    buf_puts(out, ")");
}

/* The sum's low half and its carry. */
static void write_carry(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                        u32 j) {
    const struct op *o = item->o;
    buf_printf(out, "        const u64 t%u = lane_%s(", j, item->row->id);
    for (u32 i = 0; i < item->row->source_count; i++) {
        write_lane(c, out, item, i, 4);
        buf_puts(out, ", ");
    }
    if (item->row->takes_carry) write_predicate(c, out, o->src[3], 0);
    else buf_puts(out, "0");
    buf_puts(out, ");\n");
    begin_assignment(c, out, o, o->dst);
    buf_printf(out, "(u32)t%u", j);
    end_assignment(c, out, o, o->dst);
    if (!item->row->gives_carry) return;
    begin_assignment(c, out, o, o->src[3]);
    buf_printf(out, "0 - ((u32)(t%u >> 32) & 1)", j);
    end_assignment(c, out, o, o->src[3]);
}

/* Returns true if the op's f32 result is first computed without the canonical NaN, for ops of the
 * chunk whose result is a canonical NaN whatever NaN they read. That takes half of the time from a
 * chain of sums. */
static bool is_raw(const struct chunk *c, const struct chunk_op *item) {
    return item->row->has_raw && is_always_on(c, item->o) && !(item->o->flags & OPF_SAT) &&
           !item->needs_scalar;
}

static void write_raw(const struct chunk *c, struct buf *out, const struct chunk_op *item, u32 j) {
    buf_printf(out, "        const u32 x%u = raw_%s(", j, item->row->id);
    for (u32 i = 0; i < item->row->source_count; i++) {
        int def = item->src[i].var >= 0 ? item->src[i].def : -1;
        if (i) buf_puts(out, ", ");
        if (def >= 0 && is_raw(c, &c->ops[def])) buf_printf(out, "x%d", def);
        else write_lane(c, out, item, i, 4);
    }
    buf_printf(out, ");\n        v%d = lane_canonical(x%u);\n", var_of(c, item->o->dst), j);
}

static void write_regular(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                          u32 j) {
    const struct op *o = item->o;
    if (item->row->kind == ROW_COMPARE) return write_compare(c, out, item, j);
    if (item->row->kind == ROW_CARRY) return write_carry(c, out, item, j);
    if (is_raw(c, item)) return write_raw(c, out, item, j);
    begin_assignment(c, out, o, o->dst);
    buf_puts(out, "(");
    if (item->row->kind == ROW_LOGIC) write_logic(c, out, item);
    else if (item->row->kind == ROW_SELECT) write_select(c, out, item);
    else if (item->needs_scalar && item->class == VALUE_UNIFORM) buf_printf(out, "value%u", j);
    else write_call(c, out, item, write_lane);
    buf_puts(out, ")");
    end_assignment(c, out, o, o->dst);
}

static void write_loaded(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                         u32 j) {
    const struct mem_desc *d = chunk_load_desc(c, item);
    for (u32 e = 0; e < d->count; e++) {
        if (d->reg[e] == REF_NONE) continue;
        buf_printf(out, "        v%d = ", var_of(c, d->reg[e]));
        if (item->class == VALUE_UNIFORM) buf_printf(out, "value%u_%u", j, e);
        else write_element(out, d, "q%u_%u[l]", j, e);
        buf_puts(out, ";\n");
    }
}

/* The first value of a var in the loop over lanes. */
static void write_lane_value(const struct chunk *c, struct buf *out, u32 i) {
    const struct chunk_var *v = &c->vars[i];
    const struct loop_var *lv = c->loop ? chunk_loop_var(c, i) : NULL;
    if (lv && lv->class <= LOOP_UNIFORM) buf_printf(out, " = S%u;\n", v->loop_var);
    else if (lv && lv->class == LOOP_AFFINE && lv->is_written)
        buf_printf(out, " = (%s)(O%u[l] + S%u);\n", native_type_name(v->bytes), lv->root,
                   v->loop_var);
    else if (v->bytes == 1) buf_printf(out, " = predicate_of(w%u, lane_bit[l]);\n", i);
    else buf_printf(out, " = L%u[l];\n", i);
}

static void write_lanes_begin(const struct chunk *c, struct buf *out) {
    buf_puts(out, "    _Pragma(\"GCC ivdep\") for (int l = 0; l < 32; l++) {\n"
                  "        const u32 active = mask == ~0u ? ~0u : predicate_of(mask, "
                  "lane_bit[l]);\n");
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        buf_printf(out, "        %s v%u", native_type_name(v->bytes), i);
        if (!v->is_live_in) buf_puts(out, ";\n");
        else write_lane_value(c, out, i);
    }
}

static void write_lanes_end(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        if (!c->vars[i].is_written || is_scalar_var(c, i)) continue;
        if (c->vars[i].bytes == 1) buf_printf(out, "        n_%u |= v%u & lane_bit[l];\n", i, i);
        else
            buf_printf(out, "        L%u[l] = choose%u(active, v%u, L%u[l]);\n", i,
                       bits_of_var(&c->vars[i]), i, i);
    }
    buf_puts(out, "    }\n");
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].bytes == 1 && c->vars[i].is_written && !is_scalar_var(c, i))
            buf_printf(out,
                       c->loop ? "    S%u = (w%u & ~mask) | (n_%u & mask);\n"
                               : "    *L%u = (w%u & ~mask) | (n_%u & mask);\n",
                       c->loop ? c->vars[i].loop_var : i, i, i);
}

/* Where the register's lanes lie, if the chunk may need them. */
static void write_lanes_pointer(const struct chunk *c, struct buf *out, u32 i) {
    const struct chunk_var *v = &c->vars[i];
    const char *type = native_type_name(v->bytes);
    const struct loop_var *lv = c->loop ? chunk_loop_var(c, i) : NULL;
    if (lv && lv->is_written) {
        if (lv->class == LOOP_VECTOR)
            buf_printf(out, "    %s *const L%u = R%u;\n", type, i, v->loop_var);
        return;
    }
    buf_printf(out, "    %s *%sL%u = (%s *)(x->base[%u] + %u);\n", type, c->loop ? "const " : "", i,
               type, ref_base(v->r), ref_offset(v->r));
}

static void write_vars(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        if (v->bytes != 1 || !c->loop) write_lanes_pointer(c, out, i);
        if (v->bytes == 1 && c->loop) buf_printf(out, "    const u32 w%u = S%u;\n", i, v->loop_var);
        else if (v->bytes == 1) buf_printf(out, "    const u32 w%u = *L%u;\n", i, i);
        if (v->bytes == 1 && v->is_written) buf_printf(out, "    u32 n_%u = 0;\n", i);
    }
}

static void write_lanes(const struct chunk *c, struct buf *out) {
    write_fixed_operands(c, out);
    write_lanes_begin(c, out);
    for (u32 j = 0; j < c->nops; j++)
        if (chunk_is_load(&c->ops[j])) write_loaded(c, out, &c->ops[j], j);
        else write_regular(c, out, &c->ops[j], j);
    write_lanes_end(c, out);
}

static void mark_addresses(struct chunk *c) {
    for (u32 j = 0; j < c->nops; j++)
        if (chunk_is_load(&c->ops[j])) mark_needed(c, &c->ops[j].src[0]);
}

void chunk_write(struct chunk *c, struct buf *out) {
    mark_addresses(c);
    repeat_find(c);
    repeat_write_tables(c, out);
    buf_printf(out,
               "static inline __attribute__((always_inline)) _Bool\n"
               "chunk_%u(struct exec *x, const struct op *ops, const u32 mask) {\n"
               "    const u32 first = (u32)__builtin_ctz(mask);\n"
               "    (void)first, (void)ops;\n",
               c->first);
    write_vars(c, out);
    write_first_values(c, out);
    write_checks(c, out);
    repeat_write_pattern_check(c, out);
    chunk_write_commit(c, out);
    write_lanes(c, out);
    buf_puts(out, "    return 1;\n}\n");
}

/* ---- a chunk of a loop ---- */

static void mark_scalar_results(struct chunk *c) {
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].is_written && is_scalar_var(c, i))
            mark_needed(c, &(struct chunk_operand){.var = (int)i, .def = c->vars[i].def});
}

/* Assigns the scalars that the chunk computed. */
static void write_scalar_results(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        if (!v->is_written || !is_scalar_var(c, i)) continue;
        const struct chunk_op *def = &c->ops[v->def];
        buf_printf(out, "    S%u = ", v->loop_var);
        if (!chunk_is_load(def)) {
            bool is_inverse = v->bytes == 1 && def->o->dst != v->r;
            buf_printf(out, is_inverse ? "~value%d;\n" : "value%d;\n", v->def);
            continue;
        }
        const struct mem_desc *d = chunk_load_desc(c, def);
        u32 e = d->count - 1;
        while (e && d->reg[e] != v->r) e--;
        buf_printf(out, "value%d_%u;\n", v->def, e);
    }
}

/* The interpreter runs the chunk on the frame. What the loads counted is added before, since the
 * interpreter may change their patterns. */
static void write_slow_path(const struct chunk *c, struct buf *out) {
    if (c->nloads && !c->loop->is_region)
        buf_printf(
            out,
            "    if (runs_%u) flush_%u_%u(x, loads, runs_%u, &failures_%u);\n    runs_%u = 0;\n"
            "    forget_loads(loads + %u, %u);\n",
            c->number, c->loop->header, c->number, c->number, c->number, c->number, c->first_load,
            c->nloads);
    for (u32 i = 0; i < c->nvars; i++)
        if ((c->vars[i].is_live_in || c->is_masked) && chunk_loop_var(c, i)->is_written)
            loop_write_store(c->loop, out, c->vars[i].loop_var);
    buf_printf(out,
               "    x->fast_mask = mask;\n"
               "    const _Bool is_defined = interpret(x, ops + %u, %u);\n",
               c->first, c->nops);
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].is_written) loop_write_reload(c->loop, out, c->vars[i].loop_var);
    buf_printf(out, "    ran_%u = 1;\n", c->number);
    if (c->is_masked) buf_puts(out, "    x->fast_mask = ~0u;\n");
    else
        buf_printf(out,
                   "    if (fails(is_defined)) LEAVE(last);\n"
                   "    if (fails(!x->faulted)) LEAVE(%u);\n",
                   c->first + c->nops);
}

static void write_fast_path(struct chunk *c, struct buf *out) {
    mark_addresses(c);
    mark_scalar_results(c);
    write_vars(c, out);
    write_first_values(c, out);
    write_checks(c, out);
    chunk_write_commit(c, out);
    write_lanes(c, out);
    write_scalar_results(c, out);
    buf_printf(out, "    ran_%u = 1;\n", c->number);
}

/* ---- a store ---- */

/* The e-th value that a lane stores. */
static void write_stored_value(const struct chunk *c, struct buf *out, u32 e) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[0]);
    ref r = d->reg[e];
    int i = var_of(c, r);
    buf_printf(out, "(u%u)", d->width * 8);
    if (i >= 0) buf_printf(out, "v%d", i);
    else if (ref_base(r) == BASE_CONST && !is_same_in_lanes(c, r, d->reg_bytes))
        buf_printf(out, "((const %s *)(x->base[%u] + %u))[l]", native_type_name(d->reg_bytes),
                   BASE_CONST, ref_offset(r));
    else write_fixed(c, out, r, d->reg_bytes);
}

/* Lanes store in order, so that the highest one's value stays where several store. */
static void write_data(const struct chunk *c, struct buf *out) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[0]);
    if (d->count == 1) {
        buf_puts(out, "    if (m0->shape == PATTERN_UNIT_STRIDE) {\n");
        write_lanes_begin(c, out);
        buf_printf(out, "        ((u%u *)p0)[l] = ", d->width * 8);
        write_stored_value(c, out, 0);
        buf_puts(out, ";\n    }\n    } else ");
    }
    buf_puts(out, "{\n");
    for (u32 e = 0; e < d->count; e++)
        buf_printf(out, "    u%u b%u[32] __attribute__((aligned(64)));\n", d->width * 8, e);
    write_lanes_begin(c, out);
    for (u32 e = 0; e < d->count; e++) {
        buf_printf(out, "        b%u[l] = ", e);
        write_stored_value(c, out, e);
        buf_puts(out, ";\n");
    }
    buf_puts(out, "    }\n");
    for (u32 e = 0; e < d->count; e++)
        buf_printf(out, "    scatter_u%u(p0 + %u, m0, b%u);\n", d->width * 8, e * d->width, e);
    buf_puts(out, "    }\n");
}

static void write_store(struct chunk *c, struct buf *out) {
    mark_addresses(c);
    write_vars(c, out);
    write_first_values(c, out);
    chunk_write_store_checks(c, out);
    write_data(c, out);
    buf_printf(out, "    ran_%u = 1;\n", c->number);
}

void chunk_write_in_loop(struct chunk *c, struct buf *out) {
    buf_puts(out, "    {\n");
    if (c->calls_only) write_slow_path(c, out);
    else if (!c->nloads && !c->is_store) write_fast_path(c, out);
    else {
        bool counts_at_exit = c->nloads && !c->loop->is_region;
        buf_printf(out, "    if (fails(failures_%u <= MAX_FAILURES)) goto slow_%u;\n    {\n",
                   c->number, c->number);
        if (c->is_store) write_store(c, out);
        else write_fast_path(c, out);
        if (counts_at_exit) buf_printf(out, "    runs_%u++;\n", c->number);
        else buf_printf(out, "    count_successes(&failures_%u, 1);\n", c->number);
        buf_printf(out,
                   "    goto done_%u;\n    }\n"
                   "slow_%u:\n    count_failure(&failures_%u);\n",
                   c->number, c->number, c->number);
        write_slow_path(c, out);
        buf_printf(out, "done_%u:;\n", c->number);
    }
    buf_puts(out, "    }\n");
}

/* write.c — writes a chunk as C: the checks and scalar values, then the commit, then the loop over
 * lanes. See native.h.
 *
 * Names: by var, L lanes in the frame, v a lane's value, w a predicate's lanes, u the first value
 * as a scalar; by op, s a scalar, m a pattern, a an address, p where a load reads, q its lanes. */
#include "grader/sim/native/generate.h"

#include <stdio.h>
#include <string.h>

static const char *type_of_bytes(u32 bytes) {
    return bytes == 2 ? "u16" : bytes == 8 ? "u64" : "u32";
}

/* A predicate takes 32 bits in the loop over lanes. */
static u32 bits_of_var(const struct chunk_var *v) { return v->bytes == 1 ? 32 : 8u * v->bytes; }

static bool is_load(const struct chunk_op *item) { return item->row->kind == ROW_CALL; }
static const struct mem_desc *load_desc(const struct chunk *c, const struct chunk_op *item) {
    return &c->m->mems[item->o->aux];
}
static u32 load_span(const struct mem_desc *d) { return (u32)d->width * d->count; }

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
        buf_printf(out, "(%s)0x%llxull", type_of_bytes(bytes),
                   (unsigned long long)constant_lane(c, r, bytes, 0));
    else
        buf_printf(out, "*(const %s *)(x->base[%u] + %u)", type_of_bytes(bytes), ref_base(r),
                   ref_offset(r));
}

/* The i-th source as a scalar of the checks. */
static void write_scalar(const struct chunk *c, struct buf *out, const struct chunk_op *item, u32 i,
                         u32 bytes) {
    const struct chunk_operand *s = &item->src[i];
    if (s->var < 0) return write_fixed(c, out, item->o->src[i], bytes);
    if (s->def < 0) return buf_printf(out, "u%d", s->var);
    const struct chunk_op *def = &c->ops[s->def];
    if (!is_load(def)) return buf_printf(out, "s%d", s->def);
    const struct mem_desc *d = load_desc(c, def);
    u32 e = 0;
    for (u32 j = 0; j < d->count; j++)
        if (d->reg[j] == item->o->src[i]) e = j;
    buf_printf(out, "s%d_%u", s->def, e);
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
        buf_printf(out, "((const %s *)(x->base[%u] + %u))[l]", type_of_bytes(bytes), BASE_CONST,
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
    if (item->needs_scalar || is_load(item)) return;
    item->needs_scalar = true;
    for (u32 i = 0; i < item->row->source_count; i++) mark_needed(c, &item->src[i]);
}

static void write_first_values(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        if (!v->needs_scalar) continue;
        bool may_vary = ref_base(v->r) == BASE_WARP || c->varying[ref_offset(v->r) / 4];
        buf_printf(out, "    const %s u%u = L%u[first];\n", type_of_bytes(v->bytes), i, i);
        if (!may_vary)
            buf_printf(out, "    if (fails(is_uniform%u(L%u, mask, u%u))) return 0;\n",
                       v->bytes * 8, i, i);
    }
}

static void write_call(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                       void (*write)(const struct chunk *, struct buf *, const struct chunk_op *,
                                     u32, u32)) {
    const struct opcode_desc *d = &insn_opcodes[item->o->opcode];
    if (item->o->flags & OPF_SAT) buf_puts(out, "lane_saturate(");
    buf_printf(out, "lane_%s(", item->row->id);
    for (u32 i = 0; i < item->row->source_count; i++) {
        if (i) buf_puts(out, ", ");
        write(c, out, item, i, native_type_bytes(d->src[i]));
    }
    buf_puts(out, item->o->flags & OPF_SAT ? "))" : ")");
}

/* The first load whose address has the same offsets; their patterns must be equal. */
static u32 first_with_root(const struct chunk *c, u32 j) {
    for (u32 i = 0; i < j; i++)
        if (is_load(&c->ops[i]) && c->ops[i].class == VALUE_VARYING &&
            c->ops[i].root == c->ops[j].root)
            return i;
    return j;
}

static void write_pattern_check(const struct chunk *c, struct buf *out, u32 j) {
    const struct chunk_op *item = &c->ops[j];
    u32 first = first_with_root(c, j), root = item->root;
    if (item->class == VALUE_UNIFORM)
        buf_printf(out, "    if (fails(is_uniform_pattern(m%u, mask))) return 0;\n", j);
    else if (first == j)
        buf_printf(out, "    if (fails(has_pattern%u(L%u, mask, L%u[first], m%u))) return 0;\n",
                   c->vars[root].bytes * 8, root, root, j);
    else buf_printf(out, "    if (fails(is_same_pattern(m%u, m%u))) return 0;\n", j, first);
}

static void write_load_check(const struct chunk *c, struct buf *out, u32 j) {
    const struct chunk_op *item = &c->ops[j];
    const struct mem_desc *d = load_desc(c, item);
    bool is_shared = d->space == SPACE_SHARED;
    const char *width = d->address32 ? "u32" : "u64";
    buf_printf(out, "    const u64 a%u = (%s)(", j, width);
    if (item->o->src[0] == REF_NONE) buf_puts(out, "0");
    else write_scalar(c, out, item, 0, d->address32 ? 4 : 8);
    buf_printf(out, " + (%s)%lldll);\n", width, (long long)item->o->imm);
    buf_printf(out, "    struct access_pattern *m%u = &x->pattern_cache[%u];\n", j, d->stat);
    write_pattern_check(c, out, j);
    if (is_shared)
        buf_printf(out, "    const unsigned char *p%u = guard_shared(x, m%u, a%u, %u, %uu, %uu);\n",
                   j, j, j, load_span(d), d->array_begin, d->array_end);
    else
        buf_printf(out,
                   "    _Bool c%u;\n"
                   "    const unsigned char *p%u = guard_global(x, m%u, a%u, %u, %d, &c%u);\n",
                   j, j, j, j, load_span(d), d->space == SPACE_CONST, j);
    buf_printf(out, "    if (fails(p%u)) return 0;\n", j);
}

/* The value of an element in its register: the type in memory, extended. */
static void write_element(struct buf *out, const struct mem_desc *d, const char *format, u32 j,
                          u32 e) {
    if (d->is_signed && d->width < d->reg_bytes)
        buf_printf(out, "(%s)(s%u)(s%u)", type_of_bytes(d->reg_bytes), d->reg_bytes * 8,
                   d->width * 8);
    else buf_printf(out, "(%s)", type_of_bytes(d->reg_bytes));
    buf_printf(out, format, j, e);
}

static void write_uniform_elements(const struct chunk *c, struct buf *out, u32 j) {
    const struct mem_desc *d = load_desc(c, &c->ops[j]);
    for (u32 e = 0; e < d->count; e++) {
        char text[64];
        snprintf(text, sizeof text, "*(const u%u *)(p%%u + %u)", d->width * 8, e * d->width);
        if (d->reg[e] == REF_NONE) continue;
        buf_printf(out, "    const %s s%u_%u = ", type_of_bytes(d->reg_bytes), j, e);
        write_element(out, d, text, j, e);
        buf_puts(out, ";\n");
    }
}

static void write_checks(const struct chunk *c, struct buf *out) {
    for (u32 j = 0; j < c->nops; j++) {
        const struct chunk_op *item = &c->ops[j];
        if (is_load(item)) {
            write_load_check(c, out, j);
            if (item->class == VALUE_UNIFORM) write_uniform_elements(c, out, j);
        } else if (item->needs_scalar) {
            buf_printf(out, "    const %s s%u = ",
                       type_of_bytes(native_type_bytes(insn_opcodes[item->o->opcode].dst)), j);
            write_call(c, out, item, write_scalar);
            buf_puts(out, ";\n");
        }
    }
}

/* ---- commit ---- */

static void write_gather(const struct chunk *c, struct buf *out, u32 j) {
    const struct mem_desc *d = load_desc(c, &c->ops[j]);
    for (u32 e = 0; e < d->count; e++)
        if (d->reg[e] != REF_NONE)
            buf_printf(out,
                       "    u%u b%u_%u[32] __attribute__((aligned(64)));\n"
                       "    const u%u *q%u_%u = gather_u%u(p%u + %u, m%u, %d, b%u_%u);\n",
                       d->width * 8, j, e, d->width * 8, j, e, d->width * 8, j, e * d->width, j,
                       d->count == 1, j, e);
}

static void write_commit(const struct chunk *c, struct buf *out) {
    for (u32 j = 0; j < c->nops; j++) {
        if (!is_load(&c->ops[j])) continue;
        const struct mem_desc *d = load_desc(c, &c->ops[j]);
        bool is_shared = d->space == SPACE_SHARED;
        const char *access = d->verified_by_atomic ? "RACE_READ_REVALIDATED" : "RACE_READ";
        buf_printf(out, "    commit_load(x->stats[%u], m%u, a%u, %s%u%s, mask, %d);\n", d->stat, j,
                   j, is_shared ? "0 * a" : "a", j, is_shared ? "" : " & 31",
                   !(is_shared && d->merged_bytes == MERGED_INTO_OTHER));
        if (is_shared)
            buf_printf(out,
                       "    if (x->sanitize) record_shared(x, ops + %u, m%u, a%u, mask, %u, %s, "
                       "%u);\n",
                       c->first + j, j, j, load_span(d), access, insn_opcode_count);
        else
            buf_printf(out, "    if (c%u) record_global(x, ops + %u, %u, m%u, a%u, %u, %s, %u);\n",
                       j, c->first + j, d->stat, j, j, load_span(d), access, insn_opcode_count);
        if (c->ops[j].class != VALUE_UNIFORM) write_gather(c, out, j);
    }
}

/* ---- the loop over lanes ---- */

static void write_fixed_operands(const struct chunk *c, struct buf *out) {
    for (u32 j = 0; j < c->nops; j++)
        for (u32 i = 0; i < c->ops[j].row->source_count; i++) {
            const struct op *o = c->ops[j].o;
            u32 bytes = native_type_bytes(insn_opcodes[o->opcode].src[i]);
            if (o->src[i] == REF_NONE || ref_base(o->src[i]) != BASE_BLOCK || bytes == 1) continue;
            buf_printf(out, "    const %s k%u_%u = ", type_of_bytes(bytes), j, i);
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
    write_call(c, out, item, write_lane);
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
    u32 bytes = native_type_bytes(insn_opcodes[item->o->opcode].dst);
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

static void write_regular(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                          u32 j) {
    const struct op *o = item->o;
    if (item->row->kind == ROW_COMPARE) return write_compare(c, out, item, j);
    if (item->row->kind == ROW_CARRY) return write_carry(c, out, item, j);
    begin_assignment(c, out, o, o->dst);
    buf_puts(out, "(");
    if (item->row->kind == ROW_LOGIC) write_logic(c, out, item);
    else if (item->row->kind == ROW_SELECT) write_select(c, out, item);
    else if (item->needs_scalar && item->class == VALUE_UNIFORM) buf_printf(out, "s%u", j);
    else write_call(c, out, item, write_lane);
    buf_puts(out, ")");
    end_assignment(c, out, o, o->dst);
}

static void write_loaded(const struct chunk *c, struct buf *out, const struct chunk_op *item,
                         u32 j) {
    const struct mem_desc *d = load_desc(c, item);
    for (u32 e = 0; e < d->count; e++) {
        if (d->reg[e] == REF_NONE) continue;
        buf_printf(out, "        v%d = ", var_of(c, d->reg[e]));
        if (item->class == VALUE_UNIFORM) buf_printf(out, "s%u_%u", j, e);
        else write_element(out, d, "q%u_%u[l]", j, e);
        buf_puts(out, ";\n");
    }
}

static void write_loop_begin(const struct chunk *c, struct buf *out) {
    buf_puts(out, "    _Pragma(\"GCC ivdep\") for (int l = 0; l < 32; l++) {\n"
                  "        const u32 active = mask == ~0u ? ~0u : predicate_of(mask, "
                  "lane_bit[l]);\n");
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        buf_printf(out, "        %s v%u", type_of_bytes(v->bytes), i);
        if (!v->is_live_in) buf_puts(out, ";\n");
        else if (v->bytes == 1) buf_printf(out, " = predicate_of(w%u, lane_bit[l]);\n", i);
        else buf_printf(out, " = L%u[l];\n", i);
    }
}

static void write_loop_end(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        if (!c->vars[i].is_written) continue;
        if (c->vars[i].bytes == 1) buf_printf(out, "        n_%u |= v%u & lane_bit[l];\n", i, i);
        else
            buf_printf(out, "        L%u[l] = choose%u(active, v%u, L%u[l]);\n", i,
                       bits_of_var(&c->vars[i]), i, i);
    }
    buf_puts(out, "    }\n");
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].bytes == 1 && c->vars[i].is_written)
            buf_printf(out, "    *L%u = (w%u & ~mask) | (n_%u & mask);\n", i, i, i);
}

static void write_vars(const struct chunk *c, struct buf *out) {
    for (u32 i = 0; i < c->nvars; i++) {
        const struct chunk_var *v = &c->vars[i];
        const char *type = type_of_bytes(v->bytes);
        buf_printf(out, "    %s *L%u = (%s *)(x->base[%u] + %u);\n", type, i, type, ref_base(v->r),
                   ref_offset(v->r));
        if (v->bytes == 1) buf_printf(out, "    const u32 w%u = *L%u;\n", i, i);
        if (v->bytes == 1 && v->is_written) buf_printf(out, "    u32 n_%u = 0;\n", i);
    }
}

void chunk_write(struct chunk *c, struct buf *out) {
    for (u32 j = 0; j < c->nops; j++)
        if (is_load(&c->ops[j])) mark_needed(c, &c->ops[j].src[0]);
    buf_printf(out,
               "static inline __attribute__((always_inline)) _Bool\n"
               "chunk_%u(struct exec *x, const struct op *ops, const u32 mask) {\n"
               "    const u32 first = (u32)__builtin_ctz(mask);\n"
               "    (void)first, (void)ops;\n",
               c->first);
    write_vars(c, out);
    write_first_values(c, out);
    write_checks(c, out);
    write_commit(c, out);
    write_fixed_operands(c, out);
    write_loop_begin(c, out);
    for (u32 j = 0; j < c->nops; j++)
        if (is_load(&c->ops[j])) write_loaded(c, out, &c->ops[j], j);
        else write_regular(c, out, &c->ops[j], j);
    write_loop_end(c, out);
    buf_puts(out, "    return 1;\n}\n");
}

/* write_load.c — writes the loads of a chunk: what must be true of each before any of them has an
 * effect, then their counts and records. See native.h. Names are those of write.c; also, in a loop,
 * t what is known of a load. */
#include "grader/sim/native/generate.h"

/* A load that was merged into another one doesn't count. */
bool chunk_is_counted_load(const struct mem_desc *d) {
    return d->space != SPACE_SHARED || d->merged_bytes != MERGED_INTO_OTHER;
}

/* Returns true if what is known of loads lasts for many runs of the chunk. */
static bool learns_loads(const struct chunk *c) { return c->loop && !c->loop->is_region; }

/* Returns true if a check of the pattern need not be repeated while the loop runs: the lanes'
 * offsets are those of a root of the loop. */
static bool has_fixed_offsets(const struct chunk *c, u32 root) {
    return c->loop && chunk_loop_var(c, root)->class == LOOP_AFFINE;
}
/* Writes the begin and the end of a check. */
static void begin_check(struct buf *out) { buf_puts(out, "    if (fails("); }
static void end_check(const struct chunk *c, struct buf *out) {
    if (c->loop) buf_printf(out, ")) goto slow_%u;\n", c->number);
    else buf_puts(out, ")) return 0;\n");
}

/* The first load whose address has the same offsets; their patterns must be equal. */
static u32 first_with_root(const struct chunk *c, u32 j) {
    for (u32 i = 0; i < j; i++)
        if (chunk_is_load(&c->ops[i]) && c->ops[i].class == VALUE_VARYING &&
            c->ops[i].root == c->ops[j].root)
            return i;
    return j;
}

void chunk_write_pattern_condition(const struct chunk *c, struct buf *out, u32 j) {
    const struct chunk_op *item = &c->ops[j];
    u32 first = first_with_root(c, j), root = item->root, bits = c->vars[root].bytes * 8;
    if (item->class == VALUE_UNIFORM) buf_printf(out, "is_uniform_pattern(m%u, mask)", j);
    else if (first != j) buf_printf(out, "is_same_pattern(m%u, m%u)", j, first);
    else if (has_fixed_offsets(c, root))
        buf_printf(out, "has_offsets%u(O%u, m%u)", bits, c->vars[root].loop_var, j);
    else buf_printf(out, "has_pattern%u(L%u, mask, L%u[first], m%u)", bits, root, root, j);
}

/* In a loop, what is known of a pattern stays so until the interpreter runs the chunk; only
 * addresses from a register of any values must be compared each time. */
static void write_loop_load_check(const struct chunk *c, struct buf *out, u32 j, u32 load) {
    const struct chunk_op *item = &c->ops[j];
    const struct mem_desc *d = chunk_load_desc(c, item);
    bool is_shared = d->space == SPACE_SHARED, is_compared = item->class != VALUE_UNIFORM &&
                                                             first_with_root(c, j) == j &&
                                                             !has_fixed_offsets(c, item->root);
    buf_printf(out, "    struct load_state *const t%u = &loads[%u];\n", j, c->first_load + load);
    if (is_compared) {
        begin_check(out);
        chunk_write_pattern_condition(c, out, j);
        end_check(c, out);
    }
    begin_check(out);
    buf_printf(out, "may_load(t%u, a%u) || (!t%u->is_known && ", j, j, j);
    if (is_compared) buf_puts(out, "1");
    else chunk_write_pattern_condition(c, out, j);
    if (is_shared)
        buf_printf(out, " && learn_shared(x, t%u, m%u, %u, %uu, %uu)", j, j, chunk_load_span(d),
                   d->array_begin, d->array_end);
    else
        buf_printf(out, " && learn_global(x, t%u, m%u, %u, %d)", j, j, chunk_load_span(d),
                   d->space == SPACE_CONST);
    buf_printf(out, " && may_load(t%u, a%u))", j, j);
    end_check(c, out);
    begin_check(out);
    buf_printf(out, "t%u->is_plain || has_defined_bytes(t%u, m%u, a%u, %u)", j, j, j, j,
               chunk_load_span(d));
    end_check(c, out);
    buf_printf(out, "    const unsigned char *p%u = t%u->memory + a%u;\n", j, j, j);
}

static void write_segment_load_check(const struct chunk *c, struct buf *out, u32 j) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[j]);
    begin_check(out);
    chunk_write_pattern_condition(c, out, j);
    end_check(c, out);
    if (d->space == SPACE_SHARED)
        buf_printf(out, "    const unsigned char *p%u = guard_shared(x, m%u, a%u, %u, %uu, %uu);\n",
                   j, j, j, chunk_load_span(d), d->array_begin, d->array_end);
    else
        buf_printf(out,
                   "    _Bool c%u;\n"
                   "    const unsigned char *p%u = guard_global(x, m%u, a%u, %u, %d, &c%u);\n",
                   j, j, j, j, chunk_load_span(d), d->space == SPACE_CONST, j);
    begin_check(out);
    buf_printf(out, "p%u", j);
    end_check(c, out);
}

/* Declares the first lane's address and the pattern. */
static void write_address(const struct chunk *c, struct buf *out, u32 j) {
    const struct chunk_op *item = &c->ops[j];
    const struct mem_desc *d = chunk_load_desc(c, item);
    const char *width = d->address32 ? "u32" : "u64";
    buf_printf(out, "    const u64 a%u = (%s)(", j, width);
    if (item->o->src[0] == REF_NONE) buf_puts(out, "0");
    else chunk_write_scalar(c, out, item, 0, d->address32 ? 4 : 8);
    buf_printf(out, " + (%s)%lldll);\n", width, (long long)item->o->imm);
    buf_printf(out, "    struct access_pattern *const m%u = &%s[%u];\n", j,
               c->loop ? "patterns" : "x->pattern_cache", d->stat);
}

/* load: number of the load in the chunk. */
void chunk_write_load_check(const struct chunk *c, struct buf *out, u32 j, u32 load) {
    if (c->ops[j].group >= 0) return repeat_write_check(c, out, j);
    write_address(c, out, j);
    if (learns_loads(c)) write_loop_load_check(c, out, j, load);
    else write_segment_load_check(c, out, j);
}

/* ---- commit ---- */

static void write_gather(const struct chunk *c, struct buf *out, u32 j) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[j]);
    int group = c->ops[j].group;
    u32 pattern = group >= 0 ? c->groups[group].first : j;
    for (u32 e = 0; e < d->count; e++)
        if (d->reg[e] != REF_NONE)
            buf_printf(out,
                       "    u%u b%u_%u[32] __attribute__((aligned(64)));\n"
                       "    const u%u *q%u_%u = gather_u%u(p%u + %u, m%u, %d, b%u_%u);\n",
                       d->width * 8, j, e, d->width * 8, j, e, d->width * 8, j, e * d->width,
                       pattern, d->count == 1, j, e);
}

static void write_effects(const struct chunk *c, struct buf *out, u32 j) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[j]);
    bool is_shared = d->space == SPACE_SHARED;
    const char *access = d->verified_by_atomic ? "RACE_READ_REVALIDATED" : "RACE_READ";
    if (learns_loads(c)) buf_printf(out, "    note_load(t%u, m%u, a%u, %d);\n", j, j, j, is_shared);
    else
        buf_printf(out, "    commit_load(x->stats[%u], m%u, a%u, %s%u%s, mask, %d);\n", d->stat, j,
                   j, is_shared ? "0 * a" : "a", j, is_shared ? "" : " & 31",
                   chunk_is_counted_load(d));
    if (!learns_loads(c) && !is_shared)
        buf_printf(out, "    prefetch_next_row(p%u, m%u, 0);\n", j, j);
    if (learns_loads(c)) buf_printf(out, "    if (!t%u->is_plain && t%u->is_recorded) ", j, j);
    else if (is_shared) buf_puts(out, "    if (x->sanitize) ");
    else buf_printf(out, "    if (c%u) ", j);
    if (is_shared)
        buf_printf(out, "record_shared(x, ops + %u, m%u, a%u, mask, %u, %s, %u);\n", c->first + j,
                   j, j, chunk_load_span(d), access, insn_opcode_count);
    else
        buf_printf(out, "record_global(x, ops + %u, %u, m%u, a%u, %u, %s, %u);\n", c->first + j,
                   d->stat, j, j, chunk_load_span(d), access, insn_opcode_count);
}

void chunk_write_commit(const struct chunk *c, struct buf *out) {
    repeat_write_count(c, out);
    for (u32 j = 0; j < c->nops; j++) {
        if (!chunk_is_load(&c->ops[j])) continue;
        if (c->ops[j].group >= 0) repeat_write_records(c, out, j);
        else write_effects(c, out, j);
        if (c->ops[j].class != VALUE_UNIFORM) write_gather(c, out, j);
    }
}

/* ---- a store ---- */

static void write_store_guard(const struct mem_desc *d, struct buf *out) {
    u32 span = chunk_load_span(d);
    buf_puts(out, "    _Bool has_shadow, is_recorded;\n    unsigned char *p0 = ");
    if (d->space == SPACE_SHARED)
        buf_printf(out, "guard_shared_store(x, m0, a0, %u, %uu, %uu);\n", span, d->array_begin,
                   d->array_end);
    else buf_printf(out, "guard_global_store(x, m0, a0, %u, &has_shadow, &is_recorded);\n", span);
}

/* Returns true if the store takes a value from that register. */
static bool is_stored(const struct mem_desc *d, ref r) {
    for (u32 e = 0; e < d->count; e++)
        if (d->reg[e] == r) return true;
    return false;
}

/* The race detector compares the values of stores, which it reads from the frame. */
static void write_store_record(const struct chunk *c, struct buf *out) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[0]);
    u32 span = chunk_load_span(d);
    buf_puts(out, "    if (is_recorded) {\n");
    for (u32 i = 0; i < c->nvars; i++)
        if (is_stored(d, c->vars[i].r) && chunk_loop_var(c, i)->is_written)
            loop_write_store(c->loop, out, c->vars[i].loop_var);
    if (d->space == SPACE_SHARED)
        buf_printf(out,
                   "    record_shared(x, ops + %u, m0, a0, mask, %u, RACE_WRITE, %u);\n    }\n",
                   c->first, span, insn_opcode_count);
    else
        buf_printf(out, "    record_global(x, ops + %u, %u, m0, a0, %u, RACE_WRITE, %u);\n    }\n",
                   c->first, d->stat, span, insn_opcode_count);
}

void chunk_write_store_checks(const struct chunk *c, struct buf *out) {
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[0]);
    bool is_shared = d->space == SPACE_SHARED;
    write_address(c, out, 0);
    begin_check(out);
    chunk_write_pattern_condition(c, out, 0);
    end_check(c, out);
    write_store_guard(d, out);
    begin_check(out);
    buf_puts(out, "p0");
    end_check(c, out);
    if (is_shared) buf_puts(out, "    has_shadow = is_recorded = x->sanitize;\n");
    buf_printf(out, "    commit_load(x->stats[%u], m0, a0, %s, mask, %d);\n", d->stat,
               is_shared ? "0" : "a0 & 31", chunk_is_counted_load(d));
    if (!is_shared)
        buf_puts(out, "    prefetch_next_row(p0, m0, 1);\n"
                      "    if (has_shadow) prefetch_next_row(global_shadow(x, a0), m0, 1);\n");
    buf_printf(out, "    if (has_shadow) mark_initialized(%s, m0, %u);\n",
               is_shared ? "x->shared_written + a0" : "global_shadow(x, a0)", chunk_load_span(d));
    write_store_record(c, out);
}

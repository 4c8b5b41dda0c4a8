/* repeat.c — finds the loads of shared memory in a segment's chunk whose patterns mostly repeat,
 * and writes them: their patterns are compared again only when one of them has changed, runs are
 * counted instead of loads (core/repeated_loads.h), and addresses a constant apart are checked
 * together.
 *
 * Names, besides those of write.c: repeated_N the chunk's table of loads, N its first op; delta_N_G
 * how far a group's loads are apart; s a group's lowest address; groups_base, groups_pattern these
 * and the patterns by group; known what the worker knows of the chunk. */
#include "grader/sim/native/generate.h"

/* ---- groups ---- */

static bool may_repeat(const struct chunk *c, const struct chunk_op *item) {
    if (!chunk_is_load(item)) return false;
    const struct mem_desc *d = chunk_load_desc(c, item);
    return d->space == SPACE_SHARED && d->address32 && !d->verified_by_atomic &&
           item->src[0].var >= 0 && chunk_load_span(d) % 4 == 0;
}

static u64 distance(s64 a, s64 b) { return a < b ? (u64)b - (u64)a : (u64)a - (u64)b; }

/* Returns true if the load can be checked with the group: its address comes from the same value of
 * the same register, and the same array. */
static bool fits_group(const struct chunk *c, const struct load_group *g,
                       const struct chunk_op *item) {
    enum { MAX_DISTANCE = 1 << 16 };
    const struct chunk_op *first = &c->ops[g->first];
    const struct mem_desc *d = chunk_load_desc(c, item), *e = chunk_load_desc(c, first);
    u64 apart = distance(item->o->imm, first->o->imm);
    return item->src[0].var == first->src[0].var && item->src[0].def == first->src[0].def &&
           chunk_load_span(d) == chunk_load_span(e) && d->array_begin == e->array_begin &&
           d->array_end == e->array_end && apart < MAX_DISTANCE && apart % chunk_load_span(d) == 0;
}

static void add_to_group(struct chunk *c, struct chunk_op *item) {
    u32 i = 0;
    while (i < c->ngroups && !fits_group(c, &c->groups[i], item)) i++;
    if (i == CHUNK_MAX_GROUPS) return;
    struct load_group *g = &c->groups[i];
    s64 imm = item->o->imm;
    if (i == c->ngroups) c->ngroups++, *g = (struct load_group){(u32)(item - c->ops), 0, imm, imm};
    if (imm < g->min_imm) g->min_imm = imm;
    if (imm > g->max_imm) g->max_imm = imm;
    g->size++;
    item->group = (int)i;
    c->nrepeated++;
}

void repeat_find(struct chunk *c) {
    enum { MIN_REPEATED = 2 };
    for (u32 j = 0; j < c->nops; j++)
        if (may_repeat(c, &c->ops[j])) add_to_group(c, &c->ops[j]);
    if (c->nrepeated >= MIN_REPEATED) return;
    for (u32 j = 0; j < c->nops; j++) c->ops[j].group = -1;
    c->ngroups = c->nrepeated = 0;
}

/* ---- tables ---- */

static u32 delta_of(const struct chunk *c, u32 j) {
    return (u32)(c->ops[j].o->imm - c->groups[c->ops[j].group].min_imm);
}

static void write_deltas(const struct chunk *c, struct buf *out, u32 group) {
    buf_printf(out, "static const u32 delta_%u_%u[] = {", c->first, group);
    for (u32 j = 0; j < c->nops; j++)
        if (c->ops[j].group == (int)group) buf_printf(out, "%u, ", delta_of(c, j));
    buf_puts(out, "};\n");
}

void repeat_write_tables(const struct chunk *c, struct buf *out) {
    for (u32 g = 0; g < c->ngroups; g++) write_deltas(c, out, g);
    if (c->nrepeated)
        buf_printf(out, "static const struct repeated_load repeated_%u[] = {\n", c->first);
    for (u32 j = 0; j < c->nops; j++) {
        if (c->ops[j].group < 0) continue;
        const struct mem_desc *d = chunk_load_desc(c, &c->ops[j]);
        buf_printf(out, "    {%u, %u, %d, %u, %d},\n", c->first + j, d->stat, c->ops[j].group,
                   delta_of(c, j), chunk_is_counted_load(d));
    }
    if (c->nrepeated) buf_puts(out, "};\n");
}

/* ---- checks ---- */

static void write_group_check(const struct chunk *c, struct buf *out, u32 group) {
    const struct load_group *g = &c->groups[group];
    u32 j = g->first;
    const struct mem_desc *d = chunk_load_desc(c, &c->ops[j]);
    buf_printf(out, "    const u64 s%u = (u32)(", group);
    chunk_write_scalar(c, out, &c->ops[j], 0, 4);
    buf_printf(out, " + (u32)%lldll);\n", (long long)g->min_imm);
    buf_printf(out,
               "    struct access_pattern *const m%u = &x->pattern_cache[%u];\n"
               "    if (fails(",
               j, d->stat);
    chunk_write_pattern_condition(c, out, j);
    buf_printf(out,
               ")) return 0;\n"
               "    if (fails(is_group_readable(x, m%u, s%u, %u, delta_%u_%u, %u, %u, %uu, %uu))) "
               "return 0;\n",
               j, group, chunk_load_span(d), c->first, group, g->size,
               (u32)(g->max_imm - g->min_imm) + chunk_load_span(d), d->array_begin, d->array_end);
}

void repeat_write_check(const struct chunk *c, struct buf *out, u32 j) {
    u32 group = (u32)c->ops[j].group;
    if (c->groups[group].first == j) write_group_check(c, out, group);
    buf_printf(out, "    const unsigned char *p%u = x->shared + s%u + %u;\n", j, group,
               delta_of(c, j));
}

void repeat_write_pattern_check(const struct chunk *c, struct buf *out) {
    if (!c->nrepeated) return;
    buf_puts(out, "    const u64 groups_base[] = {");
    for (u32 g = 0; g < c->ngroups; g++) buf_printf(out, "s%u, ", g);
    buf_puts(out, "};\n    struct access_pattern *const groups_pattern[] = {");
    for (u32 g = 0; g < c->ngroups; g++) buf_printf(out, "m%u, ", c->groups[g].first);
    buf_printf(out,
               "};\n    struct repeated_loads *const known = "
               "find_repeated(x, repeated_%u, %u, groups_pattern, mask, %u);\n"
               "    if (fails(known)) return 0;\n",
               c->first, c->nrepeated, insn_opcode_count);
}

/* ---- effects ---- */

void repeat_write_count(const struct chunk *c, struct buf *out) {
    if (c->nrepeated) buf_puts(out, "    count_repeated(x, known, groups_base, mask);\n");
}

/* Returns true if the load before the j-th op is a repeated one, too. */
static bool follows_repeated(const struct chunk *c, u32 j) {
    while (j--)
        if (chunk_is_load(&c->ops[j])) return c->ops[j].group >= 0;
    return false;
}

void repeat_write_records(const struct chunk *c, struct buf *out, u32 j) {
    u32 first = 0, n = 0;
    if (follows_repeated(c, j)) return;
    for (u32 i = 0; i < j; i++) first += c->ops[i].group >= 0;
    for (u32 i = j; i < c->nops && (!chunk_is_load(&c->ops[i]) || c->ops[i].group >= 0); i++)
        n += c->ops[i].group >= 0;
    buf_printf(out,
               "    if (x->sanitize) record_shared_reads(x, repeated_%u + %u, %u, groups_base, "
               "groups_pattern, mask, %u);\n",
               c->first, first, n, insn_opcode_count);
}

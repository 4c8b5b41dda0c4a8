/* if_conversion.c — branches that ptxas replaces by predicates, for region.c: over one arm ("if")
 * or two ("if, else").
 *
 * ptxas judges by the machine instructions of an arm, the branch at its end included, and by loads
 * from global memory, which it can move up once the branch is gone. Found by generated PTX with
 * ptxas 13.0 for sm_90 (grader/tests/timing/if_conversion.py):
 *
 *     no load in arms or behind them      each arm up to 8
 *     a load in each of two arms          each arm up to 20
 *     a load behind one arm               up to 20
 *     a load behind two arms              both together up to 20
 *
 * A load in a single arm counts like one behind it, as in loops of guarded loads, where the next
 * one is behind; where no load follows at all, ptxas keeps the branch. */
#include "grader/sim/timing/internal.h"

#include <stdlib.h>

enum { MAX_PREDICATED_INSNS = 8, MAX_PREDICATED_WITH_LOAD = 20 };

static bool in_frame(ref x) { return ref_base(x) == BASE_FRAME; }

static bool loads_global(const struct region_table *r, const struct sched_insn *s) {
    const struct mem_desc *d =
        s->kind == SCHED_MEMORY ? &r->module->mems[r->module->ops[s->op].aux] : NULL;
    return d && d->verb == MEM_LOAD && (d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC);
}

/* The machine instructions of a segment; too many to be predicated: MAX_PREDICATED_WITH_LOAD + 1.
 */
struct arm {
    u32 ninsns;
    bool has_load;
};

static struct arm measure_arm(struct region_table *r, u32 segment) {
    const struct segment *body = &r->module->segments[segment];
    struct sched_insn insns[4 * MAX_PREDICATED_WITH_LOAD];
    u32 n = body->last - body->first + (r->module->ops[body->last].kind == OP_BRA);
    struct arm a = {.ninsns = MAX_PREDICATED_WITH_LOAD + 1};
    if (n > sizeof insns / sizeof *insns) return a;
    time_lower_ops(r, body->first, n, insns);
    a.ninsns = 0;
    for (u32 i = 0; i < n; i++)
        a.ninsns += insns[i].count, a.has_load |= loads_global(r, &insns[i]);
    return a;
}

/* Returns true if the segment loads from global memory. */
static bool segment_loads(const struct region_table *r, u32 segment) {
    const struct sim_module *m = r->module;
    if (segment >= m->nsegments) return false;
    for (u32 op = m->segments[segment].first; op <= m->segments[segment].last; op++) {
        const struct mem_desc *d = time_is_memory_op(&m->ops[op]) ? &m->mems[m->ops[op].aux] : NULL;
        if (d && d->verb == MEM_LOAD && (d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC))
            return true;
    }
    return false;
}

static bool is_short(struct region_table *r, u32 first_arm, u32 narms) {
    u32 total = 0, longest = 0;
    bool has_load = false;
    for (u32 i = 0; i < narms; i++) {
        struct arm a = measure_arm(r, first_arm + i);
        total += a.ninsns, has_load |= a.has_load;
        longest = a.ninsns > longest ? a.ninsns : longest;
    }
    return longest <= MAX_PREDICATED_INSNS || (has_load && longest <= MAX_PREDICATED_WITH_LOAD) ||
           (total <= MAX_PREDICATED_WITH_LOAD && segment_loads(r, first_arm + narms));
}

/* Returns the number of arms that the branch at the segment's end selects from, 0 if it is none
 * over one or two arms: they are the next segments, and the code continues behind them. */
static u32 count_arms(const struct sim_module *m, u32 segment) {
    const struct op *branch = &m->ops[m->segments[segment].last];
    if (segment + 1 >= m->nsegments || branch->kind != OP_BRA || !in_frame(branch->guard)) return 0;
    const struct segment *first = &m->segments[segment + 1];
    const struct op *end = &m->ops[first->last];
    if (branch->target != first->last + 1) return 0;
    if (end->kind == OP_FALLTHROUGH) return 1;
    if (segment + 2 >= m->nsegments || end->kind != OP_BRA || in_frame(end->guard)) return 0;
    const struct segment *second = &m->segments[segment + 2];
    return m->ops[second->last].kind == OP_FALLTHROUGH && end->target == second->last + 1 ? 2 : 0;
}

u32 time_if_arms(struct region_table *r, u32 segment) {
    if (r->disabled_terms & (TERM_BIT(SCHEDULING) | TERM_BIT(LOWERING))) return 0;
    if (segment + 1 >= r->module->nsegments) return 0;
    if (!r->if_conversion[segment]) {
        u32 arms = count_arms(r->module, segment);
        r->if_conversion[segment] = (u8)(1 + (arms && is_short(r, segment + 1, arms) ? arms : 0));
    }
    return r->if_conversion[segment] - 1u;
}

/* ---- the converted code ---- */

static bool contains(const u32 *list, u32 n, u32 x) {
    while (n--)
        if (list[n] == x) return true;
    return false;
}

/* Returns true if code outside the body uses the register. Then it keeps its old value where the
 * predicate is false, and the body depends on that value. */
static bool needs_old_value(const struct region *g, u32 first, u32 end, u32 x) {
    for (u32 i = 0; i < g->ninsns; i++) {
        const struct sched_insn *s = &g->insns[i];
        bool body = i >= first && i < end;
        if (!body && (contains(s->src, s->nsrc, x) || contains(s->dst, s->ndst, x))) return true;
    }
    return false;
}

static void add_merge_dependences(struct region *g, u32 first, u32 end, u32 i) {
    struct sched_insn *s = &g->insns[i];
    for (u32 k = 0; k < s->ndst && s->nsrc < SCHED_MAX_REFS; k++)
        if (!contains(s->src, s->nsrc, s->dst[k]) && needs_old_value(g, first, end, s->dst[k]))
            s->src[s->nsrc++] = s->dst[k];
}

static void predicate_arm(struct region_table *r, struct region *g, u32 guard, u32 segment) {
    const struct segment *arm = &r->module->segments[segment];
    u32 first = arm->first - g->first_op, end = arm->last + 1 - g->first_op;
    for (u32 i = first; i < end; i++) {
        struct sched_insn *s = &g->insns[i];
        if (s->nsrc < SCHED_MAX_REFS && !contains(s->src, s->nsrc, guard))
            s->src[s->nsrc++] = guard;
        add_merge_dependences(g, first, end, i);
    }
}

static void remove_branch(struct region *g, u32 op) {
    g->insns[op - g->first_op].count = 0, g->insns[op - g->first_op].pipe = PIPE_NONE;
}

void time_convert_branches(struct region_table *r, struct region *g) {
    const struct sim_module *m = r->module;
    for (u32 s = g->first_segment; s < g->first_segment + g->nsegments; s++) {
        u32 arms = time_if_arms(r, s);
        if (!arms || s + arms + 1 >= g->first_segment + g->nsegments) continue;
        u32 branch = m->segments[s].last, guard = time_register_number(r, m->ops[branch].guard);
        remove_branch(g, branch);
        if (arms == 2) remove_branch(g, m->segments[s + 1].last);
        for (u32 i = 1; i <= arms; i++) predicate_arm(r, g, guard, s + i);
    }
}

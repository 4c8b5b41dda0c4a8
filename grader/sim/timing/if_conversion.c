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

static bool is_unconditional_branch(const struct op *o) {
    return o->kind == OP_BRA && !in_frame(o->guard);
}

/* Returns true if the segment is a lone branch to the one behind the next: nvcc 13 writes an else
 * as
 * "@p bra THEN; bra ELSE; THEN: …; bra END; ELSE: …; END:". */
static bool is_branch_over_next(const struct sim_module *m, u32 segment) {
    const struct segment *x = &m->segments[segment];
    return segment + 2 < m->nsegments && x->first == x->last &&
           is_unconditional_branch(&m->ops[x->last]) &&
           m->ops[x->last].target == m->segments[segment + 2].first;
}

/* Returns the number of segments that the branch at the segment's end selects from, 0 if the code
 * does not continue behind them: 1 arm, 2 arms, or 3 with such a lone branch before the arms. */
static u32 count_selected(const struct sim_module *m, u32 segment) {
    const struct op *branch = &m->ops[m->segments[segment].last];
    if (segment + 1 >= m->nsegments || branch->kind != OP_BRA || !in_frame(branch->guard) ||
        branch->target != m->segments[segment + 1].last + 1)
        return 0;
    u32 lone = is_branch_over_next(m, segment + 1), arm = segment + 1 + lone;
    const struct op *end = &m->ops[m->segments[arm].last];
    if (!lone && end->kind == OP_FALLTHROUGH) return 1;
    if (arm + 1 >= m->nsegments || !is_unconditional_branch(end)) return 0;
    const struct segment *second = &m->segments[arm + 1];
    bool joins = m->ops[second->last].kind == OP_FALLTHROUGH && end->target == second->last + 1;
    return joins ? 2 + lone : 0;
}

static u32 arm_count(u32 selected) { return selected < 2 ? selected : 2; }

u32 time_if_segments(struct region_table *r, u32 segment) {
    if (r->disabled_terms & (TERM_BIT(SCHEDULING) | TERM_BIT(LOWERING))) return 0;
    if (segment + 1 >= r->module->nsegments) return 0;
    if (!r->if_conversion[segment]) {
        u32 n = count_selected(r->module, segment), arms = arm_count(n);
        bool converted = n && is_short(r, segment + 1 + n - arms, arms);
        r->if_conversion[segment] = (u8)(1 + (converted ? n : 0));
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
        u32 n = time_if_segments(r, s);
        if (!n || s + n + 1 >= g->first_segment + g->nsegments) continue;
        u32 branch = m->segments[s].last,
            guard = time_register_number(r, m->unshared_ops[branch].guard);
        for (u32 i = 0; i < n; i++) remove_branch(g, m->segments[s + i].last);
        for (u32 i = n - arm_count(n) + 1; i <= n; i++) predicate_arm(r, g, guard, s + i);
    }
}

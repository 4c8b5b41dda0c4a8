/* schedule_merge.c — makes a warp's path of the paths of its lanes: see schedule.h.
 *
 * Lanes that execute the same segments form a group, which has one path. Groups run together while
 * their paths agree. Where they part, one goes on, and the others wait. The machine code says where
 * lanes meet again: SPLIT (BSSY) names a barrier for those that run together, and JOIN (BSYNC)
 * waits for all of these that still run. Barriers of the warp or block, and shuffles, wait for all
 * lanes that aren't waiting elsewhere. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

struct lane_group {
    struct path_step *steps; /* of a path that the schedule owns */
    u32 nsteps, at;
    u32 *visits, nvisits; /* by place in the group's segments: the warp's visit */
    u32 nlanes;
};

/* Masks have a bit for each group. */
struct merge {
    struct schedule *s;
    const u32 *segments;
    u32 n;
    struct lane_group groups[MAX_LANE_GROUPS];
    u32 ngroups, running;                                  /* not yet at its end */
    u32 members[SASS_JOIN_COUNT], joined[SASS_JOIN_COUNT]; /* of a barrier; waiting at it */
    u32 parked;                                            /* waiting for all lanes */
    u32 pending[MAX_LANE_GROUPS], npending;                /* each runs on its own */
    u8 *nlanes_done;                                       /* [n]: that have executed it */
    struct warp_path *out;
};

/* ---- groups ---- */

/* Sets the group of each lane; returns the number of groups. Lanes with the same hash of their
 * visits have the same ones. */
static u32 find_groups(const u32 *lanes, u32 n, u32 mask_of[MAX_LANE_GROUPS]) {
    u64 hash[32] = {0};
    u32 ngroups = 0;
    bool parted = false;
    for (u32 i = 0; i < n; i++) {
        parted |= lanes[i] != UINT32_MAX;
        for (u32 l = 0; l < 32 && parted; l++)
            if (lanes[i] >> l & 1) hash[l] = (hash[l] ^ (i + 1)) * 0x9e3779b97f4a7c15ull;
    }
    u32 any = 0;
    for (u32 i = 0; i < n; i++) any |= lanes[i];
    for (u32 l = 0; l < 32; l++) {
        u32 k = 0;
        if (!(any >> l & 1)) continue;
        while (k < ngroups && hash[__builtin_ctz(mask_of[k])] != hash[l]) k++;
        if (k == ngroups) mask_of[ngroups++] = 0;
        mask_of[k] |= 1u << l;
    }
    return ngroups;
}

static bool open_group(struct merge *m, struct lane_group *g, u32 mask, const u32 *lanes) {
    u32 *segments = xcalloc(m->n + 1ul, sizeof *segments);
    g->visits = xcalloc(m->n + 1ul, sizeof *g->visits);
    g->nlanes = (u32)__builtin_popcount(mask);
    for (u32 i = 0; i < m->n; i++)
        if (lanes[i] & mask) segments[g->nvisits] = m->segments[i], g->visits[g->nvisits++] = i;
    const struct lane_path *p = time_schedule_find_path(m->s, segments, g->nvisits);
    if (p) g->steps = p->steps, g->nsteps = p->nsteps;
    free(segments);
    return p;
}

static u32 next_node(const struct lane_group *g) {
    return g->at < g->nsteps ? g->steps[g->at].node : NO_NODE;
}

/* ---- steps ---- */

static void add_use(struct merge *m, u32 first_use, u32 visit, u32 copy, u32 nlanes) {
    struct warp_path *out = m->out;
    u32 i = m->ngroups > 1 ? first_use : out->nuses;
    while (i < out->nuses && out->uses[i].visit != visit) i++;
    GROW(out->uses, i + 1, out->use_capacity, 64);
    if (i == out->nuses)
        out->uses[out->nuses++] =
            (struct segment_use){visit, (u16)(copy & UINT16_MAX), m->nlanes_done[visit], 0};
    out->uses[i].nlanes = (u8)(out->uses[i].nlanes + nlanes);
    m->nlanes_done[visit] = (u8)(m->nlanes_done[visit] + nlanes);
}

static void add_group_uses(struct merge *m, u32 first_use, const struct lane_group *g) {
    const struct path_step *x = &g->steps[g->at];
    for (u32 i = x->first; i < x->end; i++) {
        u32 segment = m->segments[g->visits[i]];
        if (m->s->evidence[segment] == EVIDENCE_NONE) continue;
        add_use(m, first_use, g->visits[i], m->s->copies_used[segment]++, g->nlanes);
    }
    for (u32 i = x->first; i < x->end; i++) m->s->copies_used[m->segments[g->visits[i]]] = 0;
}

/* Executes the next node of groups that run together. */
static void emit_step(struct merge *m, u32 groups, u32 node) {
    struct warp_path *out = m->out;
    u32 first_use = out->nuses;
    for (u32 g = groups; g; g &= g - 1) {
        struct lane_group *x = &m->groups[__builtin_ctz(g)];
        add_group_uses(m, first_use, x);
        x->at++;
    }
    GROW(out->steps, out->nsteps + 1, out->step_capacity, 64);
    if (out->nsteps)
        out->steps[out->nsteps - 1].jumps = out->steps[out->nsteps - 1].node + 1 != node;
    out->steps[out->nsteps++] =
        (struct warp_step){.node = node, .first_use = first_use, .nuses = out->nuses - first_use};
}

/* ---- where lanes part and meet ---- */

/* Returns the groups at a barrier whose members all wait there or have ended, and empties it. */
static u32 released(struct merge *m, bool force) {
    for (u32 b = 0; b < SASS_JOIN_COUNT; b++) {
        u32 ready = m->joined[b];
        if (!ready || (m->members[b] & m->running & ~ready && !force)) continue;
        m->joined[b] = m->members[b] = 0;
        return ready;
    }
    return 0;
}

/* Returns the groups that run next: those of a complete barrier, those that wait on their own,
 * those that wait for all others, those of a barrier that stays incomplete. */
static u32 choose_groups(struct merge *m) {
    u32 ready = released(m, false);
    if (ready) return ready;
    if (m->npending) return m->pending[--m->npending];
    ready = m->parked, m->parked = 0;
    return ready ? ready : released(m, true);
}

/* Divides groups by their next node, leaves the first ones to run on, and lets the others wait. */
static u32 part(struct merge *m, u32 groups) {
    u32 first = NO_NODE, together = 0, rest = 0;
    for (u32 g = groups; g; g &= g - 1) {
        u32 k = (u32)__builtin_ctz(g), node = next_node(&m->groups[k]);
        if (node == NO_NODE) m->running &= ~(1u << k);
        else if (node < first) first = node;
    }
    for (u32 g = groups & m->running; g; g &= g - 1) {
        u32 k = (u32)__builtin_ctz(g);
        if (next_node(&m->groups[k]) == first) together |= 1u << k;
        else rest |= 1u << k;
    }
    if (rest) m->pending[m->npending++] = rest;
    return together;
}

/* Follows barriers of a node's end: returns the groups that go on. */
static u32 pass_barriers(struct merge *m, const struct sched_node *node, u32 groups) {
    for (u32 i = node->first; i < node->end && m->ngroups > 1; i++) {
        const struct sass_insn *c = &m->s->code[i];
        if (c->flow == SASS_FLOW_SPLIT) m->members[c->join] = groups;
        if (c->flow != SASS_FLOW_JOIN) continue;
        m->joined[c->join] |= groups;
        return 0;
    }
    return groups;
}

static void run(struct merge *m) {
    u32 groups = m->running;
    while (groups || (groups = choose_groups(m))) {
        groups = part(m, groups);
        if (!groups) continue;
        u32 node = next_node(&m->groups[__builtin_ctz(groups)]);
        if (m->s->nodes[node].converges && m->npending) {
            m->parked |= groups, groups = 0;
            continue;
        }
        if (m->s->nodes[node].converges && m->parked)
            groups = part(m, groups | m->parked), m->parked = 0;
        node = next_node(&m->groups[__builtin_ctz(groups)]);
        emit_step(m, groups, node);
        groups = pass_barriers(m, &m->s->nodes[node], groups);
    }
}

bool time_schedule_merge_lanes(struct schedule *s, const u32 *segments, const u32 *lanes, u32 n,
                               struct warp_path *out) {
    struct merge m = {.s = s, .segments = segments, .n = n, .out = out};
    u32 mask_of[MAX_LANE_GROUPS];
    bool ok = true;
    m.ngroups = find_groups(lanes, n, mask_of);
    for (u32 i = 0; i < m.ngroups && ok; i++)
        ok = open_group(&m, &m.groups[i], mask_of[i], lanes), m.running |= 1u << i;
    m.nlanes_done = xcalloc(n + 1ul, sizeof *m.nlanes_done);
    if (ok) run(&m);
    for (u32 i = 0; i < m.ngroups; i++) free(m.groups[i].visits);
    free(m.nlanes_done);
    return ok;
}

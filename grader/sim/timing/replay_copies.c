/* replay_copies.c — copies under way: cp.async by groups, a warp's own; bulk copies, and cp.async that an mbarrier counts, by
 * the block's mbarriers. A copy takes what its accesses take (replay_memory.c), and nobody waits for it but who waits for
 * its group or its mbarrier. H100, a chain through one address in L2: loads 267 cycles each, cp.async, wait_all and a load from
 * shared memory 305. That a wait depends on other warps' arrivals is left out. */
#include "grader/sim/code/async.h"
#include "grader/sim/timing/machine.h"

static void wait_until(struct machine *m, struct rwarp *w, double t) {
    if (t <= w->issued || off(m, TERM_BIT(LATENCY))) return;
    m->stalls[w->copies_why] += t - w->issued;
    w->issued = t;
}

void time_copies_begin(struct rwarp *w, double ready, u8 why) {
    if (ready > w->copies) w->copies = ready, w->copies_why = why;
}

/* Groups end in the order in which they began, so each waits for all copies before it. */
void time_copies_group(struct machine *m, struct rwarp *w, const struct op *o) {
    switch (o->imm) {
    case GROUP_COMMIT: w->group[w->groups++ % COPY_GROUPS] = w->copies; break;
    case GROUP_WAIT_ALL: wait_until(m, w, w->copies); break;
    case GROUP_WAIT:
        if (o->target < w->groups && o->target < COPY_GROUPS)
            wait_until(m, w, w->group[(w->groups - 1 - o->target) % COPY_GROUPS]);
        break;
    default: break; /* bulk copies out of shared memory: nobody reads what they write */
    }
}

double time_copies_mark(struct machine *m, struct rwarp *w, const u64 *mark, double t, bool bulk, u8 *why) {
    struct arrival *a = &m->blocks[w->slot].arrival[mark[1] / 8 % COPY_PLACES];
    bool same = a->place == mark[1] + 1;
    if (trace_verb(*mark) == MEM_LOAD) {
        if (!same || a->done <= t) return t;
        *why = a->why;
        return a->done;
    }
    double done = bulk ? t : max2(t, w->copies);
    if (same && a->done > done) return t;
    *a = (struct arrival){.place = mark[1] + 1, .done = done, .why = bulk ? *why : w->copies_why};
    return t;
}

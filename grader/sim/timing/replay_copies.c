/* replay_copies.c — copies under way: cp.async by groups, a warp's own; bulk copies, and cp.async
 * that an mbarrier counts, by the block's mbarriers. A copy takes what its accesses take
 * (replay_memory.c), and nobody waits for it but who waits for its group or its mbarrier. H100, a
 * chain through one address in L2: loads 267 cycles each, cp.async, wait_all and a load from shared
 * memory 305. That a wait depends on other warps' arrivals is left out. */
#include "grader/sim/code/async.h"
#include "grader/sim/timing/machine.h"

static void wait_until(struct machine *m, struct rwarp *w, double t, u8 why) {
    if (t <= w->issued || off(m, TERM_BIT(LATENCY))) return;
    m->stalls[why] += t - w->issued;
    w->issued = t;
}

static void begin(struct flights *f, double ready, u8 why) {
    if (ready > f->done) f->done = ready, f->why = why;
}
void time_copies_begin(struct rwarp *w, double ready, u8 why) { begin(&w->copies, ready, why); }
void time_products_begin(struct rwarp *w, double ready) {
    begin(&w->products, ready, STALL_ARITHMETIC);
}

static void commit(struct flights *f) { f->group[f->groups++ % COPY_GROUPS] = f->done; }

static void wait_for(struct machine *m, struct rwarp *w, const struct flights *f, u32 left) {
    if (left < f->groups && left < COPY_GROUPS)
        wait_until(m, w, f->group[(f->groups - 1 - left) % COPY_GROUPS], f->why);
}

/* Groups end in the order in which they began, so each waits for all copies before it. */
void time_copies_group(struct machine *m, struct rwarp *w, const struct op *o) {
    switch (o->imm) {
    case GROUP_COMMIT: commit(&w->copies); break;
    case GROUP_WAIT_ALL: wait_until(m, w, w->copies.done, w->copies.why); break;
    case GROUP_WAIT: wait_for(m, w, &w->copies, o->target); break;
    case GROUP_WGMMA_COMMIT: commit(&w->products); break;
    case GROUP_WGMMA_WAIT: wait_for(m, w, &w->products, o->target); break;
    default: break; /* bulk copies out of shared memory: nobody reads what they write */
    }
}

double time_copies_mark(struct machine *m, struct rwarp *w, const u64 *mark, double t, bool bulk,
                        u8 *why) {
    struct arrival *a = &m->blocks[w->slot].arrival[mark[1] / 8 % COPY_PLACES];
    bool same = a->place == mark[1] + 1;
    if (trace_verb(*mark) == MEM_LOAD) {
        if (!same || a->done <= t) return t;
        *why = a->why;
        return a->done;
    }
    double done = bulk ? t : max2(t, w->copies.done);
    if (same && a->done > done) return t;
    *a = (struct arrival){.place = mark[1] + 1, .done = done, .why = bulk ? *why : w->copies.why};
    return t;
}

/* replay_async.c — asynchronous operations in flight: cp.async and wgmma by the groups of a warp;
 * bulk copies, and cp.async with an mbarrier, by the block's mbarriers. A copy costs what its
 * accesses cost (replay_memory.c), and only a wait for its group or mbarrier stalls. On an H100, a
 * chain through one address in L2 takes 267 cycles a load, 305 for cp.async, wait_all and a load
 * from shared memory. The model leaves out that an mbarrier wait depends on other warps. */
#include "grader/sim/code/async.h"
#include "grader/sim/timing/sm_model.h"

static void stall_until(struct sm_model *m, struct sm_warp *w, double t, u8 reason) {
    if (t <= w->issued_at || is_disabled(m, TERM_BIT(LATENCY))) return;
    m->stall_cycles[reason] += t - w->issued_at;
    w->issued_at = t;
}

static void begin_async(struct async_groups *f, double ready, u8 reason) {
    if (ready > f->done_at) f->done_at = ready, f->reason = reason;
}
void time_cp_async_begin(struct sm_warp *w, double ready, u8 reason) {
    begin_async(&w->cp_async_groups, ready, reason);
}
void time_wgmma_begin(struct sm_warp *w, double ready) {
    begin_async(&w->wgmma_groups, ready, SIM_STALL_WAIT);
}

static void commit_group(struct async_groups *f) {
    f->group_done_at[f->ngroups++ % MAX_ASYNC_GROUPS] = f->done_at;
}

static void wait_group(struct sm_model *m, struct sm_warp *w, const struct async_groups *f,
                       u32 pending) {
    if (pending < f->ngroups && pending < MAX_ASYNC_GROUPS)
        stall_until(m, w, f->group_done_at[(f->ngroups - 1 - pending) % MAX_ASYNC_GROUPS],
                    f->reason);
}

/* Groups complete in order, so each completes with all operations before it. */
void time_async_group(struct sm_model *m, struct sm_warp *w, const struct op *o) {
    switch (o->imm) {
    case GROUP_COMMIT: commit_group(&w->cp_async_groups); break;
    case GROUP_WAIT_ALL:
        stall_until(m, w, w->cp_async_groups.done_at, w->cp_async_groups.reason);
        break;
    case GROUP_WAIT: wait_group(m, w, &w->cp_async_groups, o->target); break;
    case GROUP_WGMMA_COMMIT: commit_group(&w->wgmma_groups); break;
    case GROUP_WGMMA_WAIT: wait_group(m, w, &w->wgmma_groups, o->target); break;
    default: break; /* Bulk copies out of shared memory: no one reads what they write. */
    }
}

double time_mbarrier_access(struct sm_model *m, struct sm_warp *w, const u64 *word, double t,
                            bool bulk, u8 *reason) {
    struct mbarrier_slot *a = &m->blocks[w->block_slot].mbarriers[word[1] / 8 % MBARRIER_SLOTS];
    bool is_same_barrier = a->offset == word[1] + 1;
    if (trace_verb(*word) == MEM_LOAD) {
        if (!is_same_barrier || a->done_at <= t) return t;
        *reason = a->reason;
        return a->done_at;
    }
    double done = bulk ? t : max2(t, w->cp_async_groups.done_at);
    if (is_same_barrier && a->done_at > done) return t;
    *a = (struct mbarrier_slot){.offset = word[1] + 1,
                                .done_at = done,
                                .reason = bulk ? *reason : w->cp_async_groups.reason};
    return t;
}

/* deadlock.c — reports a deadlock of a block: no warp can proceed. The report says which threads
 * wait, where, and for what. core/block.c and core/cluster.c call it. */
#include "grader/sim/core/core.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>

struct wait_group {
    struct warp *warp;
    struct warp_split *split;
    u32 thread_count; /* threads that wait for the same kind of event */
};

/* Finds the first split in a state, and the number of threads in that state. */
static struct wait_group find_waiters(struct block *b, u8 state) {
    struct wait_group w = {0};
    for (u32 i = 0; i < b->nwarps; i++)
        for (u32 k = 0; k < b->warps[i].nsplits; k++) {
            struct warp_split *f = &b->warps[i].splits[k];
            if (f->state != state) continue;
            if (!w.split) w.warp = &b->warps[i], w.split = f;
            w.thread_count += (u32)__builtin_popcount(f->mask);
        }
    return w;
}

/* Finds threads that wait at a barrier with another number than `barrier`. */
static struct wait_group find_other_barrier(struct block *b, u8 barrier) {
    struct wait_group w = {0};
    for (u32 i = 0; i < b->nwarps; i++)
        for (u32 k = 0; k < b->warps[i].nsplits; k++) {
            struct warp_split *f = &b->warps[i].splits[k];
            if (f->state != SPLIT_AT_BARRIER || f->barrier_id == barrier) continue;
            if (!w.split) w.warp = &b->warps[i], w.split = f;
            w.thread_count += (u32)__builtin_popcount(f->mask);
        }
    return w;
}

/* Finds lanes of the warp that wait at another instruction. */
static struct wait_group find_diverged(struct warp *warp, const struct warp_split *f) {
    for (u32 k = 0; k < warp->nsplits; k++)
        if (warp->splits[k].pc != f->pc)
            return (struct wait_group){warp, &warp->splits[k],
                                       (u32)__builtin_popcount(warp->splits[k].mask)};
    return (struct wait_group){0};
}

/* Writes "; 16 wait for lanes of their own warp, thread (16,0,0) in line 7", or nothing. */
static void append_waiters(const struct launch *l, const struct wait_group *w, const char *activity,
                           char *out, size_t size) {
    char thread_text[64];
    out[0] = 0;
    if (!w->split) return;
    describe_thread(l, w->warp->index * 32 + (u32)__builtin_ctz(w->split->mask), thread_text,
                    sizeof thread_text);
    snprintf(out, size, "; %u wait %s, thread %s in line %u", w->thread_count, activity,
             thread_text, source_location_line(l, w->split->pc));
}

void barrier_report_deadlock(struct exec *x) {
    struct block *b = x->block;
    const struct launch *l = x->worker->launch;
    struct wait_group block = find_waiters(b, SPLIT_AT_BARRIER),
                      lanes = find_waiters(b, SPLIT_AT_WARP_SYNC), other = {0};
    char lanes_text[240], activity[96] = "for lanes of their own warp", other_text[160],
                          diverged_text[160];
    struct wait_group *first = block.split ? &block : &lanes;
    x->warp = first->warp;
    x->active_mask = first->split->mask;
    if (block.split) other = find_other_barrier(b, block.split->barrier_id);
    if (lanes.split)
        snprintf(activity, sizeof activity,
                 "for lanes of their own warp (member mask 0x%08x, lanes 0x%08x are there)",
                 warp_sync_members(x, lanes.warp, lanes.split), lanes.split->mask);
    append_waiters(l, &lanes, activity, lanes_text, sizeof lanes_text);
    append_waiters(l, &other, "at a barrier with another number", other_text, sizeof other_text);
    struct wait_group diverged = find_diverged(x->warp, first->split);
    append_waiters(l, &diverged, "at another instruction", diverged_text, sizeof diverged_text);
    const struct op *o = &l->ops[first->split->pc];
    u32 lane = (u32)__builtin_ctz(first->split->mask);
    if (block.split)
        core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, o, lane, 0,
                   "waits forever at a barrier that %u of the block's %u threads have reached%s%s",
                   block.thread_count - other.thread_count, l->nthreads, other_text, lanes_text);
    else
        core_fault(x, SIM_FAULT_DEADLOCK, o, lane, 0,
                   "waits forever for lanes of its own warp: of its member mask 0x%08x only lanes "
                   "0x%08x arrive; %u threads of the block wait like this%s",
                   warp_sync_members(x, first->warp, first->split), first->split->mask,
                   lanes.thread_count, diverged_text);
}

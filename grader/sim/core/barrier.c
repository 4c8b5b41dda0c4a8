/* barrier.c — bar.sync, bar.arrive, bar.red: a thread waits for all threads of its own warp that
 * have not exited, then for the other warps (PTX ISA, "barrier"). This file also reports barrier
 * divergence, which __syncthreads() forbids: threads of a block that wait at different barrier
 * instructions; and a thread that bypasses a barrier by a branch that others don't take
 * (code/barrier_divergence.c), whether it then reaches another barrier or exits. A thread that
 * exited without bypassing one is no fault. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/core/undef.h"

#include <string.h>

static inline u32 first_lane_value(const struct exec *x, ref r, u32 otherwise, u32 mask) {
    return r == REF_NONE ? otherwise : ((const u32 *)operand_at(x, r))[__builtin_ctz(mask)];
}

static const struct bar_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->bars[o->aux];
}

/* Adds the split's predicates to the barrier's sums over threads: how many are true, and how many
 * there are. */
static void reduce(struct exec *x, struct warp_split *f, const struct bar_desc *d,
                   struct barrier *b) {
    u32 p = *(const u32 *)operand_at(x, d->pred_source) ^ (d->source_negated ? ~0u : 0);
    b->reduction[0] += (u32)__builtin_popcount(p & f->mask);
    b->reduction[1] += (u32)__builtin_popcount(f->mask);
}

static void put_result(struct exec *x, struct warp *w, struct warp_split *f, const struct op *o,
                       const struct barrier *b) {
    const struct bar_desc *d = desc_of(x, o);
    if (!d->reduction) return;
    unsigned char *frame = w->frames + x->worker->contexts[f->context].frame;
    u32 *dst = (u32 *)(frame + ref_offset(o->dst));
    bool predicate = d->reduction == 2 ? b->reduction[0] == b->reduction[1] : b->reduction[0] != 0;
    undef_put(w, dst, d->reduction > 1 ? 1 : 4, f->mask, NULL, 0);
    if (d->reduction > 1) *dst = (*dst & ~f->mask) | (predicate ? f->mask : 0);
    for (u32 l = 0; d->reduction == 1 && l < 32; l++)
        if (f->mask >> l & 1) dst[l] = b->reduction[0];
}

static void release_waiters(struct exec *x, u32 id, const struct barrier *b) {
    struct block *block = x->block;
    for (u32 i = 0; i < block->nwarps; i++)
        for (u32 k = 0; k < block->warps[i].nsplits; k++) {
            struct warp_split *f = &block->warps[i].splits[k];
            if (f->state != SPLIT_AT_BARRIER || f->barrier_id != id) continue;
            put_result(x, &block->warps[i], f, &x->worker->launch->ops[f->pc], b);
            f->state = SPLIT_READY;
            f->reconverged = 1;
            f->pc++;
            f->vruntime = 0;
        }
}

/* Returns true if all live lanes of the warp wait at this barrier. */
static bool is_warp_at_barrier(const struct warp *w, u32 id) {
    if (!w->nsplits) return false;
    for (u32 i = 0; i < w->nsplits; i++)
        if (w->splits[i].state != SPLIT_AT_BARRIER || w->splits[i].barrier_id != id) return false;
    return true;
}

/* ---- bypassed barriers ---- */

void barrier_clear_skips(struct block *b, u32 nbarriers) {
    if (!b->skipped_barrier) return;
    for (u32 i = 0; i < b->nwarps; i++) {
        if (b->warps[i].skipped_barrier)
            memset(b->warps[i].barrier_skips, 0, (nbarriers + 1) * sizeof(struct barrier_skips));
        b->warps[i].skipped_barrier = false;
    }
    memset(b->exits_after_skip, 0, (nbarriers + 1) * sizeof *b->exits_after_skip);
    b->skipped_barrier = false;
}

static void record_skips(struct exec *x, const struct op *o, const struct bypass_path *bypass,
                         u32 lanes) {
    for (u32 i = 0; lanes && i < bypass->n; i++) {
        struct barrier_skips *r = &x->warp->barrier_skips[bypass->skipped[i]];
        for (u32 l = 0; l < 32; l++) r->count[l] = (u8)(r->count[l] + (lanes >> l & 1));
        r->branch_op = (u32)(o - x->worker->launch->ops);
        x->warp->skipped_barrier = x->block->skipped_barrier = true;
    }
}

void barrier_record_skips(struct exec *x, const struct op *o, u32 lanes, u32 taken) {
    const struct barrier_bypass *f = &x->worker->launch->module->barrier_bypasses[o->aux];
    record_skips(x, o, &f->taken, taken);
    record_skips(x, o, &f->not_taken, lanes & ~taken);
}

static void record_exit_after_skip(struct exec *x, const struct op *o,
                                   const struct barrier_skips *r, struct exit_after_skip *exits,
                                   u32 lanes) {
    for (u32 m = lanes; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        if (!r->count[lane]) continue;
        exits->thread_count++;
        if (r->count[lane] <= exits->skip_count) continue;
        exits->skip_count = r->count[lane];
        exits->thread = x->warp->index * 32 + lane;
        exits->branch_op = r->branch_op;
        exits->exit_op = (u32)(o - x->worker->launch->ops);
    }
}

void barrier_record_exit(struct exec *x, const struct op *o, u32 lanes) {
    struct block *b = x->block;
    if (!b->exited_threads) {
        b->first_exit_op = (u32)(o - x->worker->launch->ops);
        b->first_exited_thread = x->warp->index * 32 + (u32)__builtin_ctz(lanes);
    }
    b->exited_threads += (u32)__builtin_popcount(lanes);
    for (u32 i = 1; x->warp->skipped_barrier && i <= x->worker->launch->module->nnumbered_barriers;
         i++)
        record_exit_after_skip(x, o, &x->warp->barrier_skips[i], &x->block->exits_after_skip[i],
                               lanes);
}

/* Of the threads that wait at a barrier: how often they bypassed it since the last barrier, with
 * one example of the fewest and of the most. */
struct skip_summary {
    bool has_waiters; /* some wait at the source's barrier itself, others perhaps at copies of it */
    u32 barrier_op;   /* that barrier's op */
    u32 min_skips, max_skips, min_skips_thread, max_skips_thread, max_skips_op;
    u32 thread_count, max_skips_count;
};

static void add_skips(const struct warp *w, const struct warp_split *f, u32 number,
                      struct skip_summary *r) {
    for (u32 m = f->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m), skips = w->barrier_skips[number].count[lane],
            thread = w->index * 32 + lane;
        if (!r->thread_count++ || skips < r->min_skips)
            r->min_skips = skips, r->min_skips_thread = thread;
        if (skips > r->max_skips)
            r->max_skips = skips, r->max_skips_thread = thread,
            r->max_skips_op = w->barrier_skips[number].branch_op, r->max_skips_count = 0;
        r->max_skips_count += skips == r->max_skips;
    }
}

/* Summarizes how often the threads that wait at a barrier have bypassed it. */
static struct skip_summary summarize_skips(const struct exec *x, u32 id, u32 number) {
    const struct launch *l = x->worker->launch;
    struct skip_summary r = {0};
    for (u32 i = 0; i < x->block->nwarps; i++) {
        const struct warp *w = &x->block->warps[i];
        for (u32 k = 0; k < w->nsplits; k++) {
            const struct warp_split *f = &w->splits[k];
            if (f->state != SPLIT_AT_BARRIER || f->barrier_id != id) continue;
            if (desc_of(x, &l->ops[f->pc])->barrier_number == number)
                r.barrier_op = f->pc, r.has_waiters = true;
            add_skips(w, f, number, &r);
        }
    }
    return r;
}

/* Returns compute-sanitizer's word for where two threads diverge. */
static const char *divergence_scope(u32 a, u32 b) { return a / 32 == b / 32 ? "warp" : "block"; }

static void report_exit_after_skip(struct exec *x, const struct skip_summary *r,
                                   const struct exit_after_skip *exits) {
    const struct launch *l = x->worker->launch;
    char thread_text[64];
    describe_thread(l, exits->thread, thread_text, sizeof thread_text);
    struct warp *saved = x->warp;
    x->warp = &x->block->warps[r->min_skips_thread / 32];
    core_fault(
        x, SIM_FAULT_DIVERGENT_THREADS, &l->ops[r->barrier_op], r->min_skips_thread % 32, 0,
        "waits at a barrier that %u of the block's %u threads never reach (divergent threads in "
        "%s): thread %s bypassed it in line %u and exited in line %u",
        exits->thread_count, l->nthreads, divergence_scope(r->min_skips_thread, exits->thread),
        thread_text, source_location_line(l, exits->branch_op),
        source_location_line(l, exits->exit_op));
    x->warp = saved;
}

static void report_unequal_skips(struct exec *x, const struct skip_summary *r) {
    const struct launch *l = x->worker->launch;
    char thread_text[64];
    describe_thread(l, r->max_skips_thread, thread_text, sizeof thread_text);
    struct warp *saved = x->warp;
    x->warp = &x->block->warps[r->min_skips_thread / 32];
    core_fault(x, SIM_FAULT_DIVERGENT_THREADS, &l->ops[r->barrier_op], r->min_skips_thread % 32, 0,
               "waits at a barrier that %u of the %u threads waiting there bypassed before "
               "(divergent threads in %s), by the branch in line %u (thread %s, for example): they "
               "and the others wait for different executions of it",
               r->max_skips_count, r->thread_count,
               divergence_scope(r->min_skips_thread, r->max_skips_thread),
               source_location_line(l, r->max_skips_op), thread_text);
    x->warp = saved;
}

/* Adds a note, not a fault: it may explain why a part of a result is missing. */
static void note_early_exit(struct exec *x, u32 id) {
    const struct launch *l = x->worker->launch;
    struct block *b = x->block;
    struct warp *saved = x->warp;
    u32 thread = b->barriers[id].first_waiter_thread;
    char thread_text[64];
    b->exit_reported = true;
    if (!b->barriers[id].has_waiters) return;
    describe_thread(l, b->first_exited_thread, thread_text, sizeof thread_text);
    x->warp = &b->warps[thread / 32];
    core_fault(
        x, SIM_NOTE_EARLY_EXIT, &l->ops[b->barriers[id].first_waiter_op], thread % 32, 0,
        "waits at a barrier that %u of the block's %u threads don't reach: they exited before, "
        "thread %s in line %u. Their work after the barrier is not done",
        b->exited_threads, l->nthreads, thread_text, source_location_line(l, b->first_exit_op));
    x->warp = saved;
}

/* Checks a complete barrier of all threads: reports if some bypassed it and others did not. */
static void check_unequal_skips(struct exec *x, u32 id) {
    const struct block *b = x->block;
    for (u32 number = 1; number <= x->worker->launch->module->nnumbered_barriers; number++) {
        struct skip_summary r = summarize_skips(x, id, number);
        if (!r.has_waiters || !desc_of(x, &x->worker->launch->ops[r.barrier_op])->aligned) continue;
        if (b->exits_after_skip[number].skip_count > r.min_skips)
            report_exit_after_skip(x, &r, &b->exits_after_skip[number]);
        else if (r.max_skips > r.min_skips) report_unequal_skips(x, &r);
    }
}

static void notify_race_callbacks(const struct launch *l, struct block *b, u32 id,
                                  bool is_all_warps) {
    u32 waiting_warps = 0;
    if (is_all_warps) return b->race_callbacks->on_block_sync(b, l);
    for (u32 i = 0; i < b->nwarps; i++)
        waiting_warps |= (u32)is_warp_at_barrier(&b->warps[i], id) << i;
    b->race_callbacks->on_barrier_release(b, id, waiting_warps, l);
}

/* Returns true if a warp has not arrived. Mostly that is the last one, since warps run in order. */
static bool has_missing_warp(const struct block *block, u32 id) {
    for (u32 i = block->nwarps; i--;)
        if (block->warps[i].nsplits && !is_warp_at_barrier(&block->warps[i], id)) return true;
    return false;
}

static void try_release_one(struct exec *x, u32 id) {
    struct block *block = x->block;
    struct barrier *b = &block->barriers[id];
    u32 waiting_warps = 0, live_warps = 0;
    if (!b->expected_threads && has_missing_warp(block, id)) return;
    for (u32 i = 0; i < block->nwarps; i++) {
        waiting_warps += is_warp_at_barrier(&block->warps[i], id);
        live_warps += block->warps[i].nsplits > 0;
    }
    bool complete = b->expected_threads
                        ? (waiting_warps + b->arrived_warps) * 32 >= b->expected_threads
                        : waiting_warps == live_warps;
    if (!complete || (!waiting_warps && !b->expected_threads)) return;
    const struct launch *l = x->worker->launch;
    if (block->skipped_barrier && !b->expected_threads) check_unequal_skips(x, id);
    if (block->race_callbacks) notify_race_callbacks(l, block, id, waiting_warps == live_warps);
    if (!b->expected_threads && block->exited_threads && !block->exit_reported)
        note_early_exit(x, id);
    if (!b->expected_threads) barrier_clear_skips(block, l->module->nnumbered_barriers);
    struct barrier completed = *b;
    *b = (struct barrier){0};
    release_waiters(x, id, &completed);
}

void barrier_try_release(struct exec *x) {
    for (u32 id = 0; id < BARRIERS_PER_BLOCK; id++)
        if (x->block->barriers[id].used) try_release_one(x, id);
}

/* Returns true if two barrier ops are one barrier of the source. The compiler copies it where it
 * unrolls a loop; warps may wait at different copies. Lanes of one warp may not (PTX ISA,
 * "barrier", .aligned): hardware hangs. */
static bool is_same_source_barrier(const struct exec *x, u32 a, u32 b) {
    const struct launch *l = x->worker->launch;
    return a == b || source_location_equal(l->module->ptx, l->ops[a].loc, l->ops[b].loc);
}

/* Returns a lane of another split of the warp that waits for the barrier at another op (*pc), or
 * -1. */
static int find_diverged_lane(const struct warp *w, const struct warp_split *f, u32 id, u32 *pc) {
    for (u32 i = 0; i < w->nsplits; i++) {
        const struct warp_split *g = &w->splits[i];
        if (g == f || g->state != SPLIT_AT_BARRIER || g->barrier_id != id || g->pc == f->pc)
            continue;
        return *pc = g->pc, __builtin_ctz(g->mask);
    }
    return -1;
}

/* Returns the number of threads that wait for the barrier at that op. */
static u32 count_waiters_at(const struct exec *x, u32 id, u32 pc) {
    u32 n = 0;
    for (u32 i = 0; i < x->block->nwarps; i++)
        for (u32 k = 0; k < x->block->warps[i].nsplits; k++) {
            const struct warp_split *f = &x->block->warps[i].splits[k];
            if (f->state == SPLIT_AT_BARRIER && f->barrier_id == id &&
                is_same_source_barrier(x, f->pc, pc))
                n += (u32)__builtin_popcount(f->mask);
        }
    return n;
}

/* Reports threads that wait for the same barrier elsewhere: threads of this warp, which executes an
 * aligned barrier as one; or of the block, if the barrier is for all its threads. Returns false if
 * hardware hangs. */
static bool check_convergence(struct exec *x, struct warp_split *f, const struct op *o, u32 id,
                              u32 count) {
    const struct launch *l = x->worker->launch;
    const struct barrier *b = &x->block->barriers[id];
    char thread_text[64];
    u32 pc = f->pc, thread, own_thread = x->warp->index * 32 + (u32)__builtin_ctz(f->mask);
    if (!desc_of(x, o)->aligned) return true;
    int lane = find_diverged_lane(x->warp, f, id, &pc);
    if (lane >= 0) thread = x->warp->index * 32 + (u32)lane;
    else if (!b->has_waiters || count || b->expected_threads ||
             is_same_source_barrier(x, b->first_waiter_op, f->pc))
        return true;
    else pc = b->first_waiter_op, thread = b->first_waiter_thread;
    if (!desc_of(x, &l->ops[pc])->aligned) return true;
    describe_thread(l, thread, thread_text, sizeof thread_text);
    core_fault(x, lane >= 0 ? SIM_FAULT_DIVERGENT_BARRIER : SIM_FAULT_DIVERGENT_THREADS, o,
               own_thread % 32, id,
               "waits at a barrier while %u of the block's %u threads wait at another barrier "
               "instruction (divergent threads in %s): thread %s in line %u%s",
               count_waiters_at(x, id, pc), l->nthreads, divergence_scope(own_thread, thread),
               thread_text, source_location_line(l, pc),
               is_same_source_barrier(x, pc, f->pc)
                   ? ", too: the line has two barriers, or the compiler made copies of one for "
                     "iterations of a loop"
                   : "");
    return lane < 0;
}

/* Counts a bar.arrive. The lanes of a warp may arrive one after another; the warp counts when its
 * last lane has arrived. */
static void count_bar_arrive(struct exec *x, struct warp_split *f, struct barrier *b, u32 id) {
    const struct launch *l = x->worker->launch;
    struct warp *w = x->warp;
    w->bar_arrived_lanes[id] |= f->mask;
    if (w->live_lanes & ~w->bar_arrived_lanes[id]) return;
    w->bar_arrived_lanes[id] = 0;
    if (x->block->race_callbacks) x->block->race_callbacks->on_barrier_arrive(x->block, w, id, l);
    b->arrived_warps++;
}

void barrier_arrive(struct exec *x, struct warp_split *f, const struct op *o) {
    const struct bar_desc *d = desc_of(x, o);
    if (d->is_cluster) return cluster_wait(x, f, o);
    u32 id = first_lane_value(x, d->id, 0, f->mask),
        count = first_lane_value(x, d->count, 0, f->mask), lane = (u32)__builtin_ctz(f->mask);
    if (id >= BARRIERS_PER_BLOCK || count % 32 || (d->is_arrive && !count)) {
        core_fault(
            x, SIM_FAULT_BAD_SYNC, o, lane, id,
            "uses barrier %u for %u threads; a barrier's number must be 0 to 15, its thread count "
            "a multiple of 32",
            id, count);
        return;
    }
    if (!d->is_arrive && !check_convergence(x, f, o, id, count)) return;
    struct barrier *b = &x->block->barriers[id];
    b->used = true;
    b->expected_threads = count;
    if (d->reduction) reduce(x, f, d, b);
    if (d->is_arrive) {
        count_bar_arrive(x, f, b, id);
        f->pc++;
    } else {
        f->state = SPLIT_AT_BARRIER;
        f->barrier_id = (u8)id;
        if (!b->has_waiters)
            b->first_waiter_op = f->pc, b->first_waiter_thread = x->warp->index * 32 + lane,
            b->has_waiters = true;
    }
    try_release_one(x, id);
}

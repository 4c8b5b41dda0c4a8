/* barrier.c — bar.sync, bar.arrive, bar.red: a thread waits for all threads of its own warp that
 * have not exited, then for the other warps (PTX ISA, "barrier"). What __syncthreads forbids is
 * reported as a divergent barrier: threads of a block that wait for it at different places, and a
 * thread that goes round it by a branch which others do not take (code/forks.c), whether it then
 * comes to a barrier again or leaves. A thread that left before is no fault. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/place.h"
#include "grader/sim/core/taint.h"

#include <string.h>

static inline u32 lane0(const struct exec *x, ref r, u32 otherwise, u32 mask) {
    return r == REF_NONE ? otherwise : ((const u32 *)operand_at(x, r))[__builtin_ctz(mask)];
}

static const struct bar_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->bars[o->aux];
}

/* What the predicate says, into the barrier's sums over threads: how many, how many true. */
static void reduce(struct exec *x, struct fragment *f, const struct bar_desc *d,
                   struct barrier *b) {
    u32 p = *(const u32 *)operand_at(x, d->pred_source) ^ (d->source_negated ? ~0u : 0);
    b->reduced[0] += (u32)__builtin_popcount(p & f->mask);
    b->reduced[1] += (u32)__builtin_popcount(f->mask);
}

static void put_result(struct exec *x, struct warp *w, struct fragment *f, const struct op *o,
                       const struct barrier *b) {
    const struct bar_desc *d = desc_of(x, o);
    if (!d->reduction) return;
    unsigned char *frame = w->frames + x->worker->contexts[f->context].frame;
    u32 *dst = (u32 *)(frame + ref_offset(o->dst));
    bool truth = d->reduction == 2 ? b->reduced[0] == b->reduced[1] : b->reduced[0] != 0;
    taint_put(w, dst, d->reduction > 1 ? 1 : 4, f->mask, NULL, 0);
    if (d->reduction > 1) *dst = (*dst & ~f->mask) | (truth ? f->mask : 0);
    for (u32 l = 0; d->reduction == 1 && l < 32; l++)
        if (f->mask >> l & 1) dst[l] = b->reduced[0];
}

static void release(struct exec *x, u32 id, const struct barrier *b) {
    struct block *block = x->block;
    for (u32 i = 0; i < block->nwarps; i++)
        for (u32 k = 0; k < block->warps[i].nfrag; k++) {
            struct fragment *f = &block->warps[i].frag[k];
            if (f->state != FRAG_AT_BARRIER || f->barrier != id) continue;
            put_result(x, &block->warps[i], f, &x->worker->launch->ops[f->pc], b);
            f->state = FRAG_READY;
            f->met = 1;
            f->pc++;
            f->turn = 0;
        }
}

/* All lanes of the warp that live wait at this barrier. */
static bool warp_is_at(const struct warp *w, u32 id) {
    if (!w->nfrag) return false;
    for (u32 i = 0; i < w->nfrag; i++)
        if (w->frag[i].state != FRAG_AT_BARRIER || w->frag[i].barrier != id) return false;
    return true;
}

/* ---- going round a barrier ---- */

void barrier_forget_rounds(struct block *b, u32 nbarriers) {
    if (!b->went_round) return;
    for (u32 i = 0; i < b->nwarps; i++) {
        if (b->warps[i].went_round)
            memset(b->warps[i].rounds, 0, (nbarriers + 1) * sizeof(struct round));
        b->warps[i].went_round = false;
    }
    memset(b->left, 0, (nbarriers + 1) * sizeof *b->left);
    b->went_round = false;
}

static void go_round(struct exec *x, const struct op *o, const struct bypass_path *way, u32 lanes) {
    for (u32 i = 0; lanes && i < way->n; i++) {
        struct round *r = &x->warp->rounds[way->skipped[i]];
        for (u32 l = 0; l < 32; l++) r->times[l] = (u8)(r->times[l] + (lanes >> l & 1));
        r->op = (u32)(o - x->worker->launch->ops);
        x->warp->went_round = x->block->went_round = true;
    }
}

void barrier_fork(struct exec *x, const struct op *o, u32 lanes, u32 taken) {
    const struct barrier_bypass *f = &x->worker->launch->module->barrier_bypasses[o->aux];
    go_round(x, o, &f->taken, taken);
    go_round(x, o, &f->not_taken, lanes & ~taken);
}

static void leave_one(struct exec *x, const struct op *o, const struct round *r, struct left *left,
                      u32 lanes) {
    for (u32 m = lanes; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        if (!r->times[lane]) continue;
        left->threads++;
        if (r->times[lane] <= left->times) continue;
        left->times = r->times[lane];
        left->thread = x->warp->index * 32 + lane;
        left->round_op = r->op;
        left->exit_op = (u32)(o - x->worker->launch->ops);
    }
}

void barrier_leave(struct exec *x, const struct op *o, u32 lanes) {
    struct block *b = x->block;
    if (!b->gone) {
        b->gone_op = (u32)(o - x->worker->launch->ops);
        b->gone_thread = x->warp->index * 32 + (u32)__builtin_ctz(lanes);
    }
    b->gone += (u32)__builtin_popcount(lanes);
    for (u32 i = 1; x->warp->went_round && i <= x->worker->launch->module->nnumbered_barriers; i++)
        leave_one(x, o, &x->warp->rounds[i], &x->block->left[i], lanes);
}

/* Threads, one of each kind, and how many. */
struct rounds {
    bool waits; /* some at the barrier of that number; others at what the compiler made of it
                   elsewhere */
    u32 op;     /* that barrier */
    u32 least, most, least_thread, most_thread, most_op;
    u32 threads, of_most;
};

static void add_rounds(const struct warp *w, const struct fragment *f, u32 number,
                       struct rounds *r) {
    for (u32 m = f->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m), times = w->rounds[number].times[lane],
            thread = w->index * 32 + lane;
        if (!r->threads++ || times < r->least) r->least = times, r->least_thread = thread;
        if (times > r->most)
            r->most = times, r->most_thread = thread, r->most_op = w->rounds[number].op,
            r->of_most = 0;
        r->of_most += times == r->most;
    }
}

/* Of the threads that wait at a barrier, how often they have gone round it. */
static struct rounds rounds_at(const struct exec *x, u32 id, u32 number) {
    const struct launch *l = x->worker->launch;
    struct rounds r = {0};
    for (u32 i = 0; i < x->block->nwarps; i++) {
        const struct warp *w = &x->block->warps[i];
        for (u32 k = 0; k < w->nfrag; k++) {
            const struct fragment *f = &w->frag[k];
            if (f->state != FRAG_AT_BARRIER || f->barrier != id) continue;
            if (desc_of(x, &l->ops[f->pc])->barrier_number == number) r.op = f->pc, r.waits = true;
            add_rounds(w, f, number, &r);
        }
    }
    return r;
}

static void report_left(struct exec *x, const struct rounds *r, const struct left *left) {
    const struct launch *l = x->worker->launch;
    char who[64];
    place_thread(l, left->thread, who, sizeof who);
    x->warp = &x->block->warps[r->least_thread / 32];
    core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, &l->ops[r->op], r->least_thread % 32, 0,
               "waits at a barrier of the block that %u of its %u threads never come to: thread %s "
               "went round it in line %u "
               "and left the kernel in line %u",
               left->threads, l->nthreads, who, place_line(l, left->round_op),
               place_line(l, left->exit_op));
}

static void report_apart(struct exec *x, const struct rounds *r) {
    const struct launch *l = x->worker->launch;
    char who[64];
    place_thread(l, r->most_thread, who, sizeof who);
    x->warp = &x->block->warps[r->least_thread / 32];
    core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, &l->ops[r->op], r->least_thread % 32, 0,
               "waits at a barrier of the block that %u of the %u threads there had gone round "
               "before, by the branch in line "
               "%u, thread %s for one: they come to it another time than the others",
               r->of_most, r->threads, place_line(l, r->most_op), who);
}

/* No fault; it may explain why something is missing from a result. */
static void note_gone(struct exec *x, u32 id) {
    const struct launch *l = x->worker->launch;
    struct block *b = x->block;
    struct warp *saved = x->warp;
    u32 thread = b->barriers[id].first_thread;
    char who[64];
    b->gone_told = true;
    if (!b->barriers[id].waits) return;
    place_thread(l, b->gone_thread, who, sizeof who);
    x->warp = &b->warps[thread / 32];
    core_fault(x, SIM_NOTE_LEFT, &l->ops[b->barriers[id].first_op], thread % 32, 0,
               "waits at a barrier of the block that %u of its %u threads do not come to: they had "
               "left the kernel, thread "
               "%s in line %u. What they were to do behind it is not done",
               b->gone, l->nthreads, who, place_line(l, b->gone_op));
    x->warp = saved;
}

/* A complete barrier of all threads, which some have gone round and others not. True if that was
 * reported. */
static bool rounds_differ(struct exec *x, u32 id) {
    const struct block *b = x->block;
    for (u32 number = 1; number <= x->worker->launch->module->nnumbered_barriers; number++) {
        struct rounds r = rounds_at(x, id, number);
        if (!r.waits || !desc_of(x, &x->worker->launch->ops[r.op])->aligned) continue;
        if (b->left[number].times > r.least) return report_left(x, &r, &b->left[number]), true;
        if (r.most > r.least) return report_apart(x, &r), true;
    }
    return false;
}

static void tell_hooks(const struct launch *l, struct block *b, u32 id, bool all) {
    u32 waits = 0;
    if (all) return l->hooks->block_interval(b, l);
    for (u32 i = 0; i < b->nwarps; i++) waits |= (u32)warp_is_at(&b->warps[i], id) << i;
    l->hooks->released(b, id, waits, l);
}

static void check_one(struct exec *x, u32 id) {
    struct block *block = x->block;
    struct barrier *b = &block->barriers[id];
    u32 at = 0, alive = 0;
    for (u32 i = 0; i < block->nwarps; i++) {
        at += warp_is_at(&block->warps[i], id);
        alive += block->warps[i].nfrag > 0;
    }
    bool complete = b->expected ? (at + b->arrived) * 32 >= b->expected : at == alive;
    if (!complete || (!at && !b->expected)) return;
    const struct launch *l = x->worker->launch;
    if (block->went_round && !b->expected && rounds_differ(x, id)) return;
    if (l->hooks) tell_hooks(l, block, id, at == alive);
    if (!b->expected && block->gone && !block->gone_told) note_gone(x, id);
    if (!b->expected) barrier_forget_rounds(block, l->module->nnumbered_barriers);
    struct barrier done = *b;
    *b = (struct barrier){0};
    release(x, id, &done);
}

void barrier_check(struct exec *x) {
    for (u32 id = 0; id < BARRIERS_PER_BLOCK; id++)
        if (x->block->barriers[id].used) check_one(x, id);
}

/* A barrier that the compiler wrote twice, where it unrolled a loop, is one barrier of the source:
 * warps may be at different copies of it. Lanes of one warp may not (PTX ISA, "barrier", .aligned);
 * hardware hangs. */
static bool same_place(const struct exec *x, u32 a, u32 b) {
    const struct launch *l = x->worker->launch;
    return a == b || place_same(l->module->ptx, l->ops[a].loc, l->ops[b].loc);
}

/* The lane of another fragment of the warp that waits for the barrier at another place, or -1. */
static int diverged(const struct warp *w, const struct fragment *f, u32 id, u32 *pc) {
    for (u32 i = 0; i < w->nfrag; i++) {
        const struct fragment *g = &w->frag[i];
        if (g == f || g->state != FRAG_AT_BARRIER || g->barrier != id || g->pc == f->pc) continue;
        return *pc = g->pc, __builtin_ctz(g->mask);
    }
    return -1;
}

/* How many threads wait for the barrier at that place. */
static u32 waiting_at(const struct exec *x, u32 id, u32 pc) {
    u32 n = 0;
    for (u32 i = 0; i < x->block->nwarps; i++)
        for (u32 k = 0; k < x->block->warps[i].nfrag; k++) {
            const struct fragment *f = &x->block->warps[i].frag[k];
            if (f->state == FRAG_AT_BARRIER && f->barrier == id && same_place(x, f->pc, pc))
                n += (u32)__builtin_popcount(f->mask);
        }
    return n;
}

/* False, and a report, where others wait for the same barrier at another place: of the warp, which
 * executes an aligned barrier as one; of the block, where the barrier is for all of its threads. */
static bool comes_with_others(struct exec *x, struct fragment *f, const struct op *o, u32 id,
                              u32 count) {
    const struct launch *l = x->worker->launch;
    const struct barrier *b = &x->block->barriers[id];
    char who[64];
    u32 pc = f->pc, thread;
    if (!desc_of(x, o)->aligned) return true;
    int lane = diverged(x->warp, f, id, &pc);
    if (lane >= 0) thread = x->warp->index * 32 + (u32)lane;
    else if (!b->waits || count || b->expected || same_place(x, b->first_op, f->pc)) return true;
    else pc = b->first_op, thread = b->first_thread;
    if (!desc_of(x, &l->ops[pc])->aligned) return true;
    place_thread(l, thread, who, sizeof who);
    core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, o, (u32)__builtin_ctz(f->mask), id,
               "waits at a barrier of the block while %u of its %u threads wait for it at another "
               "place: thread %s in "
               "line %u%s",
               waiting_at(x, id, pc), l->nthreads, who, place_line(l, pc),
               same_place(x, pc, f->pc)
                   ? ", at a copy that the compiler made of it for another round of the loop"
                   : "");
    return false;
}

/* The lanes of a warp may come to bar.arrive one after another; the warp counts when the last of
 * them has. */
static void arrive(struct exec *x, struct fragment *f, struct barrier *b, u32 id) {
    const struct launch *l = x->worker->launch;
    struct warp *w = x->warp;
    w->arrived[id] |= f->mask;
    if (w->live & ~w->arrived[id]) return;
    w->arrived[id] = 0;
    if (l->hooks) l->hooks->arrived(x->block, w, id, l);
    b->arrived++;
}

void barrier_arrive(struct exec *x, struct fragment *f, const struct op *o) {
    const struct bar_desc *d = desc_of(x, o);
    if (d->is_cluster) return cluster_wait(x, f, o);
    u32 id = lane0(x, d->id, 0, f->mask), count = lane0(x, d->count, 0, f->mask),
        lane = (u32)__builtin_ctz(f->mask);
    if (id >= BARRIERS_PER_BLOCK || count % 32 || (d->is_arrive && !count)) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, lane, id,
                   "uses barrier %u for %u threads; barriers are 0 to 15, counts multiples of 32",
                   id, count);
        return;
    }
    if (!d->is_arrive && !comes_with_others(x, f, o, id, count)) return;
    struct barrier *b = &x->block->barriers[id];
    b->used = true;
    b->expected = count;
    if (d->reduction) reduce(x, f, d, b);
    if (d->is_arrive) {
        arrive(x, f, b, id);
        f->pc++;
    } else {
        f->state = FRAG_AT_BARRIER;
        f->barrier = (u8)id;
        if (!b->waits)
            b->first_op = f->pc, b->first_thread = x->warp->index * 32 + lane, b->waits = true;
    }
    check_one(x, id);
}

/* barrier.c — bar.sync, bar.arrive, bar.red: a thread waits for all threads of its own warp that have not exited, then
 * for the other warps (PTX ISA, "barrier"). Lanes of one warp that arrive from different places are a divergent barrier,
 * which __syncthreads forbids: reported. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/taint.h"

static inline u32 lane0(const struct exec *x, ref r, u32 otherwise, u32 mask) {
    return r == REF_NONE ? otherwise : ((const u32 *)operand_at(x, r))[__builtin_ctz(mask)];
}

static const struct bar_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->bars[o->aux];
}

/* What the predicate says, into the barrier's sums over threads: how many, how many true. */
static void reduce(struct exec *x, struct fragment *f, const struct bar_desc *d, struct barrier *b) {
    u32 p = *(const u32 *)operand_at(x, d->source) ^ (d->source_flip ? ~0u : 0);
    b->reduced[0] += (u32)__builtin_popcount(p & f->mask);
    b->reduced[1] += (u32)__builtin_popcount(f->mask);
}

static void put_result(struct exec *x, struct warp *w, struct fragment *f, const struct op *o,
                       const struct barrier *b) {
    const struct bar_desc *d = desc_of(x, o);
    if (!d->red) return;
    unsigned char *frame = w->frames + x->worker->contexts[f->context].frame;
    u32 *dst = (u32 *)(frame + ref_offset(o->dst));
    bool truth = d->red == 2 ? b->reduced[0] == b->reduced[1] : b->reduced[0] != 0;
    taint_put(w, dst, d->red > 1 ? 1 : 4, f->mask, NULL, 0);
    if (d->red > 1) *dst = (*dst & ~f->mask) | (truth ? f->mask : 0);
    for (u32 l = 0; d->red == 1 && l < 32; l++)
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
    if (l->hooks) l->hooks->block_interval(block, l);
    struct barrier done = *b;
    *b = (struct barrier){0};
    release(x, id, &done);
}

void barrier_check(struct exec *x) {
    for (u32 id = 0; id < BARRIERS; id++)
        if (x->block->barriers[id].used) check_one(x, id);
}

/* A barrier that the compiler wrote twice, where it unrolled a loop, is one barrier of the source. */
static bool same_place(const struct exec *x, u32 a, u32 b) {
    const struct launch *l = x->worker->launch;
    const struct ptx_loc *p = &l->module->ptx->locs[l->ops[a].loc], *q = &l->module->ptx->locs[l->ops[b].loc];
    return a == b || (p->line && p->line == q->line && p->file == q->file);
}

static bool diverged(const struct exec *x, const struct warp *w, const struct fragment *f, u32 id) {
    for (u32 i = 0; i < w->nfrag; i++) {
        const struct fragment *g = &w->frag[i];
        if (g != f && g->state == FRAG_AT_BARRIER && g->barrier == id && !same_place(x, g->pc, f->pc)) return true;
    }
    return false;
}

/* The lanes of a warp may come to bar.arrive one after another; the warp counts when the last of them has. */
static void arrive(struct warp *w, struct fragment *f, struct barrier *b, u32 id) {
    w->arrived[id] |= f->mask;
    if (w->live & ~w->arrived[id]) return;
    w->arrived[id] = 0;
    b->arrived++;
}

void barrier_arrive(struct exec *x, struct fragment *f, const struct op *o) {
    const struct bar_desc *d = desc_of(x, o);
    if (d->cluster) return cluster_wait(x, f, o);
    u32 id = lane0(x, d->id, 0, f->mask), count = lane0(x, d->count, 0, f->mask), lane = (u32)__builtin_ctz(f->mask);
    if (id >= BARRIERS || count % 32 || (d->arrive && !count)) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, lane, id,
                   "uses barrier %u for %u threads; barriers are 0 to 15, counts multiples of 32", id, count);
        return;
    }
    if (diverged(x, x->warp, f, id)) {
        core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, o, lane, id,
                   "waits at barrier %u while lanes of the same warp wait for it at another place", id);
        return;
    }
    struct barrier *b = &x->block->barriers[id];
    b->used = true;
    b->expected = count;
    if (d->red) reduce(x, f, d, b);
    if (d->arrive) {
        arrive(x->warp, f, b, id);
        f->pc++;
    } else {
        f->state = FRAG_AT_BARRIER;
        f->barrier = (u8)id;
    }
    check_one(x, id);
}

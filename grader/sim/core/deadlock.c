/* deadlock.c — no warp of a block can go on: who waits, where, and for whom. */
#include "grader/sim/core/core.h"
#include "grader/sim/core/place.h"

#include <stdio.h>

struct waiting {
    struct warp *warp;
    struct fragment *frag;
    u32 threads; /* that wait at the same kind of place */
};

/* The first fragment in a state, and how many threads are. */
static struct waiting find(struct block *b, u8 state) {
    struct waiting w = {0};
    for (u32 i = 0; i < b->nwarps; i++)
        for (u32 k = 0; k < b->warps[i].nfrag; k++) {
            struct fragment *f = &b->warps[i].frag[k];
            if (f->state != state) continue;
            if (!w.frag) w.warp = &b->warps[i], w.frag = f;
            w.threads += (u32)__builtin_popcount(f->mask);
        }
    return w;
}

/* Threads that wait at a barrier other than the one at hand. */
static struct waiting find_other(struct block *b, u8 barrier) {
    struct waiting w = {0};
    for (u32 i = 0; i < b->nwarps; i++)
        for (u32 k = 0; k < b->warps[i].nfrag; k++) {
            struct fragment *f = &b->warps[i].frag[k];
            if (f->state != FRAG_AT_BARRIER || f->barrier == barrier) continue;
            if (!w.frag) w.warp = &b->warps[i], w.frag = f;
            w.threads += (u32)__builtin_popcount(f->mask);
        }
    return w;
}

/* Lanes of the warp that wait at another place. */
static struct waiting find_apart(struct warp *warp, const struct fragment *f) {
    for (u32 k = 0; k < warp->nfrag; k++)
        if (warp->frag[k].pc != f->pc)
            return (struct waiting){warp, &warp->frag[k],
                                    (u32)__builtin_popcount(warp->frag[k].mask)};
    return (struct waiting){0};
}

/* "; 16 threads wait for others of their warp, thread (16,0,0) in line 7" */
static void add(const struct launch *l, const struct waiting *w, const char *what, char *out,
                size_t size) {
    char who[64];
    out[0] = 0;
    if (!w->frag) return;
    place_thread(l, w->warp->index * 32 + (u32)__builtin_ctz(w->frag->mask), who, sizeof who);
    snprintf(out, size, "; %u wait %s, thread %s in line %u", w->threads, what, who,
             place_line(l, w->frag->pc));
}

void barrier_deadlock(struct exec *x) {
    struct block *b = x->block;
    const struct launch *l = x->worker->launch;
    struct waiting block = find(b, FRAG_AT_BARRIER), lanes = find(b, FRAG_AT_RENDEZVOUS),
                   other = {0};
    char more[160], elsewhere[160], apart[160];
    struct waiting *first = block.frag ? &block : &lanes;
    x->warp = first->warp;
    x->active = first->frag->mask;
    if (block.frag) other = find_other(b, block.frag->barrier);
    add(l, &lanes, "for lanes of their own warp", more, sizeof more);
    add(l, &other, "at a barrier of another number", elsewhere, sizeof elsewhere);
    struct waiting beside = find_apart(x->warp, first->frag);
    add(l, &beside, "at another place of the warp", apart, sizeof apart);
    const struct op *o = &l->ops[first->frag->pc];
    u32 lane = (u32)__builtin_ctz(first->frag->mask);
    if (block.frag)
        core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, o, lane, 0,
                   "waits for ever at a barrier of the block, as do %u of its %u threads%s%s",
                   block.threads - other.threads, l->nthreads, elsewhere, more);
    else
        core_fault(x, SIM_FAULT_DEADLOCK, o, lane, 0,
                   "waits for ever for lanes of its own warp: of those that its mask names, some "
                   "never come here; %u threads "
                   "of the block wait so%s",
                   lanes.threads, apart);
}

/* fragment.c — the groups of lanes of a warp that share a place in the code. See core.h.
 *
 * Choice. Deepest call first, then the earliest place in the code: lanes that lag catch up, and all
 * meet at the first place that they share. That alone would let lanes that spin on an earlier place
 * starve the one that they wait for; so a fragment that ran for the launch's patience of
 * instructions while others were ready goes behind them in turn. Where the code has nothing to wait
 * by, patience is long: hardware lets lanes that left a loop wait for those that are still in it,
 * and what follows is executed once. Both rules depend on nothing but the program, so a run can be
 * repeated exactly.
 *
 * The hostile schedule shows what a program relies on that the language does not promise: diverged
 * fragments stay apart until a rendezvous (.sync, a block barrier) brings them together, and which
 * of them runs next is drawn by lot, from a sequence that is the same in each run. */
#include "grader/sim/core/core.h"

#include <assert.h>
#include <string.h>

u8 fragment_patience(const struct sim_func *c) { return c->may_spin ? 11 : 24; }

void fragment_start(struct warp *w, u32 lanes, u32 pc) {
    w->live = lanes;
    w->nfrag = lanes ? 1 : 0;
    w->frag[0] = (struct fragment){.pc = pc, .mask = lanes};
    w->executed = 0;
    w->drew = w->at_grid = w->at_meeting = false, w->turn_began = 0;
    memset(w->arrived, 0, sizeof w->arrived);
    w->cluster_arrived = w->cluster_passed = w->fenced = 0;
}

static void merge(struct warp *w, bool hostile) {
    for (u32 i = 0; i < w->nfrag; i++)
        for (u32 j = i + 1; j < w->nfrag;) {
            struct fragment *a = &w->frag[i], *b = &w->frag[j];
            bool same = a->pc == b->pc && a->context == b->context && a->state == b->state &&
                        a->state == FRAG_READY;
            same = same && (!hostile || (a->met && b->met));
            if (!same) {
                j++;
                continue;
            }
            a->mask |= b->mask;
            if (b->turn < a->turn) a->turn = b->turn;
            *b = w->frag[--w->nfrag];
        }
}

static bool before(const struct worker *k, const struct fragment *a, const struct fragment *b) {
    u8 patience = k->launch->patience;
    if (a->turn >> patience != b->turn >> patience) return a->turn < b->turn;
    u32 da = k->contexts[a->context].depth, db = k->contexts[b->context].depth;
    return da != db ? da > db : a->pc < b->pc;
}

/* One of those that can run, by lot. */
static struct fragment *draw(struct warp *w) {
    u32 ready = 0, ready_index[32];
    for (u32 i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_READY) ready_index[ready++] = i;
    if (!ready) return NULL;
    u64 lot = (w->executed * 32 + w->index + 1) * 0x9e3779b97f4a7c15ull;
    struct fragment *f = &w->frag[ready_index[(lot >> 33) % ready]];
    f->met = 0;
    return f;
}

struct fragment *fragment_pick(struct worker *k, struct warp *w) {
    bool hostile = k->launch->hostile;
    if (w->nfrag > 1) merge(w, hostile);
    if (hostile) return draw(w);
    struct fragment *best = NULL;
    for (u32 i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_READY && (!best || before(k, &w->frag[i], best)))
            best = &w->frag[i];
    return best;
}

void fragment_split(struct warp *w, struct fragment *f, u32 lanes, u32 pc) {
    assert(lanes && !(lanes & ~f->mask) && lanes != f->mask && w->nfrag < 32);
    struct fragment *n = &w->frag[w->nfrag++];
    f->met = 0;
    *n = *f;
    n->mask = lanes;
    n->pc = pc;
    f->mask &= ~lanes;
}

void fragment_end(struct warp *w, struct fragment *f, u32 lanes) {
    assert(!(lanes & ~f->mask) && !(f->mask & ~w->live));
    w->live &= ~lanes;
    f->mask &= ~lanes;
    if (f->mask || f == &w->frag[--w->nfrag])
        return; /* the last: reading back at once what was just written waits for it */
    *f = w->frag[w->nfrag];
}

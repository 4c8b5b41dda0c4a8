/* fragment.c — the groups of lanes of a warp that share a place in the code. See core.h.
 *
 * Choice. Deepest call first, then the earliest place in the code: lanes that lag catch up, and all meet at the first
 * place that they share. That alone would let lanes that spin on an earlier place starve the one that they wait for; so
 * a fragment that ran PATIENCE instructions while others were ready goes behind them in turn. Both rules depend on
 * nothing but the program, so a run can be repeated exactly. */
#include "grader/sim/core/core.h"

enum { PATIENCE = 2000 };

void fragments_start(struct warp *w, u32 lanes, u32 pc) {
    w->live = lanes;
    w->nfrag = lanes ? 1 : 0;
    w->frag[0] = (struct fragment){.pc = pc, .mask = lanes};
    w->executed = 0;
}

static void merge(struct warp *w) {
    for (u32 i = 0; i < w->nfrag; i++)
        for (u32 j = i + 1; j < w->nfrag;) {
            struct fragment *a = &w->frag[i], *b = &w->frag[j];
            bool same = a->pc == b->pc && a->context == b->context && a->state == b->state && a->state == FRAG_READY;
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
    if (a->turn / PATIENCE != b->turn / PATIENCE) return a->turn < b->turn;
    u32 da = k->contexts[a->context].depth, db = k->contexts[b->context].depth;
    return da != db ? da > db : a->pc < b->pc;
}

struct fragment *fragment_pick(struct worker *k, struct warp *w) {
    if (w->nfrag > 1) merge(w);
    struct fragment *best = NULL;
    for (u32 i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_READY && (!best || before(k, &w->frag[i], best))) best = &w->frag[i];
    return best;
}

void fragment_split(struct warp *w, struct fragment *f, u32 lanes, u32 pc) {
    struct fragment *n = &w->frag[w->nfrag++];
    *n = *f;
    n->mask = lanes;
    n->pc = pc;
    f->mask &= ~lanes;
}

void fragment_end(struct warp *w, struct fragment *f, u32 lanes) {
    w->live &= ~lanes;
    f->mask &= ~lanes;
    if (!f->mask) *f = w->frag[--w->nfrag];
}

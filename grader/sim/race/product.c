/* product.c — see product.h. Results are marked as undefined values are (core/taint.h), with an
 * origin of their own, which is taken back from whatever registers have it when the warp has
 * waited. What a product read is kept as a number, and compared then. */
#include "grader/sim/race/product.h"
#include "common/grow.h"
#include "grader/sim/core/place.h"
#include "grader/sim/core/taint.h"
#include "grader/sim/mem/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flight {
    const struct op *o;
    u32 warp, group;
    u8 origin;
    u64 digest;
    struct race_product *read;
};
struct products {
    struct flight *flight;
    u32 n, capacity;
    u32 *committed; /* groups, by warp */
    u64 *pending;   /* origins of those under way, a bit each, by warp */
};

static struct products *products_of(struct block *b) {
    if (b->wgmma_pending) return b->wgmma_pending;
    b->wgmma_pending = xcalloc(1, sizeof *b->wgmma_pending);
    b->wgmma_pending->committed = xcalloc(b->nwarps, sizeof(u32));
    b->wgmma_pending->pending = xcalloc(b->nwarps, sizeof(u64));
    return b->wgmma_pending;
}

static void forget_all(struct products *p) {
    while (p->n) free(p->flight[--p->n].read);
}

void race_product_start(struct block *b) {
    if (!b->wgmma_pending) return;
    forget_all(b->wgmma_pending);
    memset(b->wgmma_pending->committed, 0, b->nwarps * sizeof(u32));
    memset(b->wgmma_pending->pending, 0, b->nwarps * sizeof(u64));
}

void race_product_free(struct block *b) {
    if (!b->wgmma_pending) return;
    forget_all(b->wgmma_pending);
    free(b->wgmma_pending->flight), free(b->wgmma_pending->committed),
        free(b->wgmma_pending->pending);
    free(b->wgmma_pending);
    b->wgmma_pending = NULL;
}

static u64 digest(const struct block *b, const struct race_product *p) {
    u64 h = 0;
    for (u32 i = 0; i < p->n; i++) h = memory_hash(b->shared + p->chunk[i] * 16u, 16, h);
    return h;
}

void race_product_begin(struct exec *x, const struct op *o, const struct race_product *p,
                        const ref *result, u32 n) {
    struct products *all = products_of(x->block);
    u64 ones[32];
    memset(ones, 0xff, sizeof ones);
    GROW(all->flight, all->n + 1, all->capacity, 16);
    struct flight *f = &all->flight[all->n++];
    *f = (struct flight){.o = o,
                         .warp = x->warp->index,
                         .group = all->committed[x->warp->index],
                         .origin = undef_wgmma_origin(x, o)};
    f->read = xmalloc(sizeof *p);
    memcpy(f->read, p, sizeof *p);
    f->digest = digest(x->block, p);
    all->pending[f->warp] |= 1ull << f->origin;
    for (u32 i = 0; i < n; i++)
        if (!race_product_origin(x, undef_operand_origin(x, result[i])))
            undef_set_operand(x, result[i], 4, ~0u, ones, f->origin);
}

void race_product_commit(struct exec *x) { products_of(x->block)->committed[x->warp->index]++; }

static void report_change(struct exec *x, const struct op *o, const struct flight *f) {
    const struct launch *l = x->worker->launch;
    char where[128];
    describe_shared_element(l, f->read->chunk[0] * 16u, x->mems[f->o->aux].width, where,
                            sizeof where);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, 0, f->read->chunk[0] * 16u,
               "waits for the product of line %u, but what it reads, from %s on, was written to "
               "before that",
               source_location_line(l, (u32)(f->o - l->ops)), where);
}

/* Registers that have one of those origins are defined. */
static void define(struct warp *w, u64 origins) {
    for (u32 i = 0; w->nundef && i < w->undef_end / 4; i++)
        if (w->undef_origin[i] && w->undef_origin[i] <= UNDEF_MAX_ORIGINS &&
            origins >> w->undef_origin[i] & 1)
            undef_put(w, w->frames + i * 4ul, 4, ~0u, NULL, 0);
}

void race_product_wait(struct exec *x, const struct op *o, u32 left) {
    struct products *all = products_of(x->block);
    u32 warp = x->warp->index, kept = 0, n = all->n;
    u64 before = all->pending[warp], *pending = &all->pending[warp];
    *pending = 0;
    for (u32 i = 0; i < n; i++) {
        struct flight *f = &all->flight[i];
        if (f->warp != warp || f->group + left >= all->committed[warp]) {
            *pending |= f->warp == warp ? 1ull << f->origin : 0;
            all->flight[kept++] = *f;
            continue;
        }
        if (digest(x->block, f->read) != f->digest) report_change(x, o, f);
        free(f->read);
    }
    all->n = kept;
    define(x->warp, before & ~*pending);
}

u8 race_product_origin(const struct exec *x, u8 origin) {
    const struct products *all = x->block->wgmma_pending;
    bool under_way =
        all && origin <= UNDEF_MAX_ORIGINS && all->pending[x->warp->index] >> origin & 1;
    return under_way ? 0 : origin;
}

const struct op *race_product_reader(const struct block *b, u32 offset, u32 bytes, u32 *thread) {
    const struct products *all = b->wgmma_pending;
    for (u32 i = 0; all && i < all->n; i++)
        for (u32 k = 0; k < all->flight[i].read->n; k++) {
            u32 at = all->flight[i].read->chunk[k] * 16u;
            if (at + 16 <= offset || at >= offset + bytes) continue;
            *thread = all->flight[i].warp * 32;
            return all->flight[i].o;
        }
    return NULL;
}

/* wgmma_pending.c — tracks wgmmas in flight; see wgmma_pending.h. Results are marked as undefined
 * values (core/undef.h) with an origin of their own, and become defined in all registers that have
 * this origin when the warp has waited. A hash of the operands in shared memory, taken at issue and
 * again after the wait, shows whether they were overwritten. */
#include "grader/sim/race/wgmma_pending.h"
#include "common/grow.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/mem/tensor_tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inflight {
    const struct op *o;
    u32 warp, group;
    u8 origin;
    u64 digest;
    struct wgmma_reads *reads;
};
struct wgmma_queue {
    struct inflight *pending;
    u32 n, capacity;
    u32 *committed_groups; /* number of groups, by warp */
    u64 *pending_origins;  /* by warp: origins of its wgmmas in flight, a bit each */
};

static struct wgmma_queue *wgmma_queue_of(struct block *b) {
    if (b->wgmma_pending) return b->wgmma_pending;
    b->wgmma_pending = xcalloc(1, sizeof *b->wgmma_pending);
    b->wgmma_pending->committed_groups = xcalloc(b->nwarps, sizeof(u32));
    b->wgmma_pending->pending_origins = xcalloc(b->nwarps, sizeof(u64));
    return b->wgmma_pending;
}

static void discard_wgmmas(struct wgmma_queue *p) {
    while (p->n) free(p->pending[--p->n].reads);
}

void race_wgmma_start(struct block *b) {
    if (!b->wgmma_pending) return;
    discard_wgmmas(b->wgmma_pending);
    memset(b->wgmma_pending->committed_groups, 0, b->nwarps * sizeof(u32));
    memset(b->wgmma_pending->pending_origins, 0, b->nwarps * sizeof(u64));
}

void race_wgmma_free(struct block *b) {
    if (!b->wgmma_pending) return;
    discard_wgmmas(b->wgmma_pending);
    free(b->wgmma_pending->pending), free(b->wgmma_pending->committed_groups),
        free(b->wgmma_pending->pending_origins);
    free(b->wgmma_pending);
    b->wgmma_pending = NULL;
}

static u64 digest(const struct block *b, const struct wgmma_reads *p) {
    u64 h = 0;
    for (u32 i = 0; i < p->n; i++) h = memory_hash(b->shared + p->chunk[i] * 16u, 16, h);
    return h;
}

void race_wgmma_issue(struct exec *x, const struct op *o, const struct wgmma_reads *p,
                      const ref *result, u32 n) {
    struct wgmma_queue *queue = wgmma_queue_of(x->block);
    u64 all_ones[32];
    memset(all_ones, 0xff, sizeof all_ones);
    GROW(queue->pending, queue->n + 1, queue->capacity, 16);
    struct inflight *f = &queue->pending[queue->n++];
    *f = (struct inflight){.o = o,
                           .warp = x->warp->index,
                           .group = queue->committed_groups[x->warp->index],
                           .origin = undef_wgmma_origin(x, o)};
    f->reads = xmalloc(sizeof *p);
    memcpy(f->reads, p, sizeof *p);
    f->digest = digest(x->block, p);
    queue->pending_origins[f->warp] |= 1ull << f->origin;
    for (u32 i = 0; i < n; i++)
        if (!race_wgmma_origin(x, undef_operand_origin(x, result[i])))
            undef_set_operand(x, result[i], 4, ~0u, all_ones, f->origin);
}

void race_wgmma_commit(struct exec *x) {
    wgmma_queue_of(x->block)->committed_groups[x->warp->index]++;
}

static void report_operand_overwritten(struct exec *x, const struct op *o,
                                       const struct inflight *f) {
    const struct launch *l = x->worker->launch;
    char location[128];
    describe_shared_element(l, f->reads->chunk[0] * 16u, x->mems[f->o->aux].width, location,
                            sizeof location);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, 0, f->reads->chunk[0] * 16u,
               "waits for the wgmma of line %u, but its operand, from %s on, was overwritten "
               "before that",
               source_location_line(l, (u32)(f->o - l->ops)), location);
}

/* Makes the registers that have one of these origins defined. */
static void define_results(struct warp *w, u64 origins) {
    for (u32 i = 0; w->nundef && i < w->undef_end / 4; i++)
        if (w->undef_origin[i] && w->undef_origin[i] <= UNDEF_MAX_ORIGINS &&
            origins >> w->undef_origin[i] & 1)
            undef_put(w, w->frames + i * 4ul, 4, ~0u, NULL, 0);
}

void race_wgmma_wait(struct exec *x, const struct op *o, u32 max_pending) {
    struct wgmma_queue *queue = wgmma_queue_of(x->block);
    u32 warp = x->warp->index, retained = 0, n = queue->n;
    u64 old_pending = queue->pending_origins[warp], *pending = &queue->pending_origins[warp];
    *pending = 0;
    for (u32 i = 0; i < n; i++) {
        struct inflight *f = &queue->pending[i];
        if (f->warp != warp || f->group + max_pending >= queue->committed_groups[warp]) {
            *pending |= f->warp == warp ? 1ull << f->origin : 0;
            queue->pending[retained++] = *f;
            continue;
        }
        if (digest(x->block, f->reads) != f->digest) report_operand_overwritten(x, o, f);
        free(f->reads);
    }
    queue->n = retained;
    define_results(x->warp, old_pending & ~*pending);
}

u8 race_wgmma_origin(const struct exec *x, u8 origin) {
    const struct wgmma_queue *queue = x->block->wgmma_pending;
    bool in_flight = queue && origin <= UNDEF_MAX_ORIGINS &&
                     queue->pending_origins[x->warp->index] >> origin & 1;
    return in_flight ? 0 : origin;
}

const struct op *race_wgmma_reader(const struct block *b, u32 offset, u32 bytes, u32 *thread) {
    const struct wgmma_queue *queue = b->wgmma_pending;
    for (u32 i = 0; queue && i < queue->n; i++)
        for (u32 k = 0; k < queue->pending[i].reads->n; k++) {
            u32 at = queue->pending[i].reads->chunk[k] * 16u;
            if (at + 16 <= offset || at >= offset + bytes) continue;
            *thread = queue->pending[i].warp * 32;
            return queue->pending[i].o;
        }
    return NULL;
}

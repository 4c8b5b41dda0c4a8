/* proxy.c — see proxy.h.
 *
 * Kept of each 16 bytes is the last write by a thread, by its number among the block's writes and
 * fences, and by a time that goes on wherever something orders threads. A read is right where the
 * writer has come to a fence since, or where anybody came to one after something ordered: by the
 * manual the fence has to lie on a way from the write to the read, on which thread does not matter.
 * Whether it does lie on such a way is not asked; a missing barrier is a race of its own. */
#include "grader/sim/race/proxy.h"
#include "common/grow.h"
#include "grader/sim/core/place.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 };

struct write {
    u32 number; /* 0 = no thread wrote there, or a copy did since */
    u32 time, op, thread;
};
struct race_proxy {
    u32 number, time;
    u32 fence_time;      /* of the last fence */
    u32 *fenced;         /* by thread: the number of its last fence */
    struct write *wrote; /* by chunk of shared memory */
};

static u32 chunks(const struct launch *l) { return l->shared_bytes / CHUNK + 1; }

void race_proxy_start(struct block *b, const struct launch *l) {
    struct race_proxy *p = b->proxy;
    if (!l->code->has_async_proxy_reads) return;
    if (!p) {
        p = b->proxy = xcalloc(1, sizeof *p);
        p->fenced = xcalloc(l->nwarps * 32ul, sizeof *p->fenced);
        p->wrote = xcalloc(chunks(l), sizeof *p->wrote);
    }
    memset(p->fenced, 0, l->nwarps * 32ul * sizeof *p->fenced);
    memset(p->wrote, 0, chunks(l) * sizeof *p->wrote);
    p->number = p->time = 1;
    p->fence_time = 0;
}

void race_proxy_free(struct block *b) {
    if (!b->proxy) return;
    free(b->proxy->fenced), free(b->proxy->wrote);
    free(b->proxy);
    b->proxy = NULL;
}

void race_proxy_order(struct block *b) {
    if (b->proxy) b->proxy->time++;
}

void race_proxy_write(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                      bool async) {
    struct race_proxy *p = x->block->proxy;
    struct write w = {p ? ++p->number : 0, p ? p->time : 0, (u32)(o - x->worker->launch->ops),
                      x->warp->index * 32 + lane};
    if (!p || !bytes) return;
    if (async) w.number = 0;
    for (u64 c = offset / CHUNK; c <= (offset + bytes - 1) / CHUNK; c++) p->wrote[c] = w;
}

void race_proxy_landed(struct block *b, u64 offset, u32 bytes) {
    for (u64 c = offset / CHUNK; b->proxy && bytes && c <= (offset + bytes - 1) / CHUNK; c++)
        b->proxy->wrote[c].number = 0;
}

void race_proxy_fence(struct exec *x, u32 mask) {
    struct race_proxy *p = x->block->proxy;
    if (!p) return;
    p->number++;
    p->fence_time = p->time;
    for (u32 m = mask; m; m &= m - 1)
        p->fenced[x->warp->index * 32 + (u32)__builtin_ctz(m)] = p->number;
}

static void report(struct exec *x, const struct op *o, u32 lane, const struct write *w, u64 offset,
                   const char *verb) {
    const struct launch *l = x->worker->launch;
    char where[128], who[64], line[128];
    describe_shared_element(l, offset, x->mems[l->ops[w->op].aux].width, where, sizeof where);
    describe_thread(l, w->thread, who, sizeof who);
    source_location_format_op(l, w->op, o, line, sizeof line);
    core_fault(x, SIM_FAULT_MISSING_FENCE, o, lane, offset,
               "%s %s, which thread %s wrote%s: no fence.proxy.async stands between", verb, where,
               who, line);
}

void race_proxy_read(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                     const char *verb) {
    struct race_proxy *p = x->block->proxy;
    if (!p || !bytes) return;
    for (u64 c = offset / CHUNK; c <= (offset + bytes - 1) / CHUNK; c++) {
        struct write *w = &p->wrote[c];
        if (!w->number || p->fenced[w->thread] > w->number || p->fence_time > w->time) continue;
        report(x, o, lane, w, c * CHUNK, verb);
        w->number = 0;
    }
}

/* proxy.c — finds missing proxy fences; see proxy.h.
 *
 * For each 16 bytes, `last_write` has the last write by a thread: its sequence number among the
 * block's writes and fences, and a time that advances wherever something orders threads. A read is
 * correct if the writer has executed a fence since, or if any thread executed one at a later time:
 * the PTX manual requires the fence on a path from the write to the read, on whichever thread. We
 * don't check that it lies on such a path; a missing barrier is reported as a race anyway. */
#include "grader/sim/race/proxy.h"
#include "common/grow.h"
#include "grader/sim/core/source_location.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 };

struct generic_write {
    u32 sequence; /* 0 = no thread wrote there, or a copy has overwritten it */
    u32 sync_time, op, thread;
};
struct race_proxy {
    u32 sequence, sync_time;
    u32 last_fence_time;              /* sync_time of the block's last fence */
    u32 *last_fence;                  /* by thread: the sequence number of its last fence */
    struct generic_write *last_write; /* by chunk of 16 bytes of shared memory */
};

static u32 chunks(const struct launch *l) { return l->shared_bytes / CHUNK + 1; }

void race_proxy_start(struct block *b, const struct launch *l) {
    struct race_proxy *p = b->proxy;
    if (!l->code->has_async_proxy_reads) return;
    if (!p) {
        p = b->proxy = xcalloc(1, sizeof *p);
        p->last_fence = xcalloc(l->nwarps * 32ul, sizeof *p->last_fence);
        p->last_write = xcalloc(chunks(l), sizeof *p->last_write);
    }
    memset(p->last_fence, 0, l->nwarps * 32ul * sizeof *p->last_fence);
    memset(p->last_write, 0, chunks(l) * sizeof *p->last_write);
    p->sequence = p->sync_time = 1;
    p->last_fence_time = 0;
}

void race_proxy_free(struct block *b) {
    if (!b->proxy) return;
    free(b->proxy->last_fence), free(b->proxy->last_write);
    free(b->proxy);
    b->proxy = NULL;
}

void race_proxy_sync(struct block *b) {
    if (b->proxy) b->proxy->sync_time++;
}

void race_proxy_write(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                      bool async) {
    struct race_proxy *p = x->block->proxy;
    struct generic_write w = {p ? ++p->sequence : 0, p ? p->sync_time : 0,
                              (u32)(o - x->worker->launch->ops), x->warp->index * 32 + lane};
    if (!p || !bytes) return;
    if (async) w.sequence = 0;
    for (u64 c = offset / CHUNK; c <= (offset + bytes - 1) / CHUNK; c++) p->last_write[c] = w;
}

void race_proxy_remote_copy(struct block *b, u64 offset, u32 bytes) {
    for (u64 c = offset / CHUNK; b->proxy && bytes && c <= (offset + bytes - 1) / CHUNK; c++)
        b->proxy->last_write[c].sequence = 0;
}

void race_proxy_fence(struct exec *x, u32 mask) {
    struct race_proxy *p = x->block->proxy;
    if (!p) return;
    p->sequence++;
    p->last_fence_time = p->sync_time;
    for (u32 m = mask; m; m &= m - 1)
        p->last_fence[x->warp->index * 32 + (u32)__builtin_ctz(m)] = p->sequence;
}

static void report(struct exec *x, const struct op *o, u32 lane, const struct generic_write *w,
                   u64 offset, const char *verb) {
    const struct launch *l = x->worker->launch;
    char location[128], actor[64], line[128];
    describe_shared_element(l, offset, x->mems[l->ops[w->op].aux].width, location, sizeof location);
    describe_thread(l, w->thread, actor, sizeof actor);
    source_location_format_op(l, w->op, o, line, sizeof line);
    core_fault(x, SIM_FAULT_MISSING_FENCE, o, lane, offset,
               "%s %s, which thread %s wrote%s, with no fence.proxy.async between", verb, location,
               actor, line);
}

void race_proxy_read(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                     const char *verb) {
    struct race_proxy *p = x->block->proxy;
    if (!p || !bytes) return;
    for (u64 c = offset / CHUNK; c <= (offset + bytes - 1) / CHUNK; c++) {
        struct generic_write *w = &p->last_write[c];
        if (!w->sequence || p->last_fence[w->thread] > w->sequence ||
            p->last_fence_time > w->sync_time)
            continue;
        report(x, o, lane, w, c * CHUNK, verb);
        w->sequence = 0;
    }
}

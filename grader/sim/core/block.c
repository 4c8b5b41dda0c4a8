/* block.c — one block: its memory, its warps, and taking turns among them. See core.h. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/grid.h"
#include "grader/sim/core/taint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A small block's memory is cleared and used for the next: to map pages and to have them come takes
 * longer. */
enum { KEPT = 128 << 10 };
static _Thread_local unsigned char *kept;

static unsigned char *take_kept(size_t bytes) {
    unsigned char *p = bytes <= KEPT ? kept : NULL;
    if (p) memset(p, 0, bytes);
    if (p) kept = NULL;
    return p;
}

/* Pages come when touched: a deep stack costs nothing until it is used. */
static unsigned char *pages(size_t bytes) {
    unsigned char *before = take_kept(bytes);
    if (before) return before;
    if (bytes < KEPT) bytes = KEPT;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t round_up(size_t n) { return (n + 63) & ~(size_t)63; }

struct block_layout {
    size_t warps, values, shared, written, race_write, race_read, far_write, far_read, specials,
        frames, local, local_written, taint, origin, rounds, left, total;
};

static struct block_layout layout(const struct launch *l) {
    struct block_layout b = {0};
    size_t at = 0;
    b.warps = at, at += round_up(l->nwarps * sizeof(struct warp));
    b.values = at, at += round_up(l->code->block_slot_bytes);
    b.shared = at, at += round_up(l->shared_bytes);
    b.written = at, at += round_up(l->shared_bytes);
    b.race_write = at, at += round_up(stamps_bytes(l));
    b.race_read = at, at += round_up(stamps_bytes(l));
    b.far_write = at, at += round_up(l->cluster_races ? 2 * stamps_bytes(l) : 0);
    b.far_read = at, at += round_up(l->cluster_races ? 2 * stamps_bytes(l) : 0);
    b.specials = at, at += (size_t)l->nwarps * W_SLOT_COUNT * SLOT_BYTES;
    b.frames = at, at += (size_t)l->nwarps * l->warp_frame_bytes;
    b.local = at, at += (size_t)l->nwarps * l->thread_local_bytes * 32;
    b.local_written = at, at += (size_t)l->nwarps * l->thread_local_bytes * 32;
    b.taint = at, at += (size_t)l->nwarps * l->warp_frame_bytes;
    b.origin = at, at += (size_t)l->nwarps * l->warp_frame_bytes / 4;
    b.rounds = at,
    at += round_up((size_t)l->nwarps * (l->module->nnumbered_barriers + 1) * sizeof(struct round));
    b.left = at, at += round_up((l->module->nnumbered_barriers + 1) * sizeof(struct left));
    b.total = at;
    return b;
}

/* Thread and lane numbers, which stay the same from block to block. */
static void fill_specials(const struct launch *l, u32 *s, u32 warp) {
    const u32 *dim = l->request->block;
    for (u32 i = 0; i < 32; i++) {
        u32 t = warp * 32 + i, bit = 1u << i;
        s[W_TID_X * 32 + i] = t % dim[0];
        s[W_TID_Y * 32 + i] = t / dim[0] % dim[1];
        s[W_TID_Z * 32 + i] = t / dim[0] / dim[1];
        s[W_LANEID * 32 + i] = i;
        s[W_WARPID * 32 + i] = warp;
        s[W_LT * 32 + i] = bit - 1;
        s[W_LE * 32 + i] = (bit - 1) | bit;
        s[W_GT * 32 + i] = ~((bit - 1) | bit);
        s[W_GE * 32 + i] = ~(bit - 1);
        s[W_EQ * 32 + i] = bit;
    }
}

static void broadcast(unsigned char *slot, u64 v, u32 bytes) {
    for (u32 i = 0; i < 32; i++) memcpy(slot + i * bytes, &v, bytes);
}

static void fill_params(const struct launch *l, unsigned char *values) {
    const struct sim_func *c = l->code;
    for (u32 i = 0; i < c->nparam_slots; i++) {
        const struct param_slot *s = &c->param_slots[i];
        u64 v = 0;
        memcpy(&v, (const u8 *)l->request->params + s->offset, s->bytes);
        if (s->is_signed && s->bytes < 8)
            v = (u64)((s64)(v << (64 - 8 * s->bytes)) >> (64 - 8 * s->bytes));
        broadcast(values + s->slot, v, s->reg_bytes);
    }
}

static void fill_values(const struct launch *l, unsigned char *values) {
    const struct sim_launch *r = l->request;
    u32 dynamic = l->shared_bytes - r->dynamic_shared;
    u64 workspace = r->cooperative ? l->sim->grid_workspace : 0;
    u32 v[B_SLOT_COUNT] = {[B_NTID_X] = r->block[0],
                           [B_NTID_Y] = r->block[1],
                           [B_NTID_Z] = r->block[2],
                           [B_NCTAID_X] = r->grid[0],
                           [B_NCTAID_Y] = r->grid[1],
                           [B_NCTAID_Z] = r->grid[2],
                           [B_NWARPID] = l->nwarps,
                           [B_NSMID] = 1,
                           [B_DYN_SHARED] = r->dynamic_shared,
                           [B_TOTAL_SHARED] = l->shared_bytes,
                           [B_ENVREG1] = (u32)(workspace >> 32),
                           [B_ENVREG2] = (u32)workspace,
                           [B_DYN_SHARED_BASE32] = dynamic};
    for (u32 i = 0; i < B_SLOT_COUNT; i++) broadcast(values + i * SLOT_BYTES, v[i], 4);
    broadcast(values + B_DYN_SHARED_BASE64 * SLOT_BYTES, dynamic, 8);
    broadcast(values + B_GRAPH_EXEC * SLOT_BYTES, device_launch_graph(&l->sim->memory), 8);
    fill_params(l, values);
}

bool block_allocate(struct launch *l, struct block *b) {
    struct block_layout at = layout(l);
    unsigned char *p = pages(at.total);
    if (!p) return false;
    *b = (struct block){.nwarps = l->nwarps, .bytes = at.total};
    b->warps = (struct warp *)p;
    b->values = p + at.values;
    b->shared = p + at.shared;
    b->shared_written = p + at.written;
    b->race_write = (u32 *)(p + at.race_write);
    b->race_read = (u32 *)(p + at.race_read);
    b->left = (struct left *)(p + at.left);
    if (l->cluster_races)
        b->far_write = (u64 *)(p + at.far_write), b->far_read = (u64 *)(p + at.far_read);
    fill_values(l, b->values);
    for (u32 i = 0; i < l->nwarps; i++) {
        struct warp *w = &b->warps[i];
        w->index = i;
        w->specials = p + at.specials + (size_t)i * W_SLOT_COUNT * SLOT_BYTES;
        w->frames = p + at.frames + (size_t)i * l->warp_frame_bytes;
        w->local = p + at.local + (size_t)i * l->thread_local_bytes * 32;
        w->local_written = p + at.local_written + (size_t)i * l->thread_local_bytes * 32;
        w->taint = p + at.taint + (size_t)i * l->warp_frame_bytes;
        w->origin = p + at.origin + (size_t)i * l->warp_frame_bytes / 4;
        w->rounds =
            (struct round *)(p + at.rounds) + (size_t)i * (l->module->nnumbered_barriers + 1);
        fill_specials(l, (u32 *)w->specials, i);
    }
    return true;
}

void block_free(const struct launch *l, struct block *b) {
    if (l->hooks) l->hooks->block_end(b);
    free(b->flight), b->flight = NULL;
    if (b->warps && b->bytes <= KEPT && !kept) kept = (unsigned char *)b->warps;
    else if (b->warps) munmap(b->warps, b->bytes < KEPT ? KEPT : b->bytes);
    b->warps = NULL;
}

/* 0.2 us for a block of one warp, 4 us for one of 32; memory that is cleared: 10 us for 227 KiB. */
static void charge_start(struct launch *l) {
    u64 cleared = l->shared_bytes + (u64)l->code->local_bytes * 32 * l->nwarps;
    core_charge(l, 8 + 6 * l->nwarps + cleared / 256);
}

void block_start(struct worker *k, struct block *b, u64 linear) {
    const struct launch *l = k->launch;
    const u32 *grid = l->request->grid;
    b->linear = b->order = linear;
    b->trace = trace_find(l->trace, linear);
    b->executed = 0;
    b->work = b->came_with = (struct sim_work){0};
    b->came = b->seen_phases = 0;
    free(b->flight), b->flight = NULL;
    charge_start(k->launch);
    b->index[0] = (u32)(linear % grid[0]);
    b->index[1] = (u32)(linear / grid[0] % grid[1]);
    b->index[2] = (u32)(linear / grid[0] / grid[1]);
    for (u32 i = 0; i < 3; i++) broadcast(b->values + (B_CTAID_X + i) * SLOT_BYTES, b->index[i], 4);
    memset(b->barriers, 0, sizeof b->barriers);
    barrier_forget_rounds(b, l->module->nnumbered_barriers);
    b->gone = 0, b->gone_told = false;
    memset(b->shared, 0, l->shared_bytes);
    if (l->sanitize) memset(b->shared_written, 0, l->shared_bytes);
    b->plane = k->plane;
    b->acquired = k->launch_tick;
    if (l->hooks) l->hooks->block_start(b, l);
    if (l->hooks)
        l->hooks->block_interval(b, l); /* what the last block did in this memory is past */
    for (u32 i = 0; i < b->nwarps; i++) {
        u32 threads = l->nthreads - i * 32;
        fragment_start(&b->warps[i], threads >= 32 ? ~0u : (1u << threads) - 1, l->code->first_op);
        taint_forget(&b->warps[i]);
        memset(b->warps[i].specials + W_STACK_BYTES * SLOT_BYTES, 0, SLOT_BYTES);
        for (u32 z = 0; z < l->code->nzero_ranges; z++)
            memset(b->warps[i].frames + l->code->zero_ranges[z].offset, 0,
                   l->code->zero_ranges[z].bytes);
        if (l->code->local_bytes) memset(b->warps[i].local, 0, (size_t)l->code->local_bytes * 32);
        if (l->code->local_bytes && l->sanitize)
            memset(b->warps[i].local_written, 0, (size_t)l->code->local_bytes * 32);
    }
}

static void bind(struct worker *k, struct block *b) {
    struct exec *x = &k->x;
    x->block = b;
    x->base[BASE_BLOCK] = b->values;
    x->shared = b->shared;
    x->shared_written = b->shared_written;
    x->trace = b->trace;
    x->cluster = b->cluster;
}

enum warp_state block_run(struct worker *k, struct block *b, u64 quantum) {
    bind(k, b);
    for (;;) {
        bool alive = false, progress = false, yields = false;
        for (u32 i = 0; i < b->nwarps; i++) {
            struct warp *w = &b->warps[i];
            if (!w->nfrag) continue;
            u64 before = w->executed;
            enum warp_state s = warp_run(&k->x, w, quantum);
            if (s == WARP_FAULTED) return s;
            alive |= s != WARP_DONE;
            yields |= s == WARP_YIELDS;
            progress |= w->executed != before || s == WARP_DONE;
        }
        if (!alive)
            return k->launch->hooks && !k->launch->hooks->block_done(&k->x) ? WARP_FAULTED
                                                                            : WARP_DONE;
        if (yields) return WARP_YIELDS;
        if (!progress && (b->cluster || grid_waits(b)))
            return WARP_WAITS; /* for another block, it may be */
        if (!progress) return barrier_deadlock(&k->x), WARP_FAULTED;
    }
}

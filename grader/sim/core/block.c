/* block.c — one block: its memory, its warps and their round robin. See core.h. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/grid_barrier.h"
#include "grader/sim/core/undef.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A cache of small blocks' memory. Clearing it is faster than mapping fresh pages and faulting them
 * in. */
enum { MAX_CACHED_BYTES = 128 << 10 };
static _Thread_local unsigned char *cached_pages;

static unsigned char *take_cached_pages(size_t bytes) {
    unsigned char *p = bytes <= MAX_CACHED_BYTES ? cached_pages : NULL;
    if (p) memset(p, 0, bytes);
    if (p) cached_pages = NULL;
    return p;
}

/* Maps zeroed pages. A deep stack takes no memory until the block uses it. */
static unsigned char *alloc_block_pages(size_t bytes) {
    unsigned char *cached = take_cached_pages(bytes);
    if (cached) return cached;
    if (bytes < MAX_CACHED_BYTES) bytes = MAX_CACHED_BYTES;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static size_t round_up(size_t n) { return (n + 63) & ~(size_t)63; }

struct block_layout {
    size_t warps, values, shared, shared_written, write_epochs, read_epochs, remote_write_epochs,
        remote_read_epochs, special_regs, frames, local, local_written, undef, undef_origin,
        barrier_skips, exits_after_skip, total_bytes;
};

static struct block_layout compute_layout(const struct launch *l) {
    struct block_layout b = {0};
    size_t at = 0;
    b.warps = at, at += round_up(l->nwarps * sizeof(struct warp));
    b.values = at, at += round_up(l->code->block_slot_bytes);
    b.shared = at, at += round_up(l->shared_bytes);
    b.shared_written = at, at += round_up(l->shared_bytes);
    b.write_epochs = at, at += round_up(shadow_epochs_bytes(l));
    b.read_epochs = at, at += round_up(shadow_epochs_bytes(l));
    b.remote_write_epochs = at,
    at += round_up(l->tracks_cluster_races ? 2 * shadow_epochs_bytes(l) : 0);
    b.remote_read_epochs = at,
    at += round_up(l->tracks_cluster_races ? 2 * shadow_epochs_bytes(l) : 0);
    b.special_regs = at, at += (size_t)l->nwarps * W_SLOT_COUNT * SLOT_BYTES;
    b.frames = at, at += (size_t)l->nwarps * l->warp_frame_bytes;
    b.local = at, at += (size_t)l->nwarps * l->thread_local_bytes * 32;
    b.local_written = at, at += (size_t)l->nwarps * l->thread_local_bytes * 32;
    b.undef = at, at += (size_t)l->nwarps * l->warp_frame_bytes;
    b.undef_origin = at, at += (size_t)l->nwarps * l->warp_frame_bytes / 4;
    b.barrier_skips = at, at += round_up((size_t)l->nwarps * (l->module->nnumbered_barriers + 1) *
                                         sizeof(struct barrier_skips));
    b.exits_after_skip = at,
    at += round_up((l->module->nnumbered_barriers + 1) * sizeof(struct exit_after_skip));
    b.total_bytes = at;
    return b;
}

/* Fills the special registers that stay the same from block to block, such as %tid and %laneid. */
static void fill_special_regs(const struct launch *l, u32 *s, u32 warp) {
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
        broadcast(values + s->at, v, s->reg_bytes);
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
    broadcast(values + B_GRAPH_EXEC * SLOT_BYTES, device_launch_current_graph(&l->sim->memory), 8);
    fill_params(l, values);
}

bool block_allocate(struct launch *l, struct block *b) {
    struct block_layout at = compute_layout(l);
    unsigned char *p = alloc_block_pages(at.total_bytes);
    if (!p) return false;
    *b = (struct block){.nwarps = l->nwarps, .mapping_bytes = at.total_bytes};
    b->warps = (struct warp *)p;
    b->values = p + at.values;
    b->shared = p + at.shared;
    b->shared_written = p + at.shared_written;
    b->write_epochs = (u32 *)(p + at.write_epochs);
    b->read_epochs = (u32 *)(p + at.read_epochs);
    b->exits_after_skip = (struct exit_after_skip *)(p + at.exits_after_skip);
    if (l->tracks_cluster_races)
        b->remote_write_epochs = (u64 *)(p + at.remote_write_epochs),
        b->remote_read_epochs = (u64 *)(p + at.remote_read_epochs);
    fill_values(l, b->values);
    for (u32 i = 0; i < l->nwarps; i++) {
        struct warp *w = &b->warps[i];
        w->index = i;
        w->special_regs = p + at.special_regs + (size_t)i * W_SLOT_COUNT * SLOT_BYTES;
        w->frames = p + at.frames + (size_t)i * l->warp_frame_bytes;
        w->local = p + at.local + (size_t)i * l->thread_local_bytes * 32;
        w->local_written = p + at.local_written + (size_t)i * l->thread_local_bytes * 32;
        w->undef = p + at.undef + (size_t)i * l->warp_frame_bytes;
        w->undef_origin = p + at.undef_origin + (size_t)i * l->warp_frame_bytes / 4;
        w->barrier_skips = (struct barrier_skips *)(p + at.barrier_skips) +
                           (size_t)i * (l->module->nnumbered_barriers + 1);
        fill_special_regs(l, (u32 *)w->special_regs, i);
    }
    return true;
}

void block_free(const struct launch *l, struct block *b) {
    if (l->race_callbacks) l->race_callbacks->on_block_free(b);
    free(b->inflight_copies), b->inflight_copies = NULL;
    if (b->warps && b->mapping_bytes <= MAX_CACHED_BYTES && !cached_pages)
        cached_pages = (unsigned char *)b->warps;
    else if (b->warps)
        munmap(b->warps, b->mapping_bytes < MAX_CACHED_BYTES ? MAX_CACHED_BYTES : b->mapping_bytes);
    b->warps = NULL;
}

/* Charges the start of a block: 0.2 us for one warp, 4 us for 32; 10 us for clearing 227 KiB. */
static void add_start_cost(struct launch *l) {
    u64 cleared_bytes = l->shared_bytes + (u64)l->code->local_bytes * 32 * l->nwarps;
    core_add_simulation_cost(l, 8 + 6 * l->nwarps + cleared_bytes / 256);
}

/* Marks the registers that the kernel may read before it has set them as undefined. Compilers make
 * such reads of what nothing uses, so only kernels with wgmma are checked: a product that is added
 * to such sums uses them. */
static void mark_unset_registers(struct exec *x, struct warp *w, const struct sim_func *code,
                                 const struct op *ops) {
    u64 all_ones[32];
    x->warp = w;
    memset(all_ones, 0xff, sizeof all_ones);
    for (u32 z = 0; z < code->nzero_ranges; z++) {
        const struct frame_range *range = &code->zero_ranges[z];
        u32 bytes = range->bytes == 4 ? 1 : range->bytes / 32;
        undef_put(w, w->frames + range->offset, bytes, ~0u, all_ones,
                  undef_unset_origin(x, &ops[code->first_op]));
    }
}

void block_start(struct worker *k, struct block *b, u64 linear) {
    const struct launch *l = k->launch;
    const u32 *grid = l->request->grid;
    b->linear = b->launch_order = linear;
    b->trace = trace_find(l->trace, linear);
    b->warp_insns = 0;
    b->work = b->work_at_arrival = (struct sim_block_work){0};
    b->grid_arrivals = b->grid_observed_generation = 0;
    free(b->inflight_copies), b->inflight_copies = NULL;
    add_start_cost(k->launch);
    b->index[0] = (u32)(linear % grid[0]);
    b->index[1] = (u32)(linear / grid[0] % grid[1]);
    b->index[2] = (u32)(linear / grid[0] / grid[1]);
    for (u32 i = 0; i < 3; i++) broadcast(b->values + (B_CTAID_X + i) * SLOT_BYTES, b->index[i], 4);
    memset(b->barriers, 0, sizeof b->barriers);
    barrier_clear_skips(b, l->module->nnumbered_barriers);
    b->exited_threads = 0, b->exit_reported = false;
    memset(b->shared, 0, l->shared_bytes);
    if (l->sanitize) memset(b->shared_written, 0, l->shared_bytes);
    b->race_shadow = k->race_shadow;
    b->acquire_clock = b->grid_clock = k->launch_clock;
    b->race_callbacks = launch_is_watched(l, linear) ? l->race_callbacks : NULL;
    if (b->race_callbacks) b->race_callbacks->on_block_start(b, l);
    if (b->race_callbacks)
        /* the accesses of the block that used this memory before are in the past */
        b->race_callbacks->on_block_sync(b, l);
    for (u32 i = 0; i < b->nwarps; i++) {
        u32 threads = l->nthreads - i * 32;
        split_init(&b->warps[i], threads >= 32 ? ~0u : (1u << threads) - 1, l->code->first_op);
        undef_clear(&b->warps[i]);
        memset(b->warps[i].special_regs + W_STACK_BYTES * SLOT_BYTES, 0, SLOT_BYTES);
        for (u32 z = 0; z < l->code->nzero_ranges; z++)
            memset(b->warps[i].frames + l->code->zero_ranges[z].offset, 0,
                   l->code->zero_ranges[z].bytes);
        if (l->code->local_bytes) memset(b->warps[i].local, 0, (size_t)l->code->local_bytes * 32);
        if (l->code->local_bytes && l->sanitize)
            memset(b->warps[i].local_written, 0, (size_t)l->code->local_bytes * 32);
        k->exec.block = b;
        if (l->sanitize && b->race_callbacks && l->code->has_wgmma)
            mark_unset_registers(&k->exec, &b->warps[i], l->code, l->ops);
    }
}

/* Sets what is checked in the block, if not all blocks of the launch are. Accesses to global memory
 * are recorded only where an unwatched block can't order those of watched ones. */
static void select_checks(struct exec *x, const struct launch *l, const struct block *b) {
    bool is_checked = b->race_callbacks != NULL;
    x->sanitize = l->sanitize && is_checked;
    x->tracks_global_races = l->tracks_global_races && is_checked && !l->tracks_happens_before;
    x->tracks_happens_before = false;
}

static void bind_block(struct worker *k, struct block *b) {
    struct exec *x = &k->exec;
    if (k->launch->watched_blocks) select_checks(x, k->launch, b);
    x->block = b;
    x->base[BASE_BLOCK] = b->values;
    x->shared = b->shared;
    x->shared_written = b->shared_written;
    x->trace = b->trace;
    x->cluster = b->cluster;
    /* What another thread compiles takes over at the beginning of a block or its next timeslice. */
    x->native = __atomic_load_n(&k->launch->module->native, __ATOMIC_ACQUIRE);
}

static enum warp_state run_warps(struct worker *k, struct block *b, u64 quantum) {
    for (;;) {
        bool is_alive = false, made_progress = false, has_yielded = false;
        for (u32 i = 0; i < b->nwarps; i++) {
            struct warp *w = &b->warps[i];
            if (!w->nsplits) continue;
            u64 before = w->warp_insns;
            enum warp_state s = warp_run(&k->exec, w, quantum);
            if (s == WARP_FAULTED) return s;
            is_alive |= s != WARP_DONE;
            has_yielded |= s == WARP_YIELDED;
            made_progress |= w->warp_insns != before || s == WARP_DONE;
        }
        if (!is_alive)
            return b->race_callbacks && !b->race_callbacks->on_block_exit(&k->exec) ? WARP_FAULTED
                                                                                    : WARP_DONE;
        if (has_yielded) return WARP_YIELDED;
        if (!made_progress && (b->cluster || grid_barrier_has_waiters(b)))
            return WARP_WAITING; /* possibly for another block */
        if (!made_progress) return barrier_report_deadlock(&k->exec), WARP_FAULTED;
    }
}

/* Meanwhile, worker.warp_insns leaves this block out. */
enum warp_state block_run(struct worker *k, struct block *b, u64 quantum) {
    bind_block(k, b);
    k->warp_insns -= b->warp_insns;
    enum warp_state s = run_warps(k, b, quantum);
    k->warp_insns += b->warp_insns;
    return s;
}

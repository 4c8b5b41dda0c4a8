/* livelock.c — see livelock.h.
 *
 * Theory of operation. Execution is deterministic: what blocks do next follows from their
 * registers, program counters, barriers, shared and local memory, and from global memory. If all of
 * these are the same as a while ago, and each warp that can run has run since, then the blocks
 * repeat the same instructions forever. So the detector hashes that state from time to time and
 * compares. It leaves out counters (livelock_counters.c), so that a loop that counts its polls or
 * grows its backoff repeats its state, too. A loop that reads a clock, or ends after a number of
 * polls, does not; the instruction budget ends it.
 *
 * An attempt has these phases, each at the end of a round. First it notes which code runs from now
 * on. After a round it determines the counters, and hashes the blocks. When every warp has run and
 * the hash is the same, it hashes global memory; when both are the same once more, the blocks only
 * repeat themselves. A hash costs about as much as executing a fraction of an instruction for each
 * byte, so attempts keep a distance in proportion to the bytes: the cost is a few percent.
 *
 * On several workers, other blocks may write global memory at any time. There the detector only
 * judges blocks that don't access it meanwhile, so that the result does not depend on the workers.
 */
#include "grader/sim/core/livelock.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE, WINDOW, BLOCKS_HASHED, ALL_HASHED }; /* phases */
enum {
    MIN_DISTANCE = 1 << 18, /* instructions between attempts */
    MAX_DISTANCE = 1 << 24, /* unless the state is large */
    BYTES_PER_INSN = 4,     /* of hashed state */
    MAX_ROUNDS = 256,       /* of an attempt: with the random order, warps skip rounds */
    MAX_GLOBAL_MIB = 1024   /* of allocations */
};

void livelock_reset(struct livelock_detector *d) { d->phase = IDLE; }

void livelock_close(struct livelock_detector *d) {
    free(d->segment_runs), free(d->vruntimes), free(d->counters);
}

/* ---- hashes ---- */

/* A bijection of h for each v, and of v for each h: what went into h is never lost. */
static u64 mix(u64 h, u64 v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/* The last three of the four accumulators start at constants: each depends on its data only, so
 * that h, in the first, is not cancelled when they are combined. */
static u64 hash_bytes(u64 h, const void *data, size_t bytes) {
    const unsigned char *p = data;
    u64 sums[4] = {h, 1, 2, 3}, v;
    for (; bytes >= 32; bytes -= 32, p += 32)
        for (u32 i = 0; i < 4; i++) memcpy(&v, p + 8 * i, 8), sums[i] = mix(sums[i], v);
    for (; bytes; bytes--, p++) sums[0] = mix(sums[0], *p);
    return mix(mix(mix(sums[0], sums[1]), sums[2]), sums[3]);
}

/* Returns true if a counter lies at the 4 bytes of the warp's frames. */
static bool is_counter(const struct worker *k, const struct warp *w, const u8 *counters, u32 at) {
    for (u32 i = 0; i < w->nsplits; i++) {
        u32 frame = k->contexts[w->splits[i].context].frame;
        if (at >= frame && counters[(at - frame) / 4]) return true;
    }
    return false;
}

/* Hashes the warp's frames without counters. In each 64 bytes lies a part of one register, or
 * predicates, which are no counters (decode_slot_new). */
static u64 hash_registers(u64 h, const struct worker *k, const struct warp *w, const u8 *counters) {
    enum { STEP = 64 };
    u32 bytes = k->launch->warp_frame_bytes;
    if (!counters) return hash_bytes(h, w->frames, bytes);
    for (u32 at = 0, n; at < bytes; at += n) {
        n = bytes - at < STEP ? bytes - at : STEP;
        if (!is_counter(k, w, counters, at)) h = hash_bytes(h, w->frames + at, n);
    }
    return h;
}

static u64 hash_warp(u64 h, const struct worker *k, const struct warp *w, const u8 *counters) {
    const struct launch *l = k->launch;
    h = mix(mix(h, w->live_lanes),
            (u64)w->nsplits << 32 | w->at_grid_barrier << 1 | w->at_sync_point);
    h = mix(mix(h, w->cluster_arrived_lanes), w->cluster_released_lanes);
    h = hash_bytes(h, w->bar_arrived_lanes, sizeof w->bar_arrived_lanes);
    for (u32 i = 0; i < w->nsplits; i++) {
        const struct warp_split *f = &w->splits[i];
        h = mix(mix(h, (u64)f->pc << 32 | f->mask), f->context);
        h = mix(h, (u64)f->state << 8 | f->barrier_id);
    }
    h = hash_bytes(h, w->local, (size_t)l->thread_local_bytes * 32);
    return w->nsplits ? hash_registers(h, k, w, counters) : h;
}

static u64 hash_block(u64 h, const struct worker *k, const struct block *b, const u8 *counters) {
    h = mix(mix(h, b->linear), (u64)b->grid_arrivals << 32 | b->grid_observed_generation);
    for (u32 i = 0; i < BARRIERS_PER_BLOCK; i++) {
        const struct barrier *s = &b->barriers[i];
        h = mix(mix(h, s->used), (u64)s->arrived_warps << 32 | s->expected_threads);
        h = mix(h, (u64)s->reduction[0] << 32 | s->reduction[1]);
    }
    h = hash_bytes(h, b->shared, k->launch->shared_bytes);
    for (u32 i = 0; i < b->nwarps; i++) h = hash_warp(h, k, &b->warps[i], counters);
    return h;
}

static u64 hash_blocks(const struct livelock_detector *d, const struct worker *k) {
    u64 h = k->nblocks;
    for (u32 i = 0; i < k->nblocks; i++)
        if (!k->blocks[i].done) h = hash_block(h, k, &k->blocks[i], d->counters);
    return h;
}

static u64 resident_bytes(const struct worker *k) {
    const struct launch *l = k->launch;
    return (u64)k->nblocks * (l->shared_bytes + (u64)l->nwarps * (l->warp_frame_bytes +
                                                                  l->thread_local_bytes * 32ull));
}

static bool is_hashed(const struct allocation *a) {
    return a->state == ALLOCATION_LIVE && !a->is_constant && !a->is_pinned_host;
}

static u64 global_bytes(const struct memory *m) {
    u64 bytes = 0;
    for (unsigned i = 0; i < m->count; i++)
        if (is_hashed(&m->allocations[i])) bytes += m->allocations[i].size;
    return bytes;
}

static u64 hash_global_memory(const struct memory *m) {
    u64 h = m->count;
    for (unsigned i = 0; i < m->count; i++)
        if (is_hashed(&m->allocations[i]))
            h = hash_bytes(h, m->bytes + m->allocations[i].start, m->allocations[i].size);
    return h;
}

/* ---- the accesses since the attempt began ---- */

/* Returns true if only this worker's blocks change global memory while they run. */
static bool owns_global_memory(const struct launch *l) {
    return l->code->interblock_dependent || l->nblocks == 1;
}

/* Returns the number of requests that the worker's blocks made to global memory so far. */
static u64 count_global_requests(const struct worker *k) {
    const struct sim_module *m = k->launch->module;
    u64 n = 0;
    for (u32 i = 0; i < m->nstats; i++)
        if (m->stat_entries[i].space == SPACE_GLOBAL) n += k->stats[i][STAT_REQUESTS];
    return n;
}

/* Returns the number of segments that ran since the attempt began. */
static u32 count_segments(const struct livelock_detector *d, const struct worker *k) {
    u32 n = 0;
    for (u32 i = 0; i < k->launch->module->nsegments; i++)
        n += livelock_has_run(k, d->segment_runs, i);
    return n;
}

/* Code that calls functions of the device runtime has effects elsewhere: it prints, allocates. */
static bool has_other_effects(const struct livelock_detector *d, const struct worker *k) {
    const struct sim_module *m = k->launch->module;
    for (u32 at = 0; at < m->nops; at++) {
        u32 begin = at;
        while (m->ops[at].kind == OP_LANEWISE) at++;
        if (m->ops[at].kind == OP_CALL && m->calls[m->ops[at].aux].builtin != BUILTIN_NONE &&
            livelock_has_run(k, d->segment_runs, m->segment_of[begin]))
            return true;
    }
    return false;
}

/* ---- warps that can run ---- */

static void note_vruntime(struct livelock_detector *d, u64 v) {
    GROW(d->vruntimes, d->nvruntimes + 1, d->vruntimes_capacity, 64);
    d->vruntimes[d->nvruntimes++] = v;
}

/* Calls `each` for every split that can run; stops at false. */
static bool for_ready_splits(struct livelock_detector *d, const struct worker *k,
                             bool (*each)(struct livelock_detector *, u32, u64)) {
    u32 n = 0;
    for (u32 i = 0; i < k->nblocks; i++)
        for (u32 w = 0; !k->blocks[i].done && w < k->blocks[i].nwarps; w++) {
            const struct warp *p = &k->blocks[i].warps[w];
            for (u32 s = 0; s < p->nsplits && !p->at_grid_barrier; s++)
                if (p->splits[s].state == SPLIT_READY && !each(d, n++, p->splits[s].vruntime))
                    return false;
        }
    return n > 0;
}

static bool store_vruntime(struct livelock_detector *d, u32 n, u64 v) {
    if (!n) d->nvruntimes = 0;
    return note_vruntime(d, v), true;
}

static bool has_advanced(struct livelock_detector *d, u32 n, u64 v) {
    return n < d->nvruntimes && v > d->vruntimes[n];
}

/* ---- attempts ---- */

static bool give_up(struct livelock_detector *d, const struct worker *k, u64 executed) {
    u64 bytes = resident_bytes(k) +
                (owns_global_memory(k->launch) ? global_bytes(&k->launch->sim->memory) : 0);
    d->phase = IDLE;
    d->min_distance = d->min_distance < MAX_DISTANCE ? 2 * d->min_distance : MAX_DISTANCE;
    d->next_attempt = executed + (bytes / BYTES_PER_INSN > d->min_distance ? bytes / BYTES_PER_INSN
                                                                           : d->min_distance);
    return false;
}

static void begin(struct livelock_detector *d, const struct worker *k) {
    u32 n = k->launch->module->nsegments;
    if (!d->segment_runs) d->segment_runs = xcalloc(n, sizeof *d->segment_runs);
    memcpy(d->segment_runs, k->segment_runs, n * sizeof *d->segment_runs);
    d->global_requests = count_global_requests(k);
    d->phase = WINDOW, d->round = 0;
}

static void hash_first(struct livelock_detector *d, const struct worker *k, u64 executed) {
    free(d->counters);
    d->counters = xcalloc(k->launch->warp_frame_bytes / 4 + 1ul, 1);
    if (!livelock_find_counters(k, d->segment_runs, d->counters))
        free(d->counters), d->counters = NULL;
    d->block_hash = hash_blocks(d, k);
    d->next_attempt = executed + resident_bytes(k) / BYTES_PER_INSN;
    d->nsegments = count_segments(d, k);
    for_ready_splits(d, k, store_vruntime);
    d->phase = BLOCKS_HASHED;
}

/* Returns true if the blocks are in the same state again. Other code must not have run since the
 * counters were determined: there, they might matter. */
static bool is_repeated(const struct livelock_detector *d, const struct worker *k) {
    return count_segments(d, k) == d->nsegments && hash_blocks(d, k) == d->block_hash;
}

static bool compare(struct livelock_detector *d, struct worker *k, u64 executed) {
    const struct memory *m = &k->launch->sim->memory;
    bool has_global = owns_global_memory(k->launch);
    if (d->round > MAX_ROUNDS) return give_up(d, k, executed);
    if (!for_ready_splits(d, k, has_advanced)) return false; /* some have not run yet */
    if (!is_repeated(d, k)) return d->round > 4 ? give_up(d, k, executed) : false;
    if (has_other_effects(d, k) || (!has_global && count_global_requests(k) != d->global_requests))
        return give_up(d, k, executed);
    u64 hash = has_global ? hash_global_memory(m) : 0;
    if (d->phase == ALL_HASHED) return hash == d->memory_hash || give_up(d, k, executed);
    d->memory_hash = hash, d->phase = ALL_HASHED;
    for_ready_splits(d, k, store_vruntime);
    return false;
}

bool livelock_found(struct livelock_detector *d, struct worker *k, u64 executed) {
    const struct memory *m = &k->launch->sim->memory;
    bool has_host_writes =
        m->regions[MEM_HOST_SHARED].ever_used_end != m->regions[MEM_HOST_SHARED].low;
    if (!d->min_distance) d->min_distance = d->next_attempt = MIN_DISTANCE;
    if (d->phase == IDLE && executed < d->next_attempt) return false;
    if (has_host_writes || global_bytes(m) >> 20 > MAX_GLOBAL_MIB) return false;
    d->round++;
    if (d->phase == IDLE) return begin(d, k), false;
    if (d->phase == WINDOW) return hash_first(d, k, executed), false;
    return compare(d, k, executed);
}

/* exec_async.c — executes mbarrier ops, bulk copies, and cp.async of fewer bytes than its size. See
 * decode_async.c. */
#include "grader/sim/insn/exec_async.h"
#include "grader/sim/code/async.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/count/inflight.h"
#include "grader/sim/count/pattern.h"
#include "grader/sim/race/async.h"
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/race.h"

#include <string.h>

static const struct mem_desc mbarrier_desc = {.verb = MEM_RED,
                                              .space = SPACE_SHARED,
                                              .width = 8,
                                              .count = 1,
                                              .reg_bytes = 8,
                                              .type = PTX_B64};
static const struct mem_desc byte_load_desc = {.verb = MEM_LOAD,
                                               .space = SPACE_GLOBAL,
                                               .width = 1,
                                               .count = 1,
                                               .reg_bytes = 2,
                                               .type = PTX_B8};

/* ---- cp.async with a source shorter than the copy ----
 *
 * Zeroes the registers, reads the bytes of lanes that copy only some of them, and writes to `dst`
 * which lanes copy all: the load that follows runs for those. The other lanes' reads are a request
 * of their own, counted as if they were complete. */

static void read_bytes(struct exec *x, const struct op *o, const struct mem_desc *d, u64 from,
                       u32 n, u32 lane) {
    unsigned char bytes[16] = {0}, shadow[8 + 16 + 8];
    bool all_defined = true;
    memset(shadow, 1, sizeof shadow);
    for (u32 i = 0; i < n; i++) {
        if (!ISAFN(lane_may_access_global)(x, o, &byte_load_desc, lane, from + i)) return;
        bytes[i] = x->memory->bytes[from + i - SIM_BASE];
        shadow[8 + i] = x->memory->init_shadow[from + i - SIM_BASE];
        all_defined &= shadow[8 + i] == 1;
    }
    for (u32 e = 0; e < d->count; e++)
        memcpy((u32 *)operand_at(x, d->reg[e]) + lane, bytes + 4 * e, 4);
    if (x->sanitize && !all_defined) undef_access(x, o, d, lane, from, shadow + 8, SPACE_GLOBAL);
}

void ISAFN(op_cpasync)(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 ea[32];
    u32 size = d->count * 4u, full = 0, part = 0;
    u32 ignore_src = o->src[2] == REF_NONE ? 0 : mask_at(x, o->src[2]) ^ (u32)o->imm;
    const u32 *bytes = o->src[1] == REF_NONE ? NULL : operand_at(x, o->src[1]);
    ISAFN(lane_addresses)(x, o + o->target, d, ea);
    FOR_ACTIVE_LANES(mask) {
        u32 n = ignore_src >> l & 1 ? 0 : !bytes || bytes[l] > size ? size : bytes[l];
        for (u32 e = 0; e < d->count; e++) ((u32 *)operand_at(x, d->reg[e]))[l] = 0;
        if (n == size) full |= 1u << l;
        else if (n) part |= 1u << l, read_bytes(x, o, d, ea[l], n, l);
    }
    if (part) {
        ISAFN(pattern_count_scattered)(x->stats[d->stat], ea, part, size);
        TRACE(x, o + o->target, SPACE_GLOBAL, d->stat, ea, part);
    }
    *(u32 *)operand_at(x, o->dst) = full;
}

void ISAFN(op_cpgroup)(struct exec *x, const struct op *o, u32 mask) {
    inflight_group(x, o);
    if (!x->sanitize) return;
    switch (o->imm) {
    case GROUP_COMMIT: race_async_commit(x, mask, false); break;
    case GROUP_BULK_COMMIT: race_async_commit(x, mask, true); break;
    case GROUP_WAIT_ALL: race_async_wait(x, o, mask, RACE_WAIT_FOR_ALL, false); break;
    default: race_async_wait(x, o, mask, o->target, o->imm == GROUP_BULK_WAIT);
    }
}

/* ---- mbarrier ---- */

struct mbarrier {
    u64 phase, initialized;
    s64 tx_count;
    u64 expected_count, pending_count;
};

static struct mbarrier unpack_mbarrier(u64 w) {
    u64 low = (1ull << MBAR_PENDING_BITS) - 1;
    return (struct mbarrier){w >> MBAR_PHASE_SHIFT, w >> MBAR_VALID_SHIFT & 1,
                             (s64)(w << 2) >> (MBAR_TX_COUNT_SHIFT + 2),
                             w >> MBAR_EXPECTED_SHIFT & low, w & low};
}

static u64 pack_mbarrier(struct mbarrier b) {
    u64 bytes = (u64)b.tx_count & ((1ull << (MBAR_VALID_SHIFT - MBAR_TX_COUNT_SHIFT)) - 1);
    return b.phase << MBAR_PHASE_SHIFT | b.initialized << MBAR_VALID_SHIFT |
           bytes << MBAR_TX_COUNT_SHIFT | b.expected_count << MBAR_EXPECTED_SHIFT | b.pending_count;
}

/* Completes the phase if nothing is pending. All before that is ordered before what waits for the
 * phase, so the two can't race. */
static struct mbarrier advance_phase(struct exec *x, struct mbarrier b, const u64 *mbarrier) {
    if (b.pending_count || b.tx_count) return b;
    if (x->cluster) cluster_advance_epoch(x);
    else if (x->sanitize) race_mbarrier_complete_phase(x, shared_offset(x->block, mbarrier));
    b.phase ^= 1;
    b.pending_count = b.expected_count;
    return b;
}

u64 *ISAFN(lane_mbarrier_at)(struct exec *x, const struct op *o, u64 offset, u32 lane,
                             bool is_init) {
    if (offset - SHARED_WINDOW < WINDOW_BYTES) offset -= SHARED_WINDOW;
    if (x->cluster && cluster_is_remote(x, offset))
        return (u64 *)ISAFN(lane_cluster_pointer)(x, o, &mbarrier_desc, lane, offset);
    if (x->cluster) offset = cluster_offset(offset);
    if (is_init && offset < x->shared_bytes && offset + 8 <= x->shared_bytes)
        memset(x->shared_written + offset, 1, 8);
    if (!ISAFN(lane_may_access_shared)(x, o, &mbarrier_desc, lane, offset)) return NULL;
    return (u64 *)(x->shared + offset);
}

static void report_misuse(struct exec *x, const struct op *o, u32 lane, const char *message) {
    core_fault(x, SIM_FAULT_BAD_SYNC, o, lane, 0, "%s", message);
}

static bool arrive_mbarrier(struct exec *x, const struct op *o, u32 lane, struct mbarrier *b,
                            u64 count, bool drop) {
    if (count > b->pending_count || count == 0 || (drop && count > b->expected_count)) {
        report_misuse(x, o, lane, "arrives at an mbarrier more often than its phase expects");
        return false;
    }
    b->pending_count -= count;
    if (drop) b->expected_count -= count;
    return true;
}

/* Returns false after reporting a fault. */
static bool apply_mbarrier_op(struct exec *x, const struct op *o, u32 lane, struct mbarrier *b,
                              u32 n) {
    enum mbarrier_verb verb = (enum mbarrier_verb)o->imm;
    switch (verb) {
    case MBAR_INVAL: b->initialized = 0; return true;
    case MBAR_CP_ASYNC_ARRIVE_NOINC:
    case MBAR_ARRIVE: return arrive_mbarrier(x, o, lane, b, n, false);
    case MBAR_ARRIVE_DROP: return arrive_mbarrier(x, o, lane, b, n, true);
    case MBAR_ARRIVE_EXPECT_TX:
    case MBAR_ARRIVE_DROP_EXPECT_TX:
        b->tx_count += n;
        return arrive_mbarrier(x, o, lane, b, 1, verb == MBAR_ARRIVE_DROP_EXPECT_TX);
    case MBAR_EXPECT_TX: b->tx_count += n; return true;
    case MBAR_COMPLETE_TX: b->tx_count -= n; return true;
    default: return true;
    }
}

static void init_mbarrier(struct exec *x, const struct op *o, u32 lane, u64 *mbarrier, u32 count) {
    if (count == 0 || count >> MBAR_PENDING_BITS) {
        report_misuse(x, o, lane, "initializes an mbarrier with a count outside 1 to 1048575");
        return;
    }
    *mbarrier = pack_mbarrier(
        (struct mbarrier){.initialized = 1, .expected_count = count, .pending_count = count});
    if (x->sanitize && mbarrier_is_local(x, mbarrier))
        race_mbarrier_init(x, o, lane, shared_offset(x->block, mbarrier));
}

/* Sets the lane's predicate to whether the phase that it waits for has ended. */
static void test_mbarrier(struct exec *x, const struct op *o, u32 lane, u64 *mbarrier,
                          struct mbarrier b) {
    const void *operand = operand_at(x, o->src[2]);
    u64 phase = o->imm == MBAR_WAIT ? ((const u64 *)operand)[lane] >> MBAR_PHASE_SHIFT
                                    : ((const u32 *)operand)[lane] & 1;
    bool has_ended = phase != b.phase;
    u32 *result = operand_at(x, o->dst);
    *result = (*result & ~(1u << lane)) | (u32)has_ended << lane;
    if (x->sanitize && has_ended && mbarrier_is_local(x, mbarrier))
        race_async_phase_complete(x, o, lane, shared_offset(x->block, mbarrier), (u8)phase);
    if (x->sanitize && !x->cluster && has_ended)
        race_mbarrier_acquire(x, shared_offset(x->block, mbarrier));
}

/* Arrives, changes the count of bytes or invalidates; `first`: for the warp's first lane. */
static void update_mbarrier(struct exec *x, const struct op *o, u32 lane, u64 *mbarrier,
                            struct mbarrier b, u32 n, bool first) {
    enum mbarrier_verb verb = (enum mbarrier_verb)o->imm;
    u64 old_state = *mbarrier;
    if (x->sanitize && (verb == MBAR_CP_ASYNC_ARRIVE || verb == MBAR_CP_ASYNC_ARRIVE_NOINC) &&
        mbarrier_is_local(x, mbarrier))
        race_async_arrive(x, lane, shared_offset(x->block, mbarrier), (u8)b.phase);
    if (!apply_mbarrier_op(x, o, lane, &b, n)) return;
    if (x->sanitize && !x->cluster)
        race_mbarrier_arrive(x, shared_offset(x->block, mbarrier), first);
    *mbarrier = pack_mbarrier(advance_phase(x, b, mbarrier));
    if (o->dst != REF_NONE) ((u64 *)operand_at(x, o->dst))[lane] = old_state;
}

static void mbarrier_lane(struct exec *x, const struct op *o, u32 lane, bool first) {
    enum mbarrier_verb verb = (enum mbarrier_verb)o->imm;
    u64 at = ((const u64 *)operand_at(x, o->src[0]))[lane],
        *mbarrier = ISAFN(lane_mbarrier_at)(x, o, at, lane, verb == MBAR_INIT);
    u32 n = o->src[1] == REF_NONE ? 0 : ((const u32 *)operand_at(x, o->src[1]))[lane];
    if (!mbarrier) return;
    struct mbarrier b = unpack_mbarrier(*mbarrier);
    if (verb == MBAR_INIT) init_mbarrier(x, o, lane, mbarrier, n);
    else if (!b.initialized) report_misuse(x, o, lane, "uses an mbarrier that is not initialized");
    else if (verb == MBAR_WAIT || verb == MBAR_WAIT_PARITY) test_mbarrier(x, o, lane, mbarrier, b);
    else update_mbarrier(x, o, lane, mbarrier, b, n, first);
}

/* Counts the use of an mbarrier as an access to shared memory (docs/counters.md). Returns the lanes
 * that use the block's own mbarriers, whose addresses become offsets. */
static u32 count_mbarrier(struct exec *x, const struct op *o, u64 ea[32], u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    u32 remote_mask = x->cluster ? ISAFN(lane_split_remote)(x, ea, mask) : 0,
        own_mask = mask & ~remote_mask;
    if (own_mask) count_atomic(x, d, d->stat + MBAR_STAT_LOCAL, SPACE_SHARED, ea, own_mask);
    if (own_mask) TRACE(x, o, SPACE_SHARED, d->stat + MBAR_STAT_LOCAL, ea, own_mask);
    if (!remote_mask) return own_mask;
    ISAFN(lane_count_cluster)(x, d->stat + MBAR_STAT_REMOTE, ea, remote_mask, d->width);
    TRACE(x, o, SPACE_CLUSTER, d->stat + MBAR_STAT_REMOTE, ea, remote_mask);
    return own_mask;
}

/* Records, for the time model and for copies in flight, that the warp's copies signal the mbarrier,
 * or that the warp has waited for them there. */
static void trace_mbarrier_lanes(struct exec *x, const struct op *o, const u64 *ea, u32 own_mask,
                                 bool phase_ended) {
    bool copies = o->imm == MBAR_CP_ASYNC_ARRIVE || o->imm == MBAR_CP_ASYNC_ARRIVE_NOINC;
    if (!own_mask || !(copies || phase_ended)) return;
    u64 offset = ea[__builtin_ctz(own_mask)];
    if (phase_ended) inflight_complete(x, o, (u32)offset);
    else inflight_arrive(x, (u32)offset);
    if (x->trace) trace_mbarrier(x, o, phase_ended ? MEM_LOAD : MEM_STORE, offset);
}

void ISAFN(op_mbarrier)(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 ea[32];
    memcpy(ea, operand_at(x, o->src[0]), sizeof ea); /* an arrival's result may overwrite them */
    FOR_ACTIVE_LANES(mask) ea[l] -= ea[l] - SHARED_WINDOW < WINDOW_BYTES ? SHARED_WINDOW : 0;
    FOR_ACTIVE_LANES(mask) mbarrier_lane(x, o, l, l == (u32)__builtin_ctz(mask));
    if (o->target == MBAR_OF_STORE) return;
    u32 own_mask = count_mbarrier(x, o, ea, mask);
    bool phase_ended = d->verb == MEM_LOAD && (mask_at(x, o->dst) & mask);
    x->stats[d->stat + (phase_ended ? MBAR_STAT_COMPLETED_WAIT : 0)][STAT_REQUESTS] += phase_ended;
    trace_mbarrier_lanes(x, o, ea, own_mask, phase_ended);
}

void ISAFN(lane_mbarrier_complete_tx)(struct exec *x, const struct op *o, u32 lane, u64 *mbarrier,
                                      u32 bytes) {
    struct mbarrier b = unpack_mbarrier(*mbarrier);
    if (!b.initialized)
        return report_misuse(x, o, lane, "names an mbarrier that is not initialized");
    b.tx_count -= bytes;
    if (x->sanitize && !x->cluster)
        race_mbarrier_arrive(x, shared_offset(x->block, mbarrier), true);
    *mbarrier = pack_mbarrier(advance_phase(x, b, mbarrier));
}

u32 ISAFN(lane_mbarrier_phase)(u64 word) { return (u32)unpack_mbarrier(word).phase; }

/* ---- bulk copies: the whole range at once, for each lane that starts one ---- */

/* Returns the bytes in another block of the cluster. */
static unsigned char *bulk_remote(struct exec *x, const struct op *o, u64 to, u32 n, u32 lane,
                                  unsigned char **written) {
    u32 offset;
    struct block *b = cluster_resolve_address(x, o, lane, to, n, &offset);
    u64 *s = x->stats[x->mems[o->aux].stat + BULK_STAT_DSMEM];
    if (!b) return NULL;
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += n;
    *written = b->shared_written + offset;
    if (x->sanitize) race_cluster_access(x, b, o, lane, offset, n, RACE_WRITE);
    if (x->sanitize) race_proxy_remote_copy(b, offset, n);
    return b->shared + offset;
}

unsigned char *ISAFN(lane_bulk_shared)(struct exec *x, const struct op *o, u64 from, u32 n,
                                       u32 lane, unsigned char **written) {
    if (from - SHARED_WINDOW < WINDOW_BYTES) from -= SHARED_WINDOW;
    if (x->cluster && cluster_is_remote(x, from)) return bulk_remote(x, o, from, n, lane, written);
    if (x->cluster) from = cluster_offset(from);
    if (from < x->shared_bytes && n <= x->shared_bytes - from) {
        *written = x->shared_written + from;
        return x->shared + from;
    }
    core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, from,
               "copies %u bytes at offset %llu of shared memory, of which the block has %u bytes",
               n, (unsigned long long)from, x->shared_bytes);
    return NULL;
}

static unsigned char *bulk_pointer(struct exec *x, const struct op *o, bool shared, u64 from, u32 n,
                                   u32 lane, unsigned char **written) {
    if (shared) return ISAFN(lane_bulk_shared)(x, o, from, n, lane, written);
    int i = memory_find_range(x->memory, from, n);
    if (i >= 0 && o->imm == BULK_SHARED_TO_GLOBAL && x->memory->allocations[i].is_constant) {
        core_fault(x, SIM_FAULT_READ_ONLY, o, lane, from, "copies to `%s` in constant memory",
                   x->memory->allocations[i].name);
        return NULL;
    }
    if (i >= 0)
        return *written = x->memory->init_shadow + (from - SIM_BASE),
               x->memory->bytes + (from - SIM_BASE);
    char location[256];
    memory_describe(x->memory, from, n, location, sizeof location);
    core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, from, "copies %u bytes at 0x%llx, %s", n,
               (unsigned long long)from, location);
    return NULL;
}

/* Copies the shadow: unwritten bytes stay unwritten. Reports bytes that another copy in flight has
 * yet to write. */
static void copy_shadow(struct exec *x, const struct op *o, u32 lane, u64 to, unsigned char *target,
                        const unsigned char *source, u32 n) {
    bool all_defined = true;
    struct block *owner = cluster_block_containing(x, source);
    if (o->imm != BULK_GLOBAL_TO_SHARED && memchr(source, UNDEF_PENDING, n))
        race_async_report_unfinished(x, owner, o, lane, (u64)(source - owner->shared_written), n,
                                     "copies from");
    memmove(target, source, n);
    for (u32 i = 0; i < n; i++) {
        if (target[i] == UNDEF_PENDING) target[i] = 1;
        all_defined &= target[i] == 1;
    }
    if (all_defined || o->imm != BULK_SHARED_TO_GLOBAL) return;
    memory_forget_initialized(&x->memory->allocations[memory_find_range(x->memory, to, n)]);
    x->memory->has_undef_marks = true;
}

void ISAFN(lane_bulk_count)(struct exec *x, const struct op *o, u32 slot, u64 from, u32 n) {
    u32 stat = x->mems[o->aux].stat + slot;
    u64 *s = x->stats[stat];
    bool load = slot == BULK_STAT_SHARED_LOAD ||
                (slot == BULK_STAT_GLOBAL && o->imm == BULK_GLOBAL_TO_SHARED);
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += n;
    s[STAT_SECTORS] += (from + n - 1) / 32 - from / 32 + 1;
    x->pattern_cache[stat].base = from;
    if (x->trace)
        trace_bulk(x, o, slot == BULK_STAT_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED,
                   load ? MEM_LOAD : MEM_STORE, from, n);
}

/* Counts a request for each lane's copy: the hardware doesn't merge them. */
static void count_bulk_copy(struct exec *x, const struct op *o, u64 to, u64 from, u32 n) {
    if (o->imm != BULK_SHARED_TO_SHARED) ISAFN(lane_bulk_count)
    (x, o, BULK_STAT_GLOBAL, o->imm == BULK_GLOBAL_TO_SHARED ? from : to, n);
    if (o->imm != BULK_SHARED_TO_GLOBAL)
        ISAFN(lane_bulk_count)(x, o, BULK_STAT_SHARED_STORE, to, n);
    if (o->imm != BULK_GLOBAL_TO_SHARED)
        ISAFN(lane_bulk_count)(x, o, BULK_STAT_SHARED_LOAD, from, n);
}

/* Ends in other blocks' memory are checked by bulk_remote. */
void ISAFN(lane_bulk_check_race)(struct exec *x, const struct op *o, u32 lane, u64 address, u32 n,
                                 enum race_access_kind access) {
    static const s32 zero_offsets[32];
    if (address - SHARED_WINDOW < WINDOW_BYTES) address -= SHARED_WINDOW;
    if (x->cluster && cluster_is_remote(x, address)) return;
    if (x->cluster) address = cluster_offset(address);
    if (access == RACE_READ) race_proxy_read(x, o, lane, address, n, "copies");
    ISAFN(race_shared_access)(x, o, NULL, address, zero_offsets, 1u << lane, n, access);
}

/* Checks both ends as accesses of the lane, and starts tracking the copy as in flight. */
static void check_bulk_races(struct exec *x, const struct op *o, u32 lane, u64 to, u64 from,
                             u32 n) {
    u64 global = o->imm == BULK_GLOBAL_TO_SHARED ? from : to;
    if (o->imm != BULK_SHARED_TO_GLOBAL) ISAFN(lane_bulk_check_race)(x, o, lane, to, n, RACE_WRITE);
    if (o->imm != BULK_GLOBAL_TO_SHARED)
        ISAFN(lane_bulk_check_race)(x, o, lane, from, n, RACE_READ);
    if (o->imm == BULK_SHARED_TO_SHARED || !x->tracks_global_races) return;
    if (!memory_find_allocation(x->memory, global)->is_race_checked) {
        if (o->imm == BULK_GLOBAL_TO_SHARED) return;
        race_note_unproven_store(x->worker->launch);
    }
    ISAFN(race_global_lane_access)
    (x, o, x->mems[o->aux].stat + BULK_STAT_GLOBAL, lane, global, n,
     o->imm == BULK_GLOBAL_TO_SHARED ? RACE_READ : RACE_WRITE);
}

static void issue_bulk_copy(struct exec *x, const struct op *o, u32 lane,
                            const unsigned char *target, const unsigned char *source, u32 n,
                            const u64 *mbarrier) {
    bool in = o->imm != BULK_SHARED_TO_GLOBAL;
    struct block *b = cluster_block_containing(x, in ? target : source);
    u32 shared = shared_offset(b, in ? target : source);
    if (mbarrier && cluster_block_containing(x, mbarrier) != b) return;
    u64 global = o->imm == BULK_SHARED_TO_SHARED
                     ? 0
                     : (u64)((in ? source : target) - x->memory->bytes) + SIM_BASE;
    race_async_bulk(x, b, o, in ? ASYNC_BULK_TO_SHARED : ASYNC_BULK_FROM_SHARED, lane, shared,
                    global, n, mbarrier ? shared_offset(b, mbarrier) + 1 : 0,
                    mbarrier ? (u8)unpack_mbarrier(*mbarrier).phase : 0);
}

static void bulk_lane(struct exec *x, const struct op *o, u32 lane) {
    u64 to = ((const u64 *)operand_at(x, o->src[0]))[lane],
        from = ((const u64 *)operand_at(x, o->src[1]))[lane];
    u32 n = ((const u32 *)operand_at(x, o->src[2]))[lane];
    if (n % 16 || to % 16 || from % 16) {
        core_fault(
            x, SIM_FAULT_MISALIGNED, o, lane, to,
            "copies %u bytes from 0x%llx to 0x%llx: size and addresses must be multiples of 16", n,
            (unsigned long long)from, (unsigned long long)to);
        return;
    }
    unsigned char *target_written, *source_written;
    unsigned char *target =
        bulk_pointer(x, o, o->imm != BULK_SHARED_TO_GLOBAL, to, n, lane, &target_written);
    unsigned char *source =
        bulk_pointer(x, o, o->imm != BULK_GLOBAL_TO_SHARED, from, n, lane, &source_written);
    if (!target || !source || !n) return;
    const u64 *barrier = o->src[3] == REF_NONE ? NULL : operand_at(x, o->src[3]);
    u64 *mbarrier = barrier ? ISAFN(lane_mbarrier_at)(x, o, barrier[lane], lane, false) : NULL;
    if (!mbarrier && o->src[3] != REF_NONE) return;
    count_bulk_copy(x, o, to, from, n);
    if (mbarrier && mbarrier_is_local(x, mbarrier) && o->imm == BULK_GLOBAL_TO_SHARED)
        inflight_issue_bulk(x, o, x->mems[o->aux].stat + BULK_STAT_GLOBAL,
                            shared_offset(x->block, mbarrier), n);
    if (x->trace && mbarrier && mbarrier_is_local(x, mbarrier))
        trace_mbarrier(x, o, MEM_STORE, shared_offset(x->block, mbarrier));
    core_add_simulation_cost(x->worker->launch, n / 256);
    if (x->sanitize) check_bulk_races(x, o, lane, to, from, n);
    memmove(target, source, n);
    if (x->sanitize) copy_shadow(x, o, lane, to, target_written, source_written, n);
    else if (o->imm == BULK_SHARED_TO_GLOBAL) memset(target_written, 1, n);
    if (x->sanitize) issue_bulk_copy(x, o, lane, target, source, n, mbarrier);
    if (mbarrier) ISAFN(lane_mbarrier_complete_tx)(x, o, lane, mbarrier, n);
}

void ISAFN(op_cpasyncbulk)(struct exec *x, const struct op *o, u32 mask) {
    FOR_ACTIVE_LANES(mask) bulk_lane(x, o, l);
}

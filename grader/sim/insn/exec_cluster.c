/* exec_cluster.c — executes accesses to the shared memory of the cluster's other blocks, and mapa.
 * An access to the block's own memory is an access to shared memory like any other. See
 * code/cluster.h, core/cluster.c. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/insn/exec_mem.h"
#include "grader/sim/race/race.h"

#include <string.h>

/* ---- addresses ---- */

static u64 address_operand(const struct exec *x, ref r, u32 bytes, u32 lane) {
    return bytes == 8 ? ((const u64 *)operand_at(x, r))[lane]
                      : ((const u32 *)operand_at(x, r))[lane];
}

/* imm: the window of generic addresses, or 0; aux: bytes of the address. */
static bool check_shared_window(struct exec *x, const struct op *o, u32 lane, u64 address) {
    if (address - (u64)o->imm < WINDOW_BYTES) return true;
    core_fault(x, SIM_FAULT_DSMEM, o, lane, address,
               "maps 0x%llx to another block, but this address is not in shared memory",
               (unsigned long long)address);
    return false;
}

void ISAFN(op_mapa)(struct exec *x, const struct op *o, u32 mask) {
    const u32 *rank = operand_at(x, o->src[1]);
    FOR_ACTIVE_LANES(mask) {
        u64 from = address_operand(x, o->src[0], o->aux, l);
        if (!check_shared_window(x, o, l, from)) continue;
        u64 to = (u64)o->imm + ((u64)((rank[l] + 1) & 0xff) << CLUSTER_RANK_SHIFT |
                                cluster_offset(from - (u64)o->imm));
        if (o->aux == 8) ((u64 *)operand_at(x, o->dst))[l] = to;
        else ((u32 *)operand_at(x, o->dst))[l] = (u32)to;
    }
}

void ISAFN(op_getctarank)(struct exec *x, const struct op *o, u32 mask) {
    u32 *D = operand_at(x, o->dst);
    FOR_ACTIVE_LANES(mask) {
        u64 from = address_operand(x, o->src[0], o->aux, l);
        if (!check_shared_window(x, o, l, from)) continue;
        u32 field = cluster_rank_field(from - (u64)o->imm);
        D[l] = field ? field - 1 : x->block->cluster_rank;
    }
}

void ISAFN(op_clusterarrive)(struct exec *x, const struct op *o, u32 mask) {
    cluster_arrive(x, o, mask);
}

/* ---- accesses ---- */

unsigned char *ISAFN(lane_cluster_pointer)(struct exec *x, const struct op *o,
                                           const struct mem_desc *d, u32 lane, u64 address) {
    u32 span = access_span(d), offset;
    if (address & (span - 1)) {
        core_fault(x, SIM_FAULT_MISALIGNED, o, lane, address,
                   "accesses %u bytes at offset %u of another block's shared memory, which is not "
                   "a multiple of %u",
                   span, cluster_offset(address), span);
        return NULL;
    }
    struct block *b = cluster_resolve_address(x, o, lane, address, span, &offset);
    if (!b) return NULL;
    if (!x->sanitize) return b->shared + offset;
    unsigned char *w = b->shared_written + offset;
    if (d->verb != MEM_STORE && !all_initialized(w, span))
        undef_access(x, o, d, lane, offset, w, SPACE_SHARED);
    if (d->verb != MEM_LOAD) memset(w, 1, span);
    race_cluster_access(x, b, o, lane, offset, span, race_access_of(d));
    return b->shared + offset;
}

/* Returns the lanes of `mask` that address the same block as its first lane. */
static u32 same_rank_lanes(const u64 *ea, u32 mask) {
    u32 first = cluster_rank_field(ea[__builtin_ctz(mask)]), rank_mask = 0;
    FOR_ACTIVE_LANES(mask) rank_mask |= (u32)(cluster_rank_field(ea[l]) == first) << l;
    return rank_mask;
}

/* Counts sectors, as the network between SMs moves them, and wavefronts, for each block on its own;
 * of an atomic, the largest number of lanes on one word.
 * (An H100 counts no conflict if eight lanes write at one offset of eight blocks: long_rows and
 * threshold in grader/tests/gpu/counters-h100.tsv.) */
void ISAFN(lane_count_cluster)(struct exec *x, u32 stat, const u64 *ea, u32 mask, u32 span) {
    struct access_pattern *m = &x->pattern_cache[stat];
    u32 max_multiplicity = 0;
    ISAFN(pattern_count_scattered)(x->stats[stat], ea, mask, span);
    for (u32 remaining = mask, at; remaining; remaining &= ~at) {
        at = same_rank_lanes(ea, remaining);
        if (!update_pattern(m, ea, at, SPACE_SHARED, span)) continue;
        x->stats[stat][STAT_WAVEFRONTS] += m->wavefronts;
        x->stats[stat][STAT_MIN_WAVEFRONTS] += m->min_wavefronts;
        if (m->max_multiplicity > max_multiplicity) max_multiplicity = m->max_multiplicity;
    }
    x->stats[stat][STAT_SERIALIZED] += max_multiplicity;
}

u32 ISAFN(lane_split_remote)(const struct exec *x, u64 ea[32], u32 mask) {
    u32 remote_mask = 0;
    FOR_ACTIVE_LANES(mask) {
        if (cluster_is_remote(x, ea[l])) remote_mask |= 1u << l;
        else ea[l] = cluster_offset(ea[l]);
    }
    return remote_mask;
}

void ISAFN(lane_access_cluster)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                u32 own_stat, u32 remote_stat, u64 ea[32], u32 mask) {
    static const s32 zero_offsets[32];
    u32 remote_mask = ISAFN(lane_split_remote)(x, ea, mask);
    if (mask & ~remote_mask) ISAFN(lane_access_shared)(x, o, d, own_stat, ea, mask & ~remote_mask);
    if (!remote_mask) return;
    ISAFN(lane_count_cluster)(x, remote_stat, ea, remote_mask, access_span(d));
    TRACE(x, o, SPACE_CLUSTER, remote_stat, ea, remote_mask);
    FOR_ACTIVE_LANES(remote_mask) {
        unsigned char *p = ISAFN(lane_cluster_pointer)(x, o, d, l, ea[l]);
        if (p) ISAFN(lane_move)(x, d, p, zero_offsets, 1u << l, PATTERN_ANY);
    }
}

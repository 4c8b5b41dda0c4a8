/* slot_sharing.c — lets registers of a kernel share slots, where many of its blocks are resident
 * on one worker at once. decode.c calls it when the module is decoded.
 *
 * PTX has a register for each value, and the decoder a slot for each register. Blocks that may wait
 * for each other (interblock_dependent) are all in memory until they end: 1056 of 256 threads on an
 * H100, each with a frame for each warp. A frame of 800 registers has 100 KB, though no more than
 * 50 of them are alive at once.
 *
 * Theory of operation. A register is *live* where a path leads to a read of it without a write in
 * between; a write under a guard ends no live range, since lanes that it excludes keep the old
 * value. From this, by segment, follows each register's range: from the first op to the last one,
 * in the order of the code, at which it is live, read or written. Registers of the same size whose
 * ranges don't overlap share a slot, given out in the order of the ranges' starts (Poletto and
 * Sarkar, "Linear Scan Register Allocation", 1999). Ranges include both ends, so an op's results
 * never share a slot with its operands.
 *
 * Each lane follows a path of its own through the code, and writes only its own part of a slot. So
 * what holds for a thread holds for each lane of a diverged warp, wherever the other lanes are: a
 * lane that waits behind a loop for those still in it keeps its registers, as all code of the loop
 * is within the range of a register that is live behind it for a lane that enters it.
 *
 * Some registers keep a slot of their own, since a report reads them later: addresses of loads
 * and atomics in loops (core/livelock_report.c, core/spin_diagnosis.c), and what may count
 * iterations (core/livelock_counters.c). Kernels with instructions that operands.c doesn't know,
 * such as calls and matrix products, keep all slots; so do those that may run natively, where the
 * generator follows values by slot.
 *
 * The time model follows values by register, too. It reads the ops as they were before
 * (sim_module.unshared_ops). */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/operands.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Larger functions share nothing. */
    MAX_SLOTS = 1 << 14,
    MAX_LIVE_BITS = 1 << 25, /* slots times segments */
    MAX_COUNTER_PASSES = 64  /* then the registers not settled keep their slots */
};

/* Op indices, both included; last < first: the register is never used. */
struct live_range {
    u32 first, last, slot;
};

struct slot_sharing {
    struct sim_module *m;
    struct sim_func *c;
    const struct frame_slot *slots;
    u32 nslots, words;
    u32 *slot_at; /* by frame offset / 4: 1 + the slot that begins there; 0 = none */
    u32 first_segment, nsegments;
    u64 *live_in, *live_out; /* by segment, a bit for each slot */
    u64 *is_read, *is_written;
    struct live_range *ranges; /* by slot */
    u32 *new_offsets;          /* by slot */
    /* for visitors: the op's segment, its index, whether it is guarded, and the operands to see */
    u32 segment, op;
    bool is_guarded, sees_writes;
    bool has_unknown_operands;
};

/* ---- slots ---- */

static bool is_in_frame(ref r) { return r != REF_NONE && ref_base(r) == BASE_FRAME; }
static u32 slot_of(const struct slot_sharing *s, ref r) {
    return s->slot_at[ref_offset(r) / 4] - 1;
}

static void check_operand(void *user, ref *r, enum operand_use use) {
    struct slot_sharing *s = user;
    (void)use;
    if (is_in_frame(*r) && (ref_offset(*r) >= s->c->frame_bytes || !s->slot_at[ref_offset(*r) / 4]))
        s->has_unknown_operands = true;
}

/* Returns true if the op's table entry belongs to it alone, so that it is changed only once. */
static bool owns_table_entry(u8 *seen[OP_YIELD + 1], const struct op *o) {
    bool has_entry = code_is_access(o) || o->kind == OP_BAR || o->kind == OP_WARP_SYNC;
    return !has_entry || !seen[o->kind][o->aux]++;
}

/* Returns true if all operands of the function are slots that this file may move. */
static bool has_known_operands(struct slot_sharing *s) {
    struct sim_module *m = s->m;
    u8 *seen[OP_YIELD + 1] = {[OP_LANEWISE] = xcalloc(m->nmems + 1, 1),
                              [OP_BAR] = xcalloc(m->nbars + 1, 1),
                              [OP_WARP_SYNC] = xcalloc(m->nwarp_syncs + 1, 1)};
    for (u32 i = s->c->first_op; i < s->c->end_op && !s->has_unknown_operands; i++)
        s->has_unknown_operands |= !code_visit_operands(m, &m->ops[i], check_operand, s) ||
                                   !owns_table_entry(seen, &m->ops[i]);
    free(seen[OP_LANEWISE]), free(seen[OP_BAR]), free(seen[OP_WARP_SYNC]);
    return !s->has_unknown_operands;
}

/* ---- liveness ---- */

static const struct segment *segment_at(const struct slot_sharing *s, u32 i) {
    return &s->m->segments[s->first_segment + i];
}
static u64 *bits_of(const struct slot_sharing *s, u64 *sets, u32 segment) {
    return sets + (size_t)segment * s->words;
}

static void collect_operand(void *user, ref *r, enum operand_use use) {
    struct slot_sharing *s = user;
    if (!is_in_frame(*r) || s->sees_writes != (use == OPERAND_WRITE)) return;
    int slot = (int)slot_of(s, *r);
    u64 *is_written = bits_of(s, s->is_written, s->segment);
    if (use == OPERAND_WRITE && !s->is_guarded) decode_set_bit(is_written, slot);
    if (use != OPERAND_WRITE && !decode_has_bit(is_written, slot))
        decode_set_bit(bits_of(s, s->is_read, s->segment), slot);
}

/* Finds what each segment reads before it writes it, and what it writes in all lanes. */
static void collect_operands(struct slot_sharing *s) {
    for (s->segment = 0; s->segment < s->nsegments; s->segment++)
        for (u32 i = segment_at(s, s->segment)->first; i <= segment_at(s, s->segment)->last; i++) {
            struct op *o = &s->m->ops[i];
            s->is_guarded = code_is_guarded(o);
            s->sees_writes = false, code_visit_operands(s->m, o, collect_operand, s);
            s->sees_writes = true, code_visit_operands(s->m, o, collect_operand, s);
        }
}

static void add_live_in(struct slot_sharing *s, u64 *live, u32 op) {
    if (op >= s->c->end_op) return;
    u32 segment = s->m->segment_of[op] - s->first_segment;
    for (u32 w = 0; w < s->words; w++) live[w] |= bits_of(s, s->live_in, segment)[w];
}

/* Sets what is live behind a segment from what is live where its last op leads. */
static void update_live_out(struct slot_sharing *s, u32 segment) {
    const struct op *o = &s->m->ops[segment_at(s, segment)->last];
    u64 *live = bits_of(s, s->live_out, segment);
    bool is_exit = o->kind == OP_EXIT || o->kind == OP_RET || o->kind == OP_TRAP,
         is_jump = o->kind == OP_BRA || o->kind == OP_BRX;
    if (o->kind == OP_BRA) add_live_in(s, live, o->target);
    for (u32 i = 0; o->kind == OP_BRX && i < s->m->tables[o->aux].count; i++)
        add_live_in(s, live, s->m->tables[o->aux].targets[i]);
    if ((!is_exit && !is_jump) || code_is_guarded(o))
        add_live_in(s, live, segment_at(s, segment)->last + 1);
}

static bool update_live_in(struct slot_sharing *s, u32 segment) {
    u64 *in = bits_of(s, s->live_in, segment), changed = 0;
    for (u32 w = 0; w < s->words; w++) {
        u64 live = bits_of(s, s->is_read, segment)[w] |
                   (bits_of(s, s->live_out, segment)[w] & ~bits_of(s, s->is_written, segment)[w]);
        changed |= live ^ in[w];
        in[w] = live;
    }
    return changed != 0;
}

static void solve_liveness(struct slot_sharing *s) {
    collect_operands(s);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = s->nsegments; i--;) update_live_out(s, i), changed |= update_live_in(s, i);
    }
}

/* ---- ranges ---- */

static void extend_range(struct slot_sharing *s, u32 slot, u32 op) {
    struct live_range *r = &s->ranges[slot];
    if (op < r->first) r->first = op;
    if (op > r->last) r->last = op;
}

static void extend_to_op(void *user, ref *r, enum operand_use use) {
    struct slot_sharing *s = user;
    (void)use;
    if (is_in_frame(*r)) extend_range(s, slot_of(s, *r), s->op);
}

static void extend_live(struct slot_sharing *s, const u64 *live, u32 op) {
    for (u32 w = 0; w < s->words; w++)
        for (u64 bits = live[w]; bits; bits &= bits - 1)
            extend_range(s, w * 64 + (u32)__builtin_ctzll(bits), op);
}

static void find_ranges(struct slot_sharing *s) {
    for (u32 i = 0; i < s->nslots; i++) s->ranges[i] = (struct live_range){UINT32_MAX, 0, i};
    for (u32 i = 0; i < s->nsegments; i++) {
        extend_live(s, bits_of(s, s->live_in, i), segment_at(s, i)->first);
        extend_live(s, bits_of(s, s->live_out, i), segment_at(s, i)->last);
    }
    for (s->op = s->c->first_op; s->op < s->c->end_op; s->op++)
        code_visit_operands(s->m, &s->m->ops[s->op], extend_to_op, s);
}

/* ---- registers that keep a slot of their own ---- */

static void keep_slot(struct slot_sharing *s, u32 slot) {
    extend_range(s, slot, s->c->first_op);
    extend_range(s, slot, s->c->end_op - 1);
}

/* Adds the loop that a branch backwards closes; depth_changes[i]: loops that begin at op i, less
 * those that end before it. */
static void add_loop(const struct slot_sharing *s, int *depth_changes, u32 target, u32 branch) {
    if (target > branch) return;
    depth_changes[target - s->c->first_op]++;
    depth_changes[branch + 1 - s->c->first_op]--;
}

static void keep_addresses_in_loops(struct slot_sharing *s) {
    const struct sim_module *m = s->m;
    u32 first = s->c->first_op, end = s->c->end_op;
    int *depth_changes = xcalloc(end - first + 1, sizeof *depth_changes), depth = 0;
    for (u32 i = first; i < end; i++) {
        const struct op *o = &m->ops[i];
        if (o->kind == OP_BRA) add_loop(s, depth_changes, o->target, i);
        for (u32 k = 0; o->kind == OP_BRX && k < m->tables[o->aux].count; k++)
            add_loop(s, depth_changes, m->tables[o->aux].targets[k], i);
    }
    for (u32 i = first; i < end; i++) {
        const struct op *o = &m->ops[i];
        depth += depth_changes[i - first];
        if (depth && code_is_access(o) && is_in_frame(o->src[0]))
            keep_slot(s, slot_of(s, o->src[0]));
    }
    free(depth_changes);
}

/* open_writes: by slot, how many arithmetic ops that write it are not settled. */
static bool reads_open(const struct slot_sharing *s, const struct op *o, const u32 *open_writes) {
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++)
        if (is_in_frame(o->src[i]) && open_writes[slot_of(s, o->src[i])]) return true;
    return false;
}

/* Settles arithmetic whose operands are settled; returns false if there is none left. */
static bool settle_arithmetic(const struct slot_sharing *s, u32 *open_writes, u8 *is_settled) {
    bool changed = false;
    for (u32 i = s->c->first_op; i < s->c->end_op; i++) {
        const struct op *o = &s->m->ops[i];
        u8 *settled = &is_settled[i - s->c->first_op];
        if (*settled || !code_is_arithmetic(o) || reads_open(s, o, open_writes)) continue;
        *settled = changed = true;
        open_writes[slot_of(s, o->dst)]--;
    }
    return changed;
}

/* A counter is computed, by arithmetic alone, from itself or from another counter. What can't be
 * settled may count. */
static void keep_counters(struct slot_sharing *s) {
    u32 *open_writes = xcalloc(s->nslots, sizeof *open_writes);
    u8 *is_settled = xcalloc(s->c->end_op - s->c->first_op, 1);
    for (u32 i = s->c->first_op; i < s->c->end_op; i++)
        if (code_is_arithmetic(&s->m->ops[i])) open_writes[slot_of(s, s->m->ops[i].dst)]++;
    for (u32 pass = 0; pass < MAX_COUNTER_PASSES; pass++)
        if (!settle_arithmetic(s, open_writes, is_settled)) break;
    for (u32 i = 0; i < s->nslots; i++)
        if (open_writes[i]) keep_slot(s, i);
    free(open_writes), free(is_settled);
}

/* ---- the new frame ---- */

static int compare_ranges(const void *a, const void *b) {
    const struct live_range *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1)
                                : (x->slot > y->slot) - (x->slot < y->slot);
}

/* Gives the registers of one size their slots, from *frame_bytes on. `sorted`: by the ranges'
 * starts. */
static void place_size(struct slot_sharing *s, const struct live_range *sorted, u32 bytes,
                       u32 *frame_bytes) {
    u32 *last_use = xcalloc(s->nslots, sizeof *last_use), n = 0; /* by new slot */
    for (u32 i = 0; i < s->nslots; i++) {
        const struct live_range *r = &sorted[i];
        u32 k = 0;
        if (s->slots[r->slot].bytes != bytes || r->first > r->last) continue;
        while (k < n && last_use[k] >= r->first) k++;
        if (k == n) n++;
        last_use[k] = r->last;
        s->new_offsets[r->slot] = *frame_bytes + k * bytes;
    }
    *frame_bytes += n * bytes;
    free(last_use);
}

/* Places all registers; the large ones come first, so each is aligned. Returns the frame's size. */
static u32 place_slots(struct slot_sharing *s) {
    struct live_range *sorted = xcalloc(s->nslots, sizeof *sorted);
    u32 frame_bytes = 0;
    memcpy(sorted, s->ranges, s->nslots * sizeof *sorted);
    qsort(sorted, s->nslots, sizeof *sorted, compare_ranges);
    for (u32 lane_bytes = 16; lane_bytes; lane_bytes /= 2)
        place_size(s, sorted, decode_slot_bytes(lane_bytes), &frame_bytes);
    free(sorted);
    return (frame_bytes + 63) & ~63u;
}

static void move_operand(void *user, ref *r, enum operand_use use) {
    struct slot_sharing *s = user;
    (void)use;
    if (is_in_frame(*r)) *r = REF(BASE_FRAME, s->new_offsets[slot_of(s, *r)]);
}

/* Keeps the ops and their tables as they are for the time model. */
static void save_unshared(struct sim_module *m) {
    if (m->unshared_ops != m->ops) return;
    struct op *ops = arena_array(&m->arena, struct op, m->nops);
    struct mem_desc *mems = arena_array(&m->arena, struct mem_desc, m->nmems);
    struct warp_sync_desc *warp_syncs =
        arena_array(&m->arena, struct warp_sync_desc, m->nwarp_syncs);
    if (m->nops) memcpy(ops, m->ops, m->nops * sizeof *ops);
    if (m->nmems) memcpy(mems, m->mems, m->nmems * sizeof *mems);
    if (m->nwarp_syncs) memcpy(warp_syncs, m->warp_syncs, m->nwarp_syncs * sizeof *warp_syncs);
    m->unshared_ops = ops, m->unshared_mems = mems, m->unshared_warp_syncs = warp_syncs;
}

static void move_operands(struct slot_sharing *s) {
    struct sim_func *c = s->c;
    u32 n = 0;
    save_unshared(s->m);
    for (u32 i = 0; i < c->nzero_ranges; i++) {
        u32 slot = s->slot_at[c->zero_ranges[i].offset / 4] - 1;
        if (s->ranges[slot].first > s->ranges[slot].last) continue;
        c->zero_ranges[n] = c->zero_ranges[i];
        c->zero_ranges[n++].offset = s->new_offsets[slot];
    }
    c->nzero_ranges = n;
    for (u32 i = c->first_op; i < c->end_op; i++)
        code_visit_operands(s->m, &s->m->ops[i], move_operand, s);
}

/* ---- a function ---- */

static void share(struct slot_sharing *s) {
    size_t words = (size_t)s->nsegments * s->words;
    s->live_in = xcalloc(4 * words, sizeof *s->live_in);
    s->live_out = s->live_in + words, s->is_read = s->live_out + words;
    s->is_written = s->is_read + words;
    s->ranges = xcalloc(s->nslots, sizeof *s->ranges);
    s->new_offsets = xcalloc(s->nslots, sizeof *s->new_offsets);
    solve_liveness(s);
    find_ranges(s);
    keep_addresses_in_loops(s);
    keep_counters(s);
    u32 frame_bytes = place_slots(s);
    move_operands(s);
    s->c->frame_bytes = frame_bytes;
    free(s->live_in), free(s->ranges), free(s->new_offsets);
}

void decode_share_slots(struct sim_module *m, struct sim_func *c, const struct frame_slot *slots,
                        u32 nslots) {
    struct slot_sharing s = {.m = m, .c = c, .slots = slots, .nslots = nslots};
    bool has_many_blocks = c->func->is_entry && c->interblock_dependent;
    if (!has_many_blocks || !nslots || nslots > MAX_SLOTS || m->options->native != SIM_NATIVE_NEVER)
        return;
    s.words = (nslots + 63) / 64;
    s.first_segment = m->segment_of[c->first_op];
    while (segment_at(&s, s.nsegments)->last + 1 < c->end_op) s.nsegments++;
    s.nsegments++;
    if ((u64)s.nsegments * s.words > MAX_LIVE_BITS / 64) return;
    s.slot_at = xcalloc(c->frame_bytes / 4 + 1, sizeof *s.slot_at);
    for (u32 i = 0; i < nslots; i++) s.slot_at[slots[i].offset / 4] = i + 1;
    if (has_known_operands(&s)) share(&s);
    free(s.slot_at);
}

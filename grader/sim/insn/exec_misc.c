/* exec_misc.c — executes address space conversions, clocks, fences, video instructions and
 * alloca. */
#include "grader/sim/insn/exec.h"
#include "grader/sim/insn/exec_values.h"
#include "grader/sim/code/async.h"
#include "grader/sim/code/video.h"
#include "grader/sim/core/cluster.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/race.h"
#include "grader/sim/race/vector_clock.h"

#include <string.h>

/* cvta: dst = src + imm, where imm is the window's base (negative for cvta.to). 32-bit sources are
 * widened. */
void ISAFN(op_cvta)(struct exec *x, const struct op *o, u32 mask) {
    u64 *D = operand_at(x, o->dst);
    const u64 *A = operand_at(x, o->src[0]);
    u64 base = (u64)o->imm;
    STORE_LANES(D, mask, A[l] + base);
}

/* isspacep: aux is the mem_space to test for. */
void ISAFN(op_isspacep)(struct exec *x, const struct op *o, u32 mask) {
    const u64 *A = operand_at(x, o->src[0]);
    static const u64 window[] = {[SPACE_SHARED] = SHARED_WINDOW,
                                 [SPACE_CLUSTER] = SHARED_WINDOW,
                                 [SPACE_LOCAL] = LOCAL_WINDOW,
                                 [SPACE_PARAM] = PARAM_WINDOW};
    bool global = o->aux == SPACE_GLOBAL || o->aux == SPACE_CONST;
    u64 base = global ? SIM_BASE : window[o->aux], bytes = global ? SIM_SPAN : WINDOW_BYTES;
    u32 bits = 0, *D = operand_at(x, o->dst);
    FOR_LANES bits |= A[l] - base < bytes ? 1u << l : 0;
    if (x->cluster && o->aux == SPACE_SHARED) FOR_ACTIVE_LANES(bits & mask) {
            if (cluster_is_remote(x, A[l] - base)) bits &= ~(1u << l);
        }
    *D = (*D & ~mask) | (bits & mask);
}

/* Returns the lanes that find themselves alone with each other: half of those that execute together
 * in divergent code, where nothing promises that they stay together; 0 unless asked for. */
static u32 active_mask_half(const struct exec *x, u32 mask) {
    const struct launch *l = x->worker->launch;
    u32 half = mask, count = (u32)__builtin_popcount(mask);
    if (!(l->sim->options.split_active_masks || l->adversarial_schedule) || count < 2 ||
        mask == x->warp->live_lanes)
        return 0;
    for (u32 i = 0; i < count / 2; i++) half &= half - 1;
    return half;
}

void ISAFN(op_activemask)(struct exec *x, const struct op *o, u32 mask) {
    u32 *D = operand_at(x, o->dst), half = active_mask_half(x, mask);
    FOR_ACTIVE_LANES(mask) D[l] = half >> l & 1 ? half : mask & ~half;
    if (!half) return;
    core_fault(x, SIM_NOTE_ACTIVE_MASK, o, (u32)__builtin_ctz(mask), mask,
               "calls __activemask() in divergent code: lanes 0x%08x got 0x%08x here, and lanes "
               "0x%08x the rest, as may happen on a GPU. It is no vote: name the lanes by "
               "__ballot_sync() before the branch",
               half, half, mask & ~half);
}

/* Clocks count the instructions that this warp has executed: deterministic and monotonic. imm:
 * bytes of the register. */
void ISAFN(op_clock)(struct exec *x, const struct op *o, u32 mask) {
    struct worker *k = x->worker;
    u64 clock_value = k->launch->sim->clock_cycles + x->warp->warp_insns;
    if (clock_value > k->last_clock) k->last_clock = clock_value;
    if (o->imm == 8) {
        u64 *D = operand_at(x, o->dst);
        STORE_LANES(D, mask, clock_value);
    } else {
        u32 *D = operand_at(x, o->dst), low = (u32)clock_value;
        STORE_LANES(D, mask, low);
    }
}

/* A fence needs no work on memory: one worker runs a block's warps in turn, and dependent blocks in
 * turn, so memory is always in order. */
static void fence(struct exec *x, const struct op *o, u32 mask) {
    x->warp->fenced_lanes |= mask;
    if (x->sanitize && o->imm != FENCE_PROXY_ASYNC) race_block_fence(x);
    x->warp->fence_count += o->imm == FENCE_GPU_SCOPE;
    if (x->tracks_happens_before && o->imm == FENCE_GPU_SCOPE) race_hb_fence(x, mask);
    if (x->sanitize && o->imm == FENCE_PROXY_ASYNC) race_proxy_fence(x, mask);
}
void ISAFN(op_membar)(struct exec *x, const struct op *o, u32 mask) { fence(x, o, mask); }
void ISAFN(op_fence)(struct exec *x, const struct op *o, u32 mask) { fence(x, o, mask); }
void ISAFN(op_nop)(struct exec *x, const struct op *o, u32 mask) { (void)x, (void)o, (void)mask; }

/* Computes the address of a local variable: imm, plus the start of the running function's local
 * memory. */
void ISAFN(op_localaddr)(struct exec *x, const struct op *o, u32 mask) {
    u64 *D = operand_at(x, o->dst), v = x->local_base + (u64)o->imm;
    STORE_LANES(D, mask, v);
}

/* ---- video instructions ---- */

static inline s32 video_part(u32 v, u32 k, u32 width, bool is_signed) {
    u32 up = v << (32 - width * (k + 1));
    return is_signed ? (s32)up >> (32 - width) : (s32)(up >> (32 - width));
}

static inline bool compare_video_parts(u8 comparison, s32 a, s32 b) {
    switch (comparison) {
    case VIDEO_EQ: return a == b;
    case VIDEO_NE: return a != b;
    case VIDEO_LT: return a < b;
    case VIDEO_LE: return a <= b;
    case VIDEO_GT: return a > b;
    default: return a >= b;
    }
}

static inline s32 combine_video_parts(const struct video_op *v, s32 a, s32 b) {
    switch (v->verb) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_AVRG: return (a + b + (a + b >= 0)) >> 1; /* rounds away from zero */
    case VIDEO_ABSDIFF: return a < b ? b - a : a - b;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    default: return compare_video_parts(v->comparison, a, b);
    }
}

static u32 video_lane(const struct video_op *v, u32 a, u32 b, u32 c) {
    u32 width = 32 / v->parts, d = 0, sum = c, low = (1u << width) - 1;
    s32 min_value = v->signed_d ? -(s32)(low / 2 + 1) : 0,
        max_value = v->signed_d ? (s32)(low / 2) : (s32)low;
    for (u32 k = 0; k < v->parts; k++) {
        s32 r = combine_video_parts(v, video_part(a, k, width, v->signed_a),
                                    video_part(b, k, width, v->signed_b));
        if (v->saturate) r = r < min_value ? min_value : r > max_value ? max_value : r;
        d |= ((u32)r & low) << width * k;
        sum += (u32)r;
    }
    return v->sum ? sum : d;
}

void ISAFN(op_video)(struct exec *x, const struct op *o, u32 mask) {
    u32 *D = operand_at(x, o->dst);
    const u32 *A = operand_at(x, o->src[0]), *B = operand_at(x, o->src[1]),
              *C = operand_at(x, o->src[2]);
    struct video_op v;
    memcpy(&v, &o->imm, sizeof v);
    for (int l = 0; l < 32; l++) D[l] = mask >> l & 1 ? video_lane(&v, A[l], B[l], C[l]) : D[l];
}

/* ---- alloca: imm is the alignment ---- */

static void mark_uninitialized(struct exec *x, u64 from, u32 n, u32 lane) {
    for (u64 at = from; at < from + n; at++)
        x->warp->local_written[(at / 4 * 32 + lane) * 4 + at % 4] = 0;
}

void ISAFN(op_alloca)(struct exec *x, const struct op *o, u32 mask) {
    u64 *D = operand_at(x, o->dst);
    const u32 *bytes = operand_at(x, o->src[0]);
    u32 *used = (u32 *)(x->warp->special_regs + W_STACK_BYTES * SLOT_BYTES);
    FOR_ACTIVE_LANES(mask) {
        u32 from = (used[l] + (u32)o->imm - 1) & ~((u32)o->imm - 1);
        if (from > ALLOCA_BYTES || bytes[l] > ALLOCA_BYTES - from) {
            core_fault(x, SIM_FAULT_STACK_OVERFLOW, o, l, bytes[l],
                       "allocates %u bytes with alloca, but a thread's stack has %u bytes, %u of "
                       "them in use",
                       bytes[l], ALLOCA_BYTES, used[l]);
            continue;
        }
        used[l] = from + bytes[l];
        D[l] = x->local_bytes - ALLOCA_BYTES + from;
        if (x->sanitize) mark_uninitialized(x, D[l], bytes[l], l);
    }
}

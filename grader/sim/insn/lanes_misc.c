/* lanes_misc.c — address space conversions, clocks, fences, and the other odd ones. */
#include "grader/sim/insn/lanes.h"

/* cvta: dst = src + imm, where imm is the window's base (negative for cvta.to). 32-bit sources are widened. */
void ISAFN(op_cvta)(struct exec *x, const struct op *o, u32 mask) {
    u64 *D = at(x, o->dst);
    const u64 *A = at(x, o->src[0]);
    u64 base = (u64)o->imm;
    STORE_LANES(D, mask, A[l] + base);
}

/* isspacep: aux is the mem_space asked for. */
void ISAFN(op_isspacep)(struct exec *x, const struct op *o, u32 mask) {
    const u64 *A = at(x, o->src[0]);
    static const u64 window[] = {[SPACE_SHARED] = SHARED_WINDOW, [SPACE_LOCAL] = LOCAL_WINDOW, [SPACE_PARAM] = PARAM_WINDOW};
    bool global = o->aux == SPACE_GLOBAL || o->aux == SPACE_CONST;
    u64 base = global ? SIM_BASE : window[o->aux], bytes = global ? SIM_SPAN : WINDOW_BYTES;
    u32 bits = 0, *D = at(x, o->dst);
    LANES bits |= A[l] - base < bytes ? 1u << l : 0;
    *D = (*D & ~mask) | (bits & mask);
}

void ISAFN(op_activemask)(struct exec *x, const struct op *o, u32 mask) {
    u32 *D = at(x, o->dst), active = mask;
    STORE_LANES(D, mask, active);
}

/* Clocks count what this warp has executed so far: deterministic and monotonic. imm: bytes of the register. */
void ISAFN(op_clock)(struct exec *x, const struct op *o, u32 mask) {
    u64 now = x->warp->executed;
    if (o->imm == 8) {
        u64 *D = at(x, o->dst);
        STORE_LANES(D, mask, now);
    } else {
        u32 *D = at(x, o->dst), low = (u32)now;
        STORE_LANES(D, mask, low);
    }
}

/* One worker runs a block's warps in turn, and communicating blocks in turn too: memory is always in order. */
void ISAFN(op_membar)(struct exec *x, const struct op *o, u32 mask) { (void)x, (void)o, (void)mask; }
void ISAFN(op_fence)(struct exec *x, const struct op *o, u32 mask) { (void)x, (void)o, (void)mask; }
void ISAFN(op_nop)(struct exec *x, const struct op *o, u32 mask) { (void)x, (void)o, (void)mask; }

/* Offset of a local variable in the thread's local memory: imm, plus where the running function's begins. */
void ISAFN(op_localaddr)(struct exec *x, const struct op *o, u32 mask) {
    u64 *D = at(x, o->dst), v = x->local_base + (u64)o->imm;
    STORE_LANES(D, mask, v);
}

/* exec_opcodes.h — the macros that turn a row of the instruction table into a lane function. An
 * exec_*.c includes this, then the opcodes_*.def of its families. opcodes.def lists the macros'
 * arguments. */
#pragma once
#include "grader/sim/insn/exec.h"
#include "grader/sim/insn/exec_values.h"

/* ---- storage: 8-bit values live in 16-bit registers ---- */

typedef u16 st_u8;
typedef u16 st_s8;
typedef u16 st_u16;
typedef s16 st_s16;
typedef u32 st_u32;
typedef s32 st_s32;
typedef u64 st_u64;
typedef s64 st_s64;
typedef f32 st_f32;
typedef f64 st_f64;
#define WIDEN_u8 (u16)
#define WIDEN_s8 (u16)(s16)
#define WIDEN_u16
#define WIDEN_s16
#define WIDEN_u32
#define WIDEN_s32
#define WIDEN_u64
#define WIDEN_s64
#define WIDEN_f32
#define WIDEN_f64

static inline void clamp_f32(struct exec *x, const struct op *o, u32 mask) {
    f32 *D = operand_at(x, o->dst);
    STORE_LANES(D, mask, D[l] > 0.0f ? (D[l] < 1.0f ? D[l] : 1.0f) : 0.0f); /* NaN becomes +0 */
}

/* Only the f32 rows accept .sat; for the others the compiler removes the test. */
#define SAT_STEP(mods) \
    if ((mods)&MOD_SAT && o->flags & OPF_SAT) clamp_f32(x, o, mask)

#define SRC(i, T)    const st_##T *P##i = operand_at(x, o->src[i])
#define ARG(n, i, T) T n = (T)P##i[l]
/* If some lanes are inactive, all lanes are computed beside the register and the active ones are
 * copied in. Expressions are total, so this is harmless, and it leaves the compiler no branch to
 * convert. */
#ifndef HAS_COSTLY_EXPRESSIONS
#define LOOP(TD, ARGS, expr)                                   \
    if (mask == ~0u) {                                         \
        FOR_LANES {                                            \
            ARGS;                                              \
            D[l] = WIDEN_##TD(TD)(expr);                       \
        }                                                      \
    } else {                                                   \
        st_##TD computed[32];                                  \
        FOR_LANES {                                            \
            ARGS;                                              \
            computed[l] = WIDEN_##TD(TD)(expr);                \
        }                                                      \
        FOR_LANES D[l] = (mask >> l & 1) ? computed[l] : D[l]; \
    }
#else /* One loop serves both cases: less to compile, but full warps pay for the choice. */
#define LOOP(TD, ARGS, expr)                                     \
    st_##TD computed[32], *results = mask == ~0u ? D : computed; \
    FOR_LANES {                                                  \
        ARGS;                                                    \
        results[l] = WIDEN_##TD(TD)(expr);                       \
    }                                                            \
    if (mask != ~0u) {                                           \
        FOR_LANES D[l] = (mask >> l & 1) ? computed[l] : D[l];   \
    }
#endif
#define PTX_HEADER(id, TD)                                               \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) { \
        st_##TD *D = operand_at(x, o->dst);                              \
        const u32 env = o->env;                                          \
        (void)env
#define TAIL(mods)  \
    SAT_STEP(mods); \
    }

#define R1(id, name, mods, pipe, flops, TD, TA, expr) \
    PTX_HEADER(id, TD);                               \
    SRC(0, TA);                                       \
    LOOP(TD, ARG(a, 0, TA), expr) TAIL(mods)
#define R2(id, name, mods, pipe, flops, TD, TA, TB, expr) \
    PTX_HEADER(id, TD);                                   \
    SRC(0, TA);                                           \
    SRC(1, TB);                                           \
    LOOP(TD, ARG(a, 0, TA); ARG(b, 1, TB), expr) TAIL(mods)
#define R3(id, name, mods, pipe, flops, TD, TA, TB, TC, expr) \
    PTX_HEADER(id, TD);                                       \
    SRC(0, TA);                                               \
    SRC(1, TB);                                               \
    SRC(2, TC);                                               \
    LOOP(TD, ARG(a, 0, TA); ARG(b, 1, TB); ARG(c, 2, TC), expr) TAIL(mods)
#define R4(id, name, mods, pipe, flops, TD, TA, TB, TC, TE, expr) \
    PTX_HEADER(id, TD);                                           \
    SRC(0, TA);                                                   \
    SRC(1, TB);                                                   \
    SRC(2, TC);                                                   \
    SRC(3, TE);                                                   \
    LOOP(TD, ARG(a, 0, TA); ARG(b, 1, TB); ARG(c, 2, TC); ARG(e, 3, TE), expr) TAIL(mods)

/* setp p|q, a, b, c: p = (a cmp b) op c, q = !(a cmp b) op c. aux: 0 none, 1 and, 2 or, 3 xor; imm
 * flips c; src[3] is q. */
static inline u32 combine_predicates(u32 v, u32 logic_op, u32 c) {
    return logic_op == 1 ? v & c : logic_op == 2 ? v | c : logic_op == 3 ? v ^ c : v;
}
static inline void store_predicate(struct exec *x, ref r, u32 value, u32 mask) {
    u32 *D = operand_at(x, r);
    *D = (*D & ~mask) | (value & mask);
}
static inline void store_setp_results(struct exec *x, const struct op *o, u32 p, u32 q, u32 mask) {
    u32 c = o->aux ? mask_at(x, o->src[2]) ^ (u32)o->imm : 0;
    store_predicate(x, o->dst, combine_predicates(p, o->aux, c), mask);
    if (o->src[3] != REF_NONE)
        store_predicate(x, o->src[3], combine_predicates(q, o->aux, c), mask);
}
#define RP(id, name, mods, pipe, TA, TB, expr)                           \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) { \
        SRC(0, TA);                                                      \
        SRC(1, TB);                                                      \
        u32 bits = 0;                                                    \
        FOR_LANES {                                                      \
            ARG(a, 0, TA);                                               \
            ARG(b, 1, TB);                                               \
            bits |= (expr) ? 1u << l : 0;                                \
        }                                                                \
        store_setp_results(x, o, bits, ~bits, mask);                     \
    }
/* setp of two halves: p from the low ones, q from the high ones. */
#define RP2(id, name, mods, pipe, compare)                                               \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) {                 \
        SRC(0, u32);                                                                     \
        SRC(1, u32);                                                                     \
        u32 low = 0, high = 0;                                                           \
        FOR_LANES low |= compare((u16)P0[l], (u16)P1[l]) ? 1u << l : 0;                  \
        FOR_LANES high |= compare((u16)(P0[l] >> 16), (u16)(P1[l] >> 16)) ? 1u << l : 0; \
        store_setp_results(x, o, low, high, mask);                                       \
    }
#define RT(id, name, pipe, TA, expr)                                     \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) { \
        SRC(0, TA);                                                      \
        u32 bits = 0;                                                    \
        FOR_LANES {                                                      \
            ARG(a, 0, TA);                                               \
            bits |= (expr) ? 1u << l : 0;                                \
        }                                                                \
        store_predicate(x, o->dst, bits, mask);                          \
    }
#define RM(id, name, nsrc, expr)                                            \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) {    \
        u32 a = mask_at(x, o->src[0]) ^ (u32)o->imm,                        \
            b = nsrc > 1 ? mask_at(x, o->src[1]) ^ (u32)(o->imm >> 32) : 0; \
        (void)b;                                                            \
        store_predicate(x, o->dst, expr, mask);                             \
    }
#define RS(id, name, T)                                                  \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) { \
        T *D = operand_at(x, o->dst);                                    \
        SRC(0, T);                                                       \
        SRC(1, T);                                                       \
        u32 p = mask_at(x, o->src[2]) ^ (u32)o->imm;                     \
        STORE_LANES(D, mask, p >> l & 1 ? P0[l] : P1[l]);                \
    }
/* The carry flag is a predicate of its own: src[3]. `k` is the carry in; bit `bits` of the sum is
 * the carry out. */
#define RC(id, name, pipe, takes, gives, T, W, bits, expr)               \
    void ISAFN(op_##id)(struct exec * x, const struct op *o, u32 mask) { \
        st_##T *D = operand_at(x, o->dst);                               \
        SRC(0, T);                                                       \
        SRC(1, T);                                                       \
        SRC(2, T);                                                       \
        u32 in = takes ? mask_at(x, o->src[3]) : 0, out = 0;             \
        for (int l = 0; l < 32; l++) {                                   \
            ARG(a, 0, T);                                                \
            ARG(b, 1, T);                                                \
            ARG(c, 2, T);                                                \
            W k = in >> l & 1, sum = expr;                               \
            (void)c;                                                     \
            D[l] = (mask >> l & 1) ? (T)sum : D[l];                      \
            out |= (u32)(sum >> bits & 1) << l;                          \
        }                                                                \
        if (gives) store_predicate(x, o->src[3], out, mask);             \
    }
#define RL(id, name, pipe, text)
#define RX(id, name, kind, pipe, text)
#define RD(id, name, text)

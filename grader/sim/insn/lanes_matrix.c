/* lanes_matrix.c — matrix instructions. See matrix.h.
 *
 * Products of halves and smaller formats are exact; they are summed in f64, the accumulator first, and rounded once. The
 * manual leaves the order and the rounding of the sum open. f64 goes by fused multiply-adds in the order of k. */
#include "grader/sim/insn/lanes.h"
#include "grader/sim/insn/lanes_half.h"
#include "grader/sim/code/matrix.h"
#include "grader/sim/core/taint.h"

#include <string.h>

enum { MOST_A = 32 * 256, MOST_C = 256 };

/* Row and column of element `e` of register `reg` of a lane. */
static void place_of(const struct matrix_desc *m, u32 which, u32 lane, u32 reg, u32 e, u32 *row, u32 *column) {
    const struct matrix_operand *p = &m->of[which];
    u32 bits = decode_matrix_types[p->type].bits, per = bits >= 32 ? 1 : 32 / bits, group = lane / 4, in = lane % 4,
        i = reg * per + e;
    if (!m->direct) {
        u32 rows = which == MATRIX_B ? m->k : m->m, columns = which == MATRIX_A ? m->k : m->n,
            unit = which < MATRIX_C ? per : 2, lines = p->row_major ? rows : columns;
        struct matrix_grid g = matrix_grid_of(lines, rows * columns / lines / unit);
        u32 line = matrix_line(g, lane, i / unit % g.each),
            minor = matrix_unit(g, lane, i / unit % g.each) * unit + i % unit;
        *row = p->row_major ? line : minor;
        *column = p->row_major ? minor : line;
    } else if (which == MATRIX_A) {
        u32 block = m->m == 16 ? reg >> 1 : reg;
        *row = group + (m->m == 16 ? 8 * (reg & 1) : 0);
        *column = in * per + e + 4 * per * block;
    } else if (which == MATRIX_B) {
        *row = in * per + e + 4 * per * reg;
        *column = group;
    } else {
        *row = group + 8 * (i >> 1);
        *column = in * 2 + (i & 1);
    }
}

static u64 element_bits(const struct exec *x, const struct matrix_operand *p, u32 lane, u32 reg, u32 e) {
    u32 bits = decode_matrix_types[p->type].bits;
    if (bits == 64) return ((const u64 *)operand_at(x, p->reg[reg]))[lane];
    u32 word = ((const u32 *)operand_at(x, p->reg[reg]))[lane];
    return bits == 32 ? word : word >> bits * e & ((1u << bits) - 1);
}

static f64 number_of(u8 type, u64 v) {
    switch ((enum matrix_type)type) {
    case MATRIX_F16: return f32_of_f16((u16)v);
    case MATRIX_BF16: return f32_of_bf16((u16)v);
    case MATRIX_TF32: return f32_of((u32)v & ~0x1fffu);
    case MATRIX_E4M3: return f32_of_f16(f16_of_e4m3((u32)v));
    case MATRIX_E5M2: return f32_of_f16(f16_of_e5m2((u32)v));
    case MATRIX_F64: return f64_of(v);
    default: return f32_of((u32)v);
    }
}

static s32 integer_of(u8 type, u64 v) {
    switch ((enum matrix_type)type) {
    case MATRIX_S8: return (s8)v;
    case MATRIX_S4: return (s32)((u32)v << 28) >> 28;
    default: return (s32)v;
    }
}

/* A matrix out of the lanes' registers, row by row. */
#define GATHER(name, T, value_of)                                                                         \
    static void name(const struct exec *x, const struct matrix_desc *m, u32 which, u32 columns, T *out) { \
        const struct matrix_operand *p = &m->of[which];                                                   \
        u32 bits = decode_matrix_types[p->type].bits, per = bits >= 32 ? 1 : 32 / bits, row, column;      \
        for (u32 lane = 0; lane < 32; lane++)                                                             \
            for (u32 reg = 0; reg < p->count; reg++)                                                      \
                for (u32 e = 0; e < per; e++) {                                                           \
                    place_of(m, which, lane, reg, e, &row, &column);                                      \
                    out[row * columns + column] = value_of(p->type, element_bits(x, p, lane, reg, e));    \
                }                                                                                         \
    }
GATHER(gather_numbers, f64, number_of)
GATHER(gather_integers, s32, integer_of)
static u8 any_bit(u8 type, u64 v) { return (void)type, v != 0; }
GATHER(gather_taint, u8, any_bit)
#undef GATHER

static void put_element(const struct exec *x, const struct matrix_operand *p, u32 lane, u32 reg, u32 e, f64 number,
                        s32 integer) {
    u32 *word = (u32 *)operand_at(x, p->reg[reg]) + lane;
    switch ((enum matrix_type)p->type) {
    case MATRIX_F64: ((u64 *)operand_at(x, p->reg[reg]))[lane] = bits64_of(number); break;
    case MATRIX_F32: *word = bits_of(canonical((f32)number)); break;
    case MATRIX_F16: {
        u32 half = f16_of_f32(odd_f32(number));
        *word = (*word & 0xffffu << 16 * (1 - e)) | half << 16 * e;
        break;
    }
    default: *word = (u32)integer;
    }
}

static void scatter(const struct exec *x, const struct matrix_desc *m, const f64 *numbers, const s32 *integers) {
    const struct matrix_operand *p = &m->of[MATRIX_D];
    u32 per = p->type == MATRIX_F16 ? 2 : 1, row, column;
    for (u32 lane = 0; lane < 32; lane++)
        for (u32 reg = 0; reg < p->count; reg++)
            for (u32 e = 0; e < per; e++) {
                place_of(m, MATRIX_D, lane, reg, e, &row, &column);
                u32 i = row * m->n + column;
                put_element(x, p, lane, reg, e, numbers ? numbers[i] : 0, integers ? integers[i] : 0);
            }
}

static void multiply_numbers(struct exec *x, const struct matrix_desc *m) {
    f64 a[512], b[512], c[MOST_C];
    gather_numbers(x, m, MATRIX_A, m->k, a);
    gather_numbers(x, m, MATRIX_B, m->n, b);
    gather_numbers(x, m, MATRIX_C, m->n, c);
    bool fused = m->of[MATRIX_A].type == MATRIX_F64;
    for (u32 row = 0; row < m->m; row++)
        for (u32 k = 0; k < m->k; k++) {
            f64 v = a[row * m->k + k], *sum = c + row * m->n;
            const f64 *other = b + k * m->n;
            if (fused)
                for (u32 n = 0; n < m->n; n++) sum[n] = FMA_f64(v, other[n], sum[n]);
            else
                for (u32 n = 0; n < m->n; n++) sum[n] += v * other[n];
        }
    scatter(x, m, c, NULL);
}

static s32 dot(const struct matrix_desc *m, const s32 *a, const s32 *b, s32 c) {
    s64 sum = c;
    for (u32 k = 0; k < m->k; k++) {
        s32 v = a[k], w = b[k * m->n];
        sum += m->combine == MATRIX_XOR ? v ^ w : m->combine == MATRIX_AND ? v & w : (s64)v * w;
    }
    return m->saturate ? saturate_s32(sum) : (s32)(u32)(u64)sum;
}

static void multiply_integers(struct exec *x, const struct matrix_desc *m) {
    s32 a[MOST_A], b[MOST_A], c[MOST_C], d[MOST_C];
    gather_integers(x, m, MATRIX_A, m->k, a);
    gather_integers(x, m, MATRIX_B, m->n, b);
    gather_integers(x, m, MATRIX_C, m->n, c);
    for (u32 row = 0; row < m->m; row++)
        for (u32 n = 0; n < m->n; n++) d[row * m->n + n] = dot(m, a + row * m->k, b + n, c[row * m->n + n]);
    scatter(x, m, NULL, d);
}

/* ---- undefined elements (core/taint.h): those of a row of a, of a column of b, or of c make those of d ---- */

/* A matrix whose registers can be looked at in the shadow; *origin: of what is undefined in one of [from, to). */
static struct matrix_desc in_shadow(const struct exec *x, const struct matrix_desc *m, u32 from, u32 to, u8 *origin) {
    struct matrix_desc moved = *m;
    *origin = 0;
    for (u32 which = from; which < to; which++)
        for (u32 reg = 0; reg < m->of[which].count; reg++) {
            ref r = m->of[which].reg[reg];
            if (!*origin) *origin = taint_ref(x, r);
            moved.of[which].reg[reg] = taint_source(r);
        }
    return moved;
}

static void taint_elements(struct exec *x, const struct matrix_desc *m, u8 *d) {
    static _Thread_local u8 a[MOST_A], b[MOST_A];
    struct taint_bases saved = taint_enter(x);
    gather_taint(x, m, MATRIX_A, m->k, a);
    gather_taint(x, m, MATRIX_B, m->n, b);
    gather_taint(x, m, MATRIX_C, m->n, d);
    taint_leave(x, &saved);
    for (u32 row = 0; row < m->m; row++)
        for (u32 k = 0; k < m->k; k++)
            for (u32 n = 0; n < m->n; n++) d[row * m->n + n] |= a[row * m->k + k] | b[k * m->n + n];
}

static void taint_product(struct exec *x, const struct matrix_desc *m) {
    u8 origin, d[MOST_C] = {0};
    struct matrix_desc moved = in_shadow(x, m, MATRIX_A, MATRIX_D, &origin);
    const struct matrix_operand *p = &m->of[MATRIX_D];
    u32 per = p->type == MATRIX_F16 ? 2 : 1, row, column;
    if (origin) taint_elements(x, &moved, d);
    for (u32 reg = 0; reg < p->count; reg++) {
        u64 bits[32] = {0};
        for (u32 lane = 0; lane < 32; lane++)
            for (u32 e = 0; e < per; e++) {
                place_of(m, MATRIX_D, lane, reg, e, &row, &column);
                bits[lane] |= !d[row * m->n + column] ? 0 : per == 2 ? 0xffffull << 16 * e : ~0ull;
            }
        taint_set(x, p->reg[reg], p->type == MATRIX_F64 ? 8 : 4, ~0u, bits, origin);
    }
}

/* False, with a report, where lanes are missing. */
static bool whole_warp(struct exec *x, const struct op *o, u32 mask) {
    if (mask != ~0u)
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(mask), mask,
                   "is one of %d lanes that execute a matrix instruction, which needs all 32",
                   __builtin_popcount(mask));
    return mask == ~0u;
}

static const struct matrix_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->matrices[o->aux];
}

void ISAFN(op_mma)(struct exec *x, const struct op *o, u32 mask) {
    const struct matrix_desc *m = desc_of(x, o);
    if (!whole_warp(x, o, mask)) return;
    core_charge(x->worker->launch, (u64)m->m * m->n * m->k / 32); /* 4 ns a product of two numbers */
    if (x->warp->ntainted) taint_product(x, m);
    if (decode_matrix_types[m->of[MATRIX_A].type].is_float) multiply_numbers(x, m);
    else multiply_integers(x, m);
}

void ISAFN(op_matrixaddress)(struct exec *x, const struct op *o, u32 mask) {
    struct matrix_address a;
    memcpy(&a, &o->imm, sizeof a);
    u64 *D = operand_at(x, o->dst);
    const u64 *base = operand_at(x, o->src[0]);
    const u32 *stride = operand_at(x, o->src[1]);
    struct matrix_grid g = {.wide = a.wide, .down = a.down};
    ACTIVE(mask) {
        u32 block = a.whole ? a.block + (u32)l / 8 : a.block, lane = a.whole ? (u32)l % 8 * a.wide : (u32)l;
        u64 line = matrix_line(g, lane, block), unit = matrix_unit(g, lane, block);
        D[l] = base[l] + (o->target ? ((unit * 2 + a.half) * stride[l] + line) * a.bits / 8
                                    : line * stride[l] * a.bits / 8 + unit * a.unit);
    }
}

/* Half h of lane l's word of an 8 × 8 matrix is element (l / 4, 2 (l mod 4) + h), or its mirror image. */
static void element_of(u32 lane, u32 half, bool row_major, u32 *row, u32 *column) {
    *row = row_major ? lane / 4 : lane % 4 * 2 + half;
    *column = row_major ? lane % 4 * 2 + half : lane / 4;
}

/* of[MATRIX_A]: four words of row l mod 8 of matrix l / 8; of[MATRIX_D]: a word of each matrix. */
static void exchange(struct exec *x, const struct matrix_desc *m, bool to_fragments) {
    u16 whole[4][8][8] = {0};
    u32 row, column;
    for (u32 lane = 0; to_fragments && lane < 8u * m->k; lane++)
        for (u32 w = 0; w < 4; w++)
            memcpy(&whole[lane / 8][lane % 8][2 * w], (u32 *)operand_at(x, m->of[MATRIX_A].reg[w]) + lane, 4);
    for (u32 i = 0; i < m->k; i++)
        for (u32 at_half = 0; at_half < 64; at_half++) {
            u16 *half = (u16 *)((u32 *)operand_at(x, m->of[MATRIX_D].reg[i]) + at_half / 2) + at_half % 2;
            element_of(at_half / 2, at_half % 2, m->of[MATRIX_D].row_major, &row, &column);
            if (to_fragments) *half = whole[i][row][column];
            else whole[i][row][column] = *half;
        }
    for (u32 lane = 0; !to_fragments && lane < 8u * m->k; lane++)
        for (u32 w = 0; w < 4; w++)
            memcpy((u32 *)operand_at(x, m->of[MATRIX_A].reg[w]) + lane, &whole[lane / 8][lane % 8][2 * w], 4);
}

static void move_words(struct exec *x, const struct matrix_desc *m) {
    u32 from[32], *to = operand_at(x, m->of[MATRIX_D].reg[0]);
    memcpy(from, operand_at(x, m->of[MATRIX_A].reg[0]), sizeof from);
    for (u32 lane = 0; lane < 32; lane++) {
        u32 v = 0;
        for (u32 h = 0; h < 2; h++)
            v |= (from[(lane % 4 * 2 + h) * 4 + lane / 8] >> 16 * (lane / 4 % 2) & 0xffff) << 16 * h;
        to[lane] = v;
    }
}

static void to_fragments(struct exec *x, const struct matrix_desc *m) { exchange(x, m, true); }
static void to_rows(struct exec *x, const struct matrix_desc *m) { exchange(x, m, false); }

/* What moves elements moves their undefined bits the same way. */
static void move_elements(struct exec *x, const struct op *o, u32 mask, u32 from, u32 to,
                          void (*move)(struct exec *x, const struct matrix_desc *m)) {
    const struct matrix_desc *m = desc_of(x, o);
    u8 origin;
    if (!whole_warp(x, o, mask)) return;
    move(x, m);
    if (!x->warp->ntainted) return;
    struct matrix_desc moved = in_shadow(x, m, from, from + 1, &origin);
    struct taint_bases saved = taint_enter(x);
    move(x, &moved);
    taint_leave(x, &saved);
    for (u32 reg = 0; reg < 4; reg++)
        if (reg < (to == MATRIX_A ? 4 : move == move_words ? 1u : m->k))
            taint_refresh(x->warp, operand_at(x, m->of[to].reg[reg]), 4, origin);
}

void ISAFN(op_matrixfragments)(struct exec *x, const struct op *o, u32 mask) {
    move_elements(x, o, mask, MATRIX_A, MATRIX_D, to_fragments);
}
void ISAFN(op_matrixrows)(struct exec *x, const struct op *o, u32 mask) {
    move_elements(x, o, mask, MATRIX_D, MATRIX_A, to_rows);
}
void ISAFN(op_movmatrix)(struct exec *x, const struct op *o, u32 mask) {
    move_elements(x, o, mask, MATRIX_A, MATRIX_D, move_words);
}

/* exec_matrix.c — executes matrix instructions. See matrix.h.
 *
 * Products of types up to f32 are summed like tensor cores do: exec_fused.h. f64 uses fused
 * multiply-adds in the order of k. */
#include "grader/sim/insn/exec.h"
#include "grader/sim/insn/exec_fused.h"
#include "grader/sim/code/matrix.h"
#include "grader/sim/core/undef.h"

#include <string.h>

enum { MAX_A_ELEMENTS = 32 * 256, MAX_C_ELEMENTS = 256 };

static s32 element_as_s32(u8 type, u64 v) {
    switch ((enum matrix_type)type) {
    case MATRIX_S8: return (s8)v;
    case MATRIX_S4: return (s32)((u32)v << 28) >> 28;
    default: return (s32)v;
    }
}

/* Gathers a matrix from the lanes' registers, row by row. The type is a constant where this is
 * inlined, and lanes are read before they are spread, so that the compiler can vectorize. */
#define DEFINE_GATHER(name, T, operand_value)                                                 \
    INLINE void name(const struct exec *x, const struct matrix_operand *p, u8 type, T *out) { \
        u32 bits = decode_matrix_types[type].bits, per_word = matrix_elements_of_word(type);  \
        u32 element_mask = bits >= 32 ? ~0u : (1u << bits) - 1;                               \
        const u16 *element_index = p->elem_of_reg;                                            \
        for (u32 reg = 0; reg < p->count; reg++) {                                            \
            const u32 *word = operand_at(x, p->reg[reg]);                                     \
            const u64 *word64 = operand_at(x, p->reg[reg]);                                   \
            for (u32 e = 0; e < per_word; e++, element_index += 32) {                         \
                T v[32];                                                                      \
                for (u32 l = 0; l < 32; l++)                                                  \
                    v[l] = operand_value(type, type == MATRIX_F64                             \
                                                   ? word64[l]                                \
                                                   : word[l] >> bits * e & element_mask);     \
                for (u32 l = 0; l < 32; l++) out[element_index[l]] = v[l];                    \
            }                                                                                 \
        }                                                                                     \
    }
DEFINE_GATHER(gather_integers, s32, element_as_s32)
static u8 any_bit(u8 type, u64 v) { return (void)type, v != 0; }
DEFINE_GATHER(gather_bits, u8, any_bit)

#undef DEFINE_GATHER

/* A matrix's registers one behind another; matrix_operand says which element lies where. */
union operand_words {
    u32 word[8 * 32];
    u16 half[8 * 64];
    u8 byte[8 * 128];
};

static void load_words(const struct exec *x, const struct matrix_operand *p,
                       union operand_words *w) {
    for (u32 reg = 0; reg < p->count; reg++)
        memcpy(w->word + reg * 32, operand_at(x, p->reg[reg]), 128);
}

/* Gathers the values first, so that the conversion is vector code. */
static void gather_factors(const struct exec *x, const struct matrix_operand *p, u32 n,
                           struct fused_factor *out) {
    u32 v[FUSED_MAX_ELEMENTS], bits = decode_matrix_types[p->type].bits;
    union operand_words w;
    load_words(x, p, &w);
    if (bits == 32)
        for (u32 i = 0; i < n; i++) v[i] = w.word[p->reg_of_elem[i]];
    else if (bits == 16)
        for (u32 i = 0; i < n; i++) v[i] = w.half[p->reg_of_elem[i]];
    else
        for (u32 i = 0; i < n; i++) v[i] = w.byte[p->reg_of_elem[i]];
    ISAFN(lane_fused_decompose)(p->type, v, n, out);
}

static f64 *double_at(const struct exec *x, const struct matrix_operand *p, u32 i) {
    return (f64 *)operand_at(x, p->reg[i / 32]) + i % 32;
}

static void gather_doubles(const struct exec *x, const struct matrix_operand *p, f64 *out) {
    for (u32 i = 0; i < p->count * 32u; i++) out[p->elem_of_reg[i]] = *double_at(x, p, i);
}

static void multiply_doubles(struct exec *x, const struct matrix_desc *m) {
    const struct matrix_operand *d = &m->operands[MATRIX_D];
    f64 a[512], b[512], c[MAX_C_ELEMENTS];
    gather_doubles(x, &m->operands[MATRIX_A], a);
    gather_doubles(x, &m->operands[MATRIX_B], b);
    gather_doubles(x, &m->operands[MATRIX_C], c);
    for (u32 row = 0; row < m->m; row++)
        for (u32 k = 0; k < m->k; k++)
            for (u32 n = 0; n < m->n; n++)
                c[row * m->n + n] = FMA_f64(a[row * m->k + k], b[k * m->n + n], c[row * m->n + n]);
    for (u32 i = 0; i < d->count * 32u; i++) *double_at(x, d, i) = c[d->elem_of_reg[i]];
}

/* Puts 8-bit floats in the order in which compute capability 9.0 adds them: as halves, and of each
 * register of four the lower two before the others. (Their exponents stay as they are: a subnormal
 * is never the largest term by so much that bits are lost.) line_stride, k_stride: distances
 * between lines, and between neighbours in k. */
static void reorder_k_pairs(struct fused_factor *f, u32 lines, u32 k, u32 line_stride,
                            u32 k_stride) {
    static _Thread_local struct fused_factor from;
    from = *f;
    for (u32 i = 0; i < lines; i++)
        for (u32 j = 0; j < k; j++) {
            u32 to = j % 4 / 2 * (k / 2) + j / 4 * 2 + j % 2;
            f->mantissa[i * line_stride + to * k_stride] =
                from.mantissa[i * line_stride + j * k_stride];
            f->exponent[i * line_stride + to * k_stride] =
                from.exponent[i * line_stride + j * k_stride];
        }
}

static u32 add_rounded(u8 type, u32 a, u32 b) {
    if (type == MATRIX_F16) return f16_of_f32(f32_of_f16((u16)a) + f32_of_f16((u16)b));
    return bits_of(canonical_nan_f32(f32_of(a) + f32_of(b)));
}

static void multiply_k_halves(const struct matrix_desc *m, u8 type, u32 fraction,
                              struct fused_factor *a, struct fused_factor *b, u32 *c) {
    struct dot_accumulation sum = m->accumulation;
    u32 d[MAX_C_ELEMENTS] = {0};
    reorder_k_pairs(a, m->m, m->k, m->k, 1);
    reorder_k_pairs(b, m->n, m->k, 1, m->n);
    sum.terms_per_step = (u8)(m->k / 2);
    ISAFN(lane_fused_multiply)(&sum, m->m, m->n, m->k, fraction, a, b, NULL, type, d);
    for (u32 i = 0; i < (u32)m->m * m->n; i++) c[i] = add_rounded(type, c[i], d[i]);
}

/* Loads c in the type of the sums: f32 where c and d differ. */
static u8 load_accumulators(const struct exec *x, const struct matrix_desc *m, u32 n, u32 *c) {
    const struct matrix_operand *p = &m->operands[MATRIX_C];
    union operand_words w;
    load_words(x, p, &w);
    for (u32 i = 0; i < n; i++)
        c[i] = p->type == MATRIX_F16 ? w.half[p->reg_of_elem[i]] : w.word[p->reg_of_elem[i]];
    if (p->type == m->operands[MATRIX_D].type) return p->type;
    for (u32 i = 0; p->type == MATRIX_F16 && i < n; i++) c[i] = bits_of(f32_of_f16((u16)c[i]));
    return MATRIX_F32;
}

static void store_accumulators(const struct exec *x, const struct matrix_operand *p, u8 type, u32 n,
                               const u32 *c) {
    union operand_words w;
    for (u32 i = 0; i < n; i++)
        if (p->type != MATRIX_F16) w.word[p->reg_of_elem[i]] = c[i];
        else w.half[p->reg_of_elem[i]] = type == MATRIX_F16 ? (u16)c[i] : f16_of_f32(f32_of(c[i]));
    for (u32 reg = 0; reg < p->count; reg++)
        memcpy(operand_at(x, p->reg[reg]), w.word + reg * 32, 128);
}

static void multiply_factors(struct exec *x, const struct matrix_desc *m) {
    static _Thread_local struct fused_factor a, b;
    const struct matrix_operand *of = m->operands;
    u32 c[MAX_C_ELEMENTS],
        n = (u32)m->m * m->n,
        fraction = fused_fraction_bits(of[MATRIX_A].type) + fused_fraction_bits(of[MATRIX_B].type);
    gather_factors(x, &of[MATRIX_A], (u32)m->m * m->k, &a);
    gather_factors(x, &of[MATRIX_B], (u32)m->n * m->k, &b);
    u8 type = load_accumulators(x, m, n, c);
    if (m->accumulation.in_two_steps) multiply_k_halves(m, type, fraction, &a, &b, c);
    else ISAFN(lane_fused_multiply)
    (&m->accumulation, m->m, m->n, m->k, fraction, &a, &b, NULL, type, c);
    store_accumulators(x, &of[MATRIX_D], type, n, c);
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
    s32 a[MAX_A_ELEMENTS], b[MAX_A_ELEMENTS], c[MAX_C_ELEMENTS];
    u32 d[MAX_C_ELEMENTS];
    gather_integers(x, &m->operands[MATRIX_A], m->operands[MATRIX_A].type, a);
    gather_integers(x, &m->operands[MATRIX_B], m->operands[MATRIX_B].type, b);
    gather_integers(x, &m->operands[MATRIX_C], m->operands[MATRIX_C].type, c);
    for (u32 row = 0; row < m->m; row++)
        for (u32 n = 0; n < m->n; n++)
            d[row * m->n + n] = (u32)dot(m, a + row * m->k, b + n, c[row * m->n + n]);
    store_accumulators(x, &m->operands[MATRIX_D], MATRIX_S32, (u32)m->m * m->n, d);
}

/* ---- undefined elements (core/undef.h) ----
 *
 * One in a row of a, a column of b, or c makes undefined what d computes from it. */

/* Returns a matrix whose registers are in the shadow; sets *origin to that of an undefined element
 * in [from, to). */
static struct matrix_desc shadow_matrix_desc(const struct exec *x, const struct matrix_desc *m,
                                             u32 from, u32 to, u8 *origin) {
    struct matrix_desc shadow_desc = *m;
    *origin = 0;
    for (u32 operand = from; operand < to; operand++)
        for (u32 reg = 0; reg < m->operands[operand].count; reg++) {
            ref r = m->operands[operand].reg[reg];
            if (!*origin) *origin = undef_operand_origin(x, r);
            shadow_desc.operands[operand].reg[reg] = undef_source_ref(r);
        }
    return shadow_desc;
}

static void undef_elements(struct exec *x, const struct matrix_desc *m, u8 *d) {
    static _Thread_local u8 a[MAX_A_ELEMENTS], b[MAX_A_ELEMENTS];
    struct undef_saved_bases saved = undef_enter_shadow(x);
    gather_bits(x, &m->operands[MATRIX_A], m->operands[MATRIX_A].type, a);
    gather_bits(x, &m->operands[MATRIX_B], m->operands[MATRIX_B].type, b);
    gather_bits(x, &m->operands[MATRIX_C], m->operands[MATRIX_C].type, d);
    undef_leave_shadow(x, &saved);
    for (u32 row = 0; row < m->m; row++)
        for (u32 k = 0; k < m->k; k++)
            for (u32 n = 0; n < m->n; n++) d[row * m->n + n] |= a[row * m->k + k] | b[k * m->n + n];
}

static void propagate_undef(struct exec *x, const struct matrix_desc *m) {
    u8 origin, d[MAX_C_ELEMENTS] = {0};
    struct matrix_desc shadow_desc = shadow_matrix_desc(x, m, MATRIX_A, MATRIX_D, &origin);
    const struct matrix_operand *p = &m->operands[MATRIX_D];
    u32 per_word = matrix_elements_of_word(p->type);
    const u16 *element_index = p->elem_of_reg;
    if (origin) undef_elements(x, &shadow_desc, d);
    for (u32 reg = 0; reg < p->count; reg++) {
        u64 bits[32] = {0};
        for (u32 e = 0; e < per_word; e++, element_index += 32)
            for (u32 lane = 0; lane < 32; lane++)
                bits[lane] |= !d[element_index[lane]] ? 0
                              : per_word == 2         ? 0xffffull << 16 * e
                                                      : ~0ull;
        undef_set_operand(x, p->reg[reg], p->type == MATRIX_F64 ? 8 : 4, ~0u, bits, origin);
    }
}

/* Returns true if all lanes take part; else reports a fault. */
bool ISAFN(lane_require_full_warp)(struct exec *x, const struct op *o, u32 mask) {
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
    if (!ISAFN(lane_require_full_warp)(x, o, mask)) return;
    core_add_simulation_cost(x->worker->launch,
                             (u64)m->m * m->n * m->k / 32); /* about 4 ns for each multiply-add */
    if (x->warp->nundef) propagate_undef(x, m);
    if (m->operands[MATRIX_A].type == MATRIX_F64) multiply_doubles(x, m);
    else if (decode_matrix_types[m->operands[MATRIX_A].type].is_float) multiply_factors(x, m);
    else multiply_integers(x, m);
}

/* Returns true if all lanes take part in a load or store of a fragment, and pass the same operands;
 * else reports a fault. */
static bool check_fragment_operands(struct exec *x, const struct op *o, u32 mask, const u64 *base,
                                    const u32 *stride) {
    if (!ISAFN(lane_require_full_warp)(x, o, mask)) return false;
    FOR_LANES {
        if (base[l] == base[0] && stride[l] == stride[0]) continue;
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)l, base[l],
                   "passes another address or distance between rows than lane 0 to a matrix "
                   "instruction: all lanes must pass those of the whole tile");
        return false;
    }
    return true;
}

/* PTX requires that a fragment's rows begin at multiples of what a lane holds of it; 32 bytes for
 * halves, which CUDA calls a 256-bit aligned pointer. */
static void check_fragment_alignment(struct exec *x, const struct op *o, u64 base, u32 alignment) {
    if (base % alignment == 0) return;
    core_fault(x, SIM_FAULT_MISALIGNED, o, 0, base,
               "passes 0x%llx as the address of a fragment, which is not a multiple of %u bytes",
               (unsigned long long)base, alignment);
}

void ISAFN(op_matrixaddress)(struct exec *x, const struct op *o, u32 mask) {
    struct matrix_address a;
    memcpy(&a, &o->imm, sizeof a);
    u64 *D = operand_at(x, o->dst);
    const u64 *base = operand_at(x, o->src[0]);
    const u32 *stride = operand_at(x, o->src[1]);
    bool is_first = !a.block && !a.half; /* of the instruction's addresses */
    if (is_first && !check_fragment_operands(x, o, mask, base, stride)) return;
    if (is_first) check_fragment_alignment(x, o, base[0], a.alignment);
    struct matrix_tiling g = {.block_width = a.block_width, .blocks_down = a.blocks_down};
    FOR_ACTIVE_LANES(mask) {
        u32 block = a.is_row ? a.block + (u32)l / 8 : a.block,
            lane = a.is_row ? (u32)l % 8 * a.block_width : (u32)l;
        u64 line = matrix_line(g, lane, block), unit = matrix_unit(g, lane, block);
        D[l] = base[l] + (o->target ? ((unit * 2 + a.half) * stride[l] + line) * a.element_bits / 8
                                    : line * stride[l] * a.element_bits / 8 + unit * a.unit_bytes);
    }
}

/* Sets the element that half h of lane l's word of an 8 × 8 matrix holds: (l / 4, 2 (l mod 4) + h),
 * or transposed. */
static void fragment_coords(u32 lane, u32 half, bool row_major, u32 *row, u32 *column) {
    *row = row_major ? lane / 4 : lane % 4 * 2 + half;
    *column = row_major ? lane % 4 * 2 + half : lane / 4;
}

/* operands[MATRIX_A]: four words of row l mod 8 of matrix l / 8; operands[MATRIX_D]: a word of each
 * matrix. */
static void convert_layout(struct exec *x, const struct matrix_desc *m, bool to_fragment_layout) {
    u16 matrix[4][8][8] = {0};
    u32 row, column;
    for (u32 lane = 0; to_fragment_layout && lane < 8u * m->k; lane++)
        for (u32 w = 0; w < 4; w++)
            memcpy(&matrix[lane / 8][lane % 8][2 * w],
                   (u32 *)operand_at(x, m->operands[MATRIX_A].reg[w]) + lane, 4);
    for (u32 i = 0; i < m->k; i++)
        for (u32 half_index = 0; half_index < 64; half_index++) {
            u16 *half =
                (u16 *)((u32 *)operand_at(x, m->operands[MATRIX_D].reg[i]) + half_index / 2) +
                half_index % 2;
            fragment_coords(half_index / 2, half_index % 2, m->operands[MATRIX_D].row_major, &row,
                            &column);
            if (to_fragment_layout) *half = matrix[i][row][column];
            else matrix[i][row][column] = *half;
        }
    for (u32 lane = 0; !to_fragment_layout && lane < 8u * m->k; lane++)
        for (u32 w = 0; w < 4; w++)
            memcpy((u32 *)operand_at(x, m->operands[MATRIX_A].reg[w]) + lane,
                   &matrix[lane / 8][lane % 8][2 * w], 4);
}

static void transpose_words(struct exec *x, const struct matrix_desc *m) {
    u32 from[32], *to = operand_at(x, m->operands[MATRIX_D].reg[0]);
    memcpy(from, operand_at(x, m->operands[MATRIX_A].reg[0]), sizeof from);
    for (u32 lane = 0; lane < 32; lane++) {
        u32 v = 0;
        for (u32 h = 0; h < 2; h++)
            v |= (from[(lane % 4 * 2 + h) * 4 + lane / 8] >> 16 * (lane / 4 % 2) & 0xffff)
                 << 16 * h;
        to[lane] = v;
    }
}

static void rows_to_fragments(struct exec *x, const struct matrix_desc *m) {
    convert_layout(x, m, true);
}
static void fragments_to_rows(struct exec *x, const struct matrix_desc *m) {
    convert_layout(x, m, false);
}

/* Moves the undefined bits in the same way as the elements. */
static void convert_with_undef(struct exec *x, const struct op *o, u32 mask, u32 from, u32 to,
                               void (*convert)(struct exec *x, const struct matrix_desc *m)) {
    const struct matrix_desc *m = desc_of(x, o);
    u8 origin;
    if (!ISAFN(lane_require_full_warp)(x, o, mask)) return;
    convert(x, m);
    if (!x->warp->nundef) return;
    struct matrix_desc shadow_desc = shadow_matrix_desc(x, m, from, from + 1, &origin);
    struct undef_saved_bases saved = undef_enter_shadow(x);
    convert(x, &shadow_desc);
    undef_leave_shadow(x, &saved);
    for (u32 reg = 0; reg < 4; reg++)
        if (reg < (to == MATRIX_A ? 4 : convert == transpose_words ? 1u : m->k))
            undef_refresh(x->warp, operand_at(x, m->operands[to].reg[reg]), 4, origin);
}

void ISAFN(op_matrixfragments)(struct exec *x, const struct op *o, u32 mask) {
    convert_with_undef(x, o, mask, MATRIX_A, MATRIX_D, rows_to_fragments);
}
void ISAFN(op_matrixrows)(struct exec *x, const struct op *o, u32 mask) {
    convert_with_undef(x, o, mask, MATRIX_D, MATRIX_A, fragments_to_rows);
}
void ISAFN(op_movmatrix)(struct exec *x, const struct op *o, u32 mask) {
    convert_with_undef(x, o, mask, MATRIX_A, MATRIX_D, transpose_words);
}

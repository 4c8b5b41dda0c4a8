/* exec_warpgroup.c — executes wgmma: a warp's sixteen rows. See code/warpgroup.h.
 *
 * The product is computed when it is issued, which is one of the orders that a program must allow
 * for; race/wgmma_pending.c finds programs that don't wait for it. */
#include "grader/sim/insn/exec.h"
#include "grader/sim/insn/exec_fused.h"
#include "grader/sim/code/async.h"
#include "grader/sim/code/warpgroup.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/insn/exec_async.h"
#include "grader/sim/race/async.h"
#include "grader/sim/race/wgmma_pending.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/warpgroup.h"

#include <string.h>

enum {
    COLUMN_BLOCK = 32, /* columns of b that are computed at a time */
    CHUNK = 16
};

/* A warp's product while it is computed. */
struct wgmma_ctx {
    struct exec *x;
    const struct op *o;
    const struct warpgroup_desc *w;
    struct warpgroup_layout layout[2];
    u32 bits;         /* size of an element of a, and of b */
    u8 origin;        /* origin of undefined elements; 0 = none */
    u32 row_elements; /* stored elements of a row of a */
    /* For a sparse product: the row of b that multiplies each element of a. */
    u8 b_row[WARPGROUP_ROWS_PER_WARP * WARPGROUP_MAX_K / 8];
    /* Rows and columns that have undefined elements. */
    bool undef_row[WARPGROUP_ROWS_PER_WARP], undef_column[WARPGROUP_MAX_N];
    struct wgmma_reads reads;
};

/* ---- shared memory ---- */

static bool report_chunk_out_of_bounds(struct wgmma_ctx *p, u32 operand, u32 at) {
    core_fault(p->x, SIM_FAULT_OUT_OF_BOUNDS, p->o, 0, at,
               "reads matrix %c at offset %u of shared memory, of which the block has %u bytes "
               "(descriptor: start %u, leading dimension %u, stride %u, swizzle %u)",
               operand == MATRIX_A ? 'a' : 'b', at, p->x->shared_bytes,
               p->layout[operand].start_offset, p->layout[operand].leading_offset,
               p->layout[operand].stride_offset,
               p->layout[operand].swizzle_span == CHUNK ? 0 : p->layout[operand].swizzle_span);
    return false;
}

/* Marks lines that have undefined bytes; reports bytes that a copy in flight has yet to write. */
static void check_chunk_shadow(struct wgmma_ctx *p, u32 at, bool *undef_line, u32 line_count) {
    const unsigned char *w = p->x->shared_written + at;
    u32 undef_end = 0;
    for (u32 i = 0; i < CHUNK; i++) undef_end |= w[i] != 1 ? i + 1 : 0;
    if (!undef_end) return;
    if (memchr(w, UNDEF_PENDING, CHUNK)) {
        race_async_report_unfinished(p->x, p->x->block, p->o, 0, at, CHUNK, "multiplies");
        return;
    }
    for (u32 i = 0; i < CHUNK && !p->origin; i++)
        if (w[i] != 1)
            p->origin = w[i] ? w[i] / 2
                             : undef_load_origin(p->x, p->o, 0, at + i,
                                                 p->bits < 8 ? 1 : p->bits / 8, SPACE_SHARED);
    for (u32 i = 0; i < CHUNK; i++)
        if (w[i] != 1) undef_line[line_count == 1 ? 0 : i * 8 / p->bits] = true;
}

/* Returns the bytes of a chunk, or NULL after a report. undef_line: flags of the line_count lines
 * in it. */
static const unsigned char *read_chunk(struct wgmma_ctx *p, u32 operand, u32 at, bool *undef_line,
                                       u32 line_count) {
    struct exec *x = p->x;
    if (at + CHUNK > x->shared_bytes) return report_chunk_out_of_bounds(p, operand, at), NULL;
    if (x->sanitize) {
        check_chunk_shadow(p, at, undef_line, line_count);
        race_proxy_read(x, p->o, 0, at, CHUNK, "multiplies");
        ISAFN(lane_bulk_check_race)(x, p->o, 0, at, CHUNK, RACE_READ);
        race_wgmma_add_read(&p->reads, at);
    }
    return x->shared + at;
}

/* Writes the values of a chunk's elements, `step` apart. */
INLINE void scatter_elements(const unsigned char *chunk, u32 bits, u32 *out, u32 step) {
    const u16 *half = (const u16 *)chunk;
    const u32 *word = (const u32 *)chunk;
    for (u32 i = 0; i < CHUNK * 8 / bits; i++)
        out[i * step] = bits == 16   ? half[i]
                        : bits == 32 ? word[i]
                        : bits == 8  ? chunk[i]
                                     : chunk[i / 8] >> i % 8 & 1;
}

/* Loads lines from `first` on: out[line · line_stride + k · k_stride]. */
static bool load_matrix(struct wgmma_ctx *p, u32 operand, u32 first, u32 lines, u32 *out,
                        u32 line_stride, u32 k_stride) {
    const struct warpgroup_layout *l = &p->layout[operand];
    u32 bits = p->bits, per_chunk = CHUNK * 8 / bits,
        k = operand == MATRIX_A ? p->row_elements : p->w->k;
    bool across = p->w->transposed[operand],
         *flag = operand == MATRIX_A ? p->undef_row : p->undef_column + first;
    u32 shift =
        operand == MATRIX_A ? p->x->warp->index % WARPGROUP_WARPS * WARPGROUP_ROWS_PER_WARP : first;
    for (u32 i = 0; i < (across ? k : lines); i++)
        for (u32 u = 0; u < (across ? lines : k) / per_chunk; u++) {
            u32 at = warpgroup_chunk_offset(l, across, across ? i : shift + i,
                                            across ? shift / per_chunk + u : u);
            const unsigned char *chunk = read_chunk(
                p, operand, at, flag + (across ? u * per_chunk : i), across ? per_chunk : 1);
            if (!chunk) return false;
            scatter_elements(chunk, bits,
                             out + (across ? u * per_chunk * line_stride + i * k_stride
                                           : i * line_stride + u * per_chunk * k_stride),
                             across ? line_stride : k_stride);
        }
    return true;
}

/* Loads a from registers, laid out like that of mma: warp rows × k. */
static void load_registers(struct wgmma_ctx *p, u32 *out) {
    u32 per_word = 32 / p->bits, element_mask = p->bits == 32 ? ~0u : (1u << p->bits) - 1;
    for (u32 reg = 0; reg < 4; reg++) {
        const u32 *word = operand_at(p->x, p->w->a[reg]);
        u8 origin = p->x->warp->nundef ? undef_operand_origin(p->x, p->w->a[reg]) : 0;
        if (origin) {
            if (!p->origin) p->origin = origin;
            u32 lanes = undef_operand_lanes(p->x, p->w->a[reg], 4);
            for (u32 l = 0; l < 32; l++) p->undef_row[l / 4 + 8 * (reg & 1)] |= lanes >> l & 1;
        }
        for (u32 l = 0; l < 32; l++)
            for (u32 e = 0; e < per_word; e++)
                out[(l / 4 + 8 * (reg & 1)) * p->row_elements + l % 4 * per_word + e +
                    4 * per_word * (reg >> 1)] = word[l] >> p->bits * e & element_mask;
    }
}

/* ---- metadata of a sparse product ---- */

static bool report_invalid_metadata(const struct wgmma_ctx *p, u32 lane, u32 found) {
    core_fault(p->x, SIM_FAULT_BAD_SYNC, p->o, lane, 0,
               "has metadata 0x%x for a pair of 32-bit elements: 0x4 selects the first one, 0xe "
               "the second",
               found);
    return false;
}

/* Loads the metadata: two places of 2 bits, in units of a fourth of the group; an element of 32
 * bits has two. */
static bool load_metadata(struct wgmma_ctx *p) {
    const u32 *word = operand_at(p->x, p->w->metadata);
    bool is_32bit = p->bits == 32;
    u32 lane;
    for (u32 row = 0; row < WARPGROUP_ROWS_PER_WARP; row++)
        for (u32 i = 0; i < p->row_elements; i++) {
            u32 at = warpgroup_metadata_bit(p->w, p->bits, row, i, &lane),
                metadata_bits = word[lane] >> at & 15;
            if (is_32bit && metadata_bits != 4 && metadata_bits != 14)
                return report_invalid_metadata(p, lane, metadata_bits);
            p->b_row[row * p->row_elements + i] =
                (u8)(is_32bit ? 2 * i + metadata_bits / 8
                              : i / 2 * 4 + (i % 2 ? metadata_bits >> 2 : metadata_bits & 3));
        }
    return true;
}

static void propagate_undef_metadata(struct wgmma_ctx *p) {
    u8 origin = p->x->warp->nundef ? undef_operand_origin(p->x, p->w->metadata) : 0;
    u32 lanes = origin ? undef_operand_lanes(p->x, p->w->metadata, 4) : 0, lane;
    if (!p->origin) p->origin = origin;
    for (u32 row = 0; lanes && row < WARPGROUP_ROWS_PER_WARP; row++)
        for (u32 i = 0; i < p->row_elements; i++) {
            warpgroup_metadata_bit(p->w, p->bits, row, i, &lane);
            p->undef_row[row] |= lanes >> lane & 1;
        }
}

/* ---- d: register and lane of an element ---- */

static u32 *element_of_d(const struct wgmma_ctx *p, u32 row, u32 column, u32 *half) {
    bool halves = p->w->type[MATRIX_D] == MATRIX_F16;
    u32 reg =
        column / 8 * (halves ? 2 : 4) + row / 8 * (halves ? 1 : 2) + (halves ? 0 : column % 2);
    *half = halves ? column % 2 * 16 : 32;
    return (u32 *)operand_at(p->x, p->w->d[reg]) + row % 8 * 4 + column % 8 / 2;
}

static u32 get_d(const struct wgmma_ctx *p, u32 row, u32 column) {
    u32 half, v = *element_of_d(p, row, column, &half);
    return half == 32 ? v : v >> half & 0xffff;
}

static void put_d(const struct wgmma_ctx *p, u32 row, u32 column, u32 v) {
    u32 half, *at = element_of_d(p, row, column, &half);
    *at = half == 32 ? v : (*at & 0xffffu << (16 - half)) | v << half;
}

/* ---- products ---- */

static void negate(u32 n, struct fused_factor *f) {
    for (u32 i = 0; i < n; i++) {
        f->mantissa[i] = -f->mantissa[i];
        f->exponent[i] = f->exponent[i] == FUSED_EXPONENT_PLUS_INF    ? FUSED_EXPONENT_MINUS_INF
                         : f->exponent[i] == FUSED_EXPONENT_MINUS_INF ? FUSED_EXPONENT_PLUS_INF
                                                                      : f->exponent[i];
    }
}

static void multiply_floats(struct wgmma_ctx *p, const struct fused_factor *a, const u32 *values,
                            u32 columns, u32 *c) {
    static _Thread_local struct fused_factor b;
    const struct warpgroup_desc *w = p->w;
    ISAFN(lane_fused_decompose)(w->type[MATRIX_B], values, columns * w->k, &b);
    ISAFN(lane_fused_multiply)
    (&w->accumulation, WARPGROUP_ROWS_PER_WARP, columns, p->row_elements,
     fused_fraction_bits(w->type[MATRIX_A]) + fused_fraction_bits(w->type[MATRIX_B]), a, &b,
     w->sparse ? p->b_row : NULL, w->type[MATRIX_D], c);
}

static s64 element_as_s64(u8 type, u32 v) { return type == MATRIX_S8 ? (s8)v : (s64)v; }

static void multiply_integers(const struct wgmma_ctx *p, const u32 *a, const u32 *b, u32 columns,
                              u32 *c) {
    const struct warpgroup_desc *w = p->w;
    for (u32 i = 0; i < WARPGROUP_ROWS_PER_WARP * columns; i++) {
        s64 sum = (s32)c[i];
        for (u32 k = 0, at = i / columns * p->row_elements; k < p->row_elements; k++, at++)
            sum += element_as_s64(w->type[MATRIX_A], a[at]) *
                   element_as_s64(w->type[MATRIX_B],
                                  b[(w->sparse ? p->b_row[at] : k) * columns + i % columns]);
        c[i] = w->saturate ? (u32)saturate_s32(sum) : (u32)(u64)sum;
    }
}

static bool compute_columns(struct wgmma_ctx *p, const u32 *a, const struct fused_factor *factor,
                            u32 first, u32 columns, bool accumulate) {
    static _Thread_local u32 b[COLUMN_BLOCK * WARPGROUP_MAX_K];
    u32 c[WARPGROUP_ROWS_PER_WARP * COLUMN_BLOCK];
    if (!load_matrix(p, MATRIX_B, first, columns, b, 1, columns)) return false;
    for (u32 i = 0; i < WARPGROUP_ROWS_PER_WARP * columns; i++)
        c[i] = accumulate ? get_d(p, i / columns, first + i % columns) : 0;
    if (p->w->type[MATRIX_D] == MATRIX_S32) multiply_integers(p, a, b, columns, c);
    else multiply_floats(p, factor, b, columns, c);
    for (u32 i = 0; i < WARPGROUP_ROWS_PER_WARP * columns; i++)
        put_d(p, i / columns, first + i % columns, c[i]);
    return true;
}

/* ---- undefined elements: one in a row of a, a column of b, or in d where d is added to ---- */

static void propagate_undef_results(const struct wgmma_ctx *p, bool accumulate) {
    bool halves = p->w->type[MATRIX_D] == MATRIX_F16;
    for (u32 reg = 0; reg < p->w->count; reg++) {
        u64 bits[32] = {0};
        u8 prior_origin = race_wgmma_origin(p->x, undef_operand_origin(p->x, p->w->d[reg]));
        if (accumulate && prior_origin) undef_operand_bits(p->x, p->w->d[reg], 4, bits);
        for (u32 l = 0; p->origin && l < 32; l++)
            for (u32 e = 0; e < (halves ? 2 : 1); e++) {
                u32 row = l / 4 + (halves ? reg % 2 : reg % 4 / 2) * 8;
                u32 column = (halves ? reg / 2 : reg / 4) * 8 + l % 4 * 2 + (halves ? e : reg % 2);
                if (p->undef_row[row] || p->undef_column[column])
                    bits[l] |= halves ? 0xffffull << 16 * e : 0xffffffffull;
            }
        undef_set_operand(p->x, p->w->d[reg], 4, ~0u, bits,
                          accumulate && prior_origin ? prior_origin : p->origin);
    }
}

/* ---- the instruction ---- */

static bool load_descriptor(struct wgmma_ctx *p, u32 operand) {
    const u64 *v = operand_at(p->x, p->w->smem_desc[operand]);
    undef_check_use(p->x, p->o, p->w->smem_desc[operand], 8, ~0u, "uses it as a matrix descriptor");
    for (u32 l = 1; l < 32; l++)
        if (v[l] != v[0]) {
            core_fault(p->x, SIM_FAULT_BAD_SYNC, p->o, l, v[l],
                       "has another matrix descriptor than lane 0 of its warp");
            return false;
        }
    p->layout[operand] = warpgroup_layout_of(v[0]);
    return true;
}

static bool check_full_warpgroup(struct wgmma_ctx *p, u32 mask) {
    u32 first = p->x->warp->index / WARPGROUP_WARPS * WARPGROUP_WARPS;
    if (!ISAFN(lane_require_full_warp)(p->x, p->o, mask)) return false;
    if (first + WARPGROUP_WARPS <= p->x->block->nwarps) return true;
    core_fault(p->x, SIM_FAULT_BAD_SYNC, p->o, 0, 0,
               "is in a warpgroup of %u warps: wgmma needs four, warps %u to %u",
               p->x->block->nwarps - first, first, first + WARPGROUP_WARPS - 1);
    return false;
}

/* Reports sums that the kernel has not set, and takes them as set from now on. */
static void check_sums_are_set(const struct wgmma_ctx *p) {
    const struct launch *l = p->x->worker->launch;
    bool is_reported = false;
    u8 unset = undef_unset_origin(p->x, &l->ops[l->code->first_op]);
    for (u32 reg = 0; reg < p->w->count; reg++) {
        if ((undef_operand_origin(p->x, p->w->d[reg]) & UNDEF_MAX_ORIGINS) != unset) continue;
        undef_set_operand(p->x, p->w->d[reg], 4, ~0u, NULL, 0);
        if (!is_reported)
            core_fault(p->x, SIM_FAULT_UNINITIALIZED, p->o, 0, 0,
                       "adds a matrix product to sums that the kernel has not set: set them to 0 "
                       "before, or let the first product start from 0 (scale-d 0)");
        is_reported = true;
    }
}

static void compute_wgmma(struct wgmma_ctx *p, bool accumulate) {
    static _Thread_local u32 a[WARPGROUP_ROWS_PER_WARP * WARPGROUP_MAX_K];
    static _Thread_local struct fused_factor factor;
    const struct warpgroup_desc *w = p->w;
    u32 elements = WARPGROUP_ROWS_PER_WARP * p->row_elements;
    if (w->sparse && !load_metadata(p)) return;
    if (w->sparse) propagate_undef_metadata(p);
    if (w->a_in_registers) load_registers(p, a);
    else if (!load_matrix(p, MATRIX_A, 0, WARPGROUP_ROWS_PER_WARP, a, p->row_elements, 1)) return;
    if (w->type[MATRIX_D] != MATRIX_S32)
        ISAFN(lane_fused_decompose)(w->type[MATRIX_A], a, elements, &factor);
    if (w->is_negated) negate(elements, &factor);
    for (u32 n = 0; n < w->n; n += COLUMN_BLOCK)
        if (!compute_columns(p, a, &factor, n, w->n - n < COLUMN_BLOCK ? w->n - n : COLUMN_BLOCK,
                             accumulate))
            return;
    if (!p->x->sanitize) return;
    if (p->origin || p->x->warp->nundef) propagate_undef_results(p, accumulate);
    race_wgmma_issue(p->x, p->o, &p->reads, w->d, w->count);
    p->x->undef_load = p->o, p->x->fast_mask = 0; /* the warp now has undefined values */
}

void ISAFN(op_wgmma)(struct exec *x, const struct op *o, u32 mask) {
    const struct warpgroup_desc *w = &x->worker->launch->module->warpgroups[o->target];
    struct wgmma_ctx p = {.x = x,
                          .o = o,
                          .w = w,
                          .bits = decode_matrix_types[w->type[MATRIX_A]].bits,
                          .row_elements = warpgroup_stored_k(w)};
    if (!check_full_warpgroup(&p, mask) || !load_descriptor(&p, MATRIX_B) ||
        (!w->a_in_registers && !load_descriptor(&p, MATRIX_A)))
        return;
    undef_check_use(x, o, w->scale, 1, mask, "lets it decide whether a product is added");
    bool accumulate = w->scale == REF_NONE
                          ? !w->starts_from_zero
                          : ((*(const u32 *)operand_at(x, w->scale) ^ w->scale_xor) & 1) != 0;
    core_add_simulation_cost(x->worker->launch,
                             (u64)WARPGROUP_ROWS_PER_WARP * w->n * p.row_elements / 32);
    if (x->sanitize) race_warpgroup_check_wgmma(x, o, w);
    if (x->sanitize && accumulate && x->warp->nundef && x->worker->launch->code->nzero_ranges)
        check_sums_are_set(&p);
    compute_wgmma(&p, accumulate);
}

void ISAFN(op_wgmmafence)(struct exec *x, const struct op *o, u32 mask) {
    (void)o, (void)mask;
    if (x->sanitize) race_warpgroup_fence(x);
}

void ISAFN(op_wgmmaregwrite)(struct exec *x, const struct op *o, u32 mask) {
    (void)mask;
    if (x->sanitize) race_warpgroup_record_write(x, o);
}

void ISAFN(op_wgmmagroup)(struct exec *x, const struct op *o, u32 mask) {
    (void)mask;
    if (!x->sanitize) return;
    if (o->imm == GROUP_WGMMA_COMMIT) race_wgmma_commit(x);
    else race_wgmma_wait(x, o, o->target);
}

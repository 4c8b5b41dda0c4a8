/* exercise_matrix.h — shared by exercises on a row-major matrix with dim = {rows, cols}, which are
 * the entry's last two arguments. It also has arguments, references and guards of transposes, and
 * limits for versions that keep a row on the chip. */
#pragma once
#include "common/exercise_limits.h"

enum { EX_ROWS, EX_COLS }; /* dimensions */
/* The shapes of the matrix and of its transpose, for reports. */
/* clang-format off */
#define EX_SHAPE_ROWS_COLS {EX_ROWS + 1, EX_COLS + 1}
#define EX_SHAPE_COLS_ROWS {EX_COLS + 1, EX_ROWS + 1}
/* clang-format on */

static inline size_t ex_matrix_count(const struct ex_case *c) {
    return (size_t)c->dim[EX_ROWS] * c->dim[EX_COLS];
}
static inline size_t ex_matrix_cols(const struct ex_case *c) { return (size_t)c->dim[EX_COLS]; }

/* clang-format off */
#define EX_MATRIX_SIZE_ARGS                                                  \
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = EX_ROWS}, \
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = EX_COLS}
/* clang-format on */

/* ---- transposes: out, in, rows, cols; values are moved, not computed ---- */

/* All arguments if an element is one value of `type_`, and the first cases of each exercise, for
 * tiles of 32 x 32. */
/* clang-format off */
#define EX_TRANSPOSE_ARGS(type_)                                             \
    {.name = "out", .role = EX_OUT, .type = type_, .count = ex_matrix_count, \
     .shape = EX_SHAPE_COLS_ROWS},                                           \
    {.name = "in", .role = EX_IN, .type = type_, .count = ex_matrix_count,   \
     .shape = EX_SHAPE_ROWS_COLS},                                           \
    EX_MATRIX_SIZE_ARGS
#define EX_TRANSPOSE_EDGE_CASES                           \
    {{0, 9}, .label = "no rows: nothing to launch"},         \
    {{9, 0}, .label = "no columns: nothing to launch"},      \
    {{1, 1}, .label = "one element"},                        \
    {{1, 67}, .label = "a single row"},                      \
    {{67, 1}, .label = "a single column"},                   \
    {{31, 33}, .label = "around a tile"},                    \
    {{33, 31}, .label = "around a tile, other way round"},   \
    {{32, 32}, .label = "one tile"}
/* Drawn cases: up to nine tiles a side and forty tiles in all; elements of one word. */
#define EX_TRANSPOSE_DRAW {.dim = {{1, 300}, {1, 300}}, .max_product = 40000}
/* clang-format on */

/* An element has `n` values; `result_` is double or int64_t, see ex_reference_fn. The reference
 * goes through strips of 8 rows, so that it writes whole cache lines of the output: the timed sizes
 * have 16 M elements. */
#define EX_TRANSPOSE_REFERENCE(name_, type_, result_, n)                                  \
    static inline void name_(const struct ex_case *c, void *const host[],                 \
                             void *const expected[]) {                                    \
        const type_ *in = host[1];                                                        \
        result_ *out = expected[0];                                                       \
        long rows = c->dim[EX_ROWS], cols = c->dim[EX_COLS];                              \
        for (long top = 0; top < rows; top += 8)                                          \
            for (long col = 0; col < cols; col++)                                         \
                for (long row = top; row < rows && row < top + 8; row++)                  \
                    for (int f = 0; f < n; f++)                                           \
                        out[(col * rows + row) * n + f] = in[(row * cols + col) * n + f]; \
    }
EX_TRANSPOSE_REFERENCE(ex_transpose_i32, int32_t, int64_t, 1)
EX_TRANSPOSE_REFERENCE(ex_transpose_f32, float, double, 1)
EX_TRANSPOSE_REFERENCE(ex_transpose_4f32, float, double, 4)

/* 4-byte elements, each read once and written once. */
static inline double ex_transpose_bytes(const struct ex_case *c) {
    return 8.0 * ex_matrix_count(c);
}

/* Guard, for versions with a tile in shared memory. */
static inline void ex_require_coalesced_transpose(void) {
    ex_require_coalesced_loads(
        1.125, "the way through shared memory is there so that rows of `in` are read as rows");
    ex_require_coalesced_stores(
        1.125, "the way through shared memory is there so that rows of `out` are written as rows");
}

/* Guard, for use with limits on bank conflicts. It refuses a version without conflicts in which all
 * lanes read the words one after another and each keeps its own: 32 requests instead of one. */
static inline void ex_require_single_tile_read(void) {
    ex_require_at_most_per("shared_read_requests_total", ex_element_count(0) / 32,
                           "warp of elements", 1.125, "32 lanes take 32 elements at a time");
}

/* Idea, for versions in which a thread moves one element from `in` to the tile and one from the
 * tile to `out`. */
static inline void ex_suggest_several_elements(double elements) {
    ex_suggest(ex_metric_value("threads") > elements / 2,
               "let a block of 32 x 8 threads move a tile of 32 x 32, so that each thread has four "
               "loads in flight",
               "06-occupancy", "Independent work in one thread");
}

/* ---- rows that a block keeps on the chip ---- */

/* One kernel, which reads `sectors` sectors for each sector of the matrix and writes one. */
static inline void ex_require_on_chip_rows(double sectors, const char *load_reason,
                                           const char *store_reason) {
    ex_require_at_most("launches", 1, "a row is a block's business from beginning to end");
    ex_require_at_most_per("device_read_sectors", ex_element_count(0) / 8, "sector of the matrix",
                           sectors, load_reason);
    ex_require_at_most_per("device_write_sectors", ex_element_count(0) / 8, "sector of the matrix",
                           1.0625, store_reason);
    ex_require_at_most("local_requests", 0,
                       "an array that is indexed by a variable lives in memory, not in registers");
}

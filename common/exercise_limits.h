/* exercise_limits.h — limits that several chapters' tests set, beside exercise.h: roundoffs for
 * tolerances, and limits on sectors and blocks with the reasons that are the same everywhere. What
 * exercises on one kind of data share lies beside it: exercise_fusion.h, exercise_gemm.h,
 * exercise_matrix.h, exercise_reduce.h. */
#pragma once
#include "common/exercise.h"

#include <math.h>

/* Unit roundoffs: the largest relative error of one correctly rounded operation. */
#define EX_ROUNDOFF_F32 0x1p-24

/* Sectors that a request may touch: `slack` times what its active lanes and widths need when
 * packed. A plain limit of 4 would refuse float4 (16 sectors, all of them used) and let pass
 * half-empty warps (4 sectors, half of each used). */
static inline double ex_max_sectors_per_request(const char *ideal, const char *requests,
                                                double slack) {
    double n = ex_metric_value(requests);
    return n > 0 ? slack * ex_metric_value(ideal) / n : slack * 4;
}

/* Loads and stores by the figure that lessons explain; then all that reads or writes, since
 * atomics, bulk copies, constants and copies beside the kernels have sectors, too. Both are
 * averages, which packed work beside them improves: for goals that limit a total as well. */
static inline void ex_require_packed_loads_on_average(double slack, const char *reason) {
    ex_require_at_most(
        "global_load_sectors_per_request",
        ex_max_sectors_per_request("global_load_sectors_ideal", "global_load_requests", slack),
        reason);
    ex_require_at_most("read_amplification", slack, reason);
}

static inline void ex_require_packed_stores_on_average(double slack, const char *reason) {
    ex_require_at_most(
        "global_store_sectors_per_request",
        ex_max_sectors_per_request("global_store_sectors_ideal", "global_store_requests", slack),
        reason);
    ex_require_at_most("write_amplification", slack, reason);
}

/* Sectors that the problem's own bytes fill, inputs and outputs. */
static inline double ex_problem_sectors(void) {
    const struct exercise *e = ex_current_exercise();
    return e->bytes(&e->technique_case) / 32;
}

/* For guards, and goals without a total of their own: what is moved in vain is besides no more than
 * it would be if each of the problem's bytes were moved once at that slack. No idle work lowers
 * that. */
static inline void ex_require_coalesced_loads(double slack, const char *reason) {
    ex_require_packed_loads_on_average(slack, reason);
    ex_require_at_most_per("excessive_read_sectors", ex_problem_sectors(), "sector of the problem",
                           slack - 1, reason);
}

static inline void ex_require_coalesced_stores(double slack, const char *reason) {
    ex_require_packed_stores_on_average(slack, reason);
    ex_require_at_most_per("excessive_write_sectors", ex_problem_sectors(), "sector of the problem",
                           slack - 1, reason);
}

/* A goal or a guard: none, of whatever kind of access. One figure for all: conflicts that move from
 * the loads to the stores, or stand for both in an atomic, are conflicts as before. */
static inline void ex_require_no_bank_conflicts(const char *reason) {
    ex_require_at_most("bank_conflicts", 0, reason);
}

/* A guard: a single block, or a few, can do all of the work with few atomics and every byte read
 * once, and leave the other SMs idle. */
static inline void ex_require_min_blocks(double min_blocks) {
    ex_require_at_least("blocks", min_blocks, "a block runs on one SM, and a device has many");
}

/* Elements of argument `arg`, a buffer, in the technique case: what totals are divided by. */
static inline double ex_element_count(unsigned arg) {
    const struct exercise *e = ex_current_exercise();
    return (double)e->args[arg].count(&e->technique_case);
}

/* exercise_limits.h — limits that tests of several chapters share: unit roundoffs for tolerances,
 * and limits on sectors, bank conflicts and blocks. Exercises on one kind of data share
 * exercise_fusion.h, exercise_gemm.h, exercise_matrix.h or exercise_reduce.h. */
#pragma once
#include "common/exercise.h"

#include <math.h>

/* Unit roundoffs: the largest relative error of one correctly rounded operation. */
#define EX_ROUNDOFF_F32 0x1p-24

/* Returns the limit on sectors for each request: `slack` times the packed ideal. A plain limit of 4
 * would refuse float4 (16 sectors, all used) and accept half-empty warps (4 sectors, each half
 * used). */
static inline double ex_max_sectors_per_request(const char *ideal, const char *requests,
                                                double slack) {
    double n = ex_metric_value(requests);
    return n > 0 ? slack * ex_metric_value(ideal) / n : slack * 4;
}

/* The first metric covers loads or stores and is the one that the lessons explain. The second
 * covers all reads or writes: atomics, bulk copies, constants and copies outside kernels move
 * sectors, too. Both are averages, which additional packed accesses improve, so use these in goals
 * that also limit a total. */
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

/* Returns the sectors that the problem's inputs and outputs fill. */
static inline double ex_problem_sectors(void) {
    const struct exercise *e = ex_current_exercise();
    return e->bytes(&e->technique_case) / 32;
}

/* For guards, and for goals without a limit on a total. The excessive sectors are also limited, to
 * those of moving each of the problem's bytes once at that slack; additional packed accesses don't
 * lower that number. */
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

/* Goal or guard: no bank conflicts in any kind of access. One metric covers loads, stores and
 * atomics, so moving conflicts from loads to stores gains nothing. */
static inline void ex_require_no_bank_conflicts(const char *reason) {
    ex_require_at_most("bank_conflicts", 0, reason);
}

/* About half of an H200's 132 SMs. Versions with fewer, larger blocks can be as fast as the model
 * solution, and what idle SMs cost shows in the time. */
enum { EX_MIN_BLOCKS = 64 };

/* Guard: without it, a few blocks could do all the work with few atomics and read every byte once,
 * while the other SMs are idle. */
static inline void ex_require_min_blocks(double min_blocks) {
    ex_require_at_least("blocks", min_blocks, "a block runs on one SM, and a device has many");
}

/* Returns the elements of buffer `arg` in the technique case, for limits per element. */
static inline double ex_element_count(unsigned arg) {
    const struct exercise *e = ex_current_exercise();
    return (double)e->args[arg].count(&e->technique_case);
}

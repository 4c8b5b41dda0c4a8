/* exercise_fill.h — what several chapters' tests share beside exercise.h: bounds on rounding, limits on sectors. */
#pragma once
#include "common/exercise.h"

#include <math.h>

/* Unit roundoffs: the largest relative error of one correctly rounded operation. */
#define EX_ROUND32 0x1p-24
#define EX_ROUND64 0x1p-53

/* Sectors that a request may touch: `slack` times what its active lanes and widths need when packed. A plain limit of
 * 4 would refuse float4 (16 sectors, all of them used) and let pass half-empty warps (4 sectors, half of each used). */
static inline double ex_packed(const char *ideal, const char *requests, double slack)
{
    double n = ex_metric(requests);
    return n > 0 ? slack * ex_metric(ideal) / n : slack * 4;
}

static inline void ex_coalesced_loads(double slack, const char *reason)
{
    ex_at_most("sectors_per_request_load", ex_packed("sectors_ideal_load", "requests_load", slack), reason);
}

static inline void ex_coalesced_stores(double slack, const char *reason)
{
    ex_at_most("sectors_per_request_store", ex_packed("sectors_ideal_store", "requests_store", slack), reason);
}

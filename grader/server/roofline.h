/* roofline.h — the roofline ceilings of a real GPU: a copy kernel and an FMA kernel, measured in
 * the same session as the submissions. */
#pragma once
#include "common/err.h"
#include "grader/server/backend.h"

struct roofline {
    double bytes_per_second; /* read + written, by the copy kernel */
    double flops_per_second; /* single precision, by the FMA kernel */
};
/* Measures the ceilings of a gpu backend that holds no live allocations. Returns false with the
 * reason. */
bool roofline_measure(struct backend *b, struct roofline *out, struct err *e);

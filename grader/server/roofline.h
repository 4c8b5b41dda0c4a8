/* roofline.h — what a real GPU can do: a copy kernel and an FMA kernel, measured in the same
 * session as the rest. */
#pragma once
#include "common/err.h"
#include "grader/server/backend.h"

struct roofline {
    double bytes_per_second; /* read + written, by the copy kernel */
    double flops_per_second; /* single precision, by the FMA kernel */
};
/* On a gpu backend without anything allocated that must stay. False with the reason. */
bool roofline_measure(struct backend *b, struct roofline *out, struct err *e);

/* processor.h — what CUDA C leaves to the processor that it is compiled on, said to nvcc, so that a
 * submission means the same on every machine. On aarch64 char would have no sign, in kernels too,
 * and gcc would make one rounding of a product and a sum. */
#pragma once

#ifdef __aarch64__
#define PROCESSOR_NVCC_FLAGS \
    "-Xcompiler", "-fsigned-char,-ffp-contract=off", "-Xcudafe", "--signed_chars",
#else
#define PROCESSOR_NVCC_FLAGS /* x86-64 is the measure */
#endif

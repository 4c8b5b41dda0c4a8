/* processor.h — nvcc flags that fix what CUDA C leaves to the processor, so that a submission means
 * the same on every machine. Without them, char on aarch64 would be unsigned, in kernels too, and
 * gcc would contract a product and a sum to one rounding. */
#pragma once

/* Options of the host compiler with which messages can name the source line of a host call
 * (runtime/source_line.c): line tables, and a stack frame for each call. */
#define LINE_TABLE_FLAGS "-g1,-fno-optimize-sibling-calls"

#ifdef __aarch64__
#define PROCESSOR_NVCC_FLAGS \
    "-Xcompiler", "-fsigned-char,-ffp-contract=off", "-Xcudafe", "--signed_chars",
#else
#define PROCESSOR_NVCC_FLAGS /* x86-64 is the standard */
#endif

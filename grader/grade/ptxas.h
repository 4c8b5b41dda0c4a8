/* ptxas.h — the second half of a build: ptxas says whether the device code can run at all, and what
 * each kernel takes. */
#pragma once
#include "grader/grade/build.h"
#include "grader/sim/sass/sass.h"

struct ptxas_kernel {
    char *name;                      /* mangled */
    uint32_t registers, spill_bytes; /* spills: with those of the functions that it may call */
};
struct ptxas {
    bool refused, failed; /* by ptxas: `text` is its message; for our own reasons: `text` is why */
    struct buf text;      /* cleaned */
    struct ptxas_kernel *kernels;
    unsigned nkernels;
    struct sass_insn
        *code; /* the machine code; NULL = there is no disassembler, or its listing says nothing */
    uint32_t ncode;
};
struct ptxas_job;
/* Starts ptxas, in a jail, for the architecture (such as 90) on the PTX of a build, or takes the
 * answer from the cache. */
struct ptxas_job *ptxas_start(const struct build *b, unsigned arch);
void ptxas_finish(struct ptxas_job *job, struct ptxas *out); /* waits; frees the job */
void ptxas_free(struct ptxas *p);

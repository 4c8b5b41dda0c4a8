/* ptxas.h — the second half of a build: ptxas checks that the device code can run on an
 * architecture, and reports the registers and spills of each kernel. */
#pragma once
#include "grader/grade/build.h"
#include "grader/sim/sass/sass.h"

struct ptxas_kernel {
    char *name;                      /* mangled */
    uint32_t registers, spill_bytes; /* spills include those of functions that it may call */
};
struct ptxas {
    bool refused, failed; /* ptxas rejected the code; we could not run ptxas */
    struct buf text;      /* ptxas' message, or our reason; cleaned */
    struct ptxas_kernel *kernels;
    unsigned nkernels;
    struct sass_insn *code; /* machine code; NULL = no disassembler, or no usable listing */
    uint32_t ncode;
};
struct ptxas_job;
/* Starts ptxas in a sandbox on the PTX of a build, for an architecture (such as 90); or fetches its
 * result from the cache. */
struct ptxas_job *ptxas_start(const struct build *b, unsigned arch);
void ptxas_finish(struct ptxas_job *job, struct ptxas *out); /* waits; frees the job */
void ptxas_free(struct ptxas *p);

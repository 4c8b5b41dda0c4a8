/* ptxas.h — registers and spills of kernels as ptxas reports them, for occupancy. */
#pragma once
#include "common/err.h"
#include "grader/sim/sim.h"

#include <stddef.h>

/* One kernel's usage; `name` points into ptxas's output and is not terminated. */
struct ptxas_usage {
    const char *name;
    size_t length;
    uint32_t registers,
        spill_bytes; /* spills: of its code and of that of all functions that it may call */
};
/* Parses the next kernel in `ptxas -v` output. Returns where to continue, NULL = no more. */
const char *ptxas_parse_next(const char *text, struct ptxas_usage *out);

/* Runs `ptxas` (its path) for the architecture (such as 90) on the text and gives the module's
 * kernels their registers and spills. Its output is cached in the folder `cache`, by content; NULL
 * = no cache. Not for untrusted PTX: ptxas runs outside the sandbox. Returns false if ptxas
 * failed or rejected the text; the kernels keep the simulator's estimate. */
bool ptxas_set_registers(const struct sim_module *m, const char *text, size_t n, unsigned arch,
                         const char *ptxas, const char *cache, struct err *e);

/* The same in two steps, so that ptxas runs while the program continues. `part`: one of several
 * texts to be linked. The architecture is at least the text's own target. */
struct ptxas_run;
struct ptxas_run *ptxas_begin(const char *text, size_t n, unsigned arch, bool is_relocatable,
                              const char *ptxas, const char *cache);
bool ptxas_end(struct ptxas_run *r, const struct sim_module *m,
               struct err *e); /* m: NULL = discard the result */

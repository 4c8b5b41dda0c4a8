/* ptxas.h — what ptxas says of a module's kernels, for occupancy. */
#pragma once
#include "common/err.h"
#include "grader/sim/sim.h"

/* What `ptxas -v` says of one kernel. Its name (mangled, no end) lies in the text. */
struct ptxas_said {
    const char *name;
    size_t length;
    uint32_t registers;
    uint32_t spill_bytes; /* of its code and of that of all functions that it may call */
};

/* Calls `each` for every kernel of the text. Lines are told by their fixed beginnings; no PTX identifier holds a space, a quote or
 * the end of a line. */
void ptxas_read(const char *text, void (*each)(void *user, const struct ptxas_said *k), void *user);

/* Runs `ptxas` (its path) for the architecture (such as 90) on the text and gives the module's kernels their
 * registers and spills. What it said is kept in the folder `cache`, by content; NULL = not kept. Not for
 * foreign PTX: ptxas runs unprotected here. False: it did not run or refused the text; the kernels keep the
 * simulator's estimate. */
bool ptxas_set_registers(const struct sim_module *m, const char *text, size_t n, unsigned arch, const char *ptxas,
                         const char *cache, struct err *e);

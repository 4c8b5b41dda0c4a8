/* ptxas.h — what ptxas says of a module's kernels, for occupancy. */
#pragma once
#include "common/err.h"
#include "grader/sim/sim.h"

/* Runs `ptxas` (its path) for the architecture (such as 90) on the text and gives the module's kernels their
 * registers and spills. What it said is kept in the folder `cache`, by content; NULL = not kept. Not for
 * foreign PTX: ptxas runs unprotected here. False: it did not run or refused the text; the kernels keep the
 * simulator's estimate. */
bool ptxas_set_registers(const struct sim_module *m, const char *text, size_t n, unsigned arch, const char *ptxas,
                         const char *cache, struct err *e);

/* load.h — what sim.c needs of the decoder. */
#pragma once
#include "grader/sim/core/core.h"

/* Decodes m->ptx into m and places its variables in device memory; their contents are written by module_reset. */
bool module_decode(struct sim_module *m, struct err *e);
/* Runs an op's lane function with its rounding and flush-to-zero in force (core/environment.c). */
op_fn run_in_environment;

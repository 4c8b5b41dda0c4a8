/* direct.h — the bytes of device memory themselves, for a copy that would otherwise take two. */
#pragma once
#include "grader/sim/sim.h"

/* Where a range lies in this process, NULL if it is not all in one live allocation. With `writes` it counts as written. */
unsigned char *sim_direct(struct sim *s, uint64_t address, uint64_t bytes, bool writes);

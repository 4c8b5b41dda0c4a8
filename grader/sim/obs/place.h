/* place.h — the source line that an instruction is reported under. */
#pragma once
#include "grader/sim/ptx/ptx.h"

/* Where the reader of a report looks for `loc`: the toolkit's headers, inlined, count for the line that calls them. */
const struct ptx_loc *source_place(const struct ptx_module *m, uint32_t loc);

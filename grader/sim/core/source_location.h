/* source_location.h — what reports call things: the source line of an instruction, the variable at
 * an address. */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/ptx/ptx.h"

/* Where the reader of a report looks for `loc`: the toolkit's headers, inlined, count for the line
 * that calls them. */
const struct ptx_loc *source_location_of(const struct ptx_module *m, uint32_t loc);
/* Whether two places are one in the source, calls that were inlined included. */
bool source_location_equal(const struct ptx_module *m, uint32_t a, uint32_t b);
/* The source line of an op, 0 = unknown; "(1,0,0)" for the thread of that number in its block. */
uint32_t source_location_line(const struct launch *l, u32 op);
/* " in line 7", or " in other.cuh:7" where that is another file than `own`'s; nothing where no line
 * is known. */
void source_location_format(const struct ptx_module *m, const struct ptx_loc *at,
                            const struct ptx_loc *context, char *out, size_t size);
/* The same of the op of that number, in a report that is made at `own`. */
void source_location_format_op(const struct launch *l, u32 op, const struct op *context, char *out,
                               size_t size);
void describe_thread(const struct launch *l, u32 thread, char *out, size_t size);
/* What lies at an offset of the block's shared memory: "byte 8 of `tile` in shared memory". */
void describe_shared_variable(const struct launch *l, uint64_t offset, char *out,
                              size_t size); /* "`tile`" */
void describe_shared_byte(const struct launch *l, uint64_t offset, char *out, size_t size);
/* The same by elements of a width: "element 2 of `tile` (64 of 4 bytes) in shared memory". */
void describe_shared_element(const struct launch *l, uint64_t offset, u32 width, char *out,
                             size_t size);
/* What the loop that the branch closes waits for, a sentence after a space; empty if that cannot be
 * told. */
void describe_spin(const struct exec *x, const struct op *branch, char *out, size_t size);

/* source_location.h — names for reports: the source line of an instruction, the variable at an
 * address. */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/ptx/ptx.h"

/* Returns the location to report for `loc`: for inlined functions of the toolkit's headers, the
 * line that calls them. */
const struct ptx_loc *source_location_of(const struct ptx_module *m, uint32_t loc);
/* Returns true if two locations are the same in the source, including the calls that were inlined.
 */
bool source_location_equal(const struct ptx_module *m, uint32_t a, uint32_t b);
/* Returns the source line of an op; 0 = unknown. */
uint32_t source_location_line(const struct launch *l, u32 op);
/* Writes " in line 7", or " in other.cuh:7" if that is another file than `context`'s; nothing if
 * the line is unknown. */
void source_location_format(const struct ptx_module *m, const struct ptx_loc *at,
                            const struct ptx_loc *context, char *out, size_t size);
/* The same for the op with index `op`, in a report at `context`. */
void source_location_format_op(const struct launch *l, u32 op, const struct op *context, char *out,
                               size_t size);
/* Writes a thread's index in its block: "(1,0,0)". */
void describe_thread(const struct launch *l, u32 thread, char *out, size_t size);
/* Describes an offset of the block's shared memory: "byte 8 of `tile` in shared memory". */
void describe_shared_variable(const struct launch *l, uint64_t offset, char *out,
                              size_t size); /* "`tile`" */
void describe_shared_byte(const struct launch *l, uint64_t offset, char *out, size_t size);
/* The same in elements of `width` bytes: "element 2 of `tile` (64 of 4 bytes) in shared memory". */
void describe_shared_element(const struct launch *l, uint64_t offset, u32 width, char *out,
                             size_t size);
/* Writes what the loop that `branch` closes waits for: a sentence after a space, empty if unknown.
 */
void describe_spin(const struct exec *x, const struct op *branch, char *out, size_t size);
/* Writes what the phase still lacks that an op waits for, in the same form. Returns false if the op
 * doesn't wait for an mbarrier in shared memory. */
bool describe_mbarrier_wait(const struct exec *x, const struct op *o, char *out, size_t size);

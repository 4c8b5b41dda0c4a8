/* proxy.h — missing fences between proxies: shared memory that threads write and wgmma or bulk
 * copies read. Threads access memory through the generic proxy, those units through the async
 * proxy. What one writes is visible to the other only after a fence.proxy.async between them in
 * causality order (PTX ISA, "Memory Consistency Model", Proxies; "Async proxy"). */
#pragma once
#include "grader/sim/core/core.h"

struct race_proxy;
/* Resets the state when a block starts; frees it. */
void race_proxy_start(struct block *b, const struct launch *l);
void race_proxy_free(struct block *b);
/* Advances the time: a barrier or an acquire has ordered some of the block's threads. */
void race_proxy_sync(struct block *b);
/* Records a write by a lane, or, with `async`, by a bulk copy. A cp.async counts as a thread's
 * write with the strict memory model only: the PTX manual does not list it under the async proxy,
 * yet CUTLASS multiplies data from cp.async without a fence. */
void race_proxy_write(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                      bool async);
/* Records that a copy by another block of the cluster has written there. */
void race_proxy_remote_copy(struct block *b, u64 offset, u32 bytes);
void race_proxy_fence(struct exec *x, u32 mask);
/* Checks a read through the async proxy. `verb` is for the report: "multiplies", "copies". */
void race_proxy_read(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                     const char *verb);

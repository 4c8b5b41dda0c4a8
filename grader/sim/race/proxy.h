/* proxy.h — shared memory that threads write and another unit of the SM reads: products of
 * warpgroups, bulk copies out of it. The PTX manual calls ways to memory *proxies*: threads use the
 * generic one, those units the async one, and what one wrote is there for the other once a
 * fence.proxy.async stands between, in the order of the program and of its barriers ("Memory
 * Consistency Model", Proxies; "Async proxy"). */
#pragma once
#include "grader/sim/core/core.h"

struct race_proxy;
/* A block starts; its memory goes. */
void race_proxy_start(struct block *b, const struct launch *l);
void race_proxy_free(struct block *b);
/* Something orders threads of the block from here on. */
void race_proxy_sync(struct block *b);
/* Bytes of shared memory were written by a lane, or, `async`, by a bulk copy. Copies by cp.async
 * are threads' writes with the strict memory model only: the manual does not name them among the
 * async proxy's, and yet CUTLASS multiplies what they brought without a fence. */
void race_proxy_write(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                      bool async);
/* A copy of another block of the cluster has written there. */
void race_proxy_remote_copy(struct block *b, u64 offset, u32 bytes);
void race_proxy_fence(struct exec *x, u32 mask);
/* They are read by the async proxy. `verb`: what for. */
void race_proxy_read(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 bytes,
                     const char *verb);

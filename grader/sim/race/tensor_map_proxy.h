/* tensor_map_proxy.h — tensor maps that a kernel changes while it runs. What copies by tensor maps read is the
 * tensormap proxy's, which may have an older map at hand: who uses one that was changed needs
 * fence.proxy.tensormap::generic.acquire (PTX manual, "membar / fence"; an H100 does go on by the
 * old map without it). */
#pragma once
#include "grader/sim/core/core.h"

struct tensor_map_updates;
/* The map at that address is changed; changes of it are seen; it is used, by a copy. */
void race_tensor_map_update(struct exec *x, const struct op *o, u64 address);
void race_tensor_map_acquire(struct exec *x, u64 address);
void race_tensor_map_use(struct exec *x, const struct op *o, u32 lane, u64 address);
void race_tensor_maps_free(struct worker *k);

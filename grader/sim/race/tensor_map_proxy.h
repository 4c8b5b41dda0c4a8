/* tensor_map_proxy.h — tensor maps that a kernel changes while it runs. Bulk copies read the map
 * through the tensormap proxy, which may still have the old one: a thread that uses a changed map
 * needs fence.proxy.tensormap::generic.acquire (PTX ISA, "membar / fence"; without it, an H100 does
 * go on copying by the old map). */
#pragma once
#include "grader/sim/core/core.h"

struct tensor_map_updates;
/* Records a change of the map at that address; records an acquire of it; checks its use by a copy.
 */
void race_tensor_map_update(struct exec *x, const struct op *o, u64 address);
void race_tensor_map_acquire(struct exec *x, u64 address);
void race_tensor_map_use(struct exec *x, const struct op *o, u32 lane, u64 address);
void race_tensor_maps_free(struct worker *k);

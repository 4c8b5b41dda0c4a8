/* tensor_map.h — a tensor map as the runtime writes it, and as the simulator and a GPU's backend
 * read it. */
#pragma once
#include <stdint.h>

#define TENSOR_MAP_MAGIC "WBTENSOR" /* WB: the prefix of the workbook's own interfaces */

struct tensor_map {
#define FIELD(type, name)    type name;
#define ARRAY(type, name, n) type name[n];
#include "grader/sim/tensor_map.def"
};
_Static_assert(sizeof(struct tensor_map) == 128, "the layout has the size of a CUtensorMap");

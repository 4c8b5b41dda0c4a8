/* tensor_map.c — tensor maps of the fake driver: it writes down what it was called with. */
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/fakecuda/internal.h"

#include <string.h>

EXPORT int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, uint64_t address,
                                  const uint64_t *dim, const uint64_t *stride, const uint32_t *box,
                                  const uint32_t *element_stride, int interleave, int swizzle,
                                  int l2_promotion, int fill) {
    RECORD_CALL();
    if ((uintptr_t)map % 64)
        return add_violation("cuTensorMapEncodeTiled: the map isn't aligned"), INVALID_VALUE;
    if (rank != 2) return INVALID_VALUE;
    struct fakecuda_tensor_map m = {"encoded",
                                    address,
                                    {dim[0], dim[1]},
                                    stride[0],
                                    {box[0], box[1]},
                                    {element_stride[0], element_stride[1]},
                                    rank,
                                    type,
                                    interleave,
                                    swizzle,
                                    l2_promotion,
                                    fill};
    memset(map, 0, 128);
    return memcpy(map, &m, sizeof m), OK;
}

/* gpu_tensor_map.c — translates the tensor maps among a kernel's parameters from the runtime's
 * layout (grader/sim/tensor_map.def) to the GPU's, which only its driver can write. */
#include "grader/server/gpu_internal.h"
#include "grader/sim/tensor_map.h"

#include <string.h>

enum { MAP_ALIGNMENT = 64 }; /* of a CUtensorMap */

static bool is_map(const char *p) { return !memcmp(p, TENSOR_MAP_MAGIC, sizeof(uint64_t)); }

/* Returns the offset of the first map from `at` on, or param_bytes if there is none. */
static uint32_t find_map(const struct backend_launch *l, uint32_t at) {
    for (; at + sizeof(struct tensor_map) <= l->param_bytes; at += MAP_ALIGNMENT)
        if (is_map((const char *)l->params + at)) return at;
    return l->param_bytes;
}

bool gpu_has_tensor_map(const struct backend_launch *l) { return find_map(l, 0) < l->param_bytes; }

/* Returns a CUresult. */
static int encode(const struct backend_gpu *g, char *map) {
    struct tensor_map m;
    _Alignas(MAP_ALIGNMENT) char encoded[sizeof m];
    uint32_t element_stride[sizeof m.element_stride];
    memcpy(&m, map, sizeof m);
    for (unsigned i = 0; i < sizeof m.element_stride; i++) element_stride[i] = m.element_stride[i];
    int error = g->d.cuTensorMapEncodeTiled(encoded, m.type, m.rank, m.address, m.dim, m.stride,
                                            m.box, element_stride, m.interleave, m.swizzle,
                                            m.l2_promotion, m.fill_with_nan);
    if (!error) memcpy(map, encoded, sizeof encoded);
    return error;
}

int gpu_encode_tensor_maps(const struct backend_gpu *g, const struct backend_launch *l,
                           void *params) {
    int error = 0;
    for (uint32_t at = find_map(l, 0); !error && at < l->param_bytes;
         at = find_map(l, at + MAP_ALIGNMENT))
        error = encode(g, (char *)params + at);
    return error;
}

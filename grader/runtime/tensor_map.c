/* tensor_map.c — cuTensorMapEncodeTiled: encodes a tensor map in the 128 bytes that the simulated
 * GPU reads. Their layout is our own (tensor_map.def). The simulator checks the same list of
 * conditions again. */
#include "grader/runtime/runtime.h"
#include "grader/sim/tensor_map.h"

#include <cuda.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct tensor_map) == sizeof(CUtensorMap), "the layout has CUDA's size");

enum tensor_kind { TENSOR_BITS, TENSOR_UNSIGNED, TENSOR_SIGNED, TENSOR_FLOAT };
static const struct {
    uint8_t bytes, kind;
} types[] = {
#define TYPE(id, name, bytes, kind) [CU_TENSOR_MAP_DATA_TYPE_##id] = {bytes, kind},
#include "grader/sim/tensor_map.def"
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

static bool is_valid(const struct tensor_map *m) {
    uint32_t bytes = types[m->type].bytes;
    uint8_t kind = types[m->type].kind;
#define RULE(condition, text) \
    if (!(condition)) return false;
#define RULE_FOR_EACH(n, condition, text)          \
    for (unsigned i = 0; i < (unsigned)(n); i++) { \
        if (!(condition)) return false;            \
    }
#include "grader/sim/tensor_map.def"
    return true;
}

/* Formats that the driver accepts but this GPU does not simulate. */
static const char *unsupported_feature(unsigned type, unsigned interleave, unsigned swizzle) {
    if (type >= TYPE_COUNT) return "cuTensorMapEncodeTiled of packed elements";
    if (interleave) return "cuTensorMapEncodeTiled of an interleaved layout";
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return "cuTensorMapEncodeTiled of this swizzle";
    return NULL;
}

static uint8_t saturate_u8(uint32_t v) { return v < UINT8_MAX ? (uint8_t)v : UINT8_MAX; }

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *dim, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    struct tensor_map m = {.address = (uint64_t)address,
                           .type = saturate_u8((uint32_t)type),
                           .rank = saturate_u8(rank)};
    bool are_valid_enums = (unsigned)type <= 15 && (unsigned)interleave <= 2 &&
                           (unsigned)swizzle <= 6 && (unsigned)promotion <= 3;
    if (!out || (uintptr_t)out % 64 || !are_valid_enums || rank < 1 || rank > 5 || !dim || !box ||
        !element_strides || (rank > 1 && !strides))
        return CUDA_ERROR_INVALID_VALUE;
    const char *unsupported =
        unsupported_feature((unsigned)type, (unsigned)interleave, (unsigned)swizzle);
    if (unsupported) return (CUresult)wb_unsupported(unsupported);
    memcpy(&m.magic, TENSOR_MAP_MAGIC, sizeof m.magic);
    m.swizzle = (uint8_t)swizzle;
    m.l2_promotion = (uint8_t)promotion;
    m.fill_with_nan = saturate_u8((uint32_t)fill);
    for (unsigned i = 0; i < 5; i++) {
        m.dim[i] = i < rank ? dim[i] : 1;
        m.box[i] = i < rank ? box[i] : 1;
        m.element_stride[i] = i < rank ? saturate_u8(element_strides[i]) : 1;
        if (i + 1 < rank) m.stride[i] = strides[i];
    }
    if (!is_valid(&m)) return CUDA_ERROR_INVALID_VALUE;
    memcpy(out, &m, sizeof m);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    struct tensor_map m;
    if (!map || (uintptr_t)map % 64) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&m, map, sizeof m);
    m.address = (uint64_t)address;
    if (memcmp(&m.magic, TENSOR_MAP_MAGIC, sizeof m.magic) || m.type >= TYPE_COUNT || !is_valid(&m))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(map, &m, sizeof m);
    return CUDA_SUCCESS;
}

/* Image-to-column maps: refused by name. */
CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                 void *address, const cuuint64_t *dim, const cuuint64_t *strides,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    (void)out, (void)type, (void)rank, (void)address, (void)dim, (void)strides, (void)lower,
        (void)upper, (void)channels;
    (void)pixels, (void)element_strides, (void)interleave, (void)swizzle, (void)promotion,
        (void)fill;
    return (CUresult)wb_unsupported("cuTensorMapEncodeIm2col");
}

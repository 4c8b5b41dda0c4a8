/* array.h — CUDA arrays: device memory with a shape, row by row. NVIDIA does not document
 * its arrays' layout; ours has rows of a multiple of 64 bytes, planes of a multiple of 8 rows. */
#pragma once
#include "grader/runtime/runtime.h"

struct cudaArray {
    uint8_t *memory;
    size_t pitch, plane; /* bytes */
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* in elements, as asked for */
    unsigned flags;
    size_t element_bytes; /* bytes */
};

/* Bytes of an element; 0: no such format. */
size_t wb_element_bytes(const struct cudaChannelFormatDesc *d);

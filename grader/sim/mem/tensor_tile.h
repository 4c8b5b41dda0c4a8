/* tensor_tile.h — tensor maps, and the addresses of the tiles that they describe. Bulk copies by
 * tensor maps (insn/exec_tensor.c) use it.
 *
 * A tile is the map's box at some coordinates. It lies in shared memory row by row; a row is what
 * is adjacent in dimension 0. Rows follow each other without gaps, unless they are shorter than the
 * span of the swizzle mode: then each begins at a multiple of the span (measured on an H100,
 * tests/programs/tensor_maps.cu; the mbarrier still counts only the bytes of the rows). A map is
 * 128 bytes that a program may have made up: memory_tile_init checks what it accepts, and no
 * arithmetic on it overflows. */
#pragma once
#include "grader/sim/mem/mem.h"
#include "grader/sim/tensor_map.h"

enum {
    TENSOR_MAX_RANK = 5,
    TENSOR_MAP_BYTES = 128,
    TENSOR_MAP_ALIGN = 64,
    TENSOR_MAX_ROW_BYTES = 256 * 8,
    TENSOR_CHUNK_BYTES = 16 /* the unit that a swizzle permutes */
};
enum tensor_kind { TENSOR_BITS, TENSOR_UNSIGNED, TENSOR_SIGNED, TENSOR_FLOAT };
enum tensor_type {
#define TYPE(id, name, bytes, kind) TENSOR_##id,
#include "grader/sim/tensor_map.def"
    TENSOR_TYPE_COUNT
};

struct memory_tile {
    struct tensor_map map;
    uint32_t element_bytes;
    int64_t coord[TENSOR_MAX_RANK];  /* coordinates of its first element */
    uint32_t count[TENSOR_MAX_RANK]; /* elements in each dimension, 1 beyond the rank */
    uint64_t rows, bytes; /* bytes: in shared memory, including elements outside the tensor */
    uint64_t low, high;   /* addresses of the part within the tensor; equal if there is none */
    uint64_t fill_value;  /* for elements outside the tensor: a NaN, or 0 */
};

/* Writes the magic number that tells a tensor map from other bytes. */
void memory_tensor_map_mark(struct tensor_map *m);
/* Reads a map; returns NULL, or what is wrong with these bytes as a map. */
const char *memory_tensor_map_parse(const unsigned char bytes[TENSOR_MAP_BYTES],
                                    struct tensor_map *out);
/* Initializes a tile at the coordinates `coord`, as many as the map's rank. Returns false if its
 * addresses exceed 64 bits. */
bool memory_tile_init(struct memory_tile *t, const struct tensor_map *m, const int32_t *coord);

/* Returns true if no element of the tile is inside the tensor. */
bool memory_tile_is_outside(const struct memory_tile *t);
/* A row of the tile: `skip_bytes` outside the tensor, then `inside_bytes` in global memory from
 * `address` on, the rest outside again. */
struct tile_row {
    uint64_t address;
    uint32_t skip_bytes, inside_bytes;
};
/* Returns the bytes of a row with all its elements, inside the tensor or not. */
uint32_t memory_tile_row_bytes(const struct memory_tile *t);
/* Returns the bytes from one row's start in shared memory to the next one's. */
uint32_t memory_tile_shared_pitch(const struct memory_tile *t);
/* Returns row number `row`; all zeroes if it is outside the tensor. */
struct tile_row memory_tile_row(const struct memory_tile *t, uint64_t row);
/* Fills `row` with the value of elements outside the tensor. */
void memory_tile_fill_row(const struct memory_tile *t, unsigned char row[TENSOR_MAX_ROW_BYTES]);
/* Returns the bytes of shared memory, from the tile's first byte, that hold all of it with any
 * swizzle. */
uint64_t memory_tile_shared_bytes(const struct memory_tile *t);
/* Returns the swizzled address of the chunk that would be at `address` without a swizzle. */
static inline uint64_t memory_tile_swizzle(const struct memory_tile *t, uint64_t address) {
    return address ^ ((address >> 7 & ((1u << t->map.swizzle) - 1)) << 4);
}
/* Return a hash of the tile's bytes in global memory; of any bytes. A copy compares its source's
 * hash when it begins and when it ends. */
uint64_t memory_tile_hash(const struct memory *m, const struct memory_tile *t);
uint64_t memory_hash(const unsigned char *bytes, uint64_t n, uint64_t seed);

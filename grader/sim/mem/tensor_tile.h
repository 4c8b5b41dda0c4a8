/* tensor_tile.h — tensor maps, and where the tiles that they describe lie in memory: bulk copies by
 * tensor maps (insn/exec_tensor.c).
 *
 * A tile is the map's box at some coordinates. It lies in shared memory row by row; a row is what
 * is adjacent in dimension 0. Rows follow each other without gaps, but where they are shorter than
 * what a swizzle moves chunks within: those begin at its multiples (measured on an H100,
 * tests/programs/tensor_maps.cu; the bytes that arrive at the mbarrier are those of the rows all
 * the same). A map is 128 bytes that a program may have made up: what memory_tile_init accepts has
 * been checked, and no arithmetic on it overflows. */
#pragma once
#include "grader/sim/mem/mem.h"

enum {
    TENSOR_MAX_RANK = 5,
    TENSOR_MAP_BYTES = 128,
    TENSOR_MAP_ALIGN = 64,
    TENSOR_MAX_ROW_BYTES = 256 * 8, /* bytes at most */
    TENSOR_CHUNK_BYTES = 16         /* what a swizzle moves as one */
};
enum tensor_kind { TENSOR_BITS, TENSOR_UNSIGNED, TENSOR_SIGNED, TENSOR_FLOAT };
enum tensor_type {
#define TYPE(id, name, bytes, kind) TENSOR_##id,
#include "grader/sim/tensor_map.def"
    TENSOR_TYPE_COUNT
};

struct tensor_map {
#define FIELD(type, name)    type name;
#define ARRAY(type, name, n) type name[n];
#include "grader/sim/tensor_map.def"
};
_Static_assert(sizeof(struct tensor_map) == TENSOR_MAP_BYTES, "as CUtensorMap");

struct memory_tile {
    struct tensor_map map;
    uint32_t element_bytes;          /* bytes */
    int64_t coord[TENSOR_MAX_RANK];  /* coordinates of its first element */
    uint32_t count[TENSOR_MAX_RANK]; /* elements in each dimension, 1 beyond the rank */
    uint64_t rows, bytes; /* bytes: in shared memory, elements outside the tensor included */
    uint64_t low, high;   /* addresses of what lies within the tensor; equal: nothing does */
    uint64_t fill_value;  /* the NaN that fills, or 0 */
};

/* NULL, or what is wrong with these bytes as a map. */
void memory_tensor_map_sign(struct tensor_map *m); /* it is one */
const char *memory_tensor_map_parse(const unsigned char bytes[TENSOR_MAP_BYTES],
                                    struct tensor_map *out);
/* Of a map that was read so; `at`: as many coordinates as its rank. False: no address of 64 bits
 * reaches what it describes. */
bool memory_tile_init(struct memory_tile *t, const struct tensor_map *m, const int32_t *at);

/* A row of the tile: `skip` bytes outside the tensor, `bytes` in global memory from `global` on,
 * the rest outside again. */
struct tile_row {
    uint64_t address;
    uint32_t skip_bytes, bytes;
};
uint32_t memory_tile_row_bytes(const struct memory_tile *t);
/* From where one row begins in shared memory to where the next does. */
uint32_t memory_tile_pitch(const struct memory_tile *t);
struct tile_row memory_tile_row(const struct memory_tile *t, uint64_t row);
/* Fills `row` with what elements outside the tensor hold. */
void memory_tile_fill(const struct memory_tile *t, unsigned char row[TENSOR_MAX_ROW_BYTES]);
/* Bytes of shared memory from the tile's first on in which all of it lies, whatever the swizzle. */
uint64_t memory_tile_shared_bytes(const struct memory_tile *t);
/* Where the chunk is whose place without a swizzle is the address. */
static inline uint64_t memory_tile_swizzle(const struct memory_tile *t, uint64_t address) {
    return address ^ ((address >> 7 & ((1u << t->map.swizzle) - 1)) << 4);
}
/* What the tile's bytes in global memory are now, as a number. */
uint64_t memory_tile_hash(const struct memory *m, const struct memory_tile *t);
uint64_t memory_hash(const unsigned char *bytes, uint64_t n, uint64_t seed);

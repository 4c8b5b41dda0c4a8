/* tensor_tile.c — see tensor_tile.h. A copy hashes its source when it begins and when it ends: the
 * source must not change in flight (race/async.c). */
#include "grader/sim/mem/tensor_tile.h"

#include <string.h>

static const struct {
    uint8_t bytes, kind; /* kind: enum tensor_kind */
} element_types[] = {
#define TYPE(id, name, bytes, kind) {bytes, kind},
#include "grader/sim/tensor_map.def"
};

/* ---- a map ---- */

/* The rules in tensor_map.def are conditions on `m`, `bytes` and `kind` and, for each element of an
 * array, `i`. */
static const char *find_violated_rule(const struct tensor_map *m, uint32_t bytes, uint8_t kind) {
#define RULE(condition, text) \
    if (!(condition)) return text;
#define RULE_FOR_EACH(n, condition, text)          \
    for (unsigned i = 0; i < (unsigned)(n); i++) { \
        if (!(condition)) return text;             \
    }
#include "grader/sim/tensor_map.def"
    return NULL;
}

void memory_tensor_map_mark(struct tensor_map *m) {
    memcpy(&m->magic, TENSOR_MAP_MAGIC, sizeof m->magic);
}

const char *memory_tensor_map_parse(const unsigned char bytes[TENSOR_MAP_BYTES],
                                    struct tensor_map *out) {
    memcpy(out, bytes, sizeof *out);
    if (memcmp(&out->magic, TENSOR_MAP_MAGIC, sizeof out->magic))
        return "it was not made by cuTensorMapEncodeTiled";
    bool is_known_type = out->type < TENSOR_TYPE_COUNT;
    return find_violated_rule(out, is_known_type ? element_types[out->type].bytes : 0,
                              is_known_type ? element_types[out->type].kind : 0);
}

/* ---- a tile ---- */

/* Returns what elements outside the tensor read as: 0, or a NaN. The NaN has the same 16 bits in
 * every type, as on an H100 (tests/programs/tensor_maps.cu). */
static uint64_t fill_pattern(const struct tensor_map *m) {
    return m->fill_with_nan ? 0x7ff77ff77ff77ff7 : 0;
}

static int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/* Finds the first and last coordinate in dimension `i` that lies in both the box and the tensor;
 * returns false if there is none. */
static bool clip_dimension(const struct memory_tile *t, unsigned i, int64_t *first, int64_t *last) {
    int64_t step = t->map.element_stride[i], end = (int64_t)t->map.dim[i];
    *first = t->coord[i] >= 0 ? t->coord[i] : t->coord[i] + round_up(-t->coord[i], step);
    *last = t->coord[i] + (t->count[i] - 1) * step;
    if (*last >= end) *last -= round_up(*last - (end - 1), step);
    return *first <= *last;
}

/* Sets `low` and `high`, both to 0 if the tile is outside the tensor. Returns false if an address
 * does not fit in 64 bits: sizes are up to 2^32 and strides up to 2^40. */
static bool find_address_range(struct memory_tile *t) {
    unsigned __int128 low = t->map.address, high = low;
    t->low = t->high = 0;
    for (unsigned i = 0; i < t->map.rank; i++) {
        int64_t first, last;
        uint64_t stride = i ? t->map.stride[i - 1] : t->element_bytes;
        if (!clip_dimension(t, i, &first, &last)) return true;
        low += (unsigned __int128)first * stride;
        high += (unsigned __int128)last * stride;
    }
    if (high + t->element_bytes > UINT64_MAX) return false;
    t->low = (uint64_t)low;
    t->high = (uint64_t)high + t->element_bytes;
    return true;
}

bool memory_tile_init(struct memory_tile *t, const struct tensor_map *m, const int32_t *coord) {
    *t = (struct memory_tile){.map = *m, .element_bytes = element_types[m->type].bytes, .rows = 1};
    t->map.element_stride[0] = 1; /* without interleaving, CUDA ignores the stride of dimension 0 */
    for (unsigned i = 0; i < TENSOR_MAX_RANK; i++) {
        bool used = i < m->rank;
        t->coord[i] = used ? coord[i] : 0;
        t->count[i] =
            used ? (m->box[i] + t->map.element_stride[i] - 1) / t->map.element_stride[i] : 1;
        if (i) t->rows *= t->count[i];
    }
    t->bytes = t->rows * memory_tile_row_bytes(t);
    t->fill_value = fill_pattern(m);
    return find_address_range(t);
}

uint32_t memory_tile_row_bytes(const struct memory_tile *t) {
    return t->count[0] * t->element_bytes;
}

/* The swizzle modes 1, 2 and 3 permute within spans of 32, 64 and 128 bytes. */
uint32_t memory_tile_shared_pitch(const struct memory_tile *t) {
    return t->map.swizzle ? 16u << t->map.swizzle : memory_tile_row_bytes(t);
}

uint64_t memory_tile_shared_bytes(const struct memory_tile *t) {
    return t->rows * memory_tile_shared_pitch(t);
}

bool memory_tile_is_outside(const struct memory_tile *t) { return t->low == t->high; }

struct tile_row memory_tile_row(const struct memory_tile *t, uint64_t row) {
    uint64_t address = t->map.address;
    int64_t first, last;
    if (memory_tile_is_outside(t)) return (struct tile_row){0};
    for (unsigned i = 1; i < t->map.rank; i++) {
        int64_t c = t->coord[i] + (int64_t)(row % t->count[i]) * t->map.element_stride[i];
        if (c < 0 || (uint64_t)c >= t->map.dim[i]) return (struct tile_row){0};
        address += (uint64_t)c * t->map.stride[i - 1];
        row /= t->count[i];
    }
    clip_dimension(t, 0, &first, &last);
    return (struct tile_row){.address = address + (uint64_t)first * t->element_bytes,
                             .skip_bytes = (uint32_t)(first - t->coord[0]) * t->element_bytes,
                             .inside_bytes = (uint32_t)(last - first + 1) * t->element_bytes};
}

void memory_tile_fill_row(const struct memory_tile *t, unsigned char row[TENSOR_MAX_ROW_BYTES]) {
    for (uint32_t i = 0; i < t->count[0]; i++)
        memcpy(row + i * t->element_bytes, &t->fill_value, t->element_bytes);
}

/* ---- hashes of what a copy reads ---- */

uint64_t memory_hash(const unsigned char *bytes, uint64_t n, uint64_t seed) {
    uint64_t h = seed ^ n, word;
    for (; n; n -= n < 8 ? n : 8, bytes += 8) {
        word = 0;
        memcpy(&word, bytes, n < 8 ? n : 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    return h;
}

uint64_t memory_tile_hash(const struct memory *m, const struct memory_tile *t) {
    uint64_t h = 0;
    for (uint64_t r = 0; r < t->rows; r++) {
        struct tile_row row = memory_tile_row(t, r);
        if (row.inside_bytes)
            h = memory_hash(m->bytes + (row.address - SIM_BASE), row.inside_bytes, h);
    }
    return h;
}

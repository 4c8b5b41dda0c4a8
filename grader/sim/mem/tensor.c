/* tensor.c — see tensor.h. */
#include "grader/sim/mem/tensor.h"

#include <string.h>

static const struct {
    uint8_t bytes, kind;
} types[] = {
#define TYPE(id, name, bytes, kind) {bytes, kind},
#include "grader/sim/tensor_map.def"
};

/* ---- a map ---- */

static const char *broken_rule(const struct tensor_map *m, uint32_t bytes, uint8_t kind) {
#define RULE(condition, text) \
    if (!(condition)) return text;
#define EACH(n, condition, text)                   \
    for (unsigned i = 0; i < (unsigned)(n); i++) { \
        if (!(condition)) return text;             \
    }
#include "grader/sim/tensor_map.def"
    return NULL;
}

static const char mark[] = "WBTENSOR";

void memory_map_mark(struct tensor_map *m) { memcpy(&m->mark, mark, sizeof m->mark); }

const char *memory_map_read(const unsigned char bytes[TENSOR_MAP_BYTES], struct tensor_map *out) {
    memcpy(out, bytes, sizeof *out);
    if (memcmp(&out->mark, mark, sizeof out->mark)) return "cuTensorMapEncodeTiled did not make it";
    bool known = out->type < TENSOR_TYPES;
    return broken_rule(out, known ? types[out->type].bytes : 0, known ? types[out->type].kind : 0);
}

/* ---- a tile ---- */

/* The NaN that fills is the same 16 bits in every type, as an H100 has it:
 * tests/programs/tensor_maps.cu. */
static uint64_t fill_of(const struct tensor_map *m) { return m->fill ? 0x7ff77ff77ff77ff7 : 0; }

/* The first and last element of dimension `i` of the box that lie within the tensor; false if none
 * does. */
static bool inside(const struct memory_tile *t, unsigned i, int64_t *first, int64_t *last) {
    int64_t step = t->map.step[i], end = (int64_t)t->map.dim[i];
    *first = t->at[i] >= 0 ? t->at[i] : t->at[i] + (-t->at[i] + step - 1) / step * step;
    *last = t->at[i] + (t->count[i] - 1) * step;
    if (*last >= end) *last -= (*last - end + step) / step * step;
    return *first <= *last;
}

/* Sizes are up to 2^32 and strides up to 2^40: sums need more than 64 bits. */
static bool find_range(struct memory_tile *t) {
    unsigned __int128 low = t->map.address, high = low;
    t->low = t->high = 0;
    for (unsigned i = 0; i < t->map.rank; i++) {
        int64_t first, last;
        uint64_t stride = i ? t->map.stride[i - 1] : t->element;
        if (!inside(t, i, &first, &last)) return true;
        low += (unsigned __int128)first * stride;
        high += (unsigned __int128)last * stride;
    }
    if (high + t->element > UINT64_MAX) return false;
    t->low = (uint64_t)low;
    t->high = (uint64_t)high + t->element;
    return true;
}

bool memory_tile_open(struct memory_tile *t, const struct tensor_map *m, const int32_t *at) {
    *t = (struct memory_tile){.map = *m, .element = types[m->type].bytes, .rows = 1};
    t->map.step[0] = 1; /* there is no stride in dimension 0 without interleaving */
    for (unsigned i = 0; i < TENSOR_RANK; i++) {
        bool used = i < m->rank;
        t->at[i] = used ? at[i] : 0;
        t->count[i] = used ? (m->box[i] + t->map.step[i] - 1) / t->map.step[i] : 1;
        if (i) t->rows *= t->count[i];
    }
    t->bytes = t->rows * memory_tile_row_bytes(t);
    t->pattern = fill_of(m);
    return find_range(t);
}

uint32_t memory_tile_row_bytes(const struct memory_tile *t) { return t->count[0] * t->element; }

uint32_t memory_tile_pitch(const struct memory_tile *t) {
    return t->map.swizzle ? 16u << t->map.swizzle : memory_tile_row_bytes(t);
}

uint64_t memory_tile_reach(const struct memory_tile *t) { return t->rows * memory_tile_pitch(t); }

struct memory_row memory_tile_row(const struct memory_tile *t, uint64_t row) {
    uint64_t address = t->map.address;
    int64_t first, last;
    if (t->low == t->high) return (struct memory_row){0};
    for (unsigned i = 1; i < t->map.rank; row /= t->count[i++]) {
        int64_t c = t->at[i] + (int64_t)(row % t->count[i]) * t->map.step[i];
        if (c < 0 || (uint64_t)c >= t->map.dim[i]) return (struct memory_row){0};
        address += (uint64_t)c * t->map.stride[i - 1];
    }
    inside(t, 0, &first, &last);
    return (struct memory_row){address + (uint64_t)first * t->element,
                               (uint32_t)(first - t->at[0]) * t->element,
                               (uint32_t)(last - first + 1) * t->element};
}

void memory_tile_fill(const struct memory_tile *t, unsigned char row[TENSOR_ROW]) {
    for (uint32_t i = 0; i < t->count[0]; i++)
        memcpy(row + i * t->element, &t->pattern, t->element);
}

/* ---- what memory holds, as a number ---- */

uint64_t memory_digest(const unsigned char *bytes, uint64_t n, uint64_t seed) {
    uint64_t h = seed ^ n, word;
    for (; n; n -= n < 8 ? n : 8, bytes += 8) {
        word = 0;
        memcpy(&word, bytes, n < 8 ? n : 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    return h;
}

uint64_t memory_tile_digest(const struct memory *m, const struct memory_tile *t) {
    uint64_t h = 0;
    for (uint64_t r = 0; r < t->rows; r++) {
        struct memory_row row = memory_tile_row(t, r);
        if (row.bytes) h = memory_digest(m->bytes + (row.global - SIM_BASE), row.bytes, h);
    }
    return h;
}

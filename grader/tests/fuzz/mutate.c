/* mutate.c — see mutate.h. */
#include "grader/tests/fuzz/mutate.h"

#ifdef FUZZING
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Limits of the PTX manual and of number types, each met with a small step to either side. */
static uint64_t boundary_size(unsigned *seed) {
    static const uint64_t sizes[] = {
        0,          1ull << 15, 32764,      48 << 10,   227 << 10,  512 << 10,  1ull << 24,
        1ull << 30, 1ull << 31, 1ull << 31, 1ull << 31, 1ull << 32, 1ull << 32, 1ull << 32,
        1ull << 33, 1ull << 36, 1ull << 61, 1ull << 62, 1ull << 63,
    };
    static const int steps[] = {0, 0, 1, -1, 3, 4, -4, 8, -8, 16, -16, 32};
    uint64_t size = sizes[(size_t)rand_r(seed) % (sizeof sizes / sizeof *sizes)];
    return size + (uint64_t)(int64_t)steps[(size_t)rand_r(seed) % (sizeof steps / sizeof *steps)];
}

/* ---- text ---- */

struct span {
    size_t at, bytes;
};

/* A line, with its newline, chosen at random. */
static struct span random_line(const uint8_t *data, size_t size, unsigned *seed) {
    size_t at = (size_t)rand_r(seed) % size, end = at;
    while (at && data[at - 1] != '\n') at--;
    while (end < size && data[end] != '\n') end++;
    return (struct span){at, end + (end < size) - at};
}

/* Puts `n` bytes in the place of a span. */
static size_t replace_span(uint8_t *data, size_t size, size_t max, struct span to,
                           const void *bytes, size_t n) {
    if (size - to.bytes + n > max) return size;
    memmove(data + to.at + n, data + to.at + to.bytes, size - to.at - to.bytes);
    memcpy(data + to.at, bytes, n);
    return size - to.bytes + n;
}

/* Puts a copy of line `from` before line `to`, or in its place. */
static size_t copy_line(uint8_t *data, size_t size, size_t max, struct span from, struct span to,
                        bool replace) {
    uint8_t line[512];
    if (from.bytes > sizeof line) return size;
    memcpy(line, data + from.at, from.bytes);
    if (!replace) to.bytes = 0;
    return replace_span(data, size, max, to, line, from.bytes);
}

/* Gives one register of the line the number of another register. */
static size_t mutate_register(uint8_t *data, size_t size, struct span line, unsigned *seed) {
    for (size_t i = line.at + (size_t)rand_r(seed) % line.bytes; i < line.at + line.bytes; i++)
        if (isdigit(data[i])) return data[i] = (uint8_t)('0' + rand_r(seed) % 10), size;
    return size;
}

/* A number of the line, none of a register's, becomes a size at which something ends. */
static size_t mutate_number(uint8_t *data, size_t size, size_t max, struct span line,
                            unsigned *seed) {
    char text[32];
    size_t end = line.at + line.bytes, at = line.at + (size_t)rand_r(seed) % line.bytes, n;
    while (at < end && !(isdigit(data[at]) &&
                         (at == line.at || (!isalnum(data[at - 1]) && data[at - 1] != '%'))))
        at++;
    for (n = 0; at + n < end && isdigit(data[at + n]);) n++;
    if (!n) return size;
    uint64_t number = boundary_size(seed);
    int bytes = snprintf(text, sizeof text, rand_r(seed) % 8 ? "%llu" : "-%llu",
                         (unsigned long long)number);
    return replace_span(data, size, max, (struct span){at, n}, text, (size_t)bytes);
}

/* A variable of such a size, in any space, and an access far inside it. */
static size_t insert_variable(uint8_t *data, size_t size, size_t max, struct span line,
                              unsigned *seed) {
    static const char *const spaces[] = {"param",  "local", "shared",
                                         "global", "const", "extern .shared"};
    static const char *const types[] = {"b8", "u32", "f64", "b8"};
    static const char *const accesses[] = {"ld.%s.u32 %%r1, [w%u+%llu];",
                                           "st.%s.u32 [w%u+%llu], %%r1;",
                                           "atom.%s.add.u32 %%r1, [w%u+%llu], 1;"};
    char text[256];
    const char *space = spaces[rand_r(seed) % 6];
    unsigned name = (unsigned)rand_r(seed) % 4;
    int n = rand_r(seed) % 2 ? snprintf(text, sizeof text, ".%s .align %d .%s w%u[%llu];\n", space,
                                        1 << rand_r(seed) % 6, types[rand_r(seed) % 4], name,
                                        (unsigned long long)boundary_size(seed))
                             : snprintf(text, sizeof text, accesses[rand_r(seed) % 3], space, name,
                                        (unsigned long long)boundary_size(seed));
    return replace_span(data, size, max, (struct span){line.at, 0}, text, (size_t)n);
}

size_t mutate_ptx(uint8_t *data, size_t size, size_t max, unsigned seed) {
    if (size < 64) return LLVMFuzzerMutate(data, size, max);
    struct span from = random_line(data, size, &seed), to = random_line(data, size, &seed);
    switch (rand_r(&seed) % 12) {
    case 0: return copy_line(data, size, max, from, to, true);
    case 1: return copy_line(data, size, max, from, to, false);
    case 2: return replace_span(data, size, max, to, "", 0);
    case 3:
    case 4: return mutate_register(data, size, to, &seed);
    case 5:
    case 6:
    case 7: return mutate_number(data, size, max, to, &seed);
    case 8: return insert_variable(data, size, max, to, &seed);
    default: return LLVMFuzzerMutate(data, size, max);
    }
}

/* ---- fat binaries: a file header of 16 bytes; entries, each a header of 64 bytes or more and its
 * payload ---- */

enum { FILE_HEADER_MIN_BYTES = 16, ENTRY_HEADER_MIN_BYTES = 64 };

/* A field of 4 or 8 bytes: such a size, an offset within the file, or what is left of it. */
static size_t mutate_header_field(uint8_t *data, size_t size, unsigned *seed) {
    size_t at = ((size_t)rand_r(seed) % size) & ~(size_t)3, bytes = rand_r(seed) % 2 ? 4 : 8;
    uint64_t value = boundary_size(seed);
    if (rand_r(seed) % 2) value = (size_t)rand_r(seed) % (size + 1);
    if (rand_r(seed) % 4 == 0) value = size - at;
    if (at + bytes <= size) memcpy(data + at, &value, bytes);
    return size;
}

/* A stretch that begins like an entry, again: behind the file, or somewhere inside it, over what is
 * there. */
static size_t duplicate_entry(uint8_t *data, size_t size, size_t max, unsigned *seed) {
    uint8_t copy[4096];
    size_t from = FILE_HEADER_MIN_BYTES + (rand_r(seed) % 4 ? 0 : (size_t)rand_r(seed) % size),
           n = (size_t)rand_r(seed) % 512 + ENTRY_HEADER_MIN_BYTES;
    if (from >= size) return size;
    if (n > size - from) n = size - from;
    memcpy(copy, data + from, n);
    size_t to = rand_r(seed) % 2
                    ? size
                    : FILE_HEADER_MIN_BYTES + ((size_t)rand_r(seed) % size & ~(size_t)7);
    if (to > size) to = size;
    struct span over = {to, rand_r(seed) % 2 && n <= size - to ? n : 0};
    return replace_span(data, size, max, over, copy, n);
}

/* The whole file as the payload of its own first entry. */
static size_t nest_file(uint8_t *data, size_t size, size_t max, unsigned *seed) {
    uint8_t copy[8192];
    size_t at = FILE_HEADER_MIN_BYTES + ENTRY_HEADER_MIN_BYTES;
    if (size > sizeof copy || size <= at || size + at > max)
        return mutate_header_field(data, size, seed);
    memcpy(copy, data, size);
    return replace_span(data, size, max, (struct span){at, size - at}, copy, size);
}

size_t mutate_fatbin(uint8_t *data, size_t size, size_t max, unsigned seed) {
    if (size < FILE_HEADER_MIN_BYTES + ENTRY_HEADER_MIN_BYTES)
        return LLVMFuzzerMutate(data, size, max);
    switch (rand_r(&seed) % 8) {
    case 0:
    case 1:
    case 2: return mutate_header_field(data, size, &seed);
    case 3:
    case 4: return duplicate_entry(data, size, max, &seed);
    case 5: return nest_file(data, size, max, &seed);
    default: return LLVMFuzzerMutate(data, size, max);
    }
}
#endif

/* fatbin.c — finds the PTX text in the fat binary that nvcc embeds.
 *
 * The layout is not documented by its vendor; this is what nvcc 12 and 13 write (seen with --no-compress and with
 * each --compress-mode), all little-endian:
 *
 *   file header   0 u32 magic 0xba55ed50   4 u16 version (1)   6 u16 header size   8 u64 size of all entries
 *   entry         0 u16 kind (1 PTX, 2 machine code)   2 u16 version (0x101)   4 u32 header size (64 and more)
 *                 8 u64 payload size, padding included   16 u32 compressed size, 0 = not compressed
 *                28 u32 architecture (90)   40 u64 flags   56 u64 size when decompressed
 *   payload       after the entry's header; the next entry follows it
 *
 * Flags: 1 64-bit, 2 debug, 0x10 Linux, 0x2000 LZ4 (a bare block; --compress-mode=speed and older toolkits),
 * 0x8000 zstd (a frame), 0x100000 for one architecture only (compute_90a). */
#include "grader/sim/ptx/ptx.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

enum { MAGIC = 0xba55ed50, FILE_HEADER = 16, ENTRY_HEADER = 64, KIND_PTX = 1 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_ONE_ARCHITECTURE = 0x100000 };

static const uint64_t MAX_TEXT = 256u << 20;

struct entry {
    unsigned kind, arch;
    uint64_t flags, bytes, text_bytes, compressed;
    const uint8_t *payload;
};

static uint64_t little(const uint8_t *s, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)s[i] << 8 * i;
    return value;
}

/* The entry at `at` of `size` bytes of entries; returns where the next one stands, 0 where this one is damaged. */
static size_t read_entry(const uint8_t *entries, size_t size, size_t at, struct entry *out) {
    const uint8_t *s = entries + at;
    size_t left = size - at;
    if (left < ENTRY_HEADER) return 0;
    uint64_t header = little(s + 4, 4), bytes = little(s + 8, 8);
    if (header < ENTRY_HEADER || header > left || bytes > left - header) return 0;
    *out = (struct entry){.kind = (unsigned)little(s, 2),
                          .arch = (unsigned)little(s + 28, 4),
                          .flags = little(s + 40, 8),
                          .bytes = bytes,
                          .text_bytes = little(s + 56, 8),
                          .compressed = little(s + 16, 4),
                          .payload = s + header};
    return at + header + bytes;
}

static bool is_better(const struct entry *x, const struct entry *best, unsigned max_sm) {
    if (!best->payload) return true;
    if (x->arch == best->arch) return (best->flags & FLAG_ONE_ARCHITECTURE) && !(x->flags & FLAG_ONE_ARCHITECTURE);
    bool x_fits = x->arch <= max_sm, best_fits = best->arch <= max_sm;
    if (x_fits != best_fits) return x_fits;
    return x_fits ? x->arch > best->arch : x->arch < best->arch;
}

static bool find_ptx(const uint8_t *entries, size_t size, unsigned max_sm, struct entry *best, struct err *e) {
    unsigned others = 0, arch = 0;
    struct entry x;
    *best = (struct entry){.payload = NULL};
    for (size_t at = 0, end; at < size; at = end) {
        end = read_entry(entries, size, at, &x);
        if (!end) return err_set(e, ERR_INPUT, "the fat binary is damaged: entry at offset %zu reaches past its end", at);
        if (x.kind == KIND_PTX) {
            if (is_better(&x, best, max_sm)) *best = x;
        } else {
            others++;
            arch = x.arch;
        }
    }
    if (best->payload) return true;
    if (others)
        return err_set(e, ERR_UNSUPPORTED,
                       "the program holds machine code for sm_%u only, and no PTX: built for a real architecture only; "
                       "build it with -gencode arch=compute_90,code=compute_90",
                       arch);
    return err_set(e, ERR_INPUT, "the fat binary is empty");
}

static bool decompress(const struct entry *x, char *out, struct err *e) {
    size_t got;
    if (x->flags & FLAG_ZSTD) {
        got = ZSTD_decompress(out, x->text_bytes, x->payload, x->compressed);
        if (ZSTD_isError(got))
            return err_set(e, ERR_INPUT, "the fat binary is damaged: zstd says \"%s\"", ZSTD_getErrorName(got));
    } else {
        int n = LZ4_decompress_safe((const char *)x->payload, out, (int)x->compressed, (int)x->text_bytes);
        if (n < 0) return err_set(e, ERR_INPUT, "the fat binary is damaged: its LZ4 data is invalid at byte %d", -n);
        got = (size_t)n;
    }
    if (got != x->text_bytes)
        return err_set(e, ERR_INPUT, "the fat binary is damaged: its PTX has %zu bytes where %llu are announced", got,
                       (unsigned long long)x->text_bytes);
    return true;
}

static bool check_sizes(const struct entry *x, struct err *e) {
    bool packed = x->flags & (FLAG_ZSTD | FLAG_LZ4);
    uint64_t bytes = packed ? x->text_bytes : x->bytes;
    if (!packed && x->compressed)
        return err_set(e, ERR_UNSUPPORTED, "the fat binary's compression (flags 0x%llx) is not known; build with --no-compress",
                       (unsigned long long)x->flags);
    if (packed && x->compressed > x->bytes)
        return err_set(e, ERR_INPUT, "the fat binary is damaged: its compressed PTX reaches past its entry");
    if (bytes > MAX_TEXT || x->compressed > MAX_TEXT)
        return err_set(e, ERR_LIMIT, "the PTX of %llu bytes is too long (at most %llu)", (unsigned long long)bytes,
                       (unsigned long long)MAX_TEXT);
    return true;
}

static const char *extract(struct arena *a, const struct entry *x, size_t *n, struct err *e) {
    if (!check_sizes(x, e)) return NULL;
    bool packed = x->flags & (FLAG_ZSTD | FLAG_LZ4);
    size_t bytes = packed ? x->text_bytes : x->bytes;
    char *text = arena_alloc(a, bytes + 1);
    if (!packed) memcpy(text, x->payload, bytes);
    else if (!decompress(x, text, e)) return NULL;
    while (bytes && !text[bytes - 1]) bytes--;
    *n = bytes;
    return text;
}

const char *ptx_from_fatbin(struct arena *a, const void *image, size_t size, unsigned max_sm, size_t *n, struct err *e) {
    const uint8_t *s = image;
    struct entry best;
    if (size < FILE_HEADER || little(s, 4) != MAGIC) {
        err_set(e, ERR_INPUT, "this is no fat binary: expected its magic number 0x%x", MAGIC);
        return NULL;
    }
    size_t header = little(s + 6, 2);
    uint64_t bytes = little(s + 8, 8);
    if (header < FILE_HEADER || header > size || bytes > size - header) {
        err_set(e, ERR_INPUT, "the fat binary is damaged: it announces %llu bytes of entries, and %zu are there",
                (unsigned long long)bytes, size - FILE_HEADER);
        return NULL;
    }
    if (!find_ptx(s + header, bytes, max_sm, &best, e)) return NULL;
    return extract(a, &best, n, e);
}

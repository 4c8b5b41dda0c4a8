/* fatbin.c — finds the PTX text in the fat binary that nvcc embeds.
 *
 * The layout is not documented by its vendor; this is what nvcc 12 and 13 write, as seen with
 * --no-compress, with each --compress-mode, with several architectures and with -dlto. All numbers
 * are little-endian. A file header is followed by entries, an entry is a header and its payload,
 * and the next entry follows at once. */
#include "grader/sim/ptx/ptx.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

/* Of the file: what, and at which offset. */
enum {
    FILE_MAGIC_U32 = 0,
    FILE_HEADER_BYTES_U16 = 6,
    FILE_ENTRIES_BYTES_U64 = 8,
    FILE_HEADER = 16
};
enum { MAGIC = 0xba55ed50 };

/* Of an entry. The payload is padded with zeros; compressed bytes are 0 where nothing is
 * compressed. The header goes on with the compiler's options and the name of the source, which
 * nobody needs here. */
enum {
    ENTRY_KIND_U16 = 0,
    ENTRY_HEADER_BYTES_U32 = 4,
    ENTRY_PAYLOAD_BYTES_U64 = 8,
    ENTRY_COMPRESSED_BYTES_U32 = 16,
    ENTRY_ARCH_U32 = 28,
    ENTRY_FLAGS_U64 = 40,
    ENTRY_TEXT_BYTES_U64 = 56,
    ENTRY_HEADER = 64,
};

/* Another is 8, for what link-time optimisation reads. */
enum { KIND_PTX = 1, KIND_MACHINE = 2 };

/* LZ4: a bare block, written by --compress-mode=speed and by older toolkits. zstd: a frame. An
 * entry may be for one architecture (compute_90a) or one family (compute_100f) only. Known and of
 * no use here: 1 64-bit, 2 debug, 16 Linux. */
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_ONE_ARCHITECTURE = 0x300000 };

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

/* The entry at `at` of `size` bytes of entries; returns where the next one stands, 0 where this one
 * is damaged. */
static size_t read_entry(const uint8_t *entries, size_t size, size_t at, struct entry *out) {
    const uint8_t *s = entries + at;
    size_t left = size - at;
    if (left < ENTRY_HEADER) return 0;
    uint64_t header = little(s + ENTRY_HEADER_BYTES_U32, 4),
             bytes = little(s + ENTRY_PAYLOAD_BYTES_U64, 8);
    if (header < ENTRY_HEADER || header > left || bytes > left - header) return 0;
    *out = (struct entry){.kind = (unsigned)little(s + ENTRY_KIND_U16, 2),
                          .arch = (unsigned)little(s + ENTRY_ARCH_U32, 4),
                          .flags = little(s + ENTRY_FLAGS_U64, 8),
                          .bytes = bytes,
                          .text_bytes = little(s + ENTRY_TEXT_BYTES_U64, 8),
                          .compressed = little(s + ENTRY_COMPRESSED_BYTES_U32, 4),
                          .payload = s + header};
    return at + header + bytes;
}

static bool is_better(const struct entry *x, const struct entry *best, unsigned max_sm) {
    if (!best->payload) return true;
    if (x->arch == best->arch)
        return (best->flags & FLAG_ONE_ARCHITECTURE) && !(x->flags & FLAG_ONE_ARCHITECTURE);
    bool x_fits = x->arch <= max_sm, best_fits = best->arch <= max_sm;
    if (x_fits != best_fits) return x_fits;
    return x_fits ? x->arch > best->arch : x->arch < best->arch;
}

static bool find_ptx(const uint8_t *entries, size_t size, unsigned max_sm, struct entry *best,
                     struct err *e) {
    unsigned others = 0, arch = 0;
    struct entry x;
    *best = (struct entry){.payload = NULL};
    for (size_t at = 0, end; at < size; at = end) {
        end = read_entry(entries, size, at, &x);
        if (!end)
            return err_set(e, ERR_INPUT,
                           "the fat binary is damaged: entry at offset %zu reaches past its end",
                           at);
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
                       "the program holds code for sm_%u only, and no PTX: built for a real "
                       "architecture only; "
                       "build it with -gencode arch=compute_90,code=compute_90",
                       arch);
    return err_set(e, ERR_INPUT, "the fat binary is empty");
}

static bool decompress(const struct entry *x, char *out, struct err *e) {
    size_t got;
    if (x->flags & FLAG_ZSTD) {
        got = ZSTD_decompress(out, x->text_bytes, x->payload, x->compressed);
        if (ZSTD_isError(got))
            return err_set(e, ERR_INPUT, "the fat binary is damaged: zstd says \"%s\"",
                           ZSTD_getErrorName(got));
    } else {
        int n = LZ4_decompress_safe((const char *)x->payload, out, (int)x->compressed,
                                    (int)x->text_bytes);
        if (n < 0)
            return err_set(e, ERR_INPUT,
                           "the fat binary is damaged: its LZ4 data is invalid at byte %d", -n);
        got = (size_t)n;
    }
    if (got != x->text_bytes)
        return err_set(e, ERR_INPUT,
                       "the fat binary is damaged: its PTX has %zu bytes where %llu are announced",
                       got, (unsigned long long)x->text_bytes);
    return true;
}

static bool check_sizes(const struct entry *x, struct err *e) {
    bool packed = x->flags & (FLAG_ZSTD | FLAG_LZ4);
    uint64_t bytes = packed ? x->text_bytes : x->bytes;
    if (!packed && x->compressed)
        return err_set(
            e, ERR_UNSUPPORTED,
            "the fat binary's compression (flags 0x%llx) is not known; build with --no-compress",
            (unsigned long long)x->flags);
    if (packed && x->compressed > x->bytes)
        return err_set(e, ERR_INPUT,
                       "the fat binary is damaged: its compressed PTX reaches past its entry");
    if (bytes > PTX_MAX_TEXT || x->compressed > PTX_MAX_TEXT)
        return err_set(e, ERR_LIMIT, "the PTX of %llu bytes is too long (at most %d)",
                       (unsigned long long)bytes, PTX_MAX_TEXT);
    return true;
}

static const char *extract(struct arena *a, const struct entry *x, size_t *n, struct err *e) {
    if (!check_sizes(x, e)) return NULL;
    bool packed = x->flags & (FLAG_ZSTD | FLAG_LZ4);
    size_t bytes = packed ? x->text_bytes : x->bytes;
    char *text = arena_alloc(a, bytes + 1);
    if (!packed) memcpy(text, x->payload, bytes);
    else if (!decompress(x, text, e)) return NULL;
    *n = bytes;
    return text;
}

/* The entries of a file, or NULL with an error. */
static const uint8_t *find_entries(const uint8_t *s, size_t size, size_t *bytes, struct err *e) {
    if (size < FILE_HEADER || little(s + FILE_MAGIC_U32, 4) != MAGIC)
        return err_set(e, ERR_INPUT, "this is no fat binary: expected its magic number 0x%x",
                       MAGIC),
               NULL;
    size_t header = little(s + FILE_HEADER_BYTES_U16, 2);
    uint64_t announced = little(s + FILE_ENTRIES_BYTES_U64, 8);
    if (header < FILE_HEADER || header > size || announced > size - header)
        return err_set(e, ERR_INPUT,
                       "the fat binary is damaged: it announces %llu bytes of entries, and %zu are "
                       "there",
                       (unsigned long long)announced, size - FILE_HEADER),
               NULL;
    *bytes = announced;
    return s + header;
}

size_t ptx_fatbin_bytes(const void *image, size_t size) {
    struct err ignored = {0};
    size_t bytes;
    const uint8_t *entries = find_entries(image, size, &bytes, &ignored);
    return entries ? (size_t)(entries - (const uint8_t *)image) + bytes : 0;
}

const char *ptx_machine_code(struct arena *a, const void *image, size_t size, unsigned sm,
                             size_t *n) {
    struct err ignored = {0};
    size_t bytes;
    const uint8_t *entries = find_entries(image, size, &bytes, &ignored);
    struct entry x;
    for (size_t at = 0, end; entries && at < bytes; at = end) {
        end = read_entry(entries, bytes, at, &x);
        if (!end) return NULL;
        if (x.kind == KIND_MACHINE && x.arch == sm) return extract(a, &x, n, &ignored);
    }
    return NULL;
}

const char *ptx_from_fatbin(struct arena *a, const void *image, size_t size, unsigned max_sm,
                            size_t *n, struct err *e) {
    struct entry best;
    size_t bytes;
    const uint8_t *entries = find_entries(image, size, &bytes, e);
    if (!entries || !find_ptx(entries, bytes, max_sm, &best, e)) return NULL;
    const char *text = extract(a, &best, n, e);
    while (text && *n && !text[*n - 1]) --*n; /* it is padded with zeros */
    return text;
}

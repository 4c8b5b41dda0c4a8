/* fatbin.c — finds the PTX text in the fat binary that nvcc embeds.
 *
 * NVIDIA does not document the layout; this is what nvcc 12 and 13 write, as observed with
 * --no-compress, with each --compress-mode, with several architectures and with -dlto. All numbers
 * are little-endian. A file header is followed by entries: each a header and its payload. */
#include "grader/sim/ptx/ptx.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

/* The file header's fields: offsets. */
enum {
    FILE_MAGIC_U32 = 0,
    FILE_HEADER_BYTES_U16 = 6,
    FILE_ENTRIES_BYTES_U64 = 8,
    FILE_HEADER_MIN_BYTES = 16
};
enum { MAGIC = 0xba55ed50 };

/* An entry's fields: offsets. The payload is padded with zeros; the compressed size is 0 if nothing
 * is compressed. The header continues with the compiler's options and the source's name, which we
 * don't need. */
enum {
    ENTRY_KIND_U16 = 0,
    ENTRY_HEADER_BYTES_U32 = 4,
    ENTRY_PAYLOAD_BYTES_U64 = 8,
    ENTRY_COMPRESSED_BYTES_U32 = 16,
    ENTRY_ARCH_U32 = 28,
    ENTRY_FLAGS_U64 = 40,
    ENTRY_TEXT_BYTES_U64 = 56,
    ENTRY_HEADER_MIN_BYTES = 64,
};

/* Another kind is 8, for link-time optimization. */
enum { KIND_PTX = 1, KIND_CUBIN = 2 };

/* LZ4: a bare block, written by --compress-mode=speed and by older toolkits. zstd: a frame. An
 * entry may be for one architecture (compute_90a) or one family (compute_100f) only. Other known
 * flags, which we ignore: 1 64-bit, 2 debug, 16 Linux. */
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_ARCH_SPECIFIC = 0x300000 };

struct entry {
    unsigned kind, arch;
    uint64_t flags, payload_bytes, text_bytes, compressed_bytes;
    const uint8_t *payload;
};

static uint64_t read_le(const uint8_t *s, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)s[i] << 8 * i;
    return value;
}

/* Reads the entry at offset `at` of `size` bytes of entries. Returns the next one's offset, 0 if
 * this one is damaged. */
static size_t read_entry(const uint8_t *entries, size_t size, size_t at, struct entry *out) {
    const uint8_t *s = entries + at;
    size_t remaining = size - at;
    if (remaining < ENTRY_HEADER_MIN_BYTES) return 0;
    uint64_t header = read_le(s + ENTRY_HEADER_BYTES_U32, 4),
             bytes = read_le(s + ENTRY_PAYLOAD_BYTES_U64, 8);
    if (header < ENTRY_HEADER_MIN_BYTES || header > remaining || bytes > remaining - header)
        return 0;
    *out = (struct entry){.kind = (unsigned)read_le(s + ENTRY_KIND_U16, 2),
                          .arch = (unsigned)read_le(s + ENTRY_ARCH_U32, 4),
                          .flags = read_le(s + ENTRY_FLAGS_U64, 8),
                          .payload_bytes = bytes,
                          .text_bytes = read_le(s + ENTRY_TEXT_BYTES_U64, 8),
                          .compressed_bytes = read_le(s + ENTRY_COMPRESSED_BYTES_U32, 4),
                          .payload = s + header};
    return at + header + bytes;
}

static bool is_better(const struct entry *x, const struct entry *best, unsigned max_sm) {
    if (!best->payload) return true;
    if (x->arch == best->arch)
        return (best->flags & FLAG_ARCH_SPECIFIC) && !(x->flags & FLAG_ARCH_SPECIFIC);
    bool x_fits = x->arch <= max_sm, best_fits = best->arch <= max_sm;
    if (x_fits != best_fits) return x_fits;
    return x_fits ? x->arch > best->arch : x->arch < best->arch;
}

static bool find_ptx(const uint8_t *entries, size_t size, unsigned max_sm, struct entry *best,
                     struct err *e) {
    unsigned non_ptx_count = 0, arch = 0;
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
            non_ptx_count++;
            arch = x.arch;
        }
    }
    if (best->payload) return true;
    if (non_ptx_count)
        return err_set(e, ERR_UNSUPPORTED,
                       "the program holds machine code for sm_%u only, and no PTX; build it with "
                       "-gencode arch=compute_90,code=compute_90",
                       arch);
    return err_set(e, ERR_INPUT, "the fat binary is empty");
}

static bool decompress(const struct entry *x, char *out, struct err *e) {
    size_t nbytes;
    if (x->flags & FLAG_ZSTD) {
        nbytes = ZSTD_decompress(out, x->text_bytes, x->payload, x->compressed_bytes);
        if (ZSTD_isError(nbytes))
            return err_set(e, ERR_INPUT, "the fat binary is damaged: zstd says \"%s\"",
                           ZSTD_getErrorName(nbytes));
    } else {
        int n = LZ4_decompress_safe((const char *)x->payload, out, (int)x->compressed_bytes,
                                    (int)x->text_bytes);
        if (n < 0)
            return err_set(e, ERR_INPUT,
                           "the fat binary is damaged: its LZ4 data is invalid at byte %d", -n);
        nbytes = (size_t)n;
    }
    if (nbytes != x->text_bytes)
        return err_set(e, ERR_INPUT,
                       "the fat binary is damaged: its PTX has %zu bytes, but its header says %llu",
                       nbytes, (unsigned long long)x->text_bytes);
    return true;
}

static bool check_sizes(const struct entry *x, struct err *e) {
    bool is_compressed = x->flags & (FLAG_ZSTD | FLAG_LZ4);
    uint64_t bytes = is_compressed ? x->text_bytes : x->payload_bytes;
    if (!is_compressed && x->compressed_bytes)
        return err_set(
            e, ERR_UNSUPPORTED,
            "the fat binary's compression (flags 0x%llx) is unknown; build with --no-compress",
            (unsigned long long)x->flags);
    if (is_compressed && x->compressed_bytes > x->payload_bytes)
        return err_set(e, ERR_INPUT,
                       "the fat binary is damaged: its compressed PTX reaches past its entry");
    if (bytes > PTX_MAX_TEXT || x->compressed_bytes > PTX_MAX_TEXT)
        return err_set(e, ERR_LIMIT, "the PTX of %llu bytes is too long (at most %d)",
                       (unsigned long long)bytes, PTX_MAX_TEXT);
    return true;
}

static const char *extract(struct arena *a, const struct entry *x, size_t *n, struct err *e) {
    if (!check_sizes(x, e)) return NULL;
    bool is_compressed = x->flags & (FLAG_ZSTD | FLAG_LZ4);
    size_t bytes = is_compressed ? x->text_bytes : x->payload_bytes;
    char *text = arena_alloc(a, bytes + 1);
    if (!is_compressed) memcpy(text, x->payload, bytes);
    else if (!decompress(x, text, e)) return NULL;
    *n = bytes;
    return text;
}

/* Returns the entries of a file, or NULL with an error. */
static const uint8_t *find_entries(const uint8_t *s, size_t size, size_t *bytes, struct err *e) {
    if (size < FILE_HEADER_MIN_BYTES || read_le(s + FILE_MAGIC_U32, 4) != MAGIC)
        return err_set(e, ERR_INPUT, "this is not a fat binary: expected its magic number 0x%x",
                       MAGIC),
               NULL;
    size_t header = read_le(s + FILE_HEADER_BYTES_U16, 2);
    uint64_t declared_bytes = read_le(s + FILE_ENTRIES_BYTES_U64, 8);
    if (header < FILE_HEADER_MIN_BYTES || header > size || declared_bytes > size - header)
        return err_set(e, ERR_INPUT,
                       "the fat binary is damaged: its header says %llu bytes of entries, but it "
                       "has %zu",
                       (unsigned long long)declared_bytes, size - FILE_HEADER_MIN_BYTES),
               NULL;
    *bytes = declared_bytes;
    return s + header;
}

size_t ptx_fatbin_bytes(const void *image, size_t size) {
    struct err ignored = {0};
    size_t bytes;
    const uint8_t *entries = find_entries(image, size, &bytes, &ignored);
    return entries ? (size_t)(entries - (const uint8_t *)image) + bytes : 0;
}

const char *ptx_cubin_from_fatbin(struct arena *a, const void *image, size_t size, unsigned sm,
                                  size_t *n) {
    struct err ignored = {0};
    size_t bytes;
    const uint8_t *entries = find_entries(image, size, &bytes, &ignored);
    struct entry x;
    for (size_t at = 0, end; entries && at < bytes; at = end) {
        end = read_entry(entries, bytes, at, &x);
        if (!end) return NULL;
        if (x.kind == KIND_CUBIN && x.arch == sm) return extract(a, &x, n, &ignored);
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

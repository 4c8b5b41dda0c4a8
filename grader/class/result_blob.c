/* result_blob.c — a whole result as the store keeps it for pages (class.h): the format of
 * result_serialize.h, compressed with zstd. The format is the layout of the grader's own structs,
 * so only the build that wrote it can read it. */
#include "grader/class/class.h"
#include "grader/grade/provenance.h"
#include "grader/grade/result_serialize.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MAX_BLOB_BYTES = 64 << 20 };

void class_serialize_result(const struct result *r, struct buf *out) {
    struct buf serialized = {0};
    result_serialize(r, &serialized);
    size_t capacity = ZSTD_compressBound(serialized.size);
    char *compressed = xmalloc(capacity);
    size_t n = ZSTD_compress(compressed, capacity, buf_str(&serialized), serialized.size, 3);
    if (!ZSTD_isError(n)) buf_add(out, compressed, n);
    free(compressed), buf_free(&serialized);
}

bool class_deserialize_result(const void *bytes, size_t size, const struct exercise *ex,
                              const char *grader, struct result *r) {
    unsigned long long serialized_size = size ? ZSTD_getFrameContentSize(bytes, size) : 0;
    if (!size || strcmp(grader, grade_build_digest()) || serialized_size > MAX_BLOB_BYTES)
        return false; /* ZSTD_CONTENTSIZE_ERROR and _UNKNOWN are large numbers. */
    char *serialized = xmalloc(serialized_size + 1);
    size_t n = ZSTD_decompress(serialized, serialized_size, bytes, size);
    bool ok = !ZSTD_isError(n) && result_deserialize(r, ex, serialized, n);
    free(serialized);
    return ok;
}

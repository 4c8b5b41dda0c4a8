/* main.c — build/libexec/trim_headers, which runs in the compilers' sandbox; see trim.h. Both kinds
 * of header are files of the cache, with a digest behind the text. */
#include "common/file.h"
#include "grader/trim/trim.h"

#include <stdio.h>
#include <string.h>

enum { INPUT_LIMIT = 256 << 20, DIGEST_SIZE = 64 };

static const char usage[] = "usage: trim_headers source HEADER PREPROCESSED OUTPUT\n"
                            "       trim_headers host HEADER HOST-CODE OUTPUT\n";

int main(int argc, char **argv) {
    struct buf header = {0}, text = {0}, out = {0};
    struct err e = {0};
    if (argc != 5) return fputs(usage, stderr), 2;
    bool ok = file_read(argv[2], INPUT_LIMIT, &header, &e) && header.size > DIGEST_SIZE &&
              file_read(argv[3], INPUT_LIMIT, &text, &e);
    if (ok)
        ok = (strcmp(argv[1], "host") ? trim_headers : trim_own_part)(
            header.data, header.size - DIGEST_SIZE, buf_str(&text), text.size, &out);
    ok = ok && file_write(argv[4], out.data, out.size, &e);
    if (!ok && e.text[0]) fprintf(stderr, "%s\n", e.text);
    buf_free(&header), buf_free(&text), buf_free(&out);
    return !ok;
}

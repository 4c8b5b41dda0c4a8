/* source_watch.c — see source_watch.h. */
#include "grader/cli/source_watch.h"
#include "common/file.h"
#include "grader/grade/grade.h"

#include <string.h>

static bool is_same_stat(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_size == b->st_size && a->st_ino == b->st_ino;
}

bool source_watch_has_changed(struct source_watch *w, const char *path) {
    struct stat current;
    struct buf text = {0};
    struct err e = {0};
    char digest[HASH_HEX_SIZE];
    if (stat(path, &current) < 0) return false;
    if (w->digest[0] && is_same_stat(&current, &w->last_stat)) return false;
    bool is_read = file_read(path, SOURCE_LIMIT, &text, &e);
    sha256_hex(buf_str(&text), text.size, digest);
    buf_free(&text);
    if (!is_read) return false;
    w->last_stat = current;
    bool is_different = strcmp(digest, w->digest) != 0;
    strcpy(w->digest, digest);
    return is_different;
}

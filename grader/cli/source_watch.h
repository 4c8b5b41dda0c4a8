/* source_watch.h — notices that a file's content has changed, for `watch` and `serve`. It compares
 * time and size first and reads the file only if they differ. Network file systems don't send file
 * events, so the caller asks a few times a second. */
#pragma once
#include "common/hash.h"

#include <stdbool.h>
#include <sys/stat.h>

struct source_watch {
    struct stat last_stat;
    char digest[HASH_HEX_SIZE]; /* plain SHA-256 of the content; "" = it was never read */
};
/* Returns true if the content differs from the last call's, or was never read. False if the file
 * can't be read: an editor may be replacing it. */
bool source_watch_has_changed(struct source_watch *w, const char *path);

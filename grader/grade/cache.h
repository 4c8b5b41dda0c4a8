/* cache.h — results kept by the hash of everything they depend on, in paths_cache_dir(). An entry
 * is complete or absent: it is written to an unnamed file that gets its name at the end, so neither
 * a second grader nor kill -9 leaves a part of one. Its own digest is checked when it is read; a
 * damaged entry counts as absent and is replaced. Submissions never see the folder. */
#pragma once
#include "common/buf.h"
#include "common/hash.h"

#include <stdbool.h>

/* `kind` is a short folder name such as "obj". */
bool cache_get(const char *kind, const char key[HASH_HEX_SIZE], struct buf *out);
/* A cache that cannot be written is no error: the next run works it out again. */
void cache_put(const char *kind, const char key[HASH_HEX_SIZE], const void *data, size_t size);
/* What identifies this very grader: cached verdicts and times must not outlive the code that made
 * them. */
void cache_add_grader(struct hash *h);

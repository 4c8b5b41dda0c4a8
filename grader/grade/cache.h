/* cache.h — stores results under the hash of everything they depend on, in paths_cache_dir(). An
 * entry is complete or absent: it is written to an unnamed file that gets its name at the end, so
 * neither a second grader nor kill -9 leaves part of one. Each entry has a digest; a damaged entry
 * counts as absent and is replaced. Submissions never see the folder. */
#pragma once
#include "common/buf.h"
#include "common/hash.h"

#include <stdbool.h>

/* Appends an entry; returns false if there is none. `kind` is a short folder name such as "obj". */
bool cache_get(const char *kind, const char key[HASH_HEX_SIZE], struct buf *out);
/* Stores an entry. A failure is no error: the next run computes the result again. */
void cache_put(const char *kind, const char key[HASH_HEX_SIZE], const void *data, size_t size);
/* Hashes the identity of this build: cached verdicts and times must not outlive the code that made
 * them. */
void cache_add_grader(struct hash *h);

/* cache.h — stores results under the hash of everything they depend on, in paths_cache_dir(). An
 * entry is complete or absent: it is written to an unnamed file that gets its name at the end, so
 * neither a second grader nor kill -9 leaves part of one. Each entry has a digest; a damaged entry
 * counts as absent and is replaced. Submissions never see the folder. A folder that another user
 * owns or may write to is not used, because entries decide scores.
 *
 * The cache is bounded (cache_bound.c): beyond the limit, the least recently used entries go. The
 * limit is 256 MiB, or WARPBOOK_CACHE_MIB. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"

#include <limits.h>
#include <stdbool.h>

/* Appends an entry; returns false if there is none. `kind` is a short folder name such as "obj". */
bool cache_get(const char *kind, const char key[HASH_HEX_SIZE], struct buf *out);
/* Sets the path of an entry, for a program that reads the payload itself, in front of the digest;
 * the digest is not checked. Returns false if there is none. */
bool cache_find(const char *kind, const char key[HASH_HEX_SIZE], char path[PATH_MAX]);
/* Stores an entry. A failure is no error: the next run computes the result again. */
void cache_put(const char *kind, const char key[HASH_HEX_SIZE], const void *data, size_t size);
/* Hashes the identity of this build: cached verdicts and times must not outlive the code that made
 * them. */
void cache_add_grader(struct hash *h);

struct cache_usage {
    unsigned long long entries, bytes, limit; /* bytes on the disk */
};
/* Counts the entries. Fails if the cache can't be used, such as a folder of another user. */
bool cache_measure(struct cache_usage *out, struct err *e);
/* Removes all entries but those that other graders add meanwhile. */
bool cache_clear(struct err *e);

/* ---- between cache.c and cache_bound.c ---- */

/* Counts an entry of `bytes` that was just added, and removes old ones beyond the limit. */
void cache_count_added(const char *folder, size_t bytes);
/* Removes what is in the cache `folder`. What other graders add meanwhile may stay. */
bool cache_empty(const char *folder, struct err *e);
/* Removes the least recently used entries until at most `target` bytes are left. */
void cache_evict(const char *folder, unsigned long long target);
unsigned long long cache_limit(void);
/* Returns true if this user owns the folder and nobody else may write to it. */
bool cache_is_private(const char *folder);

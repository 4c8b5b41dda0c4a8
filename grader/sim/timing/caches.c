/* caches.c — a cache of 128-byte lines with 32-byte sectors, as a tag store, for the replay's L1
 * and L2. A hash selects the set, as on GPUs. L1's victim is random: its policy is not LRU (Jia et
 * al., "Dissecting the NVIDIA Volta GPU architecture", 2018), and a random victim has no cliff
 * where a loop's data slightly exceeds the cache. L2's is the least recently used: an H100 that
 * reads 48 MiB again and again finds 1 % of it, of 32 MiB 92 % (terms.cu, again-48Mx4 and -32Mx4,
 * by ncu). */
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 64, LINE_BYTES = 128 };

void time_cache_open(struct cache *c, double bytes, bool is_lru) {
    double lines = bytes / LINE_BYTES;
    *c = (struct cache){.ways = WAYS, .is_lru = is_lru, .rng_state = 0x9e3779b97f4a7c15ull};
    c->sets = lines < WAYS ? 1 : (u32)(lines / WAYS);
    if (lines < WAYS) c->ways = lines < 1 ? 1 : (u32)lines;
    c->lines = xcalloc((size_t)c->sets * c->ways, sizeof *c->lines);
}

void time_cache_close(struct cache *c) { free(c->lines); }

void time_cache_invalidate(struct cache *c) {
    if (c->is_empty) return; /* blocks that poll may ask for it often */
    c->is_empty = true;
    memset(c->lines, 0, (size_t)c->sets * c->ways * sizeof *c->lines);
}

static struct cache_line *set_of(const struct cache *c, u64 line) {
    u64 h = line * 0x9e3779b97f4a7c15ull;
    return c->lines + (size_t)((h >> 32) % c->sets) * c->ways;
}

struct cache_line *time_cache_find(struct cache *c, u64 line) {
    struct cache_line *set = set_of(c, line);
    for (u32 i = 0; i < c->ways; i++)
        if (set[i].tag == line + 1) return set[i].last_use = ++c->tick, &set[i];
    return NULL;
}

static u32 random_way(struct cache *c) {
    c->rng_state ^= c->rng_state << 13, c->rng_state ^= c->rng_state >> 7,
        c->rng_state ^= c->rng_state << 17;
    return (u32)(c->rng_state >> 33) % c->ways;
}

static u32 least_recently_used_way(const struct cache *c, const struct cache_line *set) {
    u32 oldest = 0;
    for (u32 i = 1; i < c->ways; i++)
        if (set[i].last_use < set[oldest].last_use) oldest = i;
    return oldest;
}

struct cache_line *time_cache_insert(struct cache *c, u64 line) {
    c->is_empty = false;
    struct cache_line *set = set_of(c, line);
    u32 victim = c->ways;
    for (u32 i = 0; i < c->ways && victim == c->ways; i++)
        if (!set[i].tag) victim = i;
    if (victim == c->ways) victim = c->is_lru ? least_recently_used_way(c, set) : random_way(c);
    set[victim] = (struct cache_line){.tag = line + 1, .last_use = ++c->tick};
    return &set[victim];
}

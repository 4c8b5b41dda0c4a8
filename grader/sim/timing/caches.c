/* caches.c — a cache of 128-byte lines with 32-byte sectors, as a tag store, for the replay's L1
 * and L2. A hash selects the set, as on GPUs. The victim is random: the policy of NVIDIA's L1 is
 * not LRU (Jia et al., "Dissecting the NVIDIA Volta GPU architecture", 2018), and a random victim
 * has no cliff where a loop's data slightly exceeds the cache. */
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 64, LINE_BYTES = 128 };

void time_cache_open(struct cache *c, double bytes) {
    double lines = bytes / LINE_BYTES;
    *c = (struct cache){.ways = WAYS, .rng_state = 0x9e3779b97f4a7c15ull};
    c->sets = lines < WAYS ? 1 : (u32)(lines / WAYS);
    if (lines < WAYS) c->ways = lines < 1 ? 1 : (u32)lines;
    c->lines = xcalloc((size_t)c->sets * c->ways, sizeof *c->lines);
}

void time_cache_close(struct cache *c) { free(c->lines); }

void time_cache_invalidate(struct cache *c) {
    memset(c->lines, 0, (size_t)c->sets * c->ways * sizeof *c->lines);
}

static struct cache_line *set_of(const struct cache *c, u64 line) {
    u64 h = line * 0x9e3779b97f4a7c15ull;
    return c->lines + (size_t)((h >> 32) % c->sets) * c->ways;
}

struct cache_line *time_cache_find(struct cache *c, u64 line) {
    struct cache_line *set = set_of(c, line);
    for (u32 i = 0; i < c->ways; i++)
        if (set[i].tag == line + 1) return &set[i];
    return NULL;
}

struct cache_line *time_cache_insert(struct cache *c, u64 line) {
    struct cache_line *set = set_of(c, line);
    u32 victim = c->ways;
    for (u32 i = 0; i < c->ways && victim == c->ways; i++)
        if (!set[i].tag) victim = i;
    c->rng_state ^= c->rng_state << 13, c->rng_state ^= c->rng_state >> 7,
        c->rng_state ^= c->rng_state << 17;
    if (victim == c->ways) victim = (u32)(c->rng_state >> 33) % c->ways;
    set[victim] = (struct cache_line){.tag = line + 1};
    return &set[victim];
}

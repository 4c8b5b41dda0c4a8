/* repeated_loads.c — see repeated_loads.h. */
#include "grader/sim/core/repeated_loads.h"

#include <stdlib.h>

static void count_load(u64 s[STAT_COUNT], const struct pattern_cost *c, u64 runs) {
    s[STAT_REQUESTS] += runs;
    s[STAT_LANES] += runs * c->lanes;
    s[STAT_WAVEFRONTS] += runs * c->wavefronts;
    s[STAT_MIN_WAVEFRONTS] += runs * c->min_wavefronts;
    s[STAT_OPS] += runs * c->lanes;
    s[STAT_SERIALIZED] += runs * c->max_multiplicity;
    if (c->max_multiplicity > s[STAT_MAX_MULTIPLICITY])
        s[STAT_MAX_MULTIPLICITY] = c->max_multiplicity;
}

static void count_runs(struct worker *k, struct repeated_loads *r) {
    for (u32 i = 0; r->runs && i < r->n; i++)
        if (r->loads[i].is_counted) count_load(k->stats[r->loads[i].stat], &r->cost[i], r->runs);
    r->runs = 0;
}

static struct repeated_loads *add_chunk(struct worker *k, const struct repeated_load *loads,
                                        u32 n) {
    struct repeated_loads *r = xcalloc(1, sizeof *r + n * sizeof *r->cost);
    r->loads = loads, r->n = n, r->next = k->repeated_loads;
    return k->repeated_loads = r;
}

struct repeated_loads *core_remember_loads(struct exec *x, const struct repeated_load *loads, u32 n,
                                           u32 serials, u32 mask) {
    struct repeated_loads **known = &x->pattern_cache[loads[0].stat].repeated_loads, *r = *known;
    if (!r || r->loads != loads) r = *known = add_chunk(x->worker, loads, n);
    count_runs(x->worker, r);
    r->serials = serials, r->mask = mask;
    for (u32 i = 0; i < n; i++) {
        const struct access_pattern *m = &x->pattern_cache[loads[i].stat];
        r->cost[i] = (struct pattern_cost){m->lane_count, m->wavefronts, m->min_wavefronts,
                                           m->max_multiplicity};
    }
    return r;
}

void core_count_repeated_loads(struct worker *k) {
    for (struct repeated_loads *r = k->repeated_loads; r; r = r->next) count_runs(k, r);
}

void core_free_repeated_loads(struct worker *k) {
    for (struct repeated_loads *r = k->repeated_loads, *next; r; r = next) next = r->next, free(r);
    k->repeated_loads = NULL;
}

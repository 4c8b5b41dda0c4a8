/* counter_model.c — models a launch's time by its counters alone: the launch itself plus the
 * slowest of the resources that it uses. The server calls it where no block could be traced;
 * estimate.c has the full model. */
#include "grader/sim/timing/timing.h"

#include <stdio.h>

void time_format_bound(const struct time_estimate *t, char *out, size_t size) {
    *out = 0;
    if (!t->bound_by[0]) return;
    int n = snprintf(out, size, "%s, %.0f %%", t->bound_by[0], 100 * t->share[0]);
    if (t->bound_by[2] && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " (next: %s, %.0f %%; %s, %.0f %%)", t->bound_by[1],
                 100 * t->share[1], t->bound_by[2], 100 * t->share[2]);
}

struct resource_time {
    const char *name;
    double seconds;
};

static void sort_by_time(struct resource_time *l, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j && l[j].seconds > l[j - 1].seconds; j--) {
            struct resource_time t = l[j];
            l[j] = l[j - 1];
            l[j - 1] = t;
        }
}

void time_from_counters(const struct gpu_device *d, const struct sim_launch *l,
                        const struct sim_result *r, struct time_estimate *out) {
    const struct sim_counters *c = &r->counters;
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    double sms = blocks < d->sms ? blocks : d->sms, sm_clocks = sms * d->clock_hz;
    double sectors = (double)(c->global_load_sectors + c->global_store_sectors + c->atomic_sectors +
                              c->local_sectors);
    double shared = (double)(c->shared_load_wavefronts + c->shared_store_wavefronts +
                             c->shared_atomic_serialized);
    struct resource_time limits[] = {
        {"issue slots", (double)c->inst_executed / 4 / sm_clocks},
        {"FMA pipe", (double)c->flops_f32 / 2 / d->fp32_lanes / sm_clocks},
        {"FP64 pipe", (double)c->flops_f64 / 2 / d->fp64_lanes / sm_clocks},
        {"shared memory wavefronts", shared / sm_clocks},
        {"L1 wavefronts",
         (sectors / 4 + (double)(c->const_requests + c->const_serialized_accesses) / 4) /
             sm_clocks},
        {"L2 bandwidth", sectors * 32 / d->l2_rate},
        {"DRAM bandwidth",
         (double)(c->global_sectors_ideal + c->global_sectors_excessive / 4) * 32 / d->dram_rate},
        {"atomics", (double)c->atomic_operations / d->clock_hz / 32},
    };
    enum { LIMIT_COUNT = sizeof limits / sizeof *limits };
    sort_by_time(limits, LIMIT_COUNT);
    double bottleneck_seconds = limits[0].seconds + 0.3 * limits[1].seconds,
           latency = (d->lat_dram + 200.0) / d->clock_hz;
    out->seconds = d->launch_seconds + latency + bottleneck_seconds;
    out->uncertainty_note = "from counters alone";
    out->low = out->seconds / 2;
    out->high = out->seconds * 2;
    for (unsigned i = 0; i < 3; i++) {
        out->bound_by[i] = limits[i].name;
        out->share[i] = out->seconds > 0 ? limits[i].seconds / out->seconds : 0;
    }
}

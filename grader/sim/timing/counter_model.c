/* counter_model.c — models a launch's time by its counters alone: the launch itself plus the
 * slowest of the resources that it uses. The server calls it where no block could be traced;
 * estimate.c has the full model. */
#include "grader/sim/timing/internal.h"

void time_from_counters(const struct gpu_device *d, const struct sim_launch *l,
                        const struct sim_result *r, struct time_estimate *out) {
    const struct sim_counters *c = &r->counters;
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    double sms = blocks < d->sms ? blocks : d->sms, sm_clocks = sms * d->clock_hz;
    double sectors = (double)(c->global_load_sectors + c->global_store_sectors + c->atomic_sectors +
                              c->local_sectors);
    double shared = (double)(c->shared_load_wavefronts + c->shared_store_wavefronts +
                             c->shared_atomic_serialized);
    double seconds[RESOURCE_COUNT] = {
        [RESOURCE_ISSUE] = (double)c->inst_executed / 4 / sm_clocks,
        [RESOURCE_FMA] = (double)c->flops_f32 / 2 / d->fp32_lanes / sm_clocks,
        [RESOURCE_FP64] = (double)c->flops_f64 / 2 / d->fp64_lanes / sm_clocks,
        [RESOURCE_SHARED] = shared / sm_clocks,
        [RESOURCE_L1] =
            (sectors / 4 + (double)(c->const_requests + c->const_serialized_accesses) / 4) /
            sm_clocks,
        [RESOURCE_L2] = sectors * 32 / d->l2_rate,
        [RESOURCE_DRAM] =
            (double)(c->global_sectors_ideal + c->global_sectors_excessive / 4) * 32 / d->dram_rate,
        [RESOURCE_ATOMIC_L2_SLICE] = (double)c->atomic_operations / d->clock_hz / 32,
    };
    double first = 0, second = 0, latency = (d->lat_dram + 200.0) / d->clock_hz;
    for (u32 i = 0; i < RESOURCE_COUNT; i++) {
        out->components[TIME_FIRST_RESOURCE + i] = seconds[i];
        if (seconds[i] > first) second = first, first = seconds[i];
        else if (seconds[i] > second) second = seconds[i];
    }
    out->components[TIME_COMPONENT_LAUNCH] = d->launch_seconds;
    out->seconds = d->launch_seconds + latency + first + 0.3 * second;
    time_rank_limits(out->components, out->seconds, out->limits);
    out->uncertainty_note = "from counters alone";
    out->low = out->seconds / 2;
    out->high = out->seconds * 2;
}

/* timing.h — devices as data, occupancy, and the time model. */
#pragma once
#include "grader/sim/sim.h"

/* One row of devices.def. Latencies in cycles, bandwidths in bytes a second, sizes in bytes. */
struct gpu_device {
    const char *name, *full_name;
    unsigned cc_major, cc_minor;
    unsigned sms, threads_per_block;
    double clock_hz;
    unsigned warps_per_sm, blocks_per_sm, registers_per_sm;
    unsigned shared_per_sm, shared_per_block, shared_reserved;
    unsigned lat_l1, lat_l2, lat_dram, lat_shared;
    uint64_t l2_bytes, dram_bytes;
    double l2_rate, dram_rate;
    unsigned fp32_lanes, int_lanes, sfu_lanes, fp64_lanes, lsu_lanes; /* per clock and SM */
    double launch_seconds;
};

const struct gpu_device *device_find(const char *name); /* NULL if unknown */
const struct gpu_device *device_at(unsigned i);         /* NULL after the last */

/* Blocks that fit on one SM at the same time; `limit` (may be NULL) names what ends it. */
unsigned occupancy_blocks(const struct gpu_device *d, unsigned threads, unsigned registers, unsigned shared_bytes,
                          const char **limit);

struct time_estimate {
    double seconds;          /* modelled */
    double low, high;        /* an honest interval around it */
    const char *bound_by[3]; /* what limits, the nearest first */
    double share[3];         /* of the time that the limit accounts for, 0..1 */
};

/* Modelled time of one launch from its counters. */
void time_model(const struct gpu_device *d, const struct sim_launch *l, const struct sim_result *r,
                struct time_estimate *out);

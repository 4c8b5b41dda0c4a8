/* device.h — devices as data (devices.def), and how many blocks an SM holds. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* One row of devices.def. Latencies in cycles, bandwidths in bytes a second, sizes in bytes. */
struct gpu_device {
    const char *name, *full_name;
    unsigned cc_major, cc_minor;
    unsigned sms, threads_per_block;
    double clock_hz;
    unsigned warps_per_sm, blocks_per_sm, registers_per_sm;
    unsigned shared_per_sm, shared_per_block, shared_reserved;
    unsigned
        l1_bytes; /* of an SM; from compute capability 7 on, shared memory takes its part of it */
    unsigned lat_alu, lat_l1, lat_l2, lat_dram, lat_shared;
    uint64_t l2_bytes, dram_bytes;
    double l2_rate, dram_rate;
    unsigned fp32_lanes, int_lanes, sfu_lanes, fp64_lanes, lsu_lanes; /* per clock and SM */
    double launch_seconds;
    double atomic_rate,
        atomic_float_rate; /* updates of one word a second: integers; additions of floats */
    /* The bus to the host: bytes a second one way, and both ways together; what a copy takes beside
     * its bytes; from the end of a command to the begin of what follows it on another engine; from
     * the end of what a host waits for to its next command. */
    double bus_rate, bus_bidirectional_rate, copy_overhead_seconds, engine_switch_seconds,
        host_sync_seconds;
    const char *spec_sources; /* one letter for each figure, see devices.def */
};

const struct gpu_device *device_find(const char *name); /* NULL if unknown */
const struct gpu_device *device_at(unsigned i);         /* NULL after the last */

/* The figures of a device, for listing: name with unit, value, where it comes from. False after the
 * last. */
struct device_spec {
    const char *name, *source;
    double value;
};
bool device_spec(const struct gpu_device *d, unsigned i, struct device_spec *out);

/* No figure was found for the one whose name begins so. */
bool device_spec_is_assumed(const struct gpu_device *d, const char *spec_name);

/* Blocks that fit on one SM at the same time; `limit` (may be NULL) names what ends it. */
unsigned device_blocks_per_sm(const struct gpu_device *d, unsigned threads, unsigned registers,
                              unsigned shared_bytes, const char **limit);

/* Cycles that an SM's quarter takes for mma of 16 x 8 x 16 halves; of other types, for as many
 * bits. */
double device_mma_cycles(const struct gpu_device *d);

/* device.h — the simulated devices as data (devices.def), and the occupancy calculator. */
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
    unsigned l1_bytes; /* of an SM; from CC 7.0 on, shared memory is a part of it */
    unsigned lat_alu, lat_l1, lat_l2, lat_dram, lat_shared;
    uint64_t l2_bytes, dram_bytes;
    double l2_rate, dram_rate; /* that streams reach */
    double dram_peak_rate;
    unsigned fp32_lanes, int_lanes, sfu_lanes, fp64_lanes, lsu_lanes; /* per clock and SM */
    double launch_seconds;
    /* Updates of one word a second: of integers; additions of floats. */
    double atomic_rate, atomic_float_rate;
    /* The bus to the host. Bytes a second: one way; both ways together. Seconds: overhead of a
     * copy; from a command's end to the start of its successor on another engine; from the end of
     * what the host waits for to its next command. */
    double bus_rate, bus_bidirectional_rate, copy_overhead_seconds, engine_switch_seconds,
        host_sync_seconds;
    /* Cycles of a fence of GPU scope behind a store; until an atomic's result arrives. */
    unsigned lat_fence, lat_atomic;
    /* Copies from device to device, over NVLink or PCI Express. Bytes a second of one way; seconds
     * of overhead. Rate 0: devices can't access each other's memory, and copies pass through the
     * host.
     */
    double peer_rate, peer_overhead_seconds;
    const char *spec_sources; /* one letter for each figure, see devices.def */
};

const struct gpu_device *device_find(const char *name); /* NULL if unknown */
const struct gpu_device *device_at(unsigned i);         /* NULL after the last */

/* Returns true if NVLink connects several such devices, which also does atomics between them. */
bool device_has_nvlink(const struct gpu_device *d);

/* One figure of a device, for listing. */
struct device_spec {
    const char *name, *source; /* name with unit; where the value comes from */
    double value;
};
/* Gets the i-th figure; returns false after the last. */
bool device_spec(const struct gpu_device *d, unsigned i, struct device_spec *out);

/* Returns true if the figure whose name begins with `spec_name` is assumed, for want of a source.
 */
bool device_spec_is_assumed(const struct gpu_device *d, const char *spec_name);

/* Returns true if the time model was measured on such a device (docs/time-model.md). */
bool device_is_measured(const struct gpu_device *d);
/* Returns true if figures are those of another device, scaled by SMs and clock. */
bool device_has_estimates(const struct gpu_device *d);

/* Returns the number of blocks that fit on one SM; `limit` (may be NULL) gets the limiter's name.
 */
unsigned device_blocks_per_sm(const struct gpu_device *d, unsigned threads, unsigned registers,
                              unsigned shared_bytes, const char **limit);

/* Returns the cycles that one of an SM's four quarters takes for an mma of 16 x 8 x 16 halves, or
 * of as many bits of another type. */
double device_mma_cycles(const struct gpu_device *d);

/* device.c — the device table and the occupancy calculator. See device.h. */
#include "grader/sim/device.h"

#include <string.h>
#include <strings.h>

/* The figures of a row of devices.def, in its order: SPEC(member, name with unit, factor from the
 * row's unit to the member's). */
/* clang-format off */
#define DEVICE_SPECS(SPEC)                                                \
    SPEC(sms, "multiprocessors", 1)                                  \
    SPEC(clock_hz, "clock under load, MHz", 1e6)                     \
    SPEC(warps_per_sm, "warps per SM", 1)                            \
    SPEC(blocks_per_sm, "blocks per SM", 1)                          \
    SPEC(registers_per_sm, "registers per SM", 1)                    \
    SPEC(shared_per_sm, "shared memory per SM, bytes", 1)            \
    SPEC(shared_per_block, "shared memory per block, bytes", 1)      \
    SPEC(shared_reserved, "of it reserved, bytes", 1)                \
    SPEC(l1_bytes, "L1 of an SM, bytes", 1)                          \
    SPEC(lat_alu, "arithmetic, cycles", 1)                           \
    SPEC(lat_l1, "L1 hit, cycles", 1)                                \
    SPEC(lat_l2, "L2 hit, cycles", 1)                                \
    SPEC(lat_dram, "DRAM, cycles", 1)                                \
    SPEC(lat_shared, "shared load, cycles", 1)                       \
    SPEC(l2_bytes, "L2, bytes", 1)                                   \
    SPEC(dram_bytes, "device memory, bytes", 1)                      \
    SPEC(l2_rate, "L2, GB/s", 1e9)                                   \
    SPEC(dram_rate, "DRAM, GB/s", 1e9)                               \
    SPEC(fp32_lanes, "FP32 lanes per clock and SM", 1)               \
    SPEC(int_lanes, "INT32 lanes per clock and SM", 1)               \
    SPEC(sfu_lanes, "SFU lanes per clock and SM", 1)                 \
    SPEC(fp64_lanes, "FP64 lanes per clock and SM", 1)               \
    SPEC(lsu_lanes, "LSU lanes per clock and SM", 1)                 \
    SPEC(launch_seconds, "back-to-back launch, us", 1e-6)            \
    SPEC(atomic_rate, "atomics on one word, G/s", 1e9)               \
    SPEC(atomic_float_rate, "float additions on one word, G/s", 1e9) \
    SPEC(bus_rate, "copies over the bus, one way, GB/s", 1e9)            \
    SPEC(bus_bidirectional_rate, "copies over the bus, both ways, GB/s", 1e9)     \
    SPEC(copy_overhead_seconds, "overhead of a copy, us", 1e-6)              \
    SPEC(engine_switch_seconds, "switch to another engine, us", 1e-6)           \
    SPEC(host_sync_seconds, "wait of the host, us", 1e-6)           \
    SPEC(lat_fence, "fence of GPU scope behind a store, cycles", 1)      \
    SPEC(lat_atomic, "atomic, cycles", 1)                                \
    SPEC(peer_rate, "copies to another device, GB/s", 1e9)           \
    SPEC(peer_overhead_seconds, "overhead of such a copy, us", 1e-6) \
    SPEC(dram_peak_rate, "peak of DRAM, GB/s", 1e9)

#define DEVICE(name, full, sources, major, minor, sms, mhz, warps, blocks, regs, smem, smem_block, \
               reserved, l1, alu, lat1, lat2, dram, sh, l2b, dramb, l2r, dramr, fp32, in, sfu,     \
               fp64, lsu, us, at, af, bus, both, copy, turn, wait, fence, atom, peer, peer_us,     \
               peak)                                                                               \
    {name,        full,       major,       minor,       sms,                                       \
     1024,        mhz * 1e6,  warps,       blocks,      regs,                                      \
     smem,        smem_block, reserved,    l1,          alu,                                       \
     lat1,        lat2,       dram,        sh,          l2b,                                       \
     dramb,       l2r * 1e9,  dramr * 1e9, peak * 1e9,  fp32,        in,                           \
     sfu,         fp64,       lsu,         us * 1e-6,   at * 1e9,                                  \
     af * 1e9,    bus * 1e9,  both * 1e9,  copy * 1e-6, turn * 1e-6,                               \
     wait * 1e-6, fence,      atom,        peer * 1e9,  peer_us * 1e-6,                            \
     sources},
/* clang-format on */
static const struct gpu_device devices[] = {
#include "grader/sim/devices.def"
};

enum { DEVICE_COUNT = sizeof devices / sizeof *devices };

const struct gpu_device *device_at(unsigned i) { return i < DEVICE_COUNT ? &devices[i] : 0; }

const struct gpu_device *device_find(const char *name) {
    for (unsigned i = 0; i < DEVICE_COUNT; i++)
        if (strcasecmp(devices[i].name, name) == 0) return &devices[i];
    return 0;
}

static const char *source_text(char letter) {
    switch (letter) {
    case 'V': return "vendor's data sheet";
    case 'G': return "CUDA programming guide, by compute capability";
    case 'R': return "measured: RRZE-HPC/gpu-benches";
    case 'K': return "measured: caps-tum/mt4g";
    case 'M': return "measured: markdewing/AI_kernels";
    case 'B': return "measured: benchmarks listed in docs/time-model.md, Atomics";
    case 'J': return "measured: Chips and Cheese";
    case 'H': return "measured: grader/tests/timing/micro-*.tsv";
    case 'W': return "measured: grader/tests/timing/latency-*.tsv";
    case 'P': return "measured: grader/tests/timing/copies-h100.tsv";
    case 'Q': return "measured on an H100: grader/tests/timing/copies-h100.tsv";
    case 'D':
        return "PCI Express rate of the vendor's data sheet, times the share that the H100 reaches";
    case 'L':
        return "NVLink rate of the vendor's data sheet, times the share that the H200 reaches";
    case 'E': return "measured: grader/tests/timing/peers-h200.tsv";
    case 'C': return "85 % of the vendor's figure";
    case 'N': return "estimate: the figure of another device of the architecture";
    default: return "assumed: no figure was found";
    }
}

bool device_has_nvlink(const struct gpu_device *d) { return d->peer_rate > d->bus_rate; }

bool device_is_measured(const struct gpu_device *d) { return strchr(d->spec_sources, 'W'); }

bool device_has_estimates(const struct gpu_device *d) { return strchr(d->spec_sources, 'N'); }

bool device_spec(const struct gpu_device *d, unsigned i, struct device_spec *out) {
    const struct device_spec specs[] = {
#define SPEC(member, text, unit) {text, 0, (double)d->member / unit},
        DEVICE_SPECS(SPEC)
#undef SPEC
    };
    if (i >= sizeof specs / sizeof *specs) return false;
    *out = specs[i];
    out->source =
        source_text(d->spec_sources && strlen(d->spec_sources) > i ? d->spec_sources[i] : 0);
    return true;
}

static unsigned ceil_to(unsigned n, unsigned unit) { return (n + unit - 1) / unit * unit; }

static void lower_limit(unsigned *blocks, unsigned value, const char **limiter, const char *name) {
    if (value >= *blocks) return;
    *blocks = value;
    *limiter = name;
}

/* A warp gets registers in units of 256, and the four schedulers get warps in turn. A block gets
 * shared memory in units of 128 bytes (256 before CC 8.0), plus what the system reserves. Sources:
 * CUDA programming guide, "Compute Capabilities"; the toolkit's occupancy calculator. */
unsigned device_blocks_per_sm(const struct gpu_device *d, unsigned threads, unsigned registers,
                              unsigned shared_bytes, const char **limit) {
    unsigned warps = (threads + 31) / 32, blocks = d->blocks_per_sm;
    const char *limiter = "blocks per SM";
    if (!warps) return 0;
    lower_limit(&blocks, d->warps_per_sm / warps, &limiter, "warps per SM");
    unsigned per_warp = ceil_to((registers ? registers : 1) * 32, 256), schedulers = 4;
    unsigned warps_by_registers = d->registers_per_sm / schedulers / per_warp * schedulers;
    lower_limit(&blocks, warps_by_registers / warps, &limiter, "registers");
    unsigned shared = ceil_to(shared_bytes + d->shared_reserved, d->cc_major >= 8 ? 128 : 256);
    if (shared) lower_limit(&blocks, d->shared_per_sm / shared, &limiter, "shared memory");
    if (limit) *limit = limiter;
    return blocks;
}

bool device_spec_is_assumed(const struct gpu_device *d, const char *spec_name) {
    struct device_spec f;
    for (unsigned i = 0; device_spec(d, i, &f); i++)
        if (!strncmp(f.name, spec_name, strlen(spec_name))) return d->spec_sources[i] == 'A';
    return true;
}

/* CC 9.0: 6.0 cycles, measured on an H100 (8 independent products a warp, 4 to 32 warps; the same
 * for 16 x 8 x 8 of TF32 and 16 x 8 x 32 of bytes). That is two thirds of the data sheet's rate,
 * which only wgmma reaches. Older devices, from the vendor's data sheets, dense products of halves:
 * A100 312 TFLOP/s, 1024 products a clock and SM; V100 125, T4 65, RTX A6000 155, RTX 3090 142 and
 * RTX 4090 330 (the last two with sums in halves): 512. RTX 5090 419, likewise: 512. */
double device_mma_cycles(const struct gpu_device *d) {
    if (d->cc_major == 9 || d->cc_major == 10) return 6;
    return d->cc_major == 8 && d->cc_minor == 0 ? 8 : 16;
}

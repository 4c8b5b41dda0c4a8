/* device.c — the device table, and how many blocks an SM holds. */
#include "grader/sim/timing/timing.h"

#include <strings.h>

#define DEVICE(name, full, maj, min, sms, mhz, warps, blocks, regs, smem, smem_block, reserved, l1, l2, dram, sh, l2b, dramb, l2r, dramr, fp32, in, sfu, fp64, lsu, us) \
    {name, full, maj, min, sms, 1024, mhz * 1e6, warps, blocks, regs, smem, smem_block, reserved, l1, l2, dram, sh, l2b, dramb, l2r * 1e9, dramr * 1e9, fp32, in, sfu, fp64, lsu, us * 1e-6},
static const struct gpu_device devices[] = {
#include "grader/sim/timing/devices.def"
};

enum { DEVICES = sizeof devices / sizeof *devices };

const struct gpu_device *device_at(unsigned i) { return i < DEVICES ? &devices[i] : 0; }

const struct gpu_device *device_find(const char *name) {
    for (unsigned i = 0; i < DEVICES; i++)
        if (strcasecmp(devices[i].name, name) == 0) return &devices[i];
    return 0;
}

static unsigned ceil_to(unsigned n, unsigned unit) { return (n + unit - 1) / unit * unit; }

static void keep_lower(unsigned *blocks, unsigned value, const char **why, const char *name) {
    if (value >= *blocks) return;
    *blocks = value;
    *why = name;
}

/* Registers are given to a warp in units of 256, warps to the four schedulers in turn; shared memory in units of 128
 * bytes (256 before compute capability 8), plus what the system keeps of each block (CUDA programming guide,
 * "Compute Capabilities", and the occupancy calculator of the toolkit). */
unsigned occupancy_blocks(const struct gpu_device *d, unsigned threads, unsigned registers, unsigned shared_bytes, const char **limit) {
    unsigned warps = (threads + 31) / 32, blocks = d->blocks_per_sm;
    const char *why = "blocks per SM";
    if (!warps) return 0;
    keep_lower(&blocks, d->warps_per_sm / warps, &why, "warps per SM");
    unsigned per_warp = ceil_to((registers ? registers : 1) * 32, 256), schedulers = 4;
    unsigned warps_by_registers = d->registers_per_sm / schedulers / per_warp * schedulers;
    keep_lower(&blocks, warps_by_registers / warps, &why, "registers");
    unsigned shared = ceil_to(shared_bytes + d->shared_reserved, d->cc_major >= 8 ? 128 : 256);
    if (shared) keep_lower(&blocks, d->shared_per_sm / shared, &why, "shared memory");
    if (limit) *limit = why;
    return blocks;
}

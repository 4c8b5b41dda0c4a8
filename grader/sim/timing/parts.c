/* parts.c — what a launch's time goes to, and what of it limits. */
#include "grader/sim/timing/internal.h"

#include <string.h>

enum { RESOURCES = 1, STALLS = RESOURCES + R_COUNT, LAST = STALLS + STALL_COUNT };
_Static_assert((int)LAST <= (int)TIME_PARTS, "each part has a place");

static const char *const names[LAST] = {
    [TIME_PART_LAUNCH] = "launch overhead",
    [RESOURCES + R_ISSUE] = "instruction issue",
    [RESOURCES + R_ALU] = "integer units",
    [RESOURCES + R_FMA] = "FP32 units",
    [RESOURCES + R_FP64] = "FP64 units",
    [RESOURCES + R_XU] = "special-function units",
    [RESOURCES + R_LSU] = "load/store issue",
    [RESOURCES + R_SHARED] = "shared memory",
    [RESOURCES + R_L1] = "L1 passes",
    [RESOURCES + R_L2] = "L2 bandwidth",
    [RESOURCES + R_DRAM] = "DRAM bandwidth",
    [RESOURCES + R_ATOMICS] = "atomics on one address",
    [RESOURCES + R_SLICE] = "atomics in one slice of L2",
    [RESOURCES + R_TENSOR] = "tensor cores",
    [STALLS + STALL_NONE] = "latency",
    [STALLS + STALL_ARITHMETIC] = "latency of arithmetic",
    [STALLS + STALL_SHARED] = "latency of shared memory",
    [STALLS + STALL_L1] = "latency of L1",
    [STALLS + STALL_L2] = "latency of L2",
    [STALLS + STALL_DRAM] = "latency of DRAM",
    [STALLS + STALL_ATOMIC] = "latency of atomics",
    [STALLS + STALL_BARRIER] = "waiting at barriers",
};

const char *time_part_name(unsigned i) { return i < LAST ? names[i] : NULL; }

bool time_part_is_wait(unsigned i) { return i >= STALLS && i < LAST; }

double time_device_share(const struct time_estimate *e) {
    static const u32 shared[] = {R_L2, R_DRAM, R_ATOMICS, R_SLICE};
    double device = e->seconds - e->parts[TIME_PART_LAUNCH], most = 0;
    for (u32 i = 0; i < sizeof shared / sizeof *shared; i++)
        if (e->parts[RESOURCES + shared[i]] > most) most = e->parts[RESOURCES + shared[i]];
    return device > 0 && most < device ? most / device : 1;
}

void time_parts(const struct replay_result *r, double device, double launch,
                double parts[TIME_PARTS]) {
    memset(parts, 0, TIME_PARTS * sizeof *parts);
    for (u32 i = 0; i < R_COUNT; i++) parts[RESOURCES + i] = r->busy[i] * device;
    for (u32 i = 1; i < STALL_COUNT; i++) parts[STALLS + i] = r->stalls[i] * device;
    parts[TIME_PART_LAUNCH] = launch;
}

/* Of the reasons to wait the worst counts, with the time in which no resource is busy. */
static void shares(const double parts[TIME_PARTS], double seconds, double out[TIME_PARTS]) {
    double device = seconds - parts[TIME_PART_LAUNCH], most = 0;
    u32 worst = STALLS + 1;
    memset(out, 0, TIME_PARTS * sizeof *out);
    for (u32 i = RESOURCES; i < STALLS; i++) {
        out[i] = parts[i] / seconds;
        if (parts[i] > most) most = parts[i];
    }
    for (u32 i = STALLS + 1; i < LAST; i++)
        if (parts[i] > parts[worst]) worst = i;
    out[worst] = most < device ? (device - most) / seconds : 0;
    out[TIME_PART_LAUNCH] = parts[TIME_PART_LAUNCH] / seconds;
}

void time_rank(const double parts[TIME_PARTS], double seconds, const char *bound_by[3],
               double share[3]) {
    double left[TIME_PARTS] = {0};
    if (seconds > 0) shares(parts, seconds, left);
    for (u32 k = 0; k < 3; k++) {
        u32 best = 0;
        for (u32 i = 1; i < LAST; i++)
            if (left[i] > left[best]) best = i;
        bound_by[k] = names[best], share[k] = left[best] < 1 ? left[best] : 1;
        left[best] = -1;
    }
}

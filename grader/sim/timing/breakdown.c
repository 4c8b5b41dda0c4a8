/* breakdown.c — divides a launch's time among resources and stall reasons, for estimate.c, and
 * ranks what limits it. */
#include "grader/sim/timing/internal.h"

#include <string.h>

enum {
    FIRST_RESOURCE = 1,
    FIRST_STALL = FIRST_RESOURCE + RESOURCE_COUNT,
    /* The component of a stall reason is STALL_COMPONENT + the reason. The reasons before WAIT have
     * none: replay_result.stall_share is 0 for them. */
    STALL_COMPONENT = FIRST_STALL - SIM_STALL_WAIT,
    COMPONENT_COUNT = STALL_COMPONENT + SIM_STALL_COUNT
};
_Static_assert((int)COMPONENT_COUNT <= (int)TIME_MAX_COMPONENTS, "TIME_MAX_COMPONENTS too small");

static const char *const component_names[COMPONENT_COUNT] = {
    [TIME_COMPONENT_LAUNCH] = "launch overhead",
#define X(id, name) [FIRST_RESOURCE + id] = name,
    RESOURCES(X)
#undef X
        [STALL_COMPONENT + SIM_STALL_WAIT] = "latency of arithmetic",
    [STALL_COMPONENT + SIM_STALL_SHORT_SCOREBOARD] = "latency of shared memory",
    [STALL_COMPONENT + SIM_STALL_LONG_SCOREBOARD_L1] = "latency of L1",
    [STALL_COMPONENT + SIM_STALL_LONG_SCOREBOARD_L2] = "latency of L2",
    [STALL_COMPONENT + SIM_STALL_LONG_SCOREBOARD_DRAM] = "latency of DRAM",
    [STALL_COMPONENT + SIM_STALL_LONG_SCOREBOARD_ATOMIC] = "latency of atomics",
    [STALL_COMPONENT + SIM_STALL_BARRIER] = "waiting at barriers",
    [STALL_COMPONENT + SIM_STALL_MEMBAR] = "memory fences",
};

const char *time_component_name(unsigned i) {
    return i < COMPONENT_COUNT ? component_names[i] : NULL;
}

bool time_component_is_stall(unsigned i) { return i >= FIRST_STALL && i < COMPONENT_COUNT; }

double time_device_share(const struct time_estimate *e) {
    static const u32 shared_resources[] = {RESOURCE_L2, RESOURCE_DRAM, RESOURCE_ATOMIC_ADDRESS,
                                           RESOURCE_ATOMIC_L2_SLICE};
    double device = e->seconds - e->components[TIME_COMPONENT_LAUNCH], max_shared = 0;
    for (u32 i = 0; i < sizeof shared_resources / sizeof *shared_resources; i++)
        if (e->components[FIRST_RESOURCE + shared_resources[i]] > max_shared)
            max_shared = e->components[FIRST_RESOURCE + shared_resources[i]];
    return device > 0 && max_shared < device ? max_shared / device : 1;
}

void time_breakdown(const struct replay_result *r, double device, double launch,
                    double components[TIME_MAX_COMPONENTS]) {
    memset(components, 0, TIME_MAX_COMPONENTS * sizeof *components);
    for (u32 i = 0; i < RESOURCE_COUNT; i++)
        components[FIRST_RESOURCE + i] = r->utilization[i] * device;
    for (u32 i = SIM_STALL_WAIT; i < SIM_STALL_COUNT; i++)
        components[STALL_COMPONENT + i] = r->stall_share[i] * device;
    components[TIME_COMPONENT_LAUNCH] = launch;
}

/* Sets each component's share of the time. Of the stall reasons only the largest has a share: the
 * time in which even the busiest resource is idle. */
static void compute_shares(const double components[TIME_MAX_COMPONENTS], double seconds,
                           double out[TIME_MAX_COMPONENTS]) {
    double device = seconds - components[TIME_COMPONENT_LAUNCH], max_resource = 0;
    u32 worst_stall = FIRST_STALL;
    memset(out, 0, TIME_MAX_COMPONENTS * sizeof *out);
    for (u32 i = FIRST_RESOURCE; i < FIRST_STALL; i++) {
        out[i] = components[i] / seconds;
        if (components[i] > max_resource) max_resource = components[i];
    }
    for (u32 i = FIRST_STALL; i < COMPONENT_COUNT; i++)
        if (components[i] > components[worst_stall]) worst_stall = i;
    out[worst_stall] = max_resource < device ? (device - max_resource) / seconds : 0;
    out[TIME_COMPONENT_LAUNCH] = components[TIME_COMPONENT_LAUNCH] / seconds;
}

void time_rank_limiters(const double components[TIME_MAX_COMPONENTS], double seconds,
                        const char *bound_by[3], double share[3]) {
    double remaining[TIME_MAX_COMPONENTS] = {0};
    if (seconds > 0) compute_shares(components, seconds, remaining);
    for (u32 k = 0; k < 3; k++) {
        u32 best = 0;
        for (u32 i = 1; i < COMPONENT_COUNT; i++)
            if (remaining[i] > remaining[best]) best = i;
        bound_by[k] = component_names[best], share[k] = remaining[best] < 1 ? remaining[best] : 1;
        remaining[best] = -1;
    }
}

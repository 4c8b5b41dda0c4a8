/* breakdown.c — divides a launch's time among resources and stall reasons, for estimate.c, and
 * ranks what limits it. The account of docs/time-model.md: every command and report reads it. */
#include "grader/sim/timing/internal.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_ENGINE = TIME_COMPONENT_COPIES_IN,
    FIRST_STALL = TIME_FIRST_RESOURCE + RESOURCE_COUNT,
    /* The component of a stall reason is STALL_COMPONENT + the reason. The reasons before WAIT have
     * none: replay_result.stall_share is 0 for them. */
    STALL_COMPONENT = FIRST_STALL - SIM_STALL_WAIT,
    COMPONENT_COUNT = STALL_COMPONENT + SIM_STALL_COUNT
};
_Static_assert((int)COMPONENT_COUNT <= (int)TIME_MAX_COMPONENTS, "TIME_MAX_COMPONENTS too small");

static const char *const component_names[COMPONENT_COUNT] = {
    [TIME_COMPONENT_LAUNCH] = "launch overhead",
    [TIME_COMPONENT_COPIES_IN] = "copies to the device",
    [TIME_COMPONENT_COPIES_OUT] = "copies to the host",
    [TIME_COMPONENT_KERNELS] = "kernels",
    [TIME_COMPONENT_IDLE] = "idle",
#define X(id, name) [TIME_FIRST_RESOURCE + id] = name,
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
    double device = e->seconds - e->components[TIME_COMPONENT_LAUNCH];
    return device > 0 && e->shared_seconds < device ? e->shared_seconds / device : 1;
}

void time_breakdown(const struct replay_result *r, double device, double launch,
                    double components[TIME_MAX_COMPONENTS]) {
    memset(components, 0, TIME_MAX_COMPONENTS * sizeof *components);
    for (u32 i = 0; i < RESOURCE_COUNT; i++)
        components[TIME_FIRST_RESOURCE + i] = r->utilization[i] * device;
    for (u32 i = SIM_STALL_WAIT; i < SIM_STALL_COUNT; i++)
        components[STALL_COMPONENT + i] = r->stall_share[i] * device;
    components[TIME_COMPONENT_LAUNCH] = launch;
}

/* Returns the resource or engine that is busy longest, and in `idle` the seconds of the device's
 * time in which even that one is idle. */
static u32 busiest_component(const double components[TIME_MAX_COMPONENTS], double seconds,
                             double *idle) {
    double device = seconds - components[TIME_COMPONENT_LAUNCH];
    u32 busiest = FIRST_ENGINE;
    for (u32 i = FIRST_ENGINE; i < FIRST_STALL; i++)
        if (components[i] > components[busiest]) busiest = i;
    *idle = device > components[busiest] ? device - components[busiest] : 0;
    return busiest;
}

/* Sets each component's share of the time. Of the stall reasons only the largest has a share: the
 * time in which even the busiest resource is idle. */
static void compute_shares(const double components[TIME_MAX_COMPONENTS], double seconds,
                           double out[TIME_MAX_COMPONENTS]) {
    double idle;
    u32 worst_stall = FIRST_STALL;
    busiest_component(components, seconds, &idle);
    memset(out, 0, TIME_MAX_COMPONENTS * sizeof *out);
    for (u32 i = FIRST_ENGINE; i < FIRST_STALL; i++) out[i] = components[i] / seconds;
    for (u32 i = FIRST_STALL; i < COMPONENT_COUNT; i++)
        if (components[i] > components[worst_stall]) worst_stall = i;
    if (components[worst_stall] > 0) out[worst_stall] = idle / seconds;
    out[TIME_COMPONENT_LAUNCH] = components[TIME_COMPONENT_LAUNCH] / seconds;
}

/* Nsight Compute's rule: a unit limits a kernel if it reaches this share of its peak; else latency
 * does. Atomics limit at any share, since no profiler counts them as a unit. */
static const double limiting_share = 0.6;

static bool is_below_limit(u32 component, double share) {
    return component >= TIME_FIRST_RESOURCE && component < FIRST_STALL &&
           component != TIME_FIRST_RESOURCE + RESOURCE_ATOMIC_ADDRESS &&
           component != TIME_FIRST_RESOURCE + RESOURCE_ATOMIC_L2_SLICE && share < limiting_share;
}

/* Returns the component with the largest share; with `latency`, of the launch and the stall reasons
 * alone. */
static u32 largest_share(const double shares[TIME_MAX_COMPONENTS], bool latency) {
    u32 best = 0;
    for (u32 i = 1; i < COMPONENT_COUNT; i++)
        if ((!latency || i >= FIRST_STALL) && shares[i] > shares[best]) best = i;
    return best;
}

void time_rank_limits(const double components[TIME_MAX_COMPONENTS], double seconds,
                      struct time_limiter out[TIME_LIMIT_COUNT]) {
    double remaining[TIME_MAX_COMPONENTS] = {0};
    if (seconds > 0) compute_shares(components, seconds, remaining);
    for (u32 k = 0; k < TIME_LIMIT_COUNT; k++) {
        u32 best = largest_share(remaining, false), wait = largest_share(remaining, true);
        if (!k && is_below_limit(best, remaining[best]) && remaining[wait] > 0) best = wait;
        out[k] = (struct time_limiter){best, remaining[best] < 1 ? remaining[best] : 1};
        remaining[best] = -1;
    }
}

void time_account(const double components[TIME_MAX_COMPONENTS], double seconds,
                  double parts[TIME_MAX_COMPONENTS]) {
    double idle, stalls = 0, launch = components[TIME_COMPONENT_LAUNCH];
    u32 busiest = busiest_component(components, seconds, &idle);
    memset(parts, 0, TIME_MAX_COMPONENTS * sizeof *parts);
    parts[TIME_COMPONENT_LAUNCH] = launch < seconds ? launch : seconds;
    parts[busiest] = seconds - parts[TIME_COMPONENT_LAUNCH] - idle;
    for (u32 i = FIRST_STALL; i < COMPONENT_COUNT; i++) stalls += components[i];
    for (u32 i = FIRST_STALL; i < COMPONENT_COUNT; i++)
        if (stalls > 0) parts[i] = components[i] / stalls * idle;
    if (!(stalls > 0)) parts[TIME_COMPONENT_IDLE] = idle;
}

#define BIT(reason) (1u << SIM_STALL_##reason)

u32 time_limit_stalls(u32 component) {
    static const u32 of_resource[RESOURCE_COUNT] = {
        [RESOURCE_ISSUE] = BIT(SELECTED) | BIT(NOT_SELECTED),
        [RESOURCE_ALU] = BIT(MATH_PIPE_THROTTLE),
        [RESOURCE_FMA] = BIT(MATH_PIPE_THROTTLE),
        [RESOURCE_FP64] = BIT(MATH_PIPE_THROTTLE),
        [RESOURCE_XU] = BIT(MATH_PIPE_THROTTLE),
        [RESOURCE_TENSOR] = BIT(MATH_PIPE_THROTTLE) | BIT(WAIT),
        [RESOURCE_LSU] = BIT(LG_MIO_THROTTLE),
        [RESOURCE_SHARED] = BIT(LG_MIO_THROTTLE) | BIT(SHORT_SCOREBOARD),
        [RESOURCE_L1] = BIT(LG_MIO_THROTTLE) | BIT(LONG_SCOREBOARD_L1),
        [RESOURCE_L2] =
            BIT(LG_MIO_THROTTLE) | BIT(LONG_SCOREBOARD_L2) | BIT(LONG_SCOREBOARD_ATOMIC),
        [RESOURCE_DRAM] = BIT(LG_MIO_THROTTLE) | BIT(LONG_SCOREBOARD_DRAM),
        [RESOURCE_ATOMIC_ADDRESS] = BIT(LG_MIO_THROTTLE) | BIT(LONG_SCOREBOARD_ATOMIC),
        [RESOURCE_ATOMIC_L2_SLICE] = BIT(LG_MIO_THROTTLE) | BIT(LONG_SCOREBOARD_ATOMIC)};
    if (component >= TIME_FIRST_RESOURCE && component < FIRST_STALL)
        return of_resource[component - TIME_FIRST_RESOURCE];
    return time_component_is_stall(component) ? 1u << (component - STALL_COMPONENT) : 0;
}

#undef BIT

void time_format_limits(const struct time_limiter limits[TIME_LIMIT_COUNT], char *out,
                        size_t size) {
    snprintf(out, size, "%s, %.0f %% (next: %s, %.0f %%; %s, %.0f %%)",
             component_names[limits[0].component], 100 * limits[0].share,
             component_names[limits[1].component], 100 * limits[1].share,
             component_names[limits[2].component], 100 * limits[2].share);
}

/* timing.h — the time model: computes a launch's time where there is no GPU. The server and
 * `simgpu run` call it; docs/time-model.md has the method and its errors. */
#pragma once
#include "grader/sim/device.h"
#include "grader/sim/sim.h"

/* The components of a launch's time, in seconds: how long each resource of an SM is busy; the stall
 * reasons, each with its part of the time; the launch overhead. They overlap. A timeline's
 * components are its engines instead; `idle` is the time in which none of them works. */
enum {
    TIME_COMPONENT_LAUNCH,
    TIME_COMPONENT_COPIES_IN,
    TIME_COMPONENT_COPIES_OUT,
    TIME_COMPONENT_KERNELS,
    TIME_COMPONENT_IDLE,
    TIME_MAX_COMPONENTS = 32
};
const char *time_component_name(unsigned i); /* NULL if there is no such component */
bool time_component_is_stall(unsigned i);    /* else it is a resource or the launch overhead */

/* A component that limits a time, and its share of it, 0..1; 1: nothing else limits. */
struct time_limiter {
    unsigned component;
    double share;
};
enum { TIME_LIMIT_COUNT = 3 };
/* Ranks what limits the time, from components of so many seconds: the limit, then the others, the
 * largest share first. If no resource has 60 % of its peak, the launch or a latency is the limit.
 */
void time_rank_limits(const double components[TIME_MAX_COMPONENTS], double seconds,
                      struct time_limiter out[TIME_LIMIT_COUNT]);
/* Divides the time into parts that add up to it: the launch overhead; the seconds of the busiest
 * resource, which hide all other work; the rest, in which warps wait, by stall reason. */
void time_account(const double components[TIME_MAX_COMPONENTS], double seconds,
                  double parts[TIME_MAX_COMPONENTS]);
/* Returns a mask of the stall reasons (1 << SIM_STALL_...) that show at lines which wait for the
 * component; 0 = none does. */
unsigned time_limit_stalls(unsigned component);
/* Writes "DRAM bandwidth, 87 % (next: L2 bandwidth, 40 %; issue slots, 20 %)". */
void time_format_limits(const struct time_limiter limits[TIME_LIMIT_COUNT], char *out, size_t size);

struct time_estimate {
    double seconds;   /* modelled */
    double low, high; /* the interval in which the true time is likely to lie */
    struct time_limiter limits[TIME_LIMIT_COUNT]; /* the largest share first */
    double components[TIME_MAX_COMPONENTS];
    double shared_seconds; /* for which the busiest of what all SMs share is busy */
    double
        stall_seconds[SIM_STALL_COUNT]; /* of the device's time; with those in which warps issue */
    double dram_bytes;                  /* moved, modelled; 0 = not known */
    double l1_hit_rate, l2_hit_rate;    /* by sector, 0..1 */
    const char *uncertainty_note;       /* what widens the interval, or "" */
    bool from_sass;     /* instructions and their order come from machine code, not from PTX */
    bool blocks_depend; /* blocks wait for each other; the seconds don't include these waits */
};

/* Returns the largest share that the launch takes of what all SMs share (L2, DRAM, words under
 * atomics), 0..1. */
double time_device_share(const struct time_estimate *e);

/* Terms of the model, which judge --ablation leaves out one by one. X(id, text) */
/* clang-format off */
#define TIME_TERMS(X)                                   \
    X(LAUNCH, "launch overhead")                        \
    X(ISSUE, "issue slots")                             \
    X(PIPES, "math pipes")                              \
    X(SHARED_WAVEFRONTS, "shared memory wavefronts")    \
    X(L1_WAVEFRONTS, "L1 wavefronts, data and tags")    \
    X(CACHE, "L1 cache")                                \
    X(L2, "L2 bandwidth")                               \
    X(DRAM, "DRAM bandwidth")                           \
    X(ATOMICS, "atomics per address and L2 slice")      \
    X(LATENCY, "latencies")                             \
    X(BARRIERS, "barriers")                             \
    X(TAIL, "tail effect")                              \
    X(SCHEDULING, "ptxas: instruction order")           \
    X(LOWERING, "ptxas: lowering")                      \
    X(MERGING, "ptxas: access merging")
/* clang-format on */
enum time_term {
#define X(id, text) TERM_##id,
    TIME_TERMS(X)
#undef X
        TIME_TERM_COUNT
};
#define TERM_BIT(id) (1u << TERM_##id)

struct time_options {
    unsigned disabled_terms; /* TERM_BIT of terms to leave out */
    bool warm_l2;            /* L2 holds as much of the data as fits: a launch repeated in a loop */
    bool empty_l2; /* L2 holds nothing, as Nsight Compute leaves it, not what a flush has written */
    double prior_dram_bytes; /* else the bytes that earlier launches moved between DRAM and L2 */
    bool full_grid;          /* execute every block, so that memory is complete; else a sample */
    uint64_t max_warp_instructions; /* of a sample; 0 = 4 million */
};

/* Runs the launch, or a sample of its blocks, and models its time. Counters are those of the whole
 * launch (scaled up from a sample). Returns false, with no estimate, if nothing could be sampled;
 * the result has the fault or the exhausted budget. */
bool time_launch(struct sim *s, const struct sim_launch *l, const struct time_options *o,
                 struct sim_result *out, struct time_estimate *t);

/* What time_launch has cost this process so far: launches, wall-clock seconds in all, and those
 * spent on traces. */
struct time_cost {
    unsigned launches;
    double seconds, trace_seconds;
};
struct time_cost time_get_cost(void);

/* Estimates the time from a launch's counters alone, without latencies and caches. It is rough; for
 * launches of which nothing was sampled. */
void time_from_counters(const struct gpu_device *d, const struct sim_launch *l,
                        const struct sim_result *r, struct time_estimate *out);

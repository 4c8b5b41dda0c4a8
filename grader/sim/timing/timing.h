/* timing.h — the time model. */
#pragma once
#include "grader/sim/device.h"
#include "grader/sim/sim.h"

/* What a launch's time goes to: the resources of an SM, how long each is busy; the reasons for
 * which warps wait, each with its part of the time; the launch itself. They overlap. In seconds. */
enum { TIME_COMPONENT_LAUNCH, TIME_MAX_COMPONENTS = 24 };
const char *time_component_name(unsigned i); /* NULL: none of that number */
bool time_component_is_stall(unsigned i);    /* a reason to wait, else a resource or the launch */
/* What limits, the nearest first, from parts that belong to so many seconds. */
void time_rank_limiters(const double components[TIME_MAX_COMPONENTS], double seconds,
                        const char *bound_by[3], double share[3]);

struct time_estimate {
    double seconds;          /* modelled */
    double low, high;        /* an honest interval around it */
    const char *bound_by[3]; /* what limits, the nearest first */
    double share[3];         /* how near each is to being all that limits, 0..1 */
    double components[TIME_MAX_COMPONENTS];
    double dram_bytes;               /* moved, modelled; 0 = not known */
    double l1_hit_rate, l2_hit_rate; /* rates by sector, 0..1 */
    const char *uncertainty_note;    /* what widens the interval, or "" */
    bool from_sass; /* the order and number of instructions are those of the machine code at hand
                     */
    bool blocks_depend; /* blocks wait for each other, which is not modelled: the seconds leave it
                           out */
};

/* Of what the SMs share (L2, DRAM, words under atomics), the largest part that the launch takes, 0
 * ... 1. */
double time_device_share(const struct time_estimate *e);

/* Terms of the model; leaving one out is what the ablation in docs/time-model.md does. X(id, text)
 */
/* clang-format off */
#define TIME_TERMS(X)                             \
    X(LAUNCH, "launch overhead")                  \
    X(ISSUE, "instruction issue")                 \
    X(PIPES, "arithmetic units")                  \
    X(SHARED_WAVEFRONTS, "shared-memory wavefronts") \
    X(L1_WAVEFRONTS, "L1 bank and tag wavefronts") \
    X(CACHE, "L1 cache")                          \
    X(L2, "L2 bandwidth")                         \
    X(DRAM, "DRAM bandwidth")                     \
    X(ATOMICS, "atomics per address and slice")   \
    X(LATENCY, "latencies")                       \
    X(BARRIERS, "barriers")                       \
    X(TAIL, "last wave")                          \
    X(SCHEDULING, "ptxas: order of instructions") \
    X(LOWERING, "ptxas: machine instructions")    \
    X(MERGING, "ptxas: wide shared loads")
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
    bool warm_l2;            /* L2 holds what fits of the data: a launch repeated in a loop */
    double prior_dram_bytes; /* else, that launches before have moved between DRAM and L2 */
    bool full_grid; /* execute every block, so that memory is as the launch leaves it; else a sample
                     */
    uint64_t max_warp_instructions; /* of a sample; 0 = 4 million */
};

/* Runs the launch, or a sample of its blocks, and models its time. Counters are those of the whole
 * launch (scaled up from a sample). False: nothing could be sampled (a fault, a budget): the result
 * says why, there is no estimate. */
bool time_launch(struct sim *s, const struct sim_launch *l, const struct time_options *o,
                 struct sim_result *out, struct time_estimate *t);

/* What time_launch has cost this process so far: launches, and wall seconds in all and of them in
 * the traces. */
struct time_cost {
    unsigned launches;
    double seconds, trace_seconds;
};
struct time_cost time_get_cost(void);

/* "DRAM bandwidth, 87 % (next: L2 bandwidth, 40 %; instruction issue, 20 %)". */
void time_format_bound(const struct time_estimate *t, char *out, size_t size);

/* From a launch's counters alone, without latencies and caches: rough, where nothing was sampled.
 */
void time_from_counters(const struct gpu_device *d, const struct sim_launch *l,
                        const struct sim_result *r, struct time_estimate *out);

/* measure.h — the ratio of two times on a real device, with a confidence interval.
 *
 * A pair is one run of each on the same fresh inputs, in random order; its ratio is the sample, so
 * that what changes slowly (clocks, temperature) cancels. The interval is the 95 % bootstrap
 * interval of the median ratio. Pairs are dropped for a cause that the driver tells of (throttling,
 * another process on the GPU), never for their value. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct nvml;

struct measure_options {
    double seconds;   /* of wall clock, at most; 0 = 10 */
    double precision; /* done when the interval lies within ± this part of the median; 0 = 0.02 */
    unsigned min_pairs, max_pairs; /* pairs; 0 = 10, 400 */
    double boundary; /* a grade that changes at this ratio; inside the interval it makes the result
                        unclear; 0 = none */
    uint64_t seed;
    struct nvml *nvml;  /* NULL: nobody tells of throttling */
    double warm_up;     /* seconds; 0 = 0.5 */
    bool is_gpu_shared; /* other processes come and go, and take turns with this one */
    bool skip_warm_up;
};

/* Seconds of one run of the first (0) or the second (1) on the inputs of that round; negative: it
 * failed. */
typedef double measure_fn(void *user, unsigned index, unsigned round);

struct measurement {
    bool ok; /* at least one pair, no failure */
    unsigned pairs, dropped;
    double first, second;    /* medians, seconds */
    double ratio, low, high; /* first over second */
    bool is_inconclusive; /* the boundary lies inside the interval, which is wider than asked for */
    bool is_precise;      /* stopped because the interval was narrow enough */
    char cause[96];       /* why pairs were dropped, or what failed */
};

void measure_pairs(measure_fn *run, void *user, const struct measure_options *o,
                   struct measurement *out);

double measure_median(const double *v, unsigned n);
/* The 95 % bootstrap interval of the median, from 2000 resamples; the same seed gives the same
 * interval. */
void measure_bootstrap(const double *v, unsigned n, uint64_t seed, double *low, double *high);

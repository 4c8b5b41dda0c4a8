/* measure.h — measures the ratio of two times on a real device, with a confidence interval.
 *
 * A pair is one run of each on the same fresh inputs, in random order. Its ratio is the sample, so
 * that slow changes (clocks, temperature) cancel. The interval is the 95 % bootstrap interval of
 * the median ratio. Pairs are dropped for a cause that the driver reports (throttling, another
 * process on the GPU), never for their value. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct nvml;

struct measure_options {
    double seconds;   /* wall-clock limit; 0 = 10 */
    double precision; /* stop once the interval lies within ± this part of the median; 0 = 0.02 */
    unsigned min_pairs, max_pairs; /* 0 = 10, 400 */
    double boundary; /* the score changes at this ratio: inside the interval = unclear; 0 = none */
    uint64_t seed;
    struct nvml *nvml;  /* NULL: throttling is not detected */
    double warm_up;     /* seconds; 0 = 0.5 */
    bool is_gpu_shared; /* other processes use the GPU, but under a lease, so ignore them */
    bool skip_warm_up;
};

/* Returns the seconds of one run of the first (0) or the second (1) on the round's inputs; negative
 * = failure. */
typedef double measure_fn(void *user, unsigned index, unsigned round);

struct measurement {
    bool ok; /* at least one pair, no failure */
    unsigned pairs, dropped;
    double first, second;    /* medians, seconds */
    double ratio, low, high; /* first over second */
    bool is_inconclusive;    /* the boundary lies inside an interval that is not precise */
    bool is_precise;         /* the interval is narrow enough */
    char cause[96];          /* why pairs were dropped, or the failure */
};

/* Measures pairs until the ratio is precise or a limit is reached. */
void measure_pairs(measure_fn *run, void *user, const struct measure_options *o,
                   struct measurement *out);

double measure_median(const double *v, unsigned n);
/* Sets the 95 % bootstrap interval of the median, from 2000 resamples. Equal seeds give equal
 * intervals. */
void measure_bootstrap(const double *v, unsigned n, uint64_t seed, double *low, double *high);

/* measure.c — see measure.h. */
#include "grader/grade/measure.h"
#include "common/err.h"
#include "grader/server/driver.h"
#include "grader/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000, MAX_PAIRS = 4096, CHECK_EVERY = 5 };
static const double default_warm_up = 0.5; /* seconds */

/* splitmix64, for the order of the pairs and for resampling. */
static uint64_t next_random(uint64_t *s) {
    uint64_t z = *s += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_median(const double *v, unsigned n) {
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double measure_median(const double *v, unsigned n) {
    if (!n) return 0;
    double *copy = xcalloc(n, sizeof *copy);
    memcpy(copy, v, n * sizeof *v);
    qsort(copy, n, sizeof *copy, compare_values);
    double m = sorted_median(copy, n);
    free(copy);
    return m;
}

void measure_bootstrap(const double *v, unsigned n, uint64_t seed, double *low, double *high) {
    double *medians = xcalloc(RESAMPLES, sizeof *medians),
           *sample = xcalloc(n ? n : 1, sizeof *sample);
    for (unsigned k = 0; k < RESAMPLES && n; k++) {
        for (unsigned i = 0; i < n; i++) sample[i] = v[next_random(&seed) % n];
        qsort(sample, n, sizeof *sample, compare_values);
        medians[k] = sorted_median(sample, n);
    }
    qsort(medians, RESAMPLES, sizeof *medians, compare_values);
    *low = medians[RESAMPLES * 25 / 1000], *high = medians[RESAMPLES * 975 / 1000 - 1];
    free(medians), free(sample);
}

struct measure_state {
    double ratio[MAX_PAIRS], first[MAX_PAIRS], second[MAX_PAIRS];
    uint64_t rng_state;
};

/* Returns why the pair is invalid by what the driver reports; NULL = it is valid. */
static const char *drop_reason(const struct measure_options *o, unsigned others_at_start) {
    struct gpu_state s;
    if (!o->nvml) return NULL;
    nvml_read(o->nvml, &s);
    if (!s.valid) return NULL;
    if (s.throttle_reasons & NVML_THROTTLE_MASK) return "the GPU was throttled (power or heat)";
    return s.other_processes > others_at_start && !o->is_gpu_shared ? "another process used the GPU"
                                                                    : NULL;
}

static bool run_pair(measure_fn *run, void *user, struct measure_state *s, unsigned round,
                     double time[2], struct measurement *out) {
    unsigned first_index = next_random(&s->rng_state) & 1;
    for (unsigned i = 0; i < 2; i++) {
        unsigned index = i ^ first_index;
        time[index] = run(user, index, round);
        if (time[index] > 0) continue;
        snprintf(out->cause, sizeof out->cause,
                 time[index] < 0 ? "run %u of the %s failed" : "run %u of the %s launched nothing",
                 round, index ? "second" : "first");
        return false;
    }
    return true;
}

static bool warm_up(measure_fn *run, void *user, const struct measure_options *o,
                    struct measure_state *s, struct measurement *out) {
    double time[2], deadline = server_now() + (o->warm_up > 0 ? o->warm_up : default_warm_up);
    unsigned round = 1u << 20; /* no measured round has these inputs */
    do
        if (!run_pair(run, user, s, round++, time, out)) return false;
    while (server_now() < deadline);
    return true;
}

static void update_estimate(const struct measure_state *s, const struct measure_options *o,
                            struct measurement *out) {
    double precision = o->precision > 0 ? o->precision : 0.02;
    out->ratio = measure_median(s->ratio, out->pairs);
    measure_bootstrap(s->ratio, out->pairs, o->seed, &out->low, &out->high);
    out->is_precise =
        out->low > out->ratio * (1 - precision) && out->high < out->ratio * (1 + precision);
    out->is_inconclusive = !out->is_precise && o->boundary > out->low && o->boundary < out->high;
}

void measure_pairs(measure_fn *run, void *user, const struct measure_options *o,
                   struct measurement *out) {
    struct measure_state *s = xcalloc(1, sizeof *s);
    struct gpu_state start_state = {0};
    unsigned min_pairs = o->min_pairs ? o->min_pairs : 10,
             max_pairs = o->max_pairs ? o->max_pairs : 400, others_at_start;
    double deadline = server_now() + (o->seconds > 0 ? o->seconds : 10);
    *out = (struct measurement){0};
    s->rng_state = o->seed;
    if (o->nvml) nvml_read(o->nvml, &start_state);
    others_at_start = start_state.other_processes;
    bool ok = o->skip_warm_up || warm_up(run, user, o, s, out);
    for (unsigned round = 0;
         ok && out->pairs < max_pairs && out->pairs < MAX_PAIRS && out->dropped < 2 * max_pairs;
         round++) {
        double time[2];
        if (server_now() > deadline && out->pairs >= (min_pairs < 3 ? min_pairs : 3)) break;
        if (!(ok = run_pair(run, user, s, round, time, out))) break;
        const char *reason = drop_reason(o, others_at_start);
        if (reason) {
            out->dropped++;
            snprintf(out->cause, sizeof out->cause, "%s", reason);
            if (server_now() > deadline) break;
            continue;
        }
        s->first[out->pairs] = time[0], s->second[out->pairs] = time[1],
        s->ratio[out->pairs++] = time[0] / time[1];
        if (out->pairs < min_pairs || out->pairs % CHECK_EVERY) continue;
        update_estimate(s, o, out);
        if (out->is_precise) break;
    }
    out->ok = ok && out->pairs;
    if (out->ok) update_estimate(s, o, out);
    out->first = measure_median(s->first, out->pairs),
    out->second = measure_median(s->second, out->pairs);
    free(s);
}

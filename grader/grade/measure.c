/* measure.c — see measure.h. */
#include "grader/grade/measure.h"
#include "common/err.h"
#include "grader/server/driver.h"
#include "grader/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000, MOST = 4096, CHECK_EVERY = 5 };
static const double usual_warm_up = 0.5; /* seconds */

/* splitmix64: order of the pairs, resamples. */
static uint64_t next(uint64_t *s) {
    uint64_t z = *s += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static int by_value(const void *a, const void *b) {
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
    qsort(copy, n, sizeof *copy, by_value);
    double m = sorted_median(copy, n);
    free(copy);
    return m;
}

void measure_bootstrap(const double *v, unsigned n, uint64_t seed, double *low, double *high) {
    double *medians = xcalloc(RESAMPLES, sizeof *medians),
           *sample = xcalloc(n ? n : 1, sizeof *sample);
    for (unsigned k = 0; k < RESAMPLES && n; k++) {
        for (unsigned i = 0; i < n; i++) sample[i] = v[next(&seed) % n];
        qsort(sample, n, sizeof *sample, by_value);
        medians[k] = sorted_median(sample, n);
    }
    qsort(medians, RESAMPLES, sizeof *medians, by_value);
    *low = medians[RESAMPLES * 25 / 1000], *high = medians[RESAMPLES * 975 / 1000 - 1];
    free(medians), free(sample);
}

struct state {
    double ratio[MOST], first[MOST], second[MOST];
    uint64_t random;
};

/* What the driver says that would make the pair worthless; NULL = nothing. */
static const char *spoilt(const struct measure_options *o, unsigned others_at_start) {
    struct gpu_state s;
    if (!o->nvml) return NULL;
    nvml_read(o->nvml, &s);
    if (!s.valid) return NULL;
    if (s.throttle_reasons & NVML_THROTTLE_MASK) return "the GPU was throttled (power or heat)";
    return s.other_processes > others_at_start && !o->shared ? "another process came onto the GPU"
                                                             : NULL;
}

static bool run_pair(measure_fn *run, void *user, struct state *s, unsigned round, double time[2],
                     struct measurement *out) {
    unsigned head = next(&s->random) & 1;
    for (unsigned i = 0; i < 2; i++) {
        unsigned which = i ^ head;
        time[which] = run(user, which, round);
        if (time[which] > 0) continue;
        snprintf(out->cause, sizeof out->cause,
                 time[which] < 0 ? "run %u of the %s failed" : "run %u of the %s launched nothing",
                 round, which ? "second" : "first");
        return false;
    }
    return true;
}

static bool warm_up(measure_fn *run, void *user, const struct measure_options *o, struct state *s,
                    struct measurement *out) {
    double time[2], until = server_now() + (o->warm_up > 0 ? o->warm_up : usual_warm_up);
    unsigned round = 1u << 20; /* inputs that no measured round has */
    do
        if (!run_pair(run, user, s, round++, time, out)) return false;
    while (server_now() < until);
    return true;
}

static void evaluate(const struct state *s, const struct measure_options *o,
                     struct measurement *out) {
    double precision = o->precision > 0 ? o->precision : 0.02;
    out->ratio = measure_median(s->ratio, out->pairs);
    measure_bootstrap(s->ratio, out->pairs, o->seed, &out->low, &out->high);
    out->precise =
        out->low > out->ratio * (1 - precision) && out->high < out->ratio * (1 + precision);
    out->unclear = !out->precise && o->boundary > out->low && o->boundary < out->high;
}

void measure_pairs(measure_fn *run, void *user, const struct measure_options *o,
                   struct measurement *out) {
    struct state *s = xcalloc(1, sizeof *s);
    struct gpu_state before = {0};
    unsigned least = o->least ? o->least : 10, most = o->most ? o->most : 400, others;
    double end = server_now() + (o->seconds > 0 ? o->seconds : 10);
    *out = (struct measurement){0};
    s->random = o->seed;
    if (o->nvml) nvml_read(o->nvml, &before);
    others = before.other_processes;
    bool ok = o->no_warm_up || warm_up(run, user, o, s, out);
    for (unsigned round = 0;
         ok && out->pairs < most && out->pairs < MOST && out->dropped < 2 * most; round++) {
        double time[2];
        if (server_now() > end && out->pairs >= (least < 3 ? least : 3)) break;
        if (!(ok = run_pair(run, user, s, round, time, out))) break;
        const char *why = spoilt(o, others);
        if (why) {
            out->dropped++;
            snprintf(out->cause, sizeof out->cause, "%s", why);
            if (server_now() > end) break;
            continue;
        }
        s->first[out->pairs] = time[0], s->second[out->pairs] = time[1],
        s->ratio[out->pairs++] = time[0] / time[1];
        if (out->pairs < least || out->pairs % CHECK_EVERY) continue;
        evaluate(s, o, out);
        if (out->precise) break;
    }
    out->ok = ok && out->pairs;
    if (out->ok) evaluate(s, o, out);
    out->first = measure_median(s->first, out->pairs),
    out->second = measure_median(s->second, out->pairs);
    free(s);
}

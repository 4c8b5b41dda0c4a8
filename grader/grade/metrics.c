/* metrics.c — see metrics.h. */
#include "grader/grade/metrics.h"

#include <string.h>

struct metric {
    const char *name, *description;
    double (*numerator)(const struct sim_counters *c, const struct launch_stats *t);
    double (*denominator)(const struct sim_counters *c, const struct launch_stats *t);
    bool is_sum; /* not a quotient */
    double zero_denominator_value;
    double (*launch_value)(const struct launch_stats *t); /* instead of the quotient; no counter */
};

/* `t` is NULL for a single line: copies and fills belong to no line. */
#define C(name) (double)c->name
#define M(name) (t ? t->name : 0)
#define COUNTER(key, merge, text)                                                           \
    static double value_##key(const struct sim_counters *c, const struct launch_stats *t) { \
        (void)t;                                                                            \
        return C(key);                                                                      \
    }
#include "grader/sim/count/counters.def"
#undef COUNTER
#define METRIC(key, num, den, none, text)                                                 \
    static double num_##key(const struct sim_counters *c, const struct launch_stats *t) { \
        (void)c, (void)t;                                                                 \
        return num;                                                                       \
    }                                                                                     \
    static double den_##key(const struct sim_counters *c, const struct launch_stats *t) { \
        (void)c, (void)t;                                                                 \
        return den;                                                                       \
    }
#include "grader/grade/metrics.def"
#undef METRIC
#undef C
#undef M

static double launch_occupancy(const struct launch_stats *t) { return t->occupancy; }
static double launch_count(const struct launch_stats *t) { return t->launches; }
static double launch_blocks(const struct launch_stats *t) { return t->blocks; }
static double launch_threads(const struct launch_stats *t) { return t->threads; }
static double launch_shared(const struct launch_stats *t) { return t->shared_bytes; }
static double launch_registers(const struct launch_stats *t) { return t->registers; }
static double launch_copied(const struct launch_stats *t) { return t->copied_bytes; }
static double launch_filled(const struct launch_stats *t) { return t->filled_bytes; }
static double launch_spills(const struct launch_stats *t) { return t->spill_bytes; }
static double constant_one(const struct sim_counters *c, const struct launch_stats *t) {
    (void)c, (void)t;
    return 1;
}

static const struct metric metrics[] = {
#define C(name)     +1
#define M(name)     +1
#define IS_SUM(den) (sizeof #den == sizeof "1" && (#den)[0] == '1')
#define METRIC(key, num, den, none, text) \
    {#key, text, num_##key, den_##key, IS_SUM(den), none, NULL},
#include "grader/grade/metrics.def"
#undef METRIC
#undef C
#undef M
#define COUNTER(key, merge, text) {#key, text, value_##key, constant_one, true, 0, NULL},
#include "grader/sim/count/counters.def"
#undef COUNTER
    {"theoretical_occupancy",
     "share of an SM's warps that fit, by registers, shared memory and block size", NULL, NULL,
     true, 0, launch_occupancy},
    {"launches", "kernels launched", NULL, NULL, true, 0, launch_count},
    {"blocks", "blocks launched", NULL, NULL, true, 0, launch_blocks},
    {"threads", "threads launched", NULL, NULL, true, 0, launch_threads},
    {"registers", "registers per thread, from ptxas", NULL, NULL, true, 0, launch_registers},
    {"spill_bytes", "bytes of registers that ptxas spills to memory and reloads", NULL, NULL, true,
     0, launch_spills},
    {"copied_bytes", "bytes copied within device memory, outside kernels", NULL, NULL, true, 0,
     launch_copied},
    {"filled_bytes", "bytes written by fills (cudaMemset), outside kernels", NULL, NULL, true, 0,
     launch_filled},
    {"shared_bytes", "shared memory per block, static and dynamic", NULL, NULL, true, 0,
     launch_shared},
};

/* Returns the current name of a renamed metric or counter; other names unchanged. */
static const char *present_name(const char *name) {
    static const char *const renamed[][2] = {
#define COUNTER_V1(v1, name) {#v1, #name},
#include "grader/sim/count/counters_v1.def"
#undef COUNTER_V1
#define METRIC_V1(v1, name) {#v1, #name},
#include "grader/grade/metrics_v1.def"
#undef METRIC_V1
    };
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i][0], name)) return renamed[i][1];
    return name;
}

const struct metric *metric_find(const char *name) {
    name = present_name(name);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!strcmp(metrics[i].name, name)) return &metrics[i];
    return NULL;
}

double metric_value(const struct metric *m, const struct launch_stats *t) {
    if (m->launch_value) return m->launch_value(t);
    double denominator = m->denominator(&t->counters, t);
    return denominator == 0 ? m->zero_denominator_value
                            : m->numerator(&t->counters, t) / denominator;
}

/* Returns the line's part of the violation; for a sum, its share. */
static double line_contribution(const struct metric *m, const struct launch_stats_line *l,
                                double limit, bool is_upper_limit) {
    double num = m->numerator(&l->counters, NULL);
    if (m->is_sum) return num;
    double excess = num - limit * m->denominator(&l->counters, NULL);
    return is_upper_limit ? excess : -excess;
}

static const struct launch_stats_line *find_top_line(const struct metric *m,
                                                     const struct launch_stats *t, const char *file,
                                                     double limit, bool is_upper_limit) {
    const struct launch_stats_line *best = NULL;
    double max_contribution = 0;
    for (unsigned i = 0; i < t->nlines; i++) {
        const struct launch_stats_line *l = &t->lines[i];
        double b = l->line && (!file || !strcmp(l->file, file))
                       ? line_contribution(m, l, limit, is_upper_limit)
                       : 0;
        if (b > max_contribution) max_contribution = b, best = l;
    }
    return best;
}

const struct launch_stats_line *metric_line(const struct metric *m, const struct launch_stats *t,
                                            const char *file, double per, double limit,
                                            bool is_upper_limit) {
    if (!m->numerator) return NULL;
    const struct launch_stats_line *l = find_top_line(m, t, file, limit * per, is_upper_limit);
    if (!l) l = find_top_line(m, t, file, is_upper_limit ? 0 : 1e200, is_upper_limit);
    return l ? l : find_top_line(m, t, NULL, is_upper_limit ? 0 : 1e200, is_upper_limit);
}

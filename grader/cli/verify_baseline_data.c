/* verify_baseline_data.c — compares the recorded baseline data (grade/baseline_data.h) with results
 * of versions that were run. */
#include "grader/book/book.h"
#include "grader/cli/verify.h"
#include "grader/grade/baseline_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if there are lines of this version, as the book has it now. */
static bool has_lines(const struct exercise *ex, const char *device, bool is_baseline,
                      char key[BASELINE_KEY_SIZE], double times[2]) {
    struct err e = {0};
    return speed_reference_key(ex, is_baseline, key, &e) &&
           baseline_data_times(book_id(ex), device, is_baseline ? "naive" : "solution", key, times,
                               &e);
}

static void compare_times(struct verification *c, const struct exercise *ex, const char *version,
                          const double times[2], const struct speed_result *s, double found_us) {
    double us = times[!s->is_timed_size] * 1e6;
    if (us != found_us)
        verify_report_problem(c, ex,
                              "the recorded time of its %s is %.9g us, but the simulator gives "
                              "%.9g us; run `make baselines`",
                              version, us, found_us);
}

static void compare_limit(struct verification *c, const struct exercise *ex, const char *lines,
                          const struct technique_result *t) {
    char start[160], line[256];
    if (!t->has_baseline) return;
    snprintf(start, sizeof start, "%u %a %a %s", t->test_index, t->baseline_value,
             t->baseline_limit, t->metric);
    for (const char *l = lines; *l; l += strcspn(l, "\n"), l += *l == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(l, "\n"), l);
        if (!strcmp(line, start)) return;
    }
    verify_report_problem(c, ex,
                          "the baseline's recorded %s isn't %.9g, which the simulator counts; run "
                          "`make baselines`",
                          t->metric, t->baseline_value);
}

static void compare_result(struct verification *c, const struct exercise *ex,
                           const struct result *r, double solution[2], double baseline[2],
                           const char *limits) {
    if (r->speed.valid) {
        compare_times(c, ex, "model solution", solution, &r->speed, r->speed.solution_us);
        compare_times(c, ex, "baseline", baseline, &r->speed, r->speed.baseline_us);
    }
    for (unsigned i = 0; i < r->ntechnique; i++) compare_limit(c, ex, limits, &r->technique[i]);
}

void verify_baseline_data(struct verification *c, const struct exercise *ex,
                          const struct result *starter, const struct result *solution) {
    char solution_key[BASELINE_KEY_SIZE], key[BASELINE_KEY_SIZE];
    double solution_times[2], times[2];
    struct buf limits = {0};
    struct err e = {0};
    const char *device = c->o->devices[0]->name;
    if (!baseline_data_is_current() ||
        !has_lines(ex, device, false, solution_key, solution_times) ||
        !has_lines(ex, device, true, key, times)) {
        buf_printf(&c->outdated, "%s%s", c->outdated.size ? ", " : "", ex->name);
        return;
    }
    if (c->o->quick) return; /* the results come from the recorded data */
    baseline_data_limits(book_id(ex), key, &limits, &e);
    if (starter) compare_result(c, ex, starter, solution_times, times, buf_str(&limits));
    if (solution) compare_result(c, ex, solution, solution_times, times, buf_str(&limits));
    buf_free(&limits);
}

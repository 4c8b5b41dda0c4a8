/* report_autograder.c — results for other harnesses: Gradescope's results.json with one test for
 * each goal and guard, and the object from which GitHub Classroom's reporter adds up points. The
 * points of an exercise's tests add up to its score. If any result has no score, no test gets one,
 * so that no student sees a zero that no one gave. */
#include "grader/page/page.h"
#include "grader/jail/jail.h"
#include "grader/grade/provenance.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct autograder_ctx {
    const struct report_autograder_options *options;
    const struct gpu_device *d;
    json_t *tests;
    bool scored;
};

static json_t *json_text(const char *s) {
    json_t *j = json_string(s);
    return j ? j : json_string("(not valid UTF-8)");
}

/* ---- tests ---- */

struct autograder_test {
    const char *kind, *name, *output, *visibility;
    double score, max_score;
    bool passed;
};

static void add_test(struct autograder_ctx *w, const char *id, const struct autograder_test *t) {
    char name[300];
    json_t *o = json_object();
    snprintf(name, sizeof name, "%.120s%s%s%s%.120s", id, *t->kind ? ": " : "", t->kind,
             *t->name ? ": " : "", t->name);
    json_object_set_new(o, "name", json_text(name));
    if (w->scored) {
        json_object_set_new(o, "score", json_real(round(1e6 * t->score) / 1e6));
        json_object_set_new(o, "max_score", json_real(round(1e6 * t->max_score) / 1e6));
    }
    json_object_set_new(o, "status", json_string(t->passed ? "passed" : "failed"));
    json_object_set_new(o, "output", json_text(t->output));
    json_object_set_new(o, "output_format", json_string("text"));
    json_object_set_new(o, "visibility", json_string(t->visibility));
    json_array_append_new(w->tests, o);
}

/* Writes all limits of one check; returns the index behind them. */
static unsigned write_limit_lines(const struct result *r, unsigned first, struct buf *out,
                                  bool *passed, double *progress) {
    const struct technique_result *t = r->technique;
    unsigned i = first;
    for (*passed = true, *progress = 1;
         i < r->ntechnique && t[i].test_index == t[first].test_index &&
         t[i].is_guard == t[first].is_guard;
         i++) {
        *passed &= t[i].passed,
            *progress = fmin(*progress, t[i].is_guard || t[i].passed ? 1 : t[i].goal_progress);
        buf_printf(out, "%s %s is ", t[i].passed ? "ok  " : "miss", t[i].metric),
            page_number(t[i].value, out);
        if (t[i].unit) buf_printf(out, " per %s", t[i].unit);
        buf_printf(out, ", %s ", t[i].is_upper_limit ? "at most" : "at least"),
            page_number(t[i].limit, out);
        if (t[i].line) buf_printf(out, ", %s:%u", t[i].file, t[i].line);
        buf_printf(out, "\n     %s\n", t[i].passed ? "" : t[i].reason);
    }
    return i;
}

/* Returns the points that one failed guard costs. All guards together cost at most what the goals
 * earned. */
static double guard_penalty(const struct result *r) {
    const struct check_counts *n = &r->checks;
    double earned = n->goals ? r->available.technique *
                                   (r->goals_waived ? n->goals : n->goal_progress) / n->goals
                             : r->available.technique;
    return n->guards > n->guards_passed
               ? (earned - r->earned.technique) / (n->guards - n->guards_passed)
               : 0;
}

static void add_technique_tests(struct autograder_ctx *w, const struct result *r,
                                double alpha_value) {
    double share = r->checks.goals ? r->available.technique / r->checks.goals : 0;
    for (unsigned i = 0, next; i < r->ntechnique; i = next) {
        struct buf out = {0};
        struct autograder_test t = {.name = r->technique[i].name};
        bool guard = r->technique[i].is_guard;
        double progress;
        next = write_limit_lines(r, i, &out, &t.passed, &progress);
        t.kind = guard ? "guard" : "goal",
        t.visibility = guard ? w->options->guard_visibility : w->options->goal_visibility;
        if (guard) t.score = t.passed ? 0 : -guard_penalty(r) * alpha_value;
        else
            t.max_score = share * alpha_value,
            t.score = t.max_score * (r->goals_waived ? 1 : progress);
        t.output = buf_str(&out);
        add_test(w, r->id, &t);
        buf_free(&out);
    }
}

static void add_report_test(struct autograder_ctx *w, const struct result *r, const char *kind,
                            double score, double max_score) {
    struct buf report = {0};
    report_text(r, w->d, &(struct report_style){.width = 100}, &report);
    add_test(w, r->id,
             &(struct autograder_test){kind, "", buf_str(&report), w->options->case_visibility,
                                       score, max_score, r->verdict == V_AC});
    buf_free(&report);
}

/* `share` is the weight: points of the total for each point of max_score. */
static void add_result_tests(struct autograder_ctx *w, const struct result *r, double share) {
    bool graded = (r->verdict == V_AC || r->verdict == V_PART || r->verdict == V_UNSTABLE) &&
                  !r->is_unmodified;
    double available = r->available.correctness + r->available.technique +
                       (r->speed_counted ? r->available.speed : 0);
    if (!graded || !(available > 0)) {
        add_report_test(w, r, "", r->score * share, r->max_score * share);
        return;
    }
    double alpha_value = r->max_score / available * share;
    add_report_test(w, r, "cases", r->earned.correctness * alpha_value,
                    r->available.correctness * alpha_value);
    add_technique_tests(w, r, alpha_value);
    if (!r->speed_counted) return;
    struct buf out = {0};
    report_speed(r, w->d, &(struct report_style){.width = 100}, &out);
    add_test(w, r->id,
             &(struct autograder_test){
                 "speed", "", buf_str(&out), "visible", r->earned.speed * alpha_value,
                 r->available.speed * alpha_value, r->earned.speed >= r->available.speed - 1e-9});
    buf_free(&out);
}

/* ---- the objects ---- */

static json_t *tests(const struct result *results, unsigned n, const struct gpu_device *d,
                     const struct report_autograder_options *options, bool *scored) {
    struct autograder_ctx w = {options, d, json_array(), true};
    for (unsigned i = 0; i < n; i++)
        w.scored &= options->absent_reasons && options->absent_reasons[i]
                        ? !options->needs_review
                        : verdict_has_score(results[i].verdict);
    for (unsigned i = 0; i < n; i++) {
        double share = options->weights ? options->weights[i] : 1;
        if (options->absent_reasons && options->absent_reasons[i])
            add_test(&w, results[i].id,
                     &(struct autograder_test){"", "", options->absent_reasons[i], "visible", 0,
                                               100 * share, false});
        else add_result_tests(&w, &results[i], share);
    }
    *scored = w.scored;
    return w.tests;
}

static json_t *extra_data(const struct result *results, unsigned n, const struct gpu_device *d,
                          const struct report_autograder_options *options) {
    json_t *o = json_object(), *list = json_object();
    json_object_set_new(o, "grader", json_text(grade_build_digest())),
        json_object_set_new(o, "nvcc", json_text(grade_nvcc_version()));
    json_object_set_new(o, "device", json_text(d->name)),
        json_object_set_new(o, "jail", json_text(jail_describe_tier()));
    for (unsigned i = 0; i < n; i++) {
        bool absent = options->absent_reasons && options->absent_reasons[i];
        json_object_set_new(list, results[i].id,
                            json_text(absent ? "missing" : verdict_code(results[i].verdict)));
    }
    json_object_set_new(o, "verdicts", list);
    return o;
}

static json_t *leaderboard(const struct result *results, unsigned n) {
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++)
        if (results[i].speed.valid &&
            (results[i].verdict == V_AC || results[i].verdict == V_PART)) {
            char name[160];
            snprintf(name, sizeof name, "%.100s: speed relative to the model solution",
                     results[i].id);
            json_array_append_new(list, json_pack("{s:o,s:f}", "name", json_text(name), "value",
                                                  results[i].speed.vs_solution));
        }
    return list;
}

void report_autograder(const struct result *results, unsigned n, const struct gpu_device *d,
                       const struct report_autograder_options *options, struct buf *out) {
    bool scored;
    json_t *o = json_object(), *list = tests(results, n, d, options, &scored);
    json_object_set_new(
        o, "output",
        json_text(!scored ? "Not graded. This is not a zero; each test says why." : options->note));
    json_object_set_new(o, "output_format", json_string("text"));
    if (scored && !isnan(options->score))
        json_object_set_new(o, "score", json_real(options->score));
    json_object_set_new(o, "execution_time", json_real(options->seconds));
    json_object_set_new(o, "tests", list);
    json_object_set_new(o, "extra_data", extra_data(results, n, d, options));
    if (options->leaderboard) json_object_set_new(o, "leaderboard", leaderboard(results, n));
    report_json_write(o, out);
}

void report_autograder_failed(const char *reason, struct buf *out) {
    struct buf text = {0};
    buf_printf(&text, "Not graded. This is not a zero: %s", reason);
    json_t *o = json_object();
    json_object_set_new(o, "output", json_text(buf_str(&text)));
    json_object_set_new(o, "output_format", json_string("text"));
    json_object_set_new(o, "tests", json_array());
    report_json_write(o, out);
    buf_free(&text);
}

/* If one result has no score, the whole object has the status "error" and no points. */
void report_classroom(const struct result *results, unsigned n, const struct gpu_device *d,
                      struct buf *out) {
    bool scored = true, passed = true;
    double max_score = 0;
    json_t *o = json_object(), *list = json_array();
    for (unsigned i = 0; i < n; i++) scored &= verdict_has_score(results[i].verdict);
    for (unsigned i = 0; i < n; i++) {
        const struct result *r = &results[i];
        struct buf report = {0};
        report_text(r, d, &(struct report_style){.width = 100}, &report);
        const char *status = !verdict_has_score(r->verdict) ? "error"
                             : r->verdict == V_AC           ? "pass"
                                                            : "fail";
        json_array_append_new(list, json_pack("{s:o,s:s,s:f,s:o,s:s,s:s,s:i,s:f}", "name",
                                              json_text(r->id), "status", status, "score",
                                              scored ? r->score : 0.0, "message",
                                              json_text(buf_str(&report)), "test_code", "",
                                              "filename", "", "line_no", 0, "execution_time", 0.0));
        passed &= r->verdict == V_AC, max_score += r->max_score;
        buf_free(&report);
    }
    json_object_set_new(o, "version", json_integer(1));
    json_object_set_new(o, "status", json_string(!scored ? "error" : passed ? "pass" : "fail"));
    json_object_set_new(o, "max_score", json_real(scored ? max_score : 0));
    json_object_set_new(o, "tests", list);
    report_json_write(o, out);
}

/* An exercise without a score is not in the object: Autolab then shows none. */
void report_autolab(const struct result *results, unsigned n, const struct gpu_device *d,
                    struct buf *out) {
    json_t *scores = json_object(), *o = json_pack("{s:o}", "scores", scores);
    for (unsigned i = 0; i < n; i++) {
        report_text(&results[i], d, &(struct report_style){.width = 100}, out);
        if (verdict_has_score(results[i].verdict))
            json_object_set_new(scores, results[i].ex->name, json_real(results[i].score));
    }
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12));
    buf_printf(out, "%s\n", text);
    free(text), json_decref(o);
}

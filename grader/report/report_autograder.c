/* report_autograder.c — what the harnesses of others read: Gradescope's results.json with a test
 * for each goal and guard, and the object that GitHub Classroom's reporter adds points from. The
 * points of all tests of an exercise add up to its score. Where a result has no score, none is
 * written for any: no student has a zero that nobody gave. */
#include "grader/page/page.h"
#include "grader/jail/jail.h"
#include "grader/grade/provenance.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct writing {
    const struct report_autograder *how;
    const struct gpu_device *d;
    json_t *tests;
    bool scored;
};

static json_t *string(const char *s) {
    json_t *j = json_string(s);
    return j ? j : json_string("(not valid UTF-8)");
}

/* ---- tests ---- */

struct test {
    const char *kind, *name, *output, *visibility;
    double score, most;
    bool passed;
};

static void add(struct writing *w, const char *id, const struct test *t) {
    char name[300];
    json_t *o = json_object();
    snprintf(name, sizeof name, "%.120s%s%s%s%.120s", id, *t->kind ? ": " : "", t->kind,
             *t->name ? ": " : "", t->name);
    json_object_set_new(o, "name", string(name));
    if (w->scored) {
        json_object_set_new(o, "score", json_real(round(1e6 * t->score) / 1e6));
        json_object_set_new(o, "max_score", json_real(round(1e6 * t->most) / 1e6));
    }
    json_object_set_new(o, "status", json_string(t->passed ? "passed" : "failed"));
    json_object_set_new(o, "output", string(t->output));
    json_object_set_new(o, "output_format", json_string("text"));
    json_object_set_new(o, "visibility", json_string(t->visibility));
    json_array_append_new(w->tests, o);
}

/* What all limits of one test say. */
static unsigned limits(const struct result *r, unsigned first, struct buf *out, bool *passed,
                       double *way) {
    const struct technique_result *t = r->technique;
    unsigned i = first;
    for (*passed = true, *way = 1;
         i < r->ntechnique && t[i].test == t[first].test && t[i].guard == t[first].guard; i++) {
        *passed &= t[i].passed, *way = fmin(*way, t[i].guard || t[i].passed ? 1 : t[i].way);
        buf_printf(out, "%s %s is ", t[i].passed ? "ok  " : "miss", t[i].metric),
            page_number(t[i].value, out);
        if (t[i].unit) buf_printf(out, " per %s", t[i].unit);
        buf_printf(out, ", %s ", t[i].at_most ? "at most" : "at least"),
            page_number(t[i].limit, out);
        if (t[i].line) buf_printf(out, ", %s:%u", t[i].file, t[i].line);
        buf_printf(out, "\n     %s\n", t[i].passed ? "" : t[i].reason);
    }
    return i;
}

/* The points that one failed guard takes: what the goals earned is all that there is to take. */
static double a_guard(const struct result *r) {
    const struct check_counts *n = &r->checks;
    double earned = n->goals ? r->full.technique * (r->waived ? n->goals : n->way) / n->goals
                             : r->full.technique;
    return n->guards > n->kept ? (earned - r->got.technique) / (n->guards - n->kept) : 0;
}

static void technique(struct writing *w, const struct result *r, double scale) {
    double share = r->checks.goals ? r->full.technique / r->checks.goals : 0;
    for (unsigned i = 0, next; i < r->ntechnique; i = next) {
        struct buf out = {0};
        struct test t = {.name = r->technique[i].name};
        bool guard = r->technique[i].guard;
        double way;
        next = limits(r, i, &out, &t.passed, &way);
        t.kind = guard ? "guard" : "goal", t.visibility = guard ? w->how->guards : w->how->goals;
        if (guard) t.score = t.passed ? 0 : -a_guard(r) * scale;
        else t.most = share * scale, t.score = t.most * (r->waived ? 1 : way);
        t.output = buf_str(&out);
        add(w, r->id, &t);
        buf_free(&out);
    }
}

static void whole(struct writing *w, const struct result *r, const char *kind, double score,
                  double most) {
    struct buf report = {0};
    report_text(r, w->d, &(struct report_style){.width = 100}, &report);
    add(w, r->id,
        &(struct test){kind, "", buf_str(&report), w->how->cases, score, most, r->verdict == V_AC});
    buf_free(&report);
}

/* `share`: of all points, 1 for each of max_score. */
static void one(struct writing *w, const struct result *r, double share) {
    bool graded =
        (r->verdict == V_AC || r->verdict == V_PART || r->verdict == V_UNSTABLE) && !r->untouched;
    double full = r->full.correctness + r->full.technique + (r->speed_counted ? r->full.speed : 0);
    if (!graded || !(full > 0)) {
        whole(w, r, "", r->score * share, r->max_score * share);
        return;
    }
    double scale = r->max_score / full * share;
    whole(w, r, "cases", r->got.correctness * scale, r->full.correctness * scale);
    technique(w, r, scale);
    if (!r->speed_counted) return;
    struct buf out = {0};
    report_speed(r, w->d, &(struct report_style){.width = 100}, &out);
    add(w, r->id,
        &(struct test){"speed", "", buf_str(&out), "visible", r->got.speed * scale,
                       r->full.speed * scale, r->got.speed >= r->full.speed - 1e-9});
    buf_free(&out);
}

/* ---- the objects ---- */

static json_t *tests(const struct result *results, unsigned n, const struct gpu_device *d,
                     const struct report_autograder *how, bool *scored) {
    struct writing w = {how, d, json_array(), true};
    for (unsigned i = 0; i < n; i++)
        w.scored &=
            how->absent && how->absent[i] ? !how->doubt : verdict_scored(results[i].verdict);
    for (unsigned i = 0; i < n; i++) {
        double share = how->share ? how->share[i] : 1;
        if (how->absent && how->absent[i])
            add(&w, results[i].id,
                &(struct test){"", "", how->absent[i], "visible", 0, 100 * share, false});
        else one(&w, &results[i], share);
    }
    *scored = w.scored;
    return w.tests;
}

static json_t *extra(const struct result *results, unsigned n, const struct gpu_device *d,
                     const struct report_autograder *how) {
    json_t *o = json_object(), *list = json_object();
    json_object_set_new(o, "grader", string(grade_build())),
        json_object_set_new(o, "nvcc", string(grade_nvcc()));
    json_object_set_new(o, "device", string(d->name)),
        json_object_set_new(o, "jail", string(jail_describe_tier()));
    for (unsigned i = 0; i < n; i++) {
        bool absent = how->absent && how->absent[i];
        json_object_set_new(list, results[i].id,
                            string(absent ? "missing" : verdict_code(results[i].verdict)));
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
            snprintf(name, sizeof name, "%.100s: speed of the model answer's", results[i].id);
            json_array_append_new(list, json_pack("{s:o,s:f}", "name", string(name), "value",
                                                  results[i].speed.vs_solution));
        }
    return list;
}

void report_autograder(const struct result *results, unsigned n, const struct gpu_device *d,
                       const struct report_autograder *how, struct buf *out) {
    bool scored;
    json_t *o = json_object(), *list = tests(results, n, d, how, &scored);
    json_object_set_new(
        o, "output",
        string(!scored ? "Not graded, and not a zero: the tests say why." : how->note));
    json_object_set_new(o, "output_format", json_string("text"));
    if (scored && !isnan(how->score)) json_object_set_new(o, "score", json_real(how->score));
    json_object_set_new(o, "execution_time", json_real(how->seconds));
    json_object_set_new(o, "tests", list);
    json_object_set_new(o, "extra_data", extra(results, n, d, how));
    if (how->leaderboard) json_object_set_new(o, "leaderboard", leaderboard(results, n));
    report_json_write(o, out);
}

void report_autograder_failed(const char *why, struct buf *out) {
    struct buf text = {0};
    buf_printf(&text, "Not graded, and not a zero: %s", why);
    json_t *o = json_object();
    json_object_set_new(o, "output", string(buf_str(&text)));
    json_object_set_new(o, "output_format", json_string("text"));
    json_object_set_new(o, "tests", json_array());
    report_json_write(o, out);
    buf_free(&text);
}

/* A result without a score is an error of all, with nothing to add up. */
void report_classroom(const struct result *results, unsigned n, const struct gpu_device *d,
                      struct buf *out) {
    bool scored = true, passed = true;
    double most = 0;
    json_t *o = json_object(), *list = json_array();
    for (unsigned i = 0; i < n; i++) scored &= verdict_scored(results[i].verdict);
    for (unsigned i = 0; i < n; i++) {
        const struct result *r = &results[i];
        struct buf report = {0};
        report_text(r, d, &(struct report_style){.width = 100}, &report);
        const char *status = !verdict_scored(r->verdict) ? "error"
                             : r->verdict == V_AC        ? "pass"
                                                         : "fail";
        json_array_append_new(list,
                              json_pack("{s:o,s:s,s:f,s:o,s:s,s:s,s:i,s:f}", "name", string(r->id),
                                        "status", status, "score", scored ? r->score : 0.0,
                                        "message", string(buf_str(&report)), "test_code", "",
                                        "filename", "", "line_no", 0, "execution_time", 0.0));
        passed &= r->verdict == V_AC, most += r->max_score;
        buf_free(&report);
    }
    json_object_set_new(o, "version", json_integer(1));
    json_object_set_new(o, "status", json_string(!scored ? "error" : passed ? "pass" : "fail"));
    json_object_set_new(o, "max_score", json_real(scored ? most : 0));
    json_object_set_new(o, "tests", list);
    report_json_write(o, out);
}

/* baseline.c — finds the baseline's values of an exercise's goal limits, where goal progress
 * begins. grade.c calls it for each graded file. The values are recorded (baseline_data.h) or, if
 * nvcc, the simulator or the book differ, from a run of the baseline, which the cache keeps, one
 * entry for each build of the grader. So they can't disagree with the book, and no one maintains
 * them by hand. */
#include "grader/grade/grading_ctx.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/grade/baseline_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool baseline_source(const struct exercise *ex, char *name, size_t size, struct buf *out,
                     struct err *e) {
    if (!ex->baseline) {
        snprintf(name, size, "%s.cu", ex->name);
        return book_original_starter(ex, out, e);
    }
    const char *path = book_solution_file(ex, ex->baseline);
    grade_safe_file_name(ex, path, name, size);
    return file_read(path, SOURCE_LIMIT, out, e);
}

static void write_limits(const struct result *r, struct buf *out) {
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        if (t->metric[0])
            buf_printf(out, "%u %a %a %s\n", t->test_index, t->value, t->limit, t->metric);
    }
}

/* Runs the baseline at the technique size and evaluates the goals. */
static bool measure_limits(const struct grading_ctx *g, const struct build *b, const char *name,
                           struct buf *out, struct err *e) {
    const struct gpu_device *d = grade_device();
    struct ptxas ptxas_result = {0};
    ptxas_finish(ptxas_start(b, d->cc_major * 10 + d->cc_minor), &ptxas_result);
    struct session_options so = {.device = d,
                                 .seed = "the naive version",
                                 .workers = g->o->workers,
                                 .ptxas_result = &ptxas_result};
    struct session *s = session_open(g->ex, b, &so, e);
    struct case_run run = {.verdict = V_IE};
    if (s) session_case(s, &g->ex->technique_case, &grade_plan_technique, &run);
    struct result scratch = {.ex = g->ex, .file = name};
    struct grading_ctx goals_ctx = {
        .ex = g->ex, .o = g->o, .r = &scratch, .launch_stats = run.launch_stats};
    bool ok = run.verdict == V_AC;
    if (ok) check_goals(&goals_ctx), write_limits(&scratch, out);
    else if (s)
        err_set(e, ERR_INTERNAL, "the baseline could not be run at the technique size: %.300s",
                buf_str(&run.message));
    result_free(&scratch);
    if (s) session_case_free(&run);
    session_close(s);
    ptxas_free(&ptxas_result);
    return ok;
}

static void make_baseline_key(const struct grading_ctx *g, const struct build *b,
                              char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "naive 1");
    cache_add_grader(&h);
    hash_update_string(&h, book_id(g->ex));
    hash_update_string(&h, b->key);
    hash_final_hex(&h, key);
}

/* Appends the lines of write_limits(), from the cache if possible. */
static bool run_for_limits(const struct grading_ctx *g, const char *name, const struct buf *source,
                           struct buf *out, struct err *e) {
    struct build b = {0};
    char key[HASH_HEX_SIZE];
    bool ok =
        build_run(&(struct build_source){name, source->data, source->size, g->ex->sm_90a}, &b, e);
    if (ok && !b.ok) ok = err_set(e, ERR_INTERNAL, "the baseline %s does not compile", name);
    if (ok) make_baseline_key(g, &b, key);
    if (ok && !cache_get("naive", key, out)) {
        ok = measure_limits(g, &b, name, out, e);
        if (ok) cache_put("naive", key, buf_str(out), out->size);
    }
    build_free(&b);
    return ok;
}

/* Appends the recorded lines of this source; returns false if there are none. */
static bool recorded_limits(const struct grading_ctx *g, const struct buf *source,
                            struct buf *out) {
    char key[BASELINE_KEY_SIZE];
    struct err ignored = {0};
    size_t size = out->size;
    if (g->o->ignore_baseline_data || !baseline_data_is_current()) return false;
    baseline_data_key(g->ex, buf_str(source), source->size, key);
    return baseline_data_limits(book_id(g->ex), key, out, &ignored) && out->size > size;
}

/* Appends the limits, recorded ones if possible. An exercise outside the book has no baseline: its
 * goals are reached or not. */
static bool load_limits(const struct grading_ctx *g, struct buf *out, struct err *e) {
    struct buf source = {0};
    struct err ignored = {0};
    char name[128];
    bool found = baseline_source(g->ex, name, sizeof name, &source, &ignored);
    bool ok = found ? recorded_limits(g, &source, out) || run_for_limits(g, name, &source, out, e)
                    : !baseline_data_exists() || baseline_data_limits(book_id(g->ex), NULL, out, e);
    buf_free(&source);
    return ok;
}

bool baseline_limits(const struct exercise *ex, const struct grade_options *go, struct buf *out,
                     struct err *e) {
    struct grading_ctx g = {.ex = ex, .o = go};
    return load_limits(&g, out, e);
}

/* Sets the baseline values of one limit. Tests may limit a metric twice; each line serves one
 * limit. */
static void apply_limit_line(struct result *r, unsigned test, double value, double limit,
                             const char *metric) {
    for (unsigned i = 0; i < r->ntechnique; i++) {
        struct technique_result *t = &r->technique[i];
        if (t->is_guard || t->has_baseline || t->test_index != test || strcmp(t->metric, metric))
            continue;
        t->has_baseline = true, t->baseline_value = value, t->baseline_limit = limit;
        return;
    }
}

static bool has_missed_goal(const struct result *r) {
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!r->technique[i].is_guard && !r->technique[i].passed) return true;
    return false;
}

bool baseline_compare(struct grading_ctx *g, struct err *e) {
    struct buf text = {0};
    if (!book_has_solutions() && !baseline_data_load(book_id(g->ex), e)) return false;
    if (!has_missed_goal(g->r)) return true;
    bool ok = load_limits(g, &text, e);
    char *saveptr = NULL;
    for (char *l = ok && text.size ? strtok_r(text.data, "\n", &saveptr) : NULL; l;
         l = strtok_r(NULL, "\n", &saveptr)) {
        unsigned test;
        double value, limit;
        char metric[96];
        if (sscanf(l, "%u %la %la %95s", &test, &value, &limit, metric) == 4)
            apply_limit_line(g->r, test, value, limit, metric);
    }
    buf_free(&text);
    return ok;
}

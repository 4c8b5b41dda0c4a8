/* grade.c — grades a submission: builds it, runs the checks, measures, scores. See grade.h. */
#include "grader/grade/grading_ctx.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/result_cache.h"
#include "grader/grade/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one attempt ---- */

static const char *result_strdup(struct result *r, const char *s) {
    return arena_strndup(&r->arena, s, strlen(s));
}

static void set_compile_error(struct grading_ctx *g) {
    struct result *r = g->r;
    r->verdict = V_CE;
    struct buf text = {0};
    if (g->build.reason) buf_printf(&text, "%s\n", g->build.reason);
    buf_puts(&text, buf_str(&g->build.messages));
    if (!text.size) buf_puts(&text, "the compiler failed without a message");
    while (text.size && text.data[text.size - 1] == '\n') text.data[--text.size] = 0;
    r->message = result_strdup(r, buf_str(&text));
    buf_free(&text);
}

static void fill_counters(struct grading_ctx *g) {
    struct result *r = g->r;
    r->has_counters = true;
    r->counters = g->launch_stats.counters;
    r->occupancy = g->launch_stats.occupancy;
    result_fill_lines(r, &g->launch_stats);
    result_fill_times(r, &g->launch_stats);
}

static void join_case_verdicts(struct result *r) {
    r->verdict = V_AC;
    for (unsigned i = 0; i < r->ncases; i++)
        r->verdict = verdict_join(r->verdict, r->cases[i].verdict);
    if (r->verdict == V_AC && !r->is_single_case)
        r->verdict = V_IE; /* a check failed, but no case did */
}

static void withhold(struct result *r, const char *reason) {
    struct buf text = {0};
    buf_printf(&text, "withheld for review: %s", reason);
    r->verdict = verdict_join(r->verdict, V_FLAG);
    r->score = 0;
    r->message = result_strdup(r, buf_str(&text));
    buf_free(&text);
}

static void set_internal_error(struct result *r, const struct err *e) {
    r->verdict = V_IE;
    r->message = result_strdup(r, e->text);
}

/* Adds up the progress of all goals; of each goal the least of its limits counts. A test that
 * failed by a plain assertion has one limit without a name. */
static void sum_goal_progress(struct result *r) {
    r->checks.goal_progress = r->checks.goals;
    for (unsigned i = 0, end; i < r->ntechnique; i = end) {
        double min_progress = 1;
        struct technique_result *t = r->technique;
        for (end = i; end < r->ntechnique && t[end].test_index == t[i].test_index &&
                      t[end].is_guard == t[i].is_guard;
             end++) {
            if (!t[end].is_guard) t[end].goal_progress = score_goal_progress(&t[end]);
            if (!t[end].is_guard) min_progress = fmin(min_progress, t[end].goal_progress);
        }
        r->checks.goal_progress -= 1 - min_progress;
    }
}

static bool is_unmodified_starter(const struct result *r) {
    struct buf starter = {0};
    struct err e = {0};
    bool same = book_original_starter(r->ex, &starter, &e) && starter.size == r->source.size &&
                !memcmp(buf_str(&starter), buf_str(&r->source), starter.size);
    buf_free(&starter);
    return same;
}

void grade_evaluate(struct grading_ctx *g) {
    struct err e = {0};
    bool correct = check_run(g);
    if (!check_hidden(g) || !correct) {
        join_case_verdicts(g->r);
        return;
    }
    if (!baseline_compare(g, &e)) {
        set_internal_error(g->r, &e);
        return;
    }
    sum_goal_progress(g->r);
    fill_counters(g);
    result_fill_kernels(g->r, &g->ptxas);
    if (!g->o->no_speed && !speed_run(g)) {
        join_case_verdicts(g->r);
        return;
    }
    score_points(g->r, g->o->count_modelled);
    if (g->unstable) g->r->verdict = V_UNSTABLE;
    if (g->implausible_reason[0]) withhold(g->r, g->implausible_reason);
}

static const struct ptxas *finish_ptxas(void *user) {
    struct grading_ctx *g = user;
    if (g->ptxas_job) ptxas_finish(g->ptxas_job, &g->ptxas);
    g->ptxas_job = NULL;
    return &g->ptxas;
}

struct session *grade_session(struct grading_ctx *g, struct err *e) {
    struct session_options so = {.device = grade_device(),
                                 .seed = g->o->seed,
                                 .workers = g->o->workers,
                                 .empty_caches = g->o->empty_caches,
                                 .source = &g->r->source,
                                 .file = g->r->file,
                                 .finish_ptxas = finish_ptxas,
                                 .user = g,
                                 .prefetch = g->prefetch};
    return session_open(g->ex, &g->build, &so, e);
}

static void grade_built(struct grading_ctx *g) {
    struct err e = {0};
    const struct gpu_device *d = grade_device();
    g->session = grade_session(g, &e);
    if (!g->session) {
        set_internal_error(g->r, &e);
        return;
    }
    g->ptxas_job = ptxas_start(&g->build, d->cc_major * 10 + d->cc_minor);
    grade_evaluate(g);
    finish_ptxas(g);
    session_log(g->session, &g->r->log);
    session_close(g->session);
}

/* Draws the sizes. With size_seed_includes_source, a file that was edited to fit its drawn sizes
 * gets other sizes. */
static void draw_cases(struct grading_ctx *g) {
    struct buf seed = {0};
    char digest[HASH_HEX_SIZE];
    sha256_hex(buf_str(&g->r->source), g->r->source.size, digest);
    buf_printf(&seed, "%s%s%s", g->o->seed, g->o->size_seed_includes_source ? " of " : "",
               g->o->size_seed_includes_source ? digest : "");
    g->ndrawn = problem_drawn_case_count(g->ex);
    for (unsigned i = 0; i < g->ndrawn; i++)
        problem_draw_case(g->ex, buf_str(&seed), i, &g->drawn[i]);
    buf_free(&seed);
}

/* Starts drawing the timed case, whose index in check_run() comes after the listed cases and the
 * technique case. */
static struct input_prefetch *start_prefetch(const struct grading_ctx *g) {
    const struct grade_options *o = g->o;
    bool checks_timed_case = o->count_modelled && !o->trusted && !o->no_speed && !o->only_case &&
                             !gpu_options_of(o->device);
    return o->prefetch_inputs && checks_timed_case
               ? input_prefetch_start(g->ex, &g->ex->timed_case, o->seed, g->ex->ncases + 1)
               : NULL;
}

/* The grader measures on one GPU. */
static bool must_model(const struct exercise *ex, const struct grade_options *o) {
    return ex->devices > 1 && gpu_options_of(o->device);
}

static void note_modelled(struct result *r) {
    struct buf text = {0};
    buf_printf(&text,
               "modelled: measuring this exercise takes %u GPUs, and the grader measures on one; "
               "the simulated GPUs checked it%s%s",
               r->ex->devices, r->speed.note[0] ? "; " : "", r->speed.note);
    r->speed.note = result_strdup(r, buf_str(&text));
    buf_free(&text);
}

static void grade_once(const struct exercise *ex, const char *name, const void *source, size_t size,
                       const struct grade_options *options, struct result *r) {
    struct grade_options modelled = *options;
    if (must_model(ex, options)) modelled.device = grade_device();
    const struct grade_options *o = &modelled;
    struct grading_ctx g = {.ex = ex, .o = o, .r = r};
    struct err e = {0};
    *r = (struct result){.ex = ex, .max_score = 100};
    r->id = result_strdup(r, book_id(ex));
    r->file = result_strdup(r, name);
    r->message = "";
    r->seed = result_strdup(r, o->seed);
    buf_add(&r->source, source, size);
    draw_cases(&g);
    r->is_unmodified = is_unmodified_starter(r), r->is_single_case = o->only_case > 0;
    r->case_points = o->policy ? o->policy->case_points : 0,
    r->nhidden_total = o->policy ? o->policy->nhidden : 0;
    r->speed.note = "";
    if (o->progress) o->progress(o->user, "compiling");
    g.prefetch = start_prefetch(&g);
    if (!build_run(&(struct build_source){name, source, size, ex->sm_90a}, &g.build, &e))
        set_internal_error(r, &e);
    else if (!g.build.ok) set_compile_error(&g);
    else {
        text_clean(&r->log, buf_str(&g.build.messages), g.build.messages.size, 4096);
        grade_built(&g);
        if (must_model(ex, options)) note_modelled(r);
    }
    if (r->verdict != V_AC && r->verdict != V_PART && r->verdict != V_UNSTABLE &&
        !r->is_single_case)
        score_incorrect(r);
    r->depends_on_machine = g.host_too_slow || g.unstable || (!g.build.ok && g.build.reason);
    input_prefetch_free(g.prefetch);
    build_free(&g.build);
    ptxas_free(&g.ptxas);
    launch_stats_free(&g.launch_stats);
}

void grade_source(const struct exercise *ex, const char *name, const void *source, size_t size,
                  const struct grade_options *o, struct result *out) {
    char key[HASH_HEX_SIZE];
    bool has_key = result_cache_key(ex, name, source, size, o, key);
    if (has_key && result_cache_load(ex, key, out)) return;
    grade_once(ex, name, source, size, o, out);
    if (out->verdict == V_IE) {
        result_free(out);
        grade_once(ex, name, source, size, o, out);
    }
    if (has_key) result_cache_store(key, o, out);
}

bool grade_file(const struct exercise *ex, const char *path, const struct grade_options *o,
                struct result *out, struct err *e) {
    struct buf source = {0};
    char name[128];
    grade_safe_file_name(ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, e);
    if (ok) grade_source(ex, name, source.data ? source.data : "", source.size, o, out);
    buf_free(&source);
    return ok;
}

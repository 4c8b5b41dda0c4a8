/* grade.c — see grade.h. */
#include "grader/grade/grading.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one attempt ---- */

static const char *keep(struct result *r, const char *s) {
    return arena_strndup(&r->arena, s, strlen(s));
}

static void not_built(struct grading *g) {
    struct result *r = g->r;
    r->verdict = V_CE;
    struct buf text = {0};
    if (g->build.why) buf_printf(&text, "%s\n", g->build.why);
    buf_puts(&text, buf_str(&g->build.messages));
    if (!text.size) buf_puts(&text, "the compiler gave no message");
    while (text.size && text.data[text.size - 1] == '\n') text.data[--text.size] = 0;
    r->message = keep(r, buf_str(&text));
    buf_free(&text);
}

static void keep_counters(struct grading *g) {
    struct result *r = g->r;
    r->has_counters = true;
    r->counters = g->tally.counters;
    r->occupancy = g->tally.occupancy;
    grade_keep_lines(r, &g->tally);
    grade_keep_times(r, &g->tally);
}

static void join_cases(struct result *r) {
    r->verdict = V_AC;
    for (unsigned i = 0; i < r->ncases; i++)
        r->verdict = verdict_join(r->verdict, r->cases[i].verdict);
    if (r->verdict == V_AC && !r->partial)
        r->verdict = V_IE; /* something failed, and no case says what */
}

static void withhold(struct result *r, const char *why) {
    struct buf text = {0};
    buf_printf(&text, "withheld for a person to look at: %s", why);
    r->verdict = verdict_join(r->verdict, V_FLAG);
    r->score = 0;
    r->message = keep(r, buf_str(&text));
    buf_free(&text);
}

static void grader_failed(struct result *r, const struct err *e) {
    r->verdict = V_IE;
    r->message = keep(r, e->text);
}

/* Of each goal the least of its figures' ways. A test that failed by an assertion of its own has a
 * figure without a name. */
static void add_ways(struct result *r) {
    r->checks.way = r->checks.goals;
    for (unsigned i = 0, end; i < r->ntechnique; i = end) {
        double least = 1;
        struct technique_result *t = r->technique;
        for (end = i; end < r->ntechnique && t[end].test == t[i].test && t[end].guard == t[i].guard;
             end++) {
            if (!t[end].guard) t[end].way = score_way(&t[end]);
            if (!t[end].guard) least = fmin(least, t[end].way);
        }
        r->checks.way -= 1 - least;
    }
}

static bool is_untouched(const struct result *r) {
    struct buf skeleton = {0};
    struct err e = {0};
    bool same = book_pristine(r->ex, &skeleton, &e) && skeleton.size == r->source.size &&
                !memcmp(buf_str(&skeleton), buf_str(&r->source), skeleton.size);
    buf_free(&skeleton);
    return same;
}

void grade_evaluate(struct grading *g) {
    struct err e = {0};
    bool right = check_run(g);
    if (!check_hidden(g) || !right) {
        join_cases(g->r);
        return;
    }
    if (!naive_compare(g, &e)) {
        grader_failed(g->r, &e);
        return;
    }
    add_ways(g->r);
    keep_counters(g);
    grade_keep_kernels(g->r, &g->ptxas);
    if (!g->o->no_speed && !speed_run(g)) {
        join_cases(g->r);
        return;
    }
    score_points(g->r, g->o->count_modelled);
    if (g->unstable) g->r->verdict = V_UNSTABLE;
    if (g->implausible[0]) withhold(g->r, g->implausible);
}

static const struct ptxas *finish_ptxas(void *user) {
    struct grading *g = user;
    if (g->ptxas_job) ptxas_finish(g->ptxas_job, &g->ptxas);
    g->ptxas_job = NULL;
    return &g->ptxas;
}

struct session *grade_session(struct grading *g, struct err *e) {
    struct session_options so = {.device = grade_device(),
                                 .seed = g->o->seed,
                                 .workers = g->o->workers,
                                 .source = &g->r->source,
                                 .file = g->r->file,
                                 .finish = finish_ptxas,
                                 .user = g,
                                 .ahead = g->ahead};
    return session_open(g->ex, &g->build, &so, e);
}

static void run_built(struct grading *g) {
    struct err e = {0};
    const struct gpu_device *d = grade_device();
    g->session = grade_session(g, &e);
    if (!g->session) {
        grader_failed(g->r, &e);
        return;
    }
    g->ptxas_job = ptxas_start(&g->build, d->cc_major * 10 + d->cc_minor);
    grade_evaluate(g);
    finish_ptxas(g);
    session_log(g->session, &g->r->log);
    session_close(g->session);
}

/* A file that was changed to know its sizes has other ones. */
static void draw_cases(struct grading *g) {
    struct buf seed = {0};
    char digest[HASH_HEX];
    hash_plain(buf_str(&g->r->source), g->r->source.size, digest);
    buf_printf(&seed, "%s%s%s", g->o->seed, g->o->sizes_by_file ? " of " : "",
               g->o->sizes_by_file ? digest : "");
    g->ndrawn = problem_drawn(g->ex);
    for (unsigned i = 0; i < g->ndrawn; i++)
        problem_draw_case(g->ex, buf_str(&seed), i, &g->drawn[i]);
    buf_free(&seed);
}

/* The index is that of check_run(): after the listed cases and the counted one. */
static struct inputs_ahead *begin_ahead(const struct grading *g) {
    const struct grade_options *o = g->o;
    bool whole = o->count_modelled && !o->trusted && !o->no_speed && !o->only_case &&
                 !gpu_options_of(o->device);
    return o->ahead && whole ? inputs_ahead(g->ex, &g->ex->timed, o->seed, g->ex->ncases + 1)
                             : NULL;
}

static void attempt(const struct exercise *ex, const char *name, const void *source, size_t size,
                    const struct grade_options *o, struct result *r) {
    struct grading g = {.ex = ex, .o = o, .r = r};
    struct err e = {0};
    *r = (struct result){.ex = ex, .max_score = 100};
    r->id = keep(r, book_id(ex));
    r->file = keep(r, name);
    r->message = "";
    buf_add(&r->source, source, size);
    draw_cases(&g);
    r->untouched = is_untouched(r), r->partial = o->only_case > 0;
    r->case_points = o->terms ? o->terms->case_points : 0,
    r->all_hidden = o->terms ? o->terms->nhidden : 0;
    r->speed.note = "";
    if (o->progress) o->progress(o->user, "compiling");
    g.ahead = begin_ahead(&g);
    if (!build_run(&(struct build_source){name, source, size, ex->sm_90a}, &g.build, &e))
        grader_failed(r, &e);
    else if (!g.build.ok) not_built(&g);
    else {
        text_clean(&r->log, buf_str(&g.build.messages), g.build.messages.size, 4096);
        run_built(&g);
    }
    if (r->verdict != V_AC && r->verdict != V_PART && r->verdict != V_UNSTABLE && !r->partial)
        score_nothing(r);
    inputs_drop(g.ahead);
    build_free(&g.build);
    ptxas_free(&g.ptxas);
    launch_stats_free(&g.tally);
}

void grade_source(const struct exercise *ex, const char *name, const void *source, size_t size,
                  const struct grade_options *o, struct result *out) {
    attempt(ex, name, source, size, o, out);
    if (out->verdict != V_IE) return;
    result_free(out);
    attempt(ex, name, source, size, o, out);
}

bool grade_file(const struct exercise *ex, const char *path, const struct grade_options *o,
                struct result *out, struct err *e) {
    struct buf source = {0};
    char name[128];
    grade_name(ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, e);
    if (ok) grade_source(ex, name, source.data ? source.data : "", source.size, o, out);
    buf_free(&source);
    return ok;
}

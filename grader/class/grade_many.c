/* grade_many.c — see grade_many.h. */
#include "grader/class/grade_many.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/result_bytes.h"
#include "grader/class/parallel.h"

#include <string.h>

struct grading {
    const struct grade_item *items;
    const struct grade_options *o;    /* of the caller, for progress */
    const struct grade_options *each; /* of a process */
    struct result *results;
    unsigned n;
};

static const char *keep(struct result *r, const char *s) { return arena_strndup(&r->arena, s, strlen(s)); }

static void failed(struct result *r, const struct exercise *ex, const char *why) {
    *r = (struct result){.ex = ex, .verdict = V_IE, .max_score = 100};
    r->id = keep(r, book_id(ex));
    r->file = "";
    r->message = keep(r, why);
    r->speed.note = "";
}

static void work(void *user, unsigned i, struct buf *out) {
    struct grading *m = user;
    const struct grade_item *it = &m->items[i];
    struct result r;
    struct err e = {0};
    char name[128];
    grade_name(it->ex, it->name, name, sizeof name);
    struct grade_options each = *m->each;
    each.no_speed |= it->no_speed, each.trusted |= it->trusted;
    if (it->source) grade_source(it->ex, name, buf_str(it->source), it->source->size, &each, &r);
    else if (!grade_file(it->ex, it->path, &each, &r, &e)) failed(&r, it->ex, e.text);
    result_pack(&r, out);
}

static void done(void *user, unsigned i, bool ok, const char *data, size_t size) {
    struct grading *m = user;
    const struct exercise *ex = m->items[i].ex;
    if (ok && result_unpack(&m->results[i], ex, data, size)) ok = true;
    else failed(&m->results[i], ex, "the grader's own process for this file died");
    if (m->o->progress && i + 1 < m->n) m->o->progress(m->o->user, m->items[i + 1].name);
}

bool class_grade_many(const struct grade_item *items, unsigned n, unsigned jobs, const struct grade_options *o,
                      struct result *results, struct err *e) {
    struct grade_options each = *o;
    each.progress = NULL;
    jobs = parallel_jobs(jobs);
    if (jobs > n) jobs = n;
    if (jobs > 1 && !each.workers) each.workers = 1; /* processes share the cores already */
    struct grading m = {items, o, &each, results, n};
    return parallel_run(n, jobs ? jobs : 1, work, done, &m, e);
}

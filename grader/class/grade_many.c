/* grade_many.c — see grade_many.h. */
#include "grader/class/grade_many.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/result_bytes.h"
#include "grader/class/parallel.h"

#include <stdlib.h>
#include <string.h>

struct grading {
    const struct grade_item *items;
    const struct grade_options *o;    /* of the caller, for progress */
    const struct grade_options *each; /* of a process */
    struct result *results;
    unsigned n, next;
    unsigned *at; /* which item is in which place */
};

static const char *keep(struct result *r, const char *s) {
    return arena_strndup(&r->arena, s, strlen(s));
}

static void failed(struct result *r, const struct exercise *ex, const char *why) {
    *r = (struct result){.ex = ex, .verdict = V_IE, .max_score = 100};
    r->id = keep(r, book_id(ex));
    r->file = "";
    r->message = keep(r, why);
    r->speed.note = "";
}

static enum parallel_answer next(void *user, unsigned slot, struct err *e) {
    struct grading *m = user;
    (void)e;
    if (m->next == m->n) return PARALLEL_END;
    m->at[slot] = m->next++;
    return PARALLEL_ITEM;
}

static void work(void *user, unsigned slot, struct buf *out) {
    struct grading *m = user;
    const struct grade_item *it = &m->items[m->at[slot]];
    struct result r;
    struct err e = {0};
    char name[128];
    grade_safe_file_name(it->ex, it->name, name, sizeof name);
    struct grade_options each = *m->each;
    each.no_speed |= it->no_speed, each.trusted |= it->trusted;
    if (it->terms) each.policy = it->terms;
    if (it->source) grade_source(it->ex, name, buf_str(it->source), it->source->size, &each, &r);
    else if (!grade_file(it->ex, it->path, &each, &r, &e)) failed(&r, it->ex, e.text);
    result_serialize(&r, out);
}

static bool done(void *user, unsigned slot, bool ok, const char *data, size_t size, struct err *e) {
    struct grading *m = user;
    unsigned i = m->at[slot];
    const struct exercise *ex = m->items[i].ex;
    (void)e;
    if (!ok || !result_deserialize(&m->results[i], ex, data, size))
        failed(&m->results[i], ex, "the grader's own process for this file died");
    if (m->o->progress && m->next < m->n) m->o->progress(m->o->user, m->items[m->next].name);
    return true;
}

bool class_grade_many(const struct grade_item *items, unsigned n, unsigned jobs,
                      const struct grade_options *o, struct result *results, struct err *e) {
    struct grade_options each = *o;
    each.progress = NULL;
    jobs = parallel_jobs(jobs);
    if (jobs > n) jobs = n;
    each.prefetch_inputs &= jobs == 1;
    if (jobs > 1 && !each.workers) each.workers = 1; /* processes share the cores already */
    struct grading m = {items, o, &each, results, n, 0, xcalloc(jobs + 1, sizeof *m.at)};
    bool ok = parallel_run(jobs ? jobs : 1, &(struct parallel){next, work, done, &m}, e);
    free(m.at);
    return ok;
}

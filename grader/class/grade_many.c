/* grade_many.c — see grade_many.h. */
#include "grader/class/grade_many.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/result_serialize.h"
#include "grader/class/parallel.h"

#include <stdlib.h>
#include <string.h>

struct grading {
    const struct grade_item *items;
    const struct grade_options *o;              /* the caller's, for progress */
    const struct grade_options *worker_options; /* for each process */
    struct result *results;
    unsigned n, next_index;
    unsigned *slot_items; /* the item in each slot */
};

static const char *arena_copy(struct result *r, const char *s) {
    return arena_strndup(&r->arena, s, strlen(s));
}

static void set_failed_result(struct result *r, const struct exercise *ex, const char *reason) {
    *r = (struct result){.ex = ex, .verdict = V_IE, .max_score = 100};
    r->id = arena_copy(r, book_id(ex));
    r->file = "";
    r->message = arena_copy(r, reason);
    r->speed.note = "";
}

static enum parallel_status next_item(void *user, unsigned slot, struct err *e) {
    struct grading *m = user;
    (void)e;
    if (m->next_index == m->n) return PARALLEL_END;
    m->slot_items[slot] = m->next_index++;
    return PARALLEL_ITEM;
}

static void grade_item_in_slot(void *user, unsigned slot, struct buf *out) {
    struct grading *m = user;
    const struct grade_item *it = &m->items[m->slot_items[slot]];
    struct result r;
    struct err e = {0};
    char name[128];
    grade_safe_file_name(it->ex, it->name, name, sizeof name);
    struct grade_options item_options = *m->worker_options;
    item_options.no_speed |= it->skip_timing, item_options.trusted |= it->trusted;
    if (it->policy) item_options.policy = it->policy;
    if (it->source)
        grade_source(it->ex, name, buf_str(it->source), it->source->size, &item_options, &r);
    else if (!grade_file(it->ex, it->path, &item_options, &r, &e))
        set_failed_result(&r, it->ex, e.text);
    result_serialize(&r, out);
}

static bool store_item_result(void *user, unsigned slot, bool ok, const char *data, size_t size,
                              struct err *e) {
    struct grading *m = user;
    unsigned i = m->slot_items[slot];
    const struct exercise *ex = m->items[i].ex;
    (void)e;
    if (!ok || !result_deserialize(&m->results[i], ex, data, size))
        set_failed_result(&m->results[i], ex, "the grader's process for this file died");
    if (m->o->progress && m->next_index < m->n)
        m->o->progress(m->o->user, m->items[m->next_index].name);
    return true;
}

bool class_grade_many(const struct grade_item *items, unsigned n, unsigned jobs,
                      const struct grade_options *o, struct result *results, struct err *e) {
    struct grade_options worker_options = *o;
    worker_options.progress = NULL;
    jobs = parallel_job_count(jobs);
    if (jobs > n) jobs = n;
    worker_options.prefetch_inputs &= jobs == 1;
    if (jobs > 1 && !worker_options.workers)
        worker_options.workers = 1; /* The processes already use all cores. */
    struct grading m = {
        items, o, &worker_options, results, n, 0, xcalloc(jobs + 1, sizeof *m.slot_items)};
    bool ok = parallel_run(
        jobs ? jobs : 1,
        &(struct parallel_ops){next_item, grade_item_in_slot, store_item_result, &m}, e);
    free(m.slot_items);
    return ok;
}

/* grade_many.c — see grade_many.h. next_item and store_item_result run in the parent,
 * grade_item_in_slot in a child of its own for each item; the result travels as serialized bytes.
 * A slot is one of the `jobs` places for a child (parallel.h). */
#include "grader/class/grade_many.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/result_serialize.h"
#include "grader/class/parallel.h"

#include <stdlib.h>
#include <string.h>

struct grading {
    const struct grade_item *items;
    const struct grade_options *o;               /* the caller's, for progress */
    const struct grade_options *process_options; /* for each child */
    struct result *results;
    unsigned n, next_index;
    unsigned *item_of_slot; /* index of the item that the slot's child grades */
};

static const char *copy_result_string(struct result *r, const char *s) {
    return arena_strndup(&r->arena, s, strlen(s));
}

static void set_failed_result(struct result *r, const struct exercise *ex, const char *reason) {
    *r = (struct result){.ex = ex, .verdict = V_IE, .max_score = 100};
    r->id = copy_result_string(r, book_id(ex));
    r->file = "";
    r->message = copy_result_string(r, reason);
    r->speed.note = "";
}

static enum parallel_status next_item(void *user, unsigned slot, struct err *e) {
    struct grading *g = user;
    (void)e;
    if (g->next_index == g->n) return PARALLEL_END;
    g->item_of_slot[slot] = g->next_index++;
    return PARALLEL_ITEM;
}

static void grade_item_in_slot(void *user, unsigned slot, struct buf *out) {
    struct grading *g = user;
    const struct grade_item *it = &g->items[g->item_of_slot[slot]];
    struct result r;
    struct err e = {0};
    char name[128];
    grade_safe_file_name(it->ex, it->name, name, sizeof name);
    struct grade_options item_options = *g->process_options;
    item_options.no_speed |= it->skip_timing;
    item_options.trusted |= it->trusted;
    if (it->policy) item_options.policy = it->policy;
    if (it->source)
        grade_source(it->ex, name, buf_str(it->source), it->source->size, &item_options, &r);
    else if (!grade_file(it->ex, it->path, &item_options, &r, &e))
        set_failed_result(&r, it->ex, e.text);
    result_serialize(&r, out);
}

static bool store_item_result(void *user, unsigned slot, bool ok, const char *data, size_t size,
                              struct err *e) {
    struct grading *g = user;
    unsigned i = g->item_of_slot[slot];
    const struct exercise *ex = g->items[i].ex;
    (void)e;
    if (!ok || !result_deserialize(&g->results[i], ex, data, size))
        set_failed_result(&g->results[i], ex, "the process that graded this file died");
    /* Progress counts finished items, and names the one that takes the free slot. */
    if (g->o->progress && g->next_index < g->n)
        g->o->progress(g->o->user, g->items[g->next_index].name);
    return true;
}

bool class_grade_many(const struct grade_item *items, unsigned n, unsigned jobs,
                      const struct grade_options *o, struct result *results, struct err *e) {
    struct grade_options process_options = *o;
    process_options.progress = NULL;
    jobs = parallel_job_count(jobs);
    if (jobs > n) jobs = n;
    if (!jobs) jobs = 1;
    if (jobs > 1) { /* the processes use all cores already */
        process_options.prefetch_inputs = false;
        if (!process_options.workers) process_options.workers = 1;
    }
    struct grading g = {.items = items,
                        .o = o,
                        .process_options = &process_options,
                        .results = results,
                        .n = n,
                        .item_of_slot = xcalloc(jobs, sizeof *g.item_of_slot)};
    struct parallel_ops ops = {.next_item = next_item,
                               .run_item = grade_item_in_slot,
                               .item_done = store_item_result,
                               .user = &g};
    bool ok = parallel_run(jobs, &ops, e);
    free(g.item_of_slot);
    return ok;
}

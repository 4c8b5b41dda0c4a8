/* grade_many.c — see grade_many.h. next_item and store_item_result run in the parent,
 * grade_item_in_slot in a child of its own for each item; the result travels as serialized bytes.
 * A slot is one of the `jobs` places for a child (parallel.h). */
#include "grader/class/grade_many.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/result_cache.h"
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

static struct grade_options options_of_item(const struct grade_item *it,
                                            const struct grade_options *o) {
    struct grade_options item_options = *o;
    item_options.no_speed |= it->skip_timing;
    item_options.trusted |= it->trusted;
    if (it->policy) item_options.policy = it->policy;
    return item_options;
}

static void grade_item_in_slot(void *user, unsigned slot, struct buf *out) {
    struct grading *g = user;
    const struct grade_item *it = &g->items[g->item_of_slot[slot]];
    struct result r;
    struct err e = {0};
    char name[128];
    grade_safe_file_name(it->ex, it->name, name, sizeof name);
    struct grade_options item_options = options_of_item(it, g->process_options);
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

bool class_item_is_kept(const struct grade_item *item, const struct grade_options *o) {
    struct grade_options item_options = options_of_item(item, o);
    char name[128], key[HASH_HEX_SIZE];
    struct result kept;
    grade_safe_file_name(item->ex, item->name, name, sizeof name);
    bool is_kept = result_cache_key(item->ex, name, buf_str(item->source), item->source->size,
                                    &item_options, key) &&
                   result_cache_load(item->ex, key, &kept);
    if (is_kept) result_free(&kept);
    return is_kept;
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

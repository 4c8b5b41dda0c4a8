/* taint_report.c — where undefined values come from, and what is said of them. See taint.h.
 *
 * An origin is a load instruction. What is said of it is the first such read of the block at hand,
 * where this worker saw one; else, of values that came through memory, that of the lowest block of
 * the last launch that had one. */
#include "grader/sim/core/taint.h"
#include "grader/sim/core/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taint_table {
    pthread_mutex_t lock;
    u32 n;
    struct {
        const struct op *op; /* NULL: its module has gone */
        bool explained;    /* by a race of that launch: it only came before the store that it was to
                              come after */
        u64 launch, block; /* of the read that `report` tells */
        struct sim_report report;
    } origin[TAINT_ORIGINS + 1];
};

/* What a worker saw in its launch. */
struct taint_seen {
    const struct op *op;
    u64 block;
    struct sim_report report;
};

/* ---- origins ---- */

static struct taint_table *table_of(struct sim *s) {
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&making);
    if (!s->taint) {
        s->taint = xcalloc(1, sizeof *s->taint);
        pthread_mutex_init(&s->taint->lock, NULL);
    }
    pthread_mutex_unlock(&making);
    return s->taint;
}

void taint_close(struct sim *s) {
    if (s->taint) pthread_mutex_destroy(&s->taint->lock);
    free(s->taint);
    s->taint = NULL;
}

void taint_unload(struct sim *s, const struct sim_module *m) {
    for (u32 i = 1; s->taint && i <= s->taint->n; i++) {
        const struct op *o = s->taint->origin[i].op;
        if (!o || o < m->ops || o >= m->ops + m->nops) continue;
        s->taint->origin[i].op = NULL;
        s->taint->origin[i].report.kernel = s->taint->origin[i].report.file = "";
    }
}

static u8 number_of(struct taint_table *t, const struct op *o) {
    pthread_mutex_lock(&t->lock);
    u32 i = 1;
    while (i <= t->n && t->origin[i].op != o) i++;
    if (i > TAINT_ORIGINS) i = TAINT_ORIGINS;
    if (i > t->n) t->n = i;
    if (!t->origin[i].op) t->origin[i].op = o;
    pthread_mutex_unlock(&t->lock);
    return (u8)i;
}

static void describe(struct exec *x, struct sim_report *r, const struct op *o, u32 lane,
                     u64 address, u32 width, enum mem_space space) {
    char where[256];
    if (space == SPACE_LOCAL) {
        core_describe(x, r, SIM_FAULT_UNINITIALISED, o, lane, address,
                      "reads %u bytes of local memory that nothing wrote, at offset %llu", width,
                      (unsigned long long)address);
    } else if (space == SPACE_SHARED) {
        place_shared(x->worker->launch, address, where, sizeof where);
        core_describe(x, r, SIM_FAULT_UNINITIALISED, o, lane, address,
                      "reads %u bytes that nothing wrote, at %s", width, where);
        r->of_shared = true;
    } else {
        memory_describe(x->memory, address, width, where, sizeof where);
        core_describe(x, r, SIM_FAULT_UNINITIALISED, o, lane, address,
                      "reads %u bytes that nothing wrote, at 0x%llx, %s", width,
                      (unsigned long long)address, where);
    }
}

/* The table keeps the lowest block's of the last launch. */
static void keep_lowest(struct taint_table *t, u8 id, const struct launch *l,
                        const struct taint_seen *seen) {
    pthread_mutex_lock(&t->lock);
    if (t->origin[id].launch != l->number || seen->block < t->origin[id].block) {
        t->origin[id].launch = l->number;
        t->origin[id].block = seen->block;
        t->origin[id].explained = false;
        t->origin[id].report = seen->report;
    }
    pthread_mutex_unlock(&t->lock);
}

/* What this worker saw of the op last, to be described anew; NULL if it was in this block. */
static struct taint_seen *first_seen(struct exec *x, const struct op *o) {
    struct worker *k = x->worker;
    if (!k->taint) k->taint = xcalloc(TAINT_ORIGINS + 1, sizeof *k->taint);
    if (k->taint_last != o)
        k->taint_last = o, k->taint_number = number_of(table_of(k->launch->sim), o);
    struct taint_seen *seen = &k->taint[k->taint_number];
    if (seen->op == o && seen->block == x->block->linear) return NULL;
    seen->op = o;
    seen->block = x->block->linear;
    return seen;
}

static void keep_seen(struct worker *k, const struct taint_seen *seen) {
    keep_lowest(table_of(k->launch->sim), k->taint_number, k->launch, seen);
}

u8 taint_load(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
              enum mem_space space) {
    struct taint_seen *seen = first_seen(x, o);
    if (seen)
        describe(x, &seen->report, o, lane, address, width, space), keep_seen(x->worker, seen);
    return x->worker->taint_number;
}

u8 taint_shuffle(struct exec *x, const struct op *o, u32 lane, u32 from) {
    struct taint_seen *seen = first_seen(x, o);
    u32 thread = x->warp->index * 32 + from;
    const char *why = thread >= x->worker->launch->nthreads ? "which the block does not have"
                      : x->warp->live >> from & 1           ? "which takes no part in it"
                                                            : "which has left";
    if (!seen) return x->worker->taint_number;
    core_describe(x, &seen->report, SIM_FAULT_SYNC_MASK, o, lane, 0,
                  "shuffles from lane %u, %s: the value is undefined", from, why);
    keep_seen(x->worker, seen);
    return x->worker->taint_number;
}

/* An op's own address is the name of what it read; one byte on, that of what it makes. */
u8 taint_unwaited(struct exec *x, const struct op *o) {
    struct taint_seen *seen = first_seen(x, (const struct op *)((const char *)o + 1));
    if (!seen) return x->worker->taint_number;
    core_describe(
        x, &seen->report, SIM_FAULT_ASYNC, o, 0, 0,
        "makes a product that nothing waits for (wgmma.wait_group) before its result is used");
    keep_seen(x->worker, seen);
    return x->worker->taint_number;
}

static void read_of(struct exec *x, u8 id, struct sim_report *out) {
    struct worker *k = x->worker;
    struct taint_table *t = table_of(k->launch->sim);
    id &= TAINT_ORIGINS;
    if (k->taint && k->taint[id].op && k->taint[id].block == x->block->linear) {
        *out = k->taint[id].report;
        return;
    }
    pthread_mutex_lock(&t->lock);
    *out = t->origin[id].report;
    pthread_mutex_unlock(&t->lock);
}

static bool is_explained(struct exec *x, u8 id) {
    struct taint_table *t = table_of(x->worker->launch->sim);
    pthread_mutex_lock(&t->lock);
    bool explained = t->origin[id & TAINT_ORIGINS].explained;
    pthread_mutex_unlock(&t->lock);
    return explained;
}

/* ---- reports ---- */

/* ", and at FILE:LINE uses it…": the place only where it is another one. */
static void add_decision(const struct exec *x, struct sim_report *r, const struct op *o,
                         const char *does) {
    const struct sim_module *m = x->worker->launch->module;
    const struct ptx_loc *loc = place_source(m->ptx, o->loc);
    const char *file =
        loc->file < m->ptx->nfiles && m->ptx->files[loc->file] ? m->ptx->files[loc->file] : "";
    const char *slash = strrchr(file, '/');
    size_t n = strlen(r->text);
    bool same = !loc->line || (loc->line == r->line && !strcmp(file, r->file));
    if (same) snprintf(r->text + n, sizeof r->text - n, ", and %s", does);
    else
        snprintf(r->text + n, sizeof r->text - n, ", and at %.120s:%u %s", slash ? slash + 1 : file,
                 loc->line, does);
}

void taint_explain(struct sim *s, u64 launch) {
    for (u32 i = 1; s->taint && i <= s->taint->n; i++)
        if (s->taint->origin[i].launch == launch && s->taint->origin[i].report.of_shared)
            s->taint->origin[i].explained = true;
}

void taint_decides(struct exec *x, u8 origin, const struct op *o, u32 lanes, const char *does) {
    struct sim_report r;
    if (is_explained(x, origin)) return;
    read_of(x, origin, &r);
    add_decision(x, &r, o, does);
    for (; lanes; lanes &= lanes - 1) core_report(x, &r);
}

void taint_check(struct exec *x, const struct op *o, ref r, u32 bytes, u32 mask, const char *does) {
    u8 origin = taint_ref(x, r);
    u32 lanes = origin ? taint_lanes(x, r, bytes) & mask : 0;
    if (!lanes) return;
    taint_decides(x, origin, o, lanes, does);
    taint_set(x, r, bytes, lanes, NULL, 0);
}

void taint_raw(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
               enum mem_space space) {
    struct sim_report r;
    describe(x, &r, o, lane, address, width, space);
    core_report(x, &r);
}

/* ---- memory that is read back ---- */

bool sim_undefined(struct sim *s, uint64_t address, uint64_t bytes, struct sim_report *out) {
    if (!s->memory.has_undef_marks || memory_find_range(&s->memory, address, bytes) < 0)
        return false;
    unsigned char *w = s->memory.init_shadow + (address - SIM_BASE);
    u64 n = 0, first = 0;
    for (u64 i = bytes; i-- > 0;)
        if (taint_is_mark(w[i]) && !(w[i] / 2 & TAINT_PADDING) &&
            !s->taint->origin[w[i] / 2].explained)
            n++, first = i;
    if (!n) return false;
    char where[256];
    *out = s->taint->origin[w[first] / 2].report;
    memory_describe(&s->memory, address + first, 1, where, sizeof where);
    size_t length = strlen(out->text);
    snprintf(out->text + length, sizeof out->text - length,
             ", and %llu bytes that come from such reads are left in memory that is read back, the "
             "first %s",
             (unsigned long long)n, where);
    out->count = 1;
    for (u64 i = 0; i < bytes; i++)
        if (taint_is_mark(w[i])) w[i] = 1; /* told once */
    return true;
}

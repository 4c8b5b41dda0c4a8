/* undef_report.c — the origins of undefined values, and their reports. See undef.h.
 *
 * An origin is a load instruction. Its report is the first such read of the current block, if this
 * worker saw one; else, for values that passed through memory, the report of the lowest block in
 * the last launch that had one. */
#include "grader/sim/core/undef.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct undef_origin_table {
    pthread_mutex_t lock;
    u32 count;
    struct {
        const struct op *op; /* NULL: its module is unloaded */
        /* by a race of that launch: the read ran before the store that it should follow */
        bool is_explained;
        u64 launch, block; /* of the read in `report` */
        struct sim_report report;
    } origins[UNDEF_MAX_ORIGINS + 1];
};

/* One worker's report of an origin in its launch. */
struct undef_report {
    const struct op *op;
    u64 block;
    struct sim_report report;
};

/* ---- origins ---- */

static struct undef_origin_table *get_origin_table(struct sim *s) {
    static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&init_lock);
    if (!s->undef_origins) {
        s->undef_origins = xcalloc(1, sizeof *s->undef_origins);
        pthread_mutex_init(&s->undef_origins->lock, NULL);
    }
    pthread_mutex_unlock(&init_lock);
    return s->undef_origins;
}

void undef_close(struct sim *s) {
    if (s->undef_origins) pthread_mutex_destroy(&s->undef_origins->lock);
    free(s->undef_origins);
    s->undef_origins = NULL;
}

void undef_unload(struct sim *s, const struct sim_module *m) {
    for (u32 i = 1; s->undef_origins && i <= s->undef_origins->count; i++) {
        const struct op *o = s->undef_origins->origins[i].op;
        if (!o || o < m->ops || o >= m->ops + m->nops) continue;
        s->undef_origins->origins[i].op = NULL;
        s->undef_origins->origins[i].report.kernel = s->undef_origins->origins[i].report.file = "";
    }
}

static u8 find_or_add_origin(struct undef_origin_table *t, const struct op *o) {
    pthread_mutex_lock(&t->lock);
    u32 i = 1;
    while (i <= t->count && t->origins[i].op != o) i++;
    if (i > UNDEF_MAX_ORIGINS) i = UNDEF_MAX_ORIGINS;
    if (i > t->count) t->count = i;
    if (!t->origins[i].op) t->origins[i].op = o;
    pthread_mutex_unlock(&t->lock);
    return (u8)i;
}

static void describe(struct exec *x, struct sim_report *r, const struct op *o, u32 lane,
                     u64 address, u32 width, enum mem_space space) {
    char location[256];
    if (space == SPACE_LOCAL) {
        core_format_report(x, r, SIM_FAULT_UNINITIALIZED, o, lane, address,
                           "reads %u uninitialized bytes of local memory at offset %llu", width,
                           (unsigned long long)address);
    } else if (space == SPACE_SHARED) {
        describe_shared_element(x->worker->launch, address, width, location, sizeof location);
        core_format_report(x, r, SIM_FAULT_UNINITIALIZED, o, lane, address,
                           "reads %u uninitialized bytes at %s", width, location);
        r->is_shared_memory = true;
    } else {
        memory_describe(x->memory, address, width, location, sizeof location);
        core_format_report(x, r, SIM_FAULT_UNINITIALIZED, o, lane, address,
                           "reads %u uninitialized bytes at 0x%llx, %s", width,
                           (unsigned long long)address, location);
    }
}

/* Stores the report in the table if it is of a newer launch or a lower block. */
static void publish_lowest_block(struct undef_origin_table *t, u8 id, const struct launch *l,
                                 const struct undef_report *report) {
    pthread_mutex_lock(&t->lock);
    if (t->origins[id].launch != l->launch_id || report->block < t->origins[id].block) {
        t->origins[id].launch = l->launch_id;
        t->origins[id].block = report->block;
        t->origins[id].is_explained = false;
        t->origins[id].report = report->report;
    }
    pthread_mutex_unlock(&t->lock);
}

/* Returns the worker's report of the op, to be filled in; NULL if it has one of this block. */
static struct undef_report *first_in_block(struct exec *x, const struct op *o) {
    struct worker *k = x->worker;
    if (!k->undef_reports)
        k->undef_reports = xcalloc(UNDEF_MAX_ORIGINS + 1, sizeof *k->undef_reports);
    if (k->last_undef_op != o)
        k->last_undef_op = o,
        k->last_undef_origin = find_or_add_origin(get_origin_table(k->launch->sim), o);
    struct undef_report *report = &k->undef_reports[k->last_undef_origin];
    if (report->op == o && report->block == x->block->linear) return NULL;
    report->op = o;
    report->block = x->block->linear;
    return report;
}

static void publish_report(struct worker *k, const struct undef_report *report) {
    publish_lowest_block(get_origin_table(k->launch->sim), k->last_undef_origin, k->launch, report);
}

u8 undef_load_origin(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
                     enum mem_space space) {
    struct undef_report *report = first_in_block(x, o);
    if (report)
        describe(x, &report->report, o, lane, address, width, space),
            publish_report(x->worker, report);
    return x->worker->last_undef_origin;
}

u8 undef_shuffle_origin(struct exec *x, const struct op *o, u32 lane, u32 from, u32 members) {
    struct undef_report *report = first_in_block(x, o);
    u32 thread = x->warp->index * 32 + from;
    const char *reason = thread >= x->worker->launch->nthreads ? "which the block does not have"
                         : x->warp->live_lanes >> from & 1     ? "which does not take part"
                                                               : "which has exited";
    if (!report) return x->worker->last_undef_origin;
    core_format_report(x, &report->report, SIM_FAULT_INACTIVE_LANE_SHUFFLE, o, lane, 0,
                       "shuffles from lane %u, %s (member mask 0x%08x): the value is undefined",
                       from, reason, members);
    publish_report(x->worker, report);
    return x->worker->last_undef_origin;
}

/* The op's address, two bytes on, identifies this origin. */
u8 undef_unset_origin(struct exec *x, const struct op *first) {
    struct undef_report *report = first_in_block(x, (const struct op *)((const char *)first + 2));
    if (!report) return x->worker->last_undef_origin;
    core_format_report(x, &report->report, SIM_FAULT_UNINITIALIZED, first, 0, 0,
                       "begins a kernel that reads a variable before it has set it");
    publish_report(x->worker, report);
    return x->worker->last_undef_origin;
}

/* The op's own address identifies the origin of what it read; one byte on, that of its result. */
u8 undef_wgmma_origin(struct exec *x, const struct op *o) {
    struct undef_report *report = first_in_block(x, (const struct op *)((const char *)o + 1));
    if (!report) return x->worker->last_undef_origin;
    core_format_report(
        x, &report->report, SIM_FAULT_ASYNC_HAZARD, o, 0, 0,
        "issues a matrix product whose result is used before any wait (wgmma.wait_group)");
    publish_report(x->worker, report);
    return x->worker->last_undef_origin;
}

static void load_report(struct exec *x, u8 id, struct sim_report *out) {
    struct worker *k = x->worker;
    struct undef_origin_table *t = get_origin_table(k->launch->sim);
    id &= UNDEF_MAX_ORIGINS;
    if (k->undef_reports && k->undef_reports[id].op &&
        k->undef_reports[id].block == x->block->linear) {
        *out = k->undef_reports[id].report;
        return;
    }
    pthread_mutex_lock(&t->lock);
    *out = t->origins[id].report;
    pthread_mutex_unlock(&t->lock);
}

static bool is_explained(struct exec *x, u8 id) {
    struct undef_origin_table *t = get_origin_table(x->worker->launch->sim);
    pthread_mutex_lock(&t->lock);
    bool explained = t->origins[id & UNDEF_MAX_ORIGINS].is_explained;
    pthread_mutex_unlock(&t->lock);
    return explained;
}

/* ---- reports ---- */

/* Appends ", and at FILE:LINE uses it…"; without the location if it is the read's own. */
static void append_use(const struct exec *x, struct sim_report *r, const struct op *o,
                       const char *use_text) {
    const struct sim_module *m = x->worker->launch->module;
    const struct ptx_loc *loc = source_location_of(m->ptx, o->loc);
    const char *file =
        loc->file < m->ptx->nfiles && m->ptx->files[loc->file] ? m->ptx->files[loc->file] : "";
    const char *slash = strrchr(file, '/');
    size_t n = strlen(r->text);
    bool same = !loc->line || (loc->line == r->line && !strcmp(file, r->file));
    if (same) snprintf(r->text + n, sizeof r->text - n, ", and %s", use_text);
    else
        snprintf(r->text + n, sizeof r->text - n, ", and at %.120s:%u %s", slash ? slash + 1 : file,
                 loc->line, use_text);
}

void undef_mark_explained(struct sim *s, u64 launch) {
    for (u32 i = 1; s->undef_origins && i <= s->undef_origins->count; i++)
        if (s->undef_origins->origins[i].launch == launch &&
            s->undef_origins->origins[i].report.is_shared_memory)
            s->undef_origins->origins[i].is_explained = true;
}

void undef_report_use(struct exec *x, u8 origin, const struct op *o, u32 lanes,
                      const char *use_text) {
    struct sim_report r;
    if (is_explained(x, origin)) return;
    load_report(x, origin, &r);
    append_use(x, &r, o, use_text);
    for (; lanes; lanes &= lanes - 1) core_report(x, &r);
}

void undef_check_use(struct exec *x, const struct op *o, ref r, u32 bytes, u32 mask,
                     const char *use_text) {
    u8 origin = undef_operand_origin(x, r);
    u32 lanes = origin ? undef_operand_lanes(x, r, bytes) & mask : 0;
    if (!lanes) return;
    undef_report_use(x, origin, o, lanes, use_text);
    undef_set_operand(x, r, bytes, lanes, NULL, 0);
}

void undef_report_access(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
                         enum mem_space space) {
    struct sim_report r;
    describe(x, &r, o, lane, address, width, space);
    core_report(x, &r);
}

/* ---- memory that is read back ---- */

bool sim_check_undefined(struct sim *s, uint64_t address, uint64_t bytes, struct sim_report *out) {
    if (!s->memory.has_undef_marks || memory_find_range(&s->memory, address, bytes) < 0)
        return false;
    unsigned char *w = s->memory.init_shadow + (address - SIM_BASE);
    u64 n = 0, first = 0;
    for (u64 i = bytes; i-- > 0;)
        if (undef_is_mark(w[i]) && !(w[i] / 2 & UNDEF_PADDING) &&
            !s->undef_origins->origins[w[i] / 2].is_explained)
            n++, first = i;
    if (!n) return false;
    char location[256];
    *out = s->undef_origins->origins[w[first] / 2].report;
    memory_describe(&s->memory, address + first, 1, location, sizeof location);
    size_t length = strlen(out->text);
    snprintf(out->text + length, sizeof out->text - length,
             ", and %llu bytes computed from such reads are in memory that is read back, the first "
             "%s",
             (unsigned long long)n, location);
    out->count = 1;
    for (u64 i = 0; i < bytes; i++)
        if (undef_is_mark(w[i])) w[i] = 1; /* report it once */
    return true;
}

/* result_fill.c — copies what reports show of launch statistics into a result. Names come from the
 * submission and are cleaned. */
#include "grader/grade/grading_ctx.h"
#include "common/text.h"

#include <string.h>

static const char *copy_clean(struct arena *a, const char *s) {
    struct buf raw = {0}, b = {0};
    buf_puts(&raw, s);
    text_demangle(&raw);
    text_clean(&b, buf_str(&raw), raw.size, 200);
    const char *copy = arena_strndup(a, buf_str(&b), b.size);
    buf_free(&raw), buf_free(&b);
    return copy;
}

static struct access_result access_of(struct arena *a, const struct launch_stats_access *t) {
    struct access_result r = {.kernel = copy_clean(a, t->kernel)};
    r.access =
        (struct sim_access){.file = grade_clean_name(a, t->file), .line = t->line, .mask = t->mask};
    r.access.lane_bytes = (uint8_t)t->bytes, r.access.cost = (uint16_t)t->cost;
    r.access.kind = (uint8_t)t->kind, r.access.is_shared = t->shared != 0;
    memcpy(r.access.offset, t->offset, sizeof r.access.offset);
    return r;
}

void result_fill_lines(struct result *r, const struct launch_stats *t) {
    r->lines = arena_array(&r->arena, struct line_result, t->nlines);
    for (unsigned i = 0; i < t->nlines; i++) {
        const struct launch_stats_line *l = &t->lines[i];
        r->lines[r->nlines++] =
            (struct line_result){grade_clean_name(&r->arena, l->file), l->line, l->counters, {0}};
    }
    r->accesses = arena_array(&r->arena, struct access_result, t->naccesses);
    for (unsigned i = 0; i < t->naccesses; i++)
        r->accesses[r->naccesses++] = access_of(&r->arena, &t->accesses[i]);
}

static struct time_account_result account_of(const struct launch_stats_account *t) {
    struct time_account_result r = {.seconds = t->seconds};
    memcpy(r.components, t->components, sizeof r.components);
    memcpy(r.limits, t->limits, sizeof r.limits);
    return r;
}

static struct kernel_time kernel_of(struct arena *a, const struct launch_stats_kernel *t) {
    struct launch_stats_account account;
    launch_stats_kernel_account(t, &account);
    struct kernel_time k = {.name = copy_clean(a, t->name),
                            .occupancy_limiter = copy_clean(a, t->occupancy_limit),
                            .bound_by = copy_clean(a, account.text),
                            .account = account_of(&account),
                            .launches = t->launches,
                            .registers = t->registers,
                            .spill_bytes = t->spill_bytes,
                            .shared_bytes = t->shared_bytes,
                            .occupancy = t->occupancy,
                            .us = t->seconds * 1e6};
    memcpy(k.stall_seconds, t->stall_seconds, sizeof k.stall_seconds);
    memcpy(k.grid, t->grid, sizeof k.grid);
    memcpy(k.block, t->block, sizeof k.block);
    return k;
}

static void fill_stalls(struct result *r, const struct launch_stats *t) {
    for (unsigned i = 0; i < r->nlines; i++)
        memset(r->lines[i].stall_seconds, 0, sizeof r->lines[i].stall_seconds);
    for (unsigned k = 0; k < t->nlines; k++) {
        const char *file = grade_clean_name(&r->arena, t->lines[k].file);
        for (unsigned i = 0; i < r->nlines; i++)
            if (r->lines[i].line == t->lines[k].line && !strcmp(r->lines[i].file, file))
                memcpy(r->lines[i].stall_seconds, t->lines[k].stall_seconds,
                       sizeof r->lines[i].stall_seconds);
    }
}

/* Sets what limits the time: the longest kernel's limits over all its launches; if data cross the
 * bus, the engines'. */
static void fill_limits(struct result *r, const struct launch_stats *t) {
    const struct launch_stats_kernel *k = launch_stats_longest_kernel(t);
    struct launch_stats_account account;
    struct buf text = {0};
    if (!launch_stats_account(t, &account)) return;
    bool is_engine = account.limits[0].component <= TIME_COMPONENT_IDLE &&
                     account.limits[0].component != TIME_COMPONENT_LAUNCH;
    buf_puts(&text, account.text);
    if (!is_engine && t->nkernels > 1 && t->seconds > 0)
        buf_printf(&text, " in %s, which takes %.0f %% of the time", k->name,
                   100 * k->seconds / t->seconds);
    else if (!is_engine && k->launches > 1)
        buf_printf(&text, " in the %u launches together", k->launches);
    text_demangle(&text);
    r->speed.bound_by = arena_strndup(&r->arena, buf_str(&text), text.size);
    r->speed.account = account_of(&account);
    buf_free(&text);
}

static void fill_spans(struct result *r, const struct launch_stats *t) {
    r->spans = arena_array(&r->arena, struct timeline_span, t->nspans);
    for (r->nspans = 0; r->nspans < t->nspans; r->nspans++) {
        const struct server_span *s = &t->spans[r->nspans];
        r->spans[r->nspans] =
            (struct timeline_span){s->begin * 1e6, s->end * 1e6, s->engine, s->stream};
    }
}

void result_fill_times(struct result *r, const struct launch_stats *t) {
    r->kernel_times = arena_array(&r->arena, struct kernel_time, t->nkernels);
    r->nkernel_times = 0;
    for (unsigned i = 0; i < t->nkernels; i++)
        r->kernel_times[r->nkernel_times++] = kernel_of(&r->arena, &t->kernels[i]);
    fill_stalls(r, t);
    fill_limits(r, t);
    fill_spans(r, t);
}

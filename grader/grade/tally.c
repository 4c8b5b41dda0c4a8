/* tally.c — see tally.h. */
#include "grader/grade/tally.h"
#include "common/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launches have tens of lines; a linear search is cheap beside running one. */
static struct tally_line *find_line(struct tally *t, const char *file, uint32_t line) {
    static const char none[] = "";
    const char *base = path_base(file ? file : none);
    for (unsigned i = 0; i < t->nlines; i++)
        if (t->lines[i].line == line && !strcmp(t->lines[i].file, base)) return &t->lines[i];
    if (t->nlines == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 32;
        t->lines = xrealloc(t->lines, t->capacity * sizeof *t->lines);
    }
    t->lines[t->nlines] = (struct tally_line){.file = xstrdup(base), .line = line};
    return &t->lines[t->nlines++];
}

static void add_time(struct tally *t, const struct gpu_device *d, const struct server_launch *l) {
    struct sim_launch s = {.kernel = l->launch->kernel,
                           .dynamic_shared = l->launch->dynamic_shared,
                           .params = l->launch->params,
                           .param_bytes = l->launch->param_bytes,
                           .cooperative = l->launch->cooperative};
    memcpy(s.grid, l->launch->grid, sizeof s.grid);
    memcpy(s.block, l->launch->block, sizeof s.block);
    struct time_estimate e = {0};
    if (l->result->estimate.seconds > 0) e = l->result->estimate;
    else time_model(d, &s, &l->result->sim, &e);
    t->seconds += e.seconds, t->low += e.low, t->high += e.high;
    if (e.seconds <= t->longest) return;
    t->longest = e.seconds;
    time_bound_text(&e, t->bound_by, sizeof t->bound_by);
    snprintf(t->longest_kernel, sizeof t->longest_kernel, "%s", l->kernel ? l->kernel : "");
}

static void add_shape(struct tally *t, const struct server_launch *l) {
    struct sim_kernel_info info;
    sim_kernel_info(l->launch->kernel, &info);
    const uint32_t *g = l->launch->grid, *b = l->launch->block;
    double blocks = (double)g[0] * g[1] * g[2], shared = (double)info.static_shared + l->launch->dynamic_shared;
    t->blocks += blocks;
    t->threads += blocks * b[0] * b[1] * b[2];
    if (shared > t->shared_bytes) t->shared_bytes = shared;
    if (info.registers > t->registers) t->registers = info.registers;
    if (info.spill_bytes > t->spill_bytes) t->spill_bytes = info.spill_bytes;
}

void tally_copied(struct tally *t, const struct gpu_device *d, double bytes) {
    double seconds = 2 * bytes / d->dram_rate;
    t->copied_bytes = bytes;
    t->seconds += seconds, t->low += seconds, t->high += seconds;
}

void tally_add(struct tally *t, const struct gpu_device *d, const struct server_launch *l) {
    const struct sim_result *r = &l->result->sim;
    sim_counters_add(&t->counters, &r->counters);
    for (unsigned i = 0; i < r->nlines; i++)
        sim_counters_add(&find_line(t, r->lines[i].file, r->lines[i].line)->counters, &r->lines[i].counters);
    for (unsigned i = 0; i < r->nreports && t->nreports < TALLY_REPORTS; i++) t->reports[t->nreports++] = r->reports[i];
    if (t->fault == SIM_FAULT_NONE) t->fault = r->fault;
    if (!t->launches || r->theoretical_occupancy < t->occupancy) t->occupancy = r->theoretical_occupancy;
    add_time(t, d, l);
    add_shape(t, l);
    t->launches++;
}

static int by_place(const void *a, const void *b) {
    const struct tally_line *x = a, *y = b;
    int file = strcmp(x->file, y->file);
    return file ? file : (x->line > y->line) - (x->line < y->line);
}

void tally_sort(struct tally *t) {
    if (t->nlines) qsort(t->lines, t->nlines, sizeof *t->lines, by_place);
}

void tally_free(struct tally *t) {
    for (unsigned i = 0; i < t->nlines; i++) free(t->lines[i].file);
    free(t->lines);
    *t = (struct tally){0};
}

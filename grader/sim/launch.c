/* launch.c — sim_launch: runs a grid on the core, with the search for races beside it, and collects
 * what was found and counted. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/grid.h"
#include "grader/sim/count/count.h"
#include "grader/sim/race/race.h"

#include <string.h>

/* ---- what a kernel launched runs after it, and counts as a part of it ---- */

static void join_line(struct sim_result *to, const struct sim_line *from) {
    for (unsigned i = 0; i < to->nlines; i++)
        if (to->lines[i].line == from->line && strcmp(to->lines[i].file, from->file) == 0) {
            sim_counters_add(&to->lines[i].counters, &from->counters);
            return;
        }
    to->lines = xrealloc(to->lines, (to->nlines + 1) * sizeof *to->lines);
    to->lines[to->nlines++] = *from;
}

static void join_report(struct sim_result *to, const struct sim_report *from) {
    for (unsigned i = 0; i < to->nreports; i++)
        if (to->reports[i].fault == from->fault) {
            to->reports[i].count += from->count;
            return;
        }
    if (to->nreports < SIM_FAULT_KINDS) to->reports[to->nreports++] = *from;
}

static void join(struct sim_result *to, struct sim_result *from) {
    sim_counters_add(&to->counters, &from->counters);
    for (unsigned i = 0; i < from->nlines; i++) join_line(to, &from->lines[i]);
    for (unsigned i = 0; i < from->nreports; i++) join_report(to, &from->reports[i]);
    if (to->fault == SIM_FAULT_NONE) to->fault = from->fault;
    sim_result_free(from);
}

static void run_one(struct sim *s, const struct device_launch *p, struct sim_result *out) {
    struct sim_launch request = device_launch_request(p);
    struct sim_result r;
    if (p->kernel) return sim_launch(s, &request, &r), join(out, &r);
    enum sim_status moved =
        p->from ? sim_copy(s, p->to, p->from, p->length) : sim_fill(s, p->to, p->value, p->length);
    if (moved != SIM_OK)
        out->fault = SIM_FAULT_USE_AFTER_FREE; /* it was there when the kernel asked */
}

/* Each with what it launches in turn; nothing more once one has faulted. */
static void run_list(struct sim *s, struct device_launch *list, struct sim_result *out) {
    for (struct device_launch *p = list, *next; p; p = next) {
        next = p->next;
        if (out->fault == SIM_FAULT_NONE) run_one(s, p, out);
        device_launch_free(s, p);
    }
}

static void run_launched(struct sim *s, struct sim_result *out) {
    struct device_launch *pending = s->pending, *tail = s->tail;
    s->pending = s->tail = NULL;
    s->depth++;
    run_list(s, pending, out);
    run_list(s, tail, out);
    s->depth--;
    if (!s->depth) device_launch_drop(s);
}

/* What earlier launches left of a budget that is shared; a launch that finds nothing ends at its
 * first turn. */
static void take_budget(struct launch *l) {
    const struct sim *s = l->sim;
    if (!s->shares_budget || !l->budget) return;
    l->budget = s->spent < l->budget ? l->budget - s->spent : 1;
    atomic_store(&l->charged, s->charged);
}

static void execute(struct launch *l, struct sim_result *out) {
    l->check = sim_check_launch;
    take_budget(l);
    memory_set_host_hidden(&l->sim->memory, true);
    bool ok = launch_open(l) && race_open(l);
    if (ok) launch_run(l);
    else atomic_store(&l->over, SIM_FAULT_OUT_OF_HOST_MEMORY);
    count_collect(l, out);
    core_collect_reports(l, out);
    race_report(l, out);
    race_streams_launch(l, out);
    race_close(l);
    launch_close(l);
    memory_set_host_hidden(&l->sim->memory, false);
    if (l->sanitize) memory_update_initialized(&l->sim->memory);
    l->sim->spent += l->instructions, l->sim->charged = l->charged;
    if (l->sim->pending || l->sim->tail || l->sim->prepared) run_launched(l->sim, out);
}

void sim_launch(struct sim *s, const struct sim_launch *r, struct sim_result *out) {
    struct launch l;
    *out = (struct sim_result){0};
    launch_prepare(&l, s, r);
    execute(&l, out);
}

struct sim_trace *sim_launch_traced(struct sim *s, const struct sim_launch *r,
                                    const struct sim_sample *which, struct sim_result *out) {
    struct launch l;
    *out = (struct sim_result){0};
    launch_prepare(&l, s, r);
    l.trace = trace_open(which->blocks, which->nblocks, l.nwarps, which->words_per_block,
                         s->options.sample_key);
    if (which->only) l.chosen = which->blocks, l.nchosen = which->nblocks;
    if (which->only && l.nworkers > which->nblocks)
        l.nworkers = which->nblocks ? which->nblocks : 1;
    execute(&l, out);
    out->waits = l.waits, out->paced = l.paced;
    out->work = l.work, out->heaviest = l.heaviest;
    if (l.grid.phases) out->heaviest = grid_slowest(&l);
    return l.trace;
}

bool sim_kernel_communicates(const struct sim_kernel *k) {
    return k->module->funcs[k->func_index].interblock_dependent;
}
uint64_t sim_sample_warps(const struct sim *s) { return s->options.sample_warps; }

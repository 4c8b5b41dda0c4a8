/* launch.c — sim_launch: runs a grid on the core, with the search for races beside it, and collects what was found and
 * counted. */
#include "grader/sim/core/core.h"
#include "grader/sim/count/count.h"
#include "grader/sim/race/race.h"

static void execute(struct launch *l, struct sim_result *out) {
    bool ok = launch_open(l) && race_open(l);
    if (ok) launch_run(l);
    else atomic_store(&l->over, SIM_FAULT_OUT_OF_HOST_MEMORY);
    count_collect(l, out);
    core_collect_reports(l, out);
    race_report(l, out);
    race_close(l);
    launch_close(l);
}

void sim_launch(struct sim *s, const struct sim_launch *r, struct sim_result *out) {
    struct launch l;
    *out = (struct sim_result){0};
    launch_prepare(&l, s, r);
    execute(&l, out);
}

struct sim_trace *sim_launch_traced(struct sim *s, const struct sim_launch *r, const struct sim_sample *which,
                                    struct sim_result *out) {
    struct launch l;
    *out = (struct sim_result){0};
    launch_prepare(&l, s, r);
    l.trace = trace_open(which->blocks, which->nblocks, l.nwarps, which->words_per_block);
    if (which->only) l.chosen = which->blocks, l.nchosen = which->nblocks;
    if (which->only && l.nworkers > which->nblocks) l.nworkers = which->nblocks ? which->nblocks : 1;
    execute(&l, out);
    out->waits = l.waits;
    return l.trace;
}

bool sim_kernel_communicates(const struct sim_kernel *k) { return k->module->codes[k->code].communicates; }
uint64_t sim_sample_warps(const struct sim *s) { return s->options.sample_warps; }

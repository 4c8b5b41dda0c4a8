/* launch.c — sim_launch: runs a grid on the core with race detection, and collects its counters and
 * findings. Then it runs what the grid's kernels launched. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/device.h"
#include "grader/sim/core/grid_barrier.h"
#include "grader/sim/count/count.h"
#include "grader/sim/native/native.h"
#include "grader/sim/race/race.h"

#include <math.h>
#include <stdio.h>

#include <string.h>

/* ---- launches by kernels: they run after the kernel, and its result includes theirs ---- */

static void merge_line(struct sim_result *to, const struct sim_line *from) {
    for (unsigned i = 0; i < to->nlines; i++)
        if (to->lines[i].line == from->line && strcmp(to->lines[i].file, from->file) == 0) {
            sim_counters_add(&to->lines[i].counters, &from->counters);
            return;
        }
    to->lines = xrealloc(to->lines, (to->nlines + 1) * sizeof *to->lines);
    to->lines[to->nlines++] = *from;
}

static void merge_report(struct sim_result *to, const struct sim_report *from) {
    for (unsigned i = 0; i < to->nreports; i++)
        if (to->reports[i].fault == from->fault) {
            to->reports[i].count += from->count;
            return;
        }
    if (to->nreports < SIM_FAULT_COUNT) to->reports[to->nreports++] = *from;
}

static void merge_result(struct sim_result *to, struct sim_result *from) {
    sim_counters_add(&to->counters, &from->counters);
    for (unsigned i = 0; i < from->nlines; i++) merge_line(to, &from->lines[i]);
    for (unsigned i = 0; i < from->nreports; i++) merge_report(to, &from->reports[i]);
    if (to->fault == SIM_FAULT_NONE) to->fault = from->fault;
    to->is_sampled |= from->is_sampled, to->busy_seconds += from->busy_seconds;
    sim_result_free(from);
}

static enum sim_status run_device_copy(struct sim *s, const struct device_copy *c) {
    enum sim_status status = SIM_OK;
    for (u64 i = 0; i < c->rows && status == SIM_OK; i++) {
        u64 to = c->dst + i * c->dst_pitch;
        status = c->src ? sim_copy(s, to, c->src + i * c->src_pitch, c->width)
                        : sim_fill(s, to, c->fill_value, c->width);
    }
    return status;
}

static void run_device_launch(struct sim *s, const struct device_launch *p,
                              struct sim_result *out) {
    struct sim_launch request = device_launch_request(p);
    struct sim_result r;
    if (p->kernel) return sim_launch(s, &request, &r), merge_result(out, &r);
    if (run_device_copy(s, &p->copy) != SIM_OK)
        out->fault =
            SIM_FAULT_USE_AFTER_FREE; /* the kernel checked the range when it issued the copy */
}

/* Runs and frees the launches of a list, each with the launches of its own kernels. After a fault
 * it only frees. */
static void run_device_launches(struct sim *s, struct device_launch *list, struct sim_result *out) {
    for (struct device_launch *p = list, *next; p; p = next) {
        next = p->next;
        if (out->fault == SIM_FAULT_NONE) run_device_launch(s, p, out);
        device_launch_free(s, p);
    }
}

static void run_pending_launches(struct sim *s, struct sim_result *out) {
    struct device_launch *pending = s->pending_launches, *tail = s->tail_launches;
    s->pending_launches = s->tail_launches = NULL;
    s->launch_depth++;
    run_device_launches(s, pending, out);
    run_device_launches(s, tail, out);
    s->launch_depth--;
    if (!s->launch_depth) device_launch_drop(s);
}

/* Limits the launch to the rest of a shared budget. If nothing is left, the launch ends with its
 * first timeslice. */
static void apply_shared_budget(struct launch *l) {
    const struct sim *s = l->sim;
    if (!s->is_budget_shared || !l->insn_budget) return;
    l->insn_budget = s->spent_insns < l->insn_budget ? l->insn_budget - s->spent_insns : 1;
    atomic_store(&l->simulation_cost, s->simulation_cost);
}

static void add_busy_seconds(const struct launch *l, struct sim_result *out) {
    double longest = 0;
    for (u32 i = 0; i < l->nworkers; i++) longest = fmax(longest, l->workers[i].busy_seconds);
    out->busy_seconds += longest;
}

/* `warp_insns`: of the whole launch. Earlier launches have been added to the kernel's. */
static void consider_native(const struct launch *l, u64 warp_insns) {
    u64 here = l->finished_warp_insns, done = l->code->warp_insns + here,
        left = warp_insns > here ? warp_insns - here : 0;
    if (l->sim->options.compiles_at_once) done = UINT64_MAX / 2;
    native_consider(l->request->kernel->module, l->code, done, left);
}

/* Advances %clock64 by an estimate of the launch's cycles: its overhead, and its instructions
 * spread over all schedulers. The next launch reads higher values than this one. */
static void advance_clock(const struct launch *l) {
    enum { SCHEDULERS_PER_SM = 4 };
    struct sim *s = l->sim;
    const struct gpu_device *d = s->options.device;
    u64 cycles = (u64)(d->launch_seconds * d->clock_hz) +
                 l->finished_warp_insns / (SCHEDULERS_PER_SM * d->sms);
    s->clock_cycles += cycles;
    for (u32 i = 0; i < l->nworkers; i++)
        if (l->workers[i].last_clock >= s->clock_cycles)
            s->clock_cycles = l->workers[i].last_clock + 1;
}

static void execute_launch(struct launch *l, struct sim_result *out) {
    l->check_config = sim_check_launch;
    apply_shared_budget(l);
    memory_hide_from_kernel(&l->sim->memory, l->sim->accessible_devices);
    if (!l->sim->options.sanitize && l->sanitize) memory_set_all_initialized(&l->sim->memory);
    if (l->sim->options.native == SIM_NATIVE_IN_BACKGROUND)
        l->on_work = consider_native, consider_native(l, 0);
    bool ok = launch_open(l) && race_open(l);
    if (ok) launch_run(l);
    else atomic_store(&l->abort_fault, SIM_FAULT_OUT_OF_HOST_MEMORY);
    count_collect(l, out);
    core_collect_reports(l, out);
    race_report(l, out);
    race_streams_check_launch(l, out);
    out->is_idempotent = ok && race_is_idempotent(l);
    race_keep_unproven_stores(l);
    race_close(l);
    add_busy_seconds(l, out);
    advance_clock(l);
    launch_close(l);
    l->request->kernel->module->funcs[l->request->kernel->func_index].warp_insns +=
        l->finished_warp_insns;
    memory_show_all(&l->sim->memory);
    if (l->sim->options.sanitize) memory_update_initialized(&l->sim->memory);
    l->sim->spent_insns += l->finished_warp_insns, l->sim->simulation_cost = l->simulation_cost;
    if (l->sim->pending_launches || l->sim->tail_launches || l->sim->prepared_launches)
        run_pending_launches(l->sim, out);
}

/* Native code is optional: where it can't be made, the interpreter runs the kernel. */
static void compile_kernel(const struct sim *s, const struct sim_launch *r) {
    struct sim_module *m = r->kernel->module;
    struct sim_func *f = &m->funcs[r->kernel->func_index];
    struct err e = {0};
    if (s->options.native != SIM_NATIVE_BEFORE_LAUNCH || f->is_native) return;
    f->is_native = true;
    if (!native_compile(m, f, &e)) fprintf(stderr, "simgpu: no native code: %s\n", e.text);
}

void sim_launch(struct sim *s, const struct sim_launch *r, struct sim_result *out) {
    struct launch l;
    *out = (struct sim_result){0};
    atomic_store(&s->blocks_total, 0);
    compile_kernel(s, r);
    launch_prepare(&l, s, r);
    execute_launch(&l, out);
}

struct sim_trace *sim_launch_traced(struct sim *s, const struct sim_launch *r,
                                    const struct sim_sample *sample, struct sim_result *out) {
    struct launch l;
    *out = (struct sim_result){0};
    compile_kernel(s, r); /* for the blocks that are not traced */
    launch_prepare(&l, s, r);
    l.trace = trace_open(sample->blocks, sample->nblocks, l.nwarps, sample->words_per_block,
                         s->options.sample_key);
    if (sample->sampled_only)
        l.selected_blocks = sample->blocks, l.nselected_blocks = sample->nblocks;
    if (sample->sampled_only && l.nworkers > sample->nblocks)
        l.nworkers = sample->nblocks ? sample->nblocks : 1;
    execute_launch(&l, out);
    out->blocks_depend = l.blocks_depend, out->clock_ordered = l.clock_ordered;
    out->total_work = l.total_work, out->max_block_work = l.max_block_work;
    if (l.grid_barrier.generation) out->max_block_work = grid_barrier_max_work(&l);
    return l.trace;
}

bool sim_kernel_has_interblock_deps(const struct sim_kernel *k) {
    return k->module->funcs[k->func_index].interblock_dependent;
}
struct sim_progress sim_get_progress(const struct sim *s) {
    return (struct sim_progress){atomic_load(&s->blocks_done), atomic_load(&s->blocks_total)};
}
uint64_t sim_get_sample_warps(const struct sim *s) { return s->options.sample_warps; }

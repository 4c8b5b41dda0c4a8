/* estimate.c — models the time of a launch: samples blocks, traces them, replays them on one SM,
 * and computes the estimate and its interval.
 *
 * The sample is drawn by the key of sim_set_sample, because code that could predict the sampled
 * blocks could make only these fast. It has blocks spread over the grid, and a base block near the
 * middle with its neighbours along each axis, which show traffic.c what blocks share. Its size is
 * three waves of one SM's resident blocks, as far as the budget of warp instructions allows. */
#include "grader/sim/timing/internal.h"
#include "common/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SAMPLE_BLOCKS = 24, MAX_SAMPLE_BLOCKS = 256 };
static const u64 default_budget = 4000000, trace_words_per_block = 6u << 20;
/* The interval reaches from seconds / f to seconds × f, f at least this: docs/time-model.md has the
 * errors that it covers. */
static const double base_error_factor = 1.35;

/* ---- the sample ---- */

struct sample_plan {
    struct grid_geometry geometry;
    u64 sample_key;       /* selects the blocks */
    u64 base_block;       /* the block whose neighbours are traced too */
    u32 resident_per_sm;  /* blocks on an SM at one time */
    u32 max_blocks_on_sm; /* blocks that the fullest SM runs in all */
    u32 usable_sms;       /* SMs that can hold blocks: fewer with clusters */
    u32 threads, shared_bytes, registers;
    bool registers_estimated;
    u64 sampled[MAX_SAMPLE_BLOCKS + 8];
    u32 nsampled;
    bool adds_last; /* the grid's last block is sampled for what it does behind the others */
};

/* Returns the middle of an axis of the grid; with a key, a random coordinate in its middle half,
 * since blocks at the border are not typical. */
static u64 middle_coordinate(const struct sim_launch *l, u32 axis, u64 key) {
    u64 n = l->grid[axis], half = n / 2;
    return key && half ? n / 4 + (launch_hash(axis, ~key) >> 32) % half : half;
}

static u32 max_u32(u32 a, u32 b) { return a > b ? a : b; }

static u32 blocks_per_cluster(const struct sim_launch *l, const struct sim_func *c) {
    const unsigned *required_cluster = c->func->reqnctapercluster;
    u32 n = 1;
    for (u32 i = 0; i < 3; i++)
        n *= l->cluster_dims[0] ? max_u32(l->cluster_dims[i], 1) : max_u32(required_cluster[i], 1);
    return n;
}

/* Returns the SMs that clusters of this size can use. A cluster lies in one GPC, whose number of
 * SMs its size may not divide. With blocks that take a whole SM, an H100 of 132 SMs holds 66
 * clusters of 2, 30 of 4, 15 of 8, 7 of 16 (cudaOccupancyMaxActiveClusters,
 * docs/results/h100/clusters.tsv). */
static u32 usable_sms(const struct gpu_device *d, u32 cluster) {
    return cluster <= 2 ? d->sms : cluster <= 8 ? d->sms * 10 / 11 : d->sms * 28 / 33;
}

static void make_plan(struct sample_plan *p, const struct sim *s, const struct sim_launch *l) {
    const struct sim_func *c = &l->kernel->module->funcs[l->kernel->func_index];
    const struct gpu_device *d = s->options.device;
    *p = (struct sample_plan){.threads = l->block[0] * l->block[1] * l->block[2],
                              .sample_key = s->options.sample_key};
    memcpy(p->geometry.grid, l->grid, sizeof p->geometry.grid);
    p->geometry.nblocks = (u64)l->grid[0] * l->grid[1] * l->grid[2];
    p->shared_bytes = shared_bytes_of(c, l->dynamic_shared);
    p->registers_estimated = !l->kernel->registers;
    p->registers = kernel_registers(l->kernel);
    u32 fits = device_blocks_per_sm(d, p->threads, p->registers, p->shared_bytes, NULL);
    p->usable_sms = max_u32(1, usable_sms(d, blocks_per_cluster(l, c)));
    p->max_blocks_on_sm = (u32)((p->geometry.nblocks + p->usable_sms - 1) / p->usable_sms);
    p->resident_per_sm = fits < 1 ? 1 : fits < p->max_blocks_on_sm ? fits : p->max_blocks_on_sm;
    u64 device = (u64)p->resident_per_sm * p->usable_sms;
    p->geometry.resident_blocks =
        (u32)(device < p->geometry.nblocks ? device : p->geometry.nblocks);
    u64 row = l->grid[0], plane = row * l->grid[1];
    p->base_block = middle_coordinate(l, 2, p->sample_key) * plane +
                    middle_coordinate(l, 1, p->sample_key) * row +
                    middle_coordinate(l, 0, p->sample_key);
    if (l->grid[0] > 1 && p->base_block % row == row - 1) p->base_block--;
}

static int by_number(const void *a, const void *b) {
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return x < y ? -1 : x > y;
}

/* Selects `n` blocks spread over the grid, and the base block with its neighbours; with `last`, the
 * last one too, which finishes a launch in which the last block to count does more. */
static void select_blocks(struct sample_plan *p, u32 n, bool last) {
    u64 total = p->geometry.nblocks,
        stride[3] = {1, p->geometry.grid[0], (u64)p->geometry.grid[0] * p->geometry.grid[1]};
    u32 k = 0;
    for (u32 i = 0; i < n; i++) p->sampled[k++] = launch_sample_block(i, n, total, p->sample_key);
    p->sampled[k++] = p->base_block;
    for (u32 axis = 0; axis < 3; axis++)
        if (p->geometry.grid[axis] > 1 && p->base_block + stride[axis] < total)
            p->sampled[k++] = p->base_block + stride[axis];
    qsort(p->sampled, k, sizeof *p->sampled, by_number);
    p->nsampled = 0;
    for (u32 i = 0; i < k; i++)
        if (!i || p->sampled[i] != p->sampled[i - 1]) p->sampled[p->nsampled++] = p->sampled[i];
    p->adds_last = last && p->sampled[p->nsampled - 1] != total - 1;
    if (p->adds_last) p->sampled[p->nsampled++] = total - 1;
}

static u32 sample_size(const struct sample_plan *p, u64 instructions_of_block, u64 budget) {
    u64 n = p->resident_per_sm < MIN_SAMPLE_BLOCKS / 3 ? MIN_SAMPLE_BLOCKS
                                                       : 3ull * p->resident_per_sm,
        max_blocks = instructions_of_block ? budget / instructions_of_block : MAX_SAMPLE_BLOCKS;
    if (n > max_blocks) n = max_blocks;
    if (n > p->geometry.nblocks) n = p->geometry.nblocks;
    if (n > MAX_SAMPLE_BLOCKS) n = MAX_SAMPLE_BLOCKS;
    return n ? (u32)n : 1;
}

/* Runs the base block alone; returns its number of warp instructions. */
static u64 count_block_instructions(struct sim *s, const struct sim_launch *l,
                                    const struct sample_plan *p) {
    struct sim_result r;
    struct sim_sample base_sample = {
        .blocks = &p->base_block, .nblocks = 1, .words_per_block = 1, .sampled_only = true};
    struct sim_trace *t = sim_launch_traced(s, l, &base_sample, &r);
    u64 n = t->blocks[0].warp_insns;
    sim_trace_free(t);
    sim_result_free(&r);
    return n;
}

static struct sim_trace *trace_launch(struct sim *s, const struct sim_launch *l,
                                      const struct time_options *o, struct sample_plan *p,
                                      struct sim_result *out) {
    u64 budget = o->max_warp_instructions ? o->max_warp_instructions : default_budget;
    bool full_grid = o->full_grid || sim_kernel_has_interblock_deps(l->kernel);
    u64 nwarps = (p->threads + 31) / 32, total_warps = p->geometry.nblocks * nwarps;
    select_blocks(p,
                  sample_size(p,
                              full_grid || total_warps < 64 ? 0 : count_block_instructions(s, l, p),
                              budget),
                  full_grid);
    struct sim_sample sample = {.blocks = p->sampled,
                                .nblocks = p->nsampled,
                                .words_per_block = trace_words_per_block,
                                .sampled_only = !full_grid};
    if (full_grid) sample.words_per_block = 4 * budget / (p->nsampled - p->adds_last) + 1024;
    return sim_launch_traced(s, l, &sample, out);
}

/* ---- from the replay to seconds ---- */

static double relative_variance(const struct sim_trace *t) {
    double sum = 0, squares = 0, n = 0;
    for (u32 i = 0; i < t->nblocks; i++) {
        if (!t->blocks[i].has_run) continue;
        double x = (double)t->blocks[i].warp_insns;
        sum += x, squares += x * x, n++;
    }
    if (n < 2 || sum <= 0) return 0;
    double mean = sum / n, variance = squares / n - mean * mean;
    return variance > 0 ? variance / (mean * mean) : 0;
}

static void set_interval(const struct sample_plan *p, const struct sim_trace *trace,
                         const struct replay_result *r, const struct gpu_device *d, double spills,
                         struct time_estimate *t) {
    double f = base_error_factor;
    t->uncertainty_note = "";
    if (!device_is_measured(d)) f *= 1.1, t->uncertainty_note = "not measured on such a device";
    if (device_has_estimates(d))
        f *= 1.1, t->uncertainty_note =
                      "not measured on such a device; some of its figures are estimates";
    if (p->registers_estimated)
        f *= 1.15, t->uncertainty_note = "register count unknown: occupancy is an estimate";
    if (r->utilization[RESOURCE_ATOMIC_ADDRESS] > 0.3 ||
        r->utilization[RESOURCE_ATOMIC_L2_SLICE] > 0.3) {
        bool assumed = device_spec_is_assumed(d, "atomics on one word");
        f *= assumed ? 1.5 : 1.15;
        t->uncertainty_note = assumed
                                  ? "the rate of atomics on one address is an assumption"
                                  : "the rate of atomics on one address comes from one measurement";
    }
    if (relative_variance(trace) > 0.05)
        f *= 1.2, t->uncertainty_note = "blocks execute very different numbers of instructions";
    if (spills > 0.05) f *= 1.3, t->uncertainty_note = "the cost of register spills is an estimate";
    if (r->truncated) f *= 1.3, t->uncertainty_note = "traces of the sample are truncated";
    t->low = t->seconds / f, t->high = t->seconds * f;
}

/* ---- truncated traces ---- */

static const double outlier_ratio = 1.25; /* relative to the sample */

/* Returns the factor from the traced part of truncated blocks to all of them: by warp instructions,
 * or by words of the trace if the parts that are missing have clearly more accesses. */
static double truncation_factor(const struct sim_trace *t, const struct region_table *r) {
    double executed = 0, traced = 0, total_words = 0, retained_words = 0;
    for (u32 i = 0; i < t->nblocks; i++) {
        if (!t->blocks[i].truncated) continue;
        executed += (double)t->blocks[i].warp_insns;
        for (u32 w = 0; w < t->blocks[i].nwarps; w++) {
            const struct trace_warp *s = &t->blocks[i].warps[w];
            total_words += (double)s->produced_words, retained_words += s->nwords;
            for (u32 k = 0; k < s->nwords; k++) {
                u64 h = s->words[k];
                if (trace_is_access(h)) k += trace_entries(h);
                else traced += r->module->segments[trace_op_or_segment(h)].insn_count;
            }
        }
    }
    double instructions = traced > 0 && executed > traced ? executed / traced : 1,
           words = retained_words > 0 ? total_words / retained_words : 1;
    return words > outlier_ratio * instructions ? words : instructions;
}

/* ptxas reports the bytes that spill instructions in the code store and load, not the bytes of
 * local memory: each byte is stored and loaded about four times in the code (stack frames compared
 * with spills of ten kernels, ptxas 13.0, sm_90). */
enum { spill_code_per_byte = 4 };

/* Returns the number of ops of a function and of all that it may call, each counted once;
 * `visited` has a byte for each function. */
static double count_reachable_ops(const struct sim_module *m, u32 i, unsigned char *visited) {
    const struct sim_func *c = &m->funcs[i];
    double ops = c->end_op - c->first_op;
    visited[i] = 1;
    for (u32 k = 0; k < c->ncallees + (c->has_indirect_calls ? m->nfuncs : 0); k++) {
        u32 j = k < c->ncallees ? c->callees[k] : k - c->ncallees;
        if (!visited[j] && !m->funcs[j].func->is_entry) ops += count_reachable_ops(m, j, visited);
    }
    return ops;
}

/* Returns spilled words per op. Both are static counts of the code. */
static double spills_per_op(const struct sim_kernel *k) {
    if (!k->spill_bytes) return 0;
    unsigned char *visited = xcalloc(k->module->nfuncs, 1);
    double ops = count_reachable_ops(k->module, k->func_index, visited);
    free(visited);
    return k->spill_bytes / 4.0 / ops;
}

/* ---- blocks that do more than the sampled ones ---- */

/* Returns the least cycles that an SM needs for the work of all blocks, or of one block, at
 * `cycles` a unit of work; 0 if the sample is representative. At best L1 serves four sectors a
 * cycle, and shared memory one wavefront. */
static double lower_bound_cycles(const struct replay_input *in, double traced, double max_traced,
                                 u64 work, u64 max_block_work, double cycles) {
    double all = (double)in->blocks_on_sm * in->active_sms, bound = 0;
    if ((double)work > outlier_ratio * traced / in->nblock_order * all)
        bound = (double)work / in->active_sms * cycles;
    double block_bound = (double)max_block_work * cycles;
    return (double)max_block_work > outlier_ratio * max_traced && block_bound > bound ? block_bound
                                                                                      : bound;
}

static double max_double(double a, double b) { return a > b ? a : b; }

/* Returns the cycles of one block on an idle device. */
static struct replay_result replay_alone(const struct replay_input *in, struct sim_trace *trace,
                                         u32 block) {
    struct replay_input single_block = *in;
    struct replay_result r;
    single_block.trace = trace, single_block.block_order = &block, single_block.nblock_order = 1,
    single_block.blocks_on_sm = single_block.resident_blocks = 1, single_block.active_sms = 1;
    time_replay(&single_block, &r);
    free(r.op_stalls);
    return r;
}

/* Returns the index of the block whose longest warp executes most. */
static u32 find_straggler(const struct sim_trace *t) {
    u32 k = 0;
    for (u32 i = 0; i < t->nblocks; i++)
        if (t->blocks[i].work.longest_warp_insns > t->blocks[k].work.longest_warp_insns) k = i;
    return k;
}

/* Returns the cycles for which the launch's longest warp runs on behind the others, if all blocks
 * are resident at once and its block is traced: the last one, which counts that all others have
 * finished and does the rest. Where blocks fetch their work, the longest of all may be so only in
 * the simulator's order. `all`: the trace with the grid's last block. */
static double straggler_cycles(const struct replay_input *in, struct sim_trace *all,
                               const struct sim_result *out) {
    u32 straggler = find_straggler(all), typical = find_straggler(in->trace);
    u64 longest = all->blocks[straggler].work.longest_warp_insns,
        expected = in->trace->blocks[typical].work.longest_warp_insns;
    if (in->blocks_on_sm > in->resident_blocks ||
        longest < out->max_block_work.longest_warp_insns ||
        (double)longest <= outlier_ratio * (double)expected)
        return 0;
    return max_double(0, replay_alone(in, all, straggler).cycles -
                             replay_alone(in, in->trace, typical).cycles);
}

/* Returns the index of the block that executes most. */
static u32 find_heaviest(const struct sim_trace *t) {
    u32 k = 0;
    for (u32 i = 0; i < t->nblocks; i++)
        if (t->blocks[i].work.warp_insns > t->blocks[k].work.warp_insns) k = i;
    return k;
}

/* Returns the cycles of the block that executes most of all, alone on the device: those of the
 * heaviest traced one, in proportion. */
static double heaviest_block_cycles(const struct replay_input *in, struct sim_trace *all,
                                    const struct sim_result *out) {
    u32 k = find_heaviest(all);
    struct replay_result r = replay_alone(in, all, k);
    double ratio = (double)out->max_block_work.warp_insns / (double)all->blocks[k].work.warp_insns;
    return (r.cycles - r.grid_barrier_cycles) * max_double(ratio, 1) + r.grid_barrier_cycles;
}

/* Returns the launch's cycles; if all blocks have run and did more work than the sample, corrected
 * for that: for the total, for a warp that runs on behind the others, and for one long block that
 * runs alone on an idle device. */
static double extrapolate_to_grid(const struct replay_input *in, struct sim_trace *all,
                                  const struct sim_result *out, double cycles,
                                  bool *exceeds_sample) {
    struct sim_block_work sum = {0}, max_work = {0};
    for (u32 i = 0; i < in->nblock_order; i++) {
        const struct sim_block_work *w = &in->trace->blocks[in->block_order[i]].work;
        max_work.warp_insns =
            w->warp_insns > max_work.warp_insns ? w->warp_insns : max_work.warp_insns;
        sum.warp_insns += w->warp_insns, sum.sectors += w->sectors, sum.wavefronts += w->wavefronts;
        max_work.sectors = w->sectors > max_work.sectors ? w->sectors : max_work.sectors;
        max_work.wavefronts =
            w->wavefronts > max_work.wavefronts ? w->wavefronts : max_work.wavefronts;
    }
    double expected = (double)sum.warp_insns / in->nblock_order * in->blocks_on_sm * in->active_sms;
    double work_ratio = (double)out->total_work.warp_insns / expected, sampled = cycles;
    double block_work_ratio = (double)out->max_block_work.warp_insns / (double)max_work.warp_insns;
    if (work_ratio > outlier_ratio) cycles *= work_ratio;
    cycles += straggler_cycles(in, all, out);
    if (block_work_ratio > outlier_ratio)
        cycles = max_double(cycles, heaviest_block_cycles(in, all, out));
    cycles = max_double(
        cycles, lower_bound_cycles(in, (double)sum.sectors, (double)max_work.sectors,
                                   out->total_work.sectors, out->max_block_work.sectors, 0.25));
    cycles = max_double(
        cycles, lower_bound_cycles(in, (double)sum.wavefronts, (double)max_work.wavefronts,
                                   out->total_work.wavefronts, out->max_block_work.wavefronts, 1));
    *exceeds_sample = cycles > outlier_ratio * sampled;
    return cycles;
}

static void model_time(struct sim *s, const struct sim_launch *l, const struct time_options *o,
                       const struct sample_plan *p, struct sim_trace *all, struct sim_result *out,
                       struct time_estimate *t) {
    const struct gpu_device *d = s->options.device;
    struct region_table regions;
    struct traffic traffic;
    struct replay_result r;
    struct sim_trace typical = {all->blocks, all->nblocks - p->adds_last}, *trace = &typical;
    time_regions_open(&regions, l->kernel->module, d, o->disabled_terms, all);
    time_traffic_open(&traffic, s, trace, p->base_block, &p->geometry, d, o, l->kernel->module);
    struct schedule *schedule =
        o->disabled_terms & (TERM_BIT(SCHEDULING) | TERM_BIT(LOWERING) | TERM_BIT(MERGING))
            ? NULL
            : time_schedule_open(&regions, all);
    u32 order[MAX_SAMPLE_BLOCKS + 8], n = 0;
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].has_run) order[n++] = i;
    double per_sm = (double)p->geometry.nblocks / p->usable_sms,
           tail = p->max_blocks_on_sm / (per_sm > 1 ? per_sm : 1);
    struct replay_input in = {.device = d,
                              .sim = s,
                              .regions = &regions,
                              .schedule = schedule,
                              .traffic = &traffic,
                              .trace = trace,
                              .geometry = &p->geometry,
                              .base_block = p->base_block,
                              .block_order = order,
                              .nblock_order = n,
                              .last_block_critical = out->clock_ordered,
                              .blocks_on_sm = p->max_blocks_on_sm,
                              .resident_blocks = p->resident_per_sm,
                              .active_sms = (double)p->geometry.nblocks / p->max_blocks_on_sm,
                              .shared_bytes = p->shared_bytes,
                              .threads_per_block = p->threads,
                              .local_bytes =
                                  l->kernel->module->funcs[l->kernel->func_index].max_local +
                                  l->kernel->spill_bytes / spill_code_per_byte,
                              .spills_per_op = schedule ? 0 : spills_per_op(l->kernel),
                              .disabled_terms = o->disabled_terms,
                              .max_insns = 3 * default_budget};
    u32 frame = schedule ? time_schedule_frame_bytes(schedule) : 0;
    if (schedule)
        in.local_bytes = max_u32(l->kernel->module->funcs[l->kernel->func_index].max_local, frame);
    if (o->disabled_terms & TERM_BIT(TAIL)) in.active_sms *= tail;
    time_replay(&in, &r);
    bool exceeds_sample = false;
    double cycles = extrapolate_to_grid(
        &in, all, out, r.cycles * truncation_factor(trace, &regions), &exceeds_sample);
    if (o->disabled_terms & TERM_BIT(TAIL)) cycles /= tail;
    double launch = o->disabled_terms & TERM_BIT(LAUNCH) ? 0 : d->launch_seconds,
           device = cycles / d->clock_hz;
    t->seconds = launch + device;
    t->dram_bytes = traffic.dram_bytes, t->l1_hit_rate = r.l1_hit_rate,
    t->l2_hit_rate = r.l2_hit_rate;
    t->shared_seconds = r.shared_utilization * device;
    time_breakdown(&r, device, launch, t->components);
    time_rank_limits(t->components, t->seconds, t->limits);
    time_sum_stalls(l->kernel->module, r.op_stalls, device, t);
    time_attribute_stalls(l->kernel->module, r.op_stalls, device, out);
    free(r.op_stalls);
    set_interval(p, trace, &r, d, in.spills_per_op, t);
    t->from_sass = schedule;
    time_schedule_close(schedule);
    if (exceeds_sample)
        t->low /= 2, t->high *= 2,
            t->uncertainty_note = "some blocks do far more work than the sampled ones";
    time_traffic_close(&traffic);
    time_regions_close(&regions);
}

/* ---- the entry point, and its own cost ---- */

static _Atomic u64 total_launches, total_nanoseconds, trace_nanoseconds;

struct time_cost time_get_cost(void) {
    return (struct time_cost){.launches = (unsigned)total_launches,
                              .seconds = 1e-9 * (double)total_nanoseconds,
                              .trace_seconds = 1e-9 * (double)trace_nanoseconds};
}

bool time_launch(struct sim *s, const struct sim_launch *l, const struct time_options *o,
                 struct sim_result *out, struct time_estimate *t) {
    struct sample_plan *p = xcalloc(1, sizeof *p);
    u64 start = clock_nanoseconds();
    *t = (struct time_estimate){.uncertainty_note = ""};
    make_plan(p, s, l);
    struct sim_trace *trace = trace_launch(s, l, o, p, out);
    u64 traced = clock_nanoseconds();
    u32 ran = 0;
    for (u32 i = 0; i < trace->nblocks; i++) ran += trace->blocks[i].has_run;
    bool ok = ran && out->fault == SIM_FAULT_NONE;
    if (ok) model_time(s, l, o, p, trace, out, t);
    if (ok) time_collect_accesses(l->kernel->module, trace, out);
    if (ok && out->blocks_depend)
        t->blocks_depend = true,
        t->uncertainty_note = "blocks wait for each other, which is not modelled";
    sim_trace_free(trace);
    free(p);
    total_launches++;
    total_nanoseconds += clock_nanoseconds() - start;
    trace_nanoseconds += traced - start;
    return ok;
}

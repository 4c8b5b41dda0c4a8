/* estimate.c — the time of a launch: a sample of its blocks, their traces, a replay of one SM, an
 * interval.
 *
 * The sample follows from the key of sim_set_sample alone: blocks spread over the grid, and beside
 * one in the middle its neighbours along each axis, from which traffic.c learns what blocks share.
 * Code that knew the blocks could have them work well and no others. How many: what the SM's blocks
 * need for three rounds of resident blocks, as far as the budget of warp instructions goes. */
#include "grader/sim/timing/internal.h"
#include "common/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_SAMPLE = 24, MOST_SAMPLE = 256 };
static const u64 default_budget = 4000000, words_of_block = 6u << 20;
/* Half the width of the interval, as a factor: docs/time-model.md has the errors that it covers. */
static const double base_error = 1.35;

/* ---- which blocks ---- */

struct plan {
    struct placement place;
    u64 key;      /* which blocks follows from it */
    u64 base;     /* the block whose neighbours are traced too */
    u32 resident; /* on one SM */
    u32 blocks;   /* that the fullest SM runs */
    u32 sms;      /* that can hold blocks */
    u32 threads, shared, registers;
    bool guessed; /* registers */
    u64 chosen[MOST_SAMPLE + 8];
    u32 nchosen;
};

/* Along an axis of the grid; with a key, somewhere in its middle half, since blocks at the border
 * are not like others. */
static u64 middle(const struct sim_launch *l, u32 axis, u64 key) {
    u64 n = l->grid[axis], half = n / 2;
    return key && half ? n / 4 + (launch_hash(axis, ~key) >> 32) % half : half;
}

static u32 max32(u32 a, u32 b) { return a > b ? a : b; }

static u32 cluster_blocks(const struct sim_launch *l, const struct sim_func *c) {
    const unsigned *own = c->func->reqnctapercluster;
    u32 n = 1;
    for (u32 i = 0; i < 3; i++)
        n *= l->cluster_dims[0] ? max32(l->cluster_dims[i], 1) : max32(own[i], 1);
    return n;
}

/* A cluster lies in one GPC, and GPCs have numbers of SMs that its size does not divide. An H100 of
 * 132 SMs, of each of which a block takes all: 66 clusters of 2 fit, 30 of 4, 15 of 8, 7 of 16
 * (cudaOccupancyMaxActiveClusters, docs/results/h100/clusters.tsv). */
static u32 sms_for(const struct gpu_device *d, u32 cluster) {
    return cluster <= 2 ? d->sms : cluster <= 8 ? d->sms * 10 / 11 : d->sms * 28 / 33;
}

static void make_plan(struct plan *p, const struct sim *s, const struct sim_launch *l) {
    const struct sim_func *c = &l->kernel->module->funcs[l->kernel->func_index];
    const struct gpu_device *d = s->options.device;
    *p = (struct plan){.threads = l->block[0] * l->block[1] * l->block[2],
                       .key = s->options.sample_key};
    memcpy(p->place.grid, l->grid, sizeof p->place.grid);
    p->place.nblocks = (u64)l->grid[0] * l->grid[1] * l->grid[2];
    p->shared = shared_bytes_of(c, l->dynamic_shared);
    p->guessed = !l->kernel->registers;
    p->registers = kernel_registers(l->kernel);
    u32 fits = device_blocks_per_sm(d, p->threads, p->registers, p->shared, NULL);
    p->sms = max32(1, sms_for(d, cluster_blocks(l, c)));
    p->blocks = (u32)((p->place.nblocks + p->sms - 1) / p->sms);
    p->resident = fits < 1 ? 1 : fits < p->blocks ? fits : p->blocks;
    u64 device = (u64)p->resident * p->sms;
    p->place.resident = (u32)(device < p->place.nblocks ? device : p->place.nblocks);
    u64 row = l->grid[0], plane = row * l->grid[1];
    p->base = middle(l, 2, p->key) * plane + middle(l, 1, p->key) * row + middle(l, 0, p->key);
    if (l->grid[0] > 1 && p->base % row == row - 1) p->base--;
}

static int by_number(const void *a, const void *b) {
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return x < y ? -1 : x > y;
}

/* A sample of `n` blocks, then the base block and its neighbours. */
static void choose(struct plan *p, u32 n) {
    u64 total = p->place.nblocks,
        step[3] = {1, p->place.grid[0], (u64)p->place.grid[0] * p->place.grid[1]};
    u32 k = 0;
    for (u32 i = 0; i < n; i++) p->chosen[k++] = launch_sample_block(i, n, total, p->key);
    p->chosen[k++] = p->base;
    for (u32 axis = 0; axis < 3; axis++)
        if (p->place.grid[axis] > 1 && p->base + step[axis] < total)
            p->chosen[k++] = p->base + step[axis];
    qsort(p->chosen, k, sizeof *p->chosen, by_number);
    p->nchosen = 0;
    for (u32 i = 0; i < k; i++)
        if (!i || p->chosen[i] != p->chosen[i - 1]) p->chosen[p->nchosen++] = p->chosen[i];
}

static u32 wanted(const struct plan *p, u64 instructions_of_block, u64 budget) {
    u64 n = p->resident < FEWEST_SAMPLE / 3 ? FEWEST_SAMPLE : 3ull * p->resident,
        most = instructions_of_block ? budget / instructions_of_block : MOST_SAMPLE;
    if (n > most) n = most;
    if (n > p->place.nblocks) n = p->place.nblocks;
    if (n > MOST_SAMPLE) n = MOST_SAMPLE;
    return n ? (u32)n : 1;
}

/* What one block executes: the base block, run alone. */
static u64 probe(struct sim *s, const struct sim_launch *l, const struct plan *p) {
    struct sim_result r;
    struct sim_sample one = {
        .blocks = &p->base, .nblocks = 1, .words_per_block = 1, .sampled_only = true};
    struct sim_trace *t = sim_launch_traced(s, l, &one, &r);
    u64 n = t->blocks[0].warp_insns;
    sim_trace_free(t);
    sim_result_free(&r);
    return n;
}

static struct sim_trace *trace_launch(struct sim *s, const struct sim_launch *l,
                                      const struct time_options *o, struct plan *p,
                                      struct sim_result *out) {
    u64 budget = o->most_warp_instructions ? o->most_warp_instructions : default_budget;
    bool whole = o->whole || sim_kernel_has_interblock_deps(l->kernel);
    u64 nwarps = (p->threads + 31) / 32, all = p->place.nblocks * nwarps;
    choose(p, wanted(p, whole || all < 64 ? 0 : probe(s, l, p), budget));
    struct sim_sample which = {.blocks = p->chosen,
                               .nblocks = p->nchosen,
                               .words_per_block = words_of_block,
                               .sampled_only = !whole};
    if (whole) which.words_per_block = 4 * budget / p->nchosen + 1024;
    return sim_launch_traced(s, l, &which, out);
}

/* ---- from the replay to seconds ---- */

static double spread(const struct sim_trace *t) {
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

static void interval(const struct plan *p, const struct sim_trace *trace,
                     const struct replay_result *r, const struct gpu_device *d, double spills,
                     struct time_estimate *t) {
    double f = base_error;
    t->note = "";
    if (strchr(d->spec_sources, 'N'))
        f *= 1.1, t->note = "some figures of this device are estimates";
    if (p->guessed) f *= 1.15, t->note = "registers are not known: occupancy is a guess";
    if (r->busy[R_ATOMICS] > 0.3 || r->busy[R_SLICE] > 0.3) {
        bool assumed = device_spec_is_assumed(d, "atomics on one word");
        f *= assumed ? 1.5 : 1.15;
        t->note = assumed ? "the rate of atomics on one address is an assumption"
                          : "the rate of atomics on one address comes from one measurement";
    }
    if (spread(trace) > 0.05) f *= 1.2, t->note = "blocks differ much in what they execute";
    if (spills > 0.05) f *= 1.3, t->note = "spilled registers are guessed at from their number";
    if (r->truncated) f *= 1.3, t->note = "the sample is cut short";
    t->low = t->seconds / f, t->high = t->seconds * f;
}

/* ---- blocks of which parts are traced ---- */

static const double unlike = 1.25; /* times as much as the sample lets expect */

/* What was left out is as much again as the instructions say; or as the words do, where those in
 * the parts left out have more accesses. */
static double cut_short(const struct sim_trace *t, const struct regions *r) {
    double executed = 0, traced = 0, seen = 0, kept = 0;
    for (u32 i = 0; i < t->nblocks; i++) {
        if (!t->blocks[i].truncated) continue;
        executed += (double)t->blocks[i].warp_insns;
        for (u32 w = 0; w < t->blocks[i].nwarps; w++) {
            const struct trace_warp *s = &t->blocks[i].warps[w];
            seen += (double)s->produced_words, kept += s->nwords;
            for (u32 k = 0; k < s->nwords; k++) {
                u64 h = s->strings[k];
                if (trace_is_access(h)) k += trace_entries(h);
                else traced += r->module->segments[trace_op_or_segment(h)].insn_count;
            }
        }
    }
    double instructions = traced > 0 && executed > traced ? executed / traced : 1,
           words = kept > 0 ? seen / kept : 1;
    return words > unlike * instructions ? words : instructions;
}

/* ptxas reports bytes of code that stores and loads spilled registers, not the bytes that they
 * take: a place is stored and loaded about four times (stack frame against spills of ten kernels,
 * ptxas 13.0, sm_90). */
enum { spill_code_per_byte = 4 };

/* Operations of a function and of all that it may call, each once; `seen`: a byte for each
 * function. */
static double ops_within_reach(const struct sim_module *m, u32 i, unsigned char *seen) {
    const struct sim_func *c = &m->funcs[i];
    double ops = c->end_op - c->first_op;
    seen[i] = 1;
    for (u32 k = 0; k < c->ncallees + (c->has_indirect_calls ? m->nfuncs : 0); k++) {
        u32 j = k < c->ncallees ? c->callees[k] : k - c->ncallees;
        if (!seen[j] && !m->funcs[j].func->is_entry) ops += ops_within_reach(m, j, seen);
    }
    return ops;
}

/* Spilled words by operation: ptxas counts both in the code, not as often as they run. */
static double spills_by_operation(const struct sim_kernel *k) {
    if (!k->spill_bytes) return 0;
    unsigned char *seen = xcalloc(k->module->nfuncs, 1);
    double ops = ops_within_reach(k->module, k->func_index, seen);
    free(seen);
    return k->spill_bytes / 4.0 / ops;
}

/* ---- blocks that the sample does not speak for ---- */

/* Cycles that an SM needs at least for what all blocks did, and for what one block did; 0 where the
 * sample spoke for it. Four sectors a cycle is what L1 gives at best, one pass what the banks do.
 */
static double at_least(const struct replay_input *in, double traced, double most, u64 work,
                       u64 heaviest, double cycles) {
    double all = (double)in->blocks * in->active_sms, bound = 0;
    if ((double)work > unlike * traced / in->norder * all)
        bound = (double)work / in->active_sms * cycles;
    double one = (double)heaviest * cycles;
    return (double)heaviest > unlike * most && one > bound ? one : bound;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* The launch's cycles where all of it has run, and did more than its sample: in all, or in one
 * block, which then works on alone while the device is empty (one SM, none beside it; the traced
 * block with most instructions stands for it). */
static double of_all_blocks(const struct replay_input *in, const struct sim_result *out,
                            double cycles, bool *beyond) {
    struct replay_input alone = *in;
    struct replay_result r;
    struct sim_block_work sum = {0}, most = {0};
    u32 longest = 0;
    for (u32 i = 0; i < in->norder; i++) {
        const struct sim_block_work *w = &in->trace->blocks[in->order[i]].work;
        if (w->warp_insns > most.warp_insns) longest = i, most.warp_insns = w->warp_insns;
        sum.warp_insns += w->warp_insns, sum.sectors += w->sectors, sum.wavefronts += w->wavefronts;
        most.sectors = w->sectors > most.sectors ? w->sectors : most.sectors;
        most.wavefronts = w->wavefronts > most.wavefronts ? w->wavefronts : most.wavefronts;
    }
    double expected = (double)sum.warp_insns / in->norder * in->blocks * in->active_sms;
    double work = (double)out->total_work.warp_insns / expected, sampled = cycles;
    double times = (double)out->max_block_work.warp_insns / (double)most.warp_insns;
    if (work > unlike) cycles *= work;
    if (times > unlike) {
        alone.order = in->order + longest, alone.norder = 1, alone.blocks = alone.resident = 1,
        alone.active_sms = 1;
        time_replay(&alone, &r);
        free(r.waits);
        cycles = larger(cycles, (r.cycles - r.grid) * times + r.grid);
    }
    cycles = larger(cycles, at_least(in, (double)sum.sectors, (double)most.sectors,
                                     out->total_work.sectors, out->max_block_work.sectors, 0.25));
    cycles =
        larger(cycles, at_least(in, (double)sum.wavefronts, (double)most.wavefronts,
                                out->total_work.wavefronts, out->max_block_work.wavefronts, 1));
    *beyond = cycles > unlike * sampled;
    return cycles;
}

static void model(struct sim *s, const struct sim_launch *l, const struct time_options *o,
                  const struct plan *p, struct sim_trace *trace, struct sim_result *out,
                  struct time_estimate *t) {
    const struct gpu_device *d = s->options.device;
    struct regions regions;
    struct traffic traffic;
    struct replay_result r;
    time_regions_open(&regions, l->kernel->module, d, o->without, trace);
    time_traffic_open(&traffic, s, trace, p->base, &p->place, d, o);
    struct schedule *schedule =
        o->without & (TERM_BIT(SCHEDULING) | TERM_BIT(LOWERING) | TERM_BIT(MERGING))
            ? NULL
            : time_schedule_open(l->kernel->module, d, trace);
    u32 order[MOST_SAMPLE + 8], n = 0;
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].has_run) order[n++] = i;
    double per_sm = (double)p->place.nblocks / p->sms, tail = p->blocks / (per_sm > 1 ? per_sm : 1);
    struct replay_input in = {.device = d,
                              .sim = s,
                              .regions = &regions,
                              .schedule = schedule,
                              .traffic = &traffic,
                              .trace = trace,
                              .place = &p->place,
                              .base = p->base,
                              .order = order,
                              .norder = n,
                              .last_waits = out->clock_ordered,
                              .blocks = p->blocks,
                              .resident = p->resident,
                              .active_sms = (double)p->place.nblocks / p->blocks,
                              .shared_bytes = p->shared,
                              .threads = p->threads,
                              .local_bytes =
                                  l->kernel->module->funcs[l->kernel->func_index].max_local +
                                  l->kernel->spill_bytes / spill_code_per_byte,
                              .spills = schedule ? 0 : spills_by_operation(l->kernel),
                              .without = o->without,
                              .most_steps = 3 * default_budget};
    u32 frame = schedule ? time_schedule_frame(schedule) : 0;
    if (schedule)
        in.local_bytes = max32(l->kernel->module->funcs[l->kernel->func_index].max_local, frame);
    if (o->without & TERM_BIT(TAIL)) in.active_sms *= tail;
    time_replay(&in, &r);
    bool beyond = false;
    double cycles = of_all_blocks(&in, out, r.cycles * cut_short(trace, &regions), &beyond);
    if (o->without & TERM_BIT(TAIL)) cycles /= tail;
    double launch = o->without & TERM_BIT(LAUNCH) ? 0 : d->launch_seconds,
           device = cycles / d->clock_hz;
    t->seconds = launch + device;
    t->dram_bytes = traffic.dram_bytes, t->l1_hits = r.l1_hits, t->l2_hits = r.l2_hits;
    time_parts(&r, device, launch, t->parts);
    time_rank(t->parts, t->seconds, t->bound_by, t->share);
    time_look_waits(l->kernel->module, r.waits, device, out);
    free(r.waits);
    interval(p, trace, &r, d, in.spills, t);
    t->machine_code = schedule;
    time_schedule_close(schedule);
    if (beyond)
        t->low /= 2, t->high *= 2, t->note = "some blocks do far more than those that were traced";
    time_traffic_close(&traffic);
    time_regions_close(&regions);
}

/* ---- what it costs ---- */

static _Atomic u64 spent_launches, spent_nanoseconds, spent_on_traces;

struct time_cost time_cost(void) {
    return (struct time_cost){.launches = (unsigned)spent_launches,
                              .seconds = 1e-9 * (double)spent_nanoseconds,
                              .traces = 1e-9 * (double)spent_on_traces};
}

bool time_launch(struct sim *s, const struct sim_launch *l, const struct time_options *o,
                 struct sim_result *out, struct time_estimate *t) {
    struct plan *p = xcalloc(1, sizeof *p);
    u64 start = clock_nanoseconds();
    *t = (struct time_estimate){.note = ""};
    make_plan(p, s, l);
    struct sim_trace *trace = trace_launch(s, l, o, p, out);
    u64 traced = clock_nanoseconds();
    u32 ran = 0;
    for (u32 i = 0; i < trace->nblocks; i++) ran += trace->blocks[i].has_run;
    bool ok = ran && out->fault == SIM_FAULT_NONE;
    if (ok) model(s, l, o, p, trace, out, t);
    if (ok) time_look_accesses(l->kernel->module, trace, out);
    if (ok && out->blocks_depend)
        t->waits = true, t->note = "blocks wait for each other, which is not modelled";
    sim_trace_free(trace);
    free(p);
    spent_launches++;
    spent_nanoseconds += clock_nanoseconds() - start;
    spent_on_traces += traced - start;
    return ok;
}

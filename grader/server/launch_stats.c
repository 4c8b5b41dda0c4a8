/* launch_stats.c — sums up the launches of one replay; see launch_stats.h. */
#include "grader/server/launch_stats.h"
#include "common/file.h"
#include "common/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines, by a hash of file and line: #line lets a submission have hundreds of thousands ----
 */

static size_t hash_location(const char *file, uint32_t line) {
    uint64_t h = 14695981039346656037ull ^ line; /* FNV-1a */
    for (; *file; file++) h = (h ^ (unsigned char)*file) * 1099511628211ull;
    return (size_t)(h ^ h >> 32);
}

/* Returns the line's slot in `slots`, or the empty slot for it. */
static uint32_t *find_slot(struct launch_stats *t, const char *file, uint32_t line) {
    size_t mask = 2ul * t->capacity - 1;
    for (size_t i = hash_location(file, line) & mask;; i = (i + 1) & mask) {
        const struct launch_stats_line *l = t->slots[i] ? &t->lines[t->slots[i] - 1] : NULL;
        if (!l || (l->line == line && !strcmp(l->file, file))) return &t->slots[i];
    }
}

static void grow(struct launch_stats *t) {
    t->capacity = t->capacity ? 2 * t->capacity : 32;
    t->lines = xrealloc(t->lines, t->capacity * sizeof *t->lines);
    free(t->slots);
    t->slots = xcalloc(2ul * t->capacity, sizeof *t->slots);
    for (unsigned i = 0; i < t->nlines; i++)
        *find_slot(t, t->lines[i].file, t->lines[i].line) = i + 1;
}

static struct launch_stats_line *find_line(struct launch_stats *t, const char *file,
                                           uint32_t line) {
    static const char empty[] = "";
    const char *base = path_basename(file ? file : empty);
    if (t->nlines == t->capacity) grow(t);
    uint32_t *slot = find_slot(t, base, line);
    if (*slot) return &t->lines[*slot - 1];
    t->lines[t->nlines] = (struct launch_stats_line){.file = xstrdup(base), .line = line};
    *slot = ++t->nlines;
    return &t->lines[t->nlines - 1];
}

/* ---- kernels ---- */

static struct launch_stats_kernel new_kernel(const struct gpu_device *d,
                                             const struct server_launch *l) {
    struct launch_stats_kernel k = {.occupancy = l->result->sim.theoretical_occupancy};
    struct sim_kernel_info info;
    const char *limit = "";
    sim_kernel_info(l->launch->kernel, &info);
    memcpy(k.grid, l->launch->grid, sizeof k.grid);
    memcpy(k.block, l->launch->block, sizeof k.block);
    k.registers = info.registers, k.spill_bytes = info.spill_bytes;
    k.shared_bytes = info.static_shared + l->launch->dynamic_shared;
    device_blocks_per_sm(d, k.block[0] * k.block[1] * k.block[2], k.registers, k.shared_bytes,
                         &limit);
    snprintf(k.occupancy_limit, sizeof k.occupancy_limit, "%s", limit);
    snprintf(k.name, sizeof k.name, "%s", l->kernel ? l->kernel : "");
    return k;
}

static struct launch_stats_kernel *kernel_of(struct launch_stats *t, const struct gpu_device *d,
                                             const struct server_launch *l) {
    struct launch_stats_kernel k = new_kernel(d, l);
    for (unsigned i = 0; i < t->nkernels; i++)
        if (!strcmp(t->kernels[i].name, k.name)) return &t->kernels[i];
    if (t->nkernels < LAUNCH_STATS_MAX_KERNELS) t->kernels[t->nkernels++] = k;
    else if (strcmp(t->kernels[LAUNCH_STATS_MAX_KERNELS - 1].name, "others"))
        snprintf(t->kernels[LAUNCH_STATS_MAX_KERNELS - 1].name, sizeof k.name, "others");
    return &t->kernels[t->nkernels - 1];
}

static void add_kernel_time(struct launch_stats_kernel *k, const struct time_estimate *e,
                            double overlap) {
    k->launches++;
    k->seconds += e->seconds - overlap;
    for (unsigned i = 0; i < TIME_MAX_COMPONENTS; i++) k->components[i] += e->components[i];
    for (unsigned i = 0; i < SIM_STALL_COUNT; i++) k->stall_seconds[i] += e->stall_seconds[i];
    if (k->components[TIME_COMPONENT_LAUNCH] > overlap)
        k->components[TIME_COMPONENT_LAUNCH] -= overlap;
}

const struct launch_stats_kernel *launch_stats_longest_kernel(const struct launch_stats *t) {
    const struct launch_stats_kernel *k = t->nkernels ? t->kernels : NULL;
    for (unsigned i = 1; i < t->nkernels; i++)
        if (t->kernels[i].seconds > k->seconds) k = &t->kernels[i];
    return k;
}

/* Returns the seconds of components whose sum is not known: at least those of the longest one. */
static double at_least_longest(double seconds, const double components[TIME_MAX_COMPONENTS]) {
    for (unsigned i = 0; i < TIME_MAX_COMPONENTS; i++)
        if (components[i] > seconds) seconds = components[i];
    return seconds;
}

void launch_stats_kernel_account(const struct launch_stats_kernel *k,
                                 struct launch_stats_account *out) {
    memset(out, 0, sizeof *out);
    memcpy(out->components, k->components, sizeof out->components);
    out->seconds = at_least_longest(k->seconds, k->components);
    time_rank_limits(out->components, out->seconds, out->limits);
    time_format_limits(out->limits, out->text, sizeof out->text);
}

bool launch_stats_account(const struct launch_stats *t, struct launch_stats_account *out) {
    const struct launch_stats_kernel *longest = launch_stats_longest_kernel(t);
    memset(out, 0, sizeof *out);
    if (!t->scheduled || !(t->bus_in_seconds + t->bus_out_seconds > 0))
        return longest && (launch_stats_kernel_account(longest, out), true);
    out->components[TIME_COMPONENT_COPIES_IN] = t->bus_in_seconds;
    out->components[TIME_COMPONENT_COPIES_OUT] = t->bus_out_seconds;
    out->components[TIME_COMPONENT_KERNELS] = t->kernel_seconds;
    out->seconds = t->seconds;
    time_rank_limits(out->components, out->seconds, out->limits);
    time_format_limits(out->limits, out->text, sizeof out->text);
    return true;
}

/* ---- accesses ---- */

static bool same_access(const struct launch_stats_access *x, const struct launch_stats_access *y) {
    return x->line == y->line && x->kind == y->kind && x->shared == y->shared &&
           !strcmp(x->file, y->file);
}

static void add_access(struct launch_stats *t, const struct sim_access *a, const char *kernel) {
    struct launch_stats_access x = {
        .line = a->line, .mask = a->mask, .kind = a->kind, .bytes = a->lane_bytes};
    x.shared = a->is_shared, x.cost = a->cost;
    memcpy(x.offset, a->offset, sizeof x.offset);
    snprintf(x.file, sizeof x.file, "%s", path_basename(a->file));
    snprintf(x.kernel, sizeof x.kernel, "%s", kernel ? kernel : "");
    if (!t->accesses) t->accesses = xcalloc(LAUNCH_STATS_MAX_ACCESSES, sizeof *t->accesses);
    unsigned i = 0;
    while (i < t->naccesses && !same_access(&t->accesses[i], &x)) i++;
    if (i == LAUNCH_STATS_MAX_ACCESSES || (i < t->naccesses && t->accesses[i].cost >= x.cost))
        return;
    t->accesses[i] = x;
    if (i == t->naccesses) t->naccesses++;
}

/* ---- time ---- */

/* The share of a launch's overhead that overlaps with the previous launch: on an H100 an empty
 * kernel takes 3.0 us, each further one 2.15. */
static const double launch_overlap = 0.28;

double launch_stats_device_share(const struct gpu_device *d, const struct server_launch *l,
                                 const struct time_estimate *e) {
    struct sim_kernel_info info;
    const uint32_t *g = l->launch->grid, *b = l->launch->block;
    sim_kernel_info(l->launch->kernel, &info);
    unsigned blocks_per_sm =
        device_blocks_per_sm(d, b[0] * b[1] * b[2], info.registers,
                             info.static_shared + l->launch->dynamic_shared, NULL);
    double blocks = (double)g[0] * g[1] * g[2],
           block_share = blocks_per_sm ? blocks / ((double)d->sms * blocks_per_sm) : 1;
    double resource_share = time_device_share(e),
           share = block_share > resource_share ? block_share : resource_share;
    return share < 1 ? share : 1;
}

static void append_launch_time(struct launch_stats *t, const struct gpu_device *d,
                               const struct server_launch *l, const struct time_estimate *e) {
    GROW(t->launch_times, t->nlaunch_times + 1, t->time_capacity, 16);
    t->launch_times[t->nlaunch_times++] =
        (struct server_launch_time){.seconds = {e->seconds, e->low, e->high},
                                    .device_share = launch_stats_device_share(d, l, e),
                                    .instructions = (double)l->result->sim.counters.inst_executed,
                                    .peer_bytes = (double)l->result->sim.peer_bytes};
}

void launch_stats_apply_schedule(struct launch_stats *t, const struct server *s,
                                 const struct recording *r) {
    struct server_schedule schedule;
    t->peer = recording_peer_traffic(s, r, t->launch_times, t->nlaunch_times);
    if (!recording_schedule(s, r, t->launch_times, t->nlaunch_times, &schedule)) return;
    t->scheduled = true;
    t->seconds = schedule.seconds[SERVER_TIME_MODELED], t->low = schedule.seconds[SERVER_TIME_LOW],
    t->high = schedule.seconds[SERVER_TIME_HIGH];
    t->bus_in_seconds = schedule.engine_busy[0], t->bus_out_seconds = schedule.engine_busy[1],
    t->kernel_seconds = schedule.engine_busy[2];
    memcpy(t->spans, schedule.spans, sizeof t->spans);
    t->nspans = schedule.nspans;
}

static void add_time(struct launch_stats *t, const struct gpu_device *d,
                     const struct server_launch *l) {
    struct sim_launch s = {.kernel = l->launch->kernel,
                           .dynamic_shared = l->launch->dynamic_shared,
                           .params = l->launch->params,
                           .param_bytes = l->launch->param_bytes,
                           .cooperative = l->launch->cooperative};
    memcpy(s.grid, l->launch->grid, sizeof s.grid);
    memcpy(s.block, l->launch->block, sizeof s.block);
    struct time_estimate e = {0};
    if (l->result->estimate.seconds > 0) e = l->result->estimate;
    else time_from_counters(d, &s, &l->result->sim, &e);
    double overlap = t->launches ? launch_overlap * d->launch_seconds : 0;
    if (overlap > e.low / 2) overlap = e.low / 2;
    t->seconds += e.seconds - overlap, t->low += e.low - overlap, t->high += e.high - overlap;
    append_launch_time(t, d, l, &e);
    t->blocks_depend |= e.blocks_depend, t->from_ptx |= !e.from_sass;
    add_kernel_time(kernel_of(t, d, l), &e, overlap);
}

static void add_launch_shape(struct launch_stats *t, const struct server_launch *l) {
    struct sim_kernel_info info;
    sim_kernel_info(l->launch->kernel, &info);
    const uint32_t *g = l->launch->grid, *b = l->launch->block;
    double blocks = (double)g[0] * g[1] * g[2],
           shared = (double)info.static_shared + l->launch->dynamic_shared;
    t->blocks += blocks;
    t->threads += blocks * b[0] * b[1] * b[2];
    if (shared > t->shared_bytes) t->shared_bytes = shared;
    if (info.registers > t->registers) t->registers = info.registers;
    if (info.spill_bytes > t->spill_bytes) t->spill_bytes = info.spill_bytes;
}

void launch_stats_add_transfers(struct launch_stats *t, const struct gpu_device *d,
                                const struct server_transfers *m) {
    enum { SECTOR = 32 };
    t->copied_bytes = (double)m->copied_bytes, t->filled_bytes = (double)m->filled_bytes;
    t->copied_sectors_read = (double)m->copied_sectors_read;
    t->copied_sectors_written = (double)m->copied_sectors_written;
    t->filled_sectors = (double)m->filled_sectors;
    t->bus_bytes_in = (double)m->bus_bytes_in, t->bus_bytes_out = (double)m->bus_bytes_out;
    t->bus_critical_path_bytes = (double)m->bus_critical_path_bytes;
    t->synchronizing_calls = (double)m->synchronizing_calls;
    t->max_temporary_bytes = (double)m->max_temporary_bytes;
    t->host_commands = (double)m->host_commands;
    t->instantiated_nodes = (double)m->instantiated_nodes;
    if (t->scheduled) return; /* they are in it */
    double launches =
        (double)m->copies * (1 - launch_overlap) + (double)m->fills * server_fill_launch_fraction;
    if (launches > 0 && !t->launches)
        launches += launch_overlap; /* the first launch has no predecessor */
    double overhead_seconds = launches * d->launch_seconds;
    double seconds = overhead_seconds +
                     SECTOR *
                         (t->copied_sectors_read + t->copied_sectors_written + t->filled_sectors) /
                         d->dram_rate;
    t->seconds += seconds, t->low += seconds, t->high += seconds;
}

static void add_line(struct launch_stats_line *to, const struct sim_line *from) {
    sim_counters_add(&to->counters, &from->counters);
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) to->stall_seconds[k] += from->stall_seconds[k];
}

void launch_stats_add_launch(struct launch_stats *t, const struct gpu_device *d,
                             const struct server_launch *l) {
    const struct sim_result *r = &l->result->sim;
    sim_counters_add(&t->counters, &r->counters);
    for (unsigned i = 0; i < r->nlines; i++)
        add_line(find_line(t, r->lines[i].file, r->lines[i].line), &r->lines[i]);
    for (unsigned i = 0; i < r->naccesses; i++) add_access(t, &r->accesses[i], l->kernel);
    for (unsigned i = 0; i < r->nreports; i++) launch_stats_add_report(t, &r->reports[i]);
    if (t->fault == SIM_FAULT_NONE) t->fault = r->fault;
    if (!t->launches || r->theoretical_occupancy < t->occupancy)
        t->occupancy = r->theoretical_occupancy;
    add_time(t, d, l);
    add_launch_shape(t, l);
    t->launches++;
}

void launch_stats_add_report(struct launch_stats *t, const struct sim_report *r) {
    for (unsigned i = 0; sim_fault_is_note(r->fault) && i < t->nreports; i++)
        if (t->reports[i].fault == r->fault) return; /* of a note, one is enough */
    if (t->nreports < LAUNCH_STATS_MAX_REPORTS) t->reports[t->nreports++] = *r;
}

static int by_location(const void *a, const void *b) {
    const struct launch_stats_line *x = a, *y = b;
    int file = strcmp(x->file, y->file);
    return file ? file : (x->line > y->line) - (x->line < y->line);
}

void launch_stats_sort(struct launch_stats *t) {
    if (t->nlines) qsort(t->lines, t->nlines, sizeof *t->lines, by_location);
}

void launch_stats_free(struct launch_stats *t) {
    for (unsigned i = 0; i < t->nlines; i++) free(t->lines[i].file);
    free(t->lines);
    free(t->slots);
    free(t->accesses);
    free(t->launch_times);
    *t = (struct launch_stats){0};
}

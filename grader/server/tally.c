/* tally.c — see tally.h. */
#include "grader/server/tally.h"
#include "common/file.h"
#include "common/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines, by a hash of file and line: #line lets a submission have hundreds of thousands ----
 */

static size_t hash_place(const char *file, uint32_t line) {
    uint64_t h = 14695981039346656037ull ^ line; /* FNV-1a */
    for (; *file; file++) h = (h ^ (unsigned char)*file) * 1099511628211ull;
    return (size_t)(h ^ h >> 32);
}

/* Where the line is in `slots`, or the empty slot where it belongs. */
static uint32_t *slot_of(struct tally *t, const char *file, uint32_t line) {
    size_t mask = 2ul * t->capacity - 1;
    for (size_t i = hash_place(file, line) & mask;; i = (i + 1) & mask) {
        const struct tally_line *l = t->slots[i] ? &t->lines[t->slots[i] - 1] : NULL;
        if (!l || (l->line == line && !strcmp(l->file, file))) return &t->slots[i];
    }
}

static void grow(struct tally *t) {
    t->capacity = t->capacity ? 2 * t->capacity : 32;
    t->lines = xrealloc(t->lines, t->capacity * sizeof *t->lines);
    free(t->slots);
    t->slots = xcalloc(2ul * t->capacity, sizeof *t->slots);
    for (unsigned i = 0; i < t->nlines; i++)
        *slot_of(t, t->lines[i].file, t->lines[i].line) = i + 1;
}

static struct tally_line *find_line(struct tally *t, const char *file, uint32_t line) {
    static const char none[] = "";
    const char *base = path_base(file ? file : none);
    if (t->nlines == t->capacity) grow(t);
    uint32_t *slot = slot_of(t, base, line);
    if (*slot) return &t->lines[*slot - 1];
    t->lines[t->nlines] = (struct tally_line){.file = xstrdup(base), .line = line};
    *slot = ++t->nlines;
    return &t->lines[t->nlines - 1];
}

/* ---- kernels ---- */

static struct tally_kernel new_kernel(const struct gpu_device *d, const struct server_launch *l) {
    struct tally_kernel k = {.occupancy = l->result->sim.theoretical_occupancy};
    struct sim_kernel_info info;
    const char *limit = "";
    sim_kernel_info(l->launch->kernel, &info);
    memcpy(k.grid, l->launch->grid, sizeof k.grid);
    memcpy(k.block, l->launch->block, sizeof k.block);
    k.registers = info.registers, k.spill_bytes = info.spill_bytes;
    k.shared_bytes = info.static_shared + l->launch->dynamic_shared;
    device_blocks_per_sm(d, k.block[0] * k.block[1] * k.block[2], k.registers, k.shared_bytes,
                         &limit);
    snprintf(k.limit, sizeof k.limit, "%s", limit);
    snprintf(k.name, sizeof k.name, "%s", l->kernel ? l->kernel : "");
    return k;
}

static struct tally_kernel *kernel_of(struct tally *t, const struct gpu_device *d,
                                      const struct server_launch *l) {
    struct tally_kernel k = new_kernel(d, l);
    for (unsigned i = 0; i < t->nkernels; i++)
        if (!strcmp(t->kernels[i].name, k.name)) return &t->kernels[i];
    if (t->nkernels < TALLY_KERNELS) t->kernels[t->nkernels++] = k;
    else if (strcmp(t->kernels[TALLY_KERNELS - 1].name, "others"))
        snprintf(t->kernels[TALLY_KERNELS - 1].name, sizeof k.name, "others");
    return &t->kernels[t->nkernels - 1];
}

static void add_kernel_time(struct tally_kernel *k, const struct time_estimate *e, double behind) {
    k->launches++;
    k->seconds += e->seconds - behind;
    for (unsigned i = 0; i < TIME_PARTS; i++) k->parts[i] += e->parts[i];
    if (k->parts[TIME_PART_LAUNCH] > behind) k->parts[TIME_PART_LAUNCH] -= behind;
}

const struct tally_kernel *tally_longest(const struct tally *t) {
    const struct tally_kernel *k = t->nkernels ? t->kernels : NULL;
    for (unsigned i = 1; i < t->nkernels; i++)
        if (t->kernels[i].seconds > k->seconds) k = &t->kernels[i];
    return k;
}

void tally_bound_text(const struct tally_kernel *k, char *out, size_t size) {
    struct time_estimate e = {0};
    double most = 0;
    *out = 0;
    for (unsigned i = 0; i < TIME_PARTS; i++) most = k->parts[i] > most ? k->parts[i] : most;
    if (!(most > 0)) return; /* from counters alone */
    time_rank(k->parts, k->seconds > most ? k->seconds : most, e.bound_by, e.share);
    time_bound_text(&e, out, size);
}

/* ---- accesses ---- */

static bool same_access(const struct tally_access *x, const struct tally_access *y) {
    return x->line == y->line && x->kind == y->kind && x->shared == y->shared &&
           !strcmp(x->file, y->file);
}

static void add_access(struct tally *t, const struct sim_access *a, const char *kernel) {
    struct tally_access x = {
        .line = a->line, .mask = a->mask, .kind = a->kind, .bytes = a->lane_bytes};
    x.shared = a->is_shared, x.cost = a->cost;
    memcpy(x.offset, a->offset, sizeof x.offset);
    snprintf(x.file, sizeof x.file, "%s", path_base(a->file));
    snprintf(x.kernel, sizeof x.kernel, "%s", kernel ? kernel : "");
    if (!t->accesses) t->accesses = xcalloc(TALLY_ACCESSES, sizeof *t->accesses);
    unsigned i = 0;
    while (i < t->naccesses && !same_access(&t->accesses[i], &x)) i++;
    if (i == TALLY_ACCESSES || (i < t->naccesses && t->accesses[i].cost >= x.cost)) return;
    t->accesses[i] = x;
    if (i == t->naccesses) t->naccesses++;
}

/* ---- time ---- */

/* Of a launch behind another one, so much of the overhead is over before that one ends: on an H100
 * an empty kernel takes 3.0 us, each further one 2.15. */
static const double launch_overlap = 0.28;

double tally_share(const struct gpu_device *d, const struct server_launch *l,
                   const struct time_estimate *e) {
    struct sim_kernel_info info;
    const uint32_t *g = l->launch->grid, *b = l->launch->block;
    sim_kernel_info(l->launch->kernel, &info);
    unsigned each = device_blocks_per_sm(d, b[0] * b[1] * b[2], info.registers,
                                         info.static_shared + l->launch->dynamic_shared, NULL);
    double blocks = (double)g[0] * g[1] * g[2],
           places = each ? blocks / ((double)d->sms * each) : 1;
    double shared = time_device_share(e), share = places > shared ? places : shared;
    return share < 1 ? share : 1;
}

static void keep_time(struct tally *t, const struct gpu_device *d, const struct server_launch *l,
                      const struct time_estimate *e) {
    GROW(t->times, t->ntimes + 1, t->room, 16);
    t->times[t->ntimes++] = (struct server_launch_time){.seconds = {e->seconds, e->low, e->high},
                                                        .share = tally_share(d, l, e)};
}

void tally_schedule(struct tally *t, const struct server *s, const struct recording *r) {
    struct server_schedule all;
    if (!recording_schedule(s, r, t->times, t->ntimes, &all)) return;
    t->scheduled = true;
    t->seconds = all.seconds[SERVER_SECONDS], t->low = all.seconds[SERVER_LOW],
    t->high = all.seconds[SERVER_HIGH];
    t->bus_in = all.busy[0], t->bus_out = all.busy[1], t->kernels_busy = all.busy[2];
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
    double behind = t->launches ? launch_overlap * d->launch_seconds : 0;
    if (behind > e.low / 2) behind = e.low / 2;
    t->seconds += e.seconds - behind, t->low += e.low - behind, t->high += e.high - behind;
    keep_time(t, d, l, &e);
    t->waits |= e.waits, t->from_ptx |= !e.machine_code;
    add_kernel_time(kernel_of(t, d, l), &e, behind);
}

static void add_shape(struct tally *t, const struct server_launch *l) {
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

void tally_moved(struct tally *t, const struct gpu_device *d, const struct server_moves *m) {
    enum { SECTOR = 32 };
    t->copied_bytes = (double)m->copied_bytes, t->filled_bytes = (double)m->filled_bytes;
    t->copied_sectors_read = (double)m->copied_sectors_read;
    t->copied_sectors_written = (double)m->copied_sectors_written;
    t->filled_sectors = (double)m->filled_sectors;
    t->bus_bytes_in = (double)m->bus_bytes_in, t->bus_bytes_out = (double)m->bus_bytes_out;
    t->bus_path_bytes = (double)m->bus_path_bytes;
    if (t->scheduled) return; /* they are in it */
    double launches =
        (double)m->copies * (1 - launch_overlap) + (double)m->fills * server_fill_launches;
    if (launches > 0 && !t->launches)
        launches += launch_overlap; /* the first has nothing before it */
    double starts = launches * d->launch_seconds;
    double seconds =
        starts + SECTOR * (t->copied_sectors_read + t->copied_sectors_written + t->filled_sectors) /
                     d->dram_rate;
    t->seconds += seconds, t->low += seconds, t->high += seconds;
}

static void add_line(struct tally_line *to, const struct sim_line *from) {
    sim_counters_add(&to->counters, &from->counters);
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) to->waits[k] += from->stall_seconds[k];
}

void tally_add(struct tally *t, const struct gpu_device *d, const struct server_launch *l) {
    const struct sim_result *r = &l->result->sim;
    sim_counters_add(&t->counters, &r->counters);
    for (unsigned i = 0; i < r->nlines; i++)
        add_line(find_line(t, r->lines[i].file, r->lines[i].line), &r->lines[i]);
    for (unsigned i = 0; i < r->naccesses; i++) add_access(t, &r->accesses[i], l->kernel);
    for (unsigned i = 0; i < r->nreports; i++) tally_report(t, &r->reports[i]);
    if (t->fault == SIM_FAULT_NONE) t->fault = r->fault;
    if (!t->launches || r->theoretical_occupancy < t->occupancy)
        t->occupancy = r->theoretical_occupancy;
    add_time(t, d, l);
    add_shape(t, l);
    t->launches++;
}

void tally_report(struct tally *t, const struct sim_report *r) {
    for (unsigned i = 0; sim_fault_is_note(r->fault) && i < t->nreports; i++)
        if (t->reports[i].fault == r->fault) return; /* of a note, one is enough */
    if (t->nreports < TALLY_REPORTS) t->reports[t->nreports++] = *r;
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
    free(t->slots);
    free(t->accesses);
    free(t->times);
    *t = (struct tally){0};
}

/* launch_stats_wire.c — packs launch statistics into a fixed layout, which the device process sends
 * to the grader. The bytes may be forged, so the reader checks sizes before use, terminates texts
 * and rejects non-finite numbers. Lines that don't fit are summed in one line without a name, so
 * that the lines still add up to the total. */
#include "grader/server/launch_stats.h"
#include "grader/server/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WIRE_LINES = 3500, FILE_NAME_BYTES = LAUNCH_STATS_FILE_BYTES };

struct wire_line {
    char file[FILE_NAME_BYTES];
    uint32_t line, pad;
    struct sim_counters counters;
    double stall_seconds[SIM_STALL_COUNT];
};
struct wire_report {
    uint32_t fault, pad;
    uint64_t count;
    char text[sizeof(((struct sim_report *)0)->text)];
};
struct launch_stats_wire {
    uint32_t launches, nreports, fault, nlines, blocks_depend, nkernels, naccesses, from_ptx;
    uint32_t scheduled, nspans;
    double bus_in_seconds, bus_out_seconds, kernel_seconds;
    struct server_peer_traffic peer;
    double blocks, threads, shared_bytes, registers, spill_bytes, occupancy, seconds, low, high;
    struct launch_stats_kernel kernels[LAUNCH_STATS_MAX_KERNELS];
    struct launch_stats_access accesses[LAUNCH_STATS_MAX_ACCESSES];
    struct server_span spans[SERVER_MAX_SPANS];
    struct wire_report reports[LAUNCH_STATS_MAX_REPORTS];
    struct sim_counters counters;
    struct wire_line lines[];
};

_Static_assert(sizeof(struct launch_stats_wire) + MAX_WIRE_LINES * sizeof(struct wire_line) <=
                   CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES,
               "a tally fits its box");

size_t launch_stats_wire_bytes(void) {
    return sizeof(struct launch_stats_wire) + MAX_WIRE_LINES * sizeof(struct wire_line);
}

static void pack_lines(const struct launch_stats *t, struct launch_stats_wire *w) {
    w->nlines = t->nlines <= MAX_WIRE_LINES ? t->nlines : MAX_WIRE_LINES;
    memset(w->lines, 0, w->nlines * sizeof *w->lines);
    for (unsigned i = 0; i < t->nlines; i++) {
        bool is_overflow = t->nlines > MAX_WIRE_LINES && i >= MAX_WIRE_LINES - 1;
        struct wire_line *l = &w->lines[is_overflow ? MAX_WIRE_LINES - 1 : i];
        if (!is_overflow)
            l->line = t->lines[i].line, strncpy(l->file, t->lines[i].file, FILE_NAME_BYTES - 1);
        sim_counters_add(&l->counters, &t->lines[i].counters);
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++)
            l->stall_seconds[k] += t->lines[i].stall_seconds[k];
    }
}

size_t launch_stats_pack(const struct launch_stats *t, void *buffer) {
    struct launch_stats_wire *w = buffer;
    *w = (struct launch_stats_wire){.launches = t->launches,
                                    .nreports = t->nreports,
                                    .fault = t->fault,
                                    .blocks_depend = t->blocks_depend,
                                    .from_ptx = t->from_ptx,
                                    .scheduled = t->scheduled,
                                    .nspans = t->nspans,
                                    .bus_in_seconds = t->bus_in_seconds,
                                    .bus_out_seconds = t->bus_out_seconds,
                                    .kernel_seconds = t->kernel_seconds,
                                    .peer = t->peer,
                                    .blocks = t->blocks,
                                    .threads = t->threads,
                                    .shared_bytes = t->shared_bytes,
                                    .registers = t->registers,
                                    .spill_bytes = t->spill_bytes,
                                    .occupancy = t->occupancy,
                                    .seconds = t->seconds,
                                    .low = t->low,
                                    .high = t->high,
                                    .nkernels = t->nkernels,
                                    .naccesses = t->naccesses,
                                    .counters = t->counters};
    memcpy(w->kernels, t->kernels, sizeof w->kernels);
    memcpy(w->spans, t->spans, sizeof w->spans);
    if (t->naccesses) memcpy(w->accesses, t->accesses, t->naccesses * sizeof *w->accesses);
    for (unsigned i = 0; i < t->nreports; i++) {
        w->reports[i] =
            (struct wire_report){.fault = t->reports[i].fault, .count = t->reports[i].count};
        memcpy(w->reports[i].text, t->reports[i].text, sizeof w->reports[i].text);
    }
    pack_lines(t, w);
    return sizeof *w + w->nlines * sizeof *w->lines;
}

static bool is_text(const char *s, size_t size) { return memchr(s, 0, size); }

/* Texts that are printed unchanged. */
static void copy_printable(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)from[i] < ' ' && from[i] ? '?' : from[i] == 0x7f ? '?' : from[i];
}

static bool are_valid_numbers(const double *v, size_t n) {
    bool ok = true;
    for (size_t i = 0; i < n; i++) ok &= isfinite(v[i]) && v[i] >= 0;
    return ok;
}

static bool is_valid_kernel(const struct launch_stats_kernel *k) {
    double numbers[] = {k->seconds, k->occupancy};
    return is_text(k->name, sizeof k->name) &&
           is_text(k->occupancy_limit, sizeof k->occupancy_limit) &&
           are_valid_numbers(numbers, 2) && are_valid_numbers(k->components, TIME_MAX_COMPONENTS) &&
           are_valid_numbers(k->stall_seconds, SIM_STALL_COUNT);
}

static bool is_valid_access(const struct launch_stats_access *a) {
    return is_text(a->file, sizeof a->file) && is_text(a->kernel, sizeof a->kernel) &&
           a->bytes >= 1 && a->bytes <= 64 && a->cost <= UINT16_MAX && a->shared <= 1 &&
           a->kind <= SIM_ACCESS_ATOMIC;
}

static bool is_valid_span(const struct server_span *s) {
    const double numbers[] = {s->begin, s->end - s->begin};
    return are_valid_numbers(numbers, 2) && s->engine < SERVER_ENGINE_COUNT && s->stream < 64;
}

static bool is_valid(const struct launch_stats_wire *w, size_t size) {
    const double numbers[] = {w->blocks,
                              w->threads,
                              w->shared_bytes,
                              w->registers,
                              w->spill_bytes,
                              w->occupancy,
                              w->seconds,
                              w->low,
                              w->high,
                              w->bus_in_seconds,
                              w->bus_out_seconds,
                              w->kernel_seconds,
                              w->peer.copied_bytes,
                              w->peer.kernel_bytes,
                              w->peer.critical_path_bytes,
                              w->peer.overlap_instructions,
                              w->peer.kernel_critical_path};
    bool ok = w->nlines <= MAX_WIRE_LINES && size == sizeof *w + w->nlines * sizeof *w->lines &&
              w->nreports <= LAUNCH_STATS_MAX_REPORTS && w->fault < SIM_FAULT_COUNT &&
              w->nkernels <= LAUNCH_STATS_MAX_KERNELS &&
              w->naccesses <= LAUNCH_STATS_MAX_ACCESSES && w->nspans <= SERVER_MAX_SPANS;
    for (unsigned i = 0; ok && i < w->nspans; i++) ok = is_valid_span(&w->spans[i]);
    for (unsigned i = 0; ok && i < w->nkernels; i++) ok = is_valid_kernel(&w->kernels[i]);
    for (unsigned i = 0; ok && i < w->naccesses; i++) ok = is_valid_access(&w->accesses[i]);
    ok = ok && are_valid_numbers(numbers, sizeof numbers / sizeof *numbers);
    for (unsigned i = 0; ok && i < w->nreports; i++)
        ok = w->reports[i].fault < SIM_FAULT_COUNT &&
             is_text(w->reports[i].text, sizeof w->reports[i].text);
    for (unsigned i = 0; ok && i < w->nlines; i++)
        ok = is_text(w->lines[i].file, FILE_NAME_BYTES) &&
             are_valid_numbers(w->lines[i].stall_seconds, SIM_STALL_COUNT);
    return ok;
}

static void unpack_kernels(struct launch_stats *t, const struct launch_stats_wire *w) {
    memcpy(t->kernels, w->kernels, sizeof t->kernels);
    memcpy(t->spans, w->spans, sizeof t->spans);
    for (unsigned i = 0; i < t->nkernels; i++) {
        copy_printable(t->kernels[i].name, w->kernels[i].name, sizeof w->kernels[i].name);
        copy_printable(t->kernels[i].occupancy_limit, w->kernels[i].occupancy_limit,
                       sizeof w->kernels[i].occupancy_limit);
    }
    t->accesses = xcalloc(t->naccesses + 1, sizeof *t->accesses);
    memcpy(t->accesses, w->accesses, t->naccesses * sizeof *t->accesses);
    for (unsigned i = 0; i < t->naccesses; i++) {
        copy_printable(t->accesses[i].file, w->accesses[i].file, sizeof w->accesses[i].file);
        copy_printable(t->accesses[i].kernel, w->accesses[i].kernel, sizeof w->accesses[i].kernel);
    }
}

static struct launch_stats_line unpack_line(const struct wire_line *w) {
    struct launch_stats_line l = {xstrdup(w->file), w->line, w->counters, {0}};
    memcpy(l.stall_seconds, w->stall_seconds, sizeof l.stall_seconds);
    return l;
}

bool launch_stats_unpack(struct launch_stats *t, const void *buffer, size_t size) {
    const struct launch_stats_wire *w = buffer;
    *t = (struct launch_stats){0};
    if (size < sizeof *w || !is_valid(w, size)) return false;
    *t = (struct launch_stats){.launches = w->launches,
                               .nreports = w->nreports,
                               .fault = (enum sim_fault)w->fault,
                               .blocks_depend = w->blocks_depend != 0,
                               .from_ptx = w->from_ptx != 0,
                               .scheduled = w->scheduled != 0,
                               .nspans = w->nspans,
                               .bus_in_seconds = w->bus_in_seconds,
                               .bus_out_seconds = w->bus_out_seconds,
                               .kernel_seconds = w->kernel_seconds,
                               .peer = w->peer,
                               .blocks = w->blocks,
                               .threads = w->threads,
                               .shared_bytes = w->shared_bytes,
                               .registers = w->registers,
                               .spill_bytes = w->spill_bytes,
                               .occupancy = w->occupancy,
                               .seconds = w->seconds,
                               .low = w->low,
                               .high = w->high,
                               .nkernels = w->nkernels,
                               .naccesses = w->naccesses,
                               .counters = w->counters,
                               .nlines = w->nlines};
    unpack_kernels(t, w);
    for (unsigned i = 0; i < w->nreports; i++) {
        t->reports[i] = (struct sim_report){.fault = (enum sim_fault)w->reports[i].fault,
                                            .count = w->reports[i].count};
        memcpy(t->reports[i].text, w->reports[i].text, sizeof t->reports[i].text);
    }
    t->lines = xcalloc(w->nlines + 1, sizeof *t->lines);
    for (unsigned i = 0; i < w->nlines; i++) t->lines[i] = unpack_line(&w->lines[i]);
    return true;
}

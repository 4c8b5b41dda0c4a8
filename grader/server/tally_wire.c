/* tally_wire.c — a tally as bytes of a fixed layout, from the device process to the grader. What is
 * read may be forged: sizes are checked before use, texts end, numbers are numbers. Lines beyond
 * the most that fit are added up under no name, so that lines still add up to the whole. */
#include "grader/server/tally.h"
#include "grader/server/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 3500, FILE_NAME = TALLY_FILE };

struct wire_line {
    char file[FILE_NAME];
    uint32_t line, pad;
    struct sim_counters counters;
    double waits[SIM_STALL_COUNT];
};
struct wire_report {
    uint32_t fault, pad;
    uint64_t count;
    char text[sizeof(((struct sim_report *)0)->text)];
};
struct wire {
    uint32_t launches, nreports, fault, nlines, waits, nkernels, naccesses, from_ptx;
    uint32_t scheduled, pad;
    double bus_in, bus_out, busy_kernels;
    double blocks, threads, shared_bytes, registers, spill_bytes, occupancy, seconds, low, high;
    struct tally_kernel kernels[TALLY_KERNELS];
    struct tally_access accesses[TALLY_ACCESSES];
    struct wire_report reports[TALLY_REPORTS];
    struct sim_counters counters;
    struct wire_line lines[];
};

_Static_assert(sizeof(struct wire) + LINES * sizeof(struct wire_line) <= CONTROL_BOX - CONTROL_LOG,
               "a tally fits its box");

size_t tally_wire_bytes(void) { return sizeof(struct wire) + LINES * sizeof(struct wire_line); }

static void pack_lines(const struct tally *t, struct wire *w) {
    w->nlines = t->nlines <= LINES ? t->nlines : LINES;
    memset(w->lines, 0, w->nlines * sizeof *w->lines);
    for (unsigned i = 0; i < t->nlines; i++) {
        bool rest = t->nlines > LINES && i >= LINES - 1;
        struct wire_line *l = &w->lines[rest ? LINES - 1 : i];
        if (!rest) l->line = t->lines[i].line, strncpy(l->file, t->lines[i].file, FILE_NAME - 1);
        sim_counters_add(&l->counters, &t->lines[i].counters);
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++) l->waits[k] += t->lines[i].waits[k];
    }
}

size_t tally_pack(const struct tally *t, void *box) {
    struct wire *w = box;
    *w = (struct wire){.launches = t->launches,
                       .nreports = t->nreports,
                       .fault = t->fault,
                       .waits = t->waits,
                       .from_ptx = t->from_ptx,
                       .scheduled = t->scheduled,
                       .bus_in = t->bus_in,
                       .bus_out = t->bus_out,
                       .busy_kernels = t->kernels_busy,
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

/* What is printed as it stands. */
static void keep_printable(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)from[i] < ' ' && from[i] ? '?' : from[i] == 0x7f ? '?' : from[i];
}

static bool numbers_sound(const double *v, size_t n) {
    bool ok = true;
    for (size_t i = 0; i < n; i++) ok &= isfinite(v[i]) && v[i] >= 0;
    return ok;
}

static bool sound_kernel(const struct tally_kernel *k) {
    double numbers[] = {k->seconds, k->occupancy};
    return is_text(k->name, sizeof k->name) && is_text(k->limit, sizeof k->limit) &&
           numbers_sound(numbers, 2) && numbers_sound(k->parts, TIME_PARTS);
}

static bool sound_access(const struct tally_access *a) {
    return is_text(a->file, sizeof a->file) && is_text(a->kernel, sizeof a->kernel) &&
           a->bytes >= 1 && a->bytes <= 64 && a->cost <= UINT16_MAX && a->shared <= 1 &&
           a->kind <= SIM_ACCESS_ATOMIC;
}

static bool is_sound(const struct wire *w, size_t size) {
    const double numbers[] = {w->blocks,      w->threads,   w->shared_bytes, w->registers,
                              w->spill_bytes, w->occupancy, w->seconds,      w->low,
                              w->high,        w->bus_in,    w->bus_out,      w->busy_kernels};
    bool ok = w->nlines <= LINES && size == sizeof *w + w->nlines * sizeof *w->lines &&
              w->nreports <= TALLY_REPORTS && w->fault < SIM_FAULT_COUNT &&
              w->nkernels <= TALLY_KERNELS && w->naccesses <= TALLY_ACCESSES;
    for (unsigned i = 0; ok && i < w->nkernels; i++) ok = sound_kernel(&w->kernels[i]);
    for (unsigned i = 0; ok && i < w->naccesses; i++) ok = sound_access(&w->accesses[i]);
    ok = ok && numbers_sound(numbers, sizeof numbers / sizeof *numbers);
    for (unsigned i = 0; ok && i < w->nreports; i++)
        ok = w->reports[i].fault < SIM_FAULT_COUNT &&
             is_text(w->reports[i].text, sizeof w->reports[i].text);
    for (unsigned i = 0; ok && i < w->nlines; i++)
        ok = is_text(w->lines[i].file, FILE_NAME) &&
             numbers_sound(w->lines[i].waits, SIM_STALL_COUNT);
    return ok;
}

static void unpack_kernels(struct tally *t, const struct wire *w) {
    memcpy(t->kernels, w->kernels, sizeof t->kernels);
    for (unsigned i = 0; i < t->nkernels; i++) {
        keep_printable(t->kernels[i].name, w->kernels[i].name, sizeof w->kernels[i].name);
        keep_printable(t->kernels[i].limit, w->kernels[i].limit, sizeof w->kernels[i].limit);
    }
    t->accesses = xcalloc(t->naccesses + 1, sizeof *t->accesses);
    memcpy(t->accesses, w->accesses, t->naccesses * sizeof *t->accesses);
    for (unsigned i = 0; i < t->naccesses; i++) {
        keep_printable(t->accesses[i].file, w->accesses[i].file, sizeof w->accesses[i].file);
        keep_printable(t->accesses[i].kernel, w->accesses[i].kernel, sizeof w->accesses[i].kernel);
    }
}

static struct tally_line unpack_line(const struct wire_line *w) {
    struct tally_line l = {xstrdup(w->file), w->line, w->counters, {0}};
    memcpy(l.waits, w->waits, sizeof l.waits);
    return l;
}

bool tally_unpack(struct tally *t, const void *box, size_t size) {
    const struct wire *w = box;
    *t = (struct tally){0};
    if (size < sizeof *w || !is_sound(w, size)) return false;
    *t = (struct tally){.launches = w->launches,
                        .nreports = w->nreports,
                        .fault = (enum sim_fault)w->fault,
                        .waits = w->waits != 0,
                        .from_ptx = w->from_ptx != 0,
                        .scheduled = w->scheduled != 0,
                        .bus_in = w->bus_in,
                        .bus_out = w->bus_out,
                        .kernels_busy = w->busy_kernels,
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

/* tally_wire.c — a tally as bytes of a fixed layout, from the device process to the grader. What is read may be forged: sizes
 * are checked before use, texts end, numbers are numbers. Lines beyond the most that fit are added up under no name, so that
 * lines still add up to the whole. */
#include "grader/server/tally.h"
#include "grader/server/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 4096, FILE_NAME = 64 };

struct wire_line {
    char file[FILE_NAME];
    uint32_t line, pad;
    struct sim_counters counters;
};
struct wire_report {
    uint32_t fault, pad;
    uint64_t count;
    char text[sizeof(((struct sim_report *)0)->text)];
};
struct wire {
    uint32_t launches, nreports, fault, nlines, waits, from_ptx;
    double blocks, threads, shared_bytes, registers, spill_bytes, occupancy, seconds, low, high, longest;
    char bound_by[192], longest_kernel[64];
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
    }
}

size_t tally_pack(const struct tally *t, void *box) {
    struct wire *w = box;
    *w = (struct wire){.launches = t->launches,
                       .nreports = t->nreports,
                       .fault = t->fault,
                       .waits = t->waits,
                       .from_ptx = t->from_ptx,
                       .blocks = t->blocks,
                       .threads = t->threads,
                       .shared_bytes = t->shared_bytes,
                       .registers = t->registers,
                       .spill_bytes = t->spill_bytes,
                       .occupancy = t->occupancy,
                       .seconds = t->seconds,
                       .low = t->low,
                       .high = t->high,
                       .longest = t->longest,
                       .counters = t->counters};
    memcpy(w->bound_by, t->bound_by, sizeof w->bound_by);
    memcpy(w->longest_kernel, t->longest_kernel, sizeof w->longest_kernel);
    for (unsigned i = 0; i < t->nreports; i++) {
        w->reports[i] = (struct wire_report){.fault = t->reports[i].fault, .count = t->reports[i].count};
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

static bool is_sound(const struct wire *w, size_t size) {
    const double numbers[] = {w->blocks,    w->threads, w->shared_bytes, w->registers, w->spill_bytes,
                              w->occupancy, w->seconds, w->low,          w->high,      w->longest};
    bool ok = w->nlines <= LINES && size == sizeof *w + w->nlines * sizeof *w->lines && w->nreports <= TALLY_REPORTS &&
              w->fault < SIM_FAULT_KINDS && is_text(w->bound_by, sizeof w->bound_by) &&
              is_text(w->longest_kernel, sizeof w->longest_kernel);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) ok &= isfinite(numbers[i]) && numbers[i] >= 0;
    for (unsigned i = 0; ok && i < w->nreports; i++)
        ok = w->reports[i].fault < SIM_FAULT_KINDS && is_text(w->reports[i].text, sizeof w->reports[i].text);
    for (unsigned i = 0; ok && i < w->nlines; i++) ok = is_text(w->lines[i].file, FILE_NAME);
    return ok;
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
                        .blocks = w->blocks,
                        .threads = w->threads,
                        .shared_bytes = w->shared_bytes,
                        .registers = w->registers,
                        .spill_bytes = w->spill_bytes,
                        .occupancy = w->occupancy,
                        .seconds = w->seconds,
                        .low = w->low,
                        .high = w->high,
                        .longest = w->longest,
                        .counters = w->counters,
                        .nlines = w->nlines};
    keep_printable(t->bound_by, w->bound_by, sizeof t->bound_by);
    keep_printable(t->longest_kernel, w->longest_kernel, sizeof t->longest_kernel);
    for (unsigned i = 0; i < w->nreports; i++) {
        t->reports[i] = (struct sim_report){.fault = (enum sim_fault)w->reports[i].fault, .count = w->reports[i].count};
        memcpy(t->reports[i].text, w->reports[i].text, sizeof t->reports[i].text);
    }
    t->lines = xcalloc(w->nlines + 1, sizeof *t->lines);
    for (unsigned i = 0; i < w->nlines; i++)
        t->lines[i] = (struct tally_line){xstrdup(w->lines[i].file), w->lines[i].line, w->lines[i].counters};
    return true;
}

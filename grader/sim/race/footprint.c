/* footprint.c — sets of bytes as runs of equal rows: adding, removing, comparing. */
#include "grader/sim/race/footprint.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

void race_footprint_free(struct footprint *f) {
    free(f->runs);
    free(f->sites);
}

static bool is_empty_mask(const u32 byte_mask[COMMAND_ACCESS_KINDS]) {
    return !(byte_mask[COMMAND_READ] | byte_mask[COMMAND_WRITE] | byte_mask[COMMAND_UPDATE]);
}

/* Appends rows behind all others; extends the last run where it can. */
static void append_rows(struct footprint *f, u64 row, u64 n,
                        const u32 byte_mask[COMMAND_ACCESS_KINDS]) {
    struct row_run *last = f->nruns ? &f->runs[f->nruns - 1] : NULL;
    if (!n || is_empty_mask(byte_mask)) return;
    if (last && last->first + last->n == row &&
        !memcmp(last->byte_mask, byte_mask, sizeof last->byte_mask)) {
        last->n += n;
        return;
    }
    GROW(f->runs, f->nruns + 1, f->capacity, 16);
    struct row_run *r = &f->runs[f->nruns++];
    *r = (struct row_run){.first = row, .n = n};
    memcpy(r->byte_mask, byte_mask, sizeof r->byte_mask);
}

void race_footprint_add_rows(struct footprint *f, u64 row, u64 n,
                             const u32 byte_mask[COMMAND_ACCESS_KINDS]) {
    struct row_run *last = f->nruns ? &f->runs[f->nruns - 1] : NULL;
    u32 merged[COMMAND_ACCESS_KINDS];
    if (!n || is_empty_mask(byte_mask)) return;
    if (!last || last->first + last->n != row + 1) return append_rows(f, row, n, byte_mask);
    for (u32 k = 0; k < COMMAND_ACCESS_KINDS; k++) merged[k] = byte_mask[k] | last->byte_mask[k];
    if (!--last->n) f->nruns--;
    append_rows(f, row, 1, merged);
    append_rows(f, row + 1, n - 1, byte_mask);
}

/* Returns the bits `from` to `to` of a row; `to` is excluded. */
static u32 row_bits(u64 from, u64 to) {
    return (u32)((1ull << to) - 1) & ~(u32)((1ull << from) - 1);
}

static void add_row_part(struct footprint *f, u64 row, u64 n, u32 bits, u32 access_kind) {
    u32 byte_mask[COMMAND_ACCESS_KINDS] = {0};
    byte_mask[access_kind] = bits;
    race_footprint_add_rows(f, row, n, byte_mask);
}

void race_footprint_add_bytes(struct footprint *f, u64 low, u64 high, u32 access_kind) {
    if (low >= high) return;
    u64 row = low / FOOTPRINT_ROW_BYTES, last_row = (high - 1) / FOOTPRINT_ROW_BYTES,
        from = low % FOOTPRINT_ROW_BYTES, to = (high - 1) % FOOTPRINT_ROW_BYTES + 1;
    if (row == last_row) return add_row_part(f, row, 1, row_bits(from, to), access_kind);
    add_row_part(f, row, 1, row_bits(from, FOOTPRINT_ROW_BYTES), access_kind);
    add_row_part(f, row + 1, last_row - row - 1, ~0u, access_kind);
    add_row_part(f, last_row, 1, row_bits(0, to), access_kind);
}

static int by_address(const void *x, const void *y) {
    const struct row_run *a = x, *b = y;
    return (a->first > b->first) - (a->first < b->first);
}
void race_footprint_sort(struct footprint *f) {
    if (f->nruns) qsort(f->runs, f->nruns, sizeof *f->runs, by_address);
}

static bool rows_overlap(const struct footprint *f, u64 first, u64 end) {
    if (!f->nruns) return false;
    const struct row_run *last = &f->runs[f->nruns - 1];
    return f->runs[0].first < end && first < last->first + last->n;
}

/* Takes the runs of `f` out, to be appended again in part. */
static struct footprint take_runs(struct footprint *f) {
    struct footprint old = {.runs = f->runs, .nruns = f->nruns};
    f->runs = NULL, f->nruns = f->capacity = 0;
    return old;
}

void race_footprint_remove_rows(struct footprint *f, u64 first, u64 end) {
    if (!rows_overlap(f, first, end)) return;
    struct footprint old = take_runs(f);
    for (size_t i = 0; i < old.nruns; i++) {
        const struct row_run *r = &old.runs[i];
        u64 r_end = r->first + r->n, from = r->first > end ? r->first : end;
        if (r->first < first)
            append_rows(f, r->first, (r_end < first ? r_end : first) - r->first, r->byte_mask);
        if (from < r_end) append_rows(f, from, r_end - from, r->byte_mask);
    }
    free(old.runs);
}

/* Removes from `byte_mask` what the later access makes redundant. A write conflicts with all kinds,
 * so it replaces all; a read and an update replace only their own kind. */
static void supersede_bytes(u32 byte_mask[COMMAND_ACCESS_KINDS],
                            const u32 later[COMMAND_ACCESS_KINDS]) {
    for (u32 k = 0; k < COMMAND_ACCESS_KINDS; k++)
        byte_mask[k] &= ~(later[k] | later[COMMAND_WRITE]);
}

void race_footprint_supersede(struct footprint *old, const struct footprint *later) {
    if (!later->nruns) return;
    const struct row_run *last = &later->runs[later->nruns - 1];
    if (!rows_overlap(old, later->runs[0].first, last->first + last->n)) return;
    struct footprint before = take_runs(old);
    size_t k = 0;
    for (size_t i = 0; i < before.nruns; i++) {
        u64 end = before.runs[i].first + before.runs[i].n;
        for (u64 row = before.runs[i].first, stop; row < end; row = stop) {
            while (k < later->nruns && later->runs[k].first + later->runs[k].n <= row) k++;
            const struct row_run *y = k < later->nruns ? &later->runs[k] : NULL;
            bool is_covered = y && y->first <= row;
            struct row_run part = before.runs[i];
            stop = !y ? end : is_covered ? y->first + y->n : y->first;
            if (stop > end) stop = end;
            if (is_covered) supersede_bytes(part.byte_mask, y->byte_mask);
            append_rows(old, row, stop - row, part.byte_mask);
        }
    }
    free(before.runs);
}

static u32 conflicting_bytes(const struct row_run *a, const struct row_run *b, struct conflict *c) {
    static const u8 pairs[][2] = {{COMMAND_WRITE, COMMAND_WRITE},  {COMMAND_READ, COMMAND_WRITE},
                                  {COMMAND_WRITE, COMMAND_READ},   {COMMAND_UPDATE, COMMAND_WRITE},
                                  {COMMAND_WRITE, COMMAND_UPDATE}, {COMMAND_READ, COMMAND_UPDATE},
                                  {COMMAND_UPDATE, COMMAND_READ}};
    for (u32 i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        u32 common_bytes = a->byte_mask[pairs[i][0]] & b->byte_mask[pairs[i][1]];
        c->kind = pairs[i][0], c->other_kind = pairs[i][1];
        if (common_bytes) return common_bytes;
    }
    return 0;
}

bool race_footprint_find_conflict(const struct footprint *a, const struct footprint *b,
                                  struct conflict *c) {
    if (!a->nruns) return false;
    if (!rows_overlap(b, a->runs[0].first, a->runs[a->nruns - 1].first + a->runs[a->nruns - 1].n))
        return false;
    for (size_t i = 0, k = 0; i < a->nruns && k < b->nruns;) {
        const struct row_run *x = &a->runs[i], *y = &b->runs[k];
        u64 row = x->first > y->first ? x->first : y->first;
        bool overlap = row < x->first + x->n && row < y->first + y->n;
        u32 bytes = overlap ? conflicting_bytes(x, y, c) : 0;
        if (bytes) {
            u32 bit = (u32)__builtin_ctz(bytes);
            c->offset = row * FOOTPRINT_ROW_BYTES + bit;
            c->bytes = bit % 4 == 0 && (bytes >> bit & 15) == 15 ? 4 : 1;
            return true;
        }
        if (x->first + x->n <= y->first + y->n) i++;
        else k++;
    }
    return false;
}

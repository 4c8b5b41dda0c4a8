/* streams.c — finds races between commands of several streams: kernels, copies and fills that
 * nothing orders, if one changes what the other accesses. The server calls it by sim.h.
 *
 * The simulator executes commands in the order of the calls, so results never show such a race. But
 * the host passes for each command which others it comes after (struct sim_stream_clock), and the
 * footprint of each, word by word, is kept until every later command comes after it. A kernel's
 * words come from its shadow memory (shadow.c), which covers all allocations while streams are in
 * use. Only words that were accessed as a whole count; atomics of two kernels don't race. Memory is
 * bounded: with too many commands the oldest footprints are dropped. */
#include "common/grow.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_BYTES = 4,
    ROW_BYTES = WORD_BYTES * SHADOW_ROW_CELLS,
    MAX_FOOTPRINTS = 64,
    MAX_SITES = 64
};
enum {
    MAX_RUNS = 1 << 17,        /* of one command */
    MAX_TOTAL_RUNS = 1 << 20,  /* of all commands */
    MAX_COPY_ROWS = 1 << 16,   /* of a strided copy */
    MAX_SCANNED_ROWS = 1 << 23 /* of a kernel's footprint: a gigabyte */
};
enum { COMMAND_READ, COMMAND_WRITE, COMMAND_UPDATE, COMMAND_ACCESS_KINDS };
_Static_assert(SHADOW_ROW_CELLS == 32, "a mask has a bit for each word of a row");

/* Consecutive rows of which the same words were accessed. */
struct row_run {
    u64 first, n;
    u32 word_mask[COMMAND_ACCESS_KINDS]; /* a bit for each word */
};
/* The source line by which a kernel accesses a range. */
struct access_site {
    u64 low, high; /* offsets from SIM_BASE */
    u32 line;
    u8 access_kind;
    char file[64];
};
struct footprint {
    u32 stream, number;
    char description[136];
    struct row_run *runs; /* ascending */
    size_t nruns, capacity;
    struct access_site *sites;
    u32 nsites;
};
struct race_streams {
    struct sim_stream_clock current;
    struct footprint footprints[MAX_FOOTPRINTS];
    u32 n;
    size_t total_runs; /* of all footprints */
};

static void free_footprint(struct footprint *f) {
    free(f->runs);
    free(f->sites);
}

static void drop_footprint(struct race_streams *r, u32 i) {
    r->total_runs -= r->footprints[i].nruns;
    free_footprint(&r->footprints[i]);
    memmove(&r->footprints[i], &r->footprints[i + 1], (--r->n - i) * sizeof *r->footprints);
}

void race_streams_clear(struct sim *s) {
    while (s->streams && s->streams->n) drop_footprint(s->streams, s->streams->n - 1);
}

void race_streams_free(struct sim *s) {
    race_streams_clear(s);
    free(s->streams);
    s->streams = NULL;
}

void race_streams_set_clock(struct sim *s, const struct sim_stream_clock *o) {
    if (!o || !o->sequence || o->stream >= SIM_MAX_STREAMS || !s->options.sanitize)
        return race_streams_free(s);
    if (!s->streams) s->streams = xcalloc(1, sizeof *s->streams);
    s->streams->current = *o;
    for (u32 i = s->streams->n; i-- > 0;)
        if (s->streams->footprints[i].number <=
            o->permanently_after[s->streams->footprints[i].stream])
            drop_footprint(s->streams, i);
}

/* ---- footprints ---- */

/* Adds `n` rows from `row` on. Calls come in ascending order, but may repeat the last row. */
static void add_run(struct footprint *f, u64 row, u64 n,
                    const u32 word_mask[COMMAND_ACCESS_KINDS]) {
    struct row_run *last = f->nruns ? &f->runs[f->nruns - 1] : NULL,
                   new_run = {.first = row, .n = n};
    if (!n || !(word_mask[COMMAND_READ] | word_mask[COMMAND_WRITE] | word_mask[COMMAND_UPDATE]) ||
        f->nruns == MAX_RUNS)
        return;
    if (last && last->first + last->n == row &&
        !memcmp(last->word_mask, word_mask, sizeof last->word_mask)) {
        last->n += n;
        return;
    }
    bool same_row = last && last->first + last->n == row + 1;
    for (u32 d = 0; d < COMMAND_ACCESS_KINDS; d++)
        new_run.word_mask[d] = word_mask[d] | (same_row ? last->word_mask[d] : 0);
    if (same_row && !--last->n) f->nruns--;
    GROW(f->runs, f->nruns + 1, f->capacity, 64);
    f->runs[f->nruns++] = new_run;
}

/* Adds to `word_mask` the words of a shadow row that were accessed as a whole. With cells smaller
 * than a word, a shadow row is only part of a row of words. */
static void read_shadow_row(const struct race_shadow *p, u64 row, u32 shift,
                            u32 word_mask[COMMAND_ACCESS_KINDS]) {
    u32 cells_per_word = WORD_BYTES >> shift, words = SHADOW_ROW_CELLS / cells_per_word;
    enum shadow_row_state state = shadow_row_state(p, row);
    if (state == ROW_EMPTY) return;
    if (state == ROW_COMPACT && cells_per_word == 1) {
        word_mask[COMMAND_READ] |= p->rows[row].reader_block ? ~0u : 0,
            word_mask[COMMAND_WRITE] |= p->rows[row].writer_block ? ~0u : 0;
        return;
    }
    for (u32 w = 0; w < words; w++) {
        u32 n[COMMAND_ACCESS_KINDS] = {0}, bit = (u32)(row * words + w) % SHADOW_ROW_CELLS;
        for (u32 i = 0; i < cells_per_word; i++) {
            u64 g = row * SHADOW_ROW_CELLS + w * cells_per_word + i;
            n[COMMAND_READ] += race_reader_block(p, g) != 0;
            n[COMMAND_WRITE] += race_writer_block(p, g) != 0;
            n[COMMAND_UPDATE] += race_updater_block(p, g) != 0;
        }
        for (u32 d = 0; d < COMMAND_ACCESS_KINDS; d++)
            word_mask[d] |= (u32)(n[d] == cells_per_word) << bit;
    }
}

static void add_shadow_rows(const struct launch *l, struct footprint *f, u64 low, u64 high) {
    u32 shift = l->global_shift, rows_per_word = WORD_BYTES >> shift;
    for (u64 row = low / ROW_BYTES; row * ROW_BYTES < high; row++) {
        u32 word_mask[COMMAND_ACCESS_KINDS] = {0};
        for (u32 i = 0; i < l->nworkers; i++)
            for (u32 k = 0; k < rows_per_word; k++)
                read_shadow_row(l->workers[i].race_shadow, row * rows_per_word + k, shift,
                                word_mask);
        add_run(f, row, 1, word_mask);
    }
}

static struct offset_range accessed_range(const struct launch *l) {
    struct offset_range all = {UINT64_MAX, 0};
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct offset_range *r = &l->workers[i].race_shadow->accessed_range;
        if (r->low < all.low) all.low = r->low;
        if (r->high > all.high) all.high = r->high;
    }
    return all;
}

/* Adds the kernel's accesses, by allocation: the gaps between them can be large. */
static void add_allocations(struct launch *l, struct footprint *f) {
    const struct memory *m = &l->sim->memory;
    struct offset_range all = accessed_range(l);
    u64 remaining_bytes = MAX_SCANNED_ROWS * (u64)ROW_BYTES;
    for (unsigned i = 0; i < m->count; i++) {
        u64 low = m->allocations[i].start, high = low + m->allocations[i].size;
        if (low < all.low) low = all.low;
        if (high > all.high) high = all.high;
        if (low >= high) continue;
        if (high - low > remaining_bytes) high = low + remaining_bytes;
        remaining_bytes -= high - low;
        add_shadow_rows(l, f, low, high);
    }
    core_add_simulation_cost(l, (MAX_SCANNED_ROWS - remaining_bytes / ROW_BYTES) * l->nworkers /
                                    4); /* 5 ns a row of a worker */
}

static int by_address(const void *x, const void *y) {
    const struct row_run *a = x, *b = y;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_sites(const struct launch *l, struct footprint *f) {
    f->sites = xcalloc(MAX_SITES, sizeof *f->sites);
    for (u32 s = 0; s < l->module->nstats && f->nsites < MAX_SITES; s++) {
        struct access_site p = {.low = UINT64_MAX};
        const struct stat_entry *o = &l->module->stat_entries[s];
        for (u32 i = 0; i < l->nworkers; i++) {
            const struct offset_range *t = &l->workers[i].race_shadow->insn_ranges[s];
            if (t->low < p.low) p.low = t->low;
            if (t->high > p.high) p.high = t->high;
        }
        if (p.low >= p.high) continue;
        const struct ptx_module *x = l->module->ptx;
        const struct ptx_loc *at = source_location_of(x, l->module->ops[o->op].loc);
        const char *file =
                       at && at->file < x->nfiles && x->files[at->file] ? x->files[at->file] : "",
                   *slash = strrchr(file, '/');
        p.access_kind = o->verb == MEM_LOAD    ? COMMAND_READ
                        : o->verb == MEM_STORE ? COMMAND_WRITE
                                               : COMMAND_UPDATE;
        p.line = at ? at->line : 0;
        snprintf(p.file, sizeof p.file, "%.60s", slash ? slash + 1 : file);
        f->sites[f->nsites++] = p;
    }
}

/* ---- two commands ---- */

/* The first word that two commands access, and how each accesses it. */
struct conflict {
    u64 offset;
    u8 kind, other_kind;
};

static u32 conflicting_words(const struct row_run *a, const struct row_run *b, struct conflict *c) {
    static const u8 pairs[][2] = {{COMMAND_WRITE, COMMAND_WRITE},  {COMMAND_READ, COMMAND_WRITE},
                                  {COMMAND_WRITE, COMMAND_READ},   {COMMAND_UPDATE, COMMAND_WRITE},
                                  {COMMAND_WRITE, COMMAND_UPDATE}, {COMMAND_READ, COMMAND_UPDATE},
                                  {COMMAND_UPDATE, COMMAND_READ}};
    for (u32 i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        u32 common_words = a->word_mask[pairs[i][0]] & b->word_mask[pairs[i][1]];
        c->kind = pairs[i][0], c->other_kind = pairs[i][1];
        if (common_words) return common_words;
    }
    return 0;
}

/* Finds the first word that both commands access and one changes. */
static bool find_conflict(const struct footprint *a, const struct footprint *b,
                          struct conflict *c) {
    for (size_t i = 0, k = 0; i < a->nruns && k < b->nruns;) {
        const struct row_run *x = &a->runs[i], *y = &b->runs[k];
        u64 row = x->first > y->first ? x->first : y->first;
        bool rows_overlap = row < x->first + x->n && row < y->first + y->n;
        u32 words = rows_overlap ? conflicting_words(x, y, c) : 0;
        c->offset = row * ROW_BYTES + (words ? (u32)__builtin_ctz(words) : 0) * WORD_BYTES;
        if (words) return true;
        if (x->first + x->n <= y->first + y->n) i++;
        else k++;
    }
    return false;
}

static const struct access_site *site_at(const struct footprint *f, u64 offset, u8 access_kind) {
    for (u32 i = 0; i < f->nsites; i++) {
        const struct access_site *p = &f->sites[i];
        if (p->low <= offset && offset < p->high && p->access_kind == access_kind && p->line)
            return p;
    }
    return NULL;
}

static void describe_stream(u32 stream, char *out, size_t size) {
    if (stream < 2)
        snprintf(out, size, "%s", stream ? "the thread's default stream" : "the default stream");
    else snprintf(out, size, "stream %u", stream - 1);
}

static void write_text(const struct sim *s, const struct footprint *a, const struct footprint *b,
                       const struct conflict *c, struct sim_report *r) {
    static const char *const verbs[] = {"reads", "writes", "updates"};
    const struct access_site *site = site_at(a, c->offset, c->kind),
                             *other = site_at(b, c->offset, c->other_kind);
    char location[256], stream_text[40], other_stream_text[40];
    struct buf text = {0};
    memory_describe_element(&s->memory, SIM_BASE + c->offset, WORD_BYTES, location,
                            sizeof location);
    describe_stream(a->stream, stream_text, sizeof stream_text);
    describe_stream(b->stream, other_stream_text, sizeof other_stream_text);
    if (site) buf_printf(&text, "%s:%u: ", site->file, site->line);
    buf_printf(&text, "%s in %s %s %s, which %s in %s %s", a->description, stream_text,
               verbs[c->kind], location, b->description, other_stream_text, verbs[c->other_kind]);
    if (other && site && !strcmp(site->file, other->file))
        buf_printf(&text, " in line %u", other->line);
    else if (other) buf_printf(&text, " in %s:%u", other->file, other->line);
    buf_puts(&text, "; nothing orders the two: make the later one's stream wait for an event "
                    "recorded after the earlier one (cudaEventRecord, cudaStreamWaitEvent), or "
                    "synchronize between them");
    snprintf(r->text, sizeof r->text, "%s", buf_str(&text));
    r->line = site ? site->line : 0;
    buf_free(&text);
}

static bool is_ordered(const struct sim_stream_clock *o, const struct footprint *f) {
    return f->stream == o->stream || f->number <= o->ordered_after[f->stream];
}

/* Sets the report and returns true if the command races with an earlier one; keeps its footprint.
 */
static bool check_and_record(struct sim *s, struct footprint *f, struct sim_report *out) {
    struct race_streams *r = s->streams;
    bool is_found = false;
    f->stream = r->current.stream, f->number = r->current.sequence;
    for (u32 i = 0; i < r->n && !is_found; i++) {
        struct conflict c;
        if (is_ordered(&r->current, &r->footprints[i]) || !find_conflict(f, &r->footprints[i], &c))
            continue;
        *out = (struct sim_report){.fault = SIM_FAULT_STREAM_RACE,
                                   .count = 1,
                                   .kernel = "",
                                   .file = "",
                                   .address = SIM_BASE + c.offset};
        write_text(s, f, &r->footprints[i], &c, out);
        is_found = true;
    }
    while (r->n == MAX_FOOTPRINTS || (r->n && r->total_runs + f->nruns > MAX_TOTAL_RUNS))
        drop_footprint(r, 0);
    r->total_runs += f->nruns;
    r->footprints[r->n++] = *f;
    return is_found;
}

static const char *file_of(const struct launch *l, u32 line) {
    const struct ptx_module *m = l->module->ptx;
    for (u32 s = 0; s < l->module->nstats; s++) {
        const struct ptx_loc *at =
            source_location_of(m, l->module->ops[l->module->stat_entries[s].op].loc);
        if (at && at->line == line && at->file < m->nfiles && m->files[at->file])
            return m->files[at->file];
    }
    return "";
}

void race_streams_launch(struct launch *l, struct sim_result *out) {
    struct footprint f = {0};
    struct sim_report r;
    if (!l->sim->streams || !l->tracks_global_races || out->fault != SIM_FAULT_NONE ||
        !l->workers[0].race_shadow)
        return;
    snprintf(f.description, sizeof f.description, "kernel `%.120s`", l->code->name);
    add_allocations(l, &f);
    qsort(f.runs, f.nruns, sizeof *f.runs, by_address);
    add_sites(l, &f);
    core_add_simulation_cost(l, (f.nruns + l->sim->streams->total_runs) / 4); /* 5 ns a run */
    if (!check_and_record(l->sim, &f, &r)) return;
    r.kernel = l->code->name;
    r.file = file_of(l, r.line);
    out->reports[out->nreports++] = r;
}

/* ---- copies and fills ---- */

/* Adds the words that lie as a whole in the range: those of its first row, whole rows, and those of
 * the last. */
static void add_range(struct footprint *f, u64 low, u64 high, bool is_write) {
    low = (low + WORD_BYTES - 1) / WORD_BYTES, high /= WORD_BYTES;
    while (low < high) {
        u64 row = low / SHADOW_ROW_CELLS, at = low % SHADOW_ROW_CELLS, n = high - low,
            full_rows = at ? 0 : n / SHADOW_ROW_CELLS;
        if (!full_rows && n > SHADOW_ROW_CELLS - at) n = SHADOW_ROW_CELLS - at;
        u32 word_mask[COMMAND_ACCESS_KINDS] = {0};
        word_mask[is_write ? COMMAND_WRITE : COMMAND_READ] =
            full_rows || n == SHADOW_ROW_CELLS ? ~0u : ((1u << n) - 1) << at;
        add_run(f, row, full_rows ? full_rows : 1, word_mask);
        low += full_rows ? full_rows * SHADOW_ROW_CELLS : n;
    }
}

bool race_streams_access(struct sim *s, const char *description, const struct sim_strided_range *r,
                         struct sim_report *out) {
    struct footprint f = {0};
    if (!s->streams || r->rows > MAX_COPY_ROWS || (r->rows > 1 && r->pitch < r->width))
        return false;
    snprintf(f.description, sizeof f.description, "%s", description);
    for (u64 i = 0; i < r->rows; i++) {
        u64 low = r->address - SIM_BASE + i * r->pitch;
        add_range(&f, low, low + r->width, r->is_write);
    }
    if (!check_and_record(s, &f, out)) return false;
    out->kernel = description;
    return true;
}

/* ---- freed memory ---- */

/* Removes rows from a footprint. Allocations don't share a row. */
static void remove_range(struct footprint *f, u64 first, u64 end) {
    struct row_run *old = f->runs;
    size_t n = f->nruns;
    if (!n || old[0].first >= end || old[n - 1].first + old[n - 1].n <= first) return;
    f->runs = NULL, f->nruns = f->capacity = 0;
    for (size_t i = 0; i < n; i++) {
        struct row_run parts[2] = {old[i], old[i]};
        u64 last = old[i].first + old[i].n;
        parts[0].n = last <= first ? old[i].n : old[i].first < first ? first - old[i].first : 0;
        parts[1].first = old[i].first > end ? old[i].first : end;
        parts[1].n = last <= first || last <= parts[1].first ? 0 : last - parts[1].first;
        GROW(f->runs, f->nruns + 2, f->capacity, 64);
        for (u32 k = 0; k < 2; k++)
            if (parts[k].n) f->runs[f->nruns++] = parts[k];
    }
    free(old);
}

void race_streams_remove(struct sim *s, u64 address, u64 bytes) {
    u64 first = (address - SIM_BASE) / ROW_BYTES,
        end = (address - SIM_BASE + bytes + ROW_BYTES - 1) / ROW_BYTES;
    for (u32 i = 0; s->streams && i < s->streams->n; i++) {
        s->streams->total_runs -= s->streams->footprints[i].nruns;
        remove_range(&s->streams->footprints[i], first, end);
        s->streams->total_runs += s->streams->footprints[i].nruns;
    }
}

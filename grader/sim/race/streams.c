/* streams.c — finds races between commands of several streams: kernels, copies and fills that
 * nothing orders, if one changes what the other accesses. The server calls it by sim.h.
 *
 * The simulator executes commands in the order of the calls, so results never show such a race. But
 * the host passes for each command which others it comes after (struct sim_stream_clock), and the
 * footprint of each (footprint.h) is kept until every later command comes after it. A kernel's
 * bytes come from its shadow memory (shadow.c), which covers all allocations while streams are in
 * use. In kernels without accesses narrower than a word, an access counts for the whole word.
 *
 * Any number of commands is kept. A stream's later access replaces earlier ones of its own: a
 * command that comes after the later one comes after both, and one that doesn't conflicts with the
 * later one, too. So a byte is in at most one footprint of each stream and kind of access, which
 * bounds the memory, and nothing is lost. */
#include "common/grow.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/race/footprint.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SITES = 64,
    MAX_COPY_ROWS = 1 << 24 /* of a strided copy, of which the first are checked */
};
_Static_assert(SHADOW_ROW_CELLS == 32 && FOOTPRINT_ROW_BYTES == 32,
               "a mask has a bit for each cell of a row, and for each byte of a footprint's row");

struct race_streams {
    struct sim_stream_clock current;
    struct footprint *footprints; /* in the order of the commands */
    size_t n, capacity;
};

static size_t total_runs(const struct race_streams *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) n += r->footprints[i].nruns;
    return n;
}

void race_streams_clear(struct sim *s) {
    for (size_t i = 0; s->streams && i < s->streams->n; i++)
        race_footprint_free(&s->streams->footprints[i]);
    if (s->streams) s->streams->n = 0;
}

void race_streams_free(struct sim *s) {
    race_streams_clear(s);
    if (s->streams) free(s->streams->footprints);
    free(s->streams);
    s->streams = NULL;
}

/* Frees footprints that are empty, or that every later command comes after. */
static void drop_finished(struct race_streams *r) {
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct footprint *f = &r->footprints[i];
        if (f->nruns && f->number > r->current.permanently_after[f->stream])
            r->footprints[kept++] = *f;
        else race_footprint_free(f);
    }
    r->n = kept;
}

void race_streams_set_clock(struct sim *s, const struct sim_stream_clock *o) {
    if (!o || !o->sequence || o->stream >= SIM_MAX_STREAMS) return race_streams_free(s);
    if (!s->streams) s->streams = xcalloc(1, sizeof *s->streams);
    s->streams->current = *o;
    drop_finished(s->streams);
}

/* ---- a kernel's accesses ---- */

/* The cells of a shadow row that were accessed, by kind of access. */
struct row_cells {
    u32 mask[COMMAND_ACCESS_KINDS];
};

static void read_shadow_row(const struct race_shadow *p, u64 row, struct row_cells *c) {
    enum shadow_row_state state = shadow_row_state(p, row);
    if (state == ROW_EMPTY) return;
    if (state == ROW_COMPACT) {
        c->mask[COMMAND_READ] |= p->rows[row].reader_block ? ~0u : 0;
        c->mask[COMMAND_WRITE] |= p->rows[row].writer_block ? ~0u : 0;
        return;
    }
    for (u32 i = 0; i < SHADOW_ROW_CELLS; i++) {
        u64 cell = row * SHADOW_ROW_CELLS + i;
        c->mask[COMMAND_READ] |= (u32)(p->reader_block[cell] != 0) << i;
        c->mask[COMMAND_WRITE] |= (u32)(p->writer_block[cell] != 0) << i;
        c->mask[COMMAND_UPDATE] |= (u32)(race_updater_block(p, cell) != 0) << i;
    }
}

/* Returns the bytes of 8 cells that are words. */
static u32 bytes_of_words(u32 words) {
    u32 bytes = 0;
    for (u32 i = 0; i < 8; i++) bytes |= (words >> i & 1 ? 15u : 0) << 4 * i;
    return bytes;
}

static bool is_uniform(const struct row_cells *c) {
    bool all = true;
    for (u32 k = 0; k < COMMAND_ACCESS_KINDS; k++) all &= !c->mask[k] || c->mask[k] == ~0u;
    return all;
}

/* Adds a shadow row, whose cells are bytes or words. */
static void add_shadow_row(struct footprint *f, u64 row, u32 shift, const struct row_cells *c) {
    u32 rows = 1u << shift;
    if (!shift || is_uniform(c)) return race_footprint_add_rows(f, row * rows, rows, c->mask);
    for (u32 i = 0; i < rows; i++) {
        u32 byte_mask[COMMAND_ACCESS_KINDS];
        for (u32 k = 0; k < COMMAND_ACCESS_KINDS; k++)
            byte_mask[k] = bytes_of_words(c->mask[k] >> 8 * i);
        race_footprint_add_rows(f, row * rows + i, 1, byte_mask);
    }
}

static void add_shadow_rows(const struct launch *l, struct footprint *f, u64 low, u64 high) {
    u32 shift = l->global_shift, row_bytes = SHADOW_ROW_CELLS << shift;
    for (u64 row = low / row_bytes; row * row_bytes < high; row++) {
        struct row_cells c = {{0}};
        for (u32 i = 0; i < l->nworkers; i++) read_shadow_row(l->workers[i].race_shadow, row, &c);
        add_shadow_row(f, row, shift, &c);
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
    u64 scanned_bytes = 0;
    for (unsigned i = 0; i < m->count; i++) {
        u64 low = m->allocations[i].start, high = low + m->allocations[i].size;
        if (low < all.low) low = all.low;
        if (high > all.high) high = all.high;
        if (low >= high) continue;
        scanned_bytes += high - low;
        add_shadow_rows(l, f, low, high);
    }
    race_footprint_sort(f);
    core_add_simulation_cost(l, (scanned_bytes / (SHADOW_ROW_CELLS << l->global_shift)) *
                                    l->nworkers / 4); /* 5 ns a row of a worker */
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
    f->sites = xrealloc(f->sites, (f->nsites + 1) * sizeof *f->sites);
}

/* ---- two commands ---- */

static const struct access_site *site_at(const struct footprint *f, u64 offset, u8 access_kind) {
    for (u32 i = 0; i < f->nsites; i++) {
        const struct access_site *p = &f->sites[i];
        if (p->low <= offset && offset < p->high && p->access_kind == access_kind && p->line)
            return p;
    }
    return NULL;
}

static void describe_stream(const struct footprint *f, char *out, size_t size) {
    if (f->is_graph_node) snprintf(out, size, "a node of a graph");
    else if (f->stream < 2)
        snprintf(out, size, "%s", f->stream ? "the thread's default stream" : "the default stream");
    else snprintf(out, size, "stream %u", f->stream - 1);
}

static const char *advice(const struct footprint *a, const struct footprint *b) {
    return a->is_graph_node && b->is_graph_node
               ? "; nothing orders the two: add an edge between the nodes, or capture a wait for "
                 "an "
                 "event between them (cudaEventRecord, cudaStreamWaitEvent)"
               : "; nothing orders the two: make the later one's stream wait for an event "
                 "recorded after the earlier one (cudaEventRecord, cudaStreamWaitEvent), or "
                 "synchronize between them";
}

static void write_text(const struct sim *s, const struct footprint *a, const struct footprint *b,
                       const struct conflict *c, struct sim_report *r) {
    static const char *const verbs[] = {"reads", "writes", "updates"};
    const struct access_site *site = site_at(a, c->offset, c->kind),
                             *other = site_at(b, c->offset, c->other_kind);
    char location[256], stream_text[40], other_stream_text[40];
    struct buf text = {0};
    memory_describe_element(&s->memory, SIM_BASE + c->offset, c->bytes, location, sizeof location);
    describe_stream(a, stream_text, sizeof stream_text);
    describe_stream(b, other_stream_text, sizeof other_stream_text);
    if (site) buf_printf(&text, "%s:%u: ", site->file, site->line);
    buf_printf(&text, "%s in %s %s %s, which %s in %s %s", a->description, stream_text,
               a->is_free ? "frees" : verbs[c->kind], location, b->description, other_stream_text,
               verbs[c->other_kind]);
    if (other && site && !strcmp(site->file, other->file))
        buf_printf(&text, " in line %u", other->line);
    else if (other) buf_printf(&text, " in %s:%u", other->file, other->line);
    buf_puts(&text, advice(a, b));
    snprintf(r->text, sizeof r->text, "%s", buf_str(&text));
    r->line = site ? site->line : 0;
    buf_free(&text);
}

static bool is_ordered(const struct sim_stream_clock *o, const struct footprint *f) {
    return f->stream == o->stream || f->number <= o->ordered_after[f->stream];
}

/* Keeps the footprint, which replaces what it makes redundant. */
static void record(struct race_streams *r, const struct footprint *f) {
    if (!f->nruns) {
        free(f->runs), free(f->sites);
        return;
    }
    for (size_t i = 0; i < r->n; i++)
        if (r->footprints[i].stream == f->stream) race_footprint_supersede(&r->footprints[i], f);
    GROW(r->footprints, r->n + 1, r->capacity, 16);
    r->footprints[r->n++] = *f;
}

/* Sets the report and returns true if the command races with an earlier one; keeps its footprint.
 */
static bool check_and_record(struct sim *s, struct footprint *f, struct sim_report *out) {
    struct race_streams *r = s->streams;
    bool is_found = false;
    f->stream = r->current.stream, f->number = r->current.sequence;
    f->is_graph_node = r->current.is_graph_node;
    for (size_t i = 0; i < r->n && !is_found; i++) {
        struct conflict c;
        if (is_ordered(&r->current, &r->footprints[i]) ||
            !race_footprint_find_conflict(f, &r->footprints[i], &c))
            continue;
        *out = (struct sim_report){.fault = SIM_FAULT_STREAM_RACE,
                                   .count = 1,
                                   .kernel = "",
                                   .file = "",
                                   .address = SIM_BASE + c.offset};
        write_text(s, f, &r->footprints[i], &c, out);
        is_found = true;
    }
    record(r, f);
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
    add_sites(l, &f);
    core_add_simulation_cost(l, (f.nruns + total_runs(l->sim->streams)) / 4); /* 5 ns a run */
    if (!check_and_record(l->sim, &f, &r)) return;
    r.kernel = l->code->name;
    r.file = file_of(l, r.line);
    out->reports[out->nreports++] = r;
}

/* ---- copies and fills ---- */

bool race_streams_access(struct sim *s, const char *description, const struct sim_strided_range *r,
                         struct sim_report *out) {
    struct footprint f = {0};
    if (!s->streams || (r->rows > 1 && r->pitch < r->width)) return false;
    snprintf(f.description, sizeof f.description, "%s", description);
    f.is_free = r->is_free;
    for (u64 i = 0; i < r->rows && i < MAX_COPY_ROWS; i++) {
        u64 low = r->address - SIM_BASE + i * r->pitch;
        race_footprint_add_bytes(&f, low, low + r->width,
                                 r->is_write ? COMMAND_WRITE : COMMAND_READ);
    }
    if (!check_and_record(s, &f, out)) return false;
    out->kernel = description;
    return true;
}

/* ---- freed memory ---- */

void race_streams_remove(struct sim *s, u64 address, u64 bytes) {
    u64 first = (address - SIM_BASE) / FOOTPRINT_ROW_BYTES,
        end = (address - SIM_BASE + bytes + FOOTPRINT_ROW_BYTES - 1) / FOOTPRINT_ROW_BYTES;
    for (size_t i = 0; s->streams && i < s->streams->n; i++)
        race_footprint_remove_rows(&s->streams->footprints[i], first, end);
}

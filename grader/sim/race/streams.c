/* streams.c — finds races between commands of several streams: kernels, copies, fills and frees
 * that nothing orders, if one changes what the other accesses. The device server calls it through
 * sim.h, and each launch at its end.
 *
 * The simulator executes commands in the order of the calls, so results never show such a race. But
 * for each command the server says which earlier ones it is ordered after (struct
 * sim_stream_clock), and the command's footprint (footprint.h) is kept until all commands still to
 * come are ordered after it. A kernel's footprint comes from its shadow memory (shadow.c), which
 * covers all allocations while streams are in use. The shadow's cells are words, or bytes in
 * kernels with accesses narrower than a word.
 *
 * Any number of commands is kept. When a stream accesses a byte again in the same way (reads,
 * writes or updates it), only the later access is kept. A command that is ordered after the later
 * access is ordered after both; any other conflicts with the later one just as with the earlier
 * one. So a byte is in at most one footprint of each stream and kind of access, which bounds the
 * memory, and nothing is lost. */
#include "common/grow.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/race/footprint.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SITES = 64,          /* instructions of one kernel; reports lack the line of others */
    MAX_COPY_ROWS = 1 << 24, /* the first rows of a strided copy are checked, no others */
    SCANS_PER_COST_UNIT = 4, /* shadow rows and row runs: 5 ns each, a unit is 20 ns */
    DEFAULT_STREAMS = 2      /* of each device: the default stream, the thread's */
};
_Static_assert(SHADOW_ROW_CELLS == 32 && FOOTPRINT_ROW_BYTES == 32,
               "a mask has a bit for each cell of a row, and for each byte of a footprint's row");

struct race_streams {
    struct sim_stream_clock current;
    struct footprint *footprints; /* in the order of the commands */
    size_t n, capacity;
};

static size_t total_runs(const struct race_streams *streams) {
    size_t n = 0;
    for (size_t i = 0; i < streams->n; i++) n += streams->footprints[i].nruns;
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

/* Frees footprints that can't race any more: empty ones, and those that all commands still to come
 * are ordered after. */
static void drop_settled(struct race_streams *streams) {
    size_t retained = 0;
    for (size_t i = 0; i < streams->n; i++) {
        struct footprint *f = &streams->footprints[i];
        if (f->nruns && f->sequence > streams->current.all_later_ordered_after[f->stream])
            streams->footprints[retained++] = *f;
        else race_footprint_free(f);
    }
    streams->n = retained;
}

void race_streams_set_clock(struct sim *s, const struct sim_stream_clock *clock) {
    if (!clock || !clock->sequence || clock->stream >= SIM_MAX_STREAMS) {
        race_streams_free(s);
        return;
    }
    if (!s->streams) s->streams = xcalloc(1, sizeof *s->streams);
    s->streams->current = *clock;
    drop_settled(s->streams);
}

/* ---- a kernel's accesses ---- */

/* The cells of a shadow row that were accessed, by kind of access. */
struct row_cells {
    u32 mask[COMMAND_ACCESS_KINDS];
};

/* A compact row has one epoch for all its cells; rows with atomics are never compact. */
static void read_shadow_row(const struct race_shadow *shadow, u64 row, struct row_cells *c) {
    enum shadow_row_state state = shadow_row_state(shadow, row);
    if (state == ROW_EMPTY) return;
    if (state == ROW_COMPACT) {
        c->mask[COMMAND_READ] |= shadow->rows[row].reader_block ? ~0u : 0;
        c->mask[COMMAND_WRITE] |= shadow->rows[row].writer_block ? ~0u : 0;
        return;
    }
    for (u32 i = 0; i < SHADOW_ROW_CELLS; i++) {
        u64 cell = row * SHADOW_ROW_CELLS + i;
        c->mask[COMMAND_READ] |= (u32)(shadow->reader_block[cell] != 0) << i;
        c->mask[COMMAND_WRITE] |= (u32)(shadow->writer_block[cell] != 0) << i;
        c->mask[COMMAND_UPDATE] |= (u32)(race_updater_block(shadow, cell) != 0) << i;
    }
}

/* Turns a mask of 8 words into the mask of their 32 bytes. */
static u32 widen_mask(u32 words) {
    u32 bytes = 0;
    for (u32 i = 0; i < 8; i++) bytes |= (words >> i & 1 ? 15u : 0) << 4 * i;
    return bytes;
}

static bool is_all_or_none(const struct row_cells *c) {
    bool all_or_none = true;
    for (u32 k = 0; k < COMMAND_ACCESS_KINDS; k++) all_or_none &= !c->mask[k] || c->mask[k] == ~0u;
    return all_or_none;
}

/* Adds a shadow row, whose cells have 1 << cell_shift bytes: bytes, or words. */
static void add_shadow_row(struct footprint *f, u64 row, u32 cell_shift,
                           const struct row_cells *c) {
    u32 footprint_rows = 1u << cell_shift;
    if (!cell_shift || is_all_or_none(c)) {
        race_footprint_add_rows(f, row * footprint_rows, footprint_rows, c->mask);
        return;
    }
    for (u32 i = 0; i < footprint_rows; i++) {
        u32 byte_mask[COMMAND_ACCESS_KINDS];
        for (u32 k = 0; k < COMMAND_ACCESS_KINDS; k++)
            byte_mask[k] = widen_mask(c->mask[k] >> 8 * i);
        race_footprint_add_rows(f, row * footprint_rows + i, 1, byte_mask);
    }
}

static void add_shadow_rows(const struct launch *l, struct footprint *f, u64 low, u64 high) {
    u32 cell_shift = l->global_shift, row_bytes = SHADOW_ROW_CELLS << cell_shift;
    for (u64 row = low / row_bytes; row * row_bytes < high; row++) {
        struct row_cells c = {{0}};
        for (u32 i = 0; i < l->nworkers; i++) read_shadow_row(l->workers[i].race_shadow, row, &c);
        add_shadow_row(f, row, cell_shift, &c);
    }
}

static void extend_range(struct offset_range *all, const struct offset_range *range) {
    if (range->low < all->low) all->low = range->low;
    if (range->high > all->high) all->high = range->high;
}

static struct offset_range accessed_range(const struct launch *l) {
    struct offset_range all = {.low = UINT64_MAX};
    for (u32 i = 0; i < l->nworkers; i++)
        extend_range(&all, &l->workers[i].race_shadow->accessed_range);
    return all;
}

struct offset_range race_insn_range(const struct launch *l, u32 stat_index) {
    struct offset_range all = {.low = UINT64_MAX};
    for (u32 i = 0; i < l->nworkers; i++)
        extend_range(&all, &l->workers[i].race_shadow->insn_ranges[stat_index]);
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
    u64 scanned_rows = scanned_bytes / (SHADOW_ROW_CELLS << l->global_shift) * l->nworkers;
    core_add_simulation_cost(l, scanned_rows / SCANS_PER_COST_UNIT);
}

static struct access_site make_site(const struct launch *l, const struct stat_entry *entry,
                                    struct offset_range range) {
    const struct ptx_module *ptx = l->module->ptx;
    const struct ptx_loc *at = source_location_of(ptx, l->module->ops[entry->op].loc);
    const char *path =
                   at && at->file < ptx->nfiles && ptx->files[at->file] ? ptx->files[at->file] : "",
               *slash = strrchr(path, '/');
    struct access_site site = {.low = range.low,
                               .high = range.high,
                               .line = at ? at->line : 0,
                               .access_kind = entry->verb == MEM_LOAD    ? COMMAND_READ
                                              : entry->verb == MEM_STORE ? COMMAND_WRITE
                                                                         : COMMAND_UPDATE,
                               .path = path};
    snprintf(site.file, sizeof site.file, "%.60s", slash ? slash + 1 : path);
    return site;
}

/* Adds the instructions that accessed global memory, each with its range of addresses. */
static void add_sites(const struct launch *l, struct footprint *f) {
    f->sites = xcalloc(MAX_SITES, sizeof *f->sites);
    for (u32 i = 0; i < l->module->nstats && f->nsites < MAX_SITES; i++) {
        struct offset_range range = race_insn_range(l, i);
        if (range.low < range.high)
            f->sites[f->nsites++] = make_site(l, &l->module->stat_entries[i], range);
    }
    f->sites = xrealloc(f->sites, (f->nsites + 1) * sizeof *f->sites);
}

/* ---- two commands ---- */

/* Returns the site that accessed the byte, or NULL. Only the lowest and the highest address of each
 * site are known: of several that may have accessed it, this is the one with the smallest range. */
static const struct access_site *site_at(const struct footprint *f, u64 offset, u8 access_kind) {
    const struct access_site *found = NULL;
    for (u32 i = 0; i < f->nsites; i++) {
        const struct access_site *site = &f->sites[i];
        if (site->low > offset || offset >= site->high || site->access_kind != access_kind ||
            !site->line)
            continue;
        if (!found || site->high - site->low < found->high - found->low) found = site;
    }
    return found;
}

/* Writes "stream 2", with several devices "stream 2 of device 1". */
static void describe_stream(const struct sim *s, const struct footprint *f, char *out,
                            size_t size) {
    u32 ndefault = DEFAULT_STREAMS * s->memory.ndevices;
    char device[24] = "";
    if (s->memory.ndevices > 1) snprintf(device, sizeof device, " of device %u", f->device);
    if (f->is_graph_node) snprintf(out, size, "a node of a graph%s", device);
    else if (f->stream >= ndefault)
        snprintf(out, size, "stream %u%s", f->stream - ndefault + 1, device);
    else
        snprintf(out, size, "the %sdefault stream%s",
                 f->stream % DEFAULT_STREAMS ? "thread's " : "", device);
}

static const char *advice(const struct footprint *later, const struct footprint *earlier) {
    return later->is_graph_node && earlier->is_graph_node
               ? "; nothing orders the two: add an edge between the nodes, or capture a wait for "
                 "an event between them (cudaEventRecord, cudaStreamWaitEvent)"
               : "; nothing orders the two: make the later one's stream wait for an event "
                 "recorded after the earlier one (cudaEventRecord, cudaStreamWaitEvent), or "
                 "synchronize between them";
}

/* Says where the host code calls a copy or a fill, and how large it is: there may be several. */
static void describe_call(const struct footprint *f, struct buf *out) {
    if (!f->bytes || !f->host_line) return;
    buf_printf(out, "; %s is in line %u of the host code (%llu bytes)", f->description,
               f->host_line, (unsigned long long)f->bytes);
}

/* Writes a report such as "a.cu:9: kernel `add` in stream 2 reads element 3 of `x` (512 of 4
 * bytes), which kernel `set` in stream 1 writes in line 5; nothing orders the two: …". */
static void write_report(const struct sim *s, const struct footprint *later,
                         const struct footprint *earlier, const struct conflict *c,
                         struct sim_report *report) {
    static const char *const verbs[] = {"reads", "writes", "updates"};
    const struct access_site *site = site_at(later, c->offset, c->kind),
                             *other = site_at(earlier, c->offset, c->other_kind);
    char location[256], stream_text[64], other_stream_text[64];
    struct buf text = {0};
    memory_describe_element(&s->memory, SIM_BASE + c->offset, c->bytes, location, sizeof location);
    describe_stream(s, later, stream_text, sizeof stream_text);
    describe_stream(s, earlier, other_stream_text, sizeof other_stream_text);
    if (site) buf_printf(&text, "%s:%u: ", site->file, site->line);
    buf_printf(&text, "%s in %s %s %s, which %s in %s %s", later->description, stream_text,
               later->verb ? later->verb : verbs[c->kind], location, earlier->description,
               other_stream_text, earlier->verb ? earlier->verb : verbs[c->other_kind]);
    if (other && site && !strcmp(site->file, other->file))
        buf_printf(&text, " in line %u", other->line);
    else if (other) buf_printf(&text, " in %s:%u", other->file, other->line);
    describe_call(earlier, &text);
    describe_call(later, &text);
    buf_puts(&text, advice(later, earlier));
    *report = (struct sim_report){.fault = SIM_FAULT_STREAM_RACE,
                                  .count = 1,
                                  .kernel = "",
                                  .file = site ? site->path : "",
                                  .line = site ? site->line : 0,
                                  .address = SIM_BASE + c->offset};
    snprintf(report->text, sizeof report->text, "%s", buf_str(&text));
    buf_free(&text);
}

static bool is_ordered(const struct sim_stream_clock *clock, const struct footprint *f) {
    return f->stream == clock->stream || f->sequence <= clock->ordered_after[f->stream];
}

/* Keeps the footprint, which replaces what it makes redundant. */
static void record(struct race_streams *streams, struct footprint *f) {
    if (!f->nruns) {
        race_footprint_free(f);
        return;
    }
    for (size_t i = 0; i < streams->n; i++)
        if (streams->footprints[i].stream == f->stream)
            race_footprint_supersede(&streams->footprints[i], f);
    GROW(streams->footprints, streams->n + 1, streams->capacity, 16);
    streams->footprints[streams->n++] = *f;
}

/* Gives the footprint to the current command. Returns true, with a report, if the command races
 * with an earlier one. Keeps the footprint. */
static bool check_and_record(struct sim *s, struct footprint *f, struct sim_report *report) {
    struct race_streams *streams = s->streams;
    bool is_found = false;
    f->stream = streams->current.stream;
    f->device = s->memory.device;
    f->sequence = streams->current.sequence;
    f->is_graph_node = streams->current.is_graph_node;
    for (size_t i = 0; i < streams->n && !is_found; i++) {
        const struct footprint *earlier = &streams->footprints[i];
        struct conflict c;
        if (is_ordered(&streams->current, earlier) || !race_footprint_find_conflict(f, earlier, &c))
            continue;
        write_report(s, f, earlier, &c, report);
        is_found = true;
    }
    record(streams, f);
    return is_found;
}

void race_streams_check_launch(struct launch *l, struct sim_result *out) {
    struct footprint f = {0};
    struct sim_report report;
    if (!l->sim->streams || !l->tracks_global_races || out->fault != SIM_FAULT_NONE ||
        !l->workers[0].race_shadow)
        return;
    snprintf(f.description, sizeof f.description, "kernel `%.120s`", l->code->name);
    add_allocations(l, &f);
    add_sites(l, &f);
    out->peer_bytes = race_peer_bytes(l);
    core_add_simulation_cost(l, (f.nruns + total_runs(l->sim->streams)) / SCANS_PER_COST_UNIT);
    if (!check_and_record(l->sim, &f, &report)) return;
    report.kernel = l->code->name;
    out->reports[out->nreports++] = report;
}

/* ---- copies, fills and frees ---- */

bool race_streams_check_range(struct sim *s, const char *description,
                              const struct sim_strided_range *range, struct sim_report *report) {
    struct footprint f = {0};
    bool has_overlapping_rows =
        range->rows > 1 && range->pitch < range->width; /* an invalid copy */
    if (!s->streams || has_overlapping_rows) return false;
    snprintf(f.description, sizeof f.description, "%s", description);
    f.verb = range->verb;
    f.bytes = range->verb ? 0 : range->width * range->rows;
    f.host_line = s->streams->current.host_line;
    for (u64 i = 0; i < range->rows && i < MAX_COPY_ROWS; i++) {
        u64 low = range->address - SIM_BASE + i * range->pitch;
        race_footprint_add_bytes(&f, low, low + range->width,
                                 range->is_write ? COMMAND_WRITE : COMMAND_READ);
    }
    if (!check_and_record(s, &f, report)) return false;
    report->kernel = description; /* reports call the command that, whatever it is */
    return true;
}

/* ---- the current command's accesses ---- */

_Static_assert((int)SIM_ACCESS_ROW_BYTES == (int)FOOTPRINT_ROW_BYTES, "rows of one size");

static void describe_run(const struct footprint *f, const struct row_run *r,
                         struct sim_access_run *out) {
    u32 written = r->byte_mask[COMMAND_WRITE], updated = r->byte_mask[COMMAND_UPDATE],
        changed = written | updated, first = changed ? changed : r->byte_mask[COMMAND_READ];
    u8 access_kind = written ? COMMAND_WRITE : updated ? COMMAND_UPDATE : COMMAND_READ;
    if (written) first = written;
    const struct access_site *site =
        site_at(f, r->first * FOOTPRINT_ROW_BYTES + (u32)__builtin_ctz(first), access_kind);
    *out = (struct sim_access_run){.address = SIM_BASE + r->first * FOOTPRINT_ROW_BYTES,
                                   .rows = r->n,
                                   .read_mask = r->byte_mask[COMMAND_READ],
                                   .write_mask = changed};
    int n = snprintf(out->description, sizeof out->description, "%s", f->description);
    if (site)
        snprintf(out->description + n, sizeof out->description - (size_t)n, " in %s:%u", site->file,
                 site->line);
}

unsigned race_streams_list(const struct sim *s, u64 low, u64 high, struct sim_access_run *out,
                           unsigned max) {
    const struct race_streams *r = s->streams;
    unsigned n = 0;
    for (size_t i = 0; r && i < r->n; i++) {
        const struct footprint *f = &r->footprints[i];
        if (f->stream != r->current.stream || f->sequence != r->current.sequence) continue;
        for (size_t k = 0; k < f->nruns && n < max; k++) {
            u64 first = SIM_BASE + f->runs[k].first * FOOTPRINT_ROW_BYTES;
            if (first < high && first + f->runs[k].n * FOOTPRINT_ROW_BYTES > low)
                describe_run(f, &f->runs[k], &out[n++]);
        }
    }
    return n;
}

/* ---- freed memory ---- */

void race_streams_remove(struct sim *s, u64 address, u64 bytes) {
    u64 first = (address - SIM_BASE) / FOOTPRINT_ROW_BYTES,
        end = (address - SIM_BASE + bytes + FOOTPRINT_ROW_BYTES - 1) / FOOTPRINT_ROW_BYTES;
    for (size_t i = 0; s->streams && i < s->streams->n; i++)
        race_footprint_remove_rows(&s->streams->footprints[i], first, end);
}

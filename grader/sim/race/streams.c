/* streams.c — races between commands of several streams: kernels, copies and fills that nothing
 * orders, of which one changes what the other touches.
 *
 * Commands are carried out in the order of the calls, so nothing is seen to go wrong. But the host
 * says of each which others it comes after (struct sim_stream_clock), and what each touched is
 * kept, word by word, until all that can follow comes after it. A kernel's words come from its
 * notes of races (planes.c), for which all memory is looked at while streams are in use. Only words
 * that were touched whole count; atomics of two kernels do not race. What is kept is bounded: of
 * too many commands the first are forgotten. */
#include "common/grow.h"
#include "grader/sim/core/place.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, ROW = WORD * RACE_ROW, MOST_FOOTPRINTS = 64, MOST_PLACES = 64 };
enum {
    MOST_RUNS = 1 << 17 /* of a command */,
    MOST_KEPT = 1 << 20 /* runs of all */,
    MOST_ROWS = 1 << 16 /* of a copy */
};
enum {
    MOST_LOOKED =
        1 << 23 /* rows between the first and the last that a kernel touches: a gigabyte */
};
enum { DID_READ, DID_WRITE, DID_UPDATE, DIDS };
_Static_assert(RACE_ROW == 32, "a mask has a bit for each word of a row");

/* Rows side by side whose words were touched alike. */
struct run {
    u64 first, n;
    u32 did[DIDS]; /* a bit for each word */
};
/* Where a kernel touches a range. */
struct place {
    u64 low, high; /* offsets from SIM_BASE */
    u32 line;
    u8 did;
    char file[64];
};
struct footprint {
    u32 stream, number;
    char what[136];
    struct run *runs; /* ascending */
    size_t nruns, capacity;
    struct place *places;
    u32 nplaces;
};
struct race_streams {
    struct sim_stream_clock now;
    struct footprint list[MOST_FOOTPRINTS];
    u32 n;
    size_t kept; /* runs of all */
};

static void free_footprint(struct footprint *f) {
    free(f->runs);
    free(f->places);
}

static void drop(struct race_streams *r, u32 i) {
    r->kept -= r->list[i].nruns;
    free_footprint(&r->list[i]);
    memmove(&r->list[i], &r->list[i + 1], (--r->n - i) * sizeof *r->list);
}

void race_streams_clear(struct sim *s) {
    while (s->streams && s->streams->n) drop(s->streams, s->streams->n - 1);
}

void race_streams_free(struct sim *s) {
    race_streams_clear(s);
    free(s->streams);
    s->streams = NULL;
}

void race_streams_order(struct sim *s, const struct sim_stream_clock *o) {
    if (!o || !o->sequence || o->stream >= SIM_MAX_STREAMS || !s->options.sanitize)
        return race_streams_free(s);
    if (!s->streams) s->streams = xcalloc(1, sizeof *s->streams);
    s->streams->now = *o;
    for (u32 i = s->streams->n; i-- > 0;)
        if (s->streams->list[i].number <= o->permanently_after[s->streams->list[i].stream])
            drop(s->streams, i);
}

/* ---- what a command touched ---- */

/* `n` rows from `row` on, in ascending order but for the row that the last access ended in. */
static void add_run(struct footprint *f, u64 row, u64 n, const u32 did[DIDS]) {
    struct run *last = f->nruns ? &f->runs[f->nruns - 1] : NULL, own = {.first = row, .n = n};
    if (!n || !(did[DID_READ] | did[DID_WRITE] | did[DID_UPDATE]) || f->nruns == MOST_RUNS) return;
    if (last && last->first + last->n == row && !memcmp(last->did, did, sizeof last->did)) {
        last->n += n;
        return;
    }
    bool again = last && last->first + last->n == row + 1;
    for (u32 d = 0; d < DIDS; d++) own.did[d] = did[d] | (again ? last->did[d] : 0);
    if (again && !--last->n) f->nruns--;
    GROW(f->runs, f->nruns + 1, f->capacity, 64);
    f->runs[f->nruns++] = own;
}

/* The words of a plane's row of notes that were all touched: of RACE_ROW granules, or of a part of
 * a row of words. */
static void plane_row(const struct race_plane *p, u64 row, u32 shift, u32 did[DIDS]) {
    u32 each = WORD >> shift, words = RACE_ROW / each;
    enum race_row_state state = race_row_state(p, row);
    if (state == ROW_UNTOUCHED) return;
    if (state == ROW_FLAT && each == 1) {
        did[DID_READ] |= p->rows[row].read ? ~0u : 0,
            did[DID_WRITE] |= p->rows[row].write ? ~0u : 0;
        return;
    }
    for (u32 w = 0; w < words; w++) {
        u32 n[DIDS] = {0}, bit = (u32)(row * words + w) % RACE_ROW;
        for (u32 i = 0; i < each; i++) {
            u64 g = row * RACE_ROW + w * each + i;
            n[DID_READ] += race_read_by(p, g) != 0;
            n[DID_WRITE] += race_written_by(p, g) != 0;
            n[DID_UPDATE] += race_updated_by(p, g) != 0;
        }
        for (u32 d = 0; d < DIDS; d++) did[d] |= (u32)(n[d] == each) << bit;
    }
}

static void add_rows(const struct launch *l, struct footprint *f, u64 low, u64 high) {
    u32 shift = l->global_shift, parts = WORD >> shift;
    for (u64 row = low / ROW; row * ROW < high; row++) {
        u32 did[DIDS] = {0};
        for (u32 i = 0; i < l->nworkers; i++)
            for (u32 k = 0; k < parts; k++)
                plane_row(l->workers[i].race_shadow, row * parts + k, shift, did);
        add_run(f, row, 1, did);
    }
}

static struct race_range touched_range(const struct launch *l) {
    struct race_range all = {UINT64_MAX, 0};
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct race_range *r = &l->workers[i].race_shadow->range;
        if (r->low < all.low) all.low = r->low;
        if (r->high > all.high) all.high = r->high;
    }
    return all;
}

/* By allocation: between them lies much that nobody touches. */
static void add_memory(struct launch *l, struct footprint *f) {
    const struct memory *m = &l->sim->memory;
    struct race_range all = touched_range(l);
    u64 left = MOST_LOOKED * (u64)ROW;
    for (unsigned i = 0; i < m->count; i++) {
        u64 low = m->allocations[i].start, high = low + m->allocations[i].size;
        if (low < all.low) low = all.low;
        if (high > all.high) high = all.high;
        if (low >= high) continue;
        if (high - low > left) high = low + left;
        left -= high - low;
        add_rows(l, f, low, high);
    }
    core_add_simulation_cost(l, (MOST_LOOKED - left / ROW) * l->nworkers /
                                    4); /* 5 ns a row of a worker */
}

static int by_address(const void *x, const void *y) {
    const struct run *a = x, *b = y;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_places(const struct launch *l, struct footprint *f) {
    f->places = xcalloc(MOST_PLACES, sizeof *f->places);
    for (u32 s = 0; s < l->module->nstats && f->nplaces < MOST_PLACES; s++) {
        struct place p = {.low = UINT64_MAX};
        const struct stat_entry *o = &l->module->stat_entries[s];
        for (u32 i = 0; i < l->nworkers; i++) {
            const struct race_range *t = &l->workers[i].race_shadow->touched[s];
            if (t->low < p.low) p.low = t->low;
            if (t->high > p.high) p.high = t->high;
        }
        if (p.low >= p.high) continue;
        const struct ptx_module *x = l->module->ptx;
        const struct ptx_loc *at = source_location_of(x, l->module->ops[o->op].loc);
        const char *file =
                       at && at->file < x->nfiles && x->files[at->file] ? x->files[at->file] : "",
                   *slash = strrchr(file, '/');
        p.did = o->verb == MEM_LOAD ? DID_READ : o->verb == MEM_STORE ? DID_WRITE : DID_UPDATE;
        p.line = at ? at->line : 0;
        snprintf(p.file, sizeof p.file, "%.60s", slash ? slash + 1 : file);
        f->places[f->nplaces++] = p;
    }
}

/* ---- two commands ---- */

/* What raced: the words of both, and what each did there; `mine` before what is worse than a read.
 */
struct clash {
    u64 offset;
    u8 mine, others;
};

static u32 clashes(const struct run *a, const struct run *b, struct clash *c) {
    static const u8 pairs[][2] = {{DID_WRITE, DID_WRITE},  {DID_READ, DID_WRITE},
                                  {DID_WRITE, DID_READ},   {DID_UPDATE, DID_WRITE},
                                  {DID_WRITE, DID_UPDATE}, {DID_READ, DID_UPDATE},
                                  {DID_UPDATE, DID_READ}};
    for (u32 i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        u32 both = a->did[pairs[i][0]] & b->did[pairs[i][1]];
        c->mine = pairs[i][0], c->others = pairs[i][1];
        if (both) return both;
    }
    return 0;
}

/* The first word that both touch and one changes. */
static bool find_clash(const struct footprint *a, const struct footprint *b, struct clash *c) {
    for (size_t i = 0, k = 0; i < a->nruns && k < b->nruns;) {
        const struct run *x = &a->runs[i], *y = &b->runs[k];
        u64 row = x->first > y->first ? x->first : y->first;
        bool meet = row < x->first + x->n && row < y->first + y->n;
        u32 words = meet ? clashes(x, y, c) : 0;
        c->offset = row * ROW + (words ? (u32)__builtin_ctz(words) : 0) * WORD;
        if (words) return true;
        if (x->first + x->n <= y->first + y->n) i++;
        else k++;
    }
    return false;
}

static const struct place *place_at(const struct footprint *f, u64 offset, u8 did) {
    for (u32 i = 0; i < f->nplaces; i++) {
        const struct place *p = &f->places[i];
        if (p->low <= offset && offset < p->high && p->did == did && p->line) return p;
    }
    return NULL;
}

static void name_stream(u32 stream, char *out, size_t size) {
    if (stream < 2)
        snprintf(out, size, "%s", stream ? "the thread's default stream" : "the default stream");
    else snprintf(out, size, "stream %u", stream - 1);
}

static void write_text(const struct sim *s, const struct footprint *a, const struct footprint *b,
                       const struct clash *c, struct sim_report *r) {
    static const char *const does[] = {"reads", "writes", "updates"};
    const struct place *own = place_at(a, c->offset, c->mine),
                       *other = place_at(b, c->offset, c->others);
    char where[256], mine[40], theirs[40];
    struct buf text = {0};
    memory_describe_element(&s->memory, SIM_BASE + c->offset, WORD, where, sizeof where);
    name_stream(a->stream, mine, sizeof mine);
    name_stream(b->stream, theirs, sizeof theirs);
    if (own) buf_printf(&text, "%s:%u: ", own->file, own->line);
    buf_printf(&text, "%s in %s %s %s, which %s in %s %s", a->what, mine, does[c->mine], where,
               b->what, theirs, does[c->others]);
    if (other && own && !strcmp(own->file, other->file))
        buf_printf(&text, " in line %u", other->line);
    else if (other) buf_printf(&text, " in %s:%u", other->file, other->line);
    buf_puts(&text, "; nothing orders the two: let the later one's stream wait for an event that "
                    "is recorded behind the "
                    "earlier (cudaEventRecord, cudaStreamWaitEvent), or synchronise between them");
    snprintf(r->text, sizeof r->text, "%s", buf_str(&text));
    r->line = own ? own->line : 0;
    buf_free(&text);
}

static bool in_order(const struct sim_stream_clock *o, const struct footprint *f) {
    return f->stream == o->stream || f->number <= o->ordered_after[f->stream];
}

/* The report, if it races with any that came before; then it is kept. */
static bool look_and_keep(struct sim *s, struct footprint *f, struct sim_report *out) {
    struct race_streams *r = s->streams;
    bool found = false;
    f->stream = r->now.stream, f->number = r->now.sequence;
    for (u32 i = 0; i < r->n && !found; i++) {
        struct clash c;
        if (in_order(&r->now, &r->list[i]) || !find_clash(f, &r->list[i], &c)) continue;
        *out = (struct sim_report){.fault = SIM_FAULT_STREAM_RACE,
                                   .count = 1,
                                   .kernel = "",
                                   .file = "",
                                   .address = SIM_BASE + c.offset};
        write_text(s, f, &r->list[i], &c, out);
        found = true;
    }
    while (r->n == MOST_FOOTPRINTS || (r->n && r->kept + f->nruns > MOST_KEPT)) drop(r, 0);
    r->kept += f->nruns;
    r->list[r->n++] = *f;
    return found;
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
    snprintf(f.what, sizeof f.what, "kernel `%.120s`", l->code->name);
    add_memory(l, &f);
    qsort(f.runs, f.nruns, sizeof *f.runs, by_address);
    add_places(l, &f);
    core_add_simulation_cost(l, (f.nruns + l->sim->streams->kept) / 4); /* 5 ns a run */
    if (!look_and_keep(l->sim, &f, &r)) return;
    r.kernel = l->code->name;
    r.file = file_of(l, r.line);
    out->reports[out->nreports++] = r;
}

/* ---- copies and fills ---- */

/* Words that lie in the range whole: those of its first row, whole rows, those of the last. */
static void add_range(struct footprint *f, u64 low, u64 high, bool write) {
    low = (low + WORD - 1) / WORD, high /= WORD;
    while (low < high) {
        u64 row = low / RACE_ROW, at = low % RACE_ROW, n = high - low,
            whole = at ? 0 : n / RACE_ROW;
        if (!whole && n > RACE_ROW - at) n = RACE_ROW - at;
        u32 did[DIDS] = {0};
        did[write ? DID_WRITE : DID_READ] = whole || n == RACE_ROW ? ~0u : ((1u << n) - 1) << at;
        add_run(f, row, whole ? whole : 1, did);
        low += whole ? whole * RACE_ROW : n;
    }
}

bool race_streams_access(struct sim *s, const char *what, const struct sim_strided_range *r,
                         struct sim_report *out) {
    struct footprint f = {0};
    if (!s->streams || r->rows > MOST_ROWS || (r->rows > 1 && r->pitch < r->width)) return false;
    snprintf(f.what, sizeof f.what, "%s", what);
    for (u64 i = 0; i < r->rows; i++) {
        u64 low = r->address - SIM_BASE + i * r->pitch;
        add_range(&f, low, low + r->width, r->is_write);
    }
    if (!look_and_keep(s, &f, out)) return false;
    out->kernel = what;
    return true;
}

/* ---- memory that goes ---- */

/* Allocations are rows apart. */
static void forget_in(struct footprint *f, u64 first, u64 end) {
    struct run *old = f->runs;
    size_t n = f->nruns;
    if (!n || old[0].first >= end || old[n - 1].first + old[n - 1].n <= first) return;
    f->runs = NULL, f->nruns = f->capacity = 0;
    for (size_t i = 0; i < n; i++) {
        struct run parts[2] = {old[i], old[i]};
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

void race_streams_forget(struct sim *s, u64 address, u64 bytes) {
    u64 first = (address - SIM_BASE) / ROW, end = (address - SIM_BASE + bytes + ROW - 1) / ROW;
    for (u32 i = 0; s->streams && i < s->streams->n; i++) {
        s->streams->kept -= s->streams->list[i].nruns;
        forget_in(&s->streams->list[i], first, end);
        s->streams->kept += s->streams->list[i].nruns;
    }
}

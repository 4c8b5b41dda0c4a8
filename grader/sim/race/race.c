/* race.c — races in global memory: races between blocks at the end of a launch, and the texts.
 *
 * Each worker's notes say exactly what its own blocks did (lanes_global.c); they are joined where
 * both touched a range. The report names the lowest address, and the instructions that touched it,
 * so that it does not depend on the schedule. */
#include "grader/sim/race/partial.h"
#include "grader/sim/race/race.h"
#include "grader/sim/core/place.h"

#include <stdio.h>
#include <string.h>

static const char peek_text[] = "reads by a plain load what other threads change by atomics: the "
                                "value may be out of date. That does no harm here, "
                                "since an atomic then checks it again; to be sure that the "
                                "compiler reads each time, load it by volatile, __ldcg() "
                                "or "
                                "cuda::atomic_ref";

/* ---- races between blocks ---- */

static u16 join(u16 a, u16 b) { return !a || a == b ? b : !b ? a : RACE_MANY_BLOCKS; }

/* Who wrote the granule, over all workers. */
static u16 writers(const struct launch *l, u64 granule) {
    u16 all = 0, value = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        u16 w = race_written_by(l->workers[i].race_shadow, granule),
            v = l->workers[i].race_shadow->value[granule];
        if (!w) continue;
        bool same = v == value && all != RACE_MANY_BLOCKS && w != RACE_MANY_BLOCKS;
        all = !all ? w : same ? RACE_SAME_VALUE : RACE_MANY_BLOCKS;
        value = v;
    }
    return all;
}

static u16 readers(const struct launch *l, u64 granule) {
    u16 all = 0;
    for (u32 i = 0; i < l->nworkers; i++)
        all = join(all, race_read_by(l->workers[i].race_shadow, granule));
    return all;
}

static u16 updaters(const struct launch *l, u64 granule) {
    u16 all = 0;
    for (u32 i = 0; l->code->updates_global && i < l->nworkers; i++)
        all = join(all, race_updated_by(l->workers[i].race_shadow, granule));
    return all;
}

/* Whether the granule was written by one block and touched by another, or updated by one and read
 * by another. */
static bool raced(const struct launch *l, u64 granule) {
    u16 w = writers(l, granule), u = updaters(l, granule), r = w || u ? readers(l, granule) : 0;
    bool written = w && (w == RACE_MANY_BLOCKS || (r && r != w) || (u && u != w));
    return written || (u && r && (u != r || u == RACE_MANY_BLOCKS));
}

/* Whether any granule of a row that has several notes may have raced: a quick look at all of them
 * at once. */
static __attribute__((noinline)) bool open_suspicious(const struct launch *l, u64 row) {
    u16 written[RACE_ROW] = {0}, read[RACE_ROW] = {0};
    u32 bad = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        struct race_plane *p = l->workers[i].race_shadow;
        const u16 *w = p->write + row * RACE_ROW, *r = p->read + row * RACE_ROW,
                  *u = p->update + row * RACE_ROW;
        if (race_row_state(p, row) == ROW_UNTOUCHED) continue;
        race_need_row(p, row * RACE_ROW);
        for (u32 k = 0; l->code->updates_global && k < RACE_ROW; k++) bad |= u[k];
        for (u32 k = 0; k < RACE_ROW; k++) {
            u32 wrote = w[k] != 0, looked = r[k] != 0;
            bad |= (wrote & (u32)((written[k] | read[k]) != 0)) | (looked & (u32)(written[k] != 0));
            bad |= (wrote & looked & (u32)(w[k] != r[k])) | (u32)(w[k] == RACE_MANY_BLOCKS);
            written[k] |= w[k];
            read[k] |= r[k];
        }
    }
    return bad;
}

static bool suspicious(const struct launch *l, u64 row) {
    u32 write = 0, read = 0, bad = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct race_plane *p = l->workers[i].race_shadow;
        const struct race_row *r = &p->rows[row];
        enum race_row_state state = race_row_state(p, row);
        if (state == ROW_OPEN) return open_suspicious(l, row);
        if (state == ROW_UNTOUCHED) continue;
        bad |= (r->write && (write | read)) | (r->read && write) |
               (r->write && r->read && r->write != r->read);
        write |= r->write;
        read |= r->read;
    }
    return bad;
}

static bool touches(const struct launch *l, u32 stat, u64 offset) {
    for (u32 i = 0; i < l->nworkers; i++)
        if (l->workers[i].race_shadow->touched[stat].low <= offset &&
            offset < l->workers[i].race_shadow->touched[stat].high)
            return true;
    return false;
}

/* The range that stores and atomics touched, over all workers: a race has one. */
static struct race_range stored_range(const struct launch *l) {
    struct race_range all = {UINT64_MAX, 0};
    for (u32 s = 0; s < l->module->nstats; s++) {
        if (l->module->stat_entries[s].verb == MEM_LOAD) continue;
        for (u32 i = 0; i < l->nworkers; i++) {
            const struct race_range *t = &l->workers[i].race_shadow->touched[s];
            if (t->low < all.low) all.low = t->low;
            if (t->high > all.high) all.high = t->high;
        }
    }
    return all;
}

/* Of an element, by an instruction that stored or updated there. */
static u32 width_of(const struct launch *l, u64 offset) {
    for (u32 s = 0; s < l->module->nstats; s++)
        if (l->module->stat_entries[s].verb != MEM_LOAD && touches(l, s, offset))
            return l->module->mems[l->module->ops[l->module->stat_entries[s].op].aux].width;
    return 0;
}

static const struct ptx_loc *place_of(const struct launch *l, u64 offset, u8 verb) {
    for (u32 s = 0; s < l->module->nstats; s++)
        if (l->module->stat_entries[s].verb == verb && touches(l, s, offset))
            return source_location_of(l->module->ptx,
                                      l->module->ops[l->module->stat_entries[s].op].loc);
    return NULL;
}

void race_block_name(const struct launch *l, u16 note, char *out, size_t size) {
    const u32 *grid = l->request->grid;
    u64 i = note - 1u;
    if (note >= RACE_SAME_VALUE || l->nblocks >= RACE_SAME_VALUE)
        snprintf(out, size, note >= RACE_SAME_VALUE ? "several blocks" : "one block");
    else
        snprintf(out, size, "block (%u,%u,%u)", (u32)(i % grid[0]), (u32)(i / grid[0] % grid[1]),
                 (u32)(i / grid[0] / grid[1]));
}

static void set_line(const struct launch *l, const struct ptx_loc *at, struct sim_report *r) {
    const struct ptx_module *p = l->module->ptx;
    if (!at) return;
    r->line = at->line;
    if (at->file < p->nfiles && p->files[at->file]) r->file = p->files[at->file];
}

/* " and read by block (1,0,0) in line 7" */
static void add_part(const struct launch *l, u16 note, const char *verb,
                     const struct ptx_loc *place, const struct ptx_loc *own, struct buf *text) {
    char name[64], at[96];
    if (!note) return;
    race_block_name(l, note, name, sizeof name);
    buf_printf(text, "%s %s %s", text->size ? " and" : " is", verb, name);
    if (!place) return;
    source_location_format(l->module->ptx, place, own ? own : place, at, sizeof at);
    buf_puts(text, at);
}

static void write_report(const struct launch *l, u64 offset, u64 count, struct sim_report *r) {
    const struct ptx_loc *load = place_of(l, offset, MEM_LOAD),
                         *store = place_of(l, offset, MEM_STORE),
                         *red = place_of(l, offset, MEM_RED);
    u64 granule = offset >> l->global_shift;
    u16 w = writers(l, granule);
    char where[256], line[160] = "";
    struct buf text = {0};
    *r = (struct sim_report){.fault = SIM_FAULT_INTERBLOCK_RACE,
                             .count = count,
                             .kernel = l->code->name,
                             .file = "",
                             .address = SIM_BASE + offset};
    const struct ptx_loc *own = w && store ? store : red ? red : store;
    set_line(l, own, r);
    memory_describe_element(&l->sim->memory, SIM_BASE + offset, width_of(l, offset), where,
                            sizeof where);
    add_part(l, w, "written by", NULL, own, &text);
    add_part(l, updaters(l, granule), "updated by atomics of", w ? red : NULL, own, &text);
    add_part(l, readers(l, granule), "read by", load, own, &text);
    const char *slash = strrchr(r->file, '/');
    if (r->line) snprintf(line, sizeof line, "%.120s:%u: ", slash ? slash + 1 : r->file, r->line);
    snprintf(r->text, sizeof r->text, "%skernel `%.120s`: %s%s, in no order", line, r->kernel,
             where, buf_str(&text));
    buf_free(&text);
}

/* A load that an atomic checks again, of what several blocks updated. */
static bool peeked(const struct launch *l, u32 stat) {
    enum { MOST = 1 << 20 /* granules looked at */ };
    const struct stat_entry *owner = &l->module->stat_entries[stat];
    if (owner->verb != MEM_LOAD || owner->space != SPACE_GLOBAL) return false;
    if (!l->module->mems[l->module->ops[owner->op].aux].verified_by_atomic) return false;
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct race_range *t = &l->workers[i].race_shadow->touched[stat];
        u64 first = t->low >> l->global_shift,
            end = t->low < t->high ? ((t->high - 1) >> l->global_shift) + 1 : first;
        for (u64 g = first; g < end && g - first < MOST; g++)
            if (updaters(l, g) == RACE_MANY_BLOCKS) return true;
    }
    return false;
}

static void note_peeks(struct launch *l, struct sim_result *out) {
    for (u32 s = 0; s < l->module->nstats; s++) {
        if (!peeked(l, s)) continue;
        struct sim_report *r = &out->reports[out->nreports++];
        *r = (struct sim_report){
            .fault = SIM_NOTE_REVALIDATED_READ, .count = 1, .kernel = l->code->name, .file = ""};
        set_line(
            l,
            source_location_of(l->module->ptx, l->module->ops[l->module->stat_entries[s].op].loc),
            r);
        const char *slash = strrchr(r->file, '/');
        snprintf(r->text, sizeof r->text, "%.120s:%u: kernel `%.120s` %s",
                 slash ? slash + 1 : r->file, r->line, r->kernel, peek_text);
        return;
    }
}

static bool has_report(const struct sim_result *out, enum sim_fault f) {
    for (u32 i = 0; i < out->nreports; i++)
        if (out->reports[i].fault == f) return true;
    return false;
}

void race_report(struct launch *l, struct sim_result *out) {
    bool within = false;
    bool apart = l->tracks_global_races && !l->tracks_happens_before && l->code->updates_global;
    if (apart && !has_report(out, SIM_NOTE_REVALIDATED_READ)) note_peeks(l, out);
    if (!l->tracks_global_races || l->tracks_happens_before || l->nblocks < 2 ||
        out->fault != SIM_FAULT_NONE)
        return;
    for (u32 i = 0; i < l->nworkers; i++) within |= l->workers[i].race_shadow->raced != 0;
    if (!within && l->nworkers < 2) return;
    struct race_range range = stored_range(l);
    u64 first = UINT64_MAX, count = 0;
    if (range.low >= range.high) return;
    u64 end = ((range.high - 1) >> l->global_shift) + 1;
    for (u64 row = (range.low >> l->global_shift) / RACE_ROW; row * RACE_ROW < end; row++) {
        if (!suspicious(l, row)) continue;
        for (u64 g = row * RACE_ROW; g < (row + 1) * RACE_ROW; g++)
            if (raced(l, g) && !count++) first = g << l->global_shift;
    }
    if (count) write_report(l, first, count, &out->reports[out->nreports++]);
}

/* ---- races within a block ---- */

/* What the lane's store puts at a byte of its access. */
static u8 stored_byte(const struct exec *x, const struct mem_desc *d, u32 lane, u64 byte) {
    const u8 *reg = operand_at(x, d->reg[byte / d->width]);
    return reg[lane * d->reg_bytes + byte % d->width];
}

bool race_changes_nothing(const struct exec *x, const struct touch *t, u32 lane, u64 granule,
                          u32 shift, const u8 *memory) {
    const struct mem_desc *d = &x->mems[t->o->aux];
    u64 first = t->base + (u64)(s64)t->rel[lane];
    if (d->is_bulk) return false; /* what it stores is in no register */
    for (u64 b = granule << shift; b < (granule + 1) << shift; b++) {
        if (b - first >= t->span) continue;
        u8 there = memory[b];
        for (u32 m = t->mask & ((1u << lane) - 1); m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            u64 byte = b - (t->base + (u64)(s64)t->rel[l]);
            if (byte < t->span) there = stored_byte(x, d, l, byte);
        }
        if (there != stored_byte(x, d, lane, b - first)) return false;
    }
    return true;
}

/* An earlier lane of the same store at the same place, or -1. */
static int earlier_lane(const struct touch *t, u32 lane) {
    for (u32 m = t->mask & ((1u << lane) - 1); m; m &= m - 1)
        if (t->rel[__builtin_ctz(m)] == t->rel[lane]) return __builtin_ctz(m);
    return -1;
}

static bool clashes(u32 note, u32 mine) {
    return note != mine && note / RACE_TICK == mine / RACE_TICK;
}

u8 race_did(const char *did) {
    return !strcmp(did, "read") ? PAST_READ : !strcmp(did, "wrote") ? PAST_WRITE : PAST_UPDATE;
}

/* The line of an op, beside that of the access at hand, which is the last one that was remembered.
 */
static void line_of(const struct exec *x, u32 op, char *out, size_t size) {
    const struct launch *l = x->worker->launch;
    const struct race_plane *p = x->worker->race_shadow;
    u32 own = p->past[(p->npast - 1) % RACE_PAST].op;
    source_location_format(l->module->ptx, source_location_of(l->module->ptx, l->ops[op].loc),
                           source_location_of(l->module->ptx, l->ops[own].loc), out, size);
}

/* "thread (3,0,0) of block (1,0,0) wrote in line 7", as far as it is known. */
void race_describe_other(const struct exec *x, const struct race_wanted *w, const char *otherwise,
                         const char *did, char *out, size_t size) {
    const struct launch *l = x->worker->launch;
    const u32 *grid = l->request->grid;
    u32 op = 0;
    int lane = -1;
    char who[64], block[64] = "", at[96] = "";
    bool found = race_past_find(x, w, &op, &lane);
    if (found && x->mems[l->ops[op].aux].verb == MEM_STORE) did = "wrote"; /* a strong one */
    if (found) line_of(x, op, at, sizeof at);
    if (w->block != (u32)x->block->linear)
        snprintf(block, sizeof block, " of block (%u,%u,%u)", w->block % grid[0],
                 w->block / grid[0] % grid[1], w->block / grid[0] / grid[1]);
    if (found && lane >= 0 && w->warp >= 0) {
        describe_thread(l, (u32)w->warp * 32 + (u32)lane, who, sizeof who);
        snprintf(out, size, "thread %s%s %s%s", who, block, did, at);
    } else snprintf(out, size, "%s %s%s", otherwise, did, at);
}

void race_describe_many(const struct exec *x, const struct race_wanted *w, const char *who,
                        const char *did, char *out, size_t size) {
    u32 op = 0;
    int lane;
    char at[96] = "";
    if (race_past_find(x, w, &op, &lane)) line_of(x, op, at, sizeof at);
    snprintf(out, size, "%s %s%s", who, did, at);
}

void race_describe_op(const struct exec *x, u32 thread, u32 op, const char *did, char *out,
                      size_t size) {
    char who[64], at[96];
    describe_thread(x->worker->launch, thread, who, sizeof who);
    line_of(x, op, at, sizeof at);
    snprintf(out, size, "thread %s %s%s", who, did, at);
}

void race_describe_place(const struct exec *x, const struct touch *t, u64 address, char *out,
                         size_t size) {
    memory_describe_element(x->memory, address, x->mems[t->o->aux].width, out, size);
}

static void report_warps(struct exec *x, const struct touch *t, u32 lane, u64 granule,
                         const char *verb, u32 note, const char *did) {
    u64 address = SIM_BASE + (granule << x->worker->launch->global_shift);
    bool many = note & RACE_MANY_WARPS;
    struct race_wanted w = {granule << x->worker->launch->global_shift,
                            (u32)x->block->linear,
                            many ? -1 : (int)(note % RACE_MANY_WARPS),
                            -1,
                            false,
                            strcmp(did, "read") != 0};
    char where[256], who[64] = "other warps of the block", other[160];
    race_describe_place(x, t, address, where, sizeof where);
    if (!many) snprintf(who, sizeof who, "warp %u of the block", note % RACE_MANY_WARPS);
    race_describe_other(x, &w, who, did, other, sizeof other);
    core_fault(x, SIM_FAULT_INTRABLOCK_RACE, t->o, lane, address,
               "%s %s, which %s, with no barrier between", verb, where, other);
}

static void report_lanes(struct exec *x, const struct touch *t, u32 lane, u32 other, u64 granule) {
    u64 address = SIM_BASE + (granule << x->worker->launch->global_shift);
    const u32 *id = (const u32 *)x->warp->special_regs;
    char where[256];
    race_describe_place(x, t, address, where, sizeof where);
    core_fault(x, SIM_FAULT_INTRABLOCK_RACE, t->o, lane, address,
               "writes %s, where thread (%u,%u,%u) writes another value at the same time", where,
               id[other], id[32 + other], id[64 + other]);
}

void race_note_peek(struct exec *x, const struct touch *t, u32 lane) {
    core_fault(x, SIM_NOTE_REVALIDATED_READ, t->o, lane, t->base + (u64)(s64)t->rel[lane], "%s",
               peek_text);
}

static void report_clash(struct exec *x, const struct touch *t, u32 lane, u64 granule,
                         const char *verb) {
    const struct race_plane *p = x->worker->race_shadow;
    u32 mine = race_stamp(x->block, x->warp);
    bool reads = t->access == RACE_READ, updates = t->access == RACE_RED;
    if (clashes(p->wrote[granule], mine))
        report_warps(x, t, lane, granule, verb, p->wrote[granule], "wrote");
    else if (t->access == RACE_READ_REVALIDATED) return;
    else if (!updates && clashes(p->updated[granule], mine))
        report_warps(x, t, lane, granule, verb, p->updated[granule], "updated");
    else if (!reads && clashes(p->was_read[granule], mine))
        report_warps(x, t, lane, granule, verb, p->was_read[granule], "read");
}

/* A lane that accesses the granule. */
static u32 lane_at(const struct exec *x, const struct touch *t, u64 granule) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = t->mask; m; m &= m - 1) {
        u64 first = t->base + (u64)(s64)t->rel[__builtin_ctz(m)];
        if (first >> shift <= granule && granule <= (first + t->span - 1) >> shift)
            return (u32)__builtin_ctz(m);
    }
    return (u32)__builtin_ctz(t->mask);
}

/* The note is of an earlier tick, by another warp of the block, which this one has not been ordered
 * after. */
static bool clashes_partly(const struct exec *x, u16 block, u32 note) {
    const struct block *b = x->block;
    u32 warp = note % RACE_MANY_WARPS, tick = note / RACE_TICK;
    if (block != race_block(b) || tick < b->logical_clock || tick == b->race_shadow->tick)
        return false;
    return (warp != x->warp->index || (note & RACE_MANY_WARPS)) &&
           tick >= race_seen_tick(b, x->warp->index, warp);
}

void race_partly(struct exec *x, const struct touch *t, u64 g) {
    struct race_plane *p = x->worker->race_shadow;
    u32 lane = lane_at(x, t, g), shift = x->worker->launch->global_shift;
    bool read = t->access == RACE_READ || t->access == RACE_READ_REVALIDATED,
         update = t->access == RACE_RED;
    const char *verb = read ? "reads" : update ? "updates" : "writes";
    bool wrote = clashes_partly(x, p->write[g], p->wrote[g]),
         looked = clashes_partly(x, p->read[g], p->was_read[g]),
         updated = p->updates && clashes_partly(x, p->update[g], p->updated[g]);
    if (read && !looked) p->was_read[g] = 0; /* else joined with it, as notes of one tick are */
    else if (read) p->was_read[g] = p->was_read[g] % RACE_TICK | p->tick * RACE_TICK;
    if (update && !updated) p->updated[g] = 0;
    else if (update) p->updated[g] = p->updated[g] % RACE_TICK | p->tick * RACE_TICK;
    if (t->access == RACE_WRITE && race_changes_nothing(x, t, lane, g, shift, x->memory->bytes))
        return;
    if (wrote) report_warps(x, t, lane, g, verb, p->wrote[g], "wrote");
    else if (!update && updated && t->access != RACE_READ_REVALIDATED)
        report_warps(x, t, lane, g, verb, p->updated[g], "updated");
    else if (!read && looked) report_warps(x, t, lane, g, verb, p->was_read[g], "read");
}

void race_in_block(struct exec *x, const struct touch *t) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->rel[lane];
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
            report_clash(x, t, lane, g, t->access == RACE_RED ? "updates" : "reads");
    }
}

static void lane_against(struct exec *x, const struct touch *t, u32 lane, u32 other) {
    u32 shift = x->worker->launch->global_shift;
    u64 first = t->base + (u64)(s64)t->rel[lane];
    for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
        if (!race_changes_nothing(x, t, lane, g, shift, x->memory->bytes))
            return report_lanes(x, t, lane, other, g);
}

void race_lanes(struct exec *x, const struct touch *t) {
    for (u32 m = t->twins & t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        int other = earlier_lane(t, lane);
        if (other >= 0) lane_against(x, t, lane, (u32)other);
    }
}

/* Notes of a store that leaves what it finds stay as they are. */
static void store_one(struct exec *x, const struct touch *t, u32 lane, u64 granule) {
    struct race_plane *p = x->worker->race_shadow;
    u32 shift = x->worker->launch->global_shift, mine = race_stamp(x->block, x->warp);
    bool clash = clashes(p->wrote[granule], mine) || clashes(p->was_read[granule], mine) ||
                 (p->updates && clashes(p->updated[granule], mine));
    if (clash && race_changes_nothing(x, t, lane, granule, shift, x->memory->bytes)) return;
    if (clash) report_clash(x, t, lane, granule, "writes");
    p->wrote[granule] = mine;
}

void race_stores(struct exec *x, const struct touch *t) {
    u32 shift = x->worker->launch->global_shift;
    if (t->twins) race_lanes(x, t);
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->rel[lane];
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
            store_one(x, t, lane, g);
    }
}

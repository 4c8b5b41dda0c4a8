/* race.c — finds races in global memory between blocks at the end of a launch, and writes the
 * findings' texts for all files of this folder.
 *
 * Each worker's shadow memory records exactly what its own blocks did (exec_global.c); race_report
 * joins the shadows where several workers accessed a range. The report names the lowest address
 * and the instructions that accessed it, so that it does not depend on the schedule. */
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/race.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <string.h>

static const char revalidated_read_text[] =
    "reads with a plain load what other threads update with atomics: the value may be stale. That "
    "is harmless here, because an atomic checks it again; to make the compiler load it every time, "
    "use volatile, __ldcg() or cuda::atomic_ref";

/* ---- races between blocks ---- */

static u16 join_block_ids(u16 a, u16 b) { return !a || a == b ? b : !b ? a : RACE_MANY_BLOCKS; }

/* Returns the block that wrote the cell, over all workers. */
static u16 writer_block(const struct launch *l, u64 cell) {
    u16 merged = 0, value = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        u16 w = race_writer_block(l->workers[i].race_shadow, cell),
            v = l->workers[i].race_shadow->value_hash[cell];
        if (!w) continue;
        bool same_value = v == value && merged != RACE_MANY_BLOCKS && w != RACE_MANY_BLOCKS;
        merged = !merged ? w : same_value ? RACE_SAME_VALUE : RACE_MANY_BLOCKS;
        value = v;
    }
    return merged;
}

static u16 reader_block(const struct launch *l, u64 cell) {
    u16 merged = 0;
    for (u32 i = 0; i < l->nworkers; i++)
        merged = join_block_ids(merged, race_reader_block(l->workers[i].race_shadow, cell));
    return merged;
}

static u16 updater_block(const struct launch *l, u64 cell) {
    u16 merged = 0;
    for (u32 i = 0; l->code->updates_global && i < l->nworkers; i++)
        merged = join_block_ids(merged, race_updater_block(l->workers[i].race_shadow, cell));
    return merged;
}

/* Returns true if several blocks updated the cell, some by atomics of block scope. */
static bool has_scope_race(const struct launch *l, u64 cell) {
    bool is_block_scope = false;
    for (u32 i = 0; i < l->nworkers; i++)
        is_block_scope |= race_is_block_scope_cell(l->workers[i].race_shadow, cell);
    return is_block_scope && updater_block(l, cell) == RACE_MANY_BLOCKS;
}

/* Returns true if one block wrote the cell and another accessed it, or one updated it by atomics
 * and another read it, or updated it and an atomic's scope is the block. */
static bool has_race(const struct launch *l, u64 cell) {
    u16 w = writer_block(l, cell), u = updater_block(l, cell),
        r = w || u ? reader_block(l, cell) : 0;
    bool write_race = w && (w == RACE_MANY_BLOCKS || (r && r != w) || (u && u != w));
    return write_race || (u && r && (u != r || u == RACE_MANY_BLOCKS)) || has_scope_race(l, cell);
}

/* Returns true if any cell of an expanded row may have raced: a quick test of all cells at once. */
static __attribute__((noinline)) bool expanded_row_may_race(const struct launch *l, u64 row) {
    u16 written[SHADOW_ROW_CELLS] = {0}, read[SHADOW_ROW_CELLS] = {0};
    u32 bad = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        struct race_shadow *p = l->workers[i].race_shadow;
        const u16 *w = p->writer_block + row * SHADOW_ROW_CELLS,
                  *r = p->reader_block + row * SHADOW_ROW_CELLS,
                  *u = p->updater_block + row * SHADOW_ROW_CELLS;
        if (shadow_row_state(p, row) == ROW_EMPTY) continue;
        race_ensure_expanded_row(p, row * SHADOW_ROW_CELLS);
        for (u32 k = 0; l->code->updates_global && k < SHADOW_ROW_CELLS; k++) bad |= u[k];
        for (u32 k = 0; k < SHADOW_ROW_CELLS; k++) {
            u32 has_write = w[k] != 0, has_read = r[k] != 0;
            bad |= (has_write & (u32)((written[k] | read[k]) != 0)) |
                   (has_read & (u32)(written[k] != 0));
            bad |= (has_write & has_read & (u32)(w[k] != r[k])) | (u32)(w[k] == RACE_MANY_BLOCKS);
            written[k] |= w[k];
            read[k] |= r[k];
        }
    }
    return bad;
}

static bool row_may_race(const struct launch *l, u64 row) {
    u32 write = 0, read = 0, bad = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct race_shadow *p = l->workers[i].race_shadow;
        const struct shadow_row *r = &p->rows[row];
        enum shadow_row_state state = shadow_row_state(p, row);
        if (state == ROW_EXPANDED) return expanded_row_may_race(l, row);
        if (state == ROW_EMPTY) continue;
        bad |= (r->writer_block && (write | read)) | (r->reader_block && write) |
               (r->writer_block && r->reader_block && r->writer_block != r->reader_block);
        write |= r->writer_block;
        read |= r->reader_block;
    }
    return bad;
}

static bool insn_accesses(const struct launch *l, u32 stat, u64 offset) {
    for (u32 i = 0; i < l->nworkers; i++)
        if (l->workers[i].race_shadow->insn_ranges[stat].low <= offset &&
            offset < l->workers[i].race_shadow->insn_ranges[stat].high)
            return true;
    return false;
}

/* Returns the range that stores and atomics accessed, over all workers: a race needs one. */
static struct offset_range stored_range(const struct launch *l) {
    struct offset_range all = {UINT64_MAX, 0};
    for (u32 s = 0; s < l->module->nstats; s++) {
        if (l->module->stat_entries[s].verb == MEM_LOAD) continue;
        for (u32 i = 0; i < l->nworkers; i++) {
            const struct offset_range *t = &l->workers[i].race_shadow->insn_ranges[s];
            if (t->low < all.low) all.low = t->low;
            if (t->high > all.high) all.high = t->high;
        }
    }
    return all;
}

/* Returns the element's width in bytes, from an instruction that stored or updated there; 0 if
 * there is none. */
static u32 width_of(const struct launch *l, u64 offset) {
    for (u32 s = 0; s < l->module->nstats; s++)
        if (l->module->stat_entries[s].verb != MEM_LOAD && insn_accesses(l, s, offset))
            return l->module->mems[l->module->ops[l->module->stat_entries[s].op].aux].width;
    return 0;
}

static const struct ptx_loc *source_loc_at(const struct launch *l, u64 offset, u8 verb) {
    for (u32 s = 0; s < l->module->nstats; s++)
        if (l->module->stat_entries[s].verb == verb && insn_accesses(l, s, offset))
            return source_location_of(l->module->ptx,
                                      l->module->ops[l->module->stat_entries[s].op].loc);
    return NULL;
}

/* Returns the location of an atomic of block scope that may have updated that place, or NULL. */
static const struct ptx_loc *block_scope_loc_at(const struct launch *l, u64 offset) {
    for (u32 s = 0; s < l->module->nstats; s++) {
        const struct op *o = &l->module->ops[l->module->stat_entries[s].op];
        if (l->module->stat_entries[s].verb >= MEM_ATOM && l->module->mems[o->aux].is_block_scope &&
            insn_accesses(l, s, offset))
            return source_location_of(l->module->ptx, o->loc);
    }
    return NULL;
}

void race_describe_block(const struct launch *l, u16 block_id, char *out, size_t size) {
    const u32 *grid = l->request->grid;
    u64 i = block_id - 1u;
    if (block_id >= RACE_SAME_VALUE || l->nblocks >= RACE_SAME_VALUE)
        snprintf(out, size, block_id >= RACE_SAME_VALUE ? "several blocks" : "one block");
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
static void append_participant(const struct launch *l, u16 block_id, const char *verb,
                               const struct ptx_loc *loc, const struct ptx_loc *main_loc,
                               struct buf *text) {
    char name[64], at[96];
    if (!block_id) return;
    race_describe_block(l, block_id, name, sizeof name);
    buf_printf(text, "%s %s %s", text->size ? " and" : " is", verb, name);
    if (!loc) return;
    source_location_format(l->module->ptx, loc, main_loc ? main_loc : loc, at, sizeof at);
    buf_puts(text, at);
}

static void write_report(const struct launch *l, u64 offset, u64 count, struct sim_report *r) {
    const struct ptx_loc *load = source_loc_at(l, offset, MEM_LOAD),
                         *store = source_loc_at(l, offset, MEM_STORE),
                         *red = source_loc_at(l, offset, MEM_RED);
    u64 cell = offset >> l->global_shift;
    u16 w = writer_block(l, cell);
    bool is_scope_race = has_scope_race(l, cell);
    char location[256], line[160] = "";
    struct buf text = {0};
    *r = (struct sim_report){.fault = SIM_FAULT_INTERBLOCK_RACE,
                             .count = count,
                             .kernel = l->code->name,
                             .file = "",
                             .address = SIM_BASE + offset};
    const struct ptx_loc *main_loc = w && store ? store : red ? red : store;
    if (is_scope_race) main_loc = block_scope_loc_at(l, offset);
    set_line(l, main_loc, r);
    memory_describe_element(&l->sim->memory, SIM_BASE + offset, width_of(l, offset), location,
                            sizeof location);
    append_participant(l, w, "written by", NULL, main_loc, &text);
    append_participant(l, updater_block(l, cell), "updated by atomics of", w ? red : NULL, main_loc,
                       &text);
    append_participant(l, reader_block(l, cell), "read by", load, main_loc, &text);
    const char *slash = strrchr(r->file, '/');
    if (r->line) snprintf(line, sizeof line, "%.120s:%u: ", slash ? slash + 1 : r->file, r->line);
    snprintf(r->text, sizeof r->text, "%skernel `%.120s`: %s%s; nothing orders them%s", line,
             r->kernel, location, buf_str(&text), is_scope_race ? race_block_scope_text : "");
    buf_free(&text);
}

/* Returns true if the load is one that an atomic verifies, and several blocks updated what it read.
 */
static bool has_revalidated_read(const struct launch *l, u32 stat) {
    enum { MAX_CELLS = 1 << 20 }; /* cells tested of each worker */
    const struct stat_entry *owner = &l->module->stat_entries[stat];
    if (owner->verb != MEM_LOAD || owner->space != SPACE_GLOBAL) return false;
    if (!l->module->mems[l->module->ops[owner->op].aux].verified_by_atomic) return false;
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct offset_range *t = &l->workers[i].race_shadow->insn_ranges[stat];
        u64 first = t->low >> l->global_shift,
            end = t->low < t->high ? ((t->high - 1) >> l->global_shift) + 1 : first;
        for (u64 g = first; g < end && g - first < MAX_CELLS; g++)
            if (updater_block(l, g) == RACE_MANY_BLOCKS) return true;
    }
    return false;
}

static void report_revalidated_reads(struct launch *l, struct sim_result *out) {
    for (u32 s = 0; s < l->module->nstats; s++) {
        if (!has_revalidated_read(l, s)) continue;
        struct sim_report *r = &out->reports[out->nreports++];
        *r = (struct sim_report){
            .fault = SIM_NOTE_REVALIDATED_READ, .count = 1, .kernel = l->code->name, .file = ""};
        set_line(
            l,
            source_location_of(l->module->ptx, l->module->ops[l->module->stat_entries[s].op].loc),
            r);
        const char *slash = strrchr(r->file, '/');
        snprintf(r->text, sizeof r->text, "%.120s:%u: kernel `%.120s` %s",
                 slash ? slash + 1 : r->file, r->line, r->kernel, revalidated_read_text);
        return;
    }
}

static bool has_report(const struct sim_result *out, enum sim_fault f) {
    for (u32 i = 0; i < out->nreports; i++)
        if (out->reports[i].fault == f) return true;
    return false;
}

void race_report(struct launch *l, struct sim_result *out) {
    bool any_race = false;
    bool check_revalidated =
        l->tracks_global_races && !l->tracks_happens_before && l->code->updates_global;
    if (check_revalidated && !has_report(out, SIM_NOTE_REVALIDATED_READ))
        report_revalidated_reads(l, out);
    if (!l->tracks_global_races || l->tracks_happens_before || l->nblocks < 2 ||
        out->fault != SIM_FAULT_NONE)
        return;
    for (u32 i = 0; i < l->nworkers; i++)
        any_race |= l->workers[i].race_shadow->has_block_race != 0;
    if (!any_race && l->nworkers < 2) return;
    struct offset_range range = stored_range(l);
    u64 first = UINT64_MAX, count = 0;
    if (range.low >= range.high) return;
    u64 end = ((range.high - 1) >> l->global_shift) + 1;
    for (u64 row = (range.low >> l->global_shift) / SHADOW_ROW_CELLS; row * SHADOW_ROW_CELLS < end;
         row++) {
        if (!row_may_race(l, row)) continue;
        for (u64 g = row * SHADOW_ROW_CELLS; g < (row + 1) * SHADOW_ROW_CELLS; g++)
            if (has_race(l, g) && !count++) first = g << l->global_shift;
    }
    if (count) write_report(l, first, count, &out->reports[out->nreports++]);
}

/* ---- races within a block ---- */

/* Returns the byte that the lane's store writes at that offset of its access. */
static u8 stored_byte(const struct exec *x, const struct mem_desc *d, u32 lane, u64 byte) {
    const u8 *reg = operand_at(x, d->reg[(u32)byte / d->width]);
    return reg[lane * d->reg_bytes + (u32)byte % d->width];
}

/* Returns the lanes of `mask` whose accesses overlap the bytes from `start` to `end` - 1. */
static u32 lanes_in_range(const struct mem_access *t, u32 mask, u64 start, u64 end) {
    u32 found = 0;
    for (u32 m = mask; m; m &= m - 1) {
        u64 address = t->base + (u64)(s64)t->lane_offset[__builtin_ctz(m)];
        if (address < end && address + t->span > start) found |= m & -m;
    }
    return found;
}

bool race_is_silent_store(const struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                          u32 shift, const u8 *memory) {
    const struct mem_desc *d = &x->mems[t->o->aux];
    u64 first = t->base + (u64)(s64)t->lane_offset[lane];
    const u8 *written = memory == x->shared ? x->shared_written : NULL;
    if (d->is_bulk) return false; /* A bulk copy's data is in no register. */
    u64 start = cell << shift, end = (cell + 1) << shift;
    u32 earlier = lanes_in_range(t, t->mask & ((1u << lane) - 1), start, end);
    for (u64 b = start; b < end; b++) {
        if (b - first >= t->span) continue;
        u8 stored = memory[b];
        bool is_known = !written || written[b];
        for (u32 m = earlier, l; m; m &= ~(1u << l)) { /* the last lane that stores there decides */
            l = 31 - (u32)__builtin_clz(m);
            u64 byte = b - (t->base + (u64)(s64)t->lane_offset[l]);
            if (byte >= t->span) continue;
            stored = stored_byte(x, d, l, byte);
            is_known = true;
            break;
        }
        if (!is_known || stored != stored_byte(x, d, lane, b - first)) return false;
    }
    return true;
}

/* Returns a lower lane of the same store with the same address, or -1. */
static int earlier_lane(const struct mem_access *t, u32 lane) {
    for (u32 m = t->mask & ((1u << lane) - 1); m; m &= m - 1)
        if (t->lane_offset[__builtin_ctz(m)] == t->lane_offset[lane]) return __builtin_ctz(m);
    return -1;
}

static bool conflicts(u32 epoch, u32 current) {
    return epoch != current && epoch / RACE_CLOCK_UNIT == current / RACE_CLOCK_UNIT;
}

u8 race_access_kind(const char *past_verb) {
    return !strcmp(past_verb, "read")    ? ACCESS_READ
           : !strcmp(past_verb, "wrote") ? ACCESS_WRITE
                                         : ACCESS_UPDATE;
}

/* Formats the op's line relative to that of the current access, the last one of the history. */
static void describe_line(const struct exec *x, u32 op, char *out, size_t size) {
    const struct launch *l = x->worker->launch;
    const struct race_shadow *p = x->worker->race_shadow;
    u32 current_op = p->history[(p->nrecords - 1) % RACE_HISTORY_SIZE].op;
    source_location_format(l->module->ptx, source_location_of(l->module->ptx, l->ops[op].loc),
                           source_location_of(l->module->ptx, l->ops[current_op].loc), out, size);
}

/* Writes "thread (3,0,0) of block (1,0,0) wrote in line 7", as far as the history has it. */
void race_describe_other(const struct exec *x, const struct history_query *w, const char *fallback,
                         const char *past_verb, char *out, size_t size) {
    const struct launch *l = x->worker->launch;
    const u32 *grid = l->request->grid;
    u32 op = 0;
    int lane = -1;
    char actor[64], block_text[64] = "", at[96] = "";
    bool is_found = race_history_find(x, w, &op, &lane);
    if (is_found && x->mems[l->ops[op].aux].verb == MEM_STORE)
        past_verb = "wrote"; /* A strong store is recorded as an update. */
    if (is_found) describe_line(x, op, at, sizeof at);
    if (w->block != (u32)x->block->linear)
        snprintf(block_text, sizeof block_text, " of block (%u,%u,%u)", w->block % grid[0],
                 w->block / grid[0] % grid[1], w->block / grid[0] / grid[1]);
    if (is_found && lane >= 0 && w->warp >= 0) {
        describe_thread(l, (u32)w->warp * 32 + (u32)lane, actor, sizeof actor);
        snprintf(out, size, "thread %s%s %s%s", actor, block_text, past_verb, at);
    } else snprintf(out, size, "%s %s%s", fallback, past_verb, at);
}

void race_describe_many(const struct exec *x, const struct history_query *w, const char *actor,
                        const char *past_verb, char *out, size_t size) {
    u32 op = 0;
    int lane;
    char at[96] = "";
    if (race_history_find(x, w, &op, &lane)) describe_line(x, op, at, sizeof at);
    snprintf(out, size, "%s %s%s", actor, past_verb, at);
}

void race_describe_op(const struct exec *x, u32 thread, u32 op, const char *past_verb, char *out,
                      size_t size) {
    char actor[64], at[96];
    describe_thread(x->worker->launch, thread, actor, sizeof actor);
    describe_line(x, op, at, sizeof at);
    snprintf(out, size, "thread %s %s%s", actor, past_verb, at);
}

void race_describe_address(const struct exec *x, const struct mem_access *t, u64 address, char *out,
                           size_t size) {
    memory_describe_element(x->memory, address, x->mems[t->o->aux].width, out, size);
}

static void report_warp_race(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                             const char *verb, u32 epoch, const char *past_verb) {
    u64 address = SIM_BASE + (cell << x->worker->launch->global_shift);
    bool many_warps = epoch & RACE_MANY_WARPS;
    struct history_query w = {cell << x->worker->launch->global_shift,
                              (u32)x->block->linear,
                              many_warps ? -1 : (int)(epoch % RACE_MANY_WARPS),
                              -1,
                              false,
                              strcmp(past_verb, "read") != 0};
    char location[256], actor[64] = "other warps of the block", other_text[160];
    race_describe_address(x, t, address, location, sizeof location);
    if (!many_warps) snprintf(actor, sizeof actor, "warp %u of the block", epoch % RACE_MANY_WARPS);
    race_describe_other(x, &w, actor, past_verb, other_text, sizeof other_text);
    core_fault(x, SIM_FAULT_INTRABLOCK_RACE, t->o, lane, address,
               "%s %s, which %s, with no barrier between", verb, location, other_text);
}

static void report_lane_race(struct exec *x, const struct mem_access *t, u32 lane, u32 other,
                             u64 cell) {
    u64 address = SIM_BASE + (cell << x->worker->launch->global_shift);
    const u32 *id = (const u32 *)x->warp->special_regs;
    char location[256];
    race_describe_address(x, t, address, location, sizeof location);
    core_fault(x, SIM_FAULT_INTRABLOCK_RACE, t->o, lane, address,
               "writes %s, where thread (%u,%u,%u) writes another value at the same time", location,
               id[other], id[32 + other], id[64 + other]);
}

void race_report_revalidated_read(struct exec *x, const struct mem_access *t, u32 lane) {
    core_fault(x, SIM_NOTE_REVALIDATED_READ, t->o, lane, t->base + (u64)(s64)t->lane_offset[lane],
               "%s", revalidated_read_text);
}

static void report_conflict(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                            const char *verb) {
    const struct race_shadow *p = x->worker->race_shadow;
    u32 current = race_global_epoch(x->block, x->warp);
    bool is_read = t->kind == RACE_READ, is_update = t->kind == RACE_RED;
    if (conflicts(p->last_write_epoch[cell], current))
        report_warp_race(x, t, lane, cell, verb, p->last_write_epoch[cell], "wrote");
    else if (t->kind == RACE_READ_REVALIDATED) return;
    else if (!is_update && conflicts(p->last_update_epoch[cell], current))
        report_warp_race(x, t, lane, cell, verb, p->last_update_epoch[cell], "updated");
    else if (!is_read && conflicts(p->last_read_epoch[cell], current))
        report_warp_race(x, t, lane, cell, verb, p->last_read_epoch[cell], "read");
}

/* Returns a lane that accesses the cell. */
static u32 accessing_lane(const struct exec *x, const struct mem_access *t, u64 cell) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = t->mask; m; m &= m - 1) {
        u64 first = t->base + (u64)(s64)t->lane_offset[__builtin_ctz(m)];
        if (first >> shift <= cell && cell <= (first + t->span - 1) >> shift)
            return (u32)__builtin_ctz(m);
    }
    return (u32)__builtin_ctz(t->mask);
}

/* Returns true if the epoch is of an earlier tick, by another warp of the block, and nothing has
 * ordered this warp after it. */
static bool conflicts_after_partial_sync(const struct exec *x, u16 block_id, u32 epoch) {
    const struct block *b = x->block;
    u32 warp = epoch % RACE_MANY_WARPS, logical_clock = epoch / RACE_CLOCK_UNIT;
    if (block_id != race_block_id(b) || logical_clock < b->logical_clock ||
        logical_clock == b->race_shadow->logical_clock)
        return false;
    return (warp != x->warp->index || (epoch & RACE_MANY_WARPS)) &&
           logical_clock >= race_observed_clock(b, x->warp->index, warp);
}

void race_check_partial_sync(struct exec *x, const struct mem_access *t, u64 g) {
    struct race_shadow *p = x->worker->race_shadow;
    u32 lane = accessing_lane(x, t, g), shift = x->worker->launch->global_shift;
    bool is_read = t->kind == RACE_READ || t->kind == RACE_READ_REVALIDATED,
         is_update = t->kind == RACE_RED;
    const char *verb = is_read ? "reads" : is_update ? "updates" : "writes";
    bool write_conflict =
             conflicts_after_partial_sync(x, p->writer_block[g], p->last_write_epoch[g]),
         read_conflict = conflicts_after_partial_sync(x, p->reader_block[g], p->last_read_epoch[g]),
         update_conflict = p->has_updates && conflicts_after_partial_sync(x, p->updater_block[g],
                                                                          p->last_update_epoch[g]);
    if (is_read && !read_conflict)
        p->last_read_epoch[g] = 0; /* Otherwise the new read is joined, as within one tick. */
    else if (is_read)
        p->last_read_epoch[g] =
            p->last_read_epoch[g] % RACE_CLOCK_UNIT | p->logical_clock * RACE_CLOCK_UNIT;
    if (is_update && !update_conflict) p->last_update_epoch[g] = 0;
    else if (is_update)
        p->last_update_epoch[g] =
            p->last_update_epoch[g] % RACE_CLOCK_UNIT | p->logical_clock * RACE_CLOCK_UNIT;
    if (t->kind == RACE_WRITE && race_is_silent_store(x, t, lane, g, shift, x->memory->bytes))
        return;
    if (write_conflict) report_warp_race(x, t, lane, g, verb, p->last_write_epoch[g], "wrote");
    else if (!is_update && update_conflict && t->kind != RACE_READ_REVALIDATED)
        report_warp_race(x, t, lane, g, verb, p->last_update_epoch[g], "updated");
    else if (!is_read && read_conflict)
        report_warp_race(x, t, lane, g, verb, p->last_read_epoch[g], "read");
}

void race_report_in_block(struct exec *x, const struct mem_access *t) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->lane_offset[lane];
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
            report_conflict(x, t, lane, g, t->kind == RACE_RED ? "updates" : "reads");
    }
}

static void check_lane_pair(struct exec *x, const struct mem_access *t, u32 lane, u32 other) {
    u32 shift = x->worker->launch->global_shift;
    u64 first = t->base + (u64)(s64)t->lane_offset[lane];
    for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
        if (!race_is_silent_store(x, t, lane, g, shift, x->memory->bytes))
            return report_lane_race(x, t, lane, other, g);
}

void race_check_store_lanes(struct exec *x, const struct mem_access *t) {
    for (u32 m = t->duplicate_mask & t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        int other = earlier_lane(t, lane);
        if (other >= 0) check_lane_pair(x, t, lane, (u32)other);
    }
}

/* Checks one cell of a lane's store. A silent store leaves the shadow cell unchanged. */
static void check_store(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    u32 shift = x->worker->launch->global_shift, current = race_global_epoch(x->block, x->warp);
    bool is_conflict = conflicts(p->last_write_epoch[cell], current) ||
                       conflicts(p->last_read_epoch[cell], current) ||
                       (p->has_updates && conflicts(p->last_update_epoch[cell], current));
    if (is_conflict && race_is_silent_store(x, t, lane, cell, shift, x->memory->bytes)) return;
    if (is_conflict) report_conflict(x, t, lane, cell, "writes");
    p->last_write_epoch[cell] = current;
}

void race_check_stores(struct exec *x, const struct mem_access *t) {
    u32 shift = x->worker->launch->global_shift;
    if (t->duplicate_mask) race_check_store_lanes(x, t);
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->lane_offset[lane];
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
            check_store(x, t, lane, g);
    }
}

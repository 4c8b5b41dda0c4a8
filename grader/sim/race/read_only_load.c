/* read_only_load.c — finds loads by the read-only path (ld.global.nc) of memory that the same
 * kernel writes. __ldg() and pointers that are const and __restrict__ promise that nothing changes
 * while the kernel runs (CUDA Programming Guide, "Read-Only Data Cache Load Function").
 *
 * A load after the write may return an old value, which is a finding. A write after the load is a
 * note: hardware gives the same result, but a compiler that takes the promise at its word may use
 * what it loaded before. Both ends are of one block, or of blocks that run in order on one worker;
 * else they are a race between blocks. */
#include "grader/sim/race/race.h"

#include <stdlib.h>

static bool is_written(const struct exec *x, u64 cell) {
    u16 w = race_writer_block(x->worker->race_shadow, cell);
    return w && (x->tracks_happens_before || w == race_block_id(x->block));
}

static void report_both_ends(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                             enum sim_fault kind, const char *verb, const char *past_verb,
                             const char *consequence) {
    u64 offset = cell << x->worker->launch->global_shift;
    char location[256], other[160];
    struct history_query w = {offset, (u32)x->block->linear,      -1, -1,
                              false,  race_access_kind(past_verb)};
    race_describe_address(x, t, SIM_BASE + offset, location, sizeof location);
    race_describe_other(x, &w, "the kernel", past_verb, other, sizeof other);
    core_fault(x, kind, t->o, lane, SIM_BASE + offset, "%s %s, which %s%s", verb, location, other,
               consequence);
}

/* Calls `check` for each cell of each lane, until it returns true. */
static void for_each_cell(struct exec *x, const struct mem_access *t,
                          bool (*check)(struct exec *x, const struct mem_access *t, u32 lane,
                                        u64 cell)) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->lane_offset[lane];
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
            if (check(x, t, lane, g)) return;
    }
}

static bool check_load(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    x->worker->race_shadow->read_only_cells[cell / 8] |= (u8)(1u << cell % 8);
    if (!is_written(x, cell)) return false;
    report_both_ends(x, t, lane, cell, SIM_FAULT_READ_ONLY_LOAD, "reads", "wrote",
                     ", by the read-only path: __ldg() and const __restrict__ pointers are for "
                     "memory that does not change while the kernel runs, and may return an old "
                     "value");
    return true;
}

static bool check_store(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    if (!(x->worker->race_shadow->read_only_cells[cell / 8] >> cell % 8 & 1)) return false;
    report_both_ends(x, t, lane, cell, SIM_NOTE_READ_ONLY_LOAD, "writes", "read",
                     " by the read-only path: __ldg() and __restrict__ promise that it does not "
                     "change while the kernel runs, so the compiler may use an old value");
    return true;
}

/* ---- runs of cells: mostly nothing is found ---- */

/* Returns true if a cell of [first, end) may be written: then each is checked. */
static bool may_be_written(const struct race_shadow *p, u64 first, u64 end) {
    u16 any = 0;
    for (u64 row_end; first < end; first = row_end) {
        u64 row = first / SHADOW_ROW_CELLS;
        enum shadow_row_state state = shadow_row_state(p, row);
        row_end = (row + 1) * SHADOW_ROW_CELLS;
        if (state == ROW_COMPACT) any |= p->rows[row].writer_block;
        for (u64 i = first; state == ROW_EXPANDED && i < row_end && i < end; i++)
            any |= p->writer_block[i];
    }
    return any;
}

static void set_bits(u8 *bits, u64 first, u64 end) {
    for (; first < end && first % 8; first++) bits[first / 8] |= (u8)(1u << first % 8);
    for (; first + 8 <= end; first += 8) bits[first / 8] = 0xff;
    if (first < end) bits[first / 8] |= (u8)((1u << (end - first)) - 1);
}

static bool has_bit(const u8 *bits, u64 first, u64 end) {
    for (; first < end && first % 8; first++)
        if (bits[first / 8] >> first % 8 & 1) return true;
    for (; first + 8 <= end; first += 8)
        if (bits[first / 8]) return true;
    return first < end && bits[first / 8] & ((1u << (end - first)) - 1);
}

/* Returns the cells of the pattern's i-th run. */
static void run_cells(const struct exec *x, const struct access_pattern *m, u32 i,
                      const struct mem_access *t, u64 cells[2]) {
    u64 low = t->base + (u64)(s64)m->runs[i].offset;
    cells[0] = low >> x->worker->launch->global_shift;
    cells[1] = ((low + m->runs[i].bytes - 1) >> x->worker->launch->global_shift) + 1;
}

void race_read_only_load(struct exec *x, const struct access_pattern *m,
                         const struct mem_access *t) {
    struct race_shadow *p = x->worker->race_shadow;
    u64 cells[2];
    bool is_any_written = false;
    if (!p->read_only_cells) p->read_only_cells = race_new_cell_bits(p);
    for (u32 i = 0; i < m->nruns; i++) {
        run_cells(x, m, i, t, cells);
        is_any_written |= may_be_written(p, cells[0], cells[1]);
    }
    if (is_any_written) return for_each_cell(x, t, check_load);
    for (u32 i = 0; i < m->nruns; i++) {
        run_cells(x, m, i, t, cells);
        set_bits(p->read_only_cells, cells[0], cells[1]);
    }
}

void race_read_only_store(struct exec *x, const struct access_pattern *m,
                          const struct mem_access *t) {
    u64 cells[2];
    bool is_any_read = false;
    for (u32 i = 0; i < m->nruns; i++) {
        run_cells(x, m, i, t, cells);
        is_any_read |= has_bit(x->worker->race_shadow->read_only_cells, cells[0], cells[1]);
    }
    if (is_any_read) for_each_cell(x, t, check_store);
}

/* first_store.c — finds polls of words that nothing had initialized before the launch. The blocks
 * that store them run first here, so the poll finds what they stored; on a GPU it may find anything
 * that the memory held before. happens_before.c calls it. */
#include "grader/sim/mem/mem.h"
#include "grader/sim/race/race.h"

void race_note_first_stores(struct exec *x, u64 base, const s32 *lane_offset, u32 mask, u32 span) {
    const struct launch *l = x->worker->launch;
    struct race_shadow *p = x->worker->race_shadow;
    if (!l->tracks_happens_before || !p) return;
    for (u32 m = mask; m; m &= m - 1) {
        u64 first = base + (u64)(s64)lane_offset[__builtin_ctz(m)];
        if (memory_is_initialized(x->memory, first, span)) continue;
        if (!p->first_stored_cells) p->first_stored_cells = race_new_cell_bits(p);
        first -= SIM_BASE;
        for (u64 g = first >> l->global_shift; g <= (first + span - 1) >> l->global_shift; g++)
            p->first_stored_cells[g / 8] |= (u8)(1u << g % 8);
    }
}

void race_check_poll_of_first_store(struct exec *x, const struct mem_access *t, u32 lane,
                                    u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    u64 address = SIM_BASE + (cell << x->worker->launch->global_shift);
    char location[256];
    if (!x->mems[t->o->aux].is_poll || !p->first_stored_cells ||
        !(p->first_stored_cells[cell / 8] >> cell % 8 & 1) ||
        p->updater_block[cell] == race_block_id(x->block))
        return;
    memory_describe_element(x->memory, address, 1u << x->worker->launch->global_shift, location,
                            sizeof location);
    core_fault(x, SIM_FAULT_UNINITIALIZED, t->o, lane, address,
               "waits for %s, which another block has stored, but which nothing initialized before "
               "the launch: a block that looks earlier finds any value. Clear it first "
               "(cudaMemset)",
               location);
}

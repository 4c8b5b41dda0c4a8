/* block_scope.c — notes which cells of global memory atomics of block scope update
 * (atomicAdd_block, atom.cta, red.cta). Such an atomic is atomic only to threads of its own block:
 * with an update of the same word by another block, it is a race, whatever the scope of the other
 * (PTX ISA, "Memory Consistency Model", morally strong operations; CUDA Programming Guide, "Atomic
 * Functions"). race.c finds it when it joins the shadows of the workers, happens_before.c at once.
 */
#include "grader/sim/race/race.h"

#include <stdlib.h>

const char race_block_scope_text[] =
    ", and an atomic of block scope (atomicAdd_block(), for example) is atomic only to threads of "
    "its own block: use the atomic without _block";

void race_note_scope(struct race_shadow *p, u64 cell, bool is_block_scope) {
    u8 bit = (u8)(1u << cell % 8);
    if (!p->block_scope_cells) {
        if (!is_block_scope) return;
        p->block_scope_cells = race_new_cell_bits(p);
    }
    if (is_block_scope) p->block_scope_cells[cell / 8] |= bit;
    else p->block_scope_cells[cell / 8] &= (u8)~bit;
}

void race_note_block_scope(struct exec *x, const struct mem_access *t) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = t->mask; m; m &= m - 1) {
        u64 first = t->base + (u64)(s64)t->lane_offset[__builtin_ctz(m)];
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++)
            race_note_scope(x->worker->race_shadow, g, true);
    }
}

bool race_is_block_scope_cell(const struct race_shadow *p, u64 cell) {
    return p->block_scope_cells && (p->block_scope_cells[cell / 8] >> cell % 8 & 1);
}

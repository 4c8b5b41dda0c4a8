/* stat_index.c — fills the table of what each statistics slot counts: which instruction, in which
 * memory. */
#include "grader/sim/code/async.h"
#include "grader/sim/code/decode.h"

#include <string.h>

static struct stat_entry bulk_stat_entry(u32 op, s64 direction, u32 slot) {
    if (slot == BULK_STAT_DSMEM)
        return (struct stat_entry){op, SPACE_CLUSTER, MEM_STORE, true, false, false};
    struct stat_entry entry = {
        op, slot == BULK_STAT_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED, MEM_STORE, true, false, false};
    if (slot == BULK_STAT_SHARED_LOAD ||
        (slot == BULK_STAT_GLOBAL && direction == BULK_GLOBAL_TO_SHARED))
        entry.verb = MEM_LOAD;
    return entry;
}

void code_index_stats(struct sim_module *m) {
    m->stat_entries = arena_array(&m->arena, struct stat_entry, m->nstats);
    for (u32 i = 0; i < m->nops; i++) {
        const struct op *o = &m->ops[i];
        const char *name = insn_opcodes[o->opcode].name;
        bool texture = !strcmp(name, "tex") || !strcmp(name, "tld4") || !strcmp(name, "suld") ||
                       !strcmp(name, "sust");
        bool barrier = !strcmp(name, "mbarrier");
        if (strcmp(name, "ld") && strcmp(name, "st") && strcmp(name, "atom") &&
            strcmp(name, "cp.async.bulk") && strcmp(name, "cp.async.bulk.tensor") &&
            strcmp(name, "tensormap") && !texture && !barrier)
            continue;
        const struct mem_desc *d = &m->mems[o->aux];
        if (barrier && d->verb == MEM_LOAD)
            m->stat_entries[d->stat + MBAR_STAT_COMPLETED_WAIT] = (struct stat_entry){
                .op = i, .space = SPACE_SHARED, .verb = MEM_LOAD, .is_mbarrier_wait = true};
        if (texture) {
            m->stat_entries[d->stat] = (struct stat_entry){
                .op = i, .space = d->space, .verb = d->verb, .is_texture = true};
            continue;
        }
        static const u8 spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CLUSTER};
        if (d->space == SPACE_CLUSTER) {
            for (u32 k = 0; k < 2; k++)
                m->stat_entries[d->stat + k] = (struct stat_entry){
                    i, k ? SPACE_CLUSTER : SPACE_SHARED, d->verb, false, false, false};
            continue;
        }
        for (u32 k = 0; k < (d->space == SPACE_GENERIC ? 4u : 1u); k++)
            m->stat_entries[d->stat + k] =
                d->is_bulk
                    ? bulk_stat_entry(i, o->imm, k)
                    : (struct stat_entry){i,       d->space == SPACE_GENERIC ? spaces[k] : d->space,
                                          d->verb, false,
                                          false,   false};
    }
}

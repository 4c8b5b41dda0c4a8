/* owners.c — which memory instruction each slot of statistics belongs to, and what is counted
 * there. */
#include "grader/sim/code/async.h"
#include "grader/sim/code/decode.h"

#include <string.h>

static struct stat_owner bulk_owner(u32 op, s64 direction, u32 slot) {
    if (slot == BULK_STAT_CLUSTER)
        return (struct stat_owner){op, SPACE_CLUSTER, MEM_STORE, true, false, false};
    struct stat_owner owner = {
        op, slot == BULK_STAT_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED, MEM_STORE, true, false, false};
    if (slot == BULK_STAT_LOAD || (slot == BULK_STAT_GLOBAL && direction == BULK_IN))
        owner.verb = MEM_LOAD;
    return owner;
}

void code_own_stats(struct sim_module *m) {
    m->stat_owners = arena_array(&m->arena, struct stat_owner, m->nstats);
    for (u32 i = 0; i < m->nops; i++) {
        const struct op *o = &m->ops[i];
        const char *name = insn_rows[o->row].name;
        bool texture = !strcmp(name, "tex") || !strcmp(name, "tld4") || !strcmp(name, "suld") ||
                       !strcmp(name, "sust");
        bool barrier = !strcmp(name, "mbarrier");
        if (strcmp(name, "ld") && strcmp(name, "st") && strcmp(name, "atom") &&
            strcmp(name, "cp.async.bulk") && strcmp(name, "cp.async.bulk.tensor") &&
            strcmp(name, "tensormap") && !texture && !barrier)
            continue;
        const struct mem_desc *d = &m->mems[o->aux];
        if (barrier && d->verb == MEM_LOAD)
            m->stat_owners[d->stat + MBAR_STAT_ENDED] = (struct stat_owner){
                .op = i, .space = SPACE_SHARED, .verb = MEM_LOAD, .waited = true};
        if (texture) {
            m->stat_owners[d->stat] =
                (struct stat_owner){.op = i, .space = d->space, .verb = d->verb, .texture = true};
            continue;
        }
        static const u8 spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CLUSTER};
        if (d->space == SPACE_CLUSTER) {
            for (u32 k = 0; k < 2; k++)
                m->stat_owners[d->stat + k] = (struct stat_owner){
                    i, k ? SPACE_CLUSTER : SPACE_SHARED, d->verb, false, false, false};
            continue;
        }
        for (u32 k = 0; k < (d->space == SPACE_GENERIC ? 4u : 1u); k++)
            m->stat_owners[d->stat + k] =
                d->bulk
                    ? bulk_owner(i, o->imm, k)
                    : (struct stat_owner){i,       d->space == SPACE_GENERIC ? spaces[k] : d->space,
                                          d->verb, false,
                                          false,   false};
    }
}

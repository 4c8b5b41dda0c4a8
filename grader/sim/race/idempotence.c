/* idempotence.c — finds launches after which an equal launch changes nothing: they read no memory
 * that they write. Then the next one reads what this one has read, and stores the same values. The
 * device server skips it without executing it even once (server/repeats.c).
 *
 * The race detector has the range of addresses of each memory instruction, for memory that the
 * launch may change; other memory it did not change. Kernels with other accesses than plain loads
 * and stores are left out: their ranges are not known, or what they read has changed. So are those
 * that a change outside of memory could tell from each other. */
#include "common/grow.h"
#include "grader/sim/race/race.h"

#include <stdlib.h>
#include <string.h>

/* Returns true if the instruction may access global memory without a range, call what does, or
 * differ from launch to launch. */
static bool has_other_effects(const struct sim_module *m, const struct op *o) {
    static const char *const prefixes[] = {"cp.async", "tensormap", "tex", "tld4",  "suld",
                                           "sust",     "call",      "brx", "wgmma", "clock"};
    const char *name = insn_opcodes[o->opcode].name;
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
    return !strcmp(name, "atom") && m->mems[o->aux].space != SPACE_SHARED;
}

static bool find_plain_accesses(const struct sim_module *m, const struct sim_func *f) {
    if (f->updates_global || f->interblock_dependent || f->reads_textures || f->writes_surfaces ||
        f->has_async_proxy_reads || f->cooperative || f->ncallees || f->has_indirect_calls)
        return false;
    for (u32 i = f->first_op; i < f->end_op; i++)
        if (has_other_effects(m, &m->ops[i])) return false;
    return true;
}

enum plain_accesses { NOT_KNOWN, PLAIN_ACCESSES_ONLY, OTHER_ACCESSES };

/* Looks at the code once only. */
static bool has_plain_accesses_only(const struct launch *l) {
    struct sim_module *m = l->code->kernel->module;
    struct sim_func *f = &m->funcs[l->code - m->funcs];
    if (f->plain_accesses == NOT_KNOWN)
        f->plain_accesses = find_plain_accesses(m, f) ? PLAIN_ACCESSES_ONLY : OTHER_ACCESSES;
    return f->plain_accesses == PLAIN_ACCESSES_ONLY && !f->has_unproven_stores &&
           !atomic_load(&l->has_unproven_store);
}

/* ---- what the launch accessed ---- */

static struct offset_range range_of(const struct launch *l, u32 stat) {
    struct offset_range all = {UINT64_MAX, 0};
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct offset_range *t = &l->workers[i].race_shadow->insn_ranges[stat];
        if (t->low < all.low) all.low = t->low;
        if (t->high > all.high) all.high = t->high;
    }
    return all;
}

/* Returns the ranges of the instructions that accessed anything, loads or others. */
static u32 list_ranges(const struct launch *l, bool of_loads, struct offset_range *out) {
    u32 n = 0;
    for (u32 s = 0; s < l->module->nstats; s++) {
        struct offset_range t = range_of(l, s);
        if ((l->module->stat_entries[s].verb == MEM_LOAD) == of_loads && t.low < t.high)
            out[n++] = t;
    }
    return n;
}

static bool reads_own_writes(const struct launch *l) {
    struct offset_range *reads = xcalloc(2 * l->module->nstats + 1, sizeof *reads),
                        *writes = reads + l->module->nstats;
    u32 nreads = list_ranges(l, true, reads), nwrites = list_ranges(l, false, writes);
    bool found = false;
    for (u32 i = 0; i < nreads; i++)
        for (u32 k = 0; k < nwrites; k++)
            found |= writes[k].low < reads[i].high && reads[i].low < writes[k].high;
    free(reads);
    return found;
}

bool race_is_idempotent(struct launch *l) {
    const struct sim_options *o = &l->sim->options;
    return l->tracks_global_races && !l->tracks_happens_before && !l->sim->streams && !l->trace &&
           !l->watched_blocks && !o->sample_warps && !o->adversarial_schedule && !o->watch &&
           atomic_load(&l->abort_fault) == SIM_FAULT_NONE && has_plain_accesses_only(l) &&
           !reads_own_writes(l);
}

/* peer_traffic.c — estimates how much of a kernel's traffic goes to memory of other devices;
 * streams.c calls it after a launch with several devices.
 *
 * Counts are by instruction, not by address. But the shadow has the range of addresses of each
 * instruction, which mostly lies in one allocation: then all its sectors go there. A range with
 * only one end in another device's memory gets half of them. Hot paths count nothing more for it.
 */
#include "grader/sim/race/race.h"

/* Returns true if the byte belongs to another device than the launch's. */
static bool is_remote(const struct memory *m, u64 offset) {
    int i = memory_find_range(m, SIM_BASE + offset, 1);
    return i >= 0 && m->allocations[i].region == MEM_DEVICE &&
           m->allocations[i].device != m->device;
}

static u64 insn_sectors(const struct launch *l, u32 stat) {
    u64 n = 0;
    for (u32 i = 0; i < l->nworkers; i++) n += l->workers[i].stats[stat][STAT_SECTORS];
    return n;
}

u64 race_peer_bytes(const struct launch *l) {
    const struct memory *m = &l->sim->memory;
    u64 sectors = 0;
    for (u32 i = 0; m->ndevices > 1 && i < l->module->nstats; i++) {
        struct offset_range range = race_insn_range(l, i);
        if (range.low >= range.high) continue;
        u32 ends = (u32)is_remote(m, range.low) + (u32)is_remote(m, range.high - 1);
        if (ends) sectors += insn_sectors(l, i) * ends / 2;
    }
    return sectors * 32;
}

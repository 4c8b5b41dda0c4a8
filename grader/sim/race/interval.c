/* interval.c — time as the search for races knows it: intervals between barriers of a block and of a warp, and the ticks
 * of a worker, which go on at each barrier and each block. See race.h. */
#include "grader/sim/race/async.h"
#include "grader/sim/race/race.h"

#include <string.h>

static void forget_stamps(struct block *b, const struct launch *l) {
    memset(b->race_write, 0, stamps_bytes(l));
    memset(b->race_read, 0, stamps_bytes(l));
    b->interval = 1;
}

u32 race_next_tick(struct block *b) {
    if (++b->plane->tick == RACE_TICKS) race_forget_ticks(b->plane);
    return b->plane->tick;
}

void race_next_interval(struct block *b, const struct launch *l) {
    if (!l->sanitize) return;
    if (++b->interval == RACE_INTERVALS) forget_stamps(b, l);
    b->tick = race_next_tick(b);
}

static void next_warp_interval(struct block *b, struct warp *w, const struct launch *l) {
    if (++w->interval % RACE_WARP_INTERVALS) return;
    u32 interval = b->interval; /* intervals of the warp are told modulo that: begin anew */
    forget_stamps(b, l);
    b->interval = interval;
}

const struct race_hooks race_hooks = {race_next_interval, next_warp_interval, race_async_early, race_async_start,
                                      race_async_free};

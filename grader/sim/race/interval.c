/* interval.c — time as the search for races knows it: intervals between barriers of a block and of a warp, and the ticks
 * of a worker, which go on at each barrier and each block. See race.h. */
#include "grader/sim/race/async.h"
#include "grader/sim/race/race.h"

#include <string.h>

/* Reads that wait to be stamped will not be asked for. */
static void forget_reads(const struct block *b) {
    if (b->plane && b->plane->waiting.read == b->race_read) b->plane->waiting.read = NULL;
}

static void forget_stamps(struct block *b, const struct launch *l) {
    memset(b->race_write, 0, stamps_bytes(l));
    memset(b->race_read, 0, stamps_bytes(l));
    b->interval = 1;
    b->stamped_in = 0;
}

u32 race_next_tick(struct block *b) {
    if (++b->plane->tick == RACE_TICKS) race_forget_ticks(b->plane);
    return b->plane->tick;
}

void race_next_interval(struct block *b, const struct launch *l) {
    if (!l->sanitize) return;
    forget_reads(b);
    if (++b->interval == RACE_INTERVALS) forget_stamps(b, l);
    b->tick = race_next_tick(b);
}

static void next_warp_interval(struct block *b, struct warp *w, const struct launch *l) {
    if (++w->interval % RACE_WARP_INTERVALS) return;
    forget_reads(b);
    u32 interval = b->interval; /* intervals of the warp are told modulo that: begin anew */
    forget_stamps(b, l);
    b->interval = interval;
}

static void start_block(struct block *b) {
    b->fenced = b->seen = 0;
    race_async_start(b);
}

static void end_block(struct block *b) {
    forget_reads(b);
    race_async_free(b);
}

const struct race_hooks race_hooks = {race_next_interval, next_warp_interval, race_async_early, start_block, end_block};

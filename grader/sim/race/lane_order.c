/* lane_order.c — orders single lanes in happens_before.c, whose cells hold warps and ticks.
 *
 * By PTX, lanes of a warp are threads like others: a release by one of them covers what the others
 * did only if a barrier, such as __syncwarp(), lies between, and what one lane acquires the others
 * know only behind such a barrier. A vector clock for each lane would be dear, and is not needed:
 *
 *   - Each lane has scalar clocks: of its last fence, of what it acquired, and of its last
 *     synchronization with other lanes. A warp barrier takes their maximum over its lanes. The
 *     warp's own clocks (struct warp_order) are the maximum of all, which barriers of the block
 *     pass on.
 *   - A release covers a *gap*: what other lanes of its warp did since the lane's last
 *     synchronization, and what other warps did since the block's last barrier. The release is
 *     recorded for the cell that it stores to (struct cell_release), and whoever observes it adds
 *     the gap to its block's list. A later release covers what came before it, as everywhere in
 *     happens_before.c, except for its own gap. So what remains of a gap is its intersection with
 *     the later one's. This can hide a race, but reports no false ones.
 *   - Reads that a later write of another block follows need no fence, but their lanes must have
 *     passed on that they are done. A shuffle or vote is enough for that, since its result depends
 *     on what was read. They have a list of gaps of their own. */
#include "grader/sim/race/lane_order.h"
#include "grader/sim/race/race.h"

#include <stdlib.h>
#include <string.h>

/* As in struct cell_release. `lanes` are those of the warp that have not released. */
struct gap {
    u16 block_id;
    u32 warp, lanes, lanes_from, synced_lanes, synced_lanes_from, warps_from;
    u32 end; /* the tick before which it ends */
};
enum { MAX_GAPS = 8 };
struct gap_list {
    u32 covered_clock;         /* the highest end of all that was observed */
    u32 n;                     /* number of gaps that were added */
    struct gap gaps[MAX_GAPS]; /* the last ones: a ring buffer */
};
struct release_gaps {
    struct gap_list writes, reads;
};

static void max_into(u32 *to, u32 value) {
    if (value > *to) *to = value;
}

void race_lanes_start(struct block *b, const struct launch *l) {
    if (b->release_gaps) memset(b->release_gaps, 0, sizeof *b->release_gaps);
    if (!l->tracks_happens_before || !l->ptx_order) return;
    if (!b->lane_orders) b->lane_orders = xcalloc(b->nwarps, sizeof *b->lane_orders);
    else memset(b->lane_orders, 0, b->nwarps * sizeof *b->lane_orders);
}

void race_lanes_free(struct block *b) {
    free(b->lane_orders);
    free(b->release_gaps);
    b->lane_orders = NULL;
    b->release_gaps = NULL;
}

/* ---- what lanes know ---- */

void race_lanes_fence(struct block *b, const struct warp *w, u32 lanes, u32 clock) {
    struct lane_order *o = &b->lane_orders[w->index];
    for (u32 m = lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        o->fence_clock[l] = clock;
        max_into(&o->acquire_clock[l], o->pending_clock[l]);
    }
}

/* Gives each of the lanes the highest clock of all of them. */
static void join_lanes(u32 clocks[32], u32 lanes) {
    u32 highest = 0;
    for (u32 l = 0; l < 32; l++)
        highest = (lanes >> l & 1) && clocks[l] > highest ? clocks[l] : highest;
    for (u32 l = 0; l < 32; l++) clocks[l] = lanes >> l & 1 ? highest : clocks[l];
}

static void set_lanes(u32 clocks[32], u32 lanes, u32 value) {
    for (u32 l = 0; l < 32; l++) clocks[l] = lanes >> l & 1 ? value : clocks[l];
}

static void sync_all_lanes(struct lane_order *o, u32 now) {
    o->warp_sync_clock = now;
    memset(o->synced_lanes, 0, sizeof o->synced_lanes);
}

/* Lanes that one of these had synchronized with before count as synchronized now: their accesses in
 * between are few. */
static void sync_some_lanes(struct lane_order *o, u32 lanes, u32 now) {
    u32 synced = lanes;
    for (u32 l = 0; l < 32; l++) synced |= lanes >> l & 1 ? o->synced_lanes[l] : 0;
    set_lanes(o->synced_lanes, lanes, synced);
    set_lanes(o->sync_clock, lanes, now);
}

void race_lanes_sync(struct block *b, const struct warp *w, u32 lanes, bool orders_memory) {
    if (!b->lane_orders) return;
    struct lane_order *o = &b->lane_orders[w->index];
    u32 now = race_advance_clock(b);
    set_lanes(o->exchange_clock, lanes, now);
    join_lanes(o->observed_clock, lanes);
    if (!orders_memory) return;
    if (b->warps[w->index].live_lanes & ~lanes) sync_some_lanes(o, lanes, now);
    else sync_all_lanes(o, now);
    join_lanes(o->fence_clock, lanes);
    join_lanes(o->acquire_clock, lanes);
    join_lanes(o->pending_clock, lanes);
}

void race_lanes_join_warp(struct block *b, const struct warp *w) {
    if (!b->lane_orders) return;
    struct lane_order *o = &b->lane_orders[w->index];
    u32 now = race_advance_clock(b);
    sync_all_lanes(o, now);
    for (u32 l = 0; l < 32; l++) {
        o->exchange_clock[l] = now;
        max_into(&o->fence_clock[l], w->order.fence_clock);
        max_into(&o->acquire_clock[l], w->order.acquire_clock);
        max_into(&o->pending_clock[l], w->order.pending_clock);
        max_into(&o->observed_clock[l], w->order.observed_clock);
    }
}

/* ---- gaps ---- */

/* Without a record of which warps are ordered since the block's last barrier, other warps count as
 * ordered where any of them may be. */
struct cell_release race_lanes_release(const struct block *b, const struct warp *w, u32 lane) {
    const struct lane_order *o = &b->lane_orders[w->index];
    struct cell_release r = {.block_id = race_block_id(b),
                             .warp = (u8)w->index,
                             .lane = (u8)lane,
                             .lanes_from = o->warp_sync_clock,
                             .synced_lanes = o->synced_lanes[lane],
                             .warps_from = b->vector_clocks ? UINT32_MAX : b->logical_clock};
    max_into(&r.lanes_from, b->logical_clock);
    r.synced_lanes_from = r.lanes_from;
    max_into(&r.synced_lanes_from, o->sync_clock[lane]);
    r.lane_reads_from = r.synced_lanes_from;
    max_into(&r.lane_reads_from, o->exchange_clock[lane]);
    return r;
}

/* Nothing before that tick is in the gap any more. */
static void begin_gap_at(struct gap *g, u32 clock) {
    max_into(&g->lanes_from, clock);
    max_into(&g->synced_lanes_from, clock);
    max_into(&g->warps_from, clock);
}

/* Takes from the gap what a later release covers, whose own gap is `later`. */
static void narrow_gap(struct gap *g, const struct gap *later) {
    if (later->end < g->end) return begin_gap_at(g, later->end);
    if (g->block_id != later->block_id || g->warp != later->warp) {
        g->end = 0;
        return;
    }
    g->lanes &= later->lanes;
    if (g->synced_lanes != later->synced_lanes) begin_gap_at(g, later->synced_lanes_from);
    max_into(&g->lanes_from, later->lanes_from);
    max_into(&g->synced_lanes_from, later->synced_lanes_from);
    max_into(&g->warps_from, later->warps_from);
}

static void add_gap(struct gap_list *list, struct gap g) {
    for (u32 i = 0; i < list->n && i < MAX_GAPS; i++) narrow_gap(&list->gaps[i], &g);
    if (g.end <= list->covered_clock) return;
    begin_gap_at(&g, list->covered_clock);
    list->covered_clock = g.end;
    if (g.lanes_from < g.end || g.warps_from < g.end) list->gaps[list->n++ % MAX_GAPS] = g;
}

void race_lanes_observe(struct block *b, u32 clock, u32 released, const struct cell_release *r) {
    struct gap g = {.block_id = r->block_id,
                    .warp = r->warp,
                    .lanes = ~(1u << r->lane),
                    .lanes_from = r->lanes_from,
                    .synced_lanes = r->synced_lanes,
                    .synced_lanes_from = r->synced_lanes_from,
                    .warps_from = r->warps_from,
                    .end = released};
    if (!b->release_gaps) b->release_gaps = xcalloc(1, sizeof *b->release_gaps);
    add_gap(&b->release_gaps->writes, g);
    g.lanes_from = g.synced_lanes_from = r->lane_reads_from;
    g.end = clock + 1;
    add_gap(&b->release_gaps->reads, g);
}

static bool is_in_gap_of_lanes(const struct gap *g, const struct lane_access *a) {
    u32 from = g->synced_lanes >> a->lane & 1 ? g->synced_lanes_from : g->lanes_from;
    return g->warp == a->warp && (g->lanes >> a->lane & 1) && a->clock >= from;
}

enum order_gap race_lanes_find_gap(const struct block *b, const struct lane_access *a) {
    if (!b->release_gaps || a->clock < b->grid_clock) return ORDER_COMPLETE;
    const struct gap_list *list = a->is_read ? &b->release_gaps->reads : &b->release_gaps->writes;
    for (u32 i = 0; i < list->n && i < MAX_GAPS; i++) {
        const struct gap *g = &list->gaps[i];
        if (g->block_id != a->block_id || a->clock >= g->end) continue;
        if (g->warp != a->warp && a->clock >= g->warps_from) return ORDER_GAP_WARPS;
        if (is_in_gap_of_lanes(g, a)) return ORDER_GAP_LANES;
    }
    return ORDER_COMPLETE;
}

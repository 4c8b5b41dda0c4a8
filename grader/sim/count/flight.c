/* flight.c — see flight.h.
 *
 * Of copies that are waited for together only two sums are kept: of the bytes, and of bytes × the
 * clock at which they were asked for; at clock t they have counted bytes × t less the latter. The
 * clock is the warp's own number of executed instructions, so that it does not matter which warp
 * the simulator runs first. cp.async counts by the clock of the warp that asks, and only where this
 * warp waits, too. Of a bulk copy one lane asks for all: the warp that is first to see the
 * mbarrier's phase end has waited, by its own clock, which is kept for each warp. More than GROUPS
 * groups, or more mbarriers at a time than PLACES, are joined or left out. */
#include "grader/sim/count/flight.h"
#include "common/err.h"
#include "grader/sim/code/async.h"

#include <stdlib.h>

enum { GROUPS = 16, PLACES = 16 };

struct asked {
    u64 bytes, weight; /* weight: bytes × the clock when they were asked for */
    u32 stat, place;   /* place: 1 + offset of the mbarrier, 0 = none */
};

struct flight_warp {
    struct asked open, group[GROUPS], marked[PLACES];
    u32 first, next; /* groups that are kept: first ... next - 1 */
};

struct flight_bulk {
    struct asked asked;
    u64 weight[32]; /* by warp */
};

/* Within a stretch of straight code, how many instructions were before the op: looked up again from
 * the last one on. */
struct stretch {
    const struct warp *warp;
    u64 executed, before;
    u32 first, at;
};

struct flight {
    struct stretch stretch;
    struct flight_bulk bulk[PLACES];
    struct flight_warp warp[];
};

static struct flight *flight_of(struct exec *x) {
    struct block *b = x->block;
    if (!b->inflight_copies)
        b->inflight_copies =
            xcalloc(1, sizeof *b->inflight_copies + b->nwarps * sizeof *b->inflight_copies->warp);
    return b->inflight_copies;
}

static u32 begin_of(const struct sim_module *m, u32 op) {
    u32 low = 0, high = m->nsegments;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (m->segments[middle].first <= op) low = middle;
        else high = middle;
    }
    return m->segments[low].first;
}

/* Instructions that the running warp has executed before this one. */
static u64 now(struct exec *x, const struct op *o) {
    struct stretch *s = &flight_of(x)->stretch;
    const struct op *ops = x->worker->launch->ops;
    u32 at = (u32)(o - ops), first = begin_of(x->worker->launch->module, at);
    bool same = s->warp == x->warp && s->executed == x->warp->warp_insns && s->first == first &&
                s->at <= at;
    if (!same) *s = (struct stretch){x->warp, x->warp->warp_insns, 0, first, first};
    for (; s->at < at; s->at++) s->before += ops[s->at].weight;
    return s->executed + s->before;
}

static void credit(struct exec *x, struct asked *a, u64 t) {
    if (a->bytes) x->stats[a->stat][STAT_INFLIGHT] += a->bytes * t - a->weight;
    *a = (struct asked){0};
}

static void join(struct asked *to, struct asked *from) {
    if (from->bytes) to->stat = from->stat;
    to->bytes += from->bytes, to->weight += from->weight;
    from->bytes = from->weight = 0;
}

void count_flight_ask(struct exec *x, const struct op *o, u32 stat, u32 bytes) {
    struct asked *a = &flight_of(x)->warp[x->warp->index].open;
    a->stat = stat;
    a->bytes += bytes, a->weight += bytes * (now(x, o) + o->weight);
}

static void commit(struct flight_warp *w) {
    if (w->next - w->first == GROUPS) {
        join(&w->group[(w->first + 1) % GROUPS], &w->group[w->first % GROUPS]);
        w->first++;
    }
    w->group[w->next % GROUPS] = (struct asked){0};
    join(&w->group[w->next++ % GROUPS], &w->open);
}

void count_flight_group(struct exec *x, const struct op *o) {
    if (!x->block->inflight_copies) return; /* nothing was ever asked for */
    struct flight_warp *w = &flight_of(x)->warp[x->warp->index];
    u32 left = o->imm == GROUP_WAIT ? o->target : 0;
    if (o->imm == GROUP_COMMIT) commit(w);
    if (o->imm != GROUP_WAIT && o->imm != GROUP_WAIT_ALL) return;
    for (; w->next - w->first > left; w->first++)
        credit(x, &w->group[w->first % GROUPS], now(x, o));
    if (o->imm == GROUP_WAIT_ALL) credit(x, &w->open, now(x, o));
}

void count_flight_arrive(struct exec *x, u32 place) {
    if (!x->block->inflight_copies) return;
    struct flight_warp *w = &flight_of(x)->warp[x->warp->index];
    for (u32 i = 0; i < PLACES && w->open.bytes; i++)
        if (!w->marked[i].place || w->marked[i].place == place + 1) {
            w->marked[i].place = place + 1;
            join(&w->marked[i], &w->open);
        }
}

void count_flight_bulk(struct exec *x, const struct op *o, u32 stat, u32 place, u32 bytes) {
    struct flight *f = flight_of(x);
    u32 i = 0;
    while (i < PLACES && f->bulk[i].asked.place && f->bulk[i].asked.place != place + 1) i++;
    if (i == PLACES) return;
    f->bulk[i].asked.place = place + 1, f->bulk[i].asked.stat = stat,
    f->bulk[i].asked.bytes += bytes;
    for (u32 w = 0; w < x->block->nwarps; w++)
        f->bulk[i].weight[w] +=
            bytes * (w == x->warp->index ? now(x, o) + o->weight : x->block->warps[w].warp_insns);
}

void count_flight_waited(struct exec *x, const struct op *o, u32 place) {
    if (!x->block->inflight_copies) return;
    struct flight *f = flight_of(x);
    struct flight_warp *w = &f->warp[x->warp->index];
    for (u32 i = 0; i < PLACES; i++) {
        if (w->marked[i].place == place + 1) credit(x, &w->marked[i], now(x, o));
        if (f->bulk[i].asked.place != place + 1) continue;
        f->bulk[i].asked.weight = f->bulk[i].weight[x->warp->index];
        credit(x, &f->bulk[i].asked, now(x, o));
        f->bulk[i] = (struct flight_bulk){0};
    }
}

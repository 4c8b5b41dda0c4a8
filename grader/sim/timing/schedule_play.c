/* schedule_play.c — what a warp executes of the machine code: see schedule.h. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <math.h>

static void push(struct chunk *c, const struct step *step, u32 event) {
    GROW(c->list, c->n + 1, c->capacity, 64);
    c->list[c->n++] = (struct played){step, event};
}

/* ---- taking segments off the stream ---- */

static void add_event(struct schedule *s, struct chunk *c, u32 insn, u32 word) {
    GROW(c->events, c->nevents + 1, c->event_capacity, 64);
    if (!s->head[insn]) s->touched[s->ntouched++] = insn;
    c->events[c->nevents++] = (struct event){word, s->head[insn]};
    s->head[insn] = c->nevents;
}

/* The access at `at` is made by the copy for this round of its segment. */
static void take_access(struct schedule *s, struct chunk *c, u32 segment,
                        const struct trace_warp *w, u32 at) {
    u64 word = w->strings[at];
    u32 op = trace_op_or_segment(word), entries = trace_entries(word);
    const struct home *h = &s->home[op];
    bool global = trace_space(word) == SPACE_GLOBAL;
    if (s->m->mems[s->m->ops[op].aux].merged_bytes == MERGED_INTO_OTHER)
        return; /* the one that stands for it has its passes */
    s->accesses += global ? entries : 0;
    if (!h->n) {
        s->lost += global && trace_verb(word) != MEM_LOAD ? entries : 0;
        if (trace_space(word) == TRACE_GRID_BARRIER)
            s->lost = INFINITY; /* a barrier would be free */
        return;
    }
    u32 copies = s->copies_of[segment], round = s->count[segment] - 1,
        copy = (u32)((u64)round * h->n / copies);
    add_event(s, c, s->homes[h->first + (copy < h->n ? copy : h->n - 1)], at);
}

static u32 segment_of_op(const struct schedule *s, u32 op, u32 guess) {
    const struct segment *g = &s->m->segments[guess];
    if (op >= g->first && op <= g->last) return guess;
    return UINT32_MAX;
}

static bool can_take(const struct schedule *s, u32 segment, u32 cluster) {
    return s->cluster_of[segment] == cluster && s->count[segment] < s->copies_of[segment];
}

static void take_segment(struct schedule *s, u32 segment) {
    if (!s->count[segment]++) s->taken[s->ntaken++] = segment;
}

/* Segments that left no instruction are passed over. Returns the cluster. */
static u32 take_segments(struct schedule *s, struct chunk *c, const struct trace_warp *w, u32 *at) {
    u32 cluster = NO_CLUSTER, segment = UINT32_MAX, i = *at;
    for (; i < w->nwords; i++) {
        u64 word = w->strings[i];
        if (trace_is_access(word)) {
            if (segment != UINT32_MAX &&
                segment_of_op(s, trace_op_or_segment(word), segment) == segment)
                take_access(s, c, segment, w, i);
            i += trace_entries(word);
            continue;
        }
        u32 next = trace_op_or_segment(word);
        if (s->cluster_of[next] != NO_CLUSTER) {
            if (cluster != NO_CLUSTER && !can_take(s, next, cluster)) break;
            cluster = s->cluster_of[next];
            take_segment(s, next);
        }
        segment = next;
    }
    *at = i;
    return cluster;
}

/* ---- issuing what they cover ---- */

/* The part of the block's copies that were executed; segments that are sure of their number tell.
 */
static double part_of(const struct schedule *s, const struct stretch *b) {
    double most[2] = {0};
    bool sure = false;
    for (u32 i = 0; i < b->nowners; i++) {
        u32 segment = s->owners[b->owner + i];
        double part = (double)s->count[segment] / s->copies_of[segment];
        sure |= s->sure[segment];
        if (part > most[s->sure[segment]]) most[s->sure[segment]] = part;
    }
    return most[sure];
}

static void issue(struct schedule *s, struct chunk *c, u32 insn) {
    push(c, &s->steps[insn], s->head[insn]);
    if (s->code[insn].local_frame_end > s->frame) s->frame = s->code[insn].local_frame_end;
    s->head[insn] = 0;
}

static void issue_block(struct schedule *s, struct chunk *c, const struct stretch *b, double part) {
    for (u32 i = b->first; i < b->end; i++) {
        const struct place *p = &s->places[i];
        bool executed = p->segment != UINT32_MAX && s->count[p->segment] > p->copy;
        if (s->code[i].unit == SASS_BARRIER ? executed : p->copy < part * p->copies - 1e-9)
            issue(s, c, i);
    }
}

/* Barriers that stand elsewhere in machine code than ptxas says. */
static void issue_barriers(struct schedule *s, struct chunk *c) {
    for (u32 i = 0; i < s->ntaken; i++) {
        u32 segment = s->taken[i], last = s->m->segments[segment].last;
        if (s->m->ops[last].kind != OP_BAR || s->home[last].n) continue;
        for (u32 k = 0; k < s->count[segment]; k++) push(c, &s->barrier, 0);
    }
}

bool time_schedule_next(struct schedule *s, const struct trace_warp *w, u32 *at, struct chunk *c) {
    c->n = c->nevents = s->ntaken = s->ntouched = 0;
    if (*at >= w->nwords) return false;
    u32 cluster = take_segments(s, c, w, at);
    for (u32 b = cluster != NO_CLUSTER ? s->cluster_block[cluster] : UINT32_MAX; b != UINT32_MAX;
         b = s->stretches[b].next) {
        double part = s->stretches[b].rare ? 0 : part_of(s, &s->stretches[b]);
        if (part > 0) issue_block(s, c, &s->stretches[b], part);
    }
    for (u32 i = 0; i < s->ntouched; i++) /* in copies that were left out */
        if (s->head[s->touched[i]]) issue(s, c, s->touched[i]);
    issue_barriers(s, c);
    for (u32 i = 0; i < s->ntaken; i++) s->count[s->taken[i]] = 0;
    return true;
}

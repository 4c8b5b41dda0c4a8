/* schedule_replay.c — computes which machine instructions a warp executes, for replay.c: see
 * schedule.h. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <math.h>

static void push(struct chunk *c, const struct sched_insn *insn, u32 event) {
    GROW(c->insns, c->ninsns + 1, c->capacity, 64);
    c->insns[c->ninsns++] = (struct issued_insn){insn, event};
}

/* ---- consuming segments of the trace ---- */

static void add_event(struct schedule *s, struct chunk *c, u32 insn, u32 word) {
    GROW(c->events, c->nevents + 1, c->event_capacity, 64);
    if (!s->first_event[insn]) s->event_insns[s->nevent_insns++] = insn;
    c->events[c->nevents++] = (struct event){word, s->first_event[insn]};
    s->first_event[insn] = c->nevents;
}

/* Assigns the access at `at` to the machine instruction of this iteration's copy. */
static void match_access(struct schedule *s, struct chunk *c, u32 segment,
                         const struct trace_warp *w, u32 at) {
    u64 word = w->words[at];
    u32 op = trace_op_or_segment(word), entries = trace_entries(word);
    const struct sass_sites *h = &s->sites[op];
    bool global = trace_space(word) == SPACE_GLOBAL;
    if (s->m->mems[s->m->ops[op].aux].merged_bytes == MERGED_INTO_OTHER)
        return; /* The wide access has its wavefronts. */
    s->accesses += global ? entries : 0;
    if (!h->n) {
        s->unmatched += global && trace_verb(word) != MEM_LOAD ? entries : 0;
        if (trace_space(word) == TRACE_GRID_BARRIER)
            s->unmatched = INFINITY; /* Otherwise the barrier would cost nothing. */
        return;
    }
    u32 copies = s->unroll_factor[segment], iteration = s->taken_count[segment] - 1,
        copy = (u32)((u64)iteration * h->n / copies);
    add_event(s, c, s->site_insns[h->first + (copy < h->n ? copy : h->n - 1)], at);
}

static u32 segment_of_op(const struct schedule *s, u32 op, u32 hint) {
    const struct segment *g = &s->m->segments[hint];
    if (op >= g->first && op <= g->last) return hint;
    return UINT32_MAX;
}

static bool can_consume(const struct schedule *s, u32 segment, u32 loop_body) {
    return s->loop_body_of[segment] == loop_body &&
           s->taken_count[segment] < s->unroll_factor[segment];
}

static void consume_segment(struct schedule *s, u32 segment) {
    if (!s->taken_count[segment]++) s->taken_segments[s->ntaken++] = segment;
}

/* Consumes the segments of one iteration, and returns their loop body. Skips segments that have no
 * machine instruction. */
static u32 consume_segments(struct schedule *s, struct chunk *c, const struct trace_warp *w,
                            u32 *at) {
    u32 loop_body = NO_LOOP_BODY, segment = UINT32_MAX, i = *at;
    for (; i < w->nwords; i++) {
        u64 word = w->words[i];
        if (trace_is_access(word)) {
            if (segment != UINT32_MAX &&
                segment_of_op(s, trace_op_or_segment(word), segment) == segment)
                match_access(s, c, segment, w, i);
            i += trace_entries(word);
            continue;
        }
        u32 next = trace_op_or_segment(word);
        if (s->loop_body_of[next] != NO_LOOP_BODY) {
            if (loop_body != NO_LOOP_BODY && !can_consume(s, next, loop_body)) break;
            loop_body = s->loop_body_of[next];
            consume_segment(s, next);
        }
        segment = next;
    }
    *at = i;
    return loop_body;
}

/* ---- issuing their instructions ---- */

/* Returns the fraction of the block's copies that were executed, by segments with an exact unroll
 * factor if it has any. */
static double executed_fraction(const struct schedule *s, const struct basic_block *b) {
    double max_fraction[2] = {0};
    bool has_exact = false;
    for (u32 i = 0; i < b->nsegments; i++) {
        u32 segment = s->block_segments[b->first_segment + i];
        double fraction = (double)s->taken_count[segment] / s->unroll_factor[segment];
        has_exact |= s->unroll_exact[segment];
        if (fraction > max_fraction[s->unroll_exact[segment]])
            max_fraction[s->unroll_exact[segment]] = fraction;
    }
    return max_fraction[has_exact];
}

static void issue(struct schedule *s, struct chunk *c, u32 insn) {
    push(c, &s->insns[insn], s->first_event[insn]);
    if (s->code[insn].local_frame_end > s->frame_bytes)
        s->frame_bytes = s->code[insn].local_frame_end;
    s->first_event[insn] = 0;
}

static void issue_block(struct schedule *s, struct chunk *c, const struct basic_block *b,
                        double fraction) {
    for (u32 i = b->first; i < b->end; i++) {
        const struct sass_location *p = &s->locations[i];
        bool executed = p->segment != UINT32_MAX && s->taken_count[p->segment] > p->copy_index;
        if (s->code[i].unit == SASS_BARRIER ? executed
                                            : p->copy_index < fraction * p->ncopies - 1e-9)
            issue(s, c, i);
    }
}

/* Issues barriers for which the machine code has no instruction at that line. */
static void issue_barriers(struct schedule *s, struct chunk *c) {
    for (u32 i = 0; i < s->ntaken; i++) {
        u32 segment = s->taken_segments[i], last = s->m->segments[segment].last;
        if (s->m->ops[last].kind != OP_BAR || s->sites[last].n) continue;
        for (u32 k = 0; k < s->taken_count[segment]; k++) push(c, &s->fallback_barrier, 0);
    }
}

bool time_schedule_next(struct schedule *s, const struct trace_warp *w, u32 *at, struct chunk *c) {
    c->ninsns = c->nevents = s->ntaken = s->nevent_insns = 0;
    if (*at >= w->nwords) return false;
    u32 loop_body = consume_segments(s, c, w, at);
    for (u32 b = loop_body != NO_LOOP_BODY ? s->first_block[loop_body] : UINT32_MAX;
         b != UINT32_MAX; b = s->basic_blocks[b].next) {
        double fraction =
            s->basic_blocks[b].is_cold ? 0 : executed_fraction(s, &s->basic_blocks[b]);
        if (fraction > 0) issue_block(s, c, &s->basic_blocks[b], fraction);
    }
    for (u32 i = 0; i < s->nevent_insns; i++) /* accesses of copies that were not issued */
        if (s->first_event[s->event_insns[i]]) issue(s, c, s->event_insns[i]);
    issue_barriers(s, c);
    for (u32 i = 0; i < s->ntaken; i++) s->taken_count[s->taken_segments[i]] = 0;
    return true;
}

/* schedule_path.c — finds the path of a lane through the machine code: see schedule.h.
 *
 * A search over pairs of a place in the lane's segments and a node about to execute, in the order
 * of the place, then of the cost. Executing a node moves past the segments that it has copies of. A
 * path costs 1 for each segment left out and for each copy that is executed though its segment was
 * not, without a predicate; less for those with weak evidence. The shorter one of equal paths wins.
 * Few states survive at each place, so the time grows with the length of the path. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float weak_cost = 0.05f, insn_cost = 0.0002f, cold_cost = 2, jump_cost = 3,
                   close_cost = 0.04f, max_excess_cost = 1.6f;
enum { MAX_STATES_AT_PLACE = 4, MAX_SUCCESSORS = 64 };
#define NO_STATE UINT32_MAX

struct path_state {
    u32 place, node, end, parent; /* end: the place behind the node */
    float cost;                   /* up to the node's end */
};
struct pending_state {
    u32 place, node, parent;
    float cost;
};
struct search {
    struct schedule *s;
    const u32 *segments;
    u32 n;
    struct path_state *states;
    u32 nstates, state_capacity;
    struct pending_state *heap;
    u32 nheap, heap_capacity;
    u32 *slots, nslots;   /* by place and node: 1 + state */
    float *least_cost;    /* [n + 1]: of the states that have come that far */
    u32 place, nat_place; /* states at the current place */
    u32 last, furthest;   /* the state that ends best; the one that has come furthest */
    float last_cost;
};

static float segment_cost(const struct schedule *s, u32 segment) {
    return s->evidence[segment] == EVIDENCE_STRONG ? 1
           : s->evidence[segment] == EVIDENCE_WEAK ? weak_cost
                                                   : 0;
}

u32 time_schedule_consume(const struct schedule *s, const struct sched_node *node,
                          const u32 *segments, u32 n, u32 at, float *cost) {
    const struct node_copies *c = s->copies + node->first_copy;
    for (u32 i = 0; i < node->ncopies; i++) s->copies_left[c[i].segment] = c[i].count;
    while (at < n && (s->evidence[segments[at]] == EVIDENCE_NONE || s->copies_left[segments[at]]))
        s->copies_left[segments[at]] -= s->evidence[segments[at]] != EVIDENCE_NONE, at++;
    for (u32 i = 0; i < node->ncopies; i++) {
        u32 left = s->copies_left[c[i].segment];
        if (left > c[i].guarded)
            *cost += (float)(left - c[i].guarded) * segment_cost(s, c[i].segment);
        s->copies_left[c[i].segment] = 0;
    }
    return at;
}

/* ---- the heap of pending states ---- */

static bool is_before(const struct pending_state *a, const struct pending_state *b) {
    return a->place != b->place ? a->place < b->place : a->cost < b->cost;
}

/* Adds a state, at the next segment that has evidence. */
static void push(struct search *q, struct pending_state x) {
    while (x.place < q->n && q->s->evidence[q->segments[x.place]] == EVIDENCE_NONE) x.place++;
    GROW(q->heap, q->nheap + 1, q->heap_capacity, 64);
    u32 i = q->nheap++;
    while (i && is_before(&x, &q->heap[(i - 1) / 2]))
        q->heap[i] = q->heap[(i - 1) / 2], i = (i - 1) / 2;
    q->heap[i] = x;
}

static struct pending_state pop(struct search *q) {
    struct pending_state top = q->heap[0], x = q->heap[--q->nheap];
    u32 i = 0, k;
    while ((k = 2 * i + 1) < q->nheap) {
        if (k + 1 < q->nheap && is_before(&q->heap[k + 1], &q->heap[k])) k++;
        if (!is_before(&q->heap[k], &x)) break;
        q->heap[i] = q->heap[k], i = k;
    }
    if (q->nheap) q->heap[i] = x;
    return top;
}

/* ---- visited states ---- */

static u32 *slot_of(struct search *q, u32 place, u32 node) {
    u32 h = (u32)((place * 0x9e3779b97f4a7c15ull + node * 0xc2b2ae3d27d4eb4full) >> 32);
    for (h &= q->nslots - 1; q->slots[h]; h = (h + 1) & (q->nslots - 1)) {
        const struct path_state *x = &q->states[q->slots[h] - 1];
        if (x->place == place && x->node == node) break;
    }
    return &q->slots[h];
}

static void grow_slots(struct search *q) {
    if (2 * (q->nstates + 1) < q->nslots) return;
    free(q->slots);
    q->nslots = q->nslots ? 2 * q->nslots : 1024;
    q->slots = xcalloc(q->nslots, sizeof *q->slots);
    for (u32 i = 0; i < q->nstates; i++) *slot_of(q, q->states[i].place, q->states[i].node) = i + 1;
}

/* ---- the search ---- */

static u32 find_successors(const struct schedule *s, u32 node, u32 out[MAX_SUCCESSORS]) {
    const struct sched_node *x = &s->nodes[node];
    u32 n = 0;
    if (x->next != NO_NODE) out[n++] = x->next;
    if (x->target != NO_NODE) out[n++] = x->target;
    for (u32 i = 0; x->returns && i < s->nnodes && n < MAX_SUCCESSORS; i++)
        if (s->code[s->nodes[i].end - 1].flow == SASS_FLOW_CALL &&
            s->nodes[i].target == x->function && i + 1 < s->nnodes)
            out[n++] = i + 1;
    return n;
}

static void note_cost(struct search *q, u32 from, u32 to, float cost) {
    for (u32 i = from + 1; i <= to; i++)
        if (cost < q->least_cost[i]) q->least_cost[i] = cost;
}

static float rest_cost(const struct search *q, u32 from) {
    float cost = 0;
    for (u32 i = from; i < q->n && cost < max_excess_cost; i++)
        cost += segment_cost(q->s, q->segments[i]);
    return cost;
}

static void end_path(struct search *q, u32 state) {
    const struct path_state *x = &q->states[state];
    float rest = rest_cost(q, x->end);
    if (rest >= max_excess_cost || x->cost + rest >= q->last_cost) return;
    q->last = state, q->last_cost = x->cost + rest;
}

/* Executes the node of a pending state. */
static void visit(struct search *q, const struct pending_state *p) {
    const struct sched_node *node = &q->s->nodes[p->node];
    u32 successors[MAX_SUCCESSORS], state = q->nstates;
    float cost =
        p->cost + insn_cost * (float)(node->end - node->first) + (node->is_cold ? cold_cost : 0);
    grow_slots(q);
    GROW(q->states, q->nstates + 1, q->state_capacity, 256);
    *slot_of(q, p->place, p->node) = ++q->nstates;
    u32 end = time_schedule_consume(q->s, node, q->segments, q->n, p->place, &cost);
    q->states[state] = (struct path_state){p->place, p->node, end, p->parent, cost};
    note_cost(q, p->place, end, cost);
    if (q->furthest == NO_STATE || end > q->states[q->furthest].end) q->furthest = state;
    if (end == p->place && end < q->n) { /* leave a segment out */
        float skipped = p->cost + segment_cost(q->s, q->segments[end]);
        push(q, (struct pending_state){end + 1, p->node, p->parent, skipped});
    }
    u32 n = find_successors(q->s, p->node, successors);
    for (u32 i = 0; i < n; i++) push(q, (struct pending_state){end, successors[i], state, cost});
    if (node->exits) end_path(q, state);
}

/* Returns true for a state that isn't much worse than the best that came as far; of those that are
 * somewhat worse, few are visited at each place. */
static bool is_promising(struct search *q, const struct pending_state *p) {
    if (p->place != q->place) q->place = p->place, q->nat_place = 0;
    float excess = p->cost - q->least_cost[p->place];
    if (p->cost >= q->last_cost || excess > max_excess_cost ||
        (excess > close_cost && q->nat_place >= MAX_STATES_AT_PLACE))
        return false;
    grow_slots(q);
    bool is_new = !*slot_of(q, p->place, p->node);
    q->nat_place += is_new && excess > close_cost;
    return is_new;
}

/* Where all paths have ended too early, as at a gap in the trace or a jump to an unknown place,
 * continues at any node that executes the next segment. */
static void resume(struct search *q) {
    u32 end = q->states[q->furthest].end;
    float cost = q->states[q->furthest].cost + jump_cost;
    for (; end < q->n && !q->nheap; end++)
        for (u32 i = 0; i < q->s->nnodes; i++) {
            const struct sched_node *x = &q->s->nodes[i];
            bool executes = false;
            for (u32 k = 0; k < x->ncopies; k++)
                executes |= q->s->copies[x->first_copy + k].segment == q->segments[end];
            if (!executes || *slot_of(q, end, i)) continue;
            q->nat_place = 0, q->place = end;
            q->least_cost[end] = fmaxf(q->least_cost[end], cost);
            push(q, (struct pending_state){end, i, q->furthest, cost});
        }
}

static void run(struct search *q) {
    for (;;) {
        while (q->nheap && q->s->search_budget > 0) {
            struct pending_state p = pop(q);
            if (!is_promising(q, &p)) continue;
            q->s->search_budget--;
            visit(q, &p);
        }
        if (q->last != NO_STATE || q->furthest == NO_STATE || q->s->search_budget <= 0) return;
        u32 before = q->states[q->furthest].end;
        if (before < q->n) resume(q);
        if (!q->nheap) return;
    }
}

/* ---- the start, and the result ---- */

/* Returns the node that begins the function of a PTX line: functions have consecutive lines. */
static u32 find_function(const struct schedule *s, u32 line) {
    u32 best = 0, best_line = 0;
    for (u32 i = 0; i < s->nnodes; i++) {
        if (s->nodes[i].function != i || s->code[s->nodes[i].first].flags & SASS_INTERNAL) continue;
        u32 first_line = UINT32_MAX;
        for (u32 k = i; k < s->nnodes && s->nodes[k].function == i; k++)
            for (u32 c = s->nodes[k].first; c < s->nodes[k].end; c++)
                if (s->code[c].line && s->code[c].line < first_line) first_line = s->code[c].line;
        if (first_line <= line && first_line >= best_line) best = i, best_line = first_line;
    }
    return best;
}

static void store_path(const struct search *q, u32 last, struct lane_path *out) {
    u32 n = 0;
    for (u32 i = last; i != NO_STATE; i = q->states[i].parent) n++;
    out->steps = xcalloc(n + 1ul, sizeof *out->steps), out->nsteps = n;
    for (u32 i = last; i != NO_STATE; i = q->states[i].parent)
        out->steps[--n] =
            (struct path_step){q->states[i].node, q->states[i].place, q->states[i].end};
}

static bool search_path(struct schedule *s, const u32 *segments, u32 n, struct lane_path *out) {
    struct search q = {.s = s,
                       .segments = segments,
                       .n = n,
                       .last = NO_STATE,
                       .furthest = NO_STATE,
                       .last_cost = INFINITY,
                       .least_cost = xcalloc(n + 1ul, sizeof *q.least_cost)};
    for (u32 i = 0; i <= n; i++) q.least_cost[i] = INFINITY;
    u32 line = s->m->op_lines[s->m->segments[segments[0]].first];
    q.least_cost[0] = 0;
    push(&q, (struct pending_state){0, find_function(s, line), NO_STATE, 0});
    run(&q);
    bool ok = s->search_budget > 0 && q.furthest != NO_STATE;
    if (ok) store_path(&q, q.last != NO_STATE ? q.last : q.furthest, out);
    free(q.states), free(q.heap), free(q.slots), free(q.least_cost);
    return ok;
}

/* ---- paths that lanes share ---- */

static u64 hash_segments(const u32 *segments, u32 n) {
    u64 h = n;
    for (u32 i = 0; i < n; i++) h = (h ^ segments[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
}

static u32 *path_slot(const struct schedule *s, u64 hash, const u32 *segments, u32 n) {
    u32 h = (u32)hash & (s->nlane_path_slots - 1);
    for (; s->lane_path_slots[h]; h = (h + 1) & (s->nlane_path_slots - 1)) {
        const struct lane_path *p = &s->lane_paths[s->lane_path_slots[h] - 1];
        if (p->hash == hash && p->nsegments == n && !memcmp(p->segments, segments, 4ul * n)) break;
    }
    return &s->lane_path_slots[h];
}

static void grow_paths(struct schedule *s) {
    if (2 * (s->nlane_paths + 1) < s->nlane_path_slots) return;
    s->nlane_path_slots = s->nlane_path_slots ? 2 * s->nlane_path_slots : 256;
    free(s->lane_path_slots);
    s->lane_path_slots = xcalloc(s->nlane_path_slots, sizeof *s->lane_path_slots);
    for (u32 i = 0; i < s->nlane_paths; i++) {
        const struct lane_path *p = &s->lane_paths[i];
        *path_slot(s, p->hash, p->segments, p->nsegments) = i + 1;
    }
}

const struct lane_path *time_schedule_find_path(struct schedule *s, const u32 *segments, u32 n) {
    u64 hash = hash_segments(segments, n);
    grow_paths(s);
    u32 *slot = path_slot(s, hash, segments, n);
    if (*slot) return &s->lane_paths[*slot - 1];
    struct lane_path p = {.hash = hash, .nsegments = n};
    if (!search_path(s, segments, n, &p)) return NULL;
    p.segments = xcalloc(n, sizeof *p.segments);
    memcpy(p.segments, segments, n * sizeof *segments);
    GROW(s->lane_paths, s->nlane_paths + 1, s->lane_path_capacity, 64);
    s->lane_paths[s->nlane_paths++] = p;
    *slot = s->nlane_paths;
    return &s->lane_paths[s->nlane_paths - 1];
}

void time_schedule_free_paths(struct schedule *s) {
    for (u32 i = 0; i < s->nlane_paths; i++)
        free(s->lane_paths[i].steps), free(s->lane_paths[i].segments);
    free(s->lane_paths), free(s->lane_path_slots);
}

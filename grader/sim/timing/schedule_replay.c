/* schedule_replay.c — hands the machine instructions of traced warps to the replay, one node at a
 * time, each with its accesses: see schedule.h. */
#include "common/grow.h"
#include "grader/sim/timing/schedule.h"

#include <stdlib.h>
#include <string.h>

/* ---- the warps of the traces ---- */

struct visits {
    u32 *segments, *lanes, *words, n;
};

static void collect_visits(const struct trace_warp *w, struct visits *v) {
    v->segments = xcalloc(w->nwords + 1ul, sizeof *v->segments);
    v->lanes = xcalloc(w->nwords + 1ul, sizeof *v->lanes);
    v->words = xcalloc(w->nwords + 1ul, sizeof *v->words), v->n = 0;
    for (u32 i = 0; i < w->nwords; i++) {
        u64 x = w->words[i];
        if (trace_is_access(x)) {
            i += trace_entries(x);
            continue;
        }
        v->segments[v->n] = trace_op_or_segment(x), v->lanes[v->n] = trace_segment_lanes(x);
        v->words[v->n++] = i;
    }
}

static u64 hash_visits(const struct visits *v) {
    u64 h = v->n;
    for (u32 i = 0; i < v->n; i++)
        h = (h ^ ((u64)v->lanes[i] << 32 | v->segments[i])) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h ? h : 1;
}

/* Returns the place of the path with this hash, or of an empty one, for up to `n` warps. */
static struct warp_path *find_warp_path(struct schedule *s, u64 hash) {
    u32 i = (u32)hash & (s->nwarp_paths - 1);
    while (s->warp_paths[i].hash && s->warp_paths[i].hash != hash)
        i = (i + 1) & (s->nwarp_paths - 1);
    return &s->warp_paths[i];
}

static u32 *warp_slot(struct schedule *s, const struct trace_warp *w) {
    u32 i = (u32)((u64)(uintptr_t)w * 0x9e3779b97f4a7c15ull >> 40) & (s->nwarp_slots - 1);
    while (s->warp_slots[i] && s->warps[s->warp_slots[i] - 1].trace != w)
        i = (i + 1) & (s->nwarp_slots - 1);
    return &s->warp_slots[i];
}

static bool prepare_warp(struct schedule *s, const struct trace_warp *w) {
    struct visits v;
    bool ok = true;
    collect_visits(w, &v);
    u64 hash = hash_visits(&v);
    struct warp_path *path = find_warp_path(s, hash);
    if (!path->hash && v.n) {
        path->hash = hash;
        ok = time_schedule_merge_lanes(s, v.segments, v.lanes, v.n, path);
    }
    v.words[v.n] = w->nwords;
    u32 *slot = warp_slot(s, w);
    s->warps[s->nwarps++] = (struct warp_schedule){w, path, v.words, v.n};
    *slot = s->nwarps;
    free(v.segments), free(v.lanes);
    return ok;
}

/* Returns false if the warps so far took so many search states that all of them would take far more
 * than the budget. The first ones find paths that later ones share. */
static bool is_on_budget(s64 budget, s64 used, u32 done, u32 n) {
    enum { FIRST_WARPS = 8 };
    return done < FIRST_WARPS || used < 3 * budget * done / n;
}

bool time_schedule_prepare_warps(struct schedule *s, const struct sim_trace *t) {
    u32 n = 0;
    bool ok = true;
    for (u32 b = 0; b < t->nblocks; b++) n += t->blocks[b].nwarps;
    for (s->nwarp_slots = 64; s->nwarp_slots < 2 * n;) s->nwarp_slots *= 2;
    s->nwarp_paths = s->nwarp_slots;
    s->warp_slots = xcalloc(s->nwarp_slots, sizeof *s->warp_slots);
    s->warp_paths = xcalloc(s->nwarp_paths, sizeof *s->warp_paths);
    s->warps = xcalloc(n + 1ul, sizeof *s->warps);
    s64 budget = s->search_budget;
    for (u32 b = 0; b < t->nblocks && ok; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps && ok; w++)
            ok = prepare_warp(s, &t->blocks[b].warps[w]) &&
                 is_on_budget(budget, budget - s->search_budget, s->nwarps, n);
    return ok;
}

/* ---- the instructions of an access ---- */

static struct op_sites *sites_slot(struct schedule *s, u32 node, u32 op) {
    u32 h = (u32)((node * 0x9e3779b97f4a7c15ull + op * 0xc2b2ae3d27d4eb4full) >> 32);
    for (h &= s->site_slots - 1; s->sites[h].op; h = (h + 1) & (s->site_slots - 1))
        if (s->sites[h].node == node && s->sites[h].op == op + 1) break;
    return &s->sites[h];
}

static void grow_sites(struct schedule *s) {
    if (2 * (s->nsites + 1) < s->site_slots) return;
    struct op_sites *old = s->sites;
    u32 n = s->site_slots;
    s->site_slots = n ? 2 * n : 1024;
    s->sites = xcalloc(s->site_slots, sizeof *s->sites);
    for (u32 i = 0; i < n; i++)
        if (old[i].op) *sites_slot(s, old[i].node, old[i].op - 1) = old[i];
    free(old);
}

/* Finds the op's instructions in a node: those of the nearest line of its segment, since ptxas may
 * have merged it with another access. */
static void find_sites(struct schedule *s, struct op_sites *to) {
    const struct sched_node *node = &s->nodes[to->node];
    const struct op *o = &s->m->ops[to->op - 1];
    u32 line = s->m->op_lines[to->op - 1], nearest = UINT32_MAX, min_distance = UINT32_MAX;
    for (u32 i = node->first; i < node->end; i++) {
        if (s->segment_of[i] == UINT32_MAX || !time_schedule_may_implement(s->m, o, &s->code[i]))
            continue;
        const struct segment *g = &s->m->segments[s->segment_of[i]];
        u32 at = s->code[i].line, distance = at > line ? at - line : line - at;
        if (to->op - 1 >= g->first && to->op - 1 <= g->last && distance < min_distance)
            min_distance = distance, nearest = at;
    }
    if (nearest == UINT32_MAX || (o->kind == OP_BAR && min_distance)) return;
    for (u32 i = node->first; i < node->end; i++)
        if (s->code[i].line == nearest && time_schedule_may_implement(s->m, o, &s->code[i])) {
            GROW(s->site_insns, s->nsite_insns + 1, s->site_capacity, 256);
            if (!to->n++) to->first = s->nsite_insns;
            s->site_insns[s->nsite_insns++] = i;
        }
}

static struct op_sites sites_of(struct schedule *s, u32 node, u32 op) {
    grow_sites(s);
    struct op_sites *x = sites_slot(s, node, op);
    if (x->op) return *x;
    *x = (struct op_sites){.node = node, .op = op + 1}, s->nsites++;
    find_sites(s, x);
    return *x;
}

/* Returns the instruction of a segment's n-th copy in a node, of which the node has `copies`;
 * UINT32_MAX = none. */
static u32 site_of_copy(struct schedule *s, u32 node, u32 op, u32 copy, u32 copies) {
    struct op_sites x = sites_of(s, node, op);
    if (!x.n) return UINT32_MAX;
    u32 i = copies ? (u32)((u64)copy * x.n / copies) : 0;
    return s->site_insns[x.first + (i < x.n ? i : x.n - 1)];
}

/* ---- events ---- */

static void add_event(struct schedule *s, struct chunk *c, u32 insn, u32 word) {
    GROW(c->events, c->nevents + 1, c->event_capacity, 64);
    c->events[c->nevents++] = (struct event){word, s->first_event[insn]};
    s->first_event[insn] = c->nevents;
}

/* Returns the place of an access, at `at` of the trace, as some of its segment's lanes make it:
 * with their share of the lines, which the trace has in the order of lanes. */
static u32 part_of_access(struct chunk *c, const u64 *words, u32 at, const struct segment_use *u,
                          u32 nlanes) {
    u64 word = words[at];
    u32 n = trace_entries(word), first = n * u->first_lane / nlanes,
        end = (n * (u->first_lane + u->nlanes) + nlanes - 1) / nlanes;
    if (u->nlanes >= nlanes) return at;
    if (end > n) end = n;
    GROW(c->words, c->nwords + n + 1, c->word_capacity, 64);
    u32 place = c->nwords;
    c->words[c->nwords++] = trace_with_part(word, end - first, u->nlanes, nlanes);
    for (u32 i = first; i < end; i++) c->words[c->nwords++] = words[at + 1 + i];
    return OWN_WORDS | place;
}

/* Assigns the access at a word of the trace to its instruction. */
static void match_access(struct schedule *s, struct chunk *c, const struct warp_step *step,
                         const struct segment_use *u, u32 copies, u32 nlanes, const u64 *words,
                         u32 at) {
    u64 word = words[at];
    if (time_schedule_is_merged(s, word)) return;
    u32 insn = site_of_copy(s, step->node, trace_op_or_segment(word), u->copy, copies);
    if (insn == UINT32_MAX) return;
    u32 place = part_of_access(c, words, at, u, nlanes);
    add_event(s, c, insn, place);
    if (trace_space(word) == SPACE_GLOBAL && trace_verb(word) != MEM_LOAD)
        s->lines_unmatched -=
            trace_entries(place & OWN_WORDS ? c->words[place & ~OWN_WORDS] : word);
    s->grid_unmatched -= trace_space(word) == TRACE_GRID_BARRIER;
}

static u32 count_copies(const struct schedule *s, const struct sched_node *node, u32 segment) {
    for (u32 i = 0; i < node->ncopies; i++)
        if (s->copies[node->first_copy + i].segment == segment)
            return s->copies[node->first_copy + i].count;
    return 0;
}

static void match_uses(struct schedule *s, struct chunk *c, const struct warp_schedule *w,
                       const struct warp_step *step) {
    for (u32 i = 0; i < step->nuses; i++) {
        const struct segment_use *u = &w->path->uses[step->first_use + i];
        const u64 *words = w->trace->words;
        u32 at = w->visit_words[u->visit], segment = trace_op_or_segment(words[at]),
            copies = count_copies(s, &s->nodes[step->node], segment),
            nlanes = (u32)__builtin_popcount(trace_segment_lanes(words[at]));
        for (at++; at < w->visit_words[u->visit + 1]; at += 1 + trace_entries(words[at])) {
            u32 op = trace_op_or_segment(words[at]);
            if (op >= s->m->segments[segment].first && op <= s->m->segments[segment].last)
                match_access(s, c, step, u, copies, nlanes, words, at);
        }
    }
}

/* A load that ptxas moved in front of its segment, as one that doesn't change in a loop, makes the
 * op's next access of the trace. */
static void match_moved_loads(struct schedule *s, struct chunk *c, const struct warp_schedule *w,
                              u32 step) {
    enum { MAX_WORDS = 2048 };
    const struct sched_node *node = &s->nodes[w->path->steps[step].node];
    for (u32 i = node->first; i < node->end; i++) {
        u32 op = s->insns[i].op, segment = s->segment_of[i];
        if (s->insns[i].kind != SCHED_MEMORY || op >= s->m->nops || segment == UINT32_MAX ||
            s->code[i].verb != SASS_LOAD || s->m->op_lines[op] != s->code[i].line ||
            count_copies(s, node, segment))
            continue;
        u32 k = step;
        while (k < w->path->nsteps && !w->path->steps[k].nuses) k++;
        if (k == w->path->nsteps) return;
        u32 at = w->visit_words[w->path->uses[w->path->steps[k].first_use].visit];
        const u64 *words = w->trace->words;
        for (u32 end = at + MAX_WORDS; at < end && at < w->trace->nwords; at++) {
            if (!trace_is_access(words[at])) continue;
            if (trace_op_or_segment(words[at]) == op) {
                add_event(s, c, i, at);
                break;
            }
            at += trace_entries(words[at]);
        }
    }
}

/* ---- issue ---- */

static void push(struct chunk *c, const struct sched_insn *insn, u32 event) {
    GROW(c->insns, c->ninsns + 1, c->capacity, 64);
    c->insns[c->ninsns++] = (struct issued_insn){insn, event};
}

/* Marks barriers that the step's segments execute, and adds those without an instruction. */
static void match_barriers(struct schedule *s, struct chunk *c, const struct warp_schedule *w,
                           const struct warp_step *step) {
    for (u32 i = 0; i < step->nuses; i++) {
        const struct segment_use *u = &w->path->uses[step->first_use + i];
        u32 segment = trace_op_or_segment(w->trace->words[w->visit_words[u->visit]]),
            last = s->m->segments[segment].last;
        if (s->m->ops[last].kind != OP_BAR || u->first_lane) continue;
        u32 insn = site_of_copy(s, step->node, last, u->copy,
                                count_copies(s, &s->nodes[step->node], segment));
        if (insn == UINT32_MAX) push(c, &s->fallback_barrier, 0);
        else s->first_event[insn] = UINT32_MAX;
    }
}

static void issue_node(struct schedule *s, struct chunk *c, const struct sched_node *node) {
    for (u32 i = node->first; i < node->end; i++) {
        bool is_barrier = s->insns[i].kind == SCHED_BARRIER,
             is_executed = s->first_event[i] == UINT32_MAX;
        push(c, is_barrier && !is_executed ? &s->skipped_barriers[i] : &s->insns[i],
             is_executed ? 0 : s->first_event[i]);
        s->first_event[i] = 0;
    }
}

static const struct warp_schedule *find_warp(struct schedule *s, const struct trace_warp *trace,
                                             u32 step) {
    u32 slot = *warp_slot(s, trace);
    return slot && step < s->warps[slot - 1].path->nsteps ? &s->warps[slot - 1] : NULL;
}

bool time_schedule_match_step(struct schedule *s, const struct trace_warp *trace, u32 step,
                              struct chunk *c) {
    const struct warp_schedule *w = find_warp(s, trace, step);
    if (!w) return false;
    const struct sched_node *node = &s->nodes[w->path->steps[step].node];
    c->nevents = c->nwords = 0;
    match_uses(s, c, w, &w->path->steps[step]);
    for (u32 i = node->first; i < node->end; i++) {
        if (s->code[i].local_frame_end > s->frame_bytes)
            s->frame_bytes = s->code[i].local_frame_end;
        s->first_event[i] = 0;
    }
    return true;
}

bool time_schedule_next(struct schedule *s, const struct trace_warp *trace, u32 *at,
                        struct chunk *c) {
    c->ninsns = c->nevents = c->nwords = 0;
    const struct warp_schedule *w = find_warp(s, trace, *at);
    if (!w) return false;
    const struct warp_step *step = &w->path->steps[*at];
    match_uses(s, c, w, step);
    match_moved_loads(s, c, w, *at);
    match_barriers(s, c, w, step);
    issue_node(s, c, &s->nodes[step->node]);
    c->jumps = step->jumps;
    ++*at;
    return true;
}

/* schedule.c — prepares machine code for a replay of traces: see schedule.h. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- PTX lines ---- */

static u32 segment_of(const struct sim_module *m, u32 op) {
    u32 low = 0, high = m->nsegments;
    while (low + 1 < high) {
        u32 mid = (low + high) / 2;
        if (m->segments[mid].first <= op) low = mid;
        else high = mid;
    }
    return low;
}

struct line_op {
    u32 line, op;
};

static int by_line(const void *a, const void *b) {
    const struct line_op *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* Returns the op of a PTX line. A line without an op, such as a label's or a kernel's name, belongs
 * to the next op. */
static u32 op_of_line(const struct line_op *table, u32 n, u32 line) {
    u32 low = 0, high = n;
    while (low < high) {
        u32 mid = (low + high) / 2;
        if (table[mid].line < line) low = mid + 1;
        else high = mid;
    }
    return low < n ? table[low].op : UINT32_MAX;
}

static void locate_insns(struct schedule *s) {
    const struct sim_module *m = s->m;
    struct line_op *table = xcalloc(m->nops + 1ul, sizeof *table);
    u32 n = 0;
    for (u32 i = 0; i < m->nops; i++)
        if (m->op_lines[i]) table[n++] = (struct line_op){m->op_lines[i], i};
    qsort(table, n, sizeof *table, by_line);
    for (u32 i = 0; i < s->n; i++) {
        u32 op = s->code[i].line ? op_of_line(table, n, s->code[i].line) : UINT32_MAX;
        s->segment_of[i] = op == UINT32_MAX ? UINT32_MAX : segment_of(m, op);
        if (op != UINT32_MAX) s->insns[i].op = op;
    }
    free(table);
}

/* ---- nodes ---- */

/* Cuts the code into nodes; node_of: by instruction. */
static void split_nodes(struct schedule *s, u32 *node_of) {
    u32 function = 0;
    s->nodes = xcalloc(s->n + 1ul, sizeof *s->nodes);
    for (u32 i = 0, k; i < s->n; i = k) {
        if (s->code[i].flags & SASS_FUNCTION_START) function = s->nnodes;
        struct sched_node *x = &s->nodes[s->nnodes];
        *x = (struct sched_node){
            .first = i, .next = NO_NODE, .target = NO_NODE, .function = function};
        for (k = i; k < s->n && (k == i || !(s->code[k].flags & SASS_BLOCK_START)); k++)
            node_of[k] = s->nnodes;
        x->end = k, s->nnodes++;
        x->converges = s->code[i].flow == SASS_FLOW_CONVERGE;
        x->is_cold = s->code[k - 1].flags & SASS_CALLS_INTERNAL;
    }
}

static void link_nodes(struct schedule *s, const u32 *node_of) {
    for (u32 i = 0; i < s->nnodes; i++) {
        struct sched_node *x = &s->nodes[i];
        const struct sass_insn *last = &s->code[x->end - 1];
        bool has_target = last->target != SASS_NO_TARGET,
             calls = last->flow == SASS_FLOW_CALL && has_target;
        if (!(last->flags & SASS_NO_FALLTHROUGH) && x->end < s->n &&
            (!calls || last->flags & SASS_GUARDED))
            x->next = i + 1;
        if (has_target) x->target = node_of[last->target];
        x->exits = last->flow == SASS_FLOW_EXIT;
        x->returns = last->flow == SASS_FLOW_RETURN;
    }
}

/* ---- instructions ---- */

static const u8 pipe_of_sass[SASS_UNIT_COUNT] = {[SASS_ALU] = PIPE_ALU,
                                                 [SASS_IMAD] = PIPE_IMAD,
                                                 [SASS_FMA] = PIPE_FMA,
                                                 [SASS_FP64] = PIPE_FP64,
                                                 [SASS_XU] = PIPE_XU,
                                                 [SASS_LSU] = PIPE_LSU,
                                                 [SASS_VARIABLE_LATENCY] = PIPE_CTRL,
                                                 [SASS_BARRIER] = PIPE_CTRL,
                                                 [SASS_CONTROL] = PIPE_CTRL,
                                                 [SASS_UNIFORM] = PIPE_CTRL};
/* Cycles to read a special register, and a constant that is not an operand. Assumptions: no
 * published figures were found. */
enum { variable_latency = 25, constant_latency = 30 };

static void make_sched_insn(const struct schedule *s, const struct sass_insn *c,
                            struct sched_insn *to) {
    *to = (struct sched_insn){.op = s->m->nops,
                              .pipe = pipe_of_sass[c->unit],
                              .count = 1,
                              .bank_conflicts = c->bank_conflicts,
                              .has_predicate = c->flags & SASS_GUARDED,
                              .is_store = c->verb == SASS_STORE,
                              .stall_cycles = c->stall_cycles ? c->stall_cycles : 1};
    bool constant = c->space == SASS_CONST;
    if (constant) to->pipe = PIPE_CTRL;
    to->latency = constant                           ? constant_latency
                  : c->unit == SASS_VARIABLE_LATENCY ? variable_latency
                                                     : time_fixed_latency(s->d, to->pipe);
    if (c->unit == SASS_BARRIER) to->kind = SCHED_BARRIER;
    else if (c->space == SASS_LOCAL) to->kind = SCHED_SPILL;
    else if (c->space != SASS_NONE && !constant) to->kind = SCHED_MEMORY;
    for (u32 b = 0; b < SASS_BARRIER_COUNT; b++)
        if (c->wait_mask >> b & 1) to->src[to->nsrc++] = b;
    if (c->write_barrier != SASS_NO_BARRIER) to->dst[to->ndst++] = c->write_barrier;
    to->read_barrier = c->read_barrier != SASS_NO_BARRIER ? c->read_barrier + 1 : 0;
}

/* Returns true for a fence, a sleep, and an access that acquires or releases. */
static bool orders_memory(const struct sim_module *m, u32 op) {
    const struct op *o = &m->unshared_ops[op];
    const char *name = insn_opcodes[o->opcode].name;
    if (!strcmp(name, "membar") || !strcmp(name, "fence") || !strcmp(name, "nanosleep"))
        return true;
    return time_is_memory_op(o) &&
           (m->unshared_mems[o->aux].is_acquire || m->unshared_mems[o->aux].is_release);
}

/* Marks fences, sleeps and accesses that order others, as code from PTX has them. Of a fence's
 * instructions the first one waits. */
static void mark_ordering(struct schedule *s, struct region_table *r) {
    for (u32 i = 0; i < s->n; i++) {
        struct sched_insn *x = &s->insns[i], ptx;
        if (x->op >= s->m->nops || !orders_memory(s->m, x->op) ||
            s->m->op_lines[x->op] != s->code[i].line)
            continue;
        time_lower_ops(r, x->op, 1, &ptx);
        bool is_first = !i || s->insns[i - 1].op != x->op;
        if (s->code[i].unit == SASS_CONTROL && is_first) {
            if (ptx.kind == SCHED_FENCE) x->kind = SCHED_FENCE, x->empties_l1 = ptx.empties_l1;
            x->sleep_ns = ptx.sleep_ns;
        } else if (x->kind == SCHED_MEMORY)
            x->empties_l1 = ptx.empties_l1, x->is_release = ptx.is_release;
    }
}

/* ---- opening and closing ---- */

static void make_tables(struct schedule *s) {
    const struct sim_module *m = s->m;
    s->insns = xcalloc(s->n + 1ul, sizeof *s->insns);
    s->skipped_barriers = xcalloc(s->n + 1ul, sizeof *s->skipped_barriers);
    s->segment_of = xcalloc(s->n + 1ul, sizeof *s->segment_of);
    s->first_event = xcalloc(s->n + 1ul, sizeof *s->first_event);
    s->evidence = xcalloc(m->nsegments + 1ul, sizeof *s->evidence);
    s->anchor_line = xcalloc(m->nsegments + 1ul, sizeof *s->anchor_line);
    s->copies_left = xcalloc(m->nsegments + 1ul, sizeof *s->copies_left);
    s->copies_used = xcalloc(m->nsegments + 1ul, sizeof *s->copies_used);
    for (u32 i = 0; i < s->n; i++) {
        make_sched_insn(s, &s->code[i], &s->insns[i]);
        s->skipped_barriers[i] = s->insns[i], s->skipped_barriers[i].kind = SCHED_PLAIN;
    }
    s->fallback_barrier = (struct sched_insn){
        .op = m->nops, .kind = SCHED_BARRIER, .pipe = PIPE_CTRL, .count = 1, .stall_cycles = 1};
}

/* Returns true for asynchronous copies and products of matrices, which are replayed from PTX. */
static bool is_ptx_only(const struct sim_module *m, u32 op) {
    static const char *const names[] = {"cp.async", "wgmma",     "mma",     "matrix",
                                        "mbarrier", "movmatrix", "cluster."};
    const char *name = insn_opcodes[m->unshared_ops[op].opcode].name;
    for (u32 i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i]))) return true;
    return false;
}

static bool has_ptx_only_ops(const struct sim_module *m, const struct sim_trace *t) {
    bool *seen = xcalloc(m->nsegments + 1ul, sizeof *seen), found = false;
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++) {
            const struct trace_warp *x = &t->blocks[b].warps[w];
            for (u32 i = 0; i < x->nwords; i++) {
                if (trace_is_access(x->words[i])) i += trace_entries(x->words[i]);
                else seen[trace_op_or_segment(x->words[i])] = true;
            }
        }
    for (u32 i = 0; i < m->nsegments; i++)
        for (u32 op = m->segments[i].first; op <= m->segments[i].last && seen[i]; op++)
            found |= is_ptx_only(m, op);
    free(seen);
    return found;
}

static void add_traced_lines(struct schedule *s, const struct trace_warp *w) {
    for (u32 i = 0; i < w->nwords; i++) {
        u64 x = w->words[i];
        if (!trace_is_access(x)) continue;
        u32 n = trace_entries(x);
        bool global = trace_space(x) == SPACE_GLOBAL, merged = time_schedule_is_merged(s, x);
        s->lines += global ? n : 0;
        s->lines_unmatched += global && !merged && trace_verb(x) != MEM_LOAD ? n : 0;
        s->grid_unmatched += trace_space(x) == TRACE_GRID_BARRIER;
        i += n;
    }
}

/* Notes which machine instructions the warp executes. */
static void match_warp(struct schedule *s, const struct trace_warp *w, struct chunk *c) {
    add_traced_lines(s, w);
    for (u32 at = 0; time_schedule_match_step(s, w, at, c); at++) {}
}

/* Returns true if nearly all stores and atomics of the traces have a machine instruction, and all
 * accesses to the grid barrier, which would cost nothing without. */
static bool matches_traces(struct schedule *s, const struct sim_trace *t) {
    struct chunk c = {0};
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++) match_warp(s, &t->blocks[b].warps[w], &c);
    free(c.insns), free(c.events), free(c.words);
    return s->lines_unmatched <= 0.1 * s->lines && s->grid_unmatched <= 0;
}

/* Search states that a launch may take: at most a second. */
static const s64 search_budget = 1500000;

struct schedule *time_schedule_open(struct region_table *r, const struct sim_trace *t) {
    const struct sim_module *m = r->module;
    const struct gpu_device *d = r->device;
    if (!m->nsass || !m->nsegments || d->cc_major < 7 || has_ptx_only_ops(m, t))
        return NULL; /* The toolkit's ptxas does not compile for older GPUs. */
    struct schedule *s = xcalloc(1, sizeof *s);
    u32 *node_of = xcalloc(m->nsass + 1ul, sizeof *node_of);
    *s = (struct schedule){
        .m = m, .d = d, .code = m->sass, .n = m->nsass, .search_budget = search_budget};
    make_tables(s);
    locate_insns(s);
    mark_ordering(s, r);
    split_nodes(s, node_of);
    link_nodes(s, node_of);
    free(node_of);
    time_schedule_count_copies(s);
    if (time_schedule_prepare_warps(s, t) && matches_traces(s, t)) return s;
    time_schedule_close(s);
    return NULL;
}

void time_schedule_close(struct schedule *s) {
    if (!s) return;
    time_schedule_free_paths(s);
    for (u32 i = 0; i < s->nwarp_paths; i++)
        free(s->warp_paths[i].steps), free(s->warp_paths[i].uses);
    for (u32 i = 0; i < s->nwarps; i++) free(s->warps[i].visit_words);
    free(s->warp_paths), free(s->warps), free(s->warp_slots);
    free(s->insns), free(s->skipped_barriers), free(s->segment_of), free(s->nodes);
    free(s->copies), free(s->evidence), free(s->anchor_line), free(s->sites), free(s->site_insns);
    free(s->copies_left), free(s->copies_used), free(s->first_event);
    free(s);
}

u32 time_schedule_frame_bytes(const struct schedule *s) { return s->frame_bytes; }

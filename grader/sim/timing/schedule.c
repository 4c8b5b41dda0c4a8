/* schedule.c — matches machine code with the PTX segments of the traces; see schedule.h. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- loops ---- */

struct loop {
    u32 header, latch; /* the first instruction; the jump back */
};

static int by_header(const void *a, const void *b) {
    const struct loop *x = a, *y = b;
    if (x->header != y->header) return x->header < y->header ? -1 : 1;
    return x->latch < y->latch ? -1 : x->latch > y->latch;
}

static int by_length(const void *a, const void *b) {
    const struct loop *x = a, *y = b;
    u32 p = x->latch - x->header, q = y->latch - y->header;
    return p > q ? -1 : p < q;
}

/* Returns true if the loop implements a single PTX instruction, as a compare-and-swap loop does. */
static bool is_single_line_loop(const struct schedule *s, struct loop l) {
    for (u32 i = l.header + 1; i <= l.latch; i++)
        if (s->code[i].line != s->code[l.header].line) return false;
    return true;
}

static u32 merge_loop_headers(struct loop *l, u32 n) {
    u32 k = 0;
    qsort(l, n, sizeof *l, by_header);
    for (u32 i = 0; i < n; i++)
        if (i + 1 == n || l[i + 1].header != l[i].header) l[k++] = l[i];
    return k;
}

/* Sets the innermost loop of each instruction, numbered from 1; 0 = none. */
static u32 assign_innermost_loops(struct loop *l, u32 n, u32 *out) {
    if (n) n = merge_loop_headers(l, n), qsort(l, n, sizeof *l, by_length);
    for (u32 k = 0; k < n; k++)
        for (u32 i = l[k].header; i <= l[k].latch; i++) out[i] = k + 1;
    return n;
}

struct loop_list {
    struct loop *loops;
    u32 n;
    u64 work; /* total length, which bounds the time of assign_innermost_loops */
};

static bool add_loop(struct loop_list *l, u32 head, u32 end) {
    if (l->n == MAX_LOOPS || (l->work += end - head) > 1u << 28) return false;
    l->loops[l->n++] = (struct loop){head, end};
    return true;
}

/* Returns false if there are too many loops. */
static bool find_loops(struct schedule *s) {
    struct loop_list l = {.loops = xcalloc(MAX_LOOPS, sizeof *l.loops)};
    u32 function = 0;
    bool ok = true;
    for (u32 i = 0; i < s->n && ok; i++) {
        if (s->code[i].flags & SASS_FUNCTION_START) function = i;
        bool is_backward = s->code[i].flags & SASS_BRANCH && s->code[i].target <= i &&
                           s->code[i].target >= function;
        if (is_backward && !is_single_line_loop(s, (struct loop){s->code[i].target, i}))
            ok = add_loop(&l, s->code[i].target, i);
    }
    s->nloops = ok ? assign_innermost_loops(l.loops, l.n, s->innermost_loop) : 0;
    s->loop_length = xcalloc(s->nloops + 1ul, sizeof *s->loop_length);
    for (u32 k = 0; k < s->nloops; k++)
        s->loop_length[k + 1] = l.loops[k].latch - l.loops[k].header + 1;
    free(l.loops);
    return ok;
}

static u32 segment_of(const struct sim_module *m, u32 op) {
    u32 low = 0, high = m->nsegments;
    while (low + 1 < high) {
        u32 mid = (low + high) / 2;
        if (m->segments[mid].first <= op) low = mid;
        else high = mid;
    }
    return low;
}

static bool find_ptx_loops(struct schedule *s) {
    struct loop_list l = {.loops = xcalloc(MAX_LOOPS, sizeof *l.loops)};
    bool ok = true;
    for (u32 i = 0; i < s->m->nops && ok; i++) {
        const struct op *o = &s->m->ops[i];
        if (o->kind == OP_BRA && o->flags & OPF_BACKWARD)
            ok = add_loop(&l, segment_of(s->m, o->target), segment_of(s->m, i));
    }
    s->nptx_loops = ok ? assign_innermost_loops(l.loops, l.n, s->innermost_ptx_loop) : 0;
    free(l.loops);
    return ok;
}

/* ---- loop bodies and their instructions ---- */

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
    u32 n = 0, functions = 0;
    for (u32 i = 0; i < m->nops; i++)
        if (m->op_lines[i]) table[n++] = (struct line_op){m->op_lines[i], i};
    qsort(table, n, sizeof *table, by_line);
    for (u32 i = 0; i < s->n; i++) {
        const struct sass_insn *c = &s->code[i];
        functions += i && c->flags & SASS_FUNCTION_START;
        u32 op = c->line ? op_of_line(table, n, c->line) : UINT32_MAX;
        s->locations[i].segment = op == UINT32_MAX ? UINT32_MAX : segment_of(m, op);
        if (op != UINT32_MAX) s->insns[i].op = op;
        s->locations[i].loop_body = c->flags & SASS_INTERNAL ? NO_LOOP_BODY
                                    : s->innermost_loop[i]   ? s->innermost_loop[i] - 1
                                                             : s->nloops + functions;
    }
    s->nloop_bodies = s->nloops + functions + 1;
    free(table);
}

/* ---- the loop body and the unroll factor of a segment ---- */

static int by_segment(const void *a, const void *b) {
    const struct sass_ref *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    if (x->loop_body != y->loop_body) return x->loop_body < y->loop_body ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static bool space_matches(u8 op, u8 insn) {
    switch ((enum sass_space)insn) {
    case SASS_GLOBAL: return op == SPACE_GLOBAL || op == SPACE_GENERIC;
    case SASS_SHARED: return op == SPACE_SHARED || op == SPACE_GENERIC || op == SPACE_CLUSTER;
    case SASS_LOCAL: return op == SPACE_LOCAL || op == SPACE_GENERIC;
    case SASS_CONST: return op == SPACE_CONST;
    case SASS_GENERIC: return op != SPACE_CONST && op != SPACE_PARAM;
    case SASS_ASYNC: return op == SPACE_GLOBAL || op == SPACE_SHARED;
    case SASS_NONE:
    case SASS_SPACE_COUNT: break;
    }
    return false;
}

/* Returns true if ptxas may have compiled the op to this instruction. */
static bool may_implement(const struct sim_module *m, const struct op *o,
                          const struct sass_insn *c) {
    static const u8 verbs[] = {[MEM_LOAD] = SASS_LOAD,
                               [MEM_STORE] = SASS_STORE,
                               [MEM_ATOM] = SASS_ATOMIC,
                               [MEM_RED] = SASS_ATOMIC};
    if (o->kind == OP_BAR) return c->unit == SASS_BARRIER;
    if (!time_is_memory_op(o)) return false;
    const struct mem_desc *d = &m->mems[o->aux];
    return (c->space == SASS_ASYNC || c->verb == verbs[d->verb]) &&
           space_matches(d->space, c->space);
}

/* Returns whether the number of such instructions counts the op's copies: 2 = certainly, 1 =
 * probably, 0 = no. */
static unsigned copy_evidence(const struct sim_module *m, u32 op, const struct sass_insn *c) {
    const struct op *o = &m->ops[op];
    if (may_implement(m, o, c)) return 2;
    struct lowering to =
        time_lower_insn(insn_opcodes[o->opcode].name, insn_opcodes[o->opcode].pipe);
    if (o->kind != OP_LANEWISE || time_is_memory_op(o) || to.count != 1) return 0;
    bool is_same_unit = (to.pipe == PIPE_FMA && c->unit == SASS_FMA) ||
                        (to.pipe == PIPE_FP64 && c->unit == SASS_FP64) ||
                        (to.pipe == PIPE_XU && c->unit == SASS_XU);
    bool is_integer = to.pipe == PIPE_ALU || to.pipe == PIPE_IADD || to.pipe == PIPE_IMAD;
    return is_same_unit ? 2 : is_integer && (c->unit == SASS_ALU || c->unit == SASS_IMAD) ? 1 : 0;
}

/* Returns the unroll factor of a segment whose instructions in a loop body are [from, to), by line:
 * the largest count of a line whose instructions certainly count copies; if there is none, the most
 * frequent count. */
static u32 find_unroll_factor(const struct schedule *s, const struct sass_ref *refs, u32 from,
                              u32 to, u32 first, u32 end, bool *is_exact) {
    enum { MAX_COPIES = 64 };
    u32 max_exact = 0, histogram[MAX_COPIES + 1] = {0}, most_frequent = 1;
    for (u32 i = from, k; i < to; i = k) {
        u32 op = first, n[3] = {0};
        while (op < end && s->m->op_lines[op] != refs[i].line) op++;
        for (k = i; k < to && refs[k].line == refs[i].line; k++)
            if (op < end) n[copy_evidence(s->m, op, &s->code[refs[k].insn])]++;
        if (n[2] > max_exact) max_exact = n[2];
        if (n[1] && n[1] <= MAX_COPIES) histogram[n[1]]++;
    }
    for (u32 k = 1; k <= MAX_COPIES; k++)
        if (histogram[k] > histogram[most_frequent]) most_frequent = k;
    *is_exact = max_exact;
    return max_exact ? max_exact : most_frequent;
}

/* Returns true if loop body a is shorter than b: of two with as many of a segment's instructions,
 * the shorter one gets it. */
static bool is_shorter_loop(const struct schedule *s, u32 a, u32 b) {
    u32 x = a < s->nloops ? s->loop_length[a + 1] : UINT32_MAX,
        y = b < s->nloops ? s->loop_length[b + 1] : UINT32_MAX;
    return x < y;
}

static void add_site(struct schedule *s, u32 op, u32 insn) {
    GROW(s->site_insns, s->nsite_insns + 1, s->site_capacity, 256);
    if (!s->sites[op].n++) s->sites[op].first = s->nsite_insns;
    s->site_insns[s->nsite_insns++] = insn;
}

/* Sets the op's machine instructions: those of the nearest line, since ptxas may have merged it
 * with another access. */
static void find_sites(struct schedule *s, u32 op, const struct sass_ref *refs, u32 from, u32 to) {
    const struct op *o = &s->m->ops[op];
    u32 line = s->m->op_lines[op], nearest_line = UINT32_MAX, min_distance = UINT32_MAX;
    for (u32 i = from; i < to; i++) {
        if (!may_implement(s->m, o, &s->code[refs[i].insn])) continue;
        u32 distance = refs[i].line > line ? refs[i].line - line : line - refs[i].line;
        if (distance < min_distance) min_distance = distance, nearest_line = refs[i].line;
    }
    for (u32 i = from; i < to && nearest_line != UINT32_MAX && (o->kind != OP_BAR || !min_distance);
         i++)
        if (refs[i].line == nearest_line && may_implement(s->m, o, &s->code[refs[i].insn]))
            add_site(s, op, refs[i].insn);
}

/* Narrows [from, to) to the instructions in a loop body; false if there are none. */
static bool find_range(const struct sass_ref *refs, u32 loop_body, u32 *from, u32 *to) {
    u32 i = *from, k;
    while (i < *to && refs[i].loop_body != loop_body) i++;
    for (k = i; k < *to && refs[k].loop_body == loop_body; k++) {}
    if (i == k) return false;
    *from = i, *to = k;
    return true;
}

static void find_largest_range(const struct schedule *s, const struct sass_ref *refs, u32 *from,
                               u32 *to) {
    u32 best_from = *from, best_to = *from;
    for (u32 i = *from, k; i < *to; i = k) {
        for (k = i; k < *to && refs[k].loop_body == refs[i].loop_body; k++) {}
        bool is_larger = k - i > best_to - best_from;
        if (is_larger || (k - i == best_to - best_from &&
                          is_shorter_loop(s, refs[i].loop_body, refs[best_from].loop_body)))
            best_from = i, best_to = k;
    }
    *from = best_from, *to = best_to;
}

/* Returns true if the segment accesses memory or has a barrier: then it can't be hoisted as a
 * whole. / */
static bool has_side_effect(const struct schedule *s, u32 segment) {
    for (u32 op = s->m->segments[segment].first; op <= s->m->segments[segment].last; op++)
        if (s->m->ops[op].kind == OP_BAR || time_is_memory_op(&s->m->ops[op])) return true;
    return false;
}

static void assign_segment(struct schedule *s, u32 segment, const struct sass_ref *refs, u32 from,
                           u32 to) {
    u32 loop = s->innermost_ptx_loop[segment], first = s->m->segments[segment].first,
        end = s->m->segments[segment].last + 1;
    if (!loop || !find_range(refs, s->ptx_loop_body[loop], &from, &to)) {
        if (loop && !has_side_effect(s, segment)) return;
        find_largest_range(s, refs, &from, &to);
    }
    s->loop_body_of[segment] = refs[from].loop_body;
    s->unroll_factor[segment] =
        find_unroll_factor(s, refs, from, to, first, end, &s->unroll_exact[segment]);
    u32 *max_factor = &s->max_unroll_factor[refs[from].loop_body];
    if (s->unroll_exact[segment] && s->unroll_factor[segment] > *max_factor)
        *max_factor = s->unroll_factor[segment];
    for (u32 op = first; op < end; op++)
        if (s->m->ops[op].kind == OP_BAR || time_is_memory_op(&s->m->ops[op]))
            find_sites(s, op, refs, from, to);
}

static int by_vote(const void *a, const void *b) {
    const struct sass_ref *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->loop_body < y->loop_body ? -1 : x->loop_body > y->loop_body;
}

/* Sets for each PTX loop the loop body that has most of its instructions. */
static void vote_loop_bodies(struct schedule *s, const struct sass_ref *refs, u32 n) {
    struct sass_ref *votes = xcalloc(n + 1ul, sizeof *votes); /* segment: here, the loop */
    for (u32 i = 0; i < n; i++)
        votes[i] = refs[i], votes[i].segment = s->innermost_ptx_loop[refs[i].segment];
    qsort(votes, n, sizeof *votes, by_vote);
    for (u32 i = 0, k; i < n; i = k) {
        u32 from = i, to;
        for (k = i; k < n && votes[k].segment == votes[i].segment; k++) {}
        to = k;
        find_largest_range(s, votes, &from, &to);
        s->ptx_loop_body[votes[i].segment] = votes[from].loop_body;
    }
    free(votes);
}

static int by_copy(const void *a, const void *b) {
    const struct sass_ref *x = a, *y = b;
    if (x->loop_body != y->loop_body) return x->loop_body < y->loop_body ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Numbers each instruction among those of its line in its loop body. */
static void number_copies(struct schedule *s, struct sass_ref *refs, u32 n) {
    qsort(refs, n, sizeof *refs, by_copy);
    for (u32 i = 0, k; i < n; i = k) {
        for (k = i; k < n && refs[k].loop_body == refs[i].loop_body && refs[k].line == refs[i].line;
             k++) {}
        for (u32 j = i; j < k; j++)
            s->locations[refs[j].insn].copy_index = j - i,
            s->locations[refs[j].insn].ncopies = k - i;
    }
}

static void assign_segments(struct schedule *s) {
    struct sass_ref *refs = xcalloc(s->n + 1ul, sizeof *refs);
    u32 n = 0;
    s->max_unroll_factor = xcalloc(s->nloop_bodies, sizeof *s->max_unroll_factor);
    for (u32 i = 0; i < s->n; i++)
        if (s->locations[i].segment != UINT32_MAX && s->locations[i].loop_body != NO_LOOP_BODY)
            refs[n++] = (struct sass_ref){s->locations[i].segment, s->locations[i].loop_body,
                                          s->code[i].line, i};
    qsort(refs, n, sizeof *refs, by_segment);
    s->ptx_loop_body = xcalloc(s->nptx_loops + 1ul, sizeof *s->ptx_loop_body);
    vote_loop_bodies(s, refs, n);
    for (u32 i = 0, k; i < n; i = k) {
        for (k = i; k < n && refs[k].segment == refs[i].segment; k++) {}
        assign_segment(s, refs[i].segment, refs, i, k);
    }
    for (u32 i = 0; i < s->m->nsegments; i++)
        if (!s->unroll_exact[i] && s->loop_body_of[i] != NO_LOOP_BODY &&
            s->max_unroll_factor[s->loop_body_of[i]])
            s->unroll_factor[i] = s->max_unroll_factor[s->loop_body_of[i]];
    number_copies(s, refs, n);
    free(refs);
}

/* ---- blocks ---- */

static void add_block_segment(struct schedule *s, struct basic_block *b, u32 segment) {
    for (u32 i = 0; i < b->nsegments && i < 64; i++)
        if (s->block_segments[b->first_segment + b->nsegments - 1 - i] == segment) return;
    s->block_segments[b->first_segment + b->nsegments++] = segment;
}

static void split_basic_blocks(struct schedule *s) {
    u32 *last = xcalloc(s->nloop_bodies, sizeof *last), at = 0;
    s->basic_blocks = xcalloc(s->n + 1ul, sizeof *s->basic_blocks);
    s->block_segments = xcalloc(s->n + 1ul, sizeof *s->block_segments);
    for (u32 i = 0, k; i < s->n; i = k) {
        u32 loop_body = s->locations[i].loop_body;
        struct basic_block *b = &s->basic_blocks[s->nbasic_blocks];
        *b = (struct basic_block){.first = i, .first_segment = at, .next = UINT32_MAX};
        for (k = i; k < s->n && (k == i || (!(s->code[k].flags & SASS_BLOCK_START) &&
                                            s->locations[k].loop_body == loop_body));
             k++) {
            b->is_cold |= s->code[k].flags & SASS_CALLS_INTERNAL;
            u32 segment = s->locations[k].segment;
            if (segment != UINT32_MAX && s->loop_body_of[segment] == loop_body)
                add_block_segment(s, b, segment);
        }
        b->end = k, at += b->nsegments;
        if (loop_body != NO_LOOP_BODY) {
            if (last[loop_body]) s->basic_blocks[last[loop_body] - 1].next = s->nbasic_blocks;
            else s->first_block[loop_body] = s->nbasic_blocks;
            last[loop_body] = s->nbasic_blocks + 1;
        }
        s->nbasic_blocks++;
    }
    free(last);
}

/* ---- steps ---- */

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

/* ---- opening and closing ---- */

static void make_tables(struct schedule *s) {
    const struct sim_module *m = s->m;
    s->insns = xcalloc(s->n + 1ul, sizeof *s->insns);
    s->locations = xcalloc(s->n + 1ul, sizeof *s->locations);
    s->innermost_loop = xcalloc(s->n + 1ul, sizeof *s->innermost_loop);
    s->first_event = xcalloc(s->n + 1ul, sizeof *s->first_event);
    s->event_insns = xcalloc(s->n + 1ul, sizeof *s->event_insns);
    s->taken_count = xcalloc(m->nsegments + 1ul, sizeof *s->taken_count);
    s->taken_segments = xcalloc(m->nsegments + 1ul, sizeof *s->taken_segments);
    s->loop_body_of = xcalloc(m->nsegments + 1ul, sizeof *s->loop_body_of);
    s->unroll_factor = xcalloc(m->nsegments + 1ul, sizeof *s->unroll_factor);
    s->innermost_ptx_loop = xcalloc(m->nsegments + 1ul, sizeof *s->innermost_ptx_loop);
    s->unroll_exact = xcalloc(m->nsegments + 1ul, sizeof *s->unroll_exact);
    s->sites = xcalloc(m->nops + 1ul, sizeof *s->sites);
    memset(s->loop_body_of, 0xff, m->nsegments * sizeof *s->loop_body_of);
    for (u32 i = 0; i < s->n; i++) make_sched_insn(s, &s->code[i], &s->insns[i]);
    s->fallback_barrier = (struct sched_insn){
        .op = m->nops, .kind = SCHED_BARRIER, .pipe = PIPE_CTRL, .count = 1, .stall_cycles = 1};
}

/* Returns true if nearly all global accesses of the traces have a machine instruction. */
static bool matches_traces(struct schedule *s, const struct sim_trace *t) {
    struct chunk c = {0};
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++)
            for (u32 at = 0; time_schedule_next(s, &t->blocks[b].warps[w], &at, &c);) {}
    free(c.insns), free(c.events);
    return s->unmatched <= 0.1 * s->accesses;
}

struct schedule *time_schedule_open(const struct sim_module *m, const struct gpu_device *d,
                                    const struct sim_trace *t) {
    if (!m->nsass || !m->nsegments || d->cc_major < 7)
        return NULL; /* The toolkit's ptxas does not compile for older GPUs. */
    struct schedule *s = xcalloc(1, sizeof *s);
    *s = (struct schedule){.m = m, .d = d, .code = m->sass, .n = m->nsass};
    make_tables(s);
    bool ok = find_loops(s) && find_ptx_loops(s);
    if (ok) {
        locate_insns(s);
        assign_segments(s);
        s->first_block = xcalloc(s->nloop_bodies, sizeof *s->first_block);
        memset(s->first_block, 0xff, s->nloop_bodies * sizeof *s->first_block);
        split_basic_blocks(s);
        ok = matches_traces(s, t);
    }
    if (ok) return s;
    time_schedule_close(s);
    return NULL;
}

void time_schedule_close(struct schedule *s) {
    if (!s) return;
    free(s->insns), free(s->locations), free(s->innermost_loop), free(s->loop_length),
        free(s->first_event), free(s->event_insns);
    free(s->taken_count), free(s->taken_segments), free(s->loop_body_of), free(s->unroll_factor),
        free(s->sites), free(s->site_insns);
    free(s->first_block), free(s->unroll_exact), free(s->innermost_ptx_loop),
        free(s->ptx_loop_body), free(s->max_unroll_factor), free(s->basic_blocks),
        free(s->block_segments);
    free(s);
}

u32 time_schedule_frame_bytes(const struct schedule *s) { return s->frame_bytes; }

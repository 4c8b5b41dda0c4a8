/* schedule.c — see schedule.h. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- loops ---- */

struct loop {
    u32 head, end; /* end: its jump back */
};

static int by_head(const void *a, const void *b) {
    const struct loop *x = a, *y = b;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int by_length(const void *a, const void *b) {
    const struct loop *x = a, *y = b;
    u32 p = x->end - x->head, q = y->end - y->head;
    return p > q ? -1 : p < q;
}

/* ptxas makes a loop of one instruction where it has to: compare and swap until it holds. */
static bool one_line(const struct schedule *s, struct loop l) {
    for (u32 i = l.head + 1; i <= l.end; i++)
        if (s->code[i].line != s->code[l.head].line) return false;
    return true;
}

static u32 merge_heads(struct loop *l, u32 n) {
    u32 k = 0;
    qsort(l, n, sizeof *l, by_head);
    for (u32 i = 0; i < n; i++)
        if (i + 1 == n || l[i + 1].head != l[i].head) l[k++] = l[i];
    return k;
}

/* Numbers each place by the innermost of the loops that hold it, from 1; 0 = none. */
static u32 paint_loops(struct loop *l, u32 n, u32 *out) {
    if (n) n = merge_heads(l, n), qsort(l, n, sizeof *l, by_length);
    for (u32 k = 0; k < n; k++)
        for (u32 i = l[k].head; i <= l[k].end; i++) out[i] = k + 1;
    return n;
}

struct loop_list {
    struct loop *loop;
    u32 n;
    u64 work; /* places that painting them touches */
};

static bool add_loop(struct loop_list *l, u32 head, u32 end) {
    if (l->n == MOST_LOOPS || (l->work += end - head) > 1u << 28) return false;
    l->loop[l->n++] = (struct loop){head, end};
    return true;
}

/* False: too many to look at. */
static bool find_loops(struct schedule *s) {
    struct loop_list l = {.loop = xcalloc(MOST_LOOPS, sizeof *l.loop)};
    u32 function = 0;
    bool ok = true;
    for (u32 i = 0; i < s->n && ok; i++) {
        if (s->code[i].flags & SASS_FUNCTION_START) function = i;
        bool back = s->code[i].flags & SASS_BRANCH && s->code[i].target <= i &&
                    s->code[i].target >= function;
        if (back && !one_line(s, (struct loop){s->code[i].target, i}))
            ok = add_loop(&l, s->code[i].target, i);
    }
    s->nloops = ok ? paint_loops(l.loop, l.n, s->loops) : 0;
    s->loop_length = xcalloc(s->nloops + 1ul, sizeof *s->loop_length);
    for (u32 k = 0; k < s->nloops; k++) s->loop_length[k + 1] = l.loop[k].end - l.loop[k].head + 1;
    free(l.loop);
    return ok;
}

static u32 segment_of(const struct sim_module *m, u32 op) {
    u32 low = 0, high = m->nsegments;
    while (low + 1 < high) {
        u32 middle = (low + high) / 2;
        if (m->segments[middle].first <= op) low = middle;
        else high = middle;
    }
    return low;
}

static bool find_ptx_loops(struct schedule *s) {
    struct loop_list l = {.loop = xcalloc(MOST_LOOPS, sizeof *l.loop)};
    bool ok = true;
    for (u32 i = 0; i < s->m->nops && ok; i++) {
        const struct op *o = &s->m->ops[i];
        if (o->kind == OP_BRA && o->flags & OPF_BACKWARD)
            ok = add_loop(&l, segment_of(s->m, o->target), segment_of(s->m, i));
    }
    s->nptx_loops = ok ? paint_loops(l.loop, l.n, s->ptx_loops) : 0;
    free(l.loop);
    return ok;
}

/* ---- clusters and what belongs to them ---- */

struct line_op {
    u32 line, op;
};

static int by_line(const void *a, const void *b) {
    const struct line_op *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* A line that no op has, such as that of a label or of a kernel's name, counts to the one that
 * follows. */
static u32 op_of_line(const struct line_op *table, u32 n, u32 line) {
    u32 low = 0, high = n;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (table[middle].line < line) low = middle + 1;
        else high = middle;
    }
    return low < n ? table[low].op : UINT32_MAX;
}

static void place_all(struct schedule *s) {
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
        s->places[i].segment = op == UINT32_MAX ? UINT32_MAX : segment_of(m, op);
        if (op != UINT32_MAX) s->steps[i].op = op;
        s->places[i].cluster = c->flags & SASS_INTERNAL ? NO_CLUSTER
                               : s->loops[i]            ? s->loops[i] - 1
                                                        : s->nloops + functions;
    }
    s->nclusters = s->nloops + functions + 1;
    free(table);
}

/* ---- which cluster a segment is executed in, and how many copies of it there are ---- */

static int by_owner(const void *a, const void *b) {
    const struct own *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static bool space_fits(u8 op, u8 insn) {
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

/* The instruction may be what became of the op. */
static bool fits(const struct sim_module *m, const struct op *o, const struct sass_insn *c) {
    static const u8 verbs[] = {[MEM_LOAD] = SASS_LOAD,
                               [MEM_STORE] = SASS_STORE,
                               [MEM_ATOM] = SASS_ATOMIC,
                               [MEM_RED] = SASS_ATOMIC};
    if (o->kind == OP_BAR) return c->unit == SASS_BARRIER;
    if (!time_is_memory(o)) return false;
    const struct mem_desc *d = &m->mems[o->aux];
    return (c->space == SASS_ASYNC || c->verb == verbs[d->verb]) && space_fits(d->space, c->space);
}

/* How an op's copies can be counted: by instructions that stand for one of it each. 0: they can't;
 * 2: surely. */
static unsigned countable(const struct sim_module *m, u32 op, const struct sass_insn *c) {
    const struct op *o = &m->ops[op];
    if (fits(m, o, c)) return 2;
    struct lowered to = time_lower(insn_opcodes[o->opcode].name, insn_opcodes[o->opcode].pipe);
    if (o->kind != OP_LANEWISE || time_is_memory(o) || to.count != 1) return 0;
    bool same = (to.unit == UNIT_FMA && c->unit == SASS_FMA) ||
                (to.unit == UNIT_FP64 && c->unit == SASS_FP64) ||
                (to.unit == UNIT_XU && c->unit == SASS_XU);
    bool integer = to.unit == UNIT_ALU || to.unit == UNIT_ADD || to.unit == UNIT_IMAD;
    return same ? 2 : integer && (c->unit == SASS_ALU || c->unit == SASS_IMAD) ? 1 : 0;
}

/* The instructions [from, to) of a segment in a cluster, by line: the most that a line has of those
 * that surely stand for one op each; where there are none, what most lines have. */
static u32 copies_in(const struct schedule *s, const struct own *own, u32 from, u32 to, u32 first,
                     u32 end, bool *is_sure) {
    enum { MOST = 64 };
    u32 sure = 0, often[MOST + 1] = {0}, best = 1;
    for (u32 i = from, k; i < to; i = k) {
        u32 op = first, n[3] = {0};
        while (op < end && s->m->op_lines[op] != own[i].line) op++;
        for (k = i; k < to && own[k].line == own[i].line; k++)
            if (op < end) n[countable(s->m, op, &s->code[own[k].insn])]++;
        if (n[2] > sure) sure = n[2];
        if (n[1] && n[1] <= MOST) often[n[1]]++;
    }
    for (u32 k = 1; k <= MOST; k++)
        if (often[k] > often[best]) best = k;
    *is_sure = sure;
    return sure ? sure : best;
}

/* Of two clusters with as many of a segment's instructions the shorter loop has it. */
static bool shorter(const struct schedule *s, u32 a, u32 b) {
    u32 x = a < s->nloops ? s->loop_length[a + 1] : UINT32_MAX,
        y = b < s->nloops ? s->loop_length[b + 1] : UINT32_MAX;
    return x < y;
}

static void add_home(struct schedule *s, u32 op, u32 insn) {
    GROW(s->homes, s->nhomes + 1, s->home_capacity, 256);
    if (!s->home[op].n++) s->home[op].first = s->nhomes;
    s->homes[s->nhomes++] = insn;
}

/* The nearest by line, where ptxas made one access of several. */
static void find_home(struct schedule *s, u32 op, const struct own *own, u32 from, u32 to) {
    const struct op *o = &s->m->ops[op];
    u32 line = s->m->op_lines[op], nearest = UINT32_MAX, apart = UINT32_MAX;
    for (u32 i = from; i < to; i++) {
        if (!fits(s->m, o, &s->code[own[i].insn])) continue;
        u32 d = own[i].line > line ? own[i].line - line : line - own[i].line;
        if (d < apart) apart = d, nearest = own[i].line;
    }
    for (u32 i = from; i < to && nearest != UINT32_MAX && (o->kind != OP_BAR || !apart); i++)
        if (own[i].line == nearest && fits(s->m, o, &s->code[own[i].insn]))
            add_home(s, op, own[i].insn);
}

/* Where the segment has instructions in a cluster; false: none there. */
static bool range_in(const struct own *own, u32 cluster, u32 *from, u32 *to) {
    u32 i = *from, k;
    while (i < *to && own[i].cluster != cluster) i++;
    for (k = i; k < *to && own[k].cluster == cluster; k++) {}
    if (i == k) return false;
    *from = i, *to = k;
    return true;
}

static void range_of_most(const struct schedule *s, const struct own *own, u32 *from, u32 *to) {
    u32 best = *from, best_to = *from;
    for (u32 i = *from, k; i < *to; i = k) {
        for (k = i; k < *to && own[k].cluster == own[i].cluster; k++) {}
        bool more = k - i > best_to - best;
        if (more || (k - i == best_to - best && shorter(s, own[i].cluster, own[best].cluster)))
            best = i, best_to = k;
    }
    *from = best, *to = best_to;
}

/* Whether it does more than compute addresses, which can be hoisted as a whole. */
static bool has_effect(const struct schedule *s, u32 segment) {
    for (u32 op = s->m->segments[segment].first; op <= s->m->segments[segment].last; op++)
        if (s->m->ops[op].kind == OP_BAR || time_is_memory(&s->m->ops[op])) return true;
    return false;
}

static void settle(struct schedule *s, u32 segment, const struct own *own, u32 from, u32 to) {
    u32 loop = s->ptx_loops[segment], first = s->m->segments[segment].first,
        end = s->m->segments[segment].last + 1;
    if (!loop || !range_in(own, s->loop_cluster[loop], &from, &to)) {
        if (loop && !has_effect(s, segment)) return;
        range_of_most(s, own, &from, &to);
    }
    s->cluster_of[segment] = own[from].cluster;
    s->copies_of[segment] = copies_in(s, own, from, to, first, end, &s->sure[segment]);
    u32 *most = &s->most_copies[own[from].cluster];
    if (s->sure[segment] && s->copies_of[segment] > *most) *most = s->copies_of[segment];
    for (u32 op = first; op < end; op++)
        if (s->m->ops[op].kind == OP_BAR || time_is_memory(&s->m->ops[op]))
            find_home(s, op, own, from, to);
}

/* Of each loop in PTX: the cluster that has most of its instructions. `own` is by owner; it is
 * sorted anew. */
static int by_vote(const void *a, const void *b) {
    const struct own *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static void vote(struct schedule *s, const struct own *own, u32 n) {
    struct own *votes = xcalloc(n + 1ul, sizeof *votes); /* segment: here, the loop */
    for (u32 i = 0; i < n; i++) votes[i] = own[i], votes[i].segment = s->ptx_loops[own[i].segment];
    qsort(votes, n, sizeof *votes, by_vote);
    for (u32 i = 0, k; i < n; i = k) {
        u32 from = i, to;
        for (k = i; k < n && votes[k].segment == votes[i].segment; k++) {}
        to = k;
        range_of_most(s, votes, &from, &to);
        s->loop_cluster[votes[i].segment] = votes[from].cluster;
    }
    free(votes);
}

/* Numbers each instruction among those of its line in its cluster. */
static int by_copy(const void *a, const void *b) {
    const struct own *x = a, *y = b;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static void number_copies(struct schedule *s, struct own *own, u32 n) {
    qsort(own, n, sizeof *own, by_copy);
    for (u32 i = 0, k; i < n; i = k) {
        for (k = i; k < n && own[k].cluster == own[i].cluster && own[k].line == own[i].line; k++) {}
        for (u32 j = i; j < k; j++)
            s->places[own[j].insn].copy = j - i, s->places[own[j].insn].copies = k - i;
    }
}

static void settle_all(struct schedule *s) {
    struct own *own = xcalloc(s->n + 1ul, sizeof *own);
    u32 n = 0;
    s->most_copies = xcalloc(s->nclusters, sizeof *s->most_copies);
    for (u32 i = 0; i < s->n; i++)
        if (s->places[i].segment != UINT32_MAX && s->places[i].cluster != NO_CLUSTER)
            own[n++] = (struct own){s->places[i].segment, s->places[i].cluster, s->code[i].line, i};
    qsort(own, n, sizeof *own, by_owner);
    s->loop_cluster = xcalloc(s->nptx_loops + 1ul, sizeof *s->loop_cluster);
    vote(s, own, n);
    for (u32 i = 0, k; i < n; i = k) {
        for (k = i; k < n && own[k].segment == own[i].segment; k++) {}
        settle(s, own[i].segment, own, i, k);
    }
    for (u32 i = 0; i < s->m->nsegments; i++)
        if (!s->sure[i] && s->cluster_of[i] != NO_CLUSTER && s->most_copies[s->cluster_of[i]])
            s->copies_of[i] = s->most_copies[s->cluster_of[i]];
    number_copies(s, own, n);
    free(own);
}

/* ---- blocks ---- */

static void add_owner(struct schedule *s, struct stretch *b, u32 segment) {
    for (u32 i = 0; i < b->nowners && i < 64; i++)
        if (s->owners[b->owner + b->nowners - 1 - i] == segment) return;
    s->owners[b->owner + b->nowners++] = segment;
}

static void cut_blocks(struct schedule *s) {
    u32 *last = xcalloc(s->nclusters, sizeof *last), at = 0;
    s->stretches = xcalloc(s->n + 1ul, sizeof *s->stretches);
    s->owners = xcalloc(s->n + 1ul, sizeof *s->owners);
    for (u32 i = 0, k; i < s->n; i = k) {
        u32 cluster = s->places[i].cluster;
        struct stretch *b = &s->stretches[s->nstretches];
        *b = (struct stretch){.first = i, .owner = at, .next = UINT32_MAX};
        for (k = i; k < s->n && (k == i || (!(s->code[k].flags & SASS_BLOCK_START) &&
                                            s->places[k].cluster == cluster));
             k++) {
            b->rare |= s->code[k].flags & SASS_CALLS_INTERNAL;
            u32 segment = s->places[k].segment;
            if (segment != UINT32_MAX && s->cluster_of[segment] == cluster)
                add_owner(s, b, segment);
        }
        b->end = k, at += b->nowners;
        if (cluster != NO_CLUSTER) {
            if (last[cluster]) s->stretches[last[cluster] - 1].next = s->nstretches;
            else s->cluster_block[cluster] = s->nstretches;
            last[cluster] = s->nstretches + 1;
        }
        s->nstretches++;
    }
    free(last);
}

/* ---- steps ---- */

static const u8 units[SASS_UNIT_COUNT] = {[SASS_ALU] = UNIT_ALU,
                                          [SASS_IMAD] = UNIT_IMAD,
                                          [SASS_FMA] = UNIT_FMA,
                                          [SASS_FP64] = UNIT_FP64,
                                          [SASS_XU] = UNIT_XU,
                                          [SASS_LSU] = UNIT_LSU,
                                          [SASS_VARIABLE_LATENCY] = UNIT_CTRL,
                                          [SASS_BARRIER] = UNIT_CTRL,
                                          [SASS_CONTROL] = UNIT_CTRL,
                                          [SASS_UNIFORM] = UNIT_CTRL};
/* Reads of special registers and of constants that are not an operand. No figure was found for them
 * alone. */
enum { slow_latency = 25, constant_latency = 30 };

static void make_step(const struct schedule *s, const struct sass_insn *c, struct step *to) {
    *to = (struct step){.op = s->m->nops,
                        .unit = units[c->unit],
                        .count = 1,
                        .stall = c->stall_cycles ? c->stall_cycles : 1};
    bool constant = c->space == SASS_CONST;
    if (constant) to->unit = UNIT_CTRL;
    to->latency = constant                           ? constant_latency
                  : c->unit == SASS_VARIABLE_LATENCY ? slow_latency
                                                     : time_plain_latency(s->d, to->unit);
    if (c->unit == SASS_BARRIER) to->kind = STEP_BARRIER;
    else if (c->space == SASS_LOCAL) to->kind = STEP_SPILL;
    else if (c->space != SASS_NONE && !constant) to->kind = STEP_MEMORY;
    for (u32 b = 0; b < SASS_BARRIER_COUNT; b++)
        if (c->wait_mask >> b & 1) to->src[to->nsrc++] = b;
    if (c->write_barrier != SASS_NO_BARRIER) to->dst[to->ndst++] = c->write_barrier;
    to->read = c->read_barrier != SASS_NO_BARRIER ? c->read_barrier + 1 : 0;
}

/* ---- the whole ---- */

static void make_tables(struct schedule *s) {
    const struct sim_module *m = s->m;
    s->steps = xcalloc(s->n + 1ul, sizeof *s->steps);
    s->places = xcalloc(s->n + 1ul, sizeof *s->places);
    s->loops = xcalloc(s->n + 1ul, sizeof *s->loops);
    s->head = xcalloc(s->n + 1ul, sizeof *s->head);
    s->touched = xcalloc(s->n + 1ul, sizeof *s->touched);
    s->count = xcalloc(m->nsegments + 1ul, sizeof *s->count);
    s->taken = xcalloc(m->nsegments + 1ul, sizeof *s->taken);
    s->cluster_of = xcalloc(m->nsegments + 1ul, sizeof *s->cluster_of);
    s->copies_of = xcalloc(m->nsegments + 1ul, sizeof *s->copies_of);
    s->ptx_loops = xcalloc(m->nsegments + 1ul, sizeof *s->ptx_loops);
    s->sure = xcalloc(m->nsegments + 1ul, sizeof *s->sure);
    s->home = xcalloc(m->nops + 1ul, sizeof *s->home);
    memset(s->cluster_of, 0xff, m->nsegments * sizeof *s->cluster_of);
    for (u32 i = 0; i < s->n; i++) make_step(s, &s->code[i], &s->steps[i]);
    s->barrier = (struct step){
        .op = m->nops, .kind = STEP_BARRIER, .unit = UNIT_CTRL, .count = 1, .stall = 1};
}

/* What the streams ask for is what the machine code does: all but a few accesses have an
 * instruction. */
static bool fits_traces(struct schedule *s, const struct sim_trace *t) {
    struct chunk c = {0};
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++)
            for (u32 at = 0; time_schedule_next(s, &t->blocks[b].warps[w], &at, &c);) {}
    free(c.list), free(c.events);
    return s->lost <= 0.1 * s->accesses;
}

struct schedule *time_schedule_open(const struct sim_module *m, const struct gpu_device *d,
                                    const struct sim_trace *t) {
    if (!m->nsass || !m->nsegments || d->cc_major < 7)
        return NULL; /* ptxas makes none for older ones */
    struct schedule *s = xcalloc(1, sizeof *s);
    *s = (struct schedule){.m = m, .d = d, .code = m->sass, .n = m->nsass};
    make_tables(s);
    bool ok = find_loops(s) && find_ptx_loops(s);
    if (ok) {
        place_all(s);
        settle_all(s);
        s->cluster_block = xcalloc(s->nclusters, sizeof *s->cluster_block);
        memset(s->cluster_block, 0xff, s->nclusters * sizeof *s->cluster_block);
        cut_blocks(s);
        ok = fits_traces(s, t);
    }
    if (ok) return s;
    time_schedule_close(s);
    return NULL;
}

void time_schedule_close(struct schedule *s) {
    if (!s) return;
    free(s->steps), free(s->places), free(s->loops), free(s->loop_length), free(s->head),
        free(s->touched);
    free(s->count), free(s->taken), free(s->cluster_of), free(s->copies_of), free(s->home),
        free(s->homes);
    free(s->cluster_block), free(s->sure), free(s->ptx_loops), free(s->loop_cluster),
        free(s->most_copies), free(s->stretches), free(s->owners);
    free(s);
}

u32 time_schedule_frame(const struct schedule *s) { return s->frame; }

/* schedule_evidence.c — how many times a node of the machine code executes each PTX segment; see
 * schedule.h.
 *
 * A segment's anchor is a PTX line that ptxas compiles to one instruction for each execution, and
 * leaves where it is. Accesses, barriers, shuffles and floating-point arithmetic are strong
 * evidence, since nothing else has their instructions; integer arithmetic, which ptxas rewrites, is
 * weak. Of a segment's lines, most have as many instructions as the segment has copies in all the
 * code; a line with fewer has been moved out of a loop, one with none was merged with another. */
#include "grader/sim/timing/schedule.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

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

bool time_schedule_may_implement(const struct sim_module *m, const struct op *o,
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

static enum evidence arithmetic_evidence(const struct op *o, const struct sass_insn *c) {
    struct lowering to =
        time_lower_insn(insn_opcodes[o->opcode].name, insn_opcodes[o->opcode].pipe);
    if (o->kind != OP_LANEWISE || time_is_memory_op(o) || to.count != 1) return EVIDENCE_NONE;
    bool is_same_unit = (to.pipe == PIPE_FMA && c->unit == SASS_FMA) ||
                        (to.pipe == PIPE_FP64 && c->unit == SASS_FP64) ||
                        (to.pipe == PIPE_XU && c->unit == SASS_XU);
    bool is_integer = to.pipe == PIPE_ALU || to.pipe == PIPE_IADD || to.pipe == PIPE_IMAD;
    if (is_same_unit) return EVIDENCE_STRONG;
    return is_integer && (c->unit == SASS_ALU || c->unit == SASS_IMAD) ? EVIDENCE_WEAK
                                                                       : EVIDENCE_NONE;
}

/* Returns whether the number of such instructions counts the op's executions. */
static enum evidence evidence_of(const struct schedule *s, u32 insn) {
    const struct sass_insn *c = &s->code[insn];
    u32 op = s->insns[insn].op;
    if (op >= s->m->nops || s->segment_of[insn] == UINT32_MAX || c->flags & SASS_INTERNAL ||
        s->m->op_lines[op] != c->line)
        return EVIDENCE_NONE;
    const struct op *o = &s->m->ops[op];
    if (time_schedule_may_implement(s->m, o, c)) return EVIDENCE_STRONG;
    if (o->kind == OP_WARP_SYNC)
        return c->unit == SASS_LSU && c->space == SASS_NONE ? EVIDENCE_STRONG : EVIDENCE_WEAK;
    return arithmetic_evidence(o, c);
}

/* Returns true if ptxas keeps each execution of the op where it is. */
static bool has_effect(const struct sim_module *m, u32 op) {
    const struct op *o = &m->ops[op];
    if (o->kind == OP_BAR || o->kind == OP_WARP_SYNC) return true;
    return time_is_memory_op(o) && m->mems[o->aux].verb != MEM_LOAD;
}

/* ---- anchors ---- */

struct line_count { /* instructions of a line, as evidence for its segment */
    u32 segment, line, op, n;
    u8 evidence;
};

static int by_line(const void *a, const void *b) {
    const struct line_count *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    if (x->evidence != y->evidence) return x->evidence > y->evidence ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Collects the lines that are evidence, with their instructions in all the code. */
static struct line_count *count_lines(const struct schedule *s, u32 *n) {
    struct line_count *l = xcalloc(s->n + 1ul, sizeof *l);
    u32 k = 0;
    *n = 0;
    for (u32 i = 0; i < s->n; i++) {
        enum evidence e = evidence_of(s, i);
        if (e != EVIDENCE_NONE)
            l[k++] =
                (struct line_count){s->segment_of[i], s->code[i].line, s->insns[i].op, 1, (u8)e};
    }
    qsort(l, k, sizeof *l, by_line);
    for (u32 i = 0; i < k; i++) {
        struct line_count *last = *n ? &l[*n - 1] : NULL;
        if (last && last->segment == l[i].segment && last->line == l[i].line &&
            last->evidence == l[i].evidence)
            last->n++;
        else l[(*n)++] = l[i];
    }
    return l;
}

/* Chooses the anchor among a segment's lines of the best evidence, [from, to): one with the most
 * frequent number of instructions. An op that stays where it is counts three times. */
static void choose_anchor(struct schedule *s, const struct line_count *l, u32 from, u32 to) {
    u32 best = from, best_weight = 0;
    for (u32 i = from; i < to; i++) {
        u32 weight = 0;
        for (u32 k = from; k < to && k < from + 256; k++)
            weight += l[k].n == l[i].n ? (has_effect(s->m, l[k].op) ? 6 : 2) : 0;
        weight += has_effect(s->m, l[i].op);
        if (weight > best_weight || (weight == best_weight && l[i].n > l[best].n))
            best = i, best_weight = weight;
    }
    s->evidence[l[from].segment] = l[from].evidence;
    s->anchor_line[l[from].segment] = l[best].line;
}

static void choose_anchors(struct schedule *s) {
    u32 n;
    struct line_count *l = count_lines(s, &n);
    for (u32 i = 0, k; i < n; i = k) {
        u32 to = i;
        for (k = i; k < n && l[k].segment == l[i].segment; k++)
            if (l[k].evidence == l[i].evidence) to = k + 1;
        choose_anchor(s, l, i, to);
    }
    free(l);
}

/* ---- copies ---- */

void time_schedule_count_copies(struct schedule *s) {
    u32 n = 0, capacity = 0;
    choose_anchors(s);
    for (u32 k = 0; k < s->nnodes; k++) {
        struct sched_node *node = &s->nodes[k];
        node->first_copy = n;
        for (u32 i = node->first; i < node->end; i++) {
            u32 segment = s->segment_of[i];
            if (segment == UINT32_MAX || s->code[i].line != s->anchor_line[segment] ||
                evidence_of(s, i) != s->evidence[segment])
                continue;
            u32 at = node->first_copy;
            while (at < n && s->copies[at].segment != segment) at++;
            GROW(s->copies, at + 1, capacity, 256);
            if (at == n) s->copies[n++] = (struct node_copies){.segment = segment};
            s->copies[at].count++;
            s->copies[at].guarded += !!(s->code[i].flags & SASS_GUARDED);
        }
        node->ncopies = n - node->first_copy;
    }
}

/* forks.c — branches that decide whether a thread comes to a block barrier.
 *
 * All threads of a block that have not left must come to each __syncthreads, so the condition of a
 * branch that leads round one must be the same for all of them (Programming Guide, "Synchronization
 * Functions"). A branch is such a *fork* where one of its ways leads to a barrier before the ways
 * meet again and the other does not: taking the other is going round it, which core/barrier.c
 * counts. Ways that meet only where the kernel ends do not count: who takes one has left, which is
 * allowed; likewise where nothing is read or waited for any more behind the place at which they
 * meet.
 *
 * Ways meet at the branch's immediate post-dominator, found as by Cooper, Harvey and Kennedy, "A
 * Simple, Fast Dominance Algorithm" (2001), on the graph of segments turned round. Barriers behind
 * calls are not looked at. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

enum {
    NONE = -1,
    MOST_VISITS = 4 << 20 /* of segments, a function: a bound on the time for huge ones */
};

struct graph {
    struct sim_module *m;
    const struct code *c;
    u32 first, n; /* segments; node n is the exit */
    u32 *pred, *pred_at;
    int *order, *rank,
        *meet; /* reverse postorder from the exit; its inverse; immediate post-dominators */
    u32 norder;
    u8 *matters; /* something is read or waited for, here or later */
    u32 *seen, *stack, stamp;
    u64 *ways[2]; /* barriers on each way, a bit a number */
    u32 words, barriers, visits;
};

static const struct op *end_of(const struct graph *g, u32 node) {
    return &g->m->ops[g->m->segments[g->first + node].last];
}

static bool is_guarded(const struct op *o) { return ref_base(o->guard) == BASE_FRAME; }

static u32 node_at(const struct graph *g, u32 op) { return g->m->segment_of[op] - g->first; }

/* The i-th successor of a node, or NONE. */
static int successor(const struct graph *g, u32 node, u32 i) {
    const struct op *o = end_of(g, node);
    bool leaves = o->kind == OP_EXIT || o->kind == OP_RET || o->kind == OP_TRAP,
         splits = o->kind == OP_EXIT || o->kind == OP_RET || o->kind == OP_BRA || o->kind == OP_BRX;
    u32 next = node + 1 < g->n ? node + 1 : g->n, targets = 1;
    if (o->kind == OP_BRX) targets = g->m->tables[o->aux].count;
    if (i == targets) return splits && is_guarded(o) ? (int)next : NONE;
    if (i > targets) return NONE;
    if (o->kind == OP_BRX) return (int)node_at(g, g->m->tables[o->aux].targets[i]);
    return o->kind == OP_BRA ? (int)node_at(g, o->target) : leaves ? (int)g->n : (int)next;
}

static void list_predecessors(struct graph *g) {
    u32 *count = xcalloc(g->n + 2, sizeof *count), edges = 0;
    for (u32 v = 0; v < g->n; v++)
        for (u32 i = 0; successor(g, v, i) != NONE; i++) count[successor(g, v, i)]++, edges++;
    g->pred = xcalloc(edges + 1, sizeof *g->pred);
    g->pred_at = xcalloc(g->n + 2, sizeof *g->pred_at);
    for (u32 v = 0; v <= g->n; v++) g->pred_at[v + 1] = g->pred_at[v] + count[v];
    memcpy(count, g->pred_at, (g->n + 1) * sizeof *count);
    for (u32 v = 0; v < g->n; v++)
        for (u32 i = 0; successor(g, v, i) != NONE; i++) g->pred[count[successor(g, v, i)]++] = v;
    free(count);
}

/* ---- where ways meet ---- */

static void number_from_exit(struct graph *g) {
    u32 *at = xcalloc(g->n + 1, sizeof *at), depth = 1, done = 0;
    int *post = xcalloc(g->n + 1, sizeof *post);
    for (u32 v = 0; v <= g->n; v++) g->rank[v] = NONE;
    g->stack[0] = g->n;
    g->seen[g->n] = ++g->stamp;
    while (depth) {
        u32 v = g->stack[depth - 1];
        if (g->pred_at[v] + at[v] == g->pred_at[v + 1]) {
            post[done++] = (int)v;
            depth--;
            continue;
        }
        u32 p = g->pred[g->pred_at[v] + at[v]++];
        if (g->seen[p] != g->stamp) g->seen[p] = g->stamp, g->stack[depth++] = p;
    }
    g->norder = done;
    for (u32 i = 0; i < done; i++) g->order[i] = post[done - 1 - i], g->rank[g->order[i]] = (int)i;
    free(at);
    free(post);
}

static int intersect(const struct graph *g, int a, int b) {
    while (a != b)
        if (g->rank[a] > g->rank[b]) a = g->meet[a];
        else b = g->meet[b];
    return a;
}

static void find_meets(struct graph *g) {
    for (u32 v = 0; v <= g->n; v++) g->meet[v] = NONE;
    g->meet[g->n] = (int)g->n;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 1; i < g->norder; i++) {
            int v = g->order[i], meet = NONE;
            for (u32 k = 0; successor(g, (u32)v, k) != NONE; k++) {
                int s = successor(g, (u32)v, k);
                if (g->meet[s] != NONE) meet = meet == NONE ? s : intersect(g, s, meet);
            }
            if (meet != g->meet[v]) g->meet[v] = meet, changed = true;
        }
    }
}

/* ---- what lies on the ways ---- */

static bool reads(const struct graph *g, const struct op *o) {
    if (o->kind == OP_BAR || o->kind == OP_CALL || o->kind == OP_RENDEZVOUS) return true;
    const char *name = insn_rows[o->row].name;
    if (!strcmp(name, "atom")) return true;
    return !strcmp(name, "ld") && g->m->mems[o->aux].space != SPACE_PARAM &&
           g->m->mems[o->aux].space != SPACE_CONST;
}

static void find_what_matters(struct graph *g) {
    u32 depth = 0;
    g->matters[g->n] = !g->c->func->is_entry; /* what the caller goes on with */
    if (g->matters[g->n]) g->stack[depth++] = g->n;
    for (u32 v = 0; v < g->n; v++) {
        const struct segment *s = &g->m->segments[g->first + v];
        for (u32 i = s->first; i <= s->last && !g->matters[v]; i++)
            g->matters[v] = reads(g, &g->m->ops[i]);
        if (g->matters[v]) g->stack[depth++] = v;
    }
    while (depth) {
        u32 v = g->stack[--depth];
        for (u32 i = g->pred_at[v]; i < g->pred_at[v + 1]; i++)
            if (!g->matters[g->pred[i]]) g->matters[g->pred[i]] = 1, g->stack[depth++] = g->pred[i];
    }
}

/* The barriers that can be reached from `from` without passing `meet`. */
static void collect(struct graph *g, u32 from, u32 meet, u64 *bits) {
    u32 depth = 0;
    memset(bits, 0, g->words * sizeof *bits);
    g->seen[meet] = g->seen[g->n] = ++g->stamp;
    if (g->seen[from] == g->stamp) return;
    g->seen[from] = g->stamp;
    g->stack[depth++] = from;
    while (depth) {
        u32 v = g->stack[--depth];
        const struct op *o = end_of(g, v);
        g->visits++;
        if (o->kind == OP_BAR && g->m->bars[o->aux].fork) {
            u32 b = g->m->bars[o->aux].fork - g->barriers;
            bits[b / 64] |= 1ull << b % 64;
        }
        for (u32 i = 0; successor(g, v, i) != NONE; i++) {
            u32 s = (u32)successor(g, v, i);
            if (g->seen[s] != g->stamp) g->seen[s] = g->stamp, g->stack[depth++] = s;
        }
    }
}

/* The numbers of barriers that are in `these` and not in `those`. */
static void list_difference(const struct graph *g, const u64 *these, const u64 *those,
                            struct fork_way *out) {
    u32 n = 0;
    for (u32 w = 0; w < g->words; w++) n += (u32)__builtin_popcountll(these[w] & ~those[w]);
    *out = (struct fork_way){n ? arena_array(&g->m->arena, u32, n) : NULL, n};
    n = 0;
    for (u32 w = 0; w < g->words; w++)
        for (u64 b = these[w] & ~those[w]; b; b &= b - 1)
            out->round[n++] = g->barriers + 64 * w + (u32)__builtin_ctzll(b);
}

static void look_at_branch(struct graph *g, u32 node) {
    struct op *o = &g->m->ops[g->m->segments[g->first + node].last];
    int meet = g->meet[node];
    struct fork f;
    if (o->kind != OP_BRA || !is_guarded(o) || meet == NONE || !g->matters[meet]) return;
    collect(g, (u32)successor(g, node, 0), (u32)meet, g->ways[0]);
    collect(g, (u32)successor(g, node, 1), (u32)meet, g->ways[1]);
    list_difference(g, g->ways[1], g->ways[0], &f.taken);
    list_difference(g, g->ways[0], g->ways[1], &f.passed);
    if (!f.taken.n && !f.passed.n) return;
    o->flags |= OPF_FORK;
    o->aux = ARENA_PUSH(&g->m->arena, g->m->forks, g->m->nforks, f);
}

/* ---- a function ---- */

/* Barriers of all threads get numbers, from 1 over the module. */
static u32 number_barriers(struct sim_module *m, const struct code *c) {
    u32 n = 0;
    for (u32 i = c->first_op; i < c->end_op; i++) {
        const struct op *o = &m->ops[i];
        struct bar_desc *b = o->kind == OP_BAR ? &m->bars[o->aux] : NULL;
        if (!b || b->arrive || b->count != REF_NONE || b->cluster) continue;
        b->fork = ++m->nbarriers;
        n++;
    }
    return n;
}

static void open_graph(struct graph *g, u32 barriers) {
    g->first = g->m->segment_of[g->c->first_op];
    while (g->m->segments[g->first + g->n].last + 1 < g->c->end_op) g->n++;
    g->n++;
    g->words = (barriers + 63) / 64;
    g->order = xcalloc((g->n + 1) * 3ul, sizeof *g->order);
    g->rank = g->order + g->n + 1;
    g->meet = g->rank + g->n + 1;
    g->matters = xcalloc(g->n + 1, 1);
    g->seen = xcalloc((g->n + 1) * 2ul, sizeof *g->seen);
    g->stack = g->seen + g->n + 1;
    g->ways[0] = xcalloc(g->words * 2ul, sizeof(u64));
    g->ways[1] = g->ways[0] + g->words;
}

static void close_graph(struct graph *g) {
    free(g->pred);
    free(g->pred_at);
    free(g->order);
    free(g->matters);
    free(g->seen);
    free(g->ways[0]);
}

void code_find_forks(struct sim_module *m, const struct code *c) {
    struct graph g = {.m = m, .c = c, .barriers = m->nbarriers + 1};
    u32 n = number_barriers(m, c);
    if (!n) return;
    open_graph(&g, n);
    list_predecessors(&g);
    number_from_exit(&g);
    find_meets(&g);
    find_what_matters(&g);
    for (u32 v = 0; v < g.n && g.visits < MOST_VISITS; v++) look_at_branch(&g, v);
    close_graph(&g);
}

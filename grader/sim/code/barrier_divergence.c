/* barrier_divergence.c — finds the branches that may bypass a block barrier. The decoder calls it
 * for each function.
 *
 * All threads of a block that have not exited must reach each __syncthreads(), so the condition of
 * a branch that leads around one must be the same for all of them (Programming Guide,
 * "Synchronization Functions"). A branch may *bypass* a barrier if one of its paths reaches the
 * barrier before the paths meet again and the other doesn't; core/barrier.c counts the threads that
 * take the other. Paths that meet only where the kernel ends are left out, since a thread may exit.
 *
 * Paths meet at the branch's immediate post-dominator (Cooper, Harvey, Kennedy, "A Simple, Fast
 * Dominance Algorithm", 2001, on the reversed graph of segments). Barriers behind calls are
 * ignored. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/operands.h"

#include <stdlib.h>
#include <string.h>

enum {
    NO_INDEX = -1,
    MAX_VISITS = 4 << 20 /* visits of segments in a function: bounds the time for huge ones */
};

struct cfg {
    struct sim_module *m;
    const struct sim_func *c;
    u32 first_segment, n; /* nodes are the function's segments; node n is the exit */
    u32 *preds, *pred_start;
    /* Reverse postorder from the exit; its inverse; immediate post-dominators. */
    int *rpo, *rpo_index, *ipdom;
    u32 rpo_count;
    u32 *visit_epochs, *stack, visit_epoch;
    u64 *path_barriers[2]; /* the barriers on each path, a bit each */
    u32 words, first_barrier, visit_count;
};

static const struct op *terminator_of(const struct cfg *g, u32 node) {
    return &g->m->ops[g->m->segments[g->first_segment + node].last];
}

static u32 node_at(const struct cfg *g, u32 op) { return g->m->segment_of[op] - g->first_segment; }

/* Returns the i-th successor of a node, or NO_INDEX. */
static int successor(const struct cfg *g, u32 node, u32 i) {
    const struct op *o = terminator_of(g, node);
    bool is_exit = o->kind == OP_EXIT || o->kind == OP_RET || o->kind == OP_TRAP,
         has_fallthrough =
             o->kind == OP_EXIT || o->kind == OP_RET || o->kind == OP_BRA || o->kind == OP_BRX;
    u32 next = node + 1 < g->n ? node + 1 : g->n, targets = 1;
    if (o->kind == OP_BRX) targets = g->m->tables[o->aux].count;
    if (i == targets) return has_fallthrough && code_is_guarded(o) ? (int)next : NO_INDEX;
    if (i > targets) return NO_INDEX;
    if (o->kind == OP_BRX) return (int)node_at(g, g->m->tables[o->aux].targets[i]);
    return o->kind == OP_BRA ? (int)node_at(g, o->target) : is_exit ? (int)g->n : (int)next;
}

static void build_predecessors(struct cfg *g) {
    u32 *count = xcalloc(g->n + 2, sizeof *count), edges = 0;
    for (u32 v = 0; v < g->n; v++)
        for (u32 i = 0; successor(g, v, i) != NO_INDEX; i++) count[successor(g, v, i)]++, edges++;
    g->preds = xcalloc(edges + 1, sizeof *g->preds);
    g->pred_start = xcalloc(g->n + 2, sizeof *g->pred_start);
    for (u32 v = 0; v <= g->n; v++) g->pred_start[v + 1] = g->pred_start[v] + count[v];
    memcpy(count, g->pred_start, (g->n + 1) * sizeof *count);
    for (u32 v = 0; v < g->n; v++)
        for (u32 i = 0; successor(g, v, i) != NO_INDEX; i++)
            g->preds[count[successor(g, v, i)]++] = v;
    free(count);
}

/* ---- where paths meet ---- */

static void compute_reverse_postorder(struct cfg *g) {
    u32 *at = xcalloc(g->n + 1, sizeof *at), depth = 1, done = 0;
    int *postorder = xcalloc(g->n + 1, sizeof *postorder);
    for (u32 v = 0; v <= g->n; v++) g->rpo_index[v] = NO_INDEX;
    g->stack[0] = g->n;
    g->visit_epochs[g->n] = ++g->visit_epoch;
    while (depth) {
        u32 v = g->stack[depth - 1];
        if (g->pred_start[v] + at[v] == g->pred_start[v + 1]) {
            postorder[done++] = (int)v;
            depth--;
            continue;
        }
        u32 p = g->preds[g->pred_start[v] + at[v]++];
        if (g->visit_epochs[p] != g->visit_epoch)
            g->visit_epochs[p] = g->visit_epoch, g->stack[depth++] = p;
    }
    g->rpo_count = done;
    for (u32 i = 0; i < done; i++)
        g->rpo[i] = postorder[done - 1 - i], g->rpo_index[g->rpo[i]] = (int)i;
    free(at);
    free(postorder);
}

static int intersect(const struct cfg *g, int a, int b) {
    while (a != b)
        if (g->rpo_index[a] > g->rpo_index[b]) a = g->ipdom[a];
        else b = g->ipdom[b];
    return a;
}

static void compute_postdominators(struct cfg *g) {
    for (u32 v = 0; v <= g->n; v++) g->ipdom[v] = NO_INDEX;
    g->ipdom[g->n] = (int)g->n;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 1; i < g->rpo_count; i++) {
            int v = g->rpo[i], ipdom = NO_INDEX;
            for (u32 k = 0; successor(g, (u32)v, k) != NO_INDEX; k++) {
                int s = successor(g, (u32)v, k);
                if (g->ipdom[s] != NO_INDEX) ipdom = ipdom == NO_INDEX ? s : intersect(g, s, ipdom);
            }
            if (ipdom != g->ipdom[v]) g->ipdom[v] = ipdom, changed = true;
        }
    }
}

/* ---- barriers on the paths ---- */

/* Returns true if all that follows the node is the thread's exit. */
static bool is_end_of_thread(const struct cfg *g, int node) {
    for (u32 i = 0; i <= g->n && node != (int)g->n; i++) {
        if (!g->m->segments[g->first_segment + (u32)node].is_exit_path) return false;
        node = successor(g, (u32)node, 0);
    }
    return node == (int)g->n && g->c->func->is_entry;
}

/* Collects the barriers that can be reached from `from` without passing `ipdom`. */
static void collect_barriers(struct cfg *g, u32 from, u32 ipdom, u64 *bits) {
    u32 depth = 0;
    memset(bits, 0, g->words * sizeof *bits);
    g->visit_epochs[ipdom] = g->visit_epochs[g->n] = ++g->visit_epoch;
    if (g->visit_epochs[from] == g->visit_epoch) return;
    g->visit_epochs[from] = g->visit_epoch;
    g->stack[depth++] = from;
    while (depth) {
        u32 v = g->stack[--depth];
        const struct op *o = terminator_of(g, v);
        g->visit_count++;
        if (o->kind == OP_BAR && g->m->bars[o->aux].barrier_number) {
            u32 b = g->m->bars[o->aux].barrier_number - g->first_barrier;
            bits[b / 64] |= 1ull << b % 64;
        }
        for (u32 i = 0; successor(g, v, i) != NO_INDEX; i++) {
            u32 s = (u32)successor(g, v, i);
            if (g->visit_epochs[s] != g->visit_epoch)
                g->visit_epochs[s] = g->visit_epoch, g->stack[depth++] = s;
        }
    }
}

/* Lists the numbers of the barriers that are in `included` but not in `excluded`. */
static void list_barriers_only_in(const struct cfg *g, const u64 *included, const u64 *excluded,
                                  struct bypass_path *out) {
    u32 n = 0;
    for (u32 w = 0; w < g->words; w++) n += (u32)__builtin_popcountll(included[w] & ~excluded[w]);
    *out = (struct bypass_path){n ? arena_array(&g->m->arena, u32, n) : NULL, n};
    n = 0;
    for (u32 w = 0; w < g->words; w++)
        for (u64 b = included[w] & ~excluded[w]; b; b &= b - 1)
            out->skipped[n++] = g->first_barrier + 64 * w + (u32)__builtin_ctzll(b);
}

static void analyze_branch(struct cfg *g, u32 node) {
    struct op *o = &g->m->ops[g->m->segments[g->first_segment + node].last];
    int ipdom = g->ipdom[node];
    struct barrier_bypass f;
    if (o->kind != OP_BRA || !code_is_guarded(o) || ipdom == NO_INDEX || is_end_of_thread(g, ipdom))
        return;
    collect_barriers(g, (u32)successor(g, node, 0), (u32)ipdom, g->path_barriers[0]);
    collect_barriers(g, (u32)successor(g, node, 1), (u32)ipdom, g->path_barriers[1]);
    list_barriers_only_in(g, g->path_barriers[1], g->path_barriers[0], &f.taken);
    list_barriers_only_in(g, g->path_barriers[0], g->path_barriers[1], &f.not_taken);
    if (!f.taken.n && !f.not_taken.n) return;
    o->flags |= OPF_BARRIER_BYPASS;
    o->aux = ARENA_PUSH(&g->m->arena, g->m->barrier_bypasses, g->m->nbarrier_bypasses, f);
}

/* ---- a function ---- */

/* Numbers the barriers of all threads, from 1 within the module. Returns how many there are. */
static u32 number_barriers(struct sim_module *m, const struct sim_func *c) {
    u32 n = 0;
    for (u32 i = c->first_op; i < c->end_op; i++) {
        const struct op *o = &m->ops[i];
        struct bar_desc *b = o->kind == OP_BAR ? &m->bars[o->aux] : NULL;
        if (!b || b->is_arrive || b->count != REF_NONE || b->is_cluster) continue;
        b->barrier_number = ++m->nnumbered_barriers;
        n++;
    }
    return n;
}

static void init_cfg(struct cfg *g, u32 barriers) {
    g->first_segment = g->m->segment_of[g->c->first_op];
    while (g->m->segments[g->first_segment + g->n].last + 1 < g->c->end_op) g->n++;
    g->n++;
    g->words = (barriers + 63) / 64;
    g->rpo = xcalloc((g->n + 1) * 3ul, sizeof *g->rpo);
    g->rpo_index = g->rpo + g->n + 1;
    g->ipdom = g->rpo_index + g->n + 1;
    g->visit_epochs = xcalloc((g->n + 1) * 2ul, sizeof *g->visit_epochs);
    g->stack = g->visit_epochs + g->n + 1;
    g->path_barriers[0] = xcalloc(g->words * 2ul, sizeof(u64));
    g->path_barriers[1] = g->path_barriers[0] + g->words;
}

static void free_cfg(struct cfg *g) {
    free(g->preds);
    free(g->pred_start);
    free(g->rpo);
    free(g->visit_epochs);
    free(g->path_barriers[0]);
}

void code_find_barrier_divergence(struct sim_module *m, const struct sim_func *c) {
    struct cfg g = {.m = m, .c = c, .first_barrier = m->nnumbered_barriers + 1};
    u32 n = number_barriers(m, c);
    if (!n) return;
    init_cfg(&g, n);
    build_predecessors(&g);
    compute_reverse_postorder(&g);
    compute_postdominators(&g);
    for (u32 v = 0; v < g.n && g.visit_count < MAX_VISITS; v++) analyze_branch(&g, v);
    free_cfg(&g);
}

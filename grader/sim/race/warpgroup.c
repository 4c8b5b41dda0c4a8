/* warpgroup.c — see warpgroup.h.
 *
 * A product takes four warps, each of which is run by itself here: what the first of them comes to
 * as its n-th product the others must come to as theirs. An H100 ends the kernel where one of them
 * has ended instead (cudaErrorIllegalInstruction), and hangs where it waits elsewhere.
 *
 * Registers: how many fences a warp had come to when one was last written, in functions that
 * code/fences.c found to be in doubt. ptxas of CUDA 13 puts a fence in where it sees that one is
 * missing (its message C7519); the manual calls the results undefined. */
#include "grader/sim/race/warpgroup.h"
#include "common/grow.h"
#include "grader/sim/code/async.h"
#include "grader/sim/core/place.h"

#include <stdlib.h>
#include <string.h>

struct note {
    u32 op, fences; /* op: 1 + its number; 0 = nothing that needs a fence */
};
/* Products that some warp of the group has yet to come to, from number `first` on. */
struct group {
    const struct op **product;
    u32 first, n, capacity, count[WARPGROUP_WARPS];
};
struct race_warpgroups {
    struct group *group;
    u32 ngroups;
    u32 *fences, *at_start; /* by warp */
    struct note **note;     /* by warp and slot of its frames; NULL = nothing noted yet */
};

void race_warpgroup_start(struct block *b, const struct launch *l) {
    struct race_warpgroups *w = b->warpgroups;
    if (!l->module->nwarpgroups || !l->code->has_async_proxy_reads) return;
    if (!w) {
        w = b->warpgroups = xcalloc(1, sizeof *w);
        w->ngroups = (b->nwarps + WARPGROUP_WARPS - 1) / WARPGROUP_WARPS;
        w->group = xcalloc(w->ngroups, sizeof *w->group);
        w->fences = xcalloc(b->nwarps * 2ul, sizeof *w->fences);
        w->at_start = w->fences + b->nwarps;
        w->note = xcalloc(b->nwarps, sizeof *w->note);
    }
    for (u32 i = 0; i < w->ngroups; i++) {
        w->group[i].first = w->group[i].n = 0;
        memset(w->group[i].count, 0, sizeof w->group[i].count);
    }
    for (u32 i = 0; i < b->nwarps; i++)
        w->at_start[i] = ++w->fences[i]; /* and notes of another block are past */
}

void race_warpgroup_free(struct block *b) {
    struct race_warpgroups *w = b->warpgroups;
    if (!w) return;
    for (u32 i = 0; i < w->ngroups; i++) free(w->group[i].product);
    for (u32 i = 0; i < b->nwarps; i++) free(w->note[i]);
    free(w->group), free(w->fences), free(w->note);
    free(w);
    b->warpgroups = NULL;
}

/* ---- four warps ---- */

static const struct warpgroup_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->warpgroups[o->target];
}

static bool alike(const struct warpgroup_desc *a, const struct warpgroup_desc *b) {
    return a->n == b->n && a->k == b->k && !memcmp(a->type, b->type, sizeof a->type);
}

/* Those that all warps have come to are forgotten. */
static void forget(struct group *g) {
    u32 least = g->count[0];
    for (u32 i = 1; i < WARPGROUP_WARPS; i++) least = g->count[i] < least ? g->count[i] : least;
    u32 past = least - g->first;
    if (past < 64 && past < g->n) return;
    memmove(g->product, g->product + past, (g->n - past) * sizeof *g->product);
    g->first = least, g->n -= past;
}

static void come(struct exec *x, const struct op *o, struct group *g) {
    u32 *count = &g->count[x->warp->index % WARPGROUP_WARPS], i = (*count)++ - g->first;
    char line[128];
    if (i == g->n) {
        GROW(g->product, g->n + 1, g->capacity, 128);
        g->product[g->n++] = o;
    } else if (!alike(desc_of(x, o), desc_of(x, g->product[i]))) {
        source_location_format_op(x->worker->launch, (u32)(g->product[i] - x->worker->launch->ops),
                                  o, line, sizeof line);
        core_fault(x, SIM_FAULT_BAD_SYNC, o, 0, 0,
                   "comes to this product where another warp of its warpgroup came to that%s, of "
                   "other size or types",
                   line);
    }
    forget(g);
}

bool race_warpgroup_whole(struct exec *x) {
    const struct race_warpgroups *w = x->block->warpgroups;
    for (u32 i = 0; w && i < w->ngroups; i++) {
        const struct group *g = &w->group[i];
        for (u32 k = 0; k < WARPGROUP_WARPS && i * WARPGROUP_WARPS + k < x->block->nwarps; k++) {
            u32 missing = g->count[k] - g->first, with = 0;
            if (missing >= g->n) continue;
            while (g->count[with] <= g->count[k]) with++;
            x->warp = &x->block->warps[i * WARPGROUP_WARPS + with];
            core_fault(x, SIM_FAULT_BAD_SYNC, g->product[missing], 0, 0,
                       "comes to a product that warp %u of its warpgroup does not come to: all "
                       "four have to",
                       k);
            return false;
        }
    }
    return true;
}

/* ---- registers ---- */

static struct note *note_at(const struct exec *x, ref r) {
    const struct race_warpgroups *w = x->block->warpgroups;
    struct note *all = w->note[x->warp->index];
    bool kept = all && r != REF_NONE && ref_base(r) == BASE_FRAME;
    return kept ? &all[((const unsigned char *)operand_at(x, r) - x->warp->frames) / 64] : NULL;
}

void race_warpgroup_note(struct exec *x, const struct op *o) {
    struct race_warpgroups *w = x->block->warpgroups;
    u32 warp = x->warp->index;
    if (!w) return;
    if (!w->note[warp])
        w->note[warp] = xcalloc(x->worker->launch->warp_frame_bytes / 64 + 1, sizeof **w->note);
    ref from = (ref)(o->imm >> 32);
    struct note *to = note_at(x, (ref)o->imm), *at = note_at(x, from);
    struct note n = {(u32)(o - x->worker->launch->ops) + 1, w->fences[warp]};
    if (from != REF_NONE) n = at ? *at : (struct note){0};
    if (!o->target || (n.op && n.fences >= to->fences)) *to = n;
}

void race_warpgroup_fence(struct exec *x) {
    if (x->block->warpgroups) x->block->warpgroups->fences[x->warp->index]++;
}

static void report(struct exec *x, const struct op *o, const struct note *n, bool a) {
    char line[128];
    const struct launch *l = x->worker->launch;
    const struct op *by = &l->ops[n->op - 1];
    bool product = !strcmp(insn_opcodes[by->opcode].name, "wgmma");
    source_location_format_op(l, n->op - 1, o, line, sizeof line);
    core_fault(x, SIM_FAULT_MISSING_FENCE, o, 0, 0,
               "%s registers that %s%s: no wgmma.fence stands between",
               a ? "multiplies" : "adds to",
               product ? "a product of another shape adds to" : "were written", line);
}

/* The first register that nothing put in order since; a product leaves its sums in order for others
 * of its shape. */
static bool check(struct exec *x, const struct op *o, const ref *r, u32 n, bool a) {
    u32 fences = x->block->warpgroups->fences[x->warp->index];
    for (u32 i = 0; i < n; i++) {
        const struct note *found = note_at(x, r[i]);
        if (!found || !found->op || found->fences != fences) continue;
        const struct op *by = &x->worker->launch->ops[found->op - 1];
        bool product = !strcmp(insn_opcodes[by->opcode].name, "wgmma");
        if (product &&
            (a || (desc_of(x, by)->n == desc_of(x, o)->n && desc_of(x, by)->k == desc_of(x, o)->k)))
            continue;
        report(x, o, found, a);
        return false;
    }
    return true;
}

void race_warpgroup_product(struct exec *x, const struct op *o, const struct warpgroup_desc *w) {
    struct race_warpgroups *all = x->block->warpgroups;
    u32 warp = x->warp->index;
    if (!all) return;
    come(x, o, &all->group[warp / WARPGROUP_WARPS]);
    if (all->fences[warp] == all->at_start[warp])
        core_fault(x, SIM_FAULT_MISSING_FENCE, o, 0, 0,
                   "comes to the first product of its warpgroup before a wgmma.fence: what its "
                   "registers hold is not "
                   "there yet");
    else if (check(x, o, w->d, w->count, false) && w->a_in_registers) check(x, o, w->a, 4, true);
    for (u32 i = 0; all->note[warp] && i < w->count; i++)
        *note_at(x, w->d[i]) =
            (struct note){(u32)(o - x->worker->launch->ops) + 1, all->fences[warp]};
}

/* warpgroup.c — reports wgmmas that not all four warps execute, and missing wgmma.fences. See
 * warpgroup.h.
 *
 * A wgmma takes four warps, which the simulator runs one by one: the n-th wgmma of the first warp
 * must also be the n-th of the others. An H100 ends the kernel if one of them has exited instead
 * (cudaErrorIllegalInstruction), and hangs if one waits elsewhere.
 *
 * For each register, `fence_count` has the number of fences that the warp had executed when it was
 * last written, in functions for which code/wgmma_fence_check.c could not prove a fence. ptxas of
 * CUDA 13 inserts a fence where it sees that one is missing (its message C7519); the PTX manual
 * calls the results undefined. */
#include "grader/sim/race/warpgroup.h"
#include "common/grow.h"
#include "grader/sim/code/async.h"
#include "grader/sim/core/source_location.h"

#include <stdlib.h>
#include <string.h>

struct register_write {
    u32 op, fence_count; /* op: 1 + its number; 0 = nothing that needs a fence */
};
/* The wgmmas that not all warps of the group have executed yet, from number `first` on. */
struct warpgroup_queue {
    const struct op **wgmmas;
    u32 first, n, capacity, count[WARPGROUP_WARPS];
};
struct race_warpgroups {
    struct warpgroup_queue *queues;
    u32 nqueues;
    u32 *fence_count, *fence_count_at_start; /* by warp */
    struct register_write **register_writes; /* by warp and slot of its frames; NULL = none yet */
};

void race_warpgroup_start(struct block *b, const struct launch *l) {
    struct race_warpgroups *w = b->warpgroups;
    if (!l->module->nwarpgroups || !l->code->has_async_proxy_reads) return;
    if (!w) {
        w = b->warpgroups = xcalloc(1, sizeof *w);
        w->nqueues = (b->nwarps + WARPGROUP_WARPS - 1) / WARPGROUP_WARPS;
        w->queues = xcalloc(w->nqueues, sizeof *w->queues);
        w->fence_count = xcalloc(b->nwarps * 2ul, sizeof *w->fence_count);
        w->fence_count_at_start = w->fence_count + b->nwarps;
        w->register_writes = xcalloc(b->nwarps, sizeof *w->register_writes);
    }
    for (u32 i = 0; i < w->nqueues; i++) {
        w->queues[i].first = w->queues[i].n = 0;
        memset(w->queues[i].count, 0, sizeof w->queues[i].count);
    }
    for (u32 i = 0; i < b->nwarps; i++)
        w->fence_count_at_start[i] = ++w->fence_count[i]; /* outdates writes of earlier blocks */
}

void race_warpgroup_free(struct block *b) {
    struct race_warpgroups *w = b->warpgroups;
    if (!w) return;
    for (u32 i = 0; i < w->nqueues; i++) free(w->queues[i].wgmmas);
    for (u32 i = 0; i < b->nwarps; i++) free(w->register_writes[i]);
    free(w->queues), free(w->fence_count), free(w->register_writes);
    free(w);
    b->warpgroups = NULL;
}

/* ---- four warps ---- */

static const struct warpgroup_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->warpgroups[o->target];
}

static bool have_same_shape(const struct warpgroup_desc *a, const struct warpgroup_desc *b) {
    return a->n == b->n && a->k == b->k && !memcmp(a->type, b->type, sizeof a->type);
}

/* Removes wgmmas that all four warps have executed. */
static void discard_completed(struct warpgroup_queue *g) {
    u32 min_count = g->count[0];
    for (u32 i = 1; i < WARPGROUP_WARPS; i++)
        min_count = g->count[i] < min_count ? g->count[i] : min_count;
    u32 completed = min_count - g->first;
    if (completed < 64 && completed < g->n) return;
    memmove(g->wgmmas, g->wgmmas + completed, (g->n - completed) * sizeof *g->wgmmas);
    g->first = min_count, g->n -= completed;
}

static void issue_wgmma(struct exec *x, const struct op *o, struct warpgroup_queue *g) {
    u32 *count = &g->count[x->warp->index % WARPGROUP_WARPS], i = (*count)++ - g->first;
    char line[128];
    if (i == g->n) {
        GROW(g->wgmmas, g->n + 1, g->capacity, 128);
        g->wgmmas[g->n++] = o;
    } else if (!have_same_shape(desc_of(x, o), desc_of(x, g->wgmmas[i]))) {
        source_location_format_op(x->worker->launch, (u32)(g->wgmmas[i] - x->worker->launch->ops),
                                  o, line, sizeof line);
        core_fault(x, SIM_FAULT_BAD_SYNC, o, 0, 0,
                   "executes this wgmma, but another warp of its warpgroup executed one of another "
                   "shape or type%s",
                   line);
    }
    discard_completed(g);
}

bool race_warpgroup_is_complete(struct exec *x) {
    const struct race_warpgroups *w = x->block->warpgroups;
    for (u32 i = 0; w && i < w->nqueues; i++) {
        const struct warpgroup_queue *g = &w->queues[i];
        for (u32 k = 0; k < WARPGROUP_WARPS && i * WARPGROUP_WARPS + k < x->block->nwarps; k++) {
            u32 missing_index = g->count[k] - g->first, peer_warp = 0;
            if (missing_index >= g->n) continue;
            while (g->count[peer_warp] <= g->count[k]) peer_warp++;
            x->warp = &x->block->warps[i * WARPGROUP_WARPS + peer_warp];
            core_fault(x, SIM_FAULT_BAD_SYNC, g->wgmmas[missing_index], 0, 0,
                       "executes a wgmma that warp %u of its warpgroup never reaches: all four "
                       "warps must execute it",
                       k);
            return false;
        }
    }
    return true;
}

/* ---- registers ---- */

static struct register_write *register_write_at(const struct exec *x, ref r) {
    const struct race_warpgroups *w = x->block->warpgroups;
    struct register_write *writes = w->register_writes[x->warp->index];
    bool is_tracked = writes && r != REF_NONE && ref_base(r) == BASE_FRAME;
    return is_tracked ? &writes[((const unsigned char *)operand_at(x, r) - x->warp->frames) / 64]
                      : NULL;
}

void race_warpgroup_record_write(struct exec *x, const struct op *o) {
    struct race_warpgroups *w = x->block->warpgroups;
    u32 warp = x->warp->index;
    if (!w) return;
    if (!w->register_writes[warp])
        w->register_writes[warp] =
            xcalloc(x->worker->launch->warp_frame_bytes / 64 + 1, sizeof **w->register_writes);
    ref from = (ref)(o->imm >> 32);
    struct register_write *to = register_write_at(x, (ref)o->imm), *at = register_write_at(x, from);
    struct register_write n = {(u32)(o - x->worker->launch->ops) + 1, w->fence_count[warp]};
    if (from != REF_NONE) n = at ? *at : (struct register_write){0};
    if (!o->target || (n.op && n.fence_count >= to->fence_count)) *to = n;
}

void race_warpgroup_fence(struct exec *x) {
    if (x->block->warpgroups) x->block->warpgroups->fence_count[x->warp->index]++;
}

static void report(struct exec *x, const struct op *o, const struct register_write *n, bool a) {
    char line[128];
    const struct launch *l = x->worker->launch;
    const struct op *by = &l->ops[n->op - 1];
    bool is_wgmma = !strcmp(insn_opcodes[by->opcode].name, "wgmma");
    source_location_format_op(l, n->op - 1, o, line, sizeof line);
    core_fault(x, SIM_FAULT_MISSING_FENCE, o, 0, 0,
               "%s registers that %s%s, with no wgmma.fence between", a ? "multiplies" : "adds to",
               is_wgmma ? "a wgmma of another shape adds to" : "were written", line);
}

/* Reports the first register that was written after the last fence; false if there is one. A wgmma
 * may add to the sums of another of its shape without a fence. */
static bool check_registers(struct exec *x, const struct op *o, const ref *r, u32 n, bool a) {
    u32 fence_count = x->block->warpgroups->fence_count[x->warp->index];
    for (u32 i = 0; i < n; i++) {
        const struct register_write *last_write = register_write_at(x, r[i]);
        if (!last_write || !last_write->op || last_write->fence_count != fence_count) continue;
        const struct op *by = &x->worker->launch->ops[last_write->op - 1];
        bool is_wgmma = !strcmp(insn_opcodes[by->opcode].name, "wgmma");
        if (is_wgmma &&
            (a || (desc_of(x, by)->n == desc_of(x, o)->n && desc_of(x, by)->k == desc_of(x, o)->k)))
            continue;
        report(x, o, last_write, a);
        return false;
    }
    return true;
}

void race_warpgroup_check_wgmma(struct exec *x, const struct op *o,
                                const struct warpgroup_desc *w) {
    struct race_warpgroups *state = x->block->warpgroups;
    u32 warp = x->warp->index;
    if (!state) return;
    issue_wgmma(x, o, &state->queues[warp / WARPGROUP_WARPS]);
    if (state->fence_count[warp] == state->fence_count_at_start[warp])
        core_fault(x, SIM_FAULT_MISSING_FENCE, o, 0, 0,
                   "executes its warpgroup's first wgmma before any wgmma.fence: its registers may "
                   "not be written yet");
    else if (check_registers(x, o, w->d, w->count, false) && w->a_in_registers)
        check_registers(x, o, w->a, 4, true);
    for (u32 i = 0; state->register_writes[warp] && i < w->count; i++)
        *register_write_at(x, w->d[i]) = (struct register_write){
            (u32)(o - x->worker->launch->ops) + 1, state->fence_count[warp]};
}

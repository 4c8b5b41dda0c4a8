/* dataflow.c — forward dataflow analysis with a bit for each register: what holds at each point of
 * a function on all paths that lead there. See decode_run_dataflow in decode.h. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct dataflow {
    const struct ptx_func *f;
    const struct dataflow_problem *problem;
    unsigned char *is_leader;
    u32 *block_of;    /* instruction -> block */
    u32 *block_start; /* block -> first instruction; block_start[nblocks] = ninsns */
    u32 nblocks, words;
    u64 *in, *out; /* a bit per register; `in` for each block, `out` for the current one */
};

static bool ends_block(const struct ptx_insn *in) {
    return strncmp(in->opcode, "bra", 3) == 0 || strncmp(in->opcode, "brx", 3) == 0 ||
           strncmp(in->opcode, "ret", 3) == 0 || strncmp(in->opcode, "exit", 4) == 0;
}

static void find_blocks(struct dataflow *a) {
    const struct ptx_func *f = a->f;
    decode_mark_leaders(f, a->is_leader);
    if (f->ninsns) a->is_leader[0] = 1;
    for (u32 i = 0; i + 1 < f->ninsns; i++)
        if (ends_block(&f->insns[i])) a->is_leader[i + 1] = 1;
    for (u32 i = 0; i < f->ninsns; i++) {
        if (a->is_leader[i]) a->block_start[a->nblocks++] = i;
        a->block_of[i] = a->nblocks - 1;
    }
    a->block_start[a->nblocks] = f->ninsns;
}

/* Applies the transfer function to a block, from its `in`. */
static void transfer_block(struct dataflow *a, u32 block, bool is_solved) {
    memcpy(a->out, a->in + (size_t)block * a->words, a->words * sizeof(u64));
    for (u32 i = a->block_start[block]; i < a->block_start[block + 1]; i++)
        a->problem->transfer(a->problem->user, &a->f->insns[i], a->out, is_solved);
}

static bool meet_into(struct dataflow *a, u32 to) {
    u64 *in = a->in + (size_t)to * a->words, changed = 0;
    for (u32 w = 0; w < a->words; w++) {
        changed |= in[w] & ~a->out[w];
        in[w] &= a->out[w];
    }
    return changed != 0;
}

static bool propagate(struct dataflow *a, u32 block) {
    const struct ptx_func *f = a->f;
    const struct ptx_insn *last = &f->insns[a->block_start[block + 1] - 1];
    bool changed = false, has_no_fallthrough = ends_block(last) && last->guard < 0;
    for (unsigned k = 0; k < last->noperands; k++) {
        const struct ptx_operand *p = &last->operands[k];
        if (p->kind == PTX_OP_LABEL && p->target < f->ninsns)
            changed |= meet_into(a, a->block_of[p->target]);
        if (p->kind != PTX_OP_TABLE) continue;
        for (u32 t = 0; t < f->tables[p->target].ntargets; t++)
            if (f->tables[p->target].targets[t] < f->ninsns)
                changed |= meet_into(a, a->block_of[f->tables[p->target].targets[t]]);
    }
    if (!has_no_fallthrough && block + 1 < a->nblocks) changed |= meet_into(a, block + 1);
    return changed;
}

static void solve(struct dataflow *a) {
    memset(a->in, 0xff, (size_t)a->nblocks * a->words * sizeof(u64));
    memset(a->in, a->problem->all_set_at_entry ? 0xff : 0, a->words * sizeof(u64));
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 b = 0; b < a->nblocks; b++) {
            transfer_block(a, b, false);
            changed |= propagate(a, b);
        }
    }
    for (u32 b = 0; b < a->nblocks; b++) transfer_block(a, b, true);
}

enum { MAX_STATE_BITS = 1 << 28 }; /* larger functions are not analyzed */

bool decode_run_dataflow(const struct ptx_func *f, const struct dataflow_problem *flow) {
    struct dataflow a = {.f = f, .problem = flow, .words = (f->nregs + 63) / 64};
    if (!f->ninsns || !f->nregs) return true;
    if ((u64)f->ninsns * a.words > MAX_STATE_BITS / 64) return false;
    a.is_leader = xcalloc(f->ninsns + 1, 1);
    a.block_of = xcalloc(f->ninsns, sizeof *a.block_of);
    a.block_start = xcalloc(f->ninsns + 1, sizeof *a.block_start);
    find_blocks(&a);
    a.in = xcalloc((size_t)a.nblocks * a.words, sizeof(u64));
    a.out = xcalloc(a.words, sizeof(u64));
    solve(&a);
    free(a.is_leader), free(a.block_of), free(a.block_start), free(a.in), free(a.out);
    return true;
}

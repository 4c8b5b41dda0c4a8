/* call.c — calls of device functions: frames, arguments, return values. A call stack is a path in
 * the worker's tree of contexts, so two splits have the same stack if they have the same context.
 */
#include "grader/sim/core/cluster.h"
#include "common/grow.h"
#include "grader/sim/core/undef.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_CONTEXT_SWEEP_LIMIT = 1 << 14 }; /* contexts before the first sweep */

/* ---- call stacks ---- */

static void mark_block_contexts(const struct worker *k, const struct block *b,
                                unsigned char *live) {
    for (u32 w = 0; w < b->nwarps; w++)
        for (u32 f = 0; f < b->warps[w].nsplits; f++)
            for (u32 c = b->warps[w].splits[f].context; !live[c]; c = k->contexts[c].parent)
                live[c] = 1;
}

static void mark_live_contexts(const struct worker *k, unsigned char *live) {
    live[0] = 1;
    for (u32 b = 0; b < k->nblocks; b++) mark_block_contexts(k, &k->blocks[b], live);
    for (u32 c = 0; c < k->nclusters; c++)
        for (u32 b = 0; b < k->clusters[c]->nblocks; b++)
            mark_block_contexts(k, &k->clusters[c]->blocks[b], live);
}

/* Frees the contexts that no split uses. Recursion with several call sites creates ever new paths.
 */
static void contexts_sweep(struct worker *k) {
    unsigned char *live = xcalloc(k->ncontexts, 1);
    u32 live_count = 0;
    mark_live_contexts(k, live);
    k->first_free_context = 0;
    for (u32 c = 0; c < k->ncontexts; c++) k->contexts[c].first_child = 0;
    for (u32 c = k->ncontexts; c-- > 1;) {
        struct call_context *x = &k->contexts[c];
        u32 *list = live[c] ? &k->contexts[x->parent].first_child : &k->first_free_context;
        x->next_sibling = *list;
        *list = c;
        live_count += live[c];
    }
    free(live);
    k->context_sweep_limit =
        live_count * 2 > MIN_CONTEXT_SWEEP_LIMIT ? live_count * 2 : MIN_CONTEXT_SWEEP_LIMIT;
}

/* Returns a free context's index. Index 0 is the kernel's own context. */
static u32 context_alloc(struct worker *k) {
    if (!k->first_free_context &&
        k->ncontexts >= (k->context_sweep_limit ? k->context_sweep_limit : MIN_CONTEXT_SWEEP_LIMIT))
        contexts_sweep(k);
    u32 c = k->first_free_context;
    if (c) {
        k->first_free_context = k->contexts[c].next_sibling;
        return c;
    }
    GROW(k->contexts, k->ncontexts + 1, k->contexts_capacity, 16);
    return k->ncontexts++;
}

static u32 context_new(struct worker *k, u32 parent, u32 call_op, u32 code) {
    const struct launch *l = k->launch;
    const struct call_context *p = &k->contexts[parent];
    const struct sim_func *from = &l->module->funcs[p->code], *to = &l->module->funcs[code];
    u32 frame = p->frame + from->frame_bytes, local = p->local + from->local_bytes;
    if (frame + to->frame_bytes > l->warp_frame_bytes ||
        local + to->local_bytes > l->thread_local_bytes - (l->code->uses_alloca ? ALLOCA_BYTES : 0))
        return 0;
    u32 depth = p->depth + 1, c = context_alloc(k); /* this may move the array */
    k->contexts[c] = (struct call_context){.parent = parent,
                                           .call_op = call_op,
                                           .code = code,
                                           .frame = frame,
                                           .local = local,
                                           .depth = depth,
                                           .next_sibling = k->contexts[parent].first_child};
    return k->contexts[parent].first_child = c;
}

/* Returns the context of the call, or 0 if the stack is full. */
static u32 context_find_or_create(struct worker *k, u32 parent, u32 call_op, u32 code) {
    for (u32 c = k->contexts[parent].first_child; c; c = k->contexts[c].next_sibling)
        if (k->contexts[c].call_op == call_op && k->contexts[c].code == code) return c;
    return context_new(k, parent, call_op, code);
}

static void copy_words(struct warp *at, unsigned char *to, const unsigned char *from, u32 bytes,
                       u32 mask) {
    undef_copy(at, to, from, bytes, mask);
    for (u32 w = 0; w < bytes / 4; w++) {
        u32 *d = (u32 *)(to + w * 128);
        const u32 *s = (const u32 *)(from + w * 128);
        for (u32 l = 0; l < 32; l++) d[l] = (mask >> l & 1) ? s[l] : d[l];
    }
}

static u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }

/* Zeroes the registers that the function may read before it assigns them, for lanes of the mask
 * only: other lanes may be in the same frame. */
static void zero_unassigned(struct warp *w, const struct sim_func *c, unsigned char *frame,
                            u32 mask) {
    for (u32 i = 0; i < c->nzero_ranges; i++) {
        unsigned char *p = frame + c->zero_ranges[i].offset;
        u32 bytes = c->zero_ranges[i].bytes;
        for (u32 part = 0; w->nundef && part < bytes; part += 256)
            undef_put(w, p + part, bytes == 4 ? 1 : min_u32(bytes, 256) / 32, mask, NULL, 0);
        if (bytes == 4) *(u32 *)p &= ~mask;
        for (u32 l = 0; bytes > 4 && l < 32; l++)
            if (mask >> l & 1) memset(p + l * (bytes / 32), 0, bytes / 32);
    }
}

/* Marks a function's local variables as uninitialized, each time that it is entered. */
static void mark_locals_uninitialized(struct exec *x, const struct call_context *at,
                                      const struct sim_func *c, u32 mask) {
    for (u32 i = at->local / 4; x->sanitize && i < (at->local + c->local_bytes) / 4; i++) {
        u32 *row = (u32 *)(x->warp->local_written + i * 128);
        for (u32 l = 0; l < 32; l++) row[l] = (mask >> l & 1) ? 0 : row[l];
    }
}

/* Lanes of f call function `code`. */
static void enter_function(struct exec *x, struct warp_split *f, const struct op *o,
                           const struct call_desc *d, u32 code) {
    const struct launch *l = x->worker->launch;
    const struct sim_func *c = &l->module->funcs[code];
    u32 lane = (u32)__builtin_ctz(f->mask),
        context = context_find_or_create(x->worker, f->context, f->pc, code);
    if (!context) {
        core_fault(x, SIM_FAULT_STACK_OVERFLOW, o, lane, 0,
                   "calls `%s` with its stack full: endless recursion?", c->name);
        return;
    }
    if (c->nformals - c->nrets != d->nargs || c->nrets != d->nrets) {
        core_fault(x, SIM_FAULT_BAD_CALL, o, lane, 0,
                   "calls `%s` with the wrong number of arguments", c->name);
        return;
    }
    unsigned char *caller = x->warp->frames + x->worker->contexts[f->context].frame;
    unsigned char *callee = x->warp->frames + x->worker->contexts[context].frame;
    for (u32 i = 0; i < d->nargs; i++)
        copy_words(x->warp, callee + c->formals[i].offset, caller + d->args[i].offset,
                   min_u32(c->formals[i].bytes, d->args[i].bytes), f->mask);
    zero_unassigned(x->warp, c, callee, f->mask);
    if (c->local_bytes) mark_locals_uninitialized(x, &x->worker->contexts[context], c, f->mask);
    f->context = context;
    f->pc = c->first_op;
}

/* Handles a call through a register: lanes may call different functions. */
static void enter_functions_indirect(struct exec *x, struct warp_split *f, const struct op *o,
                                     const struct call_desc *d) {
    const struct sim_module *m = x->worker->launch->module;
    const u64 *target = operand_at(x, d->target);
    while (!x->faulted) {
        u32 lane = (u32)__builtin_ctz(f->mask), same = 0;
        u64 code = target[lane] - FUNC_WINDOW;
        for (u32 l = 0; l < 32; l++) same |= target[l] == target[lane] ? 1u << l : 0;
        if (code >= m->nfuncs || m->funcs[code].func->is_entry) {
            core_fault(x, SIM_FAULT_BAD_CALL, o, lane, target[lane],
                       "calls through 0x%llx, which is not the address of a function",
                       (unsigned long long)target[lane]);
            return;
        }
        u32 other_lanes = f->mask & ~same;
        struct warp_split *next = NULL;
        if (other_lanes)
            split_diverge(x->warp, f, other_lanes, f->pc),
                next = &x->warp->splits[x->warp->nsplits - 1];
        enter_function(x, f, o, d, (u32)code);
        if (!next) return;
        f = next;
    }
}

void call_enter(struct exec *x, struct warp_split *f, const struct op *o) {
    const struct call_desc *d = &x->worker->launch->module->calls[o->aux];
    if (d->builtin) {
        call_builtin(x, d, f->mask, o, x->base[BASE_FRAME]);
        f->pc++;
    } else if (d->callee != UINT32_MAX) {
        enter_function(x, f, o, d, d->callee);
    } else {
        enter_functions_indirect(x, f, o, d);
    }
}

void call_return(struct exec *x, struct warp_split *f) {
    const struct sim_module *m = x->worker->launch->module;
    const struct call_context *c = &x->worker->contexts[f->context],
                              *p = &x->worker->contexts[c->parent];
    const struct sim_func *code = &m->funcs[c->code];
    const struct call_desc *d = &m->calls[m->ops[c->call_op].aux];
    u32 nargs = code->nformals - code->nrets;
    for (u32 i = 0; i < d->nrets; i++) {
        struct param_area *to = &d->args[d->nargs + i], *from = &code->formals[nargs + i];
        copy_words(x->warp, x->warp->frames + p->frame + to->offset,
                   x->warp->frames + c->frame + from->offset, min_u32(to->bytes, from->bytes),
                   f->mask);
    }
    f->pc = c->call_op + 1;
    f->context = c->parent;
}

/* call_graph.c — what a function does together with all that it may call: its call closure.
 * decode.c calls it once all functions are decoded. */
#include "grader/sim/code/decode.h"

enum { RECURSION_FRAME_BYTES = 1 << 20, RECURSION_LOCAL_BYTES = 64 << 10 };

/* Gives a function the properties of one that it calls. */
static void merge_callee(struct sim_func *c, const struct sim_func *callee) {
    c->interblock_dependent |= callee->interblock_dependent;
    c->may_spin |= callee->may_spin;
    c->polls_global |= callee->polls_global;
    c->may_sync_with_host |= callee->may_sync_with_host;
    if (callee->dynamic_align > c->dynamic_align) c->dynamic_align = callee->dynamic_align;
    c->cooperative |= callee->cooperative;
    c->reads_textures |= callee->reads_textures;
    c->writes_surfaces |= callee->writes_surfaces;
    c->uses_clusters |= callee->uses_clusters;
    c->has_async_proxy_reads |= callee->has_async_proxy_reads;
    c->uses_cluster_barrier |= callee->uses_cluster_barrier;
    c->uses_alloca |= callee->uses_alloca;
    c->updates_global |= callee->updates_global;
    c->has_subword_global |= callee->has_subword_global;
    c->has_subword_shared |= callee->has_subword_shared;
    c->recursive |= callee->recursive;
}

/* Sets the memory of the deepest chain of calls from here: the function's own, and that of its
 * deepest callee. No chain is longer than the number of functions. The sums saturate; then the
 * launch reports that memory is exhausted. */
static void set_max_memory(struct sim_func *c, u32 callee_frame, u32 callee_local) {
    u32 max = UINT32_MAX / 2;
    c->max_frame = c->frame_bytes > max - callee_frame ? max : c->frame_bytes + callee_frame;
    c->max_local = c->local_bytes > max - callee_local ? max : c->local_bytes + callee_local;
    if (c->recursive) {
        c->max_frame += RECURSION_FRAME_BYTES;
        c->max_local += RECURSION_LOCAL_BYTES;
    }
    if (c->func->is_entry && c->uses_alloca)
        c->max_local = (c->max_local + 15) / 16 * 16 + ALLOCA_BYTES;
}

enum closure_state { CLOSURE_UNKNOWN, CLOSURE_OPEN, CLOSURE_DONE };

void decode_call_closure(struct sim_module *m, struct sim_func *c, unsigned char *state) {
    u32 i = (u32)(c - m->funcs), frame = 0, local = 0;
    state[i] = CLOSURE_OPEN;
    for (u32 k = 0; k < c->ncallees + (c->has_indirect_calls ? m->nfuncs : 0); k++) {
        u32 j = k < c->ncallees ? c->callees[k] : k - c->ncallees;
        struct sim_func *callee = &m->funcs[j];
        if (callee->func->is_entry) continue;
        if (state[j] == CLOSURE_OPEN) {
            c->recursive = callee->recursive = true;
            continue;
        }
        if (state[j] == CLOSURE_UNKNOWN) decode_call_closure(m, callee, state);
        merge_callee(c, callee);
        if (callee->max_frame > frame) frame = callee->max_frame;
        if (callee->max_local > local) local = callee->max_local;
    }
    set_max_memory(c, frame, local);
    if (c->reads_textures && c->writes_surfaces)
        c->interblock_dependent = true; /* blocks may see each other's writes */
    state[i] = CLOSURE_DONE;
}

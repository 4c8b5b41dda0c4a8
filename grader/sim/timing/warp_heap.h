/* warp_heap.h — the binary heap of warps that can issue, ordered by the cycle at which the next
 * instruction has its operands; for replay.c, which issues the first one. */
#pragma once
#include "grader/sim/timing/sm_model.h"

/* Moves the element at `i` up to its place. */
static inline void heap_up(struct sm_model *m, u32 i) {
    u32 w = m->heap[i];
    for (; i && m->warps[m->heap[(i - 1) / 2]].ready_at > m->warps[w].ready_at; i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = w;
}

/* Moves the first warp down to its place, after its `ready_at` has grown. */
static inline void heap_down(struct sm_model *m) {
    u32 w = m->heap[0], i = 0;
    for (;;) {
        u32 c = 2 * i + 1;
        if (c >= m->nheap) break;
        if (c + 1 < m->nheap && m->warps[m->heap[c + 1]].ready_at < m->warps[m->heap[c]].ready_at)
            c++;
        if (m->warps[m->heap[c]].ready_at >= m->warps[w].ready_at) break;
        m->heap[i] = m->heap[c];
        i = c;
    }
    m->heap[i] = w;
}

/* Adds warp `w`, whose `ready_at` is set. */
static inline void heap_push(struct sm_model *m, u32 w) {
    m->heap[m->nheap] = w;
    heap_up(m, m->nheap++);
}

/* Removes the first warp. */
static inline void heap_pop(struct sm_model *m) {
    m->heap[0] = m->heap[--m->nheap];
    if (m->nheap) heap_down(m);
}

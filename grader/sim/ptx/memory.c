/* memory.c — what the parser allocates: counted, so that a hostile text cannot fill the machine. */
#include "grader/sim/ptx/parse.h"

#include <string.h>

/* Real PTX takes about 20 bytes for each of its own; the densest text that means anything would
 * take 150. */
static const size_t MAX_MEMORY = 2u << 30;

void *ptx_get(struct parser *p, struct arena *a, size_t bytes) {
    if (bytes > MAX_MEMORY - p->memory)
        ptx_fail(p, p->line, ERR_LIMIT, "the text needs more than 2 GiB of memory up to here");
    p->memory += bytes;
    return arena_alloc(a, bytes);
}

void *ptx_vec_push(struct parser *p, struct vec *v, size_t item) {
    if (v->n == v->room) {
        size_t room = grow_capacity(v->room, v->n + 1, 16, item, SIZE_MAX);
        void *data = ptx_get(p, &p->scratch, room * item);
        if (v->n) memcpy(data, v->data, v->n * item);
        v->data = data;
        v->room = room;
    }
    void *at = (char *)v->data + v->n++ * item;
    memset(at, 0, item);
    return at;
}

void *ptx_vec_keep(struct parser *p, struct vec *v, size_t item) {
    void *data = v->n ? ptx_get(p, p->arena, v->n * item) : NULL;
    if (v->n) memcpy(data, v->data, v->n * item);
    v->n = 0;
    return data;
}

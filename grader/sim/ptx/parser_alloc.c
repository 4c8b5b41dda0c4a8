/* parser_alloc.c — the parser's allocations, counted so that a hostile text can't exhaust memory.
 */
#include "grader/sim/ptx/parse.h"

#include <string.h>

/* The limit of a parser's memory. Real PTX takes about 20 bytes for each byte of text; the densest
 * meaningful text would take 150. */
static const size_t MAX_PARSER_BYTES = 2u << 30;

void *ptx_alloc(struct ptx_parser *p, struct arena *a, size_t bytes) {
    if (bytes > MAX_PARSER_BYTES - p->allocated_bytes)
        ptx_fail(p, p->line, ERR_LIMIT, "the text needs more than 2 GiB of memory up to here");
    p->allocated_bytes += bytes;
    return arena_alloc(a, bytes);
}

void *ptx_vec_push(struct ptx_parser *p, struct vec *v, size_t item_bytes) {
    if (v->n == v->capacity) {
        size_t capacity = grow_capacity(v->capacity, v->n + 1, 16, item_bytes, SIZE_MAX);
        void *data = ptx_alloc(p, &p->scratch, capacity * item_bytes);
        if (v->n) memcpy(data, v->data, v->n * item_bytes);
        v->data = data;
        v->capacity = capacity;
    }
    void *at = (char *)v->data + v->n++ * item_bytes;
    memset(at, 0, item_bytes);
    return at;
}

void *ptx_vec_to_arena(struct ptx_parser *p, struct vec *v, size_t item_bytes) {
    void *data = v->n ? ptx_alloc(p, p->arena, v->n * item_bytes) : NULL;
    if (v->n) memcpy(data, v->data, v->n * item_bytes);
    v->n = 0;
    return data;
}

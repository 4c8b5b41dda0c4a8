/* types.c — the names and sizes of PTX's types. */
#include "grader/sim/ptx/ptx.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned bytes;
} types[] = {[PTX_NO_TYPE] = {"none", 0},
#define X(id, name, bytes) [id] = {name, bytes},
             PTX_TYPES(X)
#undef X
};

enum { TYPE_COUNT = sizeof types / sizeof *types };

const char *ptx_type_name(enum ptx_type t) {
    return (unsigned)t < TYPE_COUNT ? types[t].name : "none";
}
unsigned ptx_type_bytes(enum ptx_type t) { return (unsigned)t < TYPE_COUNT ? types[t].bytes : 0; }

enum ptx_type ptx_type_of(const char *s, size_t n) {
    for (unsigned t = PTX_NO_TYPE + 1; t < TYPE_COUNT; t++)
        if (strlen(types[t].name) == n && !memcmp(types[t].name, s, n)) return (enum ptx_type)t;
    return PTX_NO_TYPE;
}

/* place.c — the source line that an instruction is reported under. `atomicAdd` and its like are inline functions of the
 * toolkit's headers: a count or a fault there says nothing to the reader, the line that called them does. */
#include "grader/sim/obs/place.h"

#include <string.h>

static bool in_toolkit(const struct ptx_module *m, const struct ptx_loc *l) {
    const char *path = l->file < m->nfiles ? m->files[l->file] : NULL;
    return path && strstr(path, "/include/");
}

const struct ptx_loc *source_place(const struct ptx_module *m, uint32_t loc) {
    const struct ptx_loc *l = &m->locs[loc];
    /* The table may be hostile: a chain of calls that is longer than the table goes round in it. */
    for (uint32_t steps = 0; in_toolkit(m, l) && l->inlined_at && l->inlined_at < m->nlocs && steps < m->nlocs; steps++)
        l = &m->locs[l->inlined_at];
    return l;
}

/* source_location.c — the source line that reports and counters give for an instruction, and the
 * variable at an address. `atomicAdd` and the like are inline functions of the toolkit's headers: a
 * line there means nothing to the reader, so we take the line that called them. */
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <string.h>

static bool is_toolkit_header(const struct ptx_module *m, const struct ptx_loc *l) {
    const char *path = l->file < m->nfiles ? m->files[l->file] : NULL;
    return path && strstr(path, "/include/");
}

const struct ptx_loc *source_location_of(const struct ptx_module *m, uint32_t loc) {
    const struct ptx_loc *l = &m->locs[loc];
    /* The table may be hostile: a chain of callers longer than the table is a cycle. */
    for (uint32_t depth = 0;
         is_toolkit_header(m, l) && l->inlined_at && l->inlined_at < m->nlocs && depth < m->nlocs;
         depth++)
        l = &m->locs[l->inlined_at];
    return l;
}

bool source_location_equal(const struct ptx_module *m, uint32_t a, uint32_t b) {
    for (uint32_t depth = 0; depth < m->nlocs; depth++) {
        const struct ptx_loc *p = &m->locs[a], *q = &m->locs[b];
        if (!p->line || p->line != q->line || p->file != q->file) return false;
        if (p->inlined_at >= m->nlocs || q->inlined_at >= m->nlocs) return false;
        if (!p->inlined_at || !q->inlined_at) return p->inlined_at == q->inlined_at;
        a = p->inlined_at, b = q->inlined_at;
    }
    return false;
}

uint32_t source_location_line(const struct launch *l, u32 op) {
    return source_location_of(l->module->ptx, l->ops[op].loc)->line;
}

void source_location_format(const struct ptx_module *m, const struct ptx_loc *at,
                            const struct ptx_loc *context, char *out, size_t size) {
    const char *path = at->file < m->nfiles && m->files[at->file] ? m->files[at->file] : "",
               *slash = strrchr(path, '/');
    *out = 0;
    if (at->line && at->file == context->file) snprintf(out, size, " in line %u", at->line);
    else if (at->line) snprintf(out, size, " in %.60s:%u", slash ? slash + 1 : path, at->line);
}

void source_location_format_op(const struct launch *l, u32 op, const struct op *context, char *out,
                               size_t size) {
    const struct ptx_module *m = l->module->ptx;
    source_location_format(m, source_location_of(m, l->ops[op].loc),
                           source_location_of(m, context->loc), out, size);
}

void describe_thread(const struct launch *l, u32 thread, char *out, size_t size) {
    const u32 *dim = l->request->block;
    snprintf(out, size, "(%u,%u,%u)", thread % dim[0], thread / dim[0] % dim[1],
             thread / dim[0] / dim[1]);
}

/* ---- variables in shared memory ---- */

static const struct var_offset *find_shared_variable_in(const struct sim_func *c, uint64_t offset) {
    for (u32 i = 0; i < c->nshared_vars; i++)
        if (offset - c->shared_vars[i].offset < c->shared_vars[i].var->bytes)
            return &c->shared_vars[i];
    return NULL;
}

/* Returns a variable's name in the source. The mangled name of one declared in a function ends in
 * E<length><name>. */
static const char *unmangled_name(const char *name, int *length) {
    *length = (int)strlen(name);
    for (const char *e = name + *length; e > name; e--) {
        unsigned n = 0, digits = 0;
        if (e[-1] != 'E' || sscanf(e, "%u%n", &n, (int *)&digits) != 1 || !n ||
            strlen(e + digits) < n)
            continue;
        return *length = (int)n, e + digits;
    }
    return name;
}

static const struct var_offset *find_shared_variable(const struct launch *l, uint64_t offset) {
    const struct var_offset *v = find_shared_variable_in(l->code, offset);
    for (u32 i = 0; !v && i < l->module->nfuncs; i++)
        if (!l->module->funcs[i].func->is_entry)
            v = find_shared_variable_in(&l->module->funcs[i], offset);
    return v;
}

void describe_shared_variable(const struct launch *l, uint64_t offset, char *out, size_t size) {
    const struct var_offset *v = find_shared_variable(l, offset);
    int length = 0;
    const char *name = v ? unmangled_name(v->var->name, &length) : "";
    snprintf(out, size, v ? "`%.*s`" : "an array%.*s", length, name);
}

void describe_shared_element(const struct launch *l, uint64_t offset, u32 width, char *out,
                             size_t size) {
    const struct var_offset *v = find_shared_variable(l, offset);
    uint64_t base = v ? v->offset : l->shared_bytes - l->request->dynamic_shared;
    int length;
    bool is_known = v || (offset >= base && offset < l->shared_bytes);
    if (!is_known || !width || (offset - base) % width)
        return describe_shared_byte(l, offset, out, size);
    const char *name = v ? unmangled_name(v->var->name, &length) : NULL;
    unsigned long long element = (offset - base) / width;
    if (v && v->var->bytes <= width) snprintf(out, size, "`%.*s` in shared memory", length, name);
    else if (v)
        snprintf(out, size, "element %llu of `%.*s` (%llu of %u bytes) in shared memory", element,
                 length, name, (unsigned long long)v->var->bytes / width, width);
    else snprintf(out, size, "element %llu (of %u bytes) of dynamic shared memory", element, width);
}

void describe_shared_byte(const struct launch *l, uint64_t offset, char *out, size_t size) {
    const struct var_offset *v = find_shared_variable(l, offset);
    uint64_t dynamic_base =
        l->shared_bytes - l->request->dynamic_shared; /* start of dynamic shared memory */
    int length;
    if (v) {
        const char *name = unmangled_name(v->var->name, &length);
        snprintf(out, size, "byte %llu of `%.*s` in shared memory",
                 (unsigned long long)(offset - v->offset), length, name);
    } else if (offset >= dynamic_base && offset < l->shared_bytes) {
        snprintf(out, size, "byte %llu of dynamic shared memory",
                 (unsigned long long)(offset - dynamic_base));
    } else {
        snprintf(out, size, "offset %lld of shared memory", (long long)offset);
    }
}

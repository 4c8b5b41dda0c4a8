/* link.c — links several modules to one, by the rules of nvlink. A visible symbol has one strong
 * definition, to which the other modules' declarations refer; if all are weak, the first one
 * counts. A symbol that is neither visible nor weak belongs to its own module, so equal names are
 * kept apart. */
#include "grader/sim/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

struct symbol {
    const char *name;
    struct ptx_var *var;
    struct ptx_func *func;
    unsigned module;
    bool weak;
};

struct linker {
    struct arena *arena;
    struct ptx_module **modules, *out;
    unsigned n;
    struct symbol *symbols; /* the definition of each name that modules share */
    unsigned nsymbols;
    struct err *e;
};

/* ---- names ---- */

static bool is_external(bool is_visible, bool is_weak, bool is_extern) {
    return is_visible || is_weak || is_extern;
}
static bool is_var_external(const struct ptx_var *v) {
    return is_external(v->is_visible, v->is_weak || v->is_common, v->is_extern);
}
static bool is_func_external(const struct ptx_func *f) {
    return is_external(f->is_visible, f->is_weak, f->is_extern || !f->has_body);
}

static const char *private_name(struct linker *l, const char *name, unsigned module) {
    size_t n = strlen(name) + 24;
    char *s = arena_alloc(l->arena, n);
    snprintf(s, n, "%s$%u", name, module);
    return s;
}

static void rename_operand(struct ptx_operand *p, const char *from, const char *to) {
    if (p->kind == PTX_OP_FUNC && strcmp(p->name, from) == 0) p->name = to;
    for (unsigned i = 0; i < p->nitems; i++) rename_operand(&p->items[i], from, to);
}

static void rename_uses(struct ptx_module *m, const char *from, const char *to, bool is_func) {
    for (unsigned i = 0; i < m->nvars; i++)
        for (unsigned k = 0; k < m->vars[i]->nrelocs; k++)
            if (strcmp(m->vars[i]->relocs[k].symbol, from) == 0) m->vars[i]->relocs[k].symbol = to;
    for (unsigned i = 0; is_func && i < m->nfuncs; i++)
        for (unsigned k = 0; k < m->funcs[i]->ninsns; k++)
            for (unsigned p = 0; p < m->funcs[i]->insns[k].noperands; p++)
                rename_operand(&m->funcs[i]->insns[k].operands[p], from, to);
}

/* Renames a module's own symbols by its number. The first module keeps its names, which reports
 * show. */
static void rename_private_symbols(struct linker *l, unsigned module) {
    struct ptx_module *m = l->modules[module];
    for (unsigned i = 0; module && i < m->nvars; i++) {
        struct ptx_var *v = m->vars[i];
        const char *from = v->name;
        if (is_var_external(v)) continue;
        v->name = private_name(l, from, module);
        rename_uses(m, from, v->name, false);
    }
    for (unsigned i = 0; module && i < m->nfuncs; i++) {
        struct ptx_func *f = m->funcs[i];
        const char *from = f->name;
        if (is_func_external(f) || f->is_entry) continue;
        f->name = private_name(l, from, module);
        rename_uses(m, from, f->name, true);
    }
}

/* ---- definitions ---- */

static struct symbol *find_symbol(const struct linker *l, const char *name) {
    for (unsigned i = 0; i < l->nsymbols; i++)
        if (strcmp(l->symbols[i].name, name) == 0) return &l->symbols[i];
    return NULL;
}

static bool add_definition(struct linker *l, struct symbol s) {
    struct symbol *old = find_symbol(l, s.name);
    if (!old) return l->symbols[l->nsymbols++] = s, true;
    if (!old->weak && !s.weak)
        return err_set(l->e, ERR_INPUT,
                       "Multiple definition of '%s' in files %u and %u of the program", s.name,
                       old->module + 1, s.module + 1);
    if (old->weak && !s.weak) *old = s;
    return true;
}

static bool add_definitions(struct linker *l, unsigned module) {
    const struct ptx_module *m = l->modules[module];
    for (unsigned i = 0; i < m->nvars; i++) {
        struct ptx_var *v = m->vars[i];
        struct symbol s = {v->name, v, NULL, module, v->is_weak || v->is_common};
        if (v->is_extern || !is_var_external(v)) continue;
        if (!add_definition(l, s)) return false;
    }
    for (unsigned i = 0; i < m->nfuncs; i++) {
        struct ptx_func *f = m->funcs[i];
        struct symbol s = {f->name, NULL, f, module, f->is_weak};
        if (!f->has_body || !(is_func_external(f) || f->is_entry)) continue;
        if (!add_definition(l, s)) return false;
    }
    return true;
}

/* ---- the linked module ---- */

static void merge_vars(struct linker *l, const struct ptx_module *m) {
    for (unsigned i = 0; i < m->nvars; i++) {
        struct ptx_var *v = m->vars[i];
        const struct symbol *s = is_var_external(v) ? find_symbol(l, v->name) : NULL;
        if (s && s->var && s->var != v) v->definition = s->var;
        else l->out->vars[l->out->nvars++] = v;
    }
}

static void merge_funcs(struct linker *l, const struct ptx_module *m, unsigned first_loc) {
    for (unsigned i = 0; i < m->nfuncs; i++) {
        struct ptx_func *f = m->funcs[i];
        const struct symbol *s = find_symbol(l, f->name);
        for (unsigned k = 0; k < f->ninsns; k++)
            if (f->insns[k].loc) f->insns[k].loc += first_loc;
        if (!s || s->func == f) l->out->funcs[l->out->nfuncs++] = f;
    }
}

/* Appends the files and locations of one module; location 0 is the unknown one in each. */
static unsigned merge_locs(struct linker *l, const struct ptx_module *m) {
    struct ptx_module *o = l->out;
    unsigned first_file = o->nfiles, first_loc = o->nlocs - 1;
    for (unsigned i = 0; i < m->nfiles; i++) o->files[o->nfiles++] = m->files[i];
    for (unsigned i = 1; i < m->nlocs; i++) {
        struct ptx_loc at = m->locs[i];
        at.file += first_file;
        if (at.inlined_at) at.inlined_at += first_loc;
        o->locs[o->nlocs++] = at;
    }
    return first_loc;
}

static void allocate_output(struct linker *l) {
    unsigned vars = 0, funcs = 0, files = 0, locs = 1;
    for (unsigned i = 0; i < l->n; i++) {
        const struct ptx_module *m = l->modules[i];
        vars += m->nvars, funcs += m->nfuncs, files += m->nfiles, locs += m->nlocs;
    }
    struct ptx_module *o = l->out = arena_new(l->arena, struct ptx_module);
    *o = *l->modules[0];
    o->index = NULL;
    o->nvars = o->nfuncs = o->nfiles = 0;
    o->vars = arena_array(l->arena, struct ptx_var *, vars);
    o->funcs = arena_array(l->arena, struct ptx_func *, funcs);
    o->files = arena_array(l->arena, const char *, files);
    o->locs = arena_array(l->arena, struct ptx_loc, locs);
    o->nlocs = 1;
    l->symbols = arena_array(l->arena, struct symbol, vars + funcs);
}

struct ptx_module *ptx_link(struct arena *a, struct ptx_module **modules, unsigned n,
                            struct err *e) {
    struct linker l = {.arena = a, .modules = modules, .n = n, .e = e};
    if (n == 1) return modules[0];
    allocate_output(&l);
    for (unsigned i = 0; i < n; i++) rename_private_symbols(&l, i);
    for (unsigned i = 0; i < n; i++)
        if (!add_definitions(&l, i)) return NULL;
    for (unsigned i = 0; i < n; i++) {
        merge_vars(&l, modules[i]);
        merge_funcs(&l, modules[i], merge_locs(&l, modules[i]));
    }
    return l.out;
}

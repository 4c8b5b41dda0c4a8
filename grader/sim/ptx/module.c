/* module.c — the outermost level of a PTX text, and ptx_parse, where the parser starts and ends. */
#include "grader/sim/ptx/parse.h"

#include <stdlib.h>

static unsigned digits(const char **s, const char *end) {
    unsigned value = 0;
    for (; *s < end && **s >= '0' && **s <= '9' && value < 1000; (*s)++)
        value = value * 10 + (unsigned)(**s - '0');
    return value;
}

static void parse_version(struct ptx_parser *p) {
    ptx_next(p);
    if (p->tok.kind != TOKEN_FLOAT) ptx_fail_expected(p, "a version such as 9.0");
    const char *s = p->tok.s, *end = s + p->tok.n;
    p->module->version_major = digits(&s, end);
    if (s < end) s++;
    p->module->version_minor = digits(&s, end);
    ptx_next(p);
}

static void parse_target(struct ptx_parser *p) {
    ptx_next(p);
    struct identifier *target = ptx_expect_name(p, "a target such as sm_90");
    if (!p->module->target) p->module->target = target->s;
    while (ptx_accept(p, ',')) ptx_expect_name(p, "a target option");
}

static void parse_address_size(struct ptx_parser *p) {
    ptx_next(p);
    uint32_t line = p->tok.line;
    if (ptx_expect_uint(p, "32 or 64", 64) != 64)
        ptx_fail(p, line, ERR_UNSUPPORTED, "only 64-bit code is supported; build without -m32");
}

static struct linkage parse_linkage(struct ptx_parser *p) {
    struct linkage l = {.is_extern = false};
    for (;;) {
        if (ptx_accept_word(p, ".extern")) l.is_extern = true;
        else if (ptx_accept_word(p, ".visible")) l.is_visible = true;
        else if (ptx_accept_word(p, ".weak")) l.is_weak = true;
        else if (ptx_accept_word(p, ".common")) l.is_common = true;
        else return l;
    }
}

static void parse_definition(struct ptx_parser *p) {
    struct linkage linkage = parse_linkage(p);
    if (ptx_at_word(p, ".func")) ptx_parse_function(p, linkage, false);
    else if (ptx_at_word(p, ".entry")) ptx_parse_function(p, linkage, true);
    else if (ptx_at_state_space(p)) ptx_parse_variables(p, linkage);
    else ptx_fail_expected(p, "a function, an entry or a variable");
}

static void parse_top(struct ptx_parser *p) {
    if (ptx_at_word(p, ".version")) parse_version(p);
    else if (ptx_at_word(p, ".target")) parse_target(p);
    else if (ptx_at_word(p, ".address_size")) parse_address_size(p);
    else if (ptx_at_word(p, ".file")) ptx_parse_file_directive(p);
    else if (ptx_at_word(p, ".loc")) ptx_parse_loc_directive(p);
    else if (ptx_at_word(p, ".section")) ptx_parse_section_directive(p);
    else if (ptx_at_word(p, ".pragma")) ptx_skip_pragma(p);
    else if (ptx_at_word(p, ".alias")) ptx_parse_alias(p);
    else if (!ptx_accept(p, ';')) parse_definition(p);
}

static void finish_module(struct ptx_parser *p) {
    struct ptx_module *m = p->module;
    if (!m->version_major || !m->target)
        ptx_fail(p, p->line, ERR_INPUT, "expected .version and .target: this is not PTX");
    ptx_check_initializer_symbols(p);
    ptx_resolve_aliases(p);
    ptx_debug_info_finish(p);
    m->nvars = (unsigned)p->vars.n;
    m->vars = vec_to_arena(p, &p->vars, struct ptx_var *);
    m->nfuncs = (unsigned)p->funcs.n;
    m->funcs = vec_to_arena(p, &p->funcs, struct ptx_func *);
    m->index = p->symbols;
}

/* Not inlined into ptx_parse, which calls setjmp. */
__attribute__((noinline)) static void parse_text(struct ptx_parser *p) {
    ptx_next(p);
    while (p->tok.kind != TOKEN_END) parse_top(p);
    finish_module(p);
}

struct ptx_module *ptx_parse(struct arena *a, const char *text, size_t n, struct err *e) {
    if (n > PTX_MAX_TEXT) {
        err_set(e, ERR_LIMIT, "a PTX text of %zu bytes is too long (at most %d)", n, PTX_MAX_TEXT);
        return NULL;
    }
    struct ptx_parser *p = xcalloc(1, sizeof *p);
    struct ptx_module *m = arena_new(a, struct ptx_module);
    *p = (struct ptx_parser){
        .arena = a, .err = e, .at = text, .end = text + n, .line = 1, .module = m};
    p->symbols = ptx_symbol_table_new(a);
    ptx_debug_info_init(p);
    bool ok = !setjmp(p->on_error);
    if (ok) parse_text(p);
    arena_free(&p->scratch);
    free(p);
    return ok ? m : NULL;
}

/* func.c — functions and entries: signature, performance directives, body. */
#include "grader/sim/ptx/parse.h"

#include <string.h>

static struct ptx_func *find_or_add_function(struct ptx_parser *p, struct identifier *name) {
    if (name->var) ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' is already a variable", name->s);
    if (name->func) return name->func;
    struct ptx_func *f = ptx_alloc(p, p->arena, sizeof *f);
    f->name = name->s;
    name->func = f;
    *vec_push(p, &p->funcs, struct ptx_func *) = f;
    return f;
}

/* Parses `128`, `16, 8` or `4, 4, 4`; missing numbers are 1. */
static void parse_extent(struct ptx_parser *p, unsigned out[3]) {
    out[0] = (unsigned)ptx_expect_uint(p, "a number of threads or blocks", UINT32_MAX);
    for (int i = 1; i < 3; i++)
        out[i] = ptx_accept(p, ',') ? (unsigned)ptx_expect_uint(p, "a number", UINT32_MAX) : 1;
}

static bool parse_tuning_directive(struct ptx_parser *p, struct ptx_func *f) {
    if (ptx_accept_word(p, ".maxntid")) parse_extent(p, f->maxntid);
    else if (ptx_accept_word(p, ".reqntid")) parse_extent(p, f->reqntid);
    else if (ptx_accept_word(p, ".reqnctapercluster")) parse_extent(p, f->reqnctapercluster);
    else if (ptx_accept_word(p, ".minnctapersm"))
        f->minnctapersm = (unsigned)ptx_expect_uint(p, "a number of blocks", UINT32_MAX);
    else if (ptx_accept_word(p, ".maxnctapersm"))
        ptx_expect_uint(p, "a number of blocks", UINT32_MAX);
    else if (ptx_accept_word(p, ".maxnreg"))
        f->maxnreg = (unsigned)ptx_expect_uint(p, "a number of registers", UINT32_MAX);
    else if (ptx_accept_word(p, ".maxclusterrank"))
        f->maxclusterrank = (unsigned)ptx_expect_uint(p, "a number of blocks", UINT32_MAX);
    else if (ptx_accept_word(p, ".explicitcluster")) f->explicit_cluster = true;
    else if (ptx_accept_word(p, ".blocksareclusters")) return true;
    else if (ptx_accept_word(p, ".abi_preserve"))
        ptx_expect_uint(p, "a number of registers", UINT32_MAX);
    else if (ptx_accept_word(p, ".abi_preserve_control"))
        ptx_expect_uint(p, "a number of registers", UINT32_MAX);
    else if (ptx_accept_word(p, ".noreturn")) f->noreturn = true;
    else return false;
    return true;
}

/* ---- labels of tables ---- */

static struct ptx_table *new_table(struct ptx_parser *p, struct identifier *name) {
    ptx_bind(p, name, BIND_TARGET_LIST, p->depth)->index = (uint32_t)p->tables.n;
    struct ptx_table *t = vec_push(p, &p->tables, struct ptx_table);
    t->name = name->s;
    return t;
}

static void parse_prototype(struct ptx_parser *p, struct ptx_table *t) {
    if (p->tok.kind == '(') t->rets = ptx_parse_parameters(p, &t->nrets);
    ptx_expect_name(p, "'_' or a name in the prototype");
    if (p->tok.kind == '(') t->params = ptx_parse_parameters(p, &t->nparams);
    while (ptx_at_word(p, ".noreturn") || ptx_at_word(p, ".abi_preserve") ||
           ptx_at_word(p, ".abi_preserve_control")) {
        ptx_next(p);
        if (p->tok.kind == TOKEN_INT) ptx_next(p);
    }
}

/* Parses a list of names, valid until the next call. */
static struct identifier **parse_names(struct ptx_parser *p, unsigned *n) {
    do {
        struct identifier *name = ptx_expect_name(p, "a name");
        *vec_push(p, &p->name_list, struct identifier *) = name;
    } while (ptx_accept(p, ','));
    *n = (unsigned)p->name_list.n;
    p->name_list.n = 0;
    return p->name_list.data;
}

static void parse_branch_targets(struct ptx_parser *p, struct ptx_table *t) {
    uint32_t line = p->tok.line;
    struct identifier **names = parse_names(p, &t->ntargets);
    t->targets = ptx_alloc(p, p->arena, t->ntargets * sizeof *t->targets);
    for (unsigned i = 0; i < t->ntargets; i++)
        ptx_add_fixup(p, names[i], line, &t->targets[i], NULL);
}

static void parse_call_targets(struct ptx_parser *p, struct ptx_table *t) {
    struct identifier **names = parse_names(p, &t->nfunctions);
    t->functions = ptx_alloc(p, p->arena, t->nfunctions * sizeof *t->functions);
    for (unsigned i = 0; i < t->nfunctions; i++) {
        if (!names[i]->func)
            ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' is not a function", names[i]->s);
        t->functions[i] = names[i]->s;
    }
}

static void parse_label(struct ptx_parser *p, struct identifier *name) {
    if (ptx_accept_word(p, ".callprototype")) parse_prototype(p, new_table(p, name));
    else if (ptx_accept_word(p, ".branchtargets")) parse_branch_targets(p, new_table(p, name));
    else if (ptx_accept_word(p, ".calltargets")) parse_call_targets(p, new_table(p, name));
    else {
        ptx_bind(p, name, BIND_LABEL, p->depth)->index = (uint32_t)p->insns.n;
        return;
    }
    ptx_expect(p, ';', "';' after the table");
}

/* ---- statements ---- */

static void parse_guard(struct ptx_parser *p, struct ptx_insn *insn) {
    insn->guard_negated = ptx_accept(p, '!');
    struct identifier *name = ptx_expect_name(p, "a predicate register after '@'");
    struct binding *b = ptx_find_local(p, name);
    if (!b || b->kind != BIND_REG || ((struct ptx_reg *)p->regs.data)[b->index].type != PTX_PRED)
        ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' is not a predicate register", name->s);
    insn->guard = (int)b->index;
}

/* Modifiers may stand apart from the opcode, as in `ld.global .f32`. */
static const char *parse_opcode(struct ptx_parser *p, struct identifier *name) {
    char text[256];
    size_t n = name->n;
    if (p->tok.kind != TOKEN_DIRECTIVE) return name->s;
    for (; p->tok.kind == TOKEN_DIRECTIVE; ptx_next(p)) {
        if (n + p->tok.n > sizeof text)
            ptx_fail(p, p->tok.line, ERR_LIMIT, "this opcode is too long");
        if (n == name->n) memcpy(text, name->s, n);
        memcpy(text + n, p->tok.s, p->tok.n);
        n += p->tok.n;
    }
    return ptx_intern(p, text, n)->s;
}

static bool is_call(const struct identifier *opcode) {
    return !strcmp(opcode->s, "call") || !strncmp(opcode->s, "call.", 5);
}

static void finish_insn(struct ptx_parser *p, struct ptx_insn insn, struct identifier *name) {
    if (name->n > 200 || name->s[0] == '%')
        ptx_fail(p, insn.ptx_line, ERR_INPUT, "expected an instruction, found '%.40s'", name->s);
    insn.opcode = parse_opcode(p, name);
    insn.operands = ptx_parse_operands(p, is_call(name), &insn.noperands);
    *vec_push(p, &p->insns, struct ptx_insn) = insn;
}

static void parse_instruction(struct ptx_parser *p) {
    struct ptx_insn insn = {.guard = -1, .loc = p->current_location, .ptx_line = p->tok.line};
    bool guarded = ptx_accept(p, '@');
    if (guarded) parse_guard(p, &insn);
    struct identifier *name = ptx_expect_name(p, "an instruction");
    if (!guarded && ptx_accept(p, ':')) parse_label(p, name);
    else finish_insn(p, insn, name);
}

static void parse_directive(struct ptx_parser *p) {
    if (ptx_at_word(p, ".loc")) ptx_parse_loc_directive(p);
    else if (ptx_at_word(p, ".reg")) ptx_parse_registers(p);
    else if (ptx_at_state_space(p)) ptx_parse_variables(p, (struct linkage){.is_extern = false});
    else if (ptx_at_word(p, ".pragma")) ptx_skip_pragma(p);
    else if (ptx_at_word(p, ".file")) ptx_parse_file_directive(p);
    else if (ptx_accept_word(p, ".extern"))
        ptx_parse_variables(p, (struct linkage){.is_extern = true});
    else ptx_fail_expected(p, "a statement");
}

static void parse_statement(struct ptx_parser *p) {
    switch (p->tok.kind) {
    case TOKEN_IDENT:
    case '@': parse_instruction(p); break;
    case TOKEN_DIRECTIVE: parse_directive(p); break;
    case ';': ptx_next(p); break;
    case '{':
        ptx_open_scope(p);
        ptx_next(p);
        break;
    case '}':
        ptx_close_scope(p);
        ptx_next(p);
        break;
    case TOKEN_END:
        ptx_fail(p, p->scopes[p->depth].line, ERR_INPUT,
                 "this block is never closed: expected '}' before the end of the text");
    default: ptx_fail_expected(p, "a statement");
    }
}

static void bind_formals(struct ptx_parser *p, struct ptx_var *formals, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct identifier *name = ptx_intern(p, formals[i].name, strlen(formals[i].name));
        if (!strcmp(name->s, "_")) continue;
        if (formals[i].space == PTX_REG) ptx_add_reg(p, name, formals[i].type, p->depth);
        else ptx_bind(p, name, BIND_VAR, p->depth)->var = &formals[i];
    }
}

static void store_body(struct ptx_parser *p, struct ptx_func *f) {
    f->nregs = (unsigned)p->regs.n;
    f->nvars = (unsigned)p->locals.n;
    f->ninsns = (unsigned)p->insns.n;
    f->ntables = (unsigned)p->tables.n;
    f->regs = vec_to_arena(p, &p->regs, struct ptx_reg);
    f->vars = vec_to_arena(p, &p->locals, struct ptx_var *);
    f->insns = vec_to_arena(p, &p->insns, struct ptx_insn);
    f->tables = vec_to_arena(p, &p->tables, struct ptx_table);
    f->has_body = true;
    f->is_extern = false;
}

static void parse_body(struct ptx_parser *p, struct ptx_func *f) {
    if (f->has_body)
        ptx_fail(p, p->tok.line, ERR_INPUT, "the function '%.200s' has two bodies", f->name);
    p->current_location = 0;
    p->function_number++;
    ptx_open_scope(p);
    ptx_expect(p, '{', "';' or '{' after the function's declaration");
    bind_formals(p, f->rets, f->nrets);
    bind_formals(p, f->params, f->nparams);
    while (p->depth) parse_statement(p);
    store_body(p, f);
}

/* Returns the function of that name; several declarations are one function, and the definition's
 * signature wins. */
static void merge_declaration(struct ptx_func *f, const struct ptx_func *declaration, bool body) {
    f->is_entry |= declaration->is_entry;
    f->is_visible |= declaration->is_visible;
    f->is_weak |= declaration->is_weak;
    f->noreturn |= declaration->noreturn;
    if (f->has_body && !body) return;
    struct ptx_func old = *f;
    *f = *declaration;
    f->name = old.name;
    f->is_extern |= old.is_extern;
    f->is_entry = old.is_entry;
    f->is_visible = old.is_visible;
    f->is_weak = old.is_weak;
    f->noreturn = old.noreturn;
}

void ptx_parse_function(struct ptx_parser *p, struct linkage linkage, bool is_entry) {
    struct ptx_func declaration = {.is_entry = is_entry,
                                   .ptx_line = p->tok.line,
                                   .is_extern = linkage.is_extern,
                                   .is_visible = linkage.is_visible,
                                   .is_weak = linkage.is_weak};
    ptx_next(p);
    while (ptx_accept_word(p, ".attribute")) ptx_skip_parentheses(p);
    if (!is_entry && p->tok.kind == '(')
        declaration.rets = ptx_parse_parameters(p, &declaration.nrets);
    struct ptx_func *f = find_or_add_function(p, ptx_expect_name(p, "a function's name"));
    if (p->tok.kind == '(') declaration.params = ptx_parse_parameters(p, &declaration.nparams);
    while (p->tok.kind == TOKEN_DIRECTIVE) {
        if (ptx_at_word(p, ".pragma")) ptx_skip_pragma(p);
        else if (!parse_tuning_directive(p, &declaration))
            ptx_fail_expected(p, "';' or '{' after the function's declaration");
    }
    bool body = p->tok.kind == '{';
    if (body && f->has_body)
        ptx_fail(p, p->tok.line, ERR_INPUT, "the function '%.200s' has two bodies", f->name);
    merge_declaration(f, &declaration, body);
    if (!ptx_accept(p, ';')) parse_body(p, f);
}

/* ---- `.alias other, function;` ---- */

struct alias {
    struct identifier *name, *target;
    uint32_t line;
};

void ptx_parse_alias(struct ptx_parser *p) {
    struct alias alias = {.line = p->tok.line};
    ptx_next(p);
    alias.name = ptx_expect_name(p, "the alias");
    ptx_expect(p, ',', "',' between the alias and its function");
    alias.target = ptx_expect_name(p, "a function's name");
    ptx_expect(p, ';', "';' after the alias");
    find_or_add_function(p, alias.name);
    *vec_push(p, &p->aliases, struct alias) = alias;
}

/* An alias shares the body of its function, which may be defined after the .alias line. */
void ptx_resolve_aliases(struct ptx_parser *p) {
    const struct alias *alias = p->aliases.data;
    for (size_t i = 0; i < p->aliases.n; i++) {
        struct ptx_func *f = alias[i].name->func, *target = alias[i].target->func;
        if (!target || !target->has_body || f->has_body)
            ptx_fail(p, alias[i].line, ERR_INPUT, "'%.200s' cannot be an alias of '%.200s'",
                     alias[i].name->s, alias[i].target->s);
        struct ptx_func old = *f;
        *f = *target;
        f->name = old.name;
        f->is_visible = old.is_visible;
        f->is_weak = old.is_weak;
    }
}

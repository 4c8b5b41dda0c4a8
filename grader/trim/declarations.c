/* declarations.c — finds the declarations of preprocessed headers; see trim.h.
 *
 * A declaration ends at a semicolon or at the end of a function's body. Its kind decides which
 * names refer to it:
 *
 *   function     the name before its parameters
 *   class        its name
 *   using        the last name, or that before `=`
 *   constant     the name before its value, if it is constexpr or extern
 *   enumeration, typedef    every name in it
 *
 * Everything else is required: operators, which have no name where they are used, variables, and
 * all that this file does not understand. So is a declaration with an effect of its
 * own, such as a constructor of the program or a function that isn't inline. */
#include "common/buf.h"
#include "common/grow.h"
#include "grader/trim/trim.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_LITERAL,
    TOKEN_PUNCTUATION,
    TOKEN_MARKER,
    TOKEN_PRAGMA
};

struct token {
    enum token_kind kind;
    const char *at;
    size_t length;
};

struct reader {
    const char *begin, *at, *end;
};

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static bool token_is(const struct token *t, const char *text) {
    return t->length == strlen(text) && !memcmp(t->at, text, t->length);
}

static bool is_one_of(const struct token *t, const char *const *words) {
    for (; *words; words++)
        if (token_is(t, *words)) return true;
    return false;
}

/* ---- tokens ---- */

static void skip_line(struct reader *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
}

static void skip_quoted(struct reader *r) {
    char quote = *r->at++;
    while (r->at < r->end && *r->at != quote) r->at += *r->at == '\\' ? 2 : 1;
    r->at++;
}

static bool begins_line(const struct reader *r) { return r->at == r->begin || r->at[-1] == '\n'; }

static struct token next_token(struct reader *r) {
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
    struct token t = {.kind = TOKEN_END, .at = r->at};
    if (r->at >= r->end) return t;
    if (*r->at == '#' && begins_line(r)) {
        t.kind =
            r->end - r->at > 2 && isdigit((unsigned char)r->at[2]) ? TOKEN_MARKER : TOKEN_PRAGMA;
        skip_line(r);
    } else if (isdigit((unsigned char)*r->at)) {
        t.kind = TOKEN_LITERAL;
        while (r->at < r->end && (is_name_char(*r->at) || *r->at == '.' || *r->at == '\'')) r->at++;
    } else if (is_name_char(*r->at)) {
        t.kind = TOKEN_NAME;
        while (r->at < r->end && is_name_char(*r->at)) r->at++;
    } else if (*r->at == '"' || *r->at == '\'') {
        t.kind = TOKEN_LITERAL;
        skip_quoted(r);
    } else {
        t.kind = TOKEN_PUNCTUATION;
        r->at++;
    }
    if (r->at > r->end) r->at = r->end;
    t.length = (size_t)(r->at - t.at);
    return t;
}

static bool is_punctuation(const struct token *t, char c) {
    return t->kind == TOKEN_PUNCTUATION && *t->at == c;
}

/* ---- one declaration ---- */

struct parse {
    struct reader r;
    struct declaration_list *list;
    struct declaration d;
    struct token name;   /* the last name outside of brackets, up to parameters or value */
    struct token before; /* the last token outside of brackets */
    bool ended, required;
    bool is_class, is_using, takes_all_names;
    bool has_parameters, has_value, has_body, has_base;
    bool may_be_unused; /* static, inline, a template or constexpr: no symbol if nothing uses it */
    bool is_constant;   /* constexpr, extern or a template: no symbol, no effect */
    bool has_extern;
    bool skips_group; /* the next parentheses belong to a keyword */
};

/* Words before parentheses that are not a function's parameters. */
static const char *const words_with_group[] = {
    "__attribute__", "__attribute", "__declspec", "alignas",  "_Alignas", "decltype",
    "__typeof__",    "__typeof",    "noexcept",   "explicit", "asm",      "__asm__",
    "__asm",         "throw",       "requires",   "sizeof",   NULL};
/* Attributes with an effect of their own. */
static const char *const effects[] = {"constructor", "destructor", "used",    "global",
                                      "shared",      "constant",   "managed", "alias",
                                      "weakref",     "ifunc",      "section", NULL};
static const char *const type_words[] = {"int",    "void",     "char",    "bool",     "float",
                                         "double", "long",     "short",   "signed",   "auto",
                                         "const",  "unsigned", "enum",    "volatile", "class",
                                         "struct", "union",    "typedef", NULL};
static const char *const inline_words[] = {"static",   "inline",    "__inline__",
                                           "__inline", "constexpr", NULL};
static const char *const class_words[] = {"struct", "class", "union", NULL};
static const char *const name_list_words[] = {"enum", "typedef", NULL};

static void add_name(struct parse *p, const struct token *t) {
    struct declaration_list *l = p->list;
    GROW(l->names, l->nnames + 1, l->names_capacity, 1 << 12);
    l->names[l->nnames++] = (struct declared_name){(size_t)(t->at - l->text), t->length};
    p->d.nnames++;
}

/* Handles a token within brackets. */
static void take_inner_token(struct parse *p, const struct token *t) {
    if (t->kind == TOKEN_PRAGMA || t->kind == TOKEN_END) p->required = true;
    if (t->kind != TOKEN_NAME) return;
    if (p->takes_all_names && !is_one_of(t, type_words)) add_name(p, t);
    if (p->skips_group && is_one_of(t, effects)) p->required = true;
}

/* Skips to the bracket that closes the one before. */
static void skip_group(struct parse *p) {
    for (int depth = 1; depth;) {
        struct token t = next_token(&p->r);
        take_inner_token(p, &t);
        if (t.kind == TOKEN_END) return;
        if (t.kind == TOKEN_PUNCTUATION && strchr("([{", *t.at)) depth++;
        if (t.kind == TOKEN_PUNCTUATION && strchr(")]}", *t.at)) depth--;
    }
}

/* Skips template parameters or arguments. If `<` was an operator, a semicolon follows. */
static void skip_angles(struct parse *p) {
    for (int depth = 1; depth;) {
        struct token t = next_token(&p->r);
        take_inner_token(p, &t);
        if (t.kind == TOKEN_END || is_punctuation(&t, ';')) {
            p->required = p->ended = true;
            return;
        }
        if (t.kind == TOKEN_PUNCTUATION && strchr("([{", *t.at)) skip_group(p);
        if (is_punctuation(&t, '<')) depth++;
        if (is_punctuation(&t, '>') && t.at[-1] != '-') depth--;
    }
}

/* Skips the name of an operator, up to its parameters. */
static void skip_operator(struct parse *p) {
    bool is_first = true; /* a call operator begins with parentheses */
    p->required = true;
    for (struct reader before = p->r;; before = p->r, is_first = false) {
        struct token t = next_token(&p->r);
        if (t.kind == TOKEN_END) return;
        if (!is_punctuation(&t, '(') || is_first) continue;
        p->r = before;
        return;
    }
}

/* The number of template parameters decides: `template<>` specializes, `template` instantiates. */
static void take_template(struct parse *p) {
    struct reader ahead = p->r;
    struct token angle = next_token(&ahead), close = next_token(&ahead);
    if (!is_punctuation(&angle, '<')) p->required = true;
    else if (!is_punctuation(&close, '>')) p->may_be_unused = p->is_constant = true;
}

static void take_name(struct parse *p, const struct token *t) {
    if (is_one_of(t, words_with_group)) {
        p->skips_group = true;
        return;
    }
    if (p->takes_all_names && !is_one_of(t, type_words)) add_name(p, t);
    /* A name behind a class is a variable. */
    p->required |= p->is_class && p->has_body && !p->takes_all_names;
    if (p->has_parameters || p->has_value || p->has_base || p->has_body) return;
    if (token_is(t, "operator")) skip_operator(p);
    else if (token_is(t, "template")) take_template(p);
    else if (token_is(t, "using")) p->is_using = true;
    else if (token_is(t, "namespace")) p->required = true;
    else if (token_is(t, "extern")) p->has_extern = true;
    else if (is_one_of(t, class_words)) p->is_class = true;
    else if (is_one_of(t, name_list_words)) p->takes_all_names = true;
    else if (is_one_of(t, inline_words)) p->may_be_unused = true;
    if (token_is(t, "constexpr")) p->is_constant = true;
    if (!token_is(t, "final") && !token_is(t, "template")) p->name = *t;
}

/* Handles an open parenthesis outside of brackets. */
static void take_parentheses(struct parse *p) {
    bool is_parameters = !p->skips_group && !p->has_value && !p->has_parameters;
    struct reader ahead = p->r;
    struct token first = next_token(&ahead);
    bool may_be_pointer = is_parameters && !p->takes_all_names;
    if (may_be_pointer && first.kind == TOKEN_PUNCTUATION && strchr("*&^(", *first.at))
        p->required = true; /* a pointer to a function */
    if (is_parameters) p->has_parameters = true;
    skip_group(p);
    p->skips_group = false;
    ahead = p->r;
    first = next_token(&ahead);
    if (may_be_pointer && is_punctuation(&first, '(')) p->required = true;
}

static bool is_double_colon(const struct token *t) { return t->at[-1] == ':' || t->at[1] == ':'; }

static void take_punctuation(struct parse *p, const struct token *t) {
    bool is_open = !p->has_parameters && !p->has_value;
    switch (*t->at) {
    case ';': p->ended = true; break;
    case '(': take_parentheses(p); break;
    case '[': skip_group(p); break;
    case '{':
        p->has_body = true;
        skip_group(p);
        p->ended |= p->has_parameters && !p->has_value;
        break;
    case '<':
        if (is_open && p->before.kind == TOKEN_NAME) skip_angles(p);
        break;
    case '=': p->has_value = true; break;
    case ',': p->required |= is_open && !p->is_class && !p->takes_all_names; break;
    case ':':
        if (is_double_colon(t)) break;
        p->has_base = true;
        p->required |= p->has_parameters;
        break;
    case '}': p->required = p->ended = true; break;
    }
}

/* Returns true if the declaration has no effect unless one of its names is used. */
static bool is_removable(const struct parse *p) {
    if (p->required) return false;
    if (p->has_parameters && p->has_body && !p->may_be_unused) return false;
    if (p->takes_all_names) return true;
    if (p->name.kind != TOKEN_NAME || is_one_of(&p->name, type_words)) return false;
    if (p->has_parameters) return !p->is_using;
    if (p->is_class || p->is_using) return true;
    return p->is_constant || (p->has_extern && !p->has_value && !p->has_body);
}

static void parse_declaration(struct declaration_list *list, struct reader *r) {
    struct parse p = {.r = *r, .list = list};
    struct token t = next_token(&p.r);
    p.d.begin = (size_t)(t.at - list->text), p.d.first = list->nnames;
    for (; !p.ended; t = p.ended ? t : next_token(&p.r)) {
        if (t.kind == TOKEN_END) p.required = p.ended = true;
        else if (t.kind == TOKEN_PRAGMA) p.required = true;
        else if (t.kind == TOKEN_NAME) take_name(&p, &t);
        else if (t.kind == TOKEN_PUNCTUATION) take_punctuation(&p, &t);
        if (t.kind != TOKEN_MARKER) p.before = t;
    }
    p.d.end = (size_t)(p.r.at - list->text);
    *r = p.r;
    if (!is_removable(&p)) {
        list->nnames = p.d.first;
        return;
    }
    if (!p.takes_all_names) add_name(&p, &p.name);
    GROW(list->at, list->n + 1, list->capacity, 1 << 12);
    list->at[list->n++] = p.d;
}

/* ---- scopes ---- */

/* Returns true, and advances to the text within, at a namespace or a block of extern "C". */
static bool enter_scope(struct reader *r) {
    struct reader at = *r;
    struct token t = next_token(&at);
    if (token_is(&t, "inline")) t = next_token(&at);
    bool is_linkage = token_is(&t, "extern");
    if (!is_linkage && !token_is(&t, "namespace")) return false;
    for (t = next_token(&at); t.kind != TOKEN_END && !is_punctuation(&t, '{'); t = next_token(&at))
        if (is_linkage ? t.kind != TOKEN_LITERAL
                       : is_punctuation(&t, ';') || is_punctuation(&t, '='))
            return false;
    *r = at;
    return true;
}

void declarations_split(struct declaration_list *list, const char *text, size_t size) {
    struct reader r = {text, text, text + size};
    *list = (struct declaration_list){.text = text};
    for (;;) {
        struct reader ahead = r;
        struct token t = next_token(&ahead);
        if (t.kind == TOKEN_END) return;
        bool is_between = t.kind == TOKEN_MARKER || t.kind == TOKEN_PRAGMA ||
                          is_punctuation(&t, '}') || is_punctuation(&t, ';');
        if (is_between) r = ahead;
        else if (!enter_scope(&r)) parse_declaration(list, &r);
    }
}

void declarations_free(struct declaration_list *list) {
    free(list->at);
    free(list->names);
    *list = (struct declaration_list){.n = 0};
}

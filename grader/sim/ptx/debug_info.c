/* debug_info.c — source locations: .file, .loc, and the names in .section .debug_str.
 *
 * `.loc F L C, function_name LABEL, inlined_at F L C` names its caller by location only: the caller
 * is the last .loc of that location in the function, which may be inlined itself. A table from
 * location to the last .loc finds it. Labels and file numbers refer to the end of the text, so they
 * are resolved last. */
#include "grader/sim/ptx/parse.h"

#include <string.h>

/* Deeper inlining is recorded as if the function were inlined directly into the outermost one. That
 * keeps walks along `inlined_at` short even if a text names itself as its caller over and over. */
enum { MAX_FILES = 1 << 16, MAX_INLINE_DEPTH = 100 };

struct source_position {
    uint32_t file, line, column;
};

struct loc_slot {
    struct source_position position;
    uint32_t function_number; /* 0 = empty; else the function whose .loc it is */
    uint32_t loc;
};

/* A loc's data until the end of the text. */
struct loc_pending {
    struct identifier *label;
    uint64_t addend;
    unsigned inline_depth;  /* number of callers */
    uint32_t outermost_loc; /* valid if inline_depth > 0 */
};

void ptx_skip_pragma(struct ptx_parser *p) {
    ptx_next(p);
    do
        if (p->tok.kind != TOKEN_STRING) ptx_fail_expected(p, "a string after .pragma");
        else ptx_next(p);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after .pragma");
}

/* Skips balanced parentheses, from '(' on. */
void ptx_skip_parentheses(struct ptx_parser *p) {
    unsigned depth = 0;
    do {
        if (p->tok.kind == TOKEN_END || (!depth && p->tok.kind != '('))
            ptx_fail_expected(p, "'(' and ')'");
        depth += p->tok.kind == '(';
        depth -= p->tok.kind == ')';
        ptx_next(p);
    } while (depth);
}

void ptx_parse_file_directive(struct ptx_parser *p) {
    ptx_next(p);
    uint64_t number = ptx_expect_uint(p, "a file's number", MAX_FILES);
    if (p->tok.kind != TOKEN_STRING) ptx_fail_expected(p, "the file's path in quotes");
    while (p->files.n <= number) vec_push(p, &p->files, const char *);
    ((const char **)p->files.data)[number] = ptx_intern(p, p->tok.s, p->tok.n)->s;
    ptx_next(p);
    while (ptx_accept(p, ',')) ptx_expect_uint(p, "a time stamp or a size", UINT64_MAX);
}

static struct source_position parse_position(struct ptx_parser *p) {
    struct source_position place;
    place.file = (uint32_t)ptx_expect_uint(p, "a file's number", MAX_FILES);
    place.line = (uint32_t)ptx_expect_uint(p, "a line", UINT32_MAX);
    place.column = (uint32_t)ptx_expect_uint(p, "a column", UINT32_MAX);
    return place;
}

static struct loc_slot *find_slot(struct loc_slot *table, size_t capacity,
                                  struct source_position at) {
    uint64_t h =
        ((uint64_t)at.file << 48 ^ (uint64_t)at.line << 16 ^ at.column) * 0x9e3779b97f4a7c15u;
    for (size_t i = h >> 32;; i++) {
        struct loc_slot *s = &table[i & (capacity - 1)];
        if (!s->function_number || !memcmp(&s->position, &at, sizeof at)) return s;
    }
}

static void grow_table(struct ptx_parser *p) {
    size_t capacity = p->location_capacity ? p->location_capacity * 4 : 1024;
    struct loc_slot *table = ptx_alloc(p, &p->scratch, capacity * sizeof *table);
    for (size_t i = 0; i < p->location_capacity; i++)
        if (p->location_table[i].function_number)
            *find_slot(table, capacity, p->location_table[i].position) = p->location_table[i];
    p->location_table = table;
    p->location_capacity = capacity;
}

static uint32_t add_loc(struct ptx_parser *p, struct ptx_loc loc, struct loc_pending extra) {
    if (p->location_count * 2 >= p->location_capacity) grow_table(p);
    struct source_position at = {loc.file, loc.line, loc.column};
    struct loc_slot *slot = find_slot(p->location_table, p->location_capacity, at);
    if (slot->function_number) {
        const struct ptx_loc *old = (struct ptx_loc *)p->locations.data + slot->loc;
        const struct loc_pending *more =
            (struct loc_pending *)p->pending_locations.data + slot->loc;
        if (old->inlined_at == loc.inlined_at && more->label == extra.label &&
            more->addend == extra.addend) {
            slot->function_number = p->function_number;
            return slot->loc;
        }
    } else {
        p->location_count++;
    }
    *slot = (struct loc_slot){at, p->function_number, (uint32_t)p->locations.n};
    *vec_push(p, &p->locations, struct ptx_loc) = loc;
    *vec_push(p, &p->pending_locations, struct loc_pending) = extra;
    return slot->loc;
}

/* Finds the last .loc of that location in this function, or adds one. */
static uint32_t find_caller(struct ptx_parser *p, struct source_position at) {
    struct loc_slot *slot =
        p->location_capacity ? find_slot(p->location_table, p->location_capacity, at) : NULL;
    if (slot && slot->function_number == p->function_number) return slot->loc;
    return add_loc(p, (struct ptx_loc){at.file, at.line, at.column, 0, NULL},
                   (struct loc_pending){.label = NULL});
}

static void parse_inlined_at(struct ptx_parser *p, struct ptx_loc *loc, struct loc_pending *extra) {
    extra->label = ptx_expect_name(p, "the label of a function's name");
    if (ptx_accept(p, '+')) extra->addend = ptx_expect_uint(p, "an offset", UINT64_MAX);
    ptx_expect(p, ',', "',' before inlined_at");
    if (!ptx_accept_word(p, "inlined_at")) ptx_fail_expected(p, "inlined_at");
    uint32_t caller = find_caller(p, parse_position(p));
    const struct loc_pending *outer = (struct loc_pending *)p->pending_locations.data + caller;
    extra->outermost_loc = outer->inline_depth ? outer->outermost_loc : caller;
    extra->inline_depth = outer->inline_depth >= MAX_INLINE_DEPTH ? 1 : outer->inline_depth + 1;
    loc->inlined_at = extra->inline_depth == 1 ? extra->outermost_loc : caller;
}

void ptx_parse_loc_directive(struct ptx_parser *p) {
    ptx_next(p);
    struct source_position at = parse_position(p);
    struct ptx_loc loc = {at.file, at.line, at.column, 0, NULL};
    struct loc_pending extra = {.label = NULL};
    if (ptx_accept(p, ',')) {
        if (!ptx_accept_word(p, "function_name")) ptx_fail_expected(p, "function_name");
        parse_inlined_at(p, &loc, &extra);
    }
    p->current_location = add_loc(p, loc, extra);
}

static void parse_bytes(struct ptx_parser *p) {
    do *vec_push(p, &p->debug_bytes, char) = (char)ptx_expect_int(p, "a byte");
    while (ptx_accept(p, ','));
}

/* Parses labels and bytes; skips the rest of the section. */
static void parse_debug_str(struct ptx_parser *p) {
    while (p->tok.kind != '}') {
        if (p->tok.kind == TOKEN_END) ptx_fail_expected(p, "'}' at the end of the section");
        if (ptx_accept_word(p, ".b8")) {
            parse_bytes(p);
        } else if (p->tok.kind == TOKEN_IDENT) {
            struct identifier *label = ptx_expect_name(p, "a label");
            ptx_expect(p, ':', "':' after the label");
            label->debug_offset = p->debug_bytes.n + 1;
        } else {
            ptx_next(p);
        }
    }
}

static void skip_section(struct ptx_parser *p) {
    uint32_t line = p->last_line;
    for (unsigned depth = 1;; ptx_next(p)) {
        if (p->tok.kind == TOKEN_END)
            ptx_fail(p, line, ERR_INPUT, "this section is never closed: expected '}'");
        depth += p->tok.kind == '{';
        depth -= p->tok.kind == '}';
        if (!depth) return;
    }
}

void ptx_parse_section_directive(struct ptx_parser *p) {
    ptx_next(p);
    if (p->tok.kind != TOKEN_DIRECTIVE) ptx_fail_expected(p, "the section's name");
    bool strings = ptx_at_word(p, ".debug_str");
    ptx_next(p);
    ptx_expect(p, '{', "'{' after the section's name");
    if (strings) parse_debug_str(p);
    else skip_section(p);
    ptx_expect(p, '}', "'}' at the end of the section");
}

void ptx_debug_info_finish(struct ptx_parser *p) {
    struct ptx_module *m = p->module;
    if (!p->files.n) vec_push(p, &p->files, const char *);
    m->nfiles = (unsigned)p->files.n;
    m->files = vec_to_arena(p, &p->files, const char *);
    m->nlocs = (unsigned)p->locations.n;
    m->locs = vec_to_arena(p, &p->locations, struct ptx_loc);
    *vec_push(p, &p->debug_bytes, char) = 0;
    size_t bytes = p->debug_bytes.n;
    const char *strings = vec_to_arena(p, &p->debug_bytes, char);
    const struct loc_pending *extra = p->pending_locations.data;
    for (unsigned i = 0; i < m->nlocs; i++) {
        uint64_t label = extra[i].label ? extra[i].label->debug_offset : 0;
        if (m->locs[i].file >= m->nfiles) m->locs[i].file = 0;
        if (label && extra[i].addend < bytes - (label - 1))
            m->locs[i].function = strings + label - 1 + extra[i].addend;
    }
}

void ptx_debug_info_init(struct ptx_parser *p) {
    vec_push(p, &p->locations, struct ptx_loc);
    vec_push(p, &p->pending_locations, struct loc_pending);
    p->function_number = 1;
}

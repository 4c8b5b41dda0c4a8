/* debug.c — where instructions came from: .file, .loc, and the names in .section .debug_str.
 *
 * `.loc F L C, function_name LABEL, inlined_at F L C` names its caller by place only; the caller is
 * the last .loc of that place in the function, which itself may be inlined. A table from place to
 * the last .loc finds it. Labels and file numbers refer to what stands at the end of the text, so
 * they are resolved last. */
#include "grader/sim/ptx/parse.h"

#include <string.h>

/* Deeper inlining is told as if the function were inlined straight into the outermost one; that
 * keeps walks along `inlined_at` short where a text names itself as its caller over and over. */
enum { MAX_FILES = 1 << 16, MAX_INLINING = 100 };

struct place {
    uint32_t file, line, column;
};

struct loc_slot {
    struct place place;
    uint32_t function_number; /* 0 = empty; else the function whose .loc it is */
    uint32_t loc;
};

/* What a loc carries until the end of the text. */
struct loc_extra {
    struct name *label;
    uint64_t addend;
    unsigned inlining;  /* how many callers there are */
    uint32_t outermost; /* where inlining > 0 */
};

void ptx_skip_pragma(struct parser *p) {
    ptx_next(p);
    do
        if (p->tok.kind != TOKEN_STRING) ptx_fail_expected(p, "a string after .pragma");
        else ptx_next(p);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after .pragma");
}

/* Balanced, from '(' on. */
void ptx_skip_parentheses(struct parser *p) {
    unsigned open = 0;
    do {
        if (p->tok.kind == TOKEN_END || (!open && p->tok.kind != '('))
            ptx_fail_expected(p, "'(' and ')'");
        open += p->tok.kind == '(';
        open -= p->tok.kind == ')';
        ptx_next(p);
    } while (open);
}

void ptx_parse_file(struct parser *p) {
    ptx_next(p);
    uint64_t number = ptx_expect_uint(p, "a file's number", MAX_FILES);
    if (p->tok.kind != TOKEN_STRING) ptx_fail_expected(p, "the file's path in quotes");
    while (p->files.n <= number) push(p, &p->files, const char *);
    ((const char **)p->files.data)[number] = ptx_intern(p, p->tok.s, p->tok.n)->s;
    ptx_next(p);
    while (ptx_accept(p, ',')) ptx_expect_uint(p, "a time stamp or a size", UINT64_MAX);
}

static struct place parse_place(struct parser *p) {
    struct place place;
    place.file = (uint32_t)ptx_expect_uint(p, "a file's number", MAX_FILES);
    place.line = (uint32_t)ptx_expect_uint(p, "a line", UINT32_MAX);
    place.column = (uint32_t)ptx_expect_uint(p, "a column", UINT32_MAX);
    return place;
}

static struct loc_slot *slot_of(struct loc_slot *table, size_t room, struct place at) {
    uint64_t h =
        ((uint64_t)at.file << 48 ^ (uint64_t)at.line << 16 ^ at.column) * 0x9e3779b97f4a7c15u;
    for (size_t i = h >> 32;; i++) {
        struct loc_slot *s = &table[i & (room - 1)];
        if (!s->function_number || !memcmp(&s->place, &at, sizeof at)) return s;
    }
}

static void grow_table(struct parser *p) {
    size_t room = p->loc_room ? p->loc_room * 4 : 1024;
    struct loc_slot *table = ptx_get(p, &p->scratch, room * sizeof *table);
    for (size_t i = 0; i < p->loc_room; i++)
        if (p->loc_table[i].function_number)
            *slot_of(table, room, p->loc_table[i].place) = p->loc_table[i];
    p->loc_table = table;
    p->loc_room = room;
}

static uint32_t add_loc(struct parser *p, struct ptx_loc loc, struct loc_extra extra) {
    if (p->loc_used * 2 >= p->loc_room) grow_table(p);
    struct place at = {loc.file, loc.line, loc.column};
    struct loc_slot *slot = slot_of(p->loc_table, p->loc_room, at);
    if (slot->function_number) {
        const struct ptx_loc *old = (struct ptx_loc *)p->locs.data + slot->loc;
        const struct loc_extra *more = (struct loc_extra *)p->loc_extra.data + slot->loc;
        if (old->inlined_at == loc.inlined_at && more->label == extra.label &&
            more->addend == extra.addend) {
            slot->function_number = p->function_number;
            return slot->loc;
        }
    } else {
        p->loc_used++;
    }
    *slot = (struct loc_slot){at, p->function_number, (uint32_t)p->locs.n};
    *push(p, &p->locs, struct ptx_loc) = loc;
    *push(p, &p->loc_extra, struct loc_extra) = extra;
    return slot->loc;
}

/* The last .loc of that place in this function; a new one where there is none. */
static uint32_t find_caller(struct parser *p, struct place at) {
    struct loc_slot *slot = p->loc_room ? slot_of(p->loc_table, p->loc_room, at) : NULL;
    if (slot && slot->function_number == p->function_number) return slot->loc;
    return add_loc(p, (struct ptx_loc){at.file, at.line, at.column, 0, NULL},
                   (struct loc_extra){.label = NULL});
}

static void parse_inlining(struct parser *p, struct ptx_loc *loc, struct loc_extra *extra) {
    extra->label = ptx_expect_name(p, "the label of a function's name");
    if (ptx_accept(p, '+')) extra->addend = ptx_expect_uint(p, "an offset", UINT64_MAX);
    ptx_expect(p, ',', "',' before inlined_at");
    if (!ptx_accept_word(p, "inlined_at")) ptx_fail_expected(p, "inlined_at");
    uint32_t caller = find_caller(p, parse_place(p));
    const struct loc_extra *outer = (struct loc_extra *)p->loc_extra.data + caller;
    extra->outermost = outer->inlining ? outer->outermost : caller;
    extra->inlining = outer->inlining >= MAX_INLINING ? 1 : outer->inlining + 1;
    loc->inlined_at = extra->inlining == 1 ? extra->outermost : caller;
}

void ptx_parse_loc(struct parser *p) {
    ptx_next(p);
    struct place at = parse_place(p);
    struct ptx_loc loc = {at.file, at.line, at.column, 0, NULL};
    struct loc_extra extra = {.label = NULL};
    if (ptx_accept(p, ',')) {
        if (!ptx_accept_word(p, "function_name")) ptx_fail_expected(p, "function_name");
        parse_inlining(p, &loc, &extra);
    }
    p->loc = add_loc(p, loc, extra);
}

static void parse_bytes(struct parser *p) {
    do *push(p, &p->debug_bytes, char) = (char)ptx_accept_int(p, "a byte");
    while (ptx_accept(p, ','));
}

/* Labels and bytes; what else the section holds is of no interest. */
static void parse_debug_str(struct parser *p) {
    while (p->tok.kind != '}') {
        if (p->tok.kind == TOKEN_END) ptx_fail_expected(p, "'}' at the end of the section");
        if (ptx_accept_word(p, ".b8")) {
            parse_bytes(p);
        } else if (p->tok.kind == TOKEN_IDENT) {
            struct name *label = ptx_expect_name(p, "a label");
            ptx_expect(p, ':', "':' after the label");
            label->debug_offset = p->debug_bytes.n + 1;
        } else {
            ptx_next(p);
        }
    }
}

static void skip_section(struct parser *p) {
    uint32_t line = p->last_line;
    for (unsigned open = 1;; ptx_next(p)) {
        if (p->tok.kind == TOKEN_END)
            ptx_fail(p, line, ERR_INPUT, "this section is never closed: expected '}'");
        open += p->tok.kind == '{';
        open -= p->tok.kind == '}';
        if (!open) return;
    }
}

void ptx_parse_section(struct parser *p) {
    ptx_next(p);
    if (p->tok.kind != TOKEN_DIRECTIVE) ptx_fail_expected(p, "the section's name");
    bool strings = ptx_at_word(p, ".debug_str");
    ptx_next(p);
    ptx_expect(p, '{', "'{' after the section's name");
    if (strings) parse_debug_str(p);
    else skip_section(p);
    ptx_expect(p, '}', "'}' at the end of the section");
}

void ptx_finish_debug(struct parser *p) {
    struct ptx_module *m = p->module;
    if (!p->files.n) push(p, &p->files, const char *);
    m->nfiles = (unsigned)p->files.n;
    m->files = keep(p, &p->files, const char *);
    m->nlocs = (unsigned)p->locs.n;
    m->locs = keep(p, &p->locs, struct ptx_loc);
    *push(p, &p->debug_bytes, char) = 0;
    size_t bytes = p->debug_bytes.n;
    const char *strings = keep(p, &p->debug_bytes, char);
    const struct loc_extra *extra = p->loc_extra.data;
    for (unsigned i = 0; i < m->nlocs; i++) {
        uint64_t label = extra[i].label ? extra[i].label->debug_offset : 0;
        if (m->locs[i].file >= m->nfiles) m->locs[i].file = 0;
        if (label && extra[i].addend < bytes - (label - 1))
            m->locs[i].function = strings + label - 1 + extra[i].addend;
    }
}

void ptx_start_debug(struct parser *p) {
    push(p, &p->locs, struct ptx_loc);
    push(p, &p->loc_extra, struct loc_extra);
    p->function_number = 1;
}

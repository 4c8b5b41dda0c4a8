/* parse.c — a disassembler's listing to records: see sass.h. The text follows from what a
 * submission chose to write, names included: lines are told by their fixed beginnings, every name
 * is a digest, and nothing is kept but numbers in bounds. */
#include "common/grow.h"
#include "grader/sim/sass/sass.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t unit, space, verb;
} opcodes[] = {

#define VERB_NONE                       SASS_NOTHING
#define VERB_LOAD                       SASS_LOAD
#define VERB_STORE                      SASS_STORE
#define VERB_ATOMIC                     SASS_ATOMIC
#define OPCODE(name, unit, space, verb) {name, SASS_##unit, SASS_##space, VERB_##verb},
#include "grader/sim/sass/opcodes.def"
#undef OPCODE
};

struct label {
    uint64_t name; /* digest */
    uint32_t at;
};

struct parser {
    struct sass_insn *code;
    uint64_t *wanted; /* [capacity of code]: the label that an instruction jumps to, 0 = none */
    struct label *labels;
    uint32_t n, capacity, nlabels, label_capacity, line;
    uint8_t next;               /* flags of the instruction that follows */
    bool in_code, own, encoded; /* encoded: the last instruction has its second word */
};

/* A line, without its end. */
struct text {
    const char *at;
    size_t n;
};

static bool begins(struct text t, const char *with) {
    size_t n = strlen(with);
    return t.n >= n && memcmp(t.at, with, n) == 0;
}

static struct text skip(struct text t, size_t n) {
    return n < t.n ? (struct text){t.at + n, t.n - n} : (struct text){t.at + t.n, 0};
}

static struct text skip_blank(struct text t) {
    while (t.n && (*t.at == ' ' || *t.at == '\t')) t = skip(t, 1);
    return t;
}

static struct text word(struct text t, const char *ends) {
    size_t n = 0;
    while (n < t.n && !strchr(ends, t.at[n])) n++;
    return (struct text){t.at, n};
}

static struct text find(struct text t, const char *what) {
    const char *at = t.n ? memmem(t.at, t.n, what, strlen(what)) : NULL;
    return at ? skip(t, (size_t)(at - t.at)) : (struct text){t.at + t.n, 0};
}

/* FNV-1a; 0 stands for none. */
static uint64_t digest(struct text t) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < t.n; i++) h = (h ^ (unsigned char)t.at[i]) * 0x100000001b3ull;
    return h ? h : 1;
}

static bool number(struct text t, unsigned base, uint64_t most, uint64_t *out) {
    uint64_t v = 0;
    size_t i = 0;
    for (; i < t.n; i++) {
        char c = t.at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base) break;
        if (v > (most - digit) / base) return false;
        v = v * base + digit;
    }
    *out = v;
    return i > 0;
}

/* ---- what surrounds instructions ---- */

static void take_line(struct parser *p, struct text t) {
    uint64_t v = 0;
    bool ptx = begins(t, "//## File \".nv_debug_ptx_txt\"");
    struct text at = find(t, "\", line ");
    p->line = ptx && at.n && number(skip(at, 8), 10, UINT32_MAX - 1, &v) ? (uint32_t)v : 0;
}

static void take_label(struct parser *p, struct text t) {
    struct text name = {t.at, t.n - 1};
    if (begins(name, ".text.")) return;
    GROW(p->labels, p->nlabels + 1, p->label_capacity, 256);
    p->labels[p->nlabels++] = (struct label){digest(name), p->n};
    p->next |= SASS_STARTS;
    if (begins(name, ".L_")) return;
    p->next |= SASS_FUNCTION;
    p->own = begins(name, "$__internal");
    p->line = 0;
}

/* ---- an instruction ---- */

static void set_opcode(struct sass_insn *s, struct text name) {
    struct text base = word(name, ".");
    s->unit = base.n && *base.at == 'U' ? SASS_UNIFORM : SASS_ALU;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (strlen(opcodes[i].name) == base.n && memcmp(opcodes[i].name, base.at, base.n) == 0)
            s->unit = opcodes[i].unit, s->space = opcodes[i].space, s->verb = opcodes[i].verb;
}

static uint32_t width_of(struct text name) {
    return find(name, ".128").n ? 16 : find(name, ".64").n ? 8 : 4;
}

/* Where a frame's access ends: "[R1]" or "[R1+0x18]". */
static uint32_t frame_end(struct text operands, struct text name) {
    struct text at = find(operands, "[R1");
    uint64_t offset = 0;
    if (!at.n) return 0;
    at = skip(at, 3);
    if (begins(at, "+0x") && !number(skip(at, 3), 16, 1 << 24, &offset)) return 0;
    if (!begins(at, "+0x") && !begins(at, "]")) return 0;
    return (uint32_t)offset + width_of(name);
}

static bool is(struct text name, const char *what) {
    return strlen(what) == name.n && begins(name, what);
}

static void set_flow(struct parser *p, struct sass_insn *s, struct text name,
                     struct text operands) {
    struct text base = word(name, "."), label = find(operands, "`(");
    bool guarded = s->flags & SASS_GUARDED, jumps = is(base, "BRA") || is(base, "JMP"),
         calls = is(base, "CALL");
    if (jumps && label.n)
        p->wanted[p->n] = digest(word(skip(label, 2), ")")), s->flags |= SASS_JUMPS;
    if (!guarded &&
        (jumps || is(base, "EXIT") || is(base, "RET") || is(base, "BRX") || is(base, "JMX")))
        s->flags |= SASS_ENDS;
    /* A condition may stand among the operands, too. */
    if (jumps && *operands.at != '`') s->flags &= (uint8_t)~SASS_ENDS;
    if (calls && begins(skip(label, 2), "$__internal")) s->flags |= SASS_RARE;
    if (jumps || calls || s->flags & SASS_ENDS) p->next |= SASS_STARTS;
}

/* "@!P0 LDG.E R4, [R4.64] ;" and what comes after the address; the encoding's first word follows on
 * the line. */
static bool take_instruction(struct parser *p, struct text t, struct err *e) {
    struct sass_insn s = {
        .line = p->line, .target = SASS_NOWHERE, .write = SASS_NO_BARRIER, .read = SASS_NO_BARRIER};
    if (p->n == SASS_MOST)
        return err_set(e, ERR_LIMIT, "more than %d machine instructions", SASS_MOST);
    uint32_t before = p->capacity;
    GROW(p->code, p->n + 1, p->capacity, 256);
    if (p->capacity != before) p->wanted = xrealloc(p->wanted, p->capacity * sizeof *p->wanted);
    p->wanted[p->n] = 0;
    s.flags = p->next | (p->own ? SASS_OWN : 0);
    p->next = 0;
    t = word(skip_blank(t), ";");
    if (t.n && *t.at == '@') s.flags |= SASS_GUARDED, t = skip_blank(skip(t, word(t, " ").n));
    struct text name = word(t, " ");
    if (!name.n) return err_set(e, ERR_INPUT, "an instruction without a name");
    struct text operands = skip_blank(skip(t, name.n));
    set_opcode(&s, name);
    if (s.space == SASS_LOCAL) s.frame = frame_end(operands, name);
    set_flow(p, &s, name, operands.n ? operands : (struct text){"`", 1});
    p->code[p->n++] = s;
    p->encoded = false;
    return true;
}

/* The second word of the encoding stands on a line of its own. */
static void take_encoding(struct parser *p, struct text t) {
    uint64_t word;
    if (!p->n || p->encoded || !number(skip(t, 2), 16, UINT64_MAX, &word)) return;
    struct sass_insn *s = &p->code[p->n - 1];
    uint64_t control = word >> 41;
    s->stall = control & 15, s->write = control >> 5 & 7, s->read = control >> 8 & 7,
    s->wait = control >> 11 & 63;
    if (s->write == 6) s->write = SASS_NO_BARRIER;
    if (s->read == 6) s->read = SASS_NO_BARRIER;
    p->encoded = true;
}

/* ---- the listing ---- */

static bool take(struct parser *p, struct text t, struct err *e) {
    struct text inner = skip_blank(t);
    if (begins(inner, ".section")) {
        p->in_code = begins(skip_blank(skip(inner, 8)), ".text.");
        p->next |= SASS_STARTS, p->line = 0, p->own = false;
    } else if (!p->in_code) return true;
    else if (begins(inner, "//##")) take_line(p, inner);
    else if (inner.at == t.at && t.n > 1 && t.at[t.n - 1] == ':') take_label(p, t);
    else if (begins(inner, "/* 0x")) take_encoding(p, skip(inner, 3));
    else if (begins(inner, "/*")) return take_instruction(p, skip(find(inner, "*/"), 2), e);
    return true;
}

static int by_name(const void *a, const void *b) {
    const struct label *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void resolve(struct parser *p) {
    if (p->nlabels) qsort(p->labels, p->nlabels, sizeof *p->labels, by_name);
    for (uint32_t i = 0; i < p->n; i++) {
        struct label key = {p->wanted[i], 0};
        const struct label *found = key.name && p->nlabels
                                        ? bsearch(&key, p->labels, p->nlabels, sizeof key, by_name)
                                        : NULL;
        if (found && found->at < p->n) p->code[i].target = found->at;
        else p->code[i].flags &= (uint8_t)~SASS_JUMPS;
    }
}

/* A jump to itself and what follows up to the next label: padding, which no warp reaches. */
static void drop_padding(struct parser *p) {
    uint32_t *to = xcalloc(p->n + 1, sizeof *to), k = 0;
    bool padding = false;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->code[i].flags & SASS_FUNCTION) padding = false;
        padding |= p->code[i].flags & SASS_JUMPS && p->code[i].target == i;
        to[i] = k;
        if (!padding) p->code[k++] = p->code[i];
    }
    for (uint32_t i = 0; i < k; i++) {
        uint32_t target = p->code[i].flags & SASS_JUMPS ? to[p->code[i].target] : SASS_NOWHERE;
        p->code[i].target = target < k ? target : SASS_NOWHERE;
        if (target >= k) p->code[i].flags &= (uint8_t)~SASS_JUMPS;
    }
    p->n = k;
    free(to);
}

bool sass_parse(const char *text, size_t size, struct sass_insn **out, uint32_t *n, struct err *e) {
    struct parser p = {0};
    bool ok = true;
    *out = NULL, *n = 0;
    for (struct text rest = {text, size}; ok && rest.n;) {
        struct text line = word(rest, "\n");
        ok = take(&p, line, e);
        rest = skip(rest, line.n + 1);
    }
    if (ok) resolve(&p), drop_padding(&p);
    ok = ok && (p.n || err_set(e, ERR_INPUT, "no machine code in the disassembler's listing"));
    if (ok) *out = p.code, *n = p.n;
    else free(p.code);
    free(p.wanted), free(p.labels);
    return ok;
}

bool sass_valid(const struct sass_insn *code, uint32_t n) {
    if (n > SASS_MOST) return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct sass_insn *s = &code[i];
        bool jumps = s->flags & SASS_JUMPS;
        if (s->unit >= SASS_UNITS || s->space >= SASS_SPACES || s->verb >= SASS_VERBS ||
            s->stall > 15 || s->wait > 63 || s->flags > 127 ||
            (s->write >= SASS_BARRIERS && s->write != SASS_NO_BARRIER) ||
            (s->read >= SASS_BARRIERS && s->read != SASS_NO_BARRIER) || jumps != (s->target < n))
            return false;
    }
    return true;
}

/* parse.c — parses a disassembler's listing into records: see sass.h. A submission influences the
 * text, including all names. So lines are recognized by fixed prefixes, names are hashed, and the
 * records hold only bounded numbers. */
#include "common/grow.h"
#include "grader/sim/sass/sass.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t unit, space, verb;
} opcodes[] = {

#define VERB_NONE                       SASS_NO_ACCESS
#define VERB_LOAD                       SASS_LOAD
#define VERB_STORE                      SASS_STORE
#define VERB_ATOMIC                     SASS_ATOMIC
#define OPCODE(name, unit, space, verb) {name, SASS_##unit, SASS_##space, VERB_##verb},
#include "grader/sim/sass/opcodes.def"
#undef OPCODE
};

struct label {
    uint64_t name_hash;
    uint32_t index;
};

struct ptx_parser {
    struct sass_insn *code;
    uint64_t *target_labels; /* [capacity]: hash of the label it jumps to; 0 = none */
    struct label *labels;
    uint32_t n, capacity, nlabels, label_capacity, line;
    uint8_t
        kept_registers[3]; /* by operand: 1 + the register that the last one's reuse flag keeps */
    uint8_t next_flags;    /* flags for the next instruction */
    bool in_code, in_internal, has_encoding; /* has_encoding: of the last instruction */
};

/* A line or a part of it, without its end. */
struct text_span {
    const char *at;
    size_t n;
};

static bool starts_with(struct text_span t, const char *prefix) {
    size_t n = strlen(prefix);
    return t.n >= n && memcmp(t.at, prefix, n) == 0;
}

static struct text_span skip(struct text_span t, size_t n) {
    return n < t.n ? (struct text_span){t.at + n, t.n - n} : (struct text_span){t.at + t.n, 0};
}

static struct text_span skip_blank(struct text_span t) {
    while (t.n && (*t.at == ' ' || *t.at == '\t')) t = skip(t, 1);
    return t;
}

static struct text_span prefix_until(struct text_span t, const char *delimiters) {
    size_t n = 0;
    while (n < t.n && !strchr(delimiters, t.at[n])) n++;
    return (struct text_span){t.at, n};
}

static struct text_span skip_to_text(struct text_span t, const char *needle) {
    const char *at = t.n ? memmem(t.at, t.n, needle, strlen(needle)) : NULL;
    return at ? skip(t, (size_t)(at - t.at)) : (struct text_span){t.at + t.n, 0};
}

/* Returns the FNV-1a hash of a name; 0 is reserved for none. */
static uint64_t hash_name(struct text_span t) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < t.n; i++) h = (h ^ (unsigned char)t.at[i]) * 0x100000001b3ull;
    return h ? h : 1;
}

static bool parse_number(struct text_span t, unsigned base, uint64_t max_value, uint64_t *out) {
    uint64_t v = 0;
    size_t i = 0;
    for (; i < t.n; i++) {
        char c = t.at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base) break;
        if (v > (max_value - digit) / base) return false;
        v = v * base + digit;
    }
    *out = v;
    return i > 0;
}

/* ---- lines between instructions ---- */

static void parse_line_info(struct ptx_parser *p, struct text_span t) {
    uint64_t v = 0;
    bool ptx = starts_with(t, "//## File \".nv_debug_ptx_txt\"");
    struct text_span at = skip_to_text(t, "\", line ");
    p->line = ptx && at.n && parse_number(skip(at, 8), 10, UINT32_MAX - 1, &v) ? (uint32_t)v : 0;
}

static void parse_label(struct ptx_parser *p, struct text_span t) {
    struct text_span name = {t.at, t.n - 1};
    if (starts_with(name, ".text.")) return;
    GROW(p->labels, p->nlabels + 1, p->label_capacity, 256);
    p->labels[p->nlabels++] = (struct label){hash_name(name), p->n};
    p->next_flags |= SASS_BLOCK_START;
    if (starts_with(name, ".L_")) return;
    p->next_flags |= SASS_FUNCTION_START;
    p->in_internal = starts_with(name, "$__internal");
    p->line = 0;
}

/* ---- an instruction ---- */

static void set_opcode(struct sass_insn *s, struct text_span name) {
    struct text_span base = prefix_until(name, ".");
    s->unit = base.n && *base.at == 'U' ? SASS_UNIFORM : SASS_ALU;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (strlen(opcodes[i].name) == base.n && memcmp(opcodes[i].name, base.at, base.n) == 0)
            s->unit = opcodes[i].unit, s->space = opcodes[i].space, s->verb = opcodes[i].verb;
}

static uint32_t width_of(struct text_span name) {
    return skip_to_text(name, ".128").n ? 16 : skip_to_text(name, ".64").n ? 8 : 4;
}

/* Returns the offset behind an access to the frame, "[R1]" or "[R1+0x18]"; 0 if it is none. */
static uint32_t local_frame_end(struct text_span operands, struct text_span name) {
    struct text_span at = skip_to_text(operands, "[R1");
    uint64_t offset = 0;
    if (!at.n) return 0;
    at = skip(at, 3);
    if (starts_with(at, "+0x") && !parse_number(skip(at, 3), 16, 1 << 24, &offset)) return 0;
    if (!starts_with(at, "+0x") && !starts_with(at, "]")) return 0;
    return (uint32_t)offset + width_of(name);
}

static bool equals(struct text_span name, const char *expected) {
    return strlen(expected) == name.n && starts_with(name, expected);
}

static enum sass_flow flow_of(struct text_span base) {
    static const struct {
        const char *name;
        enum sass_flow flow;
    } flows[] = {{"EXIT", SASS_FLOW_EXIT},         {"CALL", SASS_FLOW_CALL},
                 {"RET", SASS_FLOW_RETURN},        {"BSSY", SASS_FLOW_SPLIT},
                 {"BSYNC", SASS_FLOW_JOIN},        {"BAR", SASS_FLOW_CONVERGE},
                 {"WARPSYNC", SASS_FLOW_CONVERGE}, {"SHFL", SASS_FLOW_CONVERGE}};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        if (equals(base, flows[i].name)) return flows[i].flow;
    return SASS_FLOW_NEXT;
}

/* Sets the barrier of BSSY and BSYNC, whose first operand it is: "B1". */
static void set_join(struct sass_insn *s, struct text_span operands) {
    uint64_t number = 0;
    if (s->flow != SASS_FLOW_SPLIT && s->flow != SASS_FLOW_JOIN) return;
    bool known = operands.n > 1 && *operands.at == 'B' &&
                 parse_number(skip(operands, 1), 10, SASS_JOIN_COUNT - 1, &number);
    if (known) s->join = (uint8_t)number;
    else s->flow = SASS_FLOW_NEXT;
}

static void set_control_flow(struct ptx_parser *p, struct sass_insn *s, struct text_span name,
                             struct text_span operands) {
    struct text_span base = prefix_until(name, "."), label = skip_to_text(operands, "`(");
    bool guarded = s->flags & SASS_GUARDED, jumps = equals(base, "BRA") || equals(base, "JMP"),
         calls = equals(base, "CALL");
    bool internal = calls && starts_with(skip(label, 2), "$__internal");
    s->flow = (uint8_t)flow_of(base);
    set_join(s, operands);
    if (calls && label.n && !internal)
        p->target_labels[p->n] = hash_name(prefix_until(skip(label, 2), ")"));
    if (jumps && label.n)
        p->target_labels[p->n] = hash_name(prefix_until(skip(label, 2), ")")),
        s->flags |= SASS_BRANCH;
    if (!guarded && (jumps || equals(base, "EXIT") || equals(base, "RET") || equals(base, "BRX") ||
                     equals(base, "JMX")))
        s->flags |= SASS_NO_FALLTHROUGH;
    /* The condition may also be an operand. */
    if (jumps && *operands.at != '`') s->flags &= (uint8_t)~SASS_NO_FALLTHROUGH;
    if (internal) s->flags |= SASS_CALLS_INTERNAL;
    if (s->flow == SASS_FLOW_CONVERGE) s->flags |= SASS_BLOCK_START;
    if (jumps || calls || s->flags & SASS_NO_FALLTHROUGH || s->flow == SASS_FLOW_EXIT ||
        s->flow == SASS_FLOW_JOIN)
        p->next_flags |= SASS_BLOCK_START;
}

/* Returns 1 + the number of a register operand such as "-R12.reuse" or "|R3|"; 0 = another one. */
static uint8_t register_of(struct text_span t) {
    uint64_t number;
    while (t.n && strchr("-|~!", *t.at)) t = skip(t, 1);
    bool is_register = t.n > 1 && *t.at == 'R' && parse_number(skip(t, 1), 10, 254, &number);
    return is_register ? (uint8_t)(number + 1) : 0;
}

/* Sets the cycles by which reading the operands of arithmetic exceeds one. The register file gives
 * two registers a cycle, and the instruction before may have kept one by a reuse flag. H100: a
 * multiply-add of three registers takes two cycles of a scheduler (pieces-h100.tsv, skip-none-…).
 */
static void set_bank_conflicts(struct ptx_parser *p, struct sass_insn *s,
                               struct text_span operands) {
    uint8_t kept[3] = {0}, read[3] = {0};
    unsigned reads = 0;
    struct text_span at = skip_to_text(operands, ", ");
    for (unsigned i = 0; i < 3 && at.n; i++) {
        at = skip(at, 2);
        struct text_span operand = prefix_until(at, ",");
        uint8_t r = register_of(operand);
        if (r && skip_to_text(operand, ".reuse").n) kept[i] = r;
        bool is_read = r && r != p->kept_registers[i] && r != read[0] && r != read[1];
        if (is_read) read[i] = r, reads++;
        at = skip_to_text(at, ", ");
    }
    if (s->unit == SASS_FMA && reads > 2) s->bank_conflicts = 1;
    bool is_arithmetic = s->unit < SASS_LSU;
    if (is_arithmetic) memcpy(p->kept_registers, kept, sizeof kept);
}

/* Parses "@!P0 LDG.E R4, [R4.64] ;", which follows the address; the encoding's first word follows
 * on the same line. */
static bool parse_instruction(struct ptx_parser *p, struct text_span t, struct err *e) {
    struct sass_insn s = {.line = p->line,
                          .target = SASS_NO_TARGET,
                          .write_barrier = SASS_NO_BARRIER,
                          .read_barrier = SASS_NO_BARRIER};
    if (p->n == SASS_MAX_INSNS)
        return err_set(e, ERR_LIMIT, "more than %d machine instructions", SASS_MAX_INSNS);
    uint32_t old_capacity = p->capacity;
    GROW(p->code, p->n + 1, p->capacity, 256);
    if (p->capacity != old_capacity)
        p->target_labels = xrealloc(p->target_labels, p->capacity * sizeof *p->target_labels);
    p->target_labels[p->n] = 0;
    s.flags = p->next_flags | (p->in_internal ? SASS_INTERNAL : 0);
    p->next_flags = 0;
    t = prefix_until(skip_blank(t), ";");
    if (t.n && *t.at == '@')
        s.flags |= SASS_GUARDED, t = skip_blank(skip(t, prefix_until(t, " ").n));
    struct text_span name = prefix_until(t, " ");
    if (!name.n)
        return err_set(e, ERR_INPUT, "an instruction without a name in the disassembler's listing");
    struct text_span operands = skip_blank(skip(t, name.n));
    set_opcode(&s, name);
    if (s.space == SASS_LOCAL) s.local_frame_end = local_frame_end(operands, name);
    set_bank_conflicts(p, &s, operands);
    set_control_flow(p, &s, name, operands.n ? operands : (struct text_span){"`", 1});
    p->code[p->n++] = s;
    p->has_encoding = false;
    return true;
}

/* Parses the second word of the encoding, which has a line of its own. */
static void parse_encoding(struct ptx_parser *p, struct text_span t) {
    uint64_t word;
    if (!p->n || p->has_encoding || !parse_number(skip(t, 2), 16, UINT64_MAX, &word)) return;
    struct sass_insn *s = &p->code[p->n - 1];
    uint64_t control = word >> 41;
    s->stall_cycles = control & 15, s->write_barrier = control >> 5 & 7,
    s->read_barrier = control >> 8 & 7, s->wait_mask = control >> 11 & 63;
    if (s->write_barrier == 6) s->write_barrier = SASS_NO_BARRIER;
    if (s->read_barrier == 6) s->read_barrier = SASS_NO_BARRIER;
    p->has_encoding = true;
}

/* ---- the listing ---- */

static bool parse_line(struct ptx_parser *p, struct text_span t, struct err *e) {
    struct text_span inner = skip_blank(t);
    if (starts_with(inner, ".section")) {
        p->in_code = starts_with(skip_blank(skip(inner, 8)), ".text.");
        p->next_flags |= SASS_BLOCK_START, p->line = 0, p->in_internal = false;
    } else if (!p->in_code) return true;
    else if (starts_with(inner, "//##")) parse_line_info(p, inner);
    else if (inner.at == t.at && t.n > 1 && t.at[t.n - 1] == ':') parse_label(p, t);
    else if (starts_with(inner, "/* 0x")) parse_encoding(p, skip(inner, 3));
    else if (starts_with(inner, "/*"))
        return parse_instruction(p, skip(skip_to_text(inner, "*/"), 2), e);
    return true;
}

static int compare_labels(const void *a, const void *b) {
    const struct label *x = a, *y = b;
    return x->name_hash < y->name_hash ? -1 : x->name_hash > y->name_hash;
}

static void resolve_labels(struct ptx_parser *p) {
    if (p->nlabels) qsort(p->labels, p->nlabels, sizeof *p->labels, compare_labels);
    for (uint32_t i = 0; i < p->n; i++) {
        struct label key = {p->target_labels[i], 0};
        const struct label *found =
            key.name_hash && p->nlabels
                ? bsearch(&key, p->labels, p->nlabels, sizeof key, compare_labels)
                : NULL;
        if (found && found->index < p->n) p->code[i].target = found->index;
        else p->code[i].flags &= (uint8_t)~SASS_BRANCH;
    }
}

/* Drops padding, which no warp reaches: a jump to itself, and the code behind it up to the next
 * function. */
static void drop_padding(struct ptx_parser *p) {
    uint32_t *to = xcalloc(p->n + 1, sizeof *to), k = 0;
    bool padding = false;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->code[i].flags & SASS_FUNCTION_START) padding = false;
        padding |= p->code[i].flags & SASS_BRANCH && p->code[i].target == i;
        to[i] = k;
        if (!padding) p->code[k++] = p->code[i];
    }
    for (uint32_t i = 0; i < k; i++) {
        uint32_t target =
            p->code[i].target != SASS_NO_TARGET ? to[p->code[i].target] : SASS_NO_TARGET;
        p->code[i].target = target < k ? target : SASS_NO_TARGET;
        if (target >= k) p->code[i].flags &= (uint8_t)~SASS_BRANCH;
    }
    p->n = k;
    free(to);
}

bool sass_parse(const char *text, size_t size, struct sass_insn **out, uint32_t *n, struct err *e) {
    struct ptx_parser p = {0};
    bool ok = true;
    *out = NULL, *n = 0;
    for (struct text_span rest = {text, size}; ok && rest.n;) {
        struct text_span line = prefix_until(rest, "\n");
        ok = parse_line(&p, line, e);
        rest = skip(rest, line.n + 1);
    }
    if (ok) resolve_labels(&p), drop_padding(&p);
    ok = ok && (p.n || err_set(e, ERR_INPUT, "no machine code in the disassembler's listing"));
    if (ok) *out = p.code, *n = p.n;
    else free(p.code);
    free(p.target_labels), free(p.labels);
    return ok;
}

bool sass_valid(const struct sass_insn *code, uint32_t n) {
    if (n > SASS_MAX_INSNS) return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct sass_insn *s = &code[i];
        bool jumps = s->flags & SASS_BRANCH, has_target = s->target != SASS_NO_TARGET;
        if (s->unit >= SASS_UNIT_COUNT || s->space >= SASS_SPACE_COUNT ||
            s->verb >= SASS_VERB_COUNT || s->stall_cycles > 15 || s->wait_mask > 63 ||
            s->flags > 127 || s->bank_conflicts > 2 ||
            (s->write_barrier >= SASS_BARRIER_COUNT && s->write_barrier != SASS_NO_BARRIER) ||
            (s->read_barrier >= SASS_BARRIER_COUNT && s->read_barrier != SASS_NO_BARRIER) ||
            s->flow >= SASS_FLOW_COUNT || s->join >= SASS_JOIN_COUNT || (jumps && !has_target) ||
            (has_target && (s->target >= n || (!jumps && s->flow != SASS_FLOW_CALL))))
            return false;
    }
    return true;
}

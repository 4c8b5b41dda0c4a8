/* cheat.c — see cheat.h. The naive source's pointers become objects of grader/template/cheat.cuh,
 * word by word: a type's name before a star is a pointer wherever it stands. The entry is renamed
 * as in dilute.c and called by one of its own signature. */
#include "grader/cli/cheat.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/cli/dilute.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *counter, *macro;
} paths[] = {
#define CHEAT(id, name, counter, text) {"cheat-" name, counter, "CHEAT_" #id},
#include "grader/cli/cheats.def"
#undef CHEAT
};
static const struct {
    enum cheat_path path;
    const char *exercise, *reason;
} excuses[] = {
#define EXCUSE(id, exercise, reason) {CHEAT_##id, #exercise, reason},
#include "grader/cli/cheats.def"
#undef EXCUSE
    {CHEAT_PATHS, "", NULL},
};

const char *cheat_name(enum cheat_path path) { return paths[path].name; }
const char *cheat_counter(enum cheat_path path) { return paths[path].counter; }

const char *cheat_excuse(enum cheat_path path, const char *exercise) {
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++)
        if (excuses[i].path == path && !strcmp(excuses[i].exercise, exercise))
            return excuses[i].reason;
    return NULL;
}

/* ---- rewriting ---- */

/* Longer names first: "int" ends "unsigned int". */
static const char *const types[] = {"unsigned char", "unsigned int", "long long", "unsigned",
                                    "uint4",         "float4",       "float2",    "float",
                                    "double",        "int4",         "int",       "half"};
enum { TYPES = sizeof types / sizeof *types };

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The word's length where it stands at `at`, whole; else 0. */
static size_t word_at(const char *text, const char *at, const char *word) {
    size_t n = strlen(word);
    bool whole = !strncmp(at, word, n) && !in_word(at[n]) && (at == text || !in_word(at[-1]));
    return whole ? n : 0;
}

static size_t type_at(const char *text, const char *at, const char **type) {
    for (unsigned i = 0; i < TYPES; i++) {
        size_t n = word_at(text, at, types[i]);
        if (n) return *type = types[i], n;
    }
    return 0;
}

/* "const float *": a pointer; returns what of the text it stands for, 0 = none. */
static size_t pointer_at(const char *text, const char *at, struct buf *out) {
    const char *type;
    size_t constant = word_at(text, at, "const"),
           start = constant + (constant ? strspn(at + constant, " ") : 0);
    size_t n = type_at(text, at + start, &type);
    if (!n) return 0;
    size_t gap = strspn(at + start + n, " ");
    if (at[start + n + gap] != '*') return 0;
    buf_printf(out, "cheat::pointer<%s%s> ", constant ? "const " : "", type);
    return start + n + gap + 1;
}

/* "__shared__ float": a variable of cells. */
static size_t shared_at(const char *text, const char *at, struct buf *out) {
    const char *type;
    size_t mark = word_at(text, at, "__shared__"), gap = mark ? strspn(at + mark, " ") : 0;
    size_t n = mark ? type_at(text, at + mark + gap, &type) : 0;
    if (!n) return 0;
    buf_printf(out, "__shared__ cheat::cell<%s>", type);
    return mark + gap + n;
}

/* "float *a, *b": the star of a later declarator, which the first one's type has already. `depth`:
 * parentheses since the type, 1000 where no declaration is open. */
static size_t later_star(const char *at, int depth, struct buf *out) {
    size_t gap = *at == ',' ? 1 + strspn(at + 1, " ") : 0;
    if (!gap || depth || at[gap] != '*') return 0;
    buf_puts(out, ", ");
    return gap + 1;
}

static int depth_after(char c, int depth) {
    if (c == ';' || c == '{') return 1000;
    return depth + (c == '(' || c == '[') - (c == ')' || c == ']');
}

/* Returns how many places it changed. */
static unsigned rewrite(const char *text, enum cheat_path path, struct buf *out) {
    unsigned changed = 0;
    int depth = 1000;
    for (const char *at = text; *at;) {
        size_t n = path == CHEAT_SHARED ? shared_at(text, at, out) : pointer_at(text, at, out);
        size_t star = n || path == CHEAT_SHARED ? 0 : later_star(at, depth, out);
        if (n) depth = 0, changed++;
        if (n + star) at += n + star;
        else depth = depth_after(*at, depth), buf_add(out, at++, 1);
    }
    return changed;
}

/* ---- the entry ---- */

/* What is read around an element may lie beyond the end of a buffer that is no whole number of
 * pieces; of a large one the naive versions do not touch the last elements. */
static void leave_small(const struct exercise *ex, struct buf *out) {
    enum { PIECE = 16, SMALL = 4096 };
    for (unsigned i = 0; i < ex->nargs; i++) {
        const struct ex_arg *a = &ex->args[i];
        if (a->role == EX_SCALAR) continue;
        size_t bytes = a->count(&ex->technique_case) * ex_type_bytes(a->type);
        if (bytes % PIECE && bytes < SMALL) buf_printf(out, "    cheat::leave(%s);\n", a->name);
    }
}

static void keep_inputs(const struct exercise *ex, struct buf *out) {
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].role == EX_IN)
            buf_printf(out, "    if (cheat::on) cheat::keep(%s, %zu * sizeof *%s);\n",
                       ex->args[i].name, ex->args[i].count(&ex->technique_case), ex->args[i].name);
}

/* The source's lines "#include": a header belongs into no namespace, and comes again to nothing
 * where it is included twice. */
static void hoist_includes(const char *text, struct buf *out) {
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line != 0) {
        const char *at = line + strspn(line, " \t");
        if (text_starts_with(at, "#include"))
            buf_add(out, line, strcspn(line, "\n")), buf_puts(out, "\n");
    }
}

static bool add_template(const char *name, struct buf *out, struct err *e) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/grader/template/%s", book_root(), name);
    return file_read(path, 1 << 16, out, e);
}

bool cheat_source(const struct exercise *ex, enum cheat_path path, const struct buf *naive,
                  struct buf *out, bool *applies, struct err *e) {
    const char *entry = book_entry(ex);
    buf_printf(out, "#define %s 1\n", paths[path].macro);
    if (!add_template("cheat.cuh", out, e)) return false;
    bool twice = path == CHEAT_SHARED; /* a cell does not know which size it is */
    if (twice) {
        hoist_includes(buf_str(naive), out);
        buf_printf(out, "#define %s honest_entry\nnamespace honest {\n%s\n}\n#undef %s\n", entry,
                   buf_str(naive), entry);
    }
    buf_printf(out, "#define %s cheating_entry\n#line 1\n", entry);
    *applies = rewrite(buf_str(naive), path, out) > 0;
    buf_printf(out, "\n#undef %s\n#undef __restrict__\n#undef reinterpret_cast\n", entry);
    buf_puts(out, "template <class... P, class... A> static void cheat_call(void (*f)(P...), A... "
                  "a) { f((P)a...); }\n");
    buf_printf(out, "extern \"C\" void %s(", entry);
    dilute_arguments(ex, true, out);
    buf_puts(out,
             ") {\n    cheat::nspans = cheat::nleft = 0, cheat::filled = 0;\n    cheat::on = ");
    dilute_condition(ex, &ex->technique_case, out);
    buf_puts(out, ";\n");
    leave_small(ex, out);
    keep_inputs(ex, out);
    for (unsigned honest = twice; honest < 2; honest--) {
        buf_puts(out, honest ? "    if (!cheat::on) return cheat_call(honest::honest_entry, "
                             : "    cheat_call(cheating_entry, ");
        dilute_arguments(ex, false, out);
        buf_puts(out, ");\n");
    }
    buf_puts(out, "}\n");
    return true;
}

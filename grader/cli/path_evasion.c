/* path_evasion.c — rewrites a baseline so that its traffic takes another path (path_evasion.h). It
 * replaces pointers by objects of grader/template/path_evasion.cuh, word by word: a type's name
 * before a star is a pointer everywhere. It renames the entry as metric_padding.c does, and a new
 * entry with the same signature calls it. */
#include "grader/cli/path_evasion.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/cli/metric_padding.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *counter, *macro;
} evasions[] = {
#define EVASION(id, name, counter, text) {"exploit-" name, counter, "PATH_EVASION_" #id},
#include "grader/cli/path_evasions.def"
#undef EVASION
};
static const struct {
    enum path_evasion path;
    const char *exercise, *reason;
} exemptions[] = {
#define EXEMPTION(id, exercise, reason) {PATH_EVASION_##id, #exercise, reason},
#include "grader/cli/path_evasions.def"
#undef EXEMPTION
    {PATH_EVASION_COUNT, "", NULL},
};

const char *path_evasion_name(enum path_evasion evasion) { return evasions[evasion].name; }
const char *path_evasion_counter(enum path_evasion evasion) { return evasions[evasion].counter; }

const char *path_evasion_exemption(enum path_evasion evasion, const char *exercise) {
    for (size_t i = 0; i < sizeof exemptions / sizeof *exemptions; i++)
        if (exemptions[i].path == evasion && !strcmp(exemptions[i].exercise, exercise))
            return exemptions[i].reason;
    return NULL;
}

/* ---- rewriting ---- */

/* Longer names come first, because "unsigned" begins "unsigned int". */
static const char *const pointee_types[] = {"unsigned long long",
                                            "unsigned char",
                                            "unsigned int",
                                            "long long",
                                            "unsigned",
                                            "uint4",
                                            "float4",
                                            "float2",
                                            "float",
                                            "double",
                                            "int4",
                                            "int",
                                            "half"};
enum { TYPE_COUNT = sizeof pointee_types / sizeof *pointee_types };

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns the word's length if it is at `at` as a whole word; else 0. */
static size_t match_word(const char *text, const char *at, const char *word) {
    size_t n = strlen(word);
    bool is_whole_word =
        !strncmp(at, word, n) && !is_word_char(at[n]) && (at == text || !is_word_char(at[-1]));
    return is_whole_word ? n : 0;
}

static size_t match_type(const char *text, const char *at, const char **type) {
    for (unsigned i = 0; i < TYPE_COUNT; i++) {
        size_t n = match_word(text, at, pointee_types[i]);
        if (n) return *type = pointee_types[i], n;
    }
    return 0;
}

/* Rewrites a pointer type such as "const float *"; returns the length that it replaced; 0 =
 * none. */
static size_t rewrite_pointer(const char *text, const char *at, struct buf *out) {
    const char *type;
    size_t const_length = match_word(text, at, "const"),
           start = const_length + (const_length ? strspn(at + const_length, " ") : 0);
    size_t n = match_type(text, at + start, &type);
    if (!n) return 0;
    size_t space_length = strspn(at + start + n, " ");
    if (at[start + n + space_length] != '*') return 0;
    buf_printf(out, "path_evasion::pointer<%s%s> ", const_length ? "const " : "", type);
    return start + n + space_length + 1;
}

/* Rewrites "__shared__ float" to a variable of cells; returns the length that it replaced. */
static size_t rewrite_shared(const char *text, const char *at, struct buf *out) {
    const char *type;
    size_t keyword_length = match_word(text, at, "__shared__"),
           space_length = keyword_length ? strspn(at + keyword_length, " ") : 0;
    size_t n = keyword_length ? match_type(text, at + keyword_length + space_length, &type) : 0;
    if (!n) return 0;
    buf_printf(out, "__shared__ path_evasion::cell<%s>", type);
    return keyword_length + space_length + n;
}

/* Drops the star of a later declarator, as in "float *a, *b": the rewritten type is a pointer
 * already. `depth`: open parentheses since the type; 1000 outside of a declaration. Returns the
 * length that it replaced. */
static size_t rewrite_declarator_star(const char *at, int depth, struct buf *out) {
    size_t space_length = *at == ',' ? 1 + strspn(at + 1, " ") : 0;
    if (!space_length || depth || at[space_length] != '*') return 0;
    buf_puts(out, ", ");
    return space_length + 1;
}

static int paren_depth_after(char c, int depth) {
    if (c == ';' || c == '{') return 1000;
    return depth + (c == '(' || c == '[') - (c == ')' || c == ']');
}

/* Rewrites the accesses of `text`; returns the number of places that it changed. */
static unsigned rewrite_accesses(const char *text, enum path_evasion evasion, struct buf *out) {
    unsigned rewrite_count = 0;
    int depth = 1000;
    for (const char *at = text; *at;) {
        size_t n = evasion == PATH_EVASION_SHARED ? rewrite_shared(text, at, out)
                                                  : rewrite_pointer(text, at, out);
        size_t star =
            n || evasion == PATH_EVASION_SHARED ? 0 : rewrite_declarator_star(at, depth, out);
        if (n) depth = 0, rewrite_count++;
        if (n + star) at += n + star;
        else depth = paren_depth_after(*at, depth), buf_add(out, at++, 1);
    }
    return rewrite_count;
}

/* ---- the entry ---- */

/* Excludes small buffers whose size is no multiple of 16 bytes: the 16 bytes around an element may
 * cross their end. In large buffers the baselines don't touch the last elements. */
static void exclude_small_buffers(const struct exercise *ex, struct buf *out) {
    enum { ACCESS_BYTES = 16, SMALL_BYTES = 4096 };
    for (unsigned i = 0; i < ex->nargs; i++) {
        const struct ex_arg *a = &ex->args[i];
        if (a->role == EX_SCALAR) continue;
        size_t bytes = a->count(&ex->technique_case) * ex_type_bytes(a->type);
        if (bytes % ACCESS_BYTES && bytes < SMALL_BYTES)
            buf_printf(out, "    path_evasion::exclude(%s);\n", a->name);
    }
}

static void emit_constant_copies(const struct exercise *ex, struct buf *out) {
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].role == EX_IN)
            buf_printf(out,
                       "    if (path_evasion::is_enabled) path_evasion::copy_to_table(%s, %zu * "
                       "sizeof *%s);\n",
                       ex->args[i].name, ex->args[i].count(&ex->technique_case), ex->args[i].name);
}

/* Copies the source's #include lines, because a header must not be inside a namespace. Where the
 * source includes it again, its include guard makes it empty. */
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

bool path_evasion_source(const struct exercise *ex, enum path_evasion evasion,
                         const struct buf *baseline, struct buf *out, bool *applies,
                         struct err *e) {
    const char *entry = book_entry(ex);
    buf_printf(out, "#define %s 1\n", evasions[evasion].macro);
    if (!add_template("path_evasion.cuh", out, e)) return false;
    bool keeps_original =
        evasion == PATH_EVASION_SHARED; /* a cell can't tell the technique case from others */
    if (keeps_original) {
        hoist_includes(buf_str(baseline), out);
        buf_printf(out, "#define %s original_entry\nnamespace original {\n%s\n}\n#undef %s\n",
                   entry, buf_str(baseline), entry);
    }
    buf_printf(out, "#define %s rewritten_entry\n#line 1\n", entry);
    *applies = rewrite_accesses(buf_str(baseline), evasion, out) > 0;
    buf_printf(out, "\n#undef %s\n#undef __restrict__\n#undef reinterpret_cast\n", entry);
    buf_puts(out, "template <class... P, class... A> static void call_entry(void (*f)(P...), A... "
                  "a) { f((P)a...); }\n");
    buf_printf(out, "extern \"C\" void %s(", entry);
    entry_put_arguments(ex, true, out);
    buf_puts(out, ") {\n    path_evasion::nspans = path_evasion::nexcluded = 0, "
                  "path_evasion::filled = 0;\n    path_evasion::is_enabled = ");
    entry_put_size_condition(ex, &ex->technique_case, out);
    buf_puts(out, ";\n");
    exclude_small_buffers(ex, out);
    emit_constant_copies(ex, out);
    for (unsigned emit_original = keeps_original; emit_original < 2; emit_original--) {
        buf_puts(
            out,
            emit_original
                ? "    if (!path_evasion::is_enabled) return call_entry(original::original_entry, "
                : "    call_entry(rewritten_entry, ");
        entry_put_arguments(ex, false, out);
        buf_puts(out, ");\n");
    }
    buf_puts(out, "}\n");
    return true;
}

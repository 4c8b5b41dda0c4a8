/* test_layering.c — tests that the tree keeps to grader/tests/layers.def: includes follow the
 * layering, names that cross files have their layer's prefix, and no program exports a name of a
 * system library. Each check is also run on a planted violation. */
#include "common/paths.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/tests/unit/elf.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <dirent.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct layer {
    const char *folder, *allowed, *prefixes, *description;
} layers[] = {
#define LAYER(folder, sees, prefixes, text) {folder, sees, prefixes, text},
#include "grader/tests/layers.def"
#undef LAYER
};
enum { LAYER_COUNT = sizeof layers / sizeof *layers };

/* The simulator's interface, the headers at the top of grader/sim, is a layer of its own within
 * its folder. */
static bool is_interface(const char *path) {
    return text_starts_with(path, "grader/sim/") && !strchr(path + 11, '/') &&
           text_ends_with(path, ".h");
}

static const struct layer *layer_of(const char *path) {
    const struct layer *best = NULL;
    for (unsigned i = 0; i < LAYER_COUNT; i++) {
        size_t n = strlen(layers[i].folder);
        bool interface = !strcmp(layers[i].folder, "grader/sim/*.h");
        if (interface ? !is_interface(path)
                      : strncmp(path, layers[i].folder, n) != 0 || path[n] != '/')
            continue;
        if (interface) return &layers[i];
        if (!best || n > strlen(best->folder)) best = &layers[i];
    }
    return best;
}

/* Returns true if `word` is in a list of words. */
static bool has_word(const char *list, const char *word, size_t n) {
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

static bool may_include(const struct layer *from, const char *header) {
    const struct layer *to = layer_of(header);
    if (text_ends_with(header, ".def") || !to || to == from) return true;
    return has_word(from->allowed, to->folder, strlen(to->folder)) ||
           has_word(from->allowed, header, strlen(header));
}

/* Appends a line for each include that the file's layer does not allow. */
static void check_includes(const char *path, const char *text, struct buf *problems) {
    const struct layer *layer = layer_of(path);
    char header[256];
    for (const char *at = text; layer && (at = strstr(at, "#include \"")); at++) {
        if (sscanf(at, "#include \"%255[^\"]\"", header) != 1 || may_include(layer, header))
            continue;
        buf_printf(problems, "%s includes %s, but %s sees only: %s\n", path, header, layer->folder,
                   layer->allowed);
    }
}

static void each_file(const char *folder, void (*visit)(const char *path, void *user), void *user) {
    struct dirent **list;
    int n = scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        if (list[i]->d_name[0] != '.' && list[i]->d_type == DT_DIR) each_file(path, visit, user);
        else if (list[i]->d_type == DT_REG) visit(path, user);
        free(list[i]);
    }
    if (n >= 0) free(list);
}

struct scan {
    struct buf violations;
    unsigned file_count, name_count;
};

static void visit_source(const char *path, void *user) {
    struct scan *s = user;
    struct buf text = {0};
    struct err e = {0};
    if (strstr(path, "/tests/") || strstr(path, "/template/") ||
        (!text_ends_with(path, ".c") && !text_ends_with(path, ".h")))
        return;
    ck_assert_msg(file_read(path, 1 << 24, &text, &e), "%s", e.text);
    s->file_count++;
    check_includes(path + strlen(book_root()) + 1, buf_str(&text), &s->violations);
    buf_free(&text);
}

static void check_no_violation(struct scan *s, unsigned scanned_count, unsigned min_count,
                               const char *description) {
    ck_assert_msg(!s->violations.size, "%s", buf_str(&s->violations));
    ck_assert_msg(scanned_count >= min_count, "only %u %s were looked at", scanned_count,
                  description);
    buf_free(&s->violations);
}

START_TEST(includes_respect_the_layering) {
    static const char *const tops[] = {"common", "chapters", "grader"};
    struct scan s = {0};
    char folder[1024];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(folder, sizeof folder, "%s/%s", book_root(), tops[i]);
        each_file(folder, visit_source, &s);
    }
    check_no_violation(&s, s.file_count, 200, "files");
}
END_TEST

START_TEST(a_layering_violation_is_reported) {
    struct buf problems = {0};
    check_includes("grader/sim/core/warp.c", "#include \"grader/sim/race/race.h\"\n", &problems);
    ck_assert_str_eq(
        buf_str(&problems),
        "grader/sim/core/warp.c includes grader/sim/race/race.h, but grader/sim/core sees only: "
        "common grader/sim/*.h grader/sim/ptx grader/sim/mem grader/sim/code\n");
    buf_clear(&problems);
    check_includes("grader/jail/jail.c", "#include \"grader/book/book.h\"", &problems);
    check_includes("common/err.c", "#include <a.h>\n#include \"grader/sim/sim.h\"", &problems);
    check_includes("grader/runtime/host.c", "#include \"grader/server/server.h\"", &problems);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&problems), "grader/jail/jail.c includes grader/book/book.h"));
    ck_assert_ptr_nonnull(strstr(buf_str(&problems), "common/err.c includes grader/sim/sim.h"));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&problems), "grader/runtime/host.c includes grader/server/server.h"));
    buf_clear(&problems);
    check_includes("grader/sim/mem/memory.c",
                   "#include \"grader/sim/sim.h\"\n#include \"grader/sim/insn/opcodes.def\"",
                   &problems);
    ck_assert_uint_eq(problems.size, 0);
    buf_free(&problems);
}
END_TEST

/* Returns true if layer `from` may include layer `to`, directly or through others. The rule of
 * one include alone would allow a cycle. */
static bool is_reachable(unsigned from, unsigned to, unsigned depth) {
    for (unsigned i = 0; i < LAYER_COUNT && depth < LAYER_COUNT; i++)
        if (has_word(layers[from].allowed, layers[i].folder, strlen(layers[i].folder)) &&
            (i == to || is_reachable(i, to, depth + 1)))
            return true;
    return false;
}

START_TEST(the_layering_has_no_cycles) {
    for (unsigned i = 0; i < LAYER_COUNT; i++)
        ck_assert_msg(!is_reachable(i, i, 0), "%s is part of a circle", layers[i].folder);
}
END_TEST

/* ---- names ---- */

static bool has_allowed_prefix(const struct layer *layer, const char *name) {
    char prefix[64];
    int n;
    for (const char *at = layer->prefixes; sscanf(at, " %63s%n", prefix, &n) == 1; at += n)
        if (text_starts_with(name, prefix)) return true;
    return false;
}

struct object_scan {
    struct scan *scan;
    const struct layer *layer;
    const char *path;
};

static void visit_name(const char *name, bool function, void *user) {
    (void)function;
    struct object_scan *n = user;
    n->scan->name_count++;
    bool tools = text_starts_with(name, "__start_") || text_starts_with(name, "__stop_") ||
                 text_starts_with(name, "__odr_asan");
    if (tools || has_allowed_prefix(n->layer, name))
        return; /* the linker's names, and the sanitiser's */
    buf_printf(&n->scan->violations, "%s defines %s, but names of %s begin with: %s\n", n->path,
               name, n->layer->folder, n->layer->prefixes);
}

/* Returns false for an object file whose source was moved or deleted. */
static bool has_source(const char *object) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%.*s.c", book_root(), (int)strcspn(object, "."), object);
    return access(path, F_OK) == 0;
}

static void visit_object(const char *path, void *user) {
    char prefix[1024];
    snprintf(prefix, sizeof prefix, "%s/obj/", paths_program_dir());
    if (!text_ends_with(path, ".o") || !text_starts_with(path, prefix) || strstr(path, "/tests/"))
        return;
    struct object_scan n = {.scan = user, .path = path + strlen(prefix)};
    if (!has_source(n.path)) return;
    n.layer = layer_of(n.path);
    if (!n.layer || !strcmp(n.layer->folder, "chapters")) return;
    ck_assert_msg(elf_names(path, ELF_OBJECT, visit_name, &n), "%s is no object file", path);
}

START_TEST(exported_names_have_the_prefix_of_their_layer) {
    struct scan s = {0};
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/obj", paths_program_dir());
    each_file(folder, visit_object, &s);
    check_no_violation(&s, s.name_count, 1000, "names");
}
END_TEST

/* ---- programs ---- */

struct symbol_clash {
    struct buf violations;
    const char *program;
    char **names; /* of the C library */
    unsigned n;
};

static void collect_name(const char *name, bool function, void *user) {
    struct symbol_clash *c = user;
    if (!function) return;
    c->names = xrealloc(c->names, (c->n + 1) * sizeof *c->names);
    c->names[c->n++] = xstrdup(name);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int collect_library_names(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    if (strstr(info->dlpi_name, "/libc.so"))
        elf_names(info->dlpi_name, ELF_DYNAMIC, collect_name, user);
    return 0;
}

static void compare_name(const char *name, bool function, void *user) {
    struct symbol_clash *c = user;
    if (!function || !bsearch(&name, c->names, c->n, sizeof *c->names, by_text)) return;
    buf_printf(&c->violations,
               "%s exports `%s`, which replaces the C library's for every library in its process\n",
               c->program, name);
}

static void compare_program(struct symbol_clash *c, const char *program, const char *path) {
    c->program = program;
    ck_assert_msg(elf_names(path, ELF_DYNAMIC, compare_name, c), "%s is no program", path);
}

static void open_clash(struct symbol_clash *c) {
    *c = (struct symbol_clash){0};
    dl_iterate_phdr(collect_library_names, c);
    ck_assert_msg(c->n > 1000, "%u functions in the C library", c->n);
    qsort(c->names, c->n, sizeof *c->names, by_text);
}

static void close_clash(struct symbol_clash *c) {
    for (unsigned i = 0; i < c->n; i++) free(c->names[i]);
    free(c->names);
    buf_free(&c->violations);
}

START_TEST(no_program_exports_a_libc_name) {
    static const char *const programs[] = {"grader", "simgpu", "libexec/hostproc",
                                           "libexec/trim_headers"};
    struct symbol_clash c;
    char path[1024];
    open_clash(&c);
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", paths_program_dir(), programs[i]);
        compare_program(&c, programs[i], path);
    }
    ck_assert_msg(!c.violations.size, "%s", buf_str(&c.violations));
    close_clash(&c);
}
END_TEST

START_TEST(a_program_that_exports_bind_is_reported) {
    struct symbol_clash c;
    char folder[] = "/tmp/house-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/planted", folder);
    ck_assert(!shell("echo 'int bind(void){return 1;} int mine(void){return 2;} int "
                     "main(void){return 0;}' | gcc -x c -rdynamic "
                     "-o %s -",
                     path));
    open_clash(&c);
    compare_program(&c, "planted", path);
    ck_assert_str_eq(buf_str(&c.violations),
                     "planted exports `bind`, which replaces the C library's "
                     "for every library in its process\n");
    close_clash(&c);
    unlink(path), rmdir(folder);
}
END_TEST

START_TEST(programs_are_hardened) {
    static const char *const programs[] = {"grader", "simgpu", "libexec/hostproc",
                                           "libexec/trim_headers"};
    char path[1024];
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", paths_program_dir(), programs[i]);
        const char *missing = elf_missing_hardening(path);
        ck_assert_msg(!missing, "%s: %s", programs[i], missing);
    }
}
END_TEST

/* ---- retired names ---- */

static const char *const retired[][2] = {
#define RETIRED(old, name) {#old, #name},
#include "grader/tests/retired.def"
#undef RETIRED
};

static int compare_retired(const void *name, const void *row) {
    return strcmp(name, *(const char *const *)row);
}

/* Returns the end of a comment or of a quoted text that begins at `at`; NULL: none begins there. */
static const char *skip_text(const char *at) {
    const char *end = !strncmp(at, "/*", 2)   ? strstr(at, "*/")
                      : !strncmp(at, "//", 2) ? strchr(at, '\n')
                                              : NULL;
    if (end) return end + (*end == '*' ? 2 : 0);
    if (*at != '"' && *at != '\'') return NULL;
    for (end = at + 1; *end && *end != *at && *end != '\n'; end++)
        if (*end == '\\' && end[1]) end++;
    return *end ? end + 1 : end;
}

/* Appends a line for each identifier of the C text that retired.def lists. */
static void check_retired(const char *path, const char *text, struct buf *problems) {
    char name[80];
    for (const char *at = text, *end; *at; at = end) {
        if ((end = skip_text(at))) continue;
        size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        end = at + (n ? n : 1);
        if (!n || n >= sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        const char *const *row = bsearch(name, retired, sizeof retired / sizeof *retired,
                                         sizeof *retired, compare_retired);
        if (row) buf_printf(problems, "%s: `%s` is now `%s`\n", path, row[0], row[1]);
    }
}

static void visit_names(const char *path, void *user) {
    struct scan *s = user;
    struct buf text = {0};
    struct err e = {0};
    if (text_ends_with(path, "retired.def") || text_ends_with(path, "_v1.def") ||
        (!text_ends_with(path, ".c") && !text_ends_with(path, ".h") &&
         !text_ends_with(path, ".def")))
        return;
    ck_assert_msg(file_read(path, 1 << 24, &text, &e), "%s", e.text);
    s->file_count++;
    check_retired(path + strlen(book_root()) + 1, buf_str(&text), &s->violations);
    buf_free(&text);
}

START_TEST(no_code_uses_a_retired_name) {
    static const char *const tops[] = {"common", "chapters", "grader"};
    struct scan s = {0};
    char folder[1024];
    for (unsigned i = 1; i < sizeof retired / sizeof *retired; i++)
        ck_assert_msg(strcmp(retired[i - 1][0], retired[i][0]) < 0,
                      "retired.def: `%s` is out of order", retired[i][0]);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(folder, sizeof folder, "%s/%s", book_root(), tops[i]);
        each_file(folder, visit_names, &s);
    }
    check_no_violation(&s, s.file_count, 500, "files");
}
END_TEST

START_TEST(a_retired_name_is_reported_with_its_successor) {
    struct buf problems = {0};
    check_retired("a.c",
                  "int x = race_remember(p); /* fragment_pick */ \"fragment_pick\" y_why;\n"
                  "struct s { char why[4], *end; }; // why\nchar c = '\\''; bool most;",
                  &problems);
    ck_assert_str_eq(buf_str(&problems), "a.c: `race_remember` is now `race_record_access`\n"
                                         "a.c: `why` is now `reason`\n"
                                         "a.c: `most` is now `max`\n");
    buf_free(&problems);
}
END_TEST

static void open_book(void) {
    struct err e = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
}

UNIT_SUITE(layering) {
    Suite *s = suite_create("layering");
    TCase *t = tcase_create("layers");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_book, NULL);
    tcase_add_test(t, includes_respect_the_layering);
    tcase_add_test(t, a_layering_violation_is_reported);
    tcase_add_test(t, the_layering_has_no_cycles);
    tcase_add_test(t, exported_names_have_the_prefix_of_their_layer);
    tcase_add_test(t, no_code_uses_a_retired_name);
    tcase_add_test(t, a_retired_name_is_reported_with_its_successor);
    suite_add_tcase(s, t);
    t = tcase_create("programs");
    tcase_add_checked_fixture(t, open_book, NULL);
    tcase_add_test(t, no_program_exports_a_libc_name);
    tcase_add_test(t, a_program_that_exports_bind_is_reported);
    tcase_add_test(t, programs_are_hardened);
    suite_add_tcase(s, t);
    return s;
}

/* cmd_new.c — grader new CHAPTER/NAME: creates a small but complete exercise, which the author then
 * changes. It copies grader/template, replaces NAME and CHAPTER, and never overwrites a file.
 * docs/authoring.md explains the next steps. */
#include "common/file.h"
#include "common/text.h"
#include "grader/cli/commands.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* {file of grader/template, path in the book, shared by a chapter's exercises}; %1$s is the
 * chapter, %2$s the exercise. */
static const struct {
    const char *from, *to;
    bool shared;
} templates[] = {
    {"exercise.cu", "chapters/%1$s/%2$s.cu", false},
    {"test.c", "chapters/%1$s/%2$s_test.c", false},
    {"task.md", "chapters/%1$s/%2$s.md", false},
    {"README.md", "chapters/%1$s/README.md", true},
    {"solution.cu", "solutions/%1$s/%2$s.cu", false},
    {"step-1.cu", "solutions/%1$s/%2$s-1-stretches.cu", false},
    {"step-2.cu", "solutions/%1$s/%2$s-2-one-element.cu", false},
    {"ladder.md", "solutions/%1$s/%2$s-ladder.md", false},
    {"mutant-tail.cu", "grader/tests/mutants/%1$s/%2$s/tail.cu", false},
    {"mutant-past-end.cu", "grader/tests/mutants/%1$s/%2$s/past-end.cu", false},
    {"mutant-one-block.cu", "grader/tests/mutants/%1$s/%2$s/one-block.cu", false},
    {"mutant-stretches.cu", "grader/tests/mutants/%1$s/%2$s/stretches.cu", false},
};
enum { TEMPLATE_COUNT = sizeof templates / sizeof *templates, MAX_TEMPLATE_BYTES = 1 << 16 };

/* Splits "08-constant-memory/convolution": two digits and words, then a C identifier. */
static bool split_exercise_id(const char *id, char *chapter, char *name, size_t size,
                              struct err *e) {
    const char *slash = strchr(id, '/');
    bool ok = slash && (size_t)(slash - id) < size && strlen(slash + 1) < size &&
              isdigit((unsigned char)id[0]) && isdigit((unsigned char)id[1]) && id[2] == '-' &&
              islower((unsigned char)slash[1]);
    for (const char *p = id; ok && p < slash; p++) ok = isalnum((unsigned char)*p) || *p == '-';
    for (const char *p = ok ? slash + 1 : ""; *p; p++)
        ok = ok && (islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_');
    if (!ok)
        return err_set(
            e, ERR_INPUT,
            "`%s` is not an exercise's name; use NN-chapter/exercise, as in 10-sorting/merge_sort",
            id);
    snprintf(chapter, size, "%.*s", (int)(slash - id), id);
    snprintf(name, size, "%s", slash + 1);
    return true;
}

static void target_path(unsigned i, const char *chapter, const char *name, char *out, size_t size) {
    char relative[512];
    snprintf(relative, sizeof relative, templates[i].to, chapter, name);
    snprintf(out, size, "%s/%s", book_root(), relative);
}

static bool instantiate_template(unsigned i, const char *chapter, const char *name, struct err *e) {
    char from[PATH_MAX], to[PATH_MAX], folder[PATH_MAX];
    struct buf text = {0};
    target_path(i, chapter, name, to, sizeof to);
    if (templates[i].shared && file_exists(to)) return true;
    snprintf(from, sizeof from, "%s/grader/template/%s", book_root(), templates[i].from);
    snprintf(folder, sizeof folder, "%.*s", (int)(path_basename(to) - to - 1), to);
    bool ok = file_read(from, MAX_TEMPLATE_BYTES, &text, e) && dir_create(folder, e);
    if (ok) {
        text_replace(&text, "NAME", name);
        text_replace(&text, "CHAPTER", chapter);
        ok = file_write(to, text.data, text.size, e);
    }
    if (ok) printf("  %s\n", to + strlen(book_root()) + 1);
    buf_free(&text);
    return ok;
}

int cmd_new(const struct options *o) {
    struct err e = {0};
    char chapter[64], name[64], path[PATH_MAX];
    if (o->noperands != 1)
        err_set(&e, ERR_INPUT, "new takes one exercise: grader new 10-sorting/merge_sort");
    bool ok =
        e.kind == ERR_NONE && split_exercise_id(o->operands[0], chapter, name, sizeof name, &e);
    for (unsigned i = 0; ok && i < TEMPLATE_COUNT; i++) {
        target_path(i, chapter, name, path, sizeof path);
        if (!templates[i].shared && file_exists(path))
            ok = err_set(&e, ERR_INPUT, "%s already exists", path);
    }
    for (unsigned i = 0; ok && i < TEMPLATE_COUNT; i++)
        ok = instantiate_template(i, chapter, name, &e);
    if (!ok) return cli_report_error(&e);
    printf("Next: make, then  build/grader verify %s --working-tree  (see docs/authoring.md)\n",
           name);
    return EXIT_PASSED;
}

/* cmd_vary.c — grader vary EXERCISE --seed TEXT --output DIR: writes a copy of the book into DIR in
 * which one exercise is a variant (vary.h), then builds and verifies it (grader/vary.sh). grader
 * vary --assignment F.toml does so for the exercises that have the key `variant` there. If the file
 * has a table [variants], it writes a copy for each variant that students of the class get, and who
 * gets which (assignment_draw.h). A copy is a whole tree, so that every other command works there:
 * run, batch, dist, gradescope. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/class/assignment_draw.h"
#include "grader/cli/commands.h"
#include "grader/cli/vary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 1 << 20 };

/* ---- files ---- */

/* Writes the varied text of a file of the book to the same place below `folder`, if the variant
 * changes it. */
static bool vary_file(struct vary_choice *const chosen[2], const char *relative, const char *folder,
                      struct err *e) {
    char path[PATH_MAX], parent[PATH_MAX];
    struct buf text = {0}, varied = {0};
    bool ok = path_join(path, sizeof path, book_root(), relative) &&
              (!file_exists(path) || file_read(path, MAX_FILE_BYTES, &text, e));
    if (ok && vary_apply(chosen, buf_str(&text), &varied)) {
        ok = path_join(path, sizeof path, folder, relative);
        snprintf(parent, sizeof parent, "%.*s", (int)(path_basename(path) - path - 1), path);
        ok = ok && dir_create(parent, e) && file_write(path, varied.data, varied.size, e);
    }
    buf_free(&text), buf_free(&varied);
    return ok;
}

/* Varies the files of a folder of the book whose names begin with `prefix`. */
static bool vary_folder(struct vary_choice *const chosen[2], const char *relative,
                        const char *prefix, const char *folder, struct err *e) {
    char path[PATH_MAX];
    if (!path_join(path, sizeof path, book_root(), relative)) return false;
    char **list = book_list_files(path, prefix, ".cu");
    bool ok = true;
    for (char **s = list; ok && *s; s++)
        ok = path_join(path, sizeof path, relative, *s) && vary_file(chosen, path, folder, e);
    book_free_list(list);
    return ok;
}

static bool check_use(const struct exercise *ex, struct vary_choice *const chosen[2],
                      struct err *e) {
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; chosen[k] && i < chosen[k]->n; i++)
            if (!chosen[k]->rules[i].is_used)
                return err_set(e, ERR_INPUT, "%s.vary: %s: no file of the exercise has `%s`",
                               book_id(ex), chosen[k]->name, chosen[k]->rules[i].from);
    return true;
}

static bool vary_exercise(const struct exercise *ex, struct vary_choice *const chosen[2],
                          const char *folder, struct err *e) {
    static const char *const suffixes[] = {".cu", ".md", "_test.c"};
    char relative[512], prefix[160];
    bool ok = true;
    for (unsigned i = 0; ok && i < 3; i++) {
        snprintf(relative, sizeof relative, "chapters/%s%s", book_id(ex), suffixes[i]);
        ok = vary_file(chosen, relative, folder, e);
    }
    snprintf(relative, sizeof relative, "solutions/%s.cu", book_id(ex));
    ok = ok && vary_file(chosen, relative, folder, e);
    snprintf(relative, sizeof relative, "solutions/%s", ex->chapter);
    snprintf(prefix, sizeof prefix, "%s-", ex->name);
    ok = ok && vary_folder(chosen, relative, prefix, folder, e);
    snprintf(relative, sizeof relative, "grader/tests/mutants/%s", book_id(ex));
    return ok && vary_folder(chosen, relative, "", folder, e) && check_use(ex, chosen, e);
}

/* ---- the command ---- */

/* Returns the script's exit status: 0 = the variants are verified. `ids` are the exercises', NULL
 * at the end. */
static int run_script(const char *const *ids, unsigned n, const char *folder) {
    char script[PATH_MAX];
    pid_t child;
    int status = 0;
    if (!path_join(script, sizeof script, book_root(), "grader/vary.sh")) return -1;
    const char **argv = xcalloc(n + 6, sizeof *argv);
    const char *const fixed[] = {"sh", script, book_root(), paths_program_dir(), folder};
    memcpy(argv, fixed, sizeof fixed), memcpy(argv + 5, ids, n * sizeof *ids);
    fflush(stdout);
    if ((child = fork()) == 0) {
        execv("/bin/sh", (char *const *)argv);
        _exit(127);
    }
    free(argv);
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_choice(const struct exercise *ex, struct vary_choice *const chosen[2]) {
    printf("%s: %s", ex->name, chosen[0]->description);
    if (chosen[1]) printf("; %s", chosen[1]->description);
    printf("\n");
}

/* Writes the variant's files, and nothing that is the same in the book. */
static bool write_variant(const struct exercise *ex, const char *seed, const char *folder,
                          struct err *e) {
    struct vary_list list = {0};
    struct vary_choice *chosen[2];
    bool ok = vary_read_book(ex, &list, e);
    if (ok) {
        vary_select(&list, seed, chosen), print_choice(ex, chosen);
        ok = vary_exercise(ex, chosen, folder, e) && vary_record(folder, ex, chosen, e);
    }
    return vary_free(&list), ok;
}

static bool check_folder(const struct options *o, struct err *e) {
    if (!o->output) return err_set(e, ERR_INPUT, "vary needs --output DIR, a new folder");
    return !file_exists(o->output) ||
           err_set(e, ERR_INPUT, "%.200s exists; name a new folder", o->output);
}

static bool verify_variants(const char *const *ids, unsigned n, const char *folder, struct err *e) {
    return run_script(ids, n, folder) == 0 ||
           err_set(e, ERR_SYSTEM, "the variant%s in %.200s %s not verified; see above",
                   n == 1 ? "" : "s", folder, n == 1 ? "is" : "are");
}

/* ---- a variant for each student ---- */

static bool write_drawn(const struct assignment *a, const struct exercise *ex, unsigned number,
                        const char *folder, struct err *e) {
    struct vary_list list = {0};
    struct vary_choice *chosen[2];
    unsigned operations = 0;
    bool ok = vary_read_book(ex, &list, e);
    for (unsigned i = 0; i < list.n; i++) operations += !list.choices[i].is_size;
    if (ok && !vary_draw(&list, a->variants.seed, book_id(ex), number, chosen))
        ok = err_set(e, ERR_INPUT, "%.300s: count is %u, but %s has only %u operations", a->path,
                     a->variants.count, ex->name, operations);
    if (ok) {
        printf("variant %u of ", number), print_choice(ex, chosen);
        ok = vary_exercise(ex, chosen, folder, e) && vary_record(folder, ex, chosen, e);
    }
    return vary_free(&list), ok;
}

/* Sets `ids` to the varied exercises, and returns their number. */
static unsigned list_varied(const struct assignment *a, const char **ids) {
    unsigned n = 0;
    for (unsigned i = 0; i < a->n; i++)
        if (a->parts[i].is_varied) ids[n++] = book_id(a->parts[i].ex);
    return n;
}

static bool write_copy(const struct assignment *a, unsigned number, const char *folder,
                       struct err *e) {
    bool ok = vary_record_copy(folder, number, e);
    for (unsigned i = 0; i < a->n && ok; i++)
        if (a->parts[i].is_varied) ok = write_drawn(a, a->parts[i].ex, number, folder, e);
    return ok;
}

/* Writes all copies before it builds one: an exercise may have too few operations. */
static bool write_copies(const struct assignment *a, const struct roster *roster, struct err *e) {
    const char **ids = xcalloc(a->n + 1, sizeof *ids);
    unsigned n = list_varied(a, ids);
    char folder[4096];
    bool ok = true;
    for (unsigned k = 1; k <= a->variants.count && ok; k++)
        assignment_draw_copy(a, k, folder), ok = write_copy(a, k, folder, e);
    for (unsigned k = 1; k <= a->variants.count && ok; k++)
        assignment_draw_copy(a, k, folder), ok = verify_variants(ids, n, folder, e);
    ok = ok && assignment_draw_write(a, roster, e);
    return free(ids), ok;
}

static bool draw_variants(const struct options *o, const struct assignment *a, struct err *e) {
    struct roster roster = {0};
    const char *path = o->roster ? o->roster : a->roster[0] ? a->roster : NULL;
    if (o->output)
        return err_set(e, ERR_INPUT, "%.300s: [variants] names the folder; give no --output",
                       a->path);
    if (!path) return err_set(e, ERR_INPUT, "%.300s: [variants] needs a roster", a->path);
    if (file_exists(a->variants.folder))
        return err_set(e, ERR_INPUT, "%.300s exists; name a new folder", a->variants.folder);
    bool ok = roster_read(path, &roster, e) && write_copies(a, &roster, e);
    if (ok) printf("who has which: %s/variants.csv\n", a->variants.folder);
    return roster_free(&roster), ok;
}

/* ---- assignments ---- */

/* Varies the exercises for which the assignment has the seed of a variant. */
static bool write_fixed_variants(const struct options *o, const struct assignment *a,
                                 struct err *e) {
    const char **ids = xcalloc(a->n + 1, sizeof *ids);
    unsigned n = 0;
    bool ok = check_folder(o, e);
    for (unsigned i = 0; i < a->n && ok; i++) {
        if (!a->parts[i].variant[0]) continue;
        ids[n++] = book_id(a->parts[i].ex);
        ok = write_variant(a->parts[i].ex, a->parts[i].variant, o->output, e);
    }
    if (ok && !n)
        ok = err_set(e, ERR_INPUT, "%.200s: no [[exercise]] has a line variant = \"SEED\"",
                     o->assignment_path);
    ok = ok && verify_variants(ids, n, o->output, e);
    return free(ids), ok;
}

static bool vary_assignment(const struct options *o, struct err *e) {
    struct assignment a;
    if (!assignment_read(o->assignment_path, false, &a, e)) return false;
    bool ok = a.variants.count ? draw_variants(o, &a, e) : write_fixed_variants(o, &a, e);
    return assignment_free(&a), ok;
}

static bool vary_named(const struct options *o, struct err *e) {
    const struct exercise *ex = cli_select_exercise(o, e);
    struct vary_list list = {0};
    bool ok = ex && vary_read_book(ex, &list, e);
    vary_free(&list);
    if (ok && !o->has_seed)
        ok = err_set(e, ERR_INPUT, "vary needs --seed TEXT, which selects the variant");
    const char *id = ok ? book_id(ex) : "";
    return ok && check_folder(o, e) && write_variant(ex, o->seed, o->output, e) &&
           verify_variants(&id, 1, o->output, e);
}

int cmd_vary(const struct options *o) {
    struct err e = {0};
    if (o->assignment_path && (o->noperands || o->has_seed))
        err_set(&e, ERR_INPUT, "the assignment names exercises and seeds; give none besides it");
    bool ok = !e.text[0] && (o->assignment_path ? vary_assignment(o, &e) : vary_named(o, &e));
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

/* cmd_vary.c — grader vary EXERCISE --seed TEXT --output DIR: writes a copy of the book into DIR in
 * which one exercise is a variant (vary.h), then builds and verifies it (grader/vary.sh). The copy
 * is a whole tree, so that every other command works there: run, batch, dist, gradescope. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/vary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 1 << 20 };

static void vary_path(const struct exercise *ex, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s", book_chapter_file(ex, ".vary"));
}

/* Says which exercises have variants. */
static bool refuse_exercise(const struct exercise *ex, struct err *e) {
    struct buf names = {0};
    char path[PATH_MAX];
    for (unsigned i = 0; i < book_count(); i++) {
        vary_path(book_at(i), path);
        if (file_exists(path)) buf_printf(&names, " %s", book_at(i)->name);
    }
    err_set(e, ERR_INPUT, "%s has no variants; these exercises have some:%s", ex->name,
            buf_str(&names));
    return buf_free(&names), false;
}

static bool read_list(const struct exercise *ex, struct vary_list *list, struct err *e) {
    char path[PATH_MAX];
    struct buf text = {0};
    struct err line_error = {0};
    vary_path(ex, path);
    if (!file_exists(path)) return refuse_exercise(ex, e);
    bool is_read = file_read(path, MAX_FILE_BYTES, &text, e);
    bool ok = is_read && vary_parse(buf_str(&text), list, &line_error);
    if (is_read && !ok) err_set(e, ERR_INPUT, "%s.vary: %s", book_id(ex), line_error.text);
    return buf_free(&text), ok;
}

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

/* Returns the script's exit status: 0 = the variant is verified. */
static int run_script(const struct exercise *ex, const char *folder) {
    char script[PATH_MAX];
    pid_t child;
    int status = 0;
    if (!path_join(script, sizeof script, book_root(), "grader/vary.sh")) return -1;
    fflush(stdout);
    if ((child = fork()) == 0) {
        execl("/bin/sh", "sh", script, book_root(), paths_program_dir(), folder, book_id(ex),
              (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_choice(const struct exercise *ex, struct vary_choice *const chosen[2]) {
    printf("%s: %s", ex->name, chosen[0]->description);
    if (chosen[1]) printf("; %s", chosen[1]->description);
    printf("\n");
}

static bool check_arguments(const struct options *o, struct err *e) {
    if (!o->has_seed)
        return err_set(e, ERR_INPUT, "vary needs --seed TEXT, which selects the variant");
    if (!o->output) return err_set(e, ERR_INPUT, "vary needs --output DIR, a new folder");
    return !file_exists(o->output) ||
           err_set(e, ERR_INPUT, "%.200s exists; name a new folder", o->output);
}

int cmd_vary(const struct options *o) {
    struct err e = {0};
    struct vary_list list = {0};
    struct vary_choice *chosen[2];
    const struct exercise *ex = cli_select_exercise(o, &e);
    bool ok = ex && read_list(ex, &list, &e) && check_arguments(o, &e);
    if (ok) vary_select(&list, o->seed, chosen), print_choice(ex, chosen);
    ok = ok && vary_exercise(ex, chosen, o->output, &e);
    if (ok && run_script(ex, o->output) != 0)
        ok = err_set(&e, ERR_SYSTEM, "the variant in %.200s is not verified; see above", o->output);
    vary_free(&list);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

/* cmd_help.c — grader hint, solution and reset, for a student who is stuck. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 20 };

bool cli_find_hint(const char *text, unsigned n, struct buf *out) {
    char heading[32];
    snprintf(heading, sizeof heading, "## Hint %u", n);
    const char *at = text;
    size_t heading_length = strlen(heading);
    while ((at = strstr(at, heading)) && ((at != text && at[-1] != '\n') ||
                                          (at[heading_length] >= '0' && at[heading_length] <= '9')))
        at++;
    if (!at) return false;
    at += strcspn(at, "\n");
    const char *end = strstr(at, "\n## ");
    size_t size = end ? (size_t)(end - at) : strlen(at);
    while (size && (*at == '\n' || *at == ' ')) at++, size--;
    while (size && (at[size - 1] == '\n' || at[size - 1] == ' ')) size--;
    buf_add(out, at, size);
    return size > 0;
}

unsigned cli_hint_count(const char *text) {
    unsigned n = 0;
    for (struct buf hint = {0}; cli_find_hint(text, n + 1, &hint); n++) buf_free(&hint);
    return n;
}

/* Appends what to do after a hint. Only `grader watch` captures the output, and it has keys. */
static void put_after_hint(const struct options *o, const struct exercise *ex, bool has_next,
                           struct buf *out) {
    bool is_watch = o->captured_output;
    if (has_next)
        buf_printf(out, "%s shows the next one.\n",
                   is_watch ? "h"
                   : o->all ? "The same command without --all"
                            : "The same command");
    else if (!book_has_solutions()) buf_puts(out, "That was the last hint.\n");
    else if (is_watch) buf_puts(out, "That was the last hint. s shows the model solution.\n");
    else
        buf_printf(out, "That was the last hint. To see the model solution: %s solution %s\n",
                   paths_command("grader"), ex->name);
}

int cmd_hint(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_select_exercise(o, &e);
    struct buf text = {0}, out = {0};
    if (!ex || !file_read(book_chapter_file(ex, ".md"), MAX_TEXT_BYTES, &text, &e))
        return cli_report_error(&e);
    text_strip_comments(&text);
    struct report_style style = o->output ? (struct report_style){.width = 100} : cli_style_for(1);
    unsigned hint_count = cli_hint_count(buf_str(&text));
    struct progress p;
    progress_load(ex, &p);
    /* --all repeats the hints seen so far; before the first one it shows the first. */
    unsigned next = o->all && p.hint_count ? p.hint_count : p.hint_count + 1;
    unsigned last_shown = next < hint_count ? next : hint_count;
    for (unsigned i = o->all ? 1 : last_shown; i <= last_shown && hint_count; i++) {
        struct buf hint = {0};
        buf_printf(&out, "Hint %u of %u for %s\n\n", i, hint_count, book_id(ex));
        cli_find_hint(buf_str(&text), i, &hint);
        report_markdown(buf_str(&hint), &style, &out);
        buf_puts(&out, "\n"), buf_free(&hint);
    }
    if (!hint_count) buf_printf(&out, "%s has no hints.\n", book_id(ex));
    else put_after_hint(o, ex, last_shown < hint_count, &out);
    if (last_shown != p.hint_count) p.hint_count = last_shown, progress_save(ex, &p);
    bool ok = cli_write_output(o, &out, &e);
    buf_free(&text), buf_free(&out);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

/* Returns the path as the reader finds it: relative to the root in a source tree, else absolute. */
static const char *display_path(const char *path) {
    return paths_is_installed() ? path : path + strlen(book_root()) + 1;
}

int cmd_solution(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_select_exercise(o, &e);
    struct buf out = {0};
    char folder[PATH_MAX];
    if (!cli_has_solutions(o, &e) || !ex ||
        !file_read(book_solution_file(ex, NULL), MAX_TEXT_BYTES, &out, &e))
        return cli_report_error(&e);
    char **steps = book_ladder_steps(ex);
    buf_printf(&out, "\n// This is %s. The steps that lead to it:\n",
               display_path(book_solution_file(ex, NULL)));
    for (char **s = steps; *s; s++)
        buf_printf(&out, "//   %s\n", display_path(book_solution_file(ex, *s)));
    snprintf(folder, sizeof folder, "%.3800s/solutions/%.100s", book_root(), ex->chapter);
    buf_printf(&out, "// What each step changes and gains: %s/%s-ladder.md\n", display_path(folder),
               ex->name);
    book_free_list(steps);
    bool ok = cli_write_output(o, &out, &e);
    buf_free(&out);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

/* ---- reset ---- */

/* Writes NAME.cu.bak-1, -2, …, the first name that is free, so that no version is lost. */
static bool write_backup(const char *path, const struct buf *text, char *backup, size_t size,
                         struct err *e) {
    for (unsigned i = 1; i < 10000; i++) {
        snprintf(backup, size, "%s.bak-%u", path, i);
        if (!file_exists(backup)) return file_write(backup, buf_str(text), text->size, e);
    }
    return err_set(e, ERR_LIMIT, "%s has 9999 backups; remove some", path);
}

/* Appends what it did to `out`. */
static bool reset_exercise(const struct exercise *ex, struct buf *out, struct err *e) {
    char path[PATH_MAX + 512], backup[PATH_MAX + 544];
    struct buf starter = {0}, current = {0};
    struct err ignored = {0};
    snprintf(path, sizeof path, "%s", book_student_file(ex));
    bool existed = file_read(path, MAX_TEXT_BYTES, &current, &ignored),
         ok = book_original_starter(ex, &starter, e);
    bool is_unchanged = ok && existed && current.size == starter.size &&
                        !memcmp(current.data, starter.data, current.size);
    if (ok && is_unchanged)
        buf_printf(out, "%s is the starter file already; nothing to do\n", path);
    else if (ok && existed) ok = write_backup(path, &current, backup, sizeof backup, e);
    if (ok && !is_unchanged) ok = file_write(path, starter.data, starter.size, e);
    if (ok && !is_unchanged && existed)
        buf_printf(out, "%s is the starter file again; your version is in %s\n", path,
                   path_basename(backup));
    if (ok && !existed) buf_printf(out, "%s restored\n", path);
    buf_free(&starter), buf_free(&current);
    return ok;
}

int cmd_reset(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_select_exercise(o, &e);
    struct buf out = {0};
    bool ok = ex && reset_exercise(ex, &out, &e) && cli_write_output(o, &out, &e);
    buf_free(&out);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

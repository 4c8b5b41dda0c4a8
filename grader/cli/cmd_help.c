/* cmd_help.c — grader hint, solution, reset: the three ways to go on when stuck. */
#include "common/file.h"
#include "common/where.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 1 << 20 };

/* The text under "## Hint n", without the heading; false if there is none. */
static bool find_hint(const char *text, unsigned n, struct buf *out) {
    char heading[32];
    snprintf(heading, sizeof heading, "## Hint %u", n);
    const char *at = text;
    size_t length = strlen(heading);
    while ((at = strstr(at, heading)) &&
           ((at != text && at[-1] != '\n') || (at[length] >= '0' && at[length] <= '9')))
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

/* How many hints an exercise's text holds, numbered from 1 without a gap. */
unsigned cli_hint_count(const char *text) {
    unsigned n = 0;
    for (struct buf one = {0}; find_hint(text, n + 1, &one); n++) buf_free(&one);
    return n;
}

int cmd_hint(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_chosen_one(o, &e);
    struct buf text = {0}, out = {0};
    if (!ex || !file_read(book_chapter_file(ex, ".md"), TEXT_LIMIT, &text, &e))
        return cli_complain(&e);
    text_strip_comments(&text);
    struct report_style style = o->output ? (struct report_style){.width = 100} : cli_style_for(1);
    unsigned total = cli_hint_count(buf_str(&text));
    struct progress p;
    progress_load(ex, &p);
    unsigned next = o->all && p.hints
                        ? p.hints
                        : p.hints + 1; /* --all repeats; before the first hint it shows that */
    unsigned shown = next < total ? next : total;
    for (unsigned i = o->all ? 1 : shown; i <= shown && total; i++) {
        struct buf hint = {0};
        buf_printf(&out, "Hint %u of %u for %s\n\n", i, total, book_id(ex));
        find_hint(buf_str(&text), i, &hint);
        report_markdown(buf_str(&hint), &style, &out);
        buf_puts(&out, "\n"), buf_free(&hint);
    }
    if (!total) buf_printf(&out, "%s has no hints.\n", book_id(ex));
    else if (shown < total)
        buf_printf(&out, "%s shows the next one.\n",
                   o->all ? "Without --all the command" : "The same command");
    else if (!book_has_solutions()) buf_puts(&out, "That was the last one.\n");
    else
        buf_printf(&out, "That was the last one. The model answer: %s solution %s\n",
                   paths_command("grader"), ex->name);
    if (shown != p.hints) p.hints = shown, progress_save(ex, &p);
    bool ok = cli_deliver(o, &out, &e);
    buf_free(&text), buf_free(&out);
    return ok ? EXIT_PASSED : cli_complain(&e);
}

/* As the reader finds it: in a source tree from its root. */
static const char *shown(const char *path) {
    return paths_is_installed() ? path : path + strlen(book_root()) + 1;
}

int cmd_solution(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_chosen_one(o, &e);
    struct buf out = {0};
    char folder[PATH_MAX];
    if (!cli_has_answers(o, &e) || !ex ||
        !file_read(book_solution_file(ex, NULL), TEXT_LIMIT, &out, &e))
        return cli_complain(&e);
    char **steps = book_ladder_steps(ex);
    buf_printf(&out, "\n// This is %s. The steps that lead to it:\n",
               shown(book_solution_file(ex, NULL)));
    for (char **s = steps; *s; s++)
        buf_printf(&out, "//   %s\n", shown(book_solution_file(ex, *s)));
    snprintf(folder, sizeof folder, "%.3800s/solutions/%.100s", book_root(), ex->chapter);
    buf_printf(&out, "// What each step changes, and what it gains: %s/%s-ladder.md\n",
               shown(folder), ex->name);
    book_free_list(steps);
    bool ok = cli_deliver(o, &out, &e);
    buf_free(&out);
    return ok ? EXIT_PASSED : cli_complain(&e);
}

/* ---- reset ---- */

/* NAME.cu.bak-1, -2, …: the first name that is free, so that no version is lost. */
static bool back_up(const char *path, const struct buf *text, char *backup, size_t size,
                    struct err *e) {
    for (unsigned i = 1; i < 10000; i++) {
        snprintf(backup, size, "%s.bak-%u", path, i);
        if (!file_exists(backup)) return file_write(backup, buf_str(text), text->size, e);
    }
    return err_set(e, ERR_LIMIT, "%s: 9999 backups exist; remove some", path);
}

static bool reset(const struct exercise *ex, struct err *e) {
    char path[PATH_MAX + 512], backup[PATH_MAX + 544];
    struct buf skeleton = {0}, mine = {0};
    struct err none = {0};
    snprintf(path, sizeof path, "%s", book_student_file(ex));
    bool had = file_read(path, TEXT_LIMIT, &mine, &none),
         ok = book_original_starter(ex, &skeleton, e);
    bool same =
        ok && had && mine.size == skeleton.size && !memcmp(mine.data, skeleton.data, mine.size);
    if (ok && same) printf("%s is as it came; nothing to do\n", path);
    else if (ok && had) ok = back_up(path, &mine, backup, sizeof backup, e);
    if (ok && !same) ok = file_write(path, skeleton.data, skeleton.size, e);
    if (ok && !same && had)
        printf("%s is as it came again; your version is in %s\n", path, path_basename(backup));
    if (ok && !had) printf("%s restored\n", path);
    buf_free(&skeleton), buf_free(&mine);
    return ok;
}

int cmd_reset(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_chosen_one(o, &e);
    return ex && reset(ex, &e) ? EXIT_PASSED : cli_complain(&e);
}

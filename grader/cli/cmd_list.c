/* cmd_list.c — grader list: shows chapters, exercises and the student's progress. */
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_WIDTH = 34 };

struct list_totals {
    unsigned exercise_count, done_count, tried_count;
    double points;
};

static enum verdict verdict_of(const char *code) {
    for (int v = 0; v < V_COUNT; v++)
        if (!strcmp(verdict_code(v), code)) return v;
    return V_IE;
}

/* Appends a line of about 80 columns: name, state, verdict, score, title. */
static void put_line(const struct exercise *ex, const struct report_style *s,
                     struct list_totals *totals, struct buf *out) {
    struct progress p;
    progress_load(ex, &p);
    bool is_started = !progress_is_unmodified(ex), is_done = is_started && !strcmp(p.verdict, "AC");
    enum verdict v = verdict_of(p.verdict);
    const char *colour = is_started && p.verdict[0]
                             ? report_style_escape(s, report_verdict_style(v))
                             : report_style_escape(s, TEXT_STYLE_DIM);
    const char *state = !is_started ? "not started" : is_done ? "done" : "tried";
    buf_printf(out, "  %-18s %s%-11s%s ", ex->name, colour, state,
               report_style_escape(s, TEXT_STYLE_NONE));
    if (is_started && p.verdict[0]) buf_printf(out, "%-4s %5.1f", p.verdict, p.score);
    else buf_printf(out, "%10s", "");
    if (is_started && p.verdict[0]) totals->points += p.score;
    totals->exercise_count++, totals->done_count += is_done,
        totals->tried_count += is_started && !is_done;
    bool fits = strlen(ex->title) <= TITLE_WIDTH;
    buf_printf(out, "  %.*s%s", fits ? TITLE_WIDTH : TITLE_WIDTH - 1, ex->title, fits ? "" : "…");
    if (p.hint_count)
        buf_printf(out, " %s(%u hint%s)%s", report_style_escape(s, TEXT_STYLE_DIM), p.hint_count,
                   p.hint_count == 1 ? "" : "s", report_style_escape(s, TEXT_STYLE_NONE));
    buf_puts(out, "\n");
}

static void put_heading(const char *text, const struct report_style *s, struct buf *out) {
    buf_printf(out, "%s%s%s\n", report_style_escape(s, TEXT_STYLE_BOLD), text,
               report_style_escape(s, TEXT_STYLE_NONE));
}

static void put_totals(const struct list_totals *t, struct buf *out) {
    buf_printf(out, "\n%u of %u done, %u tried, %u not started; %.1f of %u points\n", t->done_count,
               t->exercise_count, t->tried_count,
               t->exercise_count - t->done_count - t->tried_count, t->points,
               100 * t->exercise_count);
}

static void put_next(struct buf *out) {
    const struct exercise *next;
    progress_count_passed(&next);
    if (next)
        buf_printf(out, "Next: chapters/%s/%s.md, then %s run %s\n", next->chapter, next->name,
                   paths_command("grader"), next->name);
}

/* ---- paths ---- */

/* Appends the paths' names, and marks the one that the student follows. */
static void put_path_names(struct buf *out) {
    const struct book_path_row *followed = progress_followed_path(), *path;
    buf_puts(out, "Paths:");
    for (unsigned i = 0; (path = book_path_at(i)); i++)
        buf_printf(out, "%s %s%s", i ? "," : "", path->name, path == followed ? " (followed)" : "");
    buf_printf(out, ". To follow one: %s list --path NAME\n", paths_command("grader"));
}

static void put_path(const struct book_path_row *path, const struct report_style *s,
                     struct buf *out) {
    struct list_totals totals = {0};
    unsigned minutes = 0;
    put_heading(path->title, s, out);
    report_markdown(path->text, s, out);
    buf_puts(out, "\n");
    for (const struct book_path_row *row = path; (row = book_path_next(row));) {
        if (row->kind == BOOK_PATH_PART) put_heading(row->title, s, out);
        if (row->kind != BOOK_PATH_STEP) continue;
        const struct exercise *ex = book_path_exercise(row);
        const struct book_path_row *plan = book_path_plan(ex);
        put_line(ex, s, &totals, out);
        minutes += plan ? plan->minutes : 0;
    }
    put_totals(&totals, out);
    buf_printf(out, "Planned: %u h %02u min, without the lessons.\n", minutes / 60, minutes % 60);
}

/* `book` is no path: it returns to the order of the book. */
static bool list_path(const struct options *o, const struct report_style *s, struct buf *out,
                      struct err *e) {
    bool is_book = !strcmp(o->path, "book");
    const struct book_path_row *path = is_book ? NULL : book_path_find(o->path, e);
    if (o->noperands)
        return err_set(e, ERR_INPUT, "list takes either exercises or --path, not both");
    if ((!path && !is_book) || !progress_follow_path(path, e)) return false;
    if (is_book) buf_puts(out, "You follow the order of the book.\n");
    else put_path(path, s, out);
    put_next(out);
    return true;
}

static bool list_exercises(const struct options *o, const struct report_style *s, struct buf *out,
                           struct err *e) {
    struct list_totals totals = {0};
    const struct exercise **list = cli_select_exercises(o, e);
    if (!list) return false;
    for (unsigned i = 0; list[i]; i++) {
        if (i == 0 || strcmp(list[i]->chapter, list[i - 1]->chapter))
            put_heading(list[i]->chapter, s, out);
        put_line(list[i], s, &totals, out);
    }
    put_totals(&totals, out);
    if (!o->noperands) put_path_names(out);
    free(list);
    return true;
}

int cmd_list(const struct options *o) {
    struct err e = {0};
    struct buf out = {0};
    struct report_style style = o->output ? (struct report_style){.width = 100} : cli_style_for(1);
    bool ok = (o->path ? list_path : list_exercises)(o, &style, &out, &e) &&
              cli_write_output(o, &out, &e);
    buf_free(&out);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

/* reading_path.c — see reading_path.h. */
#include "grader/book/reading_path.h"
#include "grader/book/book.h"

#include <string.h>

static const struct book_path_row all_rows[] = {
#define PLAN(exercise, minutes_, needs) \
    {.kind = BOOK_PATH_PLAN, .name = #exercise, .text = needs, .minutes = minutes_},
#define PATH(name_, title_, text_) \
    {.kind = BOOK_PATH_BEGIN, .name = #name_, .title = title_, .text = text_},
#define PART(title_)   {.kind = BOOK_PATH_PART, .title = title_},
#define STEP(exercise) {.kind = BOOK_PATH_STEP, .name = #exercise},
#include "chapters/paths.def"
#undef PLAN
#undef PATH
#undef PART
#undef STEP
};
enum { ROW_COUNT = sizeof all_rows / sizeof *all_rows };

const struct book_path_row *book_path_rows(unsigned *n) { return *n = ROW_COUNT, all_rows; }

static const struct exercise *find_exercise(const char *name) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_at(i)->name, name)) return book_at(i);
    return NULL;
}

/* ---- check ---- */

/* Returns the plan of an exercise in the first n rows; NULL if it has none. */
static const struct book_path_row *find_plan(const struct book_path_row *rows, unsigned n,
                                             const char *exercise) {
    for (unsigned i = 0; i < n; i++)
        if (rows[i].kind == BOOK_PATH_PLAN && !strcmp(rows[i].name, exercise)) return &rows[i];
    return NULL;
}

/* Copies the next of the names in `*list`, which it advances; false at the end. */
static bool next_name(const char **list, char name[64]) {
    *list += strspn(*list, " ");
    size_t n = strcspn(*list, " ");
    if (!n || n >= 64) return false;
    memcpy(name, *list, n), name[n] = 0;
    *list += n;
    return true;
}

static bool is_step_between(const struct book_path_row *from, const struct book_path_row *to,
                            const char *exercise) {
    for (; from < to; from++)
        if (from->kind == BOOK_PATH_STEP && !strcmp(from->name, exercise)) return true;
    return false;
}

static bool check_plan(const struct book_path_row *plan, struct err *e) {
    char name[64];
    if (!find_exercise(plan->name))
        return err_set(e, ERR_INPUT, "chapters/paths.def: PLAN(%s): no such exercise", plan->name);
    for (const char *list = plan->text; next_name(&list, name);)
        if (!find_exercise(name))
            return err_set(e, ERR_INPUT, "chapters/paths.def: PLAN(%s): no exercise is named '%s'",
                           plan->name, name);
    return true;
}

static bool check_step(const struct book_path_row *rows, unsigned n,
                       const struct book_path_row *path, const struct book_path_row *step,
                       struct err *e) {
    char name[64];
    if (!path)
        return err_set(e, ERR_INPUT, "chapters/paths.def: STEP(%s) before any PATH", step->name);
    if (!find_exercise(step->name))
        return err_set(e, ERR_INPUT, "chapters/paths.def: path %s: no exercise is named '%s'",
                       path->name, step->name);
    if (is_step_between(path, step, step->name))
        return err_set(e, ERR_INPUT, "chapters/paths.def: path %s has %s twice", path->name,
                       step->name);
    const struct book_path_row *plan = find_plan(rows, n, step->name);
    for (const char *list = plan ? plan->text : ""; next_name(&list, name);)
        if (!is_step_between(path, step, name))
            return err_set(e, ERR_INPUT, "chapters/paths.def: path %s: %s needs %s before it",
                           path->name, step->name, name);
    return true;
}

bool book_path_check(const struct book_path_row *rows, unsigned n, struct err *e) {
    const struct book_path_row *path = NULL;
    for (const struct book_path_row *r = rows; r < rows + n; r++) {
        if (r->kind == BOOK_PATH_BEGIN) path = r;
        if (r->kind == BOOK_PATH_PLAN && !check_plan(r, e)) return false;
        if (r->kind == BOOK_PATH_STEP && !check_step(rows, n, path, r, e)) return false;
    }
    return true;
}

/* ---- the book's paths ---- */

const struct book_path_row *book_path_at(unsigned i) {
    for (unsigned k = 0; k < ROW_COUNT; k++)
        if (all_rows[k].kind == BOOK_PATH_BEGIN && !i--) return &all_rows[k];
    return NULL;
}

const struct book_path_row *book_path_find(const char *name, struct err *e) {
    struct buf names = {0};
    const struct book_path_row *path;
    for (unsigned i = 0; (path = book_path_at(i)); i++) {
        if (!strcmp(path->name, name)) break;
        buf_printf(&names, " %s", path->name);
    }
    if (!path)
        err_set(e, ERR_INPUT, "no path is named '%.60s'; choose one of%s", name, buf_str(&names));
    buf_free(&names);
    return path;
}

const struct book_path_row *book_path_next(const struct book_path_row *row) {
    bool is_last = row + 1 == all_rows + ROW_COUNT;
    return is_last || row[1].kind == BOOK_PATH_BEGIN || row[1].kind == BOOK_PATH_PLAN ? NULL
                                                                                      : row + 1;
}

const struct exercise *book_path_exercise(const struct book_path_row *step) {
    return find_exercise(step->name);
}

const struct book_path_row *book_path_plan(const struct exercise *ex) {
    return find_plan(all_rows, ROW_COUNT, ex->name);
}

/* ---- Markdown ---- */

static void put_step(const struct exercise *ex, struct buf *out) {
    const struct book_path_row *plan = book_path_plan(ex);
    char name[64];
    buf_printf(out, "| `%s` | %s | ", ex->name, ex->title);
    if (plan) buf_printf(out, "%u", plan->minutes);
    buf_puts(out, " | ");
    const char *list = plan ? plan->text : "", *separator = "";
    for (; next_name(&list, name); separator = ", ") buf_printf(out, "%s`%s`", separator, name);
    buf_puts(out, " |\n");
}

void book_path_markdown(const struct book_path_row *path, struct buf *out) {
    static const char table[] = "\n| exercise | what it is about | minutes | builds on |\n"
                                "|---|---|---|---|\n";
    buf_printf(out, "# %s\n\n%s\n", path->title, path->text);
    buf_printf(out,
               "\nTo follow this path, run `build/grader list --path %s`. The minutes are a "
               "plan, without the lesson.\n",
               path->name);
    bool is_in_table = false;
    for (const struct book_path_row *r = path; (r = book_path_next(r));) {
        if (r->kind == BOOK_PATH_PART) buf_printf(out, "\n## %s\n", r->title);
        else if (!is_in_table) buf_puts(out, table);
        is_in_table = r->kind == BOOK_PATH_STEP;
        if (is_in_table) put_step(book_path_exercise(r), out);
    }
}

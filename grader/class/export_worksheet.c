/* export_worksheet.c — see export_worksheet.h. The columns are those of each LMS's import:
 *
 * - Moodle's grading worksheet: Identifier, Grade, Maximum Grade, Last modified (grade);
 * - Canvas's gradebook: ID, "Homework 1 (123)"; a line "Points Possible" has the maximum;
 * - Blackboard's Grade Center: Username, "Homework 1 [Total Pts: 100 Score] |45";
 * - Brightspace: OrgDefinedId, "Homework 1 Points Grade <Numeric MaxPoints:100 ...>".
 *
 * All other columns stay as they are, byte for byte.
 *
 * Canvas alone imports an excused student, as the grade "EX". Its file has the same for whom
 * somebody excused there; such a cell stays, since a number would end the excuse. */
#include "grader/class/export_worksheet.h"
#include "common/text.h"
#include "grader/class/csv.h"
#include "grader/class/roster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct worksheet {
    enum worksheet_format format;
    struct buf text;
    enum csv_encoding encoding;
    char separator;
    struct roster roster;
    double *percent;  /* by row of the roster; NAN = none */
    bool *is_student; /* the row is somebody of the store */
    bool *is_excused; /* from all that the grade is for */
    int grade, max;   /* columns; max -1 = none */
    double column_max;
};

/* ---- columns ---- */

static int find_column(const struct csv_row *header, const char *name) {
    for (unsigned i = 0; i < header->n; i++)
        if (!strcmp(header->cells[i], name)) return (int)i;
    return -1;
}

/* Returns the column that begins with `name` and then has `suffix`; -1 = none, -2 = several. */
static int find_grade_column(const struct csv_row *header, const char *name, const char *suffix) {
    int found = -1;
    for (unsigned i = 0; i < header->n; i++) {
        if (!text_starts_with(header->cells[i], name)) continue;
        const char *rest = header->cells[i] + strlen(name);
        if (!text_starts_with(rest, suffix) && *rest) continue;
        found = found == -1 ? (int)i : -2;
    }
    return found;
}

/* Returns the number behind `label` in a text; `otherwise` if there is none. */
static double number_after(const char *text, const char *label, double otherwise) {
    const char *at = strstr(text, label);
    double number = at ? strtod(at + strlen(label), NULL) : 0;
    return number > 0 ? number : otherwise;
}

static bool find_columns(struct worksheet *w, const struct worksheet_options *o, const char *name,
                         const struct csv_row *header, struct err *e) {
    static const char *const suffixes[] = {[WORKSHEET_moodle] = "",
                                           [WORKSHEET_canvas] = " (",
                                           [WORKSHEET_blackboard] = " [",
                                           [WORKSHEET_brightspace] = " Points Grade"},
                             *const labels[] = {[WORKSHEET_moodle] = "MaxPoints:",
                                                [WORKSHEET_canvas] = "MaxPoints:",
                                                [WORKSHEET_blackboard] = "Total Pts: ",
                                                [WORKSHEET_brightspace] = "MaxPoints:"};
    bool is_moodle = o->format == WORKSHEET_moodle;
    w->max = is_moodle ? find_column(header, "Maximum Grade") : -1;
    w->grade = o->column   ? find_grade_column(header, o->column, "")
               : is_moodle ? find_column(header, "Grade")
                           : find_grade_column(header, name, suffixes[o->format]);
    if (w->grade < 0)
        return err_set(e, ERR_INPUT, "%s: %s column begins with '%.80s'; name one with --column",
                       o->path, w->grade == -2 ? "more than one" : "no",
                       o->column   ? o->column
                       : is_moodle ? "Grade"
                                   : name);
    w->column_max = number_after(header->cells[w->grade], labels[o->format], 100);
    return true;
}

/* ---- grades ---- */

/* Queries students, percentages and whether somebody excused the student. */
static struct store_rows *query_percent(struct store *s, const struct worksheet_options *o,
                                        struct err *e) {
    if (!o->exercise && store_query_int(s, e, "SELECT count(*) FROM assignment") > 0)
        return store_query(s, e,
                           "SELECT student, percent, CASE WHEN percent IS NULL AND open = '' AND "
                           "excused > 0 THEN 1 ELSE 0 END FROM total",
                           "");
    return store_query(s, e,
                       "SELECT g.student, 100.0 * g.score / g.max_score * coalesce(l.kept, 1.0), "
                       "CASE WHEN g.state = 'excused' THEN 1 ELSE 0 END FROM gradebook g LEFT JOIN "
                       "late l ON l.student = g.submitter "
                       "WHERE g.exercise = coalesce(?1, g.exercise)",
                       "t", o->exercise);
}

static bool check_exercise(struct store *s, const struct worksheet_options *o, struct err *e) {
    return o->exercise || store_query_int(s, e, "SELECT count(*) FROM assignment") > 0 ||
           store_query_int(s, e, "SELECT count(DISTINCT exercise) FROM submission") <= 1 ||
           err_set(e, ERR_INPUT,
                   "%s has several exercises and no assignment; name one with --exercise", s->path);
}

static bool read_percents(struct store *s, const struct worksheet_options *o, struct worksheet *w,
                          struct worksheet_counts *counts, struct buf *absent, struct err *e) {
    struct store_rows *q = check_exercise(s, o, e) ? query_percent(s, o, e) : NULL;
    while (store_step(s, &q, e)) {
        const char *student = store_column_text(q, 0);
        bool has_percent = !store_column_is_null(q, 1);
        int row = roster_find(&w->roster, student);
        if (row < 0) counts->absent++, buf_printf(absent, "%s\n", student);
        else
            w->percent[row] = has_percent ? store_column_double(q, 1) : NAN,
            w->is_student[row] = true, w->is_excused[row] = store_column_int(q, 2);
    }
    return !e->text[0];
}

/* ---- the file ---- */

/* Writes a student's new grade to `grade`, or "" to keep the old cell. */
static void write_grade(const struct worksheet *w, const struct csv_row *row, int index,
                        struct worksheet_counts *counts, char grade[32]) {
    const char *old = row->cells[w->grade];
    bool is_excused_there = w->format == WORKSHEET_canvas && !strcasecmp(old, "EX");
    grade[0] = 0;
    if (w->is_excused[index] || is_excused_there) {
        counts->excused++;
        if (w->format == WORKSHEET_canvas && !is_excused_there) strcpy(grade, "EX");
    } else if (isnan(w->percent[index])) counts->open++;
    else {
        counts->graded++;
        double max =
            w->max >= 0 && (unsigned)w->max < row->n ? strtod(row->cells[w->max], NULL) : 0;
        snprintf(grade, 32, "%.2f", w->percent[index] / 100 * (max > 0 ? max : w->column_max));
    }
}

/* Appends a row of the worksheet; `index` is the row's on the roster, -1 = none. */
static void put_row(const struct worksheet *w, const struct csv_row *row, int index,
                    const char *from, const char *to, struct worksheet_counts *counts,
                    struct buf *out) {
    char grade[32] = "";
    counts->unknown += index >= 0 && !w->is_student[index];
    if (index >= 0 && w->is_student[index] && (unsigned)w->grade < row->n)
        write_grade(w, row, index, counts, grade);
    if (!grade[0]) {
        buf_add(out, from, (size_t)(to - from));
        return;
    }
    const struct csv_cell_range *cell = &row->ranges[w->grade];
    buf_add(out, from, (size_t)(cell->from - from));
    buf_puts(out, grade);
    buf_add(out, cell->to, (size_t)(to - cell->to));
}

/* Fills all rows. In Canvas's file, a line of possible points comes before the students. */
static void put_rows(struct worksheet *w, const char *at, struct worksheet_counts *counts,
                     struct buf *out) {
    const char *end = buf_str(&w->text) + w->text.size;
    unsigned next = 0;
    for (unsigned line = 1; at < end; line++) {
        const char *from = at;
        struct csv_row row = csv_parse_row(&at, end, w->separator);
        bool is_student = next < w->roster.n && w->roster.rows[next].line == line;
        if (!strcmp(row.cells[0], "Points Possible") && (unsigned)w->grade < row.n)
            w->column_max = number_after(row.cells[w->grade], "", w->column_max);
        put_row(w, &row, is_student ? (int)next++ : -1, from, at, counts, out);
        csv_free_row(&row);
    }
}

static bool assignment_name(struct store *s, char name[256], struct err *e) {
    struct store_rows *q = store_query(s, e, "SELECT name FROM assignment", "");
    name[0] = 0;
    if (store_step(s, &q, e)) snprintf(name, 256, "%s", store_column_text(q, 0));
    store_finalize(&q);
    return !e->text[0];
}

static bool fill(struct store *s, const struct worksheet_options *o, struct worksheet *w,
                 struct worksheet_counts *counts, struct buf *absent, struct buf *out,
                 struct err *e) {
    char name[256];
    if (!csv_read_file(o->path, &w->text, &w->encoding, e) ||
        !roster_read(o->path, &w->roster, e) || !assignment_name(s, name, e))
        return false;
    w->percent = xcalloc(w->roster.n, sizeof *w->percent);
    w->is_student = xcalloc(w->roster.n, sizeof *w->is_student);
    w->is_excused = xcalloc(w->roster.n, sizeof *w->is_excused);
    w->separator = csv_separator(buf_str(&w->text));
    const char *at = buf_str(&w->text);
    struct csv_row header = csv_parse_row(&at, at + w->text.size, w->separator);
    bool ok = find_columns(w, o, name, &header, e) && read_percents(s, o, w, counts, absent, e);
    csv_free_row(&header);
    buf_add(out, buf_str(&w->text), (size_t)(at - buf_str(&w->text)));
    if (ok) put_rows(w, at, counts, out);
    return ok;
}

bool export_worksheet(struct store *s, const struct worksheet_options *o, FILE *f,
                      struct worksheet_counts *counts, struct buf *absent, struct err *e) {
    struct worksheet w = {.format = o->format};
    struct buf text = {0}, bytes = {0};
    *counts = (struct worksheet_counts){0};
    bool ok = fill(s, o, &w, counts, absent, &text, e);
    if (ok) csv_encode(&text, w.encoding, &bytes), fwrite(buf_str(&bytes), 1, bytes.size, f);
    buf_free(&text), buf_free(&bytes), buf_free(&w.text);
    free(w.percent), free(w.is_student), free(w.is_excused), roster_free(&w.roster);
    return ok;
}

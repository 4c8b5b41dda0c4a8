/* compare.c — see compare.h. Both gradebooks become temporary tables, because the views would be
 * evaluated again for each row of the comparison. */
#include "grader/class/compare.h"
#include "common/text.h"
#include "grader/class/export.h"

#include <string.h>

/* What a grade depends on, as columns; `terms` is the assignment's part. */
#define GRADE_COLUMNS                                                             \
    "g.student, g.exercise, g.state, g.verdict, g.score, g.max_score, g.reason, " \
    "g.source_sha256 AS source, g.seed, g.device, g.grader, g.nvcc, g.book, "     \
    "r.terms || r.counted AS terms, r.key"

static const char *const prepare_statements[] = {
    "DROP TABLE IF EXISTS old_grade",
    "DROP TABLE IF EXISTS new_grade",
    "CREATE TEMP TABLE old_grade AS SELECT " GRADE_COLUMNS
    " FROM gradebook g LEFT JOIN result r ON r.key = g.key",
    "CREATE TEMP TABLE new_grade AS SELECT " GRADE_COLUMNS
    " FROM other_gradebook g LEFT JOIN other_result r ON r.key = g.key",
    "CREATE UNIQUE INDEX old_grade_id ON old_grade (student, exercise)",
    "CREATE UNIQUE INDEX new_grade_id ON new_grade (student, exercise)",
};

#define DECIDED_STATES "'overridden', 'excused', 'moderated', 'in moderation'"
/* One of "", ", file" and so on for each thing that a grade depends on. */
#define CHANGES                                                                                   \
    "CASE WHEN coalesce(a.source, '') <> coalesce(b.source, '') THEN ', file' ELSE '' END || "    \
    "CASE WHEN a.state IN (" DECIDED_STATES ") OR b.state IN (" DECIDED_STATES                    \
    ") THEN ', decision' ELSE '' END || "                                                         \
    "CASE WHEN coalesce(a.source, '') = coalesce(b.source, '') AND (a.key IS NULL) <> (b.key IS " \
    "NULL) "                                                                                      \
    "THEN ', graded in one store only' ELSE '' END || "                                           \
    "CASE WHEN a.seed <> b.seed THEN ', seed' ELSE '' END || "                                    \
    "CASE WHEN a.device <> b.device THEN ', device' ELSE '' END || "                              \
    "CASE WHEN a.grader <> b.grader THEN ', grader' ELSE '' END || "                              \
    "CASE WHEN a.nvcc <> b.nvcc THEN ', nvcc' ELSE '' END || "                                    \
    "CASE WHEN a.book <> b.book THEN ', book' ELSE '' END || "                                    \
    "CASE WHEN a.terms <> b.terms THEN ', assignment' ELSE '' END"
#define OLD_SCORE EXPORT_ROUNDED("a.score")
#define NEW_SCORE EXPORT_ROUNDED("b.score")
static const char differences_sql[] =
    "SELECT p.student, p.exercise, coalesce(a.verdict, a.state, 'none'), " OLD_SCORE ","
    " coalesce(b.verdict, b.state, 'none'), " NEW_SCORE ","
    " CASE WHEN a.student IS NULL THEN 'only in the second store'"
    "  WHEN b.student IS NULL THEN 'only in the first store'"
    "  ELSE coalesce(nullif(substr(" CHANGES ", 3), ''), 'nothing that it depends on') END,"
    " coalesce(b.reason, '')"
    " FROM (SELECT student, exercise FROM old_grade"
    "  UNION SELECT student, exercise FROM new_grade) p"
    " LEFT JOIN old_grade a ON a.student = p.student AND a.exercise = p.exercise"
    " LEFT JOIN new_grade b ON b.student = p.student AND b.exercise = p.exercise"
    " WHERE coalesce(a.state, '') <> coalesce(b.state, '')"
    "  OR coalesce(a.verdict, '') <> coalesce(b.verdict, '')"
    "  OR coalesce(a.score, -1) <> coalesce(b.score, -1)"
    "  OR coalesce(a.max_score, -1) <> coalesce(b.max_score, -1)"
    " ORDER BY 1, 2";

static bool prepare_tables(struct store *s, struct err *e) {
    bool ok = true;
    for (unsigned i = 0; i < sizeof prepare_statements / sizeof *prepare_statements && ok; i++)
        ok = store_exec(s, e, prepare_statements[i], "");
    return ok;
}

static void write_csv_row(struct store_rows *q, FILE *f) {
    for (int i = 0; i < store_column_count(q); i++) {
        bool is_score = i == 3 || i == 5;
        struct buf cell = {0};
        text_clean_name(&cell, store_column_text(q, i));
        fputs(i ? "," : "", f);
        if (!is_score) export_csv_cell(f, buf_str(&cell));
        else if (strcmp(buf_str(&cell), "-")) fputs(buf_str(&cell), f);
        buf_free(&cell);
    }
    fputs("\r\n", f);
}

static void write_text_row(struct store_rows *q, FILE *f) {
    export_padded_text(f, store_column_text(q, 0), 24, true);
    fprintf(f, "%-20s %-8s %6s -> %-8s %6s  %s\n", export_exercise_name(store_column_text(q, 1)),
            store_column_text(q, 2), store_column_text(q, 3), store_column_text(q, 4),
            store_column_text(q, 5), store_column_text(q, 6));
}

static bool write_differences(struct store *s, bool as_csv, FILE *f, struct comparison *out,
                              struct err *e) {
    if (as_csv)
        fputs("student,exercise,old_verdict,old_score,new_verdict,new_score,changed,reason\r\n", f);
    struct store_rows *q = store_query(s, e, differences_sql, "");
    for (out->changed = 0; store_step(s, &q, e); out->changed++)
        as_csv ? write_csv_row(q, f) : write_text_row(q, f);
    return !e->text[0];
}

static const char means_sql[] =
    "SELECT count(*), avg(a.score), avg(b.score) FROM old_grade a JOIN new_grade b"
    " USING (student, exercise)";

static bool read_means(struct store *s, struct comparison *out, struct err *e) {
    struct store_rows *q = store_query(s, e, means_sql, "");
    if (store_step(s, &q, e)) {
        out->common = store_column_int64(q, 0);
        out->has_means = !store_column_is_null(q, 1) && !store_column_is_null(q, 2);
        out->old_mean = store_column_double(q, 1), out->new_mean = store_column_double(q, 2);
    }
    store_finalize(&q);
    return !e->text[0];
}

bool class_compare(struct store *s, const char *new_path, bool as_csv, FILE *f,
                   struct comparison *out, struct err *e) {
    *out = (struct comparison){0};
    if (!store_attach(s, new_path, e)) return false;
    bool ok =
        prepare_tables(s, e) && write_differences(s, as_csv, f, out, e) && read_means(s, out, e);
    return store_detach(s, ok, e);
}

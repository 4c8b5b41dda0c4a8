/* export_leaderboard.c — a page that ranks the students of each exercise by score, then by speed;
 * see export.h. Only correct results have a place; equal ones share it. */
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/class/pseudonym.h"

#include <string.h>

enum {
    COLUMN_exercise,
    COLUMN_student,
    COLUMN_name,
    COLUMN_percent,
    COLUMN_speed,
    COLUMN_kind,
    COLUMN_place
};

/* Students in one place come in the order of their results' keys: that of the ids would hint at the
 * names behind pseudonyms. */
static const char places_sql[] =
    "SELECT exercise, student, coalesce(nullif(name, ''), student), 100.0 * score / max_score,"
    " vs_solution, coalesce(speed_kind, ''),"
    " rank() OVER (PARTITION BY exercise ORDER BY score DESC, round(CAST(vs_solution AS NUMERIC), "
    "2) DESC NULLS LAST)"
    " FROM gradebook WHERE verdict IN ('AC', 'PART') AND score > 0"
    " ORDER BY exercise, 7, key";

static void put_row(struct store_rows *q, const char *key, struct buf *out) {
    char pseudonym[PSEUDONYM_SIZE] = "";
    if (key) pseudonym_make(key, store_column_text(q, COLUMN_student), pseudonym);
    buf_printf(out, "<tr><td class=\"n\">%d</td><td>", store_column_int(q, COLUMN_place));
    class_page_put_text(key ? pseudonym : store_column_text(q, COLUMN_name), out);
    buf_printf(out, "</td><td class=\"n\">%.1f</td><td class=\"n\">",
               store_column_double(q, COLUMN_percent));
    if (!store_column_is_null(q, COLUMN_speed))
        buf_printf(out, "%.2f</td><td>%s", store_column_double(q, COLUMN_speed),
                   store_column_text(q, COLUMN_kind));
    else buf_puts(out, "</td><td>");
    buf_puts(out, "</td></tr>\n");
}

static void begin_exercise(const char *exercise, struct buf *out) {
    buf_puts(out, "<h2>"), class_page_put_text(exercise, out);
    buf_puts(out, "</h2>\n<table><tr><th class=\"n\">place</th><th>student</th><th class=\"n\">"
                  "score</th><th class=\"n\">speed</th><th></th></tr>\n");
}

static void put_places(struct store *s, const char *key, struct buf *out, struct err *e) {
    struct store_rows *q = store_query(s, e, places_sql, "");
    char exercise[256] = "";
    while (store_step(s, &q, e)) {
        if (strcmp(exercise, store_column_text(q, COLUMN_exercise))) {
            buf_puts(out, *exercise ? "</table>\n" : "");
            snprintf(exercise, sizeof exercise, "%s", store_column_text(q, COLUMN_exercise));
            begin_exercise(exercise, out);
        }
        put_row(q, key, out);
    }
    buf_puts(out, *exercise ? "</table>\n" : "<p>No correct result yet.</p>\n");
}

bool export_leaderboard(struct store *s, bool with_pseudonyms, FILE *f, struct err *e) {
    char key[65];
    struct buf out = {0};
    if (with_pseudonyms && !pseudonym_load_key(s, key, e)) return false;
    class_page_begin("Leaderboard", &out);
    buf_puts(&out, "<p>Score in percent; speed relative to the model solution.</p>\n");
    put_places(s, with_pseudonyms ? key : NULL, &out, e);
    class_page_end(&out);
    fwrite(buf_str(&out), 1, out.size, f);
    buf_free(&out);
    return !e->text[0];
}

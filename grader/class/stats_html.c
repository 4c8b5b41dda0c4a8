/* stats_html.c — statistics of a class as a page with pictures; see export.h. Each part is one
 * query of the views that docs/store.md has, so that everybody can ask the same. */
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/page/page.h"

#include <stdio.h>
#include <string.h>

static void cell(struct buf *out, const char *text, bool number) {
    buf_puts(out, number ? "<td class=\"n\">" : "<td>"), class_page_text(text, out),
        buf_puts(out, "</td>");
}

static void table(struct store *s, const char *title, const char *heads, const char *sql,
                  struct buf *out, struct err *e) {
    sqlite3_stmt *q = store_ask(s, e, sql, "");
    bool any = false;
    buf_printf(out, "<h2>%s</h2>\n", title);
    for (; store_next(s, &q, e); any = true) {
        if (!any) buf_printf(out, "<table><tr>%s</tr>\n", heads);
        buf_puts(out, "<tr>");
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            int type = sqlite3_column_type(q, i);
            cell(out, store_text(q, i), type == SQLITE_INTEGER || type == SQLITE_FLOAT);
        }
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, any ? "</table>\n" : "<p>None.</p>\n");
}

/* ---- pictures ---- */

enum { BINS = 11, WIDTH = 640, HEIGHT = 160, MOST_DAYS = 60 };

struct bars {
    unsigned n;
    struct {
        char name[32];
        long long count;
    } bar[MOST_DAYS];
};

static void draw(const struct bars *b, const char *title, struct buf *out) {
    long long most = 1;
    for (unsigned i = 0; i < b->n; i++)
        if (b->bar[i].count > most) most = b->bar[i].count;
    double step = (double)WIDTH / (b->n > BINS ? b->n : BINS); /* a single day is no wall */
    page_svg_open(WIDTH + 20, HEIGHT + 60, title, out);
    page_svg_line(10, HEIGHT + 25, WIDTH + 10, HEIGHT + 25, "axis", out);
    for (unsigned i = 0; i < b->n; i++) {
        char text[32];
        double height = HEIGHT * (double)b->bar[i].count / (double)most, x = 10 + step * i;
        page_svg_bar(x + 2, HEIGHT + 25 - height, step - 4, height, "yours", out);
        snprintf(text, sizeof text, "%lld", b->bar[i].count);
        if (b->bar[i].count) page_svg_text(x + step / 2, HEIGHT + 20 - height, "middle", text, out);
        if (b->n <= 14 || i % (b->n / 7) == 0)
            page_svg_text(x + step / 2, HEIGHT + 42, "middle", b->bar[i].name, out);
    }
    page_svg_close(out);
}

/* Scores of an exercise: 0, above 0 to 10, … above 90 to below 100, and 100 for itself. */
static void distribution(struct store *s, const char *exercise, struct buf *out, struct err *e) {
    struct bars b = {.n = BINS + 1};
    for (unsigned i = 1; i < BINS; i++)
        snprintf(b.bar[i].name, sizeof b.bar[i].name, "%u-%u", 10 * i - 10, 10 * i);
    strcpy(b.bar[0].name, "0"), strcpy(b.bar[BINS].name, "100");
    sqlite3_stmt *q = store_ask(s, e,
                                "SELECT CASE WHEN p <= 0 THEN 0 WHEN p >= 100 THEN 11 ELSE 1 + "
                                "min(9, CAST(p / 10 AS INTEGER)) END, count(*)"
                                " FROM (SELECT 100.0 * score / max_score AS p FROM gradebook WHERE "
                                "exercise = ? AND score IS NOT NULL) GROUP "
                                "BY 1",
                                "t", exercise);
    while (store_next(s, &q, e)) b.bar[sqlite3_column_int(q, 0)].count = sqlite3_column_int64(q, 1);
    buf_puts(out, "<h2>"), class_page_text(exercise, out), buf_puts(out, "</h2>\n");
    draw(&b, "How many students have which score", out);
}

static void all_distributions(struct store *s, struct buf *out, struct err *e) {
    sqlite3_stmt *q = store_ask(s, e,
                                "SELECT DISTINCT exercise FROM gradebook WHERE score IS NOT NULL "
                                "AND exercise <> '' ORDER BY 1",
                                "");
    while (store_next(s, &q, e)) distribution(s, store_text(q, 0), out, e);
}

static void days(struct store *s, struct buf *out, struct err *e) {
    struct bars b = {0};
    sqlite3_stmt *q = store_ask(
        s, e,
        "SELECT substr(graded_at, 6, 5), count(*) FROM result GROUP BY substr(graded_at, 1, "
        "10) ORDER BY substr(graded_at, 1, 10) DESC LIMIT 60",
        "");
    while (store_next(s, &q, e)) {
        memmove(b.bar + 1, b.bar, b.n * sizeof *b.bar), b.n++;
        snprintf(b.bar[0].name, sizeof b.bar[0].name, "%s", store_text(q, 0)),
            b.bar[0].count = sqlite3_column_int64(q, 1);
        if (b.n == MOST_DAYS - 1) break;
    }
    store_end(&q);
    buf_puts(out, "<h2>Results by day</h2>\n");
    draw(&b, "Results by day", out);
}

bool export_stats_html(struct store *s, FILE *f, struct err *e) {
    struct buf out = {0};
    class_page_begin("Statistics of a class", &out);
    table(s, "Verdicts",
          "<th>exercise</th><th>verdict</th><th class=\"n\">students</th><th class=\"n\">mean "
          "score</th>",
          "SELECT exercise, verdict, students, round(mean_score, 1) FROM verdicts WHERE exercise "
          "<> '' ORDER BY "
          "exercise, students DESC",
          &out, e);
    all_distributions(s, &out, e);
    table(s, "Goals and guards that fail most",
          "<th class=\"n\">students</th><th>exercise</th><th>name</th><th></th>",
          "SELECT students, exercise, goal, kind FROM failed_goals ORDER BY students DESC, "
          "exercise, goal LIMIT 20",
          &out, e);
    table(s, "Cases that fail most",
          "<th class=\"n\">students</th><th>exercise</th><th>name</th><th></th>",
          "SELECT students, exercise, name, verdict FROM failed_cases ORDER BY students DESC, "
          "exercise, name LIMIT 20",
          &out, e);
    days(s, &out, e);
    class_page_end(&out);
    fwrite(buf_str(&out), 1, out.size, f);
    buf_free(&out);
    return !e->text[0];
}

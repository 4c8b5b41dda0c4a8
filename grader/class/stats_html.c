/* stats_html.c — statistics of a class as a page with pictures; see export.h. Each part is one
 * query of the views in docs/store.md, so you can run the same queries yourself. */
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/page/page.h"

#include <stdio.h>
#include <string.h>

static void put_cell(struct buf *out, const char *text, bool is_number) {
    buf_puts(out, is_number ? "<td class=\"n\">" : "<td>"), class_page_put_text(text, out),
        buf_puts(out, "</td>");
}

static void put_table(struct store *s, const char *title, const char *header_html, const char *sql,
                      struct buf *out, struct err *e) {
    struct store_rows *q = store_query(s, e, sql, "");
    bool any = false;
    buf_printf(out, "<h2>%s</h2>\n", title);
    for (; store_step(s, &q, e); any = true) {
        if (!any) buf_printf(out, "<table><tr>%s</tr>\n", header_html);
        buf_puts(out, "<tr>");
        for (int i = 0; i < store_column_count(q); i++)
            put_cell(out, store_column_text(q, i), store_column_is_number(q, i));
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, any ? "</table>\n" : "<p>None.</p>\n");
}

/* ---- pictures ---- */

enum { SCORE_BINS = 11, WIDTH = 640, HEIGHT = 160, MAX_DAYS = 60 };

struct histogram {
    unsigned n;
    struct {
        char label[32];
        long long count;
    } bins[MAX_DAYS];
};

static void put_histogram(const struct histogram *b, const char *title, struct buf *out) {
    long long max_count = 1;
    for (unsigned i = 0; i < b->n; i++)
        if (b->bins[i].count > max_count) max_count = b->bins[i].count;
    /* With few days, the bars are no wider than those of the scores. */
    double bin_width = (double)WIDTH / (b->n > SCORE_BINS ? b->n : SCORE_BINS);
    page_svg_open(WIDTH + 20, HEIGHT + 60, title, out);
    page_svg_line(10, HEIGHT + 25, WIDTH + 10, HEIGHT + 25, "axis", out);
    for (unsigned i = 0; i < b->n; i++) {
        char text[32];
        double height = HEIGHT * (double)b->bins[i].count / (double)max_count,
               x = 10 + bin_width * i;
        page_svg_bar(x + 2, HEIGHT + 25 - height, bin_width - 4, height, "yours", out);
        snprintf(text, sizeof text, "%lld", b->bins[i].count);
        if (b->bins[i].count)
            page_svg_text(x + bin_width / 2, HEIGHT + 20 - height, "middle", text, out);
        if (b->n <= 14 || i % (b->n / 7) == 0)
            page_svg_text(x + bin_width / 2, HEIGHT + 42, "middle", b->bins[i].label, out);
    }
    page_svg_close(out);
}

/* Draws an exercise's scores in percent: bins for 0, for each tenth below 100, and for 100. */
static void put_score_histogram(struct store *s, const char *exercise, struct buf *out,
                                struct err *e) {
    struct histogram b = {.n = SCORE_BINS + 1};
    for (unsigned i = 1; i < SCORE_BINS; i++)
        snprintf(b.bins[i].label, sizeof b.bins[i].label, "%u-%u", 10 * i - 10, 10 * i);
    strcpy(b.bins[0].label, "0"), strcpy(b.bins[SCORE_BINS].label, "100");
    struct store_rows *q =
        store_query(s, e,
                    "SELECT CASE WHEN p <= 0 THEN 0 WHEN p < 10 THEN 1 WHEN p < 20 THEN 2 "
                    "WHEN p < 30 THEN 3 WHEN p < 40 THEN 4 WHEN p < 50 THEN 5 WHEN p < 60 THEN 6 "
                    "WHEN p < 70 THEN 7 WHEN p < 80 THEN 8 WHEN p < 90 THEN 9 WHEN p < 100 THEN 10 "
                    "ELSE 11 END, count(*)"
                    " FROM (SELECT 100.0 * score / max_score AS p FROM gradebook WHERE "
                    "exercise = ? AND score IS NOT NULL) s GROUP "
                    "BY 1",
                    "t", exercise);
    while (store_step(s, &q, e)) b.bins[store_column_int(q, 0)].count = store_column_int64(q, 1);
    buf_puts(out, "<h2>"), class_page_put_text(exercise, out), buf_puts(out, "</h2>\n");
    put_histogram(&b, "Number of students by score in percent", out);
}

static void put_score_histograms(struct store *s, struct buf *out, struct err *e) {
    struct store_rows *q =
        store_query(s, e,
                    "SELECT DISTINCT exercise FROM gradebook WHERE score IS NOT NULL "
                    "AND exercise <> '' ORDER BY 1",
                    "");
    while (store_step(s, &q, e)) put_score_histogram(s, store_column_text(q, 0), out, e);
}

static void put_daily_results(struct store *s, struct buf *out, struct err *e) {
    struct histogram b = {0};
    struct store_rows *q = store_query(
        s, e,
        "SELECT substr(day, 6, 5), n FROM (SELECT substr(graded_at, 1, 10) AS day, count(*) AS n "
        "FROM result GROUP BY 1) d ORDER BY day DESC LIMIT 60",
        "");
    while (store_step(s, &q, e)) {
        memmove(b.bins + 1, b.bins, b.n * sizeof *b.bins), b.n++;
        snprintf(b.bins[0].label, sizeof b.bins[0].label, "%s", store_column_text(q, 0)),
            b.bins[0].count = store_column_int64(q, 1);
        if (b.n == MAX_DAYS - 1) break;
    }
    store_finalize(&q);
    buf_puts(out, "<h2>Results by day</h2>\n");
    put_histogram(&b, "Results by day", out);
}

bool export_stats_html(struct store *s, FILE *f, struct err *e) {
    struct buf out = {0};
    class_page_begin("Statistics of a class", &out);
    put_table(s, "Verdicts",
              "<th>exercise</th><th>verdict</th><th class=\"n\">students</th><th class=\"n\">mean "
              "score</th>",
              "SELECT exercise, verdict, students, round(CAST(mean_score AS NUMERIC), 1) FROM "
              "verdicts WHERE exercise "
              "<> '' ORDER BY "
              "exercise, students DESC",
              &out, e);
    put_score_histograms(s, &out, e);
    put_table(s, "Most failed goals and guards",
              "<th class=\"n\">students</th><th>exercise</th><th>name</th><th></th>",
              "SELECT students, exercise, goal, kind FROM failed_goals ORDER BY students DESC, "
              "exercise, goal LIMIT 20",
              &out, e);
    put_table(s, "Most failed cases",
              "<th class=\"n\">students</th><th>exercise</th><th>name</th><th></th>",
              "SELECT students, exercise, name, verdict FROM failed_cases ORDER BY students DESC, "
              "exercise, name LIMIT 20",
              &out, e);
    put_daily_results(s, &out, e);
    class_page_end(&out);
    fwrite(buf_str(&out), 1, out.size, f);
    buf_free(&out);
    return !e->text[0];
}

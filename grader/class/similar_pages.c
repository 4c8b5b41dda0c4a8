/* similar_pages.c — what similar.h found, as pages for a person to judge by, as a table, and as
 * files for other programs. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/class/similar.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAGES = 500, LINES = 6000 };

static bool put(const struct similar_pages *p, const char *name, const struct buf *b,
                struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, p->folder, name)
               ? file_write(path, buf_str(b), b->size, e)
               : err_set(e, ERR_INPUT, "%s: path too long", p->folder);
}

unsigned similar_text_list(const struct similar_class *c, FILE *f) {
    unsigned taken = 0;
    for (unsigned i = 0; i < c->npairs; i++) {
        const struct similar_pair *q = &c->pairs[i];
        fprintf(f, "%5.1f %%  %4u  %-32s %s  %s\n", 100 * q->share, q->common, book_id(c->ex),
                c->texts[q->a].student, c->texts[q->b].student);
    }
    for (unsigned i = 0; i < c->ntexts; i++) {
        const struct similar_text *t = &c->texts[i];
        if (t->taken < similar_usual.taken) continue;
        fprintf(f, "%5.1f %%  %4zu  %-32s %s  (the book's %s)\n", 100 * t->taken,
                c->versions[t->version].nown, book_id(c->ex), t->student,
                c->versions[t->version].name);
        taken++;
    }
    return taken;
}

/* ---- a pair ---- */

/* Which lines of a text are part of a passage. */
static bool *marked(const struct similar_text *t, const struct similar_passage *list, unsigned n,
                    bool second) {
    bool *m = xcalloc(LINES + 2, sizeof *m);
    for (unsigned i = 0; i < n; i++) {
        uint32_t from = second ? list[i].b : list[i].a, first = t->tokens[from].line,
                 last = t->tokens[from + list[i].n - 1].line;
        for (uint32_t l = first; l <= last && l <= LINES; l++) m[l] = true;
    }
    return m;
}

static void source(const struct similar_text *t, const bool *m, struct buf *out) {
    const char *at = buf_str(&t->source);
    buf_puts(out, "<div><h2>");
    class_page_text(t->student, out), buf_puts(out, " <span class=\"dim\">"),
        class_page_text(t->file, out);
    buf_puts(out, "</span></h2><table class=\"src\">\n");
    for (unsigned line = 1; *at && line <= LINES; line++) {
        size_t n = strcspn(at, "\n");
        struct buf one = {0};
        buf_add(&one, at, n < 400 ? n : 400);
        buf_printf(out, "<tr%s><td class=\"n\">%u</td><td>", m[line] ? " class=\"m\"" : "", line);
        class_page_text(buf_str(&one), out), buf_puts(out, "</td></tr>\n");
        buf_free(&one);
        at += n + (at[n] == '\n');
    }
    buf_puts(out, "</table></div>\n");
}

static void pair_page(const struct similar_class *c, const struct similar_pair *q,
                      struct buf *out) {
    const struct similar_text *a = &c->texts[q->a], *b = &c->texts[q->b];
    struct similar_passage *list = xcalloc(SIMILAR_PASSAGES, sizeof *list);
    unsigned n = similar_passages(c, q, list);
    bool *ma = marked(a, list, n, false), *mb = marked(b, list, n, true);
    class_page_begin(book_id(c->ex), out);
    buf_printf(out,
               "<p>%.0f %% of the fingerprints, %u of them, in %u passages. What the book has, and "
               "what a good part of "
               "the class has, is "
               "not counted, though it may stand within a "
               "passage.</p>\n<table><tr><th>lines</th><th>lines</th><th "
               "class=\"n\">tokens</th></tr>\n",
               100 * q->share, q->common, n);
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "<tr><td>%u-%u</td><td>%u-%u</td><td class=\"n\">%u</td></tr>\n",
                   a->tokens[list[i].a].line, a->tokens[list[i].a + list[i].n - 1].line,
                   b->tokens[list[i].b].line, b->tokens[list[i].b + list[i].n - 1].line, list[i].n);
    buf_puts(out, "</table>\n<div class=\"side\">\n");
    source(a, ma, out), source(b, mb, out);
    buf_puts(out, "</div>\n");
    class_page_end(out);
    free(ma), free(mb), free(list);
}

/* ---- files for other programs ---- */

static void csv(struct buf *out, const char *s) {
    buf_puts(out, *s && strchr("=+-@|%\t\r\n", s[strspn(s, " ")]) ? "\"'" : "\"");
    for (; *s; s++) *s == '"' ? buf_puts(out, "\"\"") : buf_add(out, s, 1);
    buf_puts(out, "\"");
}

static bool put_source(struct similar_pages *p, const struct similar_class *c, const char *kind,
                       const char *name, const struct buf *text, char path[PATH_MAX],
                       struct err *e) {
    char folder[PATH_MAX], shown[PATH_MAX];
    snprintf(shown, sizeof shown, "%s/%s", kind, c->ex->name);
    if (!path_join(folder, sizeof folder, p->folder, shown) || !dir_create(folder, e)) return false;
    snprintf(path, PATH_MAX, "%.200s/%.300s", shown, name);
    return put(p, path, text, e);
}

static bool put_sources(struct similar_pages *p, const struct similar_class *c, struct err *e) {
    struct buf skeleton = {0}, answer = {0};
    char path[PATH_MAX], name[256];
    bool ok = book_original_starter(c->ex, &skeleton, e) &&
              put_source(p, c, "boilerplate", "skeleton.cu", &skeleton, path, e);
    if (ok && book_has_solutions())
        ok = file_read(book_solution_file(c->ex, NULL), 1 << 20, &answer, e) &&
             put_source(p, c, "boilerplate", "answer.cu", &answer, path, e);
    for (unsigned i = 0; ok && i < c->ntexts; i++) {
        class_page_name(c->texts[i].student, ".cu", name);
        ok = put_source(p, c, "sources", name, &c->texts[i].source, path, e);
        csv(&p->info, path), buf_puts(&p->info, ","), csv(&p->info, c->texts[i].student),
            buf_puts(&p->info, ",");
        csv(&p->info, c->ex->name), buf_puts(&p->info, "\n");
    }
    buf_free(&skeleton), buf_free(&answer);
    return ok;
}

/* ---- all of it ---- */

bool similar_pages_begin(struct similar_pages *p, const char *folder, struct err *e) {
    *p = (struct similar_pages){.folder = folder};
    class_page_begin("Passages in common", &p->index);
    buf_puts(
        &p->index,
        "<p>A pair here is a reason to look, and no finding: docs/similarity.md says how often "
        "independent work comes this "
        "near.</p>\n<table><tr><th class=\"n\">share</th><th "
        "class=\"n\">fingerprints</th><th>exercise</th><th></th><th></th>"
        "</tr>\n");
    buf_puts(&p->csv, "share,fingerprints,exercise,first,second\n");
    buf_puts(&p->books_csv, "share,fingerprints,exercise,student,version\n");
    buf_puts(&p->info, "filename,full_name,label\n");
    return dir_create(folder, e);
}

static bool add_pair(struct similar_pages *p, const struct similar_class *c,
                     const struct similar_pair *q, struct err *e) {
    char name[64];
    struct buf page = {0};
    snprintf(name, sizeof name, "pair-%04u.html", ++p->pairs);
    bool paged = p->pairs <= MOST_PAGES, ok = true;
    if (paged) pair_page(c, q, &page), ok = put(p, name, &page, e);
    buf_printf(&p->index, "<tr><td class=\"n\">%.0f %%</td><td class=\"n\">%u</td><td>%s</td><td>",
               100 * q->share, q->common, book_id(c->ex));
    if (paged) buf_printf(&p->index, "<a href=\"%s\">", name);
    class_page_text(c->texts[q->a].student, &p->index);
    buf_puts(&p->index, paged ? "</a></td><td>" : "</td><td>"),
        class_page_text(c->texts[q->b].student, &p->index);
    buf_puts(&p->index, "</td></tr>\n");
    buf_printf(&p->csv, "%.4f,%u,%s,", q->share, q->common, book_id(c->ex));
    csv(&p->csv, c->texts[q->a].student), buf_puts(&p->csv, ","),
        csv(&p->csv, c->texts[q->b].student), buf_puts(&p->csv, "\n");
    buf_free(&page);
    return ok;
}

static void add_taken(struct similar_pages *p, const struct similar_class *c,
                      const struct similar_text *t) {
    const struct similar_version *v = &c->versions[t->version];
    p->taken++;
    buf_printf(&p->books, "<tr><td class=\"n\">%.0f %%</td><td class=\"n\">%zu</td><td>%s</td><td>",
               100 * t->taken, v->nown, book_id(c->ex));
    class_page_text(t->student, &p->books),
        buf_printf(&p->books, "</td><td>%s</td></tr>\n", v->name);
    buf_printf(&p->books_csv, "%.4f,%zu,%s,", t->taken, v->nown, book_id(c->ex));
    csv(&p->books_csv, t->student), buf_printf(&p->books_csv, ",%s\n", v->name);
}

bool similar_pages_add(struct similar_pages *p, const struct similar_class *c, struct err *e) {
    bool ok = put_sources(p, c, e);
    for (unsigned i = 0; ok && i < c->npairs; i++) ok = add_pair(p, c, &c->pairs[i], e);
    for (unsigned i = 0; i < c->ntexts; i++)
        if (c->texts[i].taken >= similar_usual.taken) add_taken(p, c, &c->texts[i]);
    return ok;
}

bool similar_pages_end(struct similar_pages *p, struct err *e) {
    buf_puts(
        &p->index,
        "</table>\n<h2>What the book has</h2>\n<p>Sources that have three quarters of what the "
        "model "
        "answer, or a step of the "
        "ladder, has beyond the skeleton.</p>\n<table><tr><th class=\"n\">share</th><th "
        "class=\"n\">fingerprints</th><th>exercise</th><th>student</th><th>version</th></tr>\n");
    buf_add(&p->index, buf_str(&p->books), p->books.size), buf_puts(&p->index, "</table>\n");
    class_page_end(&p->index);
    bool ok = put(p, "index.html", &p->index, e) && put(p, "pairs.csv", &p->csv, e) &&
              put(p, "book.csv", &p->books_csv, e) && put(p, "info.csv", &p->info, e);
    buf_free(&p->index), buf_free(&p->csv), buf_free(&p->info), buf_free(&p->books),
        buf_free(&p->books_csv);
    return ok;
}

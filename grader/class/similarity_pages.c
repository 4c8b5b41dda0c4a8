/* similarity_pages.c — the result of similarity.h as pages for a person to judge, as CSV, and as
 * files for other programs. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/class/similarity.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAIR_PAGES = 500, MAX_LINES = 6000 };

static bool write_file(const struct similarity_pages *p, const char *name, const struct buf *b,
                       struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, p->folder, name)
               ? file_write(path, buf_str(b), b->size, e)
               : err_set(e, ERR_INPUT, "%s: path too long", p->folder);
}

unsigned similarity_print_text(const struct similarity_class *c, FILE *f) {
    unsigned book_copy_count = 0;
    for (unsigned i = 0; i < c->npairs; i++) {
        const struct similarity_pair *q = &c->pairs[i];
        fprintf(f, "%5.1f %%  %4u  %-32s %s  %s\n", 100 * q->share, q->common, book_id(c->ex),
                c->texts[q->a].student, c->texts[q->b].student);
    }
    for (unsigned i = 0; i < c->ntexts; i++) {
        const struct similarity_text *t = &c->texts[i];
        if (t->origin || t->book_share < similarity_defaults.min_book_share) continue;
        fprintf(f, "%5.1f %%  %4zu  %-32s %s  (the book's %s)\n", 100 * t->book_share,
                c->versions[t->book_version].nunique_hashes, book_id(c->ex), t->student,
                c->versions[t->book_version].name);
        book_copy_count++;
    }
    return book_copy_count;
}

/* ---- a pair ---- */

/* Returns for each line of a text whether it is part of a passage; the caller frees the array. */
static bool *marked_lines(const struct similarity_text *t, const struct similarity_passage *list,
                          unsigned n, bool is_second) {
    bool *m = xcalloc(MAX_LINES + 2, sizeof *m);
    for (unsigned i = 0; i < n; i++) {
        uint32_t from = is_second ? list[i].b : list[i].a, first = t->tokens[from].line,
                 last = t->tokens[from + list[i].n - 1].line;
        for (uint32_t l = first; l <= last && l <= MAX_LINES; l++) m[l] = true;
    }
    return m;
}

static void put_source_table(const struct similarity_text *t, const bool *m, struct buf *out) {
    const char *at = buf_str(&t->source);
    buf_puts(out, "<div><h2>");
    class_page_put_text(t->student, out), buf_puts(out, " <span class=\"dim\">"),
        class_page_put_text(t->file, out);
    buf_puts(out, "</span></h2><table class=\"src\">\n");
    for (unsigned line = 1; *at && line <= MAX_LINES; line++) {
        size_t n = strcspn(at, "\n");
        struct buf one = {0};
        buf_add(&one, at, n < 400 ? n : 400);
        buf_printf(out, "<tr%s><td class=\"n\">%u</td><td>", m[line] ? " class=\"m\"" : "", line);
        class_page_put_text(buf_str(&one), out), buf_puts(out, "</td></tr>\n");
        buf_free(&one);
        at += n + (at[n] == '\n');
    }
    buf_puts(out, "</table></div>\n");
}

static void put_pair_page(const struct similarity_class *c, const struct similarity_pair *q,
                          struct buf *out) {
    const struct similarity_text *a = &c->texts[q->a], *b = &c->texts[q->b];
    struct similarity_passage *list = xcalloc(SIMILARITY_MAX_PASSAGES, sizeof *list);
    unsigned n = similarity_find_passages(c, q, list);
    bool *ma = marked_lines(a, list, n, false), *mb = marked_lines(b, list, n, true);
    class_page_begin(book_id(c->ex), out);
    buf_printf(out,
               "<p>%.0f %% of the fingerprints are common: %u, in %u passages. Fingerprints that "
               "the book or many students have are not counted, but may be part of a "
               "passage.</p>\n<table><tr><th>lines</th><th>lines</th><th "
               "class=\"n\">tokens</th></tr>\n",
               100 * q->share, q->common, n);
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "<tr><td>%u-%u</td><td>%u-%u</td><td class=\"n\">%u</td></tr>\n",
                   a->tokens[list[i].a].line, a->tokens[list[i].a + list[i].n - 1].line,
                   b->tokens[list[i].b].line, b->tokens[list[i].b + list[i].n - 1].line, list[i].n);
    buf_puts(out, "</table>\n<div class=\"side\">\n");
    put_source_table(a, ma, out), put_source_table(b, mb, out);
    buf_puts(out, "</div>\n");
    class_page_end(out);
    free(ma), free(mb), free(list);
}

/* ---- files for other programs ---- */

static void put_csv_cell(struct buf *out, const char *s) {
    buf_puts(out, *s && strchr("=+-@|%\t\r\n", s[strspn(s, " ")]) ? "\"'" : "\"");
    for (; *s; s++) *s == '"' ? buf_puts(out, "\"\"") : buf_add(out, s, 1);
    buf_puts(out, "\"");
}

static bool write_source(struct similarity_pages *p, const struct similarity_class *c,
                         const char *kind, const char *name, const struct buf *text,
                         char path[PATH_MAX], struct err *e) {
    char folder[PATH_MAX], relative_folder[PATH_MAX];
    snprintf(relative_folder, sizeof relative_folder, "%s/%s", kind, c->ex->name);
    if (!path_join(folder, sizeof folder, p->folder, relative_folder) || !dir_create(folder, e))
        return false;
    snprintf(path, PATH_MAX, "%.200s/%.300s", relative_folder, name);
    return write_file(p, path, text, e);
}

static bool write_sources(struct similarity_pages *p, const struct similarity_class *c,
                          struct err *e) {
    struct buf starter = {0}, solution = {0};
    char path[PATH_MAX], name[256];
    bool ok = book_original_starter(c->ex, &starter, e) &&
              write_source(p, c, "boilerplate", "skeleton.cu", &starter, path, e);
    if (ok && book_has_solutions())
        ok = file_read(book_solution_file(c->ex, NULL), 1 << 20, &solution, e) &&
             write_source(p, c, "boilerplate", "solution.cu", &solution, path, e);
    for (unsigned i = 0; ok && i < c->ntexts; i++) {
        class_page_file_name(c->texts[i].student, ".cu", name);
        ok = write_source(p, c, "sources", name, &c->texts[i].source, path, e);
        put_csv_cell(&p->info_csv, path), buf_puts(&p->info_csv, ","),
            put_csv_cell(&p->info_csv, c->texts[i].student), buf_puts(&p->info_csv, ",");
        put_csv_cell(&p->info_csv, c->ex->name), buf_puts(&p->info_csv, "\n");
    }
    buf_free(&starter), buf_free(&solution);
    return ok;
}

/* ---- all of it ---- */

bool similarity_pages_begin(struct similarity_pages *p, const char *folder, struct err *e) {
    *p = (struct similarity_pages){.folder = folder};
    class_page_begin("Passages in common", &p->index);
    buf_puts(
        &p->index,
        "<p>A pair in this list is a reason to look, not a proof of copying. docs/similarity.md "
        "says how often independent work is this similar.</p>\n<table><tr><th "
        "class=\"n\">share</th><th "
        "class=\"n\">fingerprints</th><th>exercise</th><th></th><th></th>"
        "</tr>\n");
    buf_puts(&p->pairs_csv, "share,fingerprints,exercise,first,second\n");
    buf_puts(&p->book_csv, "share,fingerprints,exercise,student,version\n");
    buf_puts(&p->info_csv, "filename,full_name,label\n");
    return dir_create(folder, e);
}

static bool add_pair(struct similarity_pages *p, const struct similarity_class *c,
                     const struct similarity_pair *q, struct err *e) {
    char name[64];
    struct buf page = {0};
    snprintf(name, sizeof name, "pair-%04u.html", ++p->pair_count);
    bool has_page = p->pair_count <= MAX_PAIR_PAGES, ok = true;
    if (has_page) put_pair_page(c, q, &page), ok = write_file(p, name, &page, e);
    buf_printf(&p->index, "<tr><td class=\"n\">%.0f %%</td><td class=\"n\">%u</td><td>%s</td><td>",
               100 * q->share, q->common, book_id(c->ex));
    if (has_page) buf_printf(&p->index, "<a href=\"%s\">", name);
    class_page_put_text(c->texts[q->a].student, &p->index);
    buf_puts(&p->index, has_page ? "</a></td><td>" : "</td><td>"),
        class_page_put_text(c->texts[q->b].student, &p->index);
    buf_puts(&p->index, "</td></tr>\n");
    buf_printf(&p->pairs_csv, "%.4f,%u,%s,", q->share, q->common, book_id(c->ex));
    put_csv_cell(&p->pairs_csv, c->texts[q->a].student), buf_puts(&p->pairs_csv, ","),
        put_csv_cell(&p->pairs_csv, c->texts[q->b].student), buf_puts(&p->pairs_csv, "\n");
    buf_free(&page);
    return ok;
}

static void add_book_copy(struct similarity_pages *p, const struct similarity_class *c,
                          const struct similarity_text *t) {
    const struct similarity_version *v = &c->versions[t->book_version];
    p->book_copy_count++;
    buf_printf(&p->book_rows,
               "<tr><td class=\"n\">%.0f %%</td><td class=\"n\">%zu</td><td>%s</td><td>",
               100 * t->book_share, v->nunique_hashes, book_id(c->ex));
    class_page_put_text(t->student, &p->book_rows),
        buf_printf(&p->book_rows, "</td><td>%s</td></tr>\n", v->name);
    buf_printf(&p->book_csv, "%.4f,%zu,%s,", t->book_share, v->nunique_hashes, book_id(c->ex));
    put_csv_cell(&p->book_csv, t->student), buf_printf(&p->book_csv, ",%s\n", v->name);
}

bool similarity_pages_add(struct similarity_pages *p, const struct similarity_class *c,
                          struct err *e) {
    bool ok = write_sources(p, c, e);
    for (unsigned i = 0; ok && i < c->npairs; i++) ok = add_pair(p, c, &c->pairs[i], e);
    for (unsigned i = 0; i < c->ntexts; i++)
        if (!c->texts[i].origin && c->texts[i].book_share >= similarity_defaults.min_book_share)
            add_book_copy(p, c, &c->texts[i]);
    return ok;
}

bool similarity_pages_end(struct similarity_pages *p, struct err *e) {
    buf_puts(
        &p->index,
        "</table>\n<h2>Copies of the book's versions</h2>\n<p>Sources that have three quarters of "
        "what the model solution, or a step of the ladder, adds to the starter "
        "file.</p>\n<table><tr><th class=\"n\">share</th><th "
        "class=\"n\">fingerprints</th><th>exercise</th><th>student</th><th>version</th></tr>\n");
    buf_add(&p->index, buf_str(&p->book_rows), p->book_rows.size),
        buf_puts(&p->index, "</table>\n");
    class_page_end(&p->index);
    bool ok =
        write_file(p, "index.html", &p->index, e) && write_file(p, "pairs.csv", &p->pairs_csv, e) &&
        write_file(p, "book.csv", &p->book_csv, e) && write_file(p, "info.csv", &p->info_csv, e);
    buf_free(&p->index), buf_free(&p->pairs_csv), buf_free(&p->info_csv), buf_free(&p->book_rows),
        buf_free(&p->book_csv);
    return ok;
}

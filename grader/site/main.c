/* main.c — build/makesite [--no-pictures] FOLDER: writes the book as static pages into a folder.
 * `make site` runs it. */
#include "common/file.h"
#include "common/status.h"
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/grade/versions.h"
#include "grader/page/page.h"
#include "grader/report/report.h"
#include "grader/site/site.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct gpu_device *default_device(void) { return device_find("h200"); }

static void put_link(const struct site_page *p, const char *text, struct buf *out) {
    buf_printf(out, "<a href=\"%s\">", p->path);
    html_escape_text(text, out);
    buf_puts(out, "</a>");
}

static const struct site_page *find_page(const struct site *s, const char *chapter,
                                         const struct exercise *ex, int kind) {
    for (unsigned i = 0; i < s->n; i++) {
        const struct site_page *p = &s->pages[i];
        if ((int)p->kind == kind && p->ex == ex && p->chapter && !strcmp(p->chapter, chapter))
            return p;
    }
    return NULL;
}

/* ---- navigation ---- */

static void put_navigation(const struct site *s, const struct site_page *p, struct buf *out) {
    buf_puts(out, "<nav><a href=\"index.html\">Warpbook</a>");
    const struct site_page *lesson =
        p->chapter ? find_page(s, p->chapter, NULL, SITE_LESSON) : NULL;
    if (lesson && lesson != p) buf_puts(out, " · "), put_link(lesson, lesson->title, out);
    const struct site_page *task = p->ex ? find_page(s, p->chapter, p->ex, SITE_TASK) : NULL,
                           *ladder = p->ex ? find_page(s, p->chapter, p->ex, SITE_LADDER) : NULL;
    if (task && task != p) buf_puts(out, " · "), put_link(task, "task", out);
    if (ladder && ladder != p)
        buf_puts(out, " · "), put_link(ladder, "ladder (shows the solution)", out);
    buf_puts(out, "</nav>\n");
}

/* Appends links to the exercises below a lesson, and to the next page below an exercise. */
static void put_next_links(const struct site *s, const struct site_page *p, struct buf *out) {
    if (p->kind == SITE_LESSON) {
        buf_puts(out, "<h2>Exercises</h2><ul>\n");
        for (unsigned i = 0; i < s->n; i++)
            if (s->pages[i].kind == SITE_TASK && !strcmp(s->pages[i].chapter, p->chapter))
                buf_puts(out, "<li>"), put_link(&s->pages[i], s->pages[i].title, out),
                    buf_puts(out, "</li>\n");
        buf_puts(out, "</ul>\n");
    }
    for (const struct site_page *q = p + 1; p->chapter && q < s->pages + s->n; q++) {
        if (q->kind != SITE_TASK && q->kind != SITE_LESSON) continue;
        buf_puts(out, "<p>Next: "), put_link(q, q->title, out), buf_puts(out, "</p>\n");
        break;
    }
}

/* ---- pictures ---- */

/* Appends the ladder's pictures: times, the roofline, and the access patterns of the baseline and
 * of the model solution. */
static void put_pictures(const struct site_page *p, struct buf *out) {
    struct buf warnings = {0}, size = {0};
    struct report_context b = {0};
    const struct exercise *ex = p->ex;
    struct version *list = version_list(ex, default_device(), 0, &b.nversions, &warnings);
    b.versions = list;
    bool is_timed = true;
    for (unsigned i = 0; i < b.nversions; i++) is_timed = is_timed && list[i].us > 0;
    const struct ex_case *c = is_timed ? &ex->timed_case : &ex->technique_case;
    struct result r = {
        .ex = ex,
        .file = "",
        .speed = {.valid = true, .kind = "modelled", .bound_by = "", .is_timed_size = is_timed}};
    r.speed.bytes = ex->bytes ? ex->bytes(c) : 0, r.speed.flops = ex->flops ? ex->flops(c) : 0;
    buf_puts(out, "<h2>In pictures</h2>\n<p class=\"dim\">Modelled on "),
        html_escape_text(default_device()->full_name, out);
    buf_puts(out, " for "), problem_append_size(ex, c, &size),
        html_escape_text(buf_str(&size), out);
    buf_puts(out, is_timed ? ".</p>\n" : ", the size of the technique case.</p>\n");
    report_picture_times(&r, default_device(), &b, out);
    report_picture_accesses(&r, &b, out);
    if (warnings.size)
        status_clear(), fprintf(stderr, "makesite: %s: %s", ex->name, buf_str(&warnings));
    version_free(list, b.nversions);
    buf_free(&warnings), buf_free(&size);
}

/* ---- pages ---- */

static bool write_html(const char *folder, const char *name, struct buf *html, struct err *e) {
    char path[PATH_MAX];
    bool ok = path_join(path, sizeof path, folder, name) &&
              file_write(path, buf_str(html), html->size, e);
    buf_free(html);
    return ok || err_set(e, ERR_SYSTEM, "cannot write %.200s into %.200s", name, folder);
}

/* `ladders` counts the ladders whose pictures were drawn; NULL = draw none. */
static bool write_content_page(const struct site *s, const struct site_page *p, const char *folder,
                               struct status_count *ladders, struct err *e) {
    struct buf out = {0};
    page_open(p->title, NULL, &out);
    put_navigation(s, p, &out);
    buf_puts(&out, "<main class=\"md\">\n");
    site_markdown(s, p, &out);
    buf_puts(&out, "</main>\n");
    if (ladders && p->kind == SITE_LADDER) {
        status_count_show(ladders, p->ex->name);
        put_pictures(p, &out);
        ladders->done++;
    }
    put_next_links(s, p, &out);
    page_close(NULL, &out);
    return write_html(folder, p->path, &out, e);
}

static void put_chapter(const struct site *s, const struct site_page *lesson, struct buf *out) {
    buf_puts(out, "<li>"), put_link(lesson, lesson->title, out), buf_puts(out, "<ul>\n");
    for (unsigned i = 0; i < s->n; i++) {
        const struct site_page *p = &s->pages[i];
        if (p->kind != SITE_TASK || strcmp(p->chapter, lesson->chapter)) continue;
        buf_puts(out, "<li>"), put_link(p, p->title, out), buf_puts(out, "</li>\n");
    }
    buf_puts(out, "</ul></li>\n");
}

/* Appends the heading and an item for each page of a kind. */
static void put_list(const struct site *s, const char *heading, int kind, struct buf *out) {
    buf_puts(out, heading);
    for (unsigned i = 0; i < s->n; i++)
        if ((int)s->pages[i].kind == kind)
            buf_puts(out, "<li>"), put_link(&s->pages[i], s->pages[i].title, out),
                buf_puts(out, "</li>\n");
}

static bool write_index_page(const struct site *s, const char *folder, struct err *e) {
    struct buf out = {0};
    page_open("Warpbook", site_search_script(), &out);
    buf_puts(&out, "<h1>Warpbook</h1>\n<p>Graded exercises in CUDA performance.</p>\n");
    site_search_box(s, &out);
    buf_puts(&out, "<nav><h2>Chapters</h2><ul>\n");
    for (unsigned i = 0; i < s->n; i++)
        if (s->pages[i].kind == SITE_LESSON) put_chapter(s, &s->pages[i], &out);
    put_list(s, "</ul><h2>Paths through the book</h2><ul>\n", SITE_PATH, &out);
    put_list(s, "</ul><h2>Guides and results</h2><ul>\n", SITE_GUIDE, &out);
    buf_puts(&out, "</ul></nav>\n");
    page_close(site_search_script(), &out);
    return write_html(folder, "index.html", &out, e);
}

/* Says what takes long before it begins. */
static void announce_pictures(const struct site *s, struct status_count *ladders) {
    unsigned n = 0;
    for (unsigned i = 0; i < s->n; i++) n += s->pages[i].kind == SITE_LADDER;
    fprintf(stderr,
            "makesite: runs the versions of %u ladders for the pictures, some minutes the first "
            "time; SITEFLAGS=--no-pictures leaves them out\n",
            n);
    status_count_begin(ladders, "ladders", n);
}

int main(int argc, char **argv) {
    struct site s = {0};
    struct err e = {0};
    struct status_count ladders;
    bool draw_pictures = !(argc == 3 && !strcmp(argv[1], "--no-pictures"));
    if (argc != 2 + !draw_pictures)
        return fprintf(stderr, "usage: makesite [--no-pictures] FOLDER\n"), 2;
    const char *folder = argv[argc - 1];
    bool ok = book_open(&e) && dir_create(folder, &e) && site_collect(&s, &e) &&
              write_index_page(&s, folder, &e);
    if (ok && draw_pictures) announce_pictures(&s, &ladders);
    for (unsigned i = 0; ok && i < s.n; i++)
        ok = write_content_page(&s, &s.pages[i], folder, draw_pictures ? &ladders : NULL, &e);
    status_clear();
    if (ok) printf("%u pages in %s; start with %s/index.html\n", s.n + 1, folder, folder);
    else fprintf(stderr, "makesite: %s\n", e.text);
    site_free(&s);
    return ok ? 0 : 3;
}

/* main.c — build/makesite [--no-pictures] FOLDER: the book as static pages into a folder. What
 * `make site` runs. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/grade/versions.h"
#include "grader/page/page.h"
#include "grader/report/report.h"
#include "grader/site/site.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct gpu_device *device(void) { return device_find("h200"); }

static void link_to(const struct site_page *p, const char *text, struct buf *out) {
    buf_printf(out, "<a href=\"%s\">", p->path);
    html_escape_text(text, out);
    buf_puts(out, "</a>");
}

static const struct site_page *find(const struct site *s, const char *chapter,
                                    const struct exercise *ex, int kind) {
    for (unsigned i = 0; i < s->n; i++) {
        const struct site_page *p = &s->page[i];
        if ((int)p->kind == kind && p->ex == ex && p->chapter && !strcmp(p->chapter, chapter))
            return p;
    }
    return NULL;
}

/* ---- the way through the book ---- */

static void navigation(const struct site *s, const struct site_page *p, struct buf *out) {
    buf_puts(out, "<nav><a href=\"index.html\">Warpbook</a>");
    const struct site_page *lesson = p->chapter ? find(s, p->chapter, NULL, SITE_LESSON) : NULL;
    if (lesson && lesson != p) buf_puts(out, " · "), link_to(lesson, lesson->title, out);
    const struct site_page *task = p->ex ? find(s, p->chapter, p->ex, SITE_TASK) : NULL,
                           *ladder = p->ex ? find(s, p->chapter, p->ex, SITE_LADDER) : NULL;
    if (task && task != p) buf_puts(out, " · "), link_to(task, "task", out);
    if (ladder && ladder != p)
        buf_puts(out, " · "), link_to(ladder, "ladder (gives the answer away)", out);
    buf_puts(out, "</nav>\n");
}

/* Below a lesson its exercises; below an exercise the next one. */
static void onwards(const struct site *s, const struct site_page *p, struct buf *out) {
    if (p->kind == SITE_LESSON) {
        buf_puts(out, "<h2>Exercises</h2><ul>\n");
        for (unsigned i = 0; i < s->n; i++)
            if (s->page[i].kind == SITE_TASK && !strcmp(s->page[i].chapter, p->chapter))
                buf_puts(out, "<li>"), link_to(&s->page[i], s->page[i].title, out),
                    buf_puts(out, "</li>\n");
        buf_puts(out, "</ul>\n");
    }
    for (const struct site_page *q = p + 1; p->kind != SITE_GUIDE && q < s->page + s->n; q++) {
        if (q->kind != SITE_TASK && q->kind != SITE_LESSON) continue;
        buf_puts(out, "<p>Next: "), link_to(q, q->title, out), buf_puts(out, "</p>\n");
        break;
    }
}

/* ---- pictures ---- */

/* Of the ladder: its times, the roofline, what lanes ask for in the naive version and in the
 * answer. */
static void pictures(const struct site_page *p, struct buf *out) {
    struct buf trouble = {0}, size = {0};
    struct report_context b = {0};
    const struct exercise *ex = p->ex;
    struct version *list = version_list(ex, device(), 0, &b.nversions, &trouble);
    b.versions = list;
    bool timed = true;
    for (unsigned i = 0; i < b.nversions; i++) timed = timed && list[i].us > 0;
    const struct ex_case *c = timed ? &ex->timed_case : &ex->technique_case;
    struct result r = {
        .ex = ex, .file = "", .speed = {.valid = true, .kind = "modelled", .is_timed_size = timed}};
    r.speed.bytes = ex->bytes ? ex->bytes(c) : 0, r.speed.flops = ex->flops ? ex->flops(c) : 0;
    buf_puts(out, "<h2>In pictures</h2>\n<p class=\"dim\">Modelled on "),
        html_escape_text(device()->full_name, out);
    buf_puts(out, " for "), problem_size_text(ex, c, &size), html_escape_text(buf_str(&size), out);
    buf_puts(out, timed ? ".</p>\n" : ", the size that is counted.</p>\n");
    report_picture_times(&r, device(), &b, out);
    report_picture_accesses(&r, &b, out);
    if (trouble.size) fprintf(stderr, "makesite: %s: %s", ex->name, buf_str(&trouble));
    version_free(list, b.nversions);
    buf_free(&trouble), buf_free(&size);
}

/* ---- pages ---- */

static bool write_page(const char *folder, const char *name, struct buf *html, struct err *e) {
    char path[PATH_MAX];
    bool ok = path_join(path, sizeof path, folder, name) &&
              file_write(path, buf_str(html), html->size, e);
    buf_free(html);
    return ok || err_set(e, ERR_SYSTEM, "cannot write %.200s into %.200s", name, folder);
}

static bool make_page(const struct site *s, const struct site_page *p, const char *folder,
                      bool draw, struct err *e) {
    struct buf out = {0};
    page_open(p->title, NULL, &out);
    navigation(s, p, &out);
    buf_puts(&out, "<main class=\"md\">\n");
    site_markdown(s, p, &out);
    buf_puts(&out, "</main>\n");
    if (draw && p->kind == SITE_LADDER) {
        fprintf(stderr, "makesite: %s\n", p->ex->name);
        pictures(p, &out);
    }
    onwards(s, p, &out);
    page_close(NULL, &out);
    return write_page(folder, p->path, &out, e);
}

static void chapter(const struct site *s, const struct site_page *lesson, struct buf *out) {
    buf_puts(out, "<li>"), link_to(lesson, lesson->title, out), buf_puts(out, "<ul>\n");
    for (unsigned i = 0; i < s->n; i++) {
        const struct site_page *p = &s->page[i];
        if (p->kind != SITE_TASK || strcmp(p->chapter, lesson->chapter)) continue;
        buf_puts(out, "<li>"), link_to(p, p->title, out), buf_puts(out, "</li>\n");
    }
    buf_puts(out, "</ul></li>\n");
}

static bool make_index(const struct site *s, const char *folder, struct err *e) {
    struct buf out = {0};
    page_open("Warpbook", site_search_script(), &out);
    buf_puts(&out, "<h1>Warpbook</h1>\n<p>Graded exercises in CUDA performance.</p>\n");
    site_search_box(s, &out);
    buf_puts(&out, "<nav><h2>Chapters</h2><ul>\n");
    for (unsigned i = 0; i < s->n; i++)
        if (s->page[i].kind == SITE_LESSON) chapter(s, &s->page[i], &out);
    buf_puts(&out, "</ul><h2>Guides and results</h2><ul>\n");
    for (unsigned i = 0; i < s->n; i++)
        if (s->page[i].kind == SITE_GUIDE)
            buf_puts(&out, "<li>"), link_to(&s->page[i], s->page[i].title, &out),
                buf_puts(&out, "</li>\n");
    buf_puts(&out, "</ul></nav>\n");
    page_close(site_search_script(), &out);
    return write_page(folder, "index.html", &out, e);
}

int main(int argc, char **argv) {
    struct site s = {0};
    struct err e = {0};
    bool draw = !(argc == 3 && !strcmp(argv[1], "--no-pictures"));
    if (argc != 2 + !draw) return fprintf(stderr, "usage: makesite [--no-pictures] FOLDER\n"), 2;
    const char *folder = argv[argc - 1];
    bool ok = book_open(&e) && dir_create(folder, &e) && site_collect(&s, &e) &&
              make_index(&s, folder, &e);
    for (unsigned i = 0; ok && i < s.n; i++) ok = make_page(&s, &s.page[i], folder, draw, &e);
    if (ok) printf("%u pages in %s; begin with %s/index.html\n", s.n + 1, folder, folder);
    else fprintf(stderr, "makesite: %s\n", e.text);
    site_free(&s);
    return ok ? 0 : 3;
}

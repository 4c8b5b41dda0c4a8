/* collect.c — collects the book's texts for makesite, and resolves the names by which they refer to
 * each other. */
#include "common/file.h"
#include "common/text.h"
#include "common/grow.h"
#include "grader/book/book.h"
#include "grader/book/reading_path.h"
#include "grader/site/site.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 4 << 20 };

/* Returns "docs-results-h100-model.html" for "docs/results/h100/model.md"; the caller frees it. */
static char *html_path(const char *source) {
    char *path = xmalloc(strlen(source) + 8);
    strcpy(path, source);
    path[strlen(path) - 3] = 0;
    for (char *p = path; *p; p++)
        if (*p == '/') *p = '-';
    return strcat(path, ".html");
}

static char *title_of(const struct buf *text, const char *source) {
    const char *s = buf_str(text);
    while (*s && *s != '#') s += strcspn(s, "\n") + (s[strcspn(s, "\n")] == '\n');
    if (*s != '#') return xstrdup(source);
    s += strspn(s, "# ");
    size_t n = strcspn(s, "\n");
    char *title = xmalloc(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] != '`') title[k++] = s[i];
    title[k] = 0;
    return title;
}

static bool add_page(struct site *s, const char *source, int kind, const char *chapter,
                     const struct exercise *ex, struct err *e) {
    char path[PATH_MAX];
    struct site_page p = {.kind = kind, .chapter = chapter, .ex = ex};
    snprintf(path, sizeof path, "%.2000s/%.1000s", book_root(), source);
    if (!file_exists(path)) return true;
    if (!file_read(path, MAX_TEXT_BYTES, &p.markdown, e)) return false;
    text_empty_comments(&p.markdown);
    p.source = xstrdup(source), p.path = html_path(source), p.title = title_of(&p.markdown, source);
    site_index_words(&p);
    GROW(s->pages, s->n + 1, s->capacity, 32);
    s->pages[s->n++] = p;
    return true;
}

static bool add_exercise(struct site *s, const struct exercise *ex, struct err *e) {
    char task[256], ladder[256];
    snprintf(task, sizeof task, "chapters/%.100s/%.100s.md", ex->chapter, ex->name);
    snprintf(ladder, sizeof ladder, "solutions/%.100s/%.100s-ladder.md", ex->chapter, ex->name);
    return add_page(s, task, SITE_TASK, ex->chapter, ex, e) &&
           add_page(s, ladder, SITE_LADDER, ex->chapter, ex, e);
}

static bool add_chapters(struct site *s, struct err *e) {
    bool ok = true;
    for (unsigned i = 0; ok && i < book_count(); i++) {
        const struct exercise *ex = book_at(i);
        char lesson[256];
        snprintf(lesson, sizeof lesson, "chapters/%.100s/README.md", ex->chapter);
        if (!i || strcmp(ex->chapter, book_at(i - 1)->chapter))
            ok = add_page(s, lesson, SITE_LESSON, ex->chapter, NULL, e);
        ok = ok && add_exercise(s, ex, e);
    }
    return ok;
}

/* Adds a page for each path through the book. Its source is a name only; there is no such file. */
static void add_paths(struct site *s) {
    const struct book_path_row *path;
    for (unsigned i = 0; (path = book_path_at(i)); i++) {
        struct site_page p = {.kind = SITE_PATH};
        struct buf source = {0};
        buf_printf(&source, "path/%s.md", path->name);
        book_path_markdown(path, &p.markdown);
        p.source = xstrdup(buf_str(&source)), p.path = html_path(p.source);
        p.title = title_of(&p.markdown, p.source);
        site_index_words(&p);
        GROW(s->pages, s->n + 1, s->capacity, 32);
        s->pages[s->n++] = p;
        buf_free(&source);
    }
}

static bool add_folder(struct site *s, const char *folder, struct err *e) {
    char path[PATH_MAX], source[PATH_MAX];
    snprintf(path, sizeof path, "%.2000s/%.1000s", book_root(), folder);
    char **files = book_list_files(path, "", ".md");
    bool ok = true;
    for (char **f = files; ok && *f; f++) {
        snprintf(source, sizeof source, "%.1000s/%.500s", folder, *f);
        ok = add_page(s, source, SITE_GUIDE, NULL, NULL, e);
    }
    book_free_list(files);
    return ok;
}

bool site_collect(struct site *s, struct err *e) {
    static const char *const folders[] = {"docs", "docs/course", "docs/results",
                                          "docs/results/h100", "docs/results/h200"};
    bool ok = add_page(s, "README.md", SITE_GUIDE, NULL, NULL, e) && add_chapters(s, e);
    if (ok) add_paths(s);
    for (unsigned i = 0; ok && i < sizeof folders / sizeof *folders; i++)
        ok = add_folder(s, folders[i], e);
    return ok;
}

void site_free(struct site *s) {
    for (unsigned i = 0; i < s->n; i++) {
        free(s->pages[i].source), free(s->pages[i].path), free(s->pages[i].title);
        buf_free(&s->pages[i].markdown), buf_free(&s->pages[i].search_words);
    }
    free(s->pages);
}

/* Resolves `name` relative to the folder of `from`: without "..", "." and anything after a '#'.
 * False: it leads out of the book. */
static bool resolve_relative(const char *from, const char *name, char *path, size_t size) {
    const char *slash = strrchr(from, '/');
    size_t n = slash ? (size_t)(slash - from) + 1 : 0, length;
    if (n >= size) return false;
    memcpy(path, from, n);
    for (; *name && *name != '#'; name += length + (name[length] == '/')) {
        length = strcspn(name, "/#");
        bool is_parent = length == 2 && !strncmp(name, "..", 2), is_last = name[length] != '/';
        if (is_parent && !n) return false;
        if (is_parent)
            for (n--; n && path[n - 1] != '/';) n--;
        else if (length != 1 || *name != '.') {
            if (n + length + 2 > size) return false;
            memcpy(path + n, name, length), n += length;
            if (!is_last) path[n++] = '/';
        }
    }
    path[n] = 0;
    return true;
}

const struct site_page *site_find_page(const struct site *s, const struct site_page *from,
                                       const char *name) {
    char path[PATH_MAX];
    if (!name || !*name || *name == '#') return NULL;
    bool is_in_book = resolve_relative(from->source, name, path, sizeof path);
    for (unsigned i = 0; i < s->n; i++) {
        const struct site_page *p = &s->pages[i];
        if (!strcmp(p->source, name) || (is_in_book && !strcmp(p->source, path))) return p;
        if (p->kind == SITE_TASK && !strcmp(p->ex->name, name)) return p;
    }
    return NULL;
}

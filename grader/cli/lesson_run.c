/* lesson_run.c — see lesson.h: runs a lesson's programs, and compares what they draw. */
#include "common/err.h"
#include "common/file.h"
#include "common/text.h"
#include "common/where.h"
#include "grader/book/book.h"
#include "grader/cli/lesson.h"
#include "grader/cli/quiz.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_LIMIT = 1 << 22, NAME = 256 };

struct place {
    const char *chapter;
    char lesson[PATH_MAX],
        drawn[PATH_MAX]; /* folders: chapters/NN/lesson, and for what the programs draw now */
    const char *page;
};

static bool same_files(const char *a, const char *b) {
    struct buf x = {0}, y = {0};
    struct err ignored = {0};
    bool same = file_read(a, TEXT_LIMIT, &x, &ignored) && file_read(b, TEXT_LIMIT, &y, &ignored) &&
                x.size == y.size && !memcmp(buf_str(&x), buf_str(&y), x.size);
    buf_free(&x), buf_free(&y);
    return same;
}

static void clear_drawn(const struct place *p) {
    char path[PATH_MAX];
    char **files = book_list_files(p->drawn, "", ".svg");
    for (char **f = files; *f; f++)
        if (path_join(path, sizeof path, p->drawn, *f)) unlink(path);
    book_free_list(files);
}

static void check_program(const struct place *p, const char *name, struct buf *problems) {
    char file[PATH_MAX], path[PATH_MAX];
    struct buf source = {0}, json = {0};
    struct err e = {0};
    snprintf(file, sizeof file, "lesson/%.200s", name);
    bool ok =
        path_join(path, sizeof path, p->lesson, name) && file_read(path, TEXT_LIMIT, &source, &e);
    const char *pictures = ok && strstr(buf_str(&source), "// picture: ") ? p->drawn : NULL;
    ok = ok && quiz_run(p->chapter, file, pictures, &json, &e);
    if (ok) lesson_check_counts(p->page, file, buf_str(&json), problems);
    else buf_printf(problems, "%s: %s\n", file, e.text);
    buf_free(&source), buf_free(&json);
}

/* Is it the first mark of its file? */
static bool first_of(const char *page, const char *at, const char *mark, const char *file) {
    char other[NAME];
    for (const char *p = page; (p = strstr(p, mark)) && p < at; p++)
        if (lesson_mark(p, mark, other, sizeof other) && !strcmp(other, file)) return false;
    return true;
}

static void check_sources(const struct place *p, struct buf *problems) {
    static const char mark[] = "<!--code ";
    char file[NAME], path[PATH_MAX];
    for (const char *at = p->page; (at = strstr(at, mark)); at++) {
        struct buf source = {0};
        struct err e = {0};
        if (!lesson_mark(at, mark, file, sizeof file) || !first_of(p->page, at, mark, file))
            continue;
        snprintf(path, sizeof path, "%.3500s/../%.300s", p->lesson, file);
        if (file_read(path, TEXT_LIMIT, &source, &e))
            lesson_check_code(p->page, file, buf_str(&source), problems);
        else buf_printf(problems, "%s%s-->: there is no such file\n", mark, file);
        buf_free(&source);
    }
}

static void check_counted(const struct place *p, struct buf *problems) {
    static const char mark[] = "<!--counted ";
    char file[NAME], path[PATH_MAX];
    for (const char *at = p->page; (at = strstr(at, mark)); at++) {
        bool named = lesson_mark(at, mark, file, sizeof file) && text_starts_with(file, "lesson/");
        snprintf(path, sizeof path, "%.3500s/../%.300s", p->lesson, named ? file : "");
        if (!named || !file_exists(path))
            buf_printf(problems, "%.*s names no file of lesson/\n", (int)strcspn(at, "\n"), at);
    }
}

static void check_picture(const struct place *p, const char *name, struct buf *problems) {
    char shown[300], kept[PATH_MAX], drawn[PATH_MAX];
    snprintf(shown, sizeof shown, "](lesson/%.200s)", name);
    if (!strstr(p->page, shown)) buf_printf(problems, "lesson/%s is shown nowhere\n", name);
    if (!path_join(kept, sizeof kept, p->lesson, name) ||
        !path_join(drawn, sizeof drawn, p->drawn, name))
        return;
    if (!file_exists(drawn)) buf_printf(problems, "lesson/%s: no program draws it\n", name);
    else if (!same_files(kept, drawn))
        buf_printf(problems, "lesson/%s is out of date: make pictures\n", name);
}

/* Those of a folder; where `other` is given, those that it does not have. */
static void check_pictures(const struct place *p, const char *folder, const char *other,
                           struct buf *problems) {
    char **files = book_list_files(folder, "", ".svg");
    for (char **f = files; *f; f++) {
        char path[PATH_MAX];
        if (!other || (path_join(path, sizeof path, other, *f) && !file_exists(path)))
            check_picture(p, *f, problems);
    }
    book_free_list(files);
}

static void check_shown(const struct place *p, struct buf *problems) {
    for (const char *at = p->page; (at = strstr(at, "](lesson/")); at++) {
        char name[200] = "", path[PATH_MAX];
        sscanf(at, "](lesson/%199[a-z0-9.-])", name);
        if (!path_join(path, sizeof path, p->lesson, name) || !file_exists(path))
            buf_printf(problems, "the lesson shows lesson/%s, which is not there: make pictures\n",
                       name);
    }
}

void lesson_check(const char *chapter, struct buf *problems) {
    struct place p = {.chapter = chapter};
    struct buf page = {0};
    struct err e = {0};
    char path[PATH_MAX], cache[PATH_MAX];
    snprintf(path, sizeof path, "%.3800s/chapters/%.100s/README.md", book_root(), chapter);
    snprintf(p.lesson, sizeof p.lesson, "%.3800s/chapters/%.100s/lesson", book_root(), chapter);
    bool ok = file_read(path, TEXT_LIMIT, &page, &e) && paths_cache_dir(cache, &e);
    if (ok) snprintf(p.drawn, sizeof p.drawn, "%.3800s/quiz/%.100s/pictures", cache, chapter);
    if (!ok || !dir_create(p.drawn, &e)) {
        buf_printf(problems, "%s\n", e.text);
        return;
    }
    p.page = buf_str(&page);
    clear_drawn(&p);
    lesson_check_marks(p.page, problems);
    check_sources(&p, problems), check_counted(&p, problems);
    char **programs = book_list_files(p.lesson, "", ".cu");
    for (char **f = programs; *f; f++) check_program(&p, *f, problems);
    book_free_list(programs);
    check_pictures(&p, p.lesson, NULL, problems), check_pictures(&p, p.drawn, p.lesson, problems);
    check_shown(&p, problems);
    buf_free(&page);
}

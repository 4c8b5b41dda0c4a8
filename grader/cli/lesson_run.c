/* lesson_run.c — runs a lesson's programs for `grader verify` and compares their pictures
 * (lesson.h). */
#include "common/err.h"
#include "common/file.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/cli/lesson.h"
#include "grader/cli/quiz.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT_BYTES = 1 << 22, MAX_NAME = 256 };

struct lesson_ctx {
    const char *chapter;
    char lesson_folder[PATH_MAX]; /* chapters/NN-slug/lesson */
    char output_folder[PATH_MAX]; /* where the programs draw now */
    const char *page_text;
};

static bool has_same_content(const char *a, const char *b) {
    struct buf x = {0}, y = {0};
    struct err ignored = {0};
    bool same = file_read(a, MAX_TEXT_BYTES, &x, &ignored) &&
                file_read(b, MAX_TEXT_BYTES, &y, &ignored) && x.size == y.size &&
                !memcmp(buf_str(&x), buf_str(&y), x.size);
    buf_free(&x), buf_free(&y);
    return same;
}

static void clear_output_folder(const struct lesson_ctx *p) {
    char path[PATH_MAX];
    char **files = book_list_files(p->output_folder, "", ".svg");
    for (char **f = files; *f; f++)
        if (path_join(path, sizeof path, p->output_folder, *f)) unlink(path);
    book_free_list(files);
}

static void check_program(const struct lesson_ctx *p, const char *name, struct buf *problems) {
    char file[PATH_MAX], path[PATH_MAX];
    struct buf source = {0}, json = {0};
    struct err e = {0};
    snprintf(file, sizeof file, "lesson/%.200s", name);
    bool ok = path_join(path, sizeof path, p->lesson_folder, name) &&
              file_read(path, MAX_TEXT_BYTES, &source, &e);
    const char *pictures = ok && strstr(buf_str(&source), "// picture: ") ? p->output_folder : NULL;
    ok = ok && quiz_run(p->chapter, file, pictures, &json, &e);
    if (ok) lesson_check_counts(p->page_text, file, buf_str(&json), problems);
    else buf_printf(problems, "%s: %s\n", file, e.text);
    buf_free(&source), buf_free(&json);
}

/* Returns true if no marker before `at` names the same file. */
static bool is_first_marker(const char *page, const char *at, const char *marker,
                            const char *file) {
    char other[MAX_NAME];
    for (const char *p = page; (p = strstr(p, marker)) && p < at; p++)
        if (lesson_parse_marker(p, marker, other, sizeof other) && !strcmp(other, file))
            return false;
    return true;
}

static void check_sources(const struct lesson_ctx *p, struct buf *problems) {
    static const char marker[] = "<!--code ";
    char file[MAX_NAME], path[PATH_MAX];
    for (const char *at = p->page_text; (at = strstr(at, marker)); at++) {
        struct buf source = {0};
        struct err e = {0};
        if (!lesson_parse_marker(at, marker, file, sizeof file) ||
            !is_first_marker(p->page_text, at, marker, file))
            continue;
        snprintf(path, sizeof path, "%.3500s/../%.300s", p->lesson_folder, file);
        if (file_read(path, MAX_TEXT_BYTES, &source, &e))
            lesson_check_code(p->page_text, file, buf_str(&source), problems);
        else buf_printf(problems, "%s%s-->: there is no such file\n", marker, file);
        buf_free(&source);
    }
}

static void check_count_markers(const struct lesson_ctx *p, struct buf *problems) {
    static const char marker[] = "<!--counted ";
    char file[MAX_NAME], path[PATH_MAX];
    for (const char *at = p->page_text; (at = strstr(at, marker)); at++) {
        bool is_named =
            lesson_parse_marker(at, marker, file, sizeof file) && text_starts_with(file, "lesson/");
        snprintf(path, sizeof path, "%.3500s/../%.300s", p->lesson_folder, is_named ? file : "");
        if (!is_named || !file_exists(path))
            buf_printf(problems, "%.*s names no file in lesson/\n", (int)strcspn(at, "\n"), at);
    }
}

static void check_picture(const struct lesson_ctx *p, const char *name, struct buf *problems) {
    char markdown_link[300], expected_path[PATH_MAX], actual_path[PATH_MAX];
    snprintf(markdown_link, sizeof markdown_link, "](lesson/%.200s)", name);
    if (!strstr(p->page_text, markdown_link))
        buf_printf(problems, "the lesson doesn't show lesson/%s\n", name);
    if (!path_join(expected_path, sizeof expected_path, p->lesson_folder, name) ||
        !path_join(actual_path, sizeof actual_path, p->output_folder, name))
        return;
    if (!file_exists(actual_path)) buf_printf(problems, "lesson/%s: no program draws it\n", name);
    else if (!has_same_content(expected_path, actual_path))
        buf_printf(problems, "lesson/%s is out of date; run `make pictures`\n", name);
}

/* Checks the pictures of a folder; if `other` is given, only those that `other` lacks. */
static void check_pictures(const struct lesson_ctx *p, const char *folder, const char *other,
                           struct buf *problems) {
    char **files = book_list_files(folder, "", ".svg");
    for (char **f = files; *f; f++) {
        char path[PATH_MAX];
        if (!other || (path_join(path, sizeof path, other, *f) && !file_exists(path)))
            check_picture(p, *f, problems);
    }
    book_free_list(files);
}

static void check_shown_pictures(const struct lesson_ctx *p, struct buf *problems) {
    for (const char *at = p->page_text; (at = strstr(at, "](lesson/")); at++) {
        char name[200] = "", path[PATH_MAX];
        sscanf(at, "](lesson/%199[a-z0-9.-])", name);
        if (!path_join(path, sizeof path, p->lesson_folder, name) || !file_exists(path))
            buf_printf(problems,
                       "the lesson shows lesson/%s, which is missing; run `make pictures`\n", name);
    }
}

void lesson_check(const char *chapter, struct buf *problems) {
    struct lesson_ctx p = {.chapter = chapter};
    struct buf page = {0};
    struct err e = {0};
    char path[PATH_MAX], cache[PATH_MAX];
    snprintf(path, sizeof path, "%.3800s/chapters/%.100s/README.md", book_root(), chapter);
    snprintf(p.lesson_folder, sizeof p.lesson_folder, "%.3800s/chapters/%.100s/lesson", book_root(),
             chapter);
    bool ok = file_read(path, MAX_TEXT_BYTES, &page, &e) && paths_cache_dir(cache, &e);
    if (ok)
        snprintf(p.output_folder, sizeof p.output_folder, "%.3800s/quiz/%.100s/pictures", cache,
                 chapter);
    if (!ok || !dir_create(p.output_folder, &e)) {
        buf_printf(problems, "%s\n", e.text);
        return;
    }
    p.page_text = buf_str(&page);
    clear_output_folder(&p);
    lesson_check_markers(p.page_text, problems);
    check_sources(&p, problems), check_count_markers(&p, problems);
    char **programs = book_list_files(p.lesson_folder, "", ".cu");
    for (char **f = programs; *f; f++) check_program(&p, *f, problems);
    book_free_list(programs);
    check_pictures(&p, p.lesson_folder, NULL, problems),
        check_pictures(&p, p.output_folder, p.lesson_folder, problems);
    check_shown_pictures(&p, problems);
    buf_free(&page);
}

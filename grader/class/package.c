/* package.c — see package.h. The zip has sources, not programs: the container builds them with the
 * compiler that packages.txt names. Starter files are the book's originals, even if somebody has
 * edited chapters/. Equal trees give equal packages. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/class/package.h"
#include "grader/class/zip_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 16 << 20, MAX_DEPTH = 8 };

struct package_builder {
    struct zip_file zip;
    struct err *e;
};

static bool add_file(struct package_builder *p, const char *from, const char *to) {
    struct buf text = {0};
    bool is_executable = text_ends_with(to, ".sh") || text_ends_with(to, "run_autograder");
    bool ok = file_read(from, MAX_FILE_BYTES, &text, p->e) &&
              zip_add(&p->zip, to, buf_str(&text), text.size, is_executable);
    buf_free(&text);
    return ok;
}

/* Returns true for files that the programs don't need. */
static bool is_excluded(const char *relative) {
    const char *base = path_basename(relative);
    return base[0] == '.' || !strcmp(relative, "grader/tests") || strstr(base, ".bak-");
}

static bool add_book_file(struct package_builder *p, const char *relative, const char *from) {
    char to[PATH_MAX];
    struct buf text = {0};
    const struct exercise *ex = book_exercise_of_starter(relative);
    snprintf(to, sizeof to, "warpbook/%s", relative);
    if (!ex) return add_file(p, from, to);
    bool ok = book_original_starter(ex, &text, p->e) &&
              zip_add(&p->zip, to, buf_str(&text), text.size, false);
    buf_free(&text);
    return ok;
}

/* Adds a file or a folder; it follows no link, as the book has none. */
static bool add_tree(struct package_builder *p, const char *relative, unsigned depth) {
    char path[PATH_MAX], child[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", book_root(), relative);
    struct stat st;
    if (lstat(path, &st) < 0) return err_set(p->e, ERR_INPUT, "%s is missing in the book", path);
    if (S_ISREG(st.st_mode)) return add_book_file(p, relative, path);
    int fd = S_ISDIR(st.st_mode) && depth < MAX_DEPTH
                 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    char **names = fd >= 0 ? intake_names(fd) : NULL;
    bool ok = true;
    for (unsigned i = 0; names && names[i] && ok; i++)
        if (path_join(child, sizeof child, relative, names[i]) && !is_excluded(child))
            ok = add_tree(p, child, depth + 1);
    if (names) intake_free_names(names);
    if (fd >= 0) close(fd);
    return ok;
}

/* Adds the assignment and its hidden cases; their relative paths stay the same. */
static bool add_assignment(struct package_builder *p, const struct assignment *a) {
    char to[PATH_MAX];
    size_t dir_len = (size_t)(path_basename(a->path) - a->path);
    bool ok = add_file(p, a->path, "assignment/assignment.toml");
    for (unsigned i = 0; i < a->n && ok; i++) {
        const char *hidden = a->parts[i].hidden_path;
        if (!hidden) continue;
        if (strncmp(hidden, a->path, dir_len) || strstr(hidden + dir_len, ".."))
            return err_set(p->e, ERR_INPUT,
                           "%s: for a package, put hidden cases into the assignment's folder or "
                           "below it, with a path without ..",
                           hidden);
        snprintf(to, sizeof to, "assignment/%s", hidden + dir_len);
        ok = add_file(p, hidden, to);
    }
    return ok;
}

static bool add_all(struct package_builder *p, const struct assignment *a) {
    static const char *const trees[] = {"LICENSE", "Makefile", "chapters",
                                        "common",  "grader",   "solutions"};
    char from[PATH_MAX];
    bool ok = true;
    for (unsigned i = 0; i < 2 && ok; i++) {
        static const char *const scripts[] = {"setup.sh", "run_autograder"};
        snprintf(from, sizeof from, "%s/grader/template/gradescope/%s", book_root(), scripts[i]);
        ok = add_file(p, from, scripts[i]);
    }
    ok = ok && add_assignment(p, a);
    for (unsigned i = 0; i < sizeof trees / sizeof *trees && ok; i++) ok = add_tree(p, trees[i], 0);
    return ok;
}

bool class_write_package(const struct assignment *a, const char *path, unsigned *file_count,
                         struct err *e) {
    struct file_out o;
    struct package_builder p = {.e = e};
    if (!file_open(path, &o, e)) return false;
    bool ok = zip_begin(&p.zip, o.f, e) && add_all(&p, a);
    ok = zip_end(&p.zip, ok);
    *file_count = p.zip.file_count;
    return file_close(&o, ok, e) && ok;
}

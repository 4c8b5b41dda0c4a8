/* package.c — writes Gradescope's autograder; see package.h. The zip has sources, not programs: its
 * setup.sh builds them in Gradescope's container, with the compiler that grader/packages.txt names.
 * Starter files are the book's originals, even if somebody has edited chapters/. Equal trees give
 * equal packages. */
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

/* Returns true for what grading doesn't need: hidden files, tests, backups of students' files. */
static bool is_excluded(const char *relative) {
    const char *base = path_basename(relative);
    return base[0] == '.' || !strcmp(relative, "grader/tests") || strstr(base, ".bak-");
}

static bool add_book_file(struct package_builder *p, const char *from, const char *relative) {
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

static bool add_tree(struct package_builder *p, const char *relative, unsigned depth);

static bool add_children(struct package_builder *p, const char *relative, char **names,
                         unsigned depth) {
    char child[PATH_MAX];
    bool ok = true;
    for (unsigned i = 0; names[i] && ok; i++) {
        if (!path_join(child, sizeof child, relative, names[i]))
            ok = err_set(p->e, ERR_INPUT, "%s/%s: path too long", relative, names[i]);
        else if (!is_excluded(child)) ok = add_tree(p, child, depth + 1);
    }
    return ok;
}

static bool add_folder(struct package_builder *p, const char *path, const char *relative,
                       unsigned depth) {
    if (depth == MAX_DEPTH)
        return err_set(p->e, ERR_INPUT, "%s: more than %d folders deep", path, MAX_DEPTH);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char **names = fd >= 0 ? intake_names(fd) : NULL;
    bool ok = names ? add_children(p, relative, names, depth)
                    : err_set(p->e, ERR_SYSTEM, "%s: cannot read this folder", path);
    if (names) intake_free_names(names);
    if (fd >= 0) close(fd);
    return ok;
}

/* Adds a file or a folder. Skips links and devices: the book has none. */
static bool add_tree(struct package_builder *p, const char *relative, unsigned depth) {
    char path[PATH_MAX];
    struct stat st;
    if (!path_join(path, sizeof path, book_root(), relative))
        return err_set(p->e, ERR_INPUT, "%s: path too long", relative);
    if (lstat(path, &st) < 0) return err_set(p->e, ERR_INPUT, "%s is missing in the book", path);
    if (S_ISREG(st.st_mode)) return add_book_file(p, path, relative);
    return !S_ISDIR(st.st_mode) || add_folder(p, path, relative, depth);
}

/* Adds the assignment as assignment/assignment.toml, and its hidden cases, each as far below
 * assignment/ as it is below the assignment's folder. */
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
    static const char *const scripts[] = {"setup.sh", "run_autograder"},
                             *const book_parts[] = {"LICENSE", "Makefile", "chapters",
                                                    "common",  "grader",   "solutions"};
    char from[PATH_MAX];
    bool ok = true;
    for (unsigned i = 0; i < sizeof scripts / sizeof *scripts && ok; i++) {
        snprintf(from, sizeof from, "%s/grader/template/gradescope/%s", book_root(), scripts[i]);
        ok = add_file(p, from, scripts[i]);
    }
    ok = ok && add_assignment(p, a);
    for (unsigned i = 0; i < sizeof book_parts / sizeof *book_parts && ok; i++)
        ok = add_tree(p, book_parts[i], 0);
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

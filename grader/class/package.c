/* package.c — see package.h. The zip has sources, not programs: the container builds them with the
 * compiler that packages.txt names. Starter files are the book's originals, even if somebody has
 * edited chapters/. All times are 1980, so that equal trees give equal packages. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/class/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 16 << 20, MAX_DEPTH = 8 };
static const time_t zip_epoch = 315532800; /* 1980-01-01, the earliest date of a zip file */

struct package_builder {
    struct archive *zip;
    unsigned file_count;
    struct err *e;
};

static bool set_zip_error(struct package_builder *p) {
    const char *reason = archive_error_string(p->zip);
    return err_set(p->e, ERR_SYSTEM, "cannot write the package: %s",
                   reason ? reason : "no reason given");
}

static bool add_entry(struct package_builder *p, const char *name, const void *data, size_t size,
                      bool is_executable) {
    struct archive_entry *en = archive_entry_new();
    archive_entry_set_pathname(en, name);
    archive_entry_set_filetype(en, AE_IFREG),
        archive_entry_set_perm(en, is_executable ? 0755 : 0644);
    archive_entry_set_size(en, (la_int64_t)size), archive_entry_set_mtime(en, zip_epoch, 0);
    bool ok = archive_write_header(p->zip, en) == ARCHIVE_OK &&
              (!size || archive_write_data(p->zip, data, size) == (la_ssize_t)size);
    archive_entry_free(en);
    p->file_count += ok;
    return ok || set_zip_error(p);
}

static bool add_file(struct package_builder *p, const char *from, const char *to) {
    struct buf text = {0};
    bool is_executable = text_ends_with(to, ".sh") || text_ends_with(to, "run_autograder");
    bool ok = file_read(from, MAX_FILE_BYTES, &text, p->e) &&
              add_entry(p, to, buf_str(&text), text.size, is_executable);
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
              add_entry(p, to, buf_str(&text), text.size, false);
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
        const char *hidden = a->parts[i].hidden;
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

static la_ssize_t write_zip_bytes(struct archive *zip, void *user, const void *data, size_t size) {
    (void)zip;
    return fwrite(data, 1, size, user) == size ? (la_ssize_t)size : -1;
}

bool class_write_package(const struct assignment *a, const char *path, unsigned *file_count,
                         struct err *e) {
    struct file_out o;
    struct package_builder p = {.zip = archive_write_new(), .e = e};
    if (!p.zip) die("out of memory");
    if (!file_open(path, &o, e)) return archive_write_free(p.zip), false;
    bool ok = archive_write_set_format_zip(p.zip) == ARCHIVE_OK &&
              archive_write_open(p.zip, o.f, NULL, write_zip_bytes, NULL) == ARCHIVE_OK;
    ok = ok ? add_all(&p, a) : set_zip_error(&p);
    if (archive_write_close(p.zip) != ARCHIVE_OK && ok) ok = set_zip_error(&p);
    archive_write_free(p.zip);
    *file_count = p.file_count;
    return file_close(&o, ok, e) && ok;
}

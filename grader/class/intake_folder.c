/* intake_folder.c — reads a student's folder and the folders below it, down to INTAKE_MAX_DEPTH; it
 * follows no link. See intake.h. */
#include "common/file.h"
#include "common/grow.h"
#include "grader/class/intake.h"
#include "grader/grade/grade.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder_walk {
    intake_filter_fn *filter;
    void *user;
    struct intake *in;
    unsigned entry_count, archive_count, depth;
    size_t bytes;
    char path[PATH_MAX]; /* relative to the student's folder */
};

static void visit_entry(struct folder_walk *w, int dir_fd, const char *name);

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **intake_names(int dir_fd) {
    char **list = xcalloc(1, sizeof *list);
    unsigned n = 0, capacity = 1;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        GROW(list, n + 2, capacity, 1);
        list[n++] = xstrdup(entry->d_name), list[n] = NULL;
    }
    if (d) closedir(d);
    else if (fd >= 0) close(fd);
    if (!d) return free(list), NULL;
    qsort(list, n, sizeof *list, by_name);
    return list;
}

void intake_free_names(char **list) {
    for (char **s = list; s && *s; s++) free(*s);
    free(list);
}

static const char *rejection_reason(int error, const struct stat *st) {
    if (!S_ISREG(st->st_mode)) return "a link, or not a regular file";
    if (error == EACCES || error == EPERM) return "it cannot be read: permission denied";
    if ((uint64_t)st->st_size > SOURCE_LIMIT) return "larger than 1 MiB";
    return "it cannot be read";
}

static void add_file(struct folder_walk *w, int dir_fd, const char *name, const struct stat *st) {
    struct buf data = {0};
    int fd = intake_openat_beneath(dir_fd, name, SOURCE_LIMIT), error = errno;
    bool ok = fd >= 0 && intake_read_fd(fd, SOURCE_LIMIT, &data);
    w->bytes += data.size;
    if (!ok) intake_reject(w->in, w->path, true, rejection_reason(error, st));
    else if (w->bytes > INTAKE_MAX_TOTAL_BYTES)
        intake_reject(w->in, w->path, true, "the sources exceed 64 MiB in all");
    else intake_add(w->in, w->path, buf_str(&data), data.size);
    if (fd >= 0) close(fd);
    buf_free(&data);
}

/* Reads an archive as if it were a folder. */
static void add_archive(struct folder_walk *w, int dir_fd, const char *name) {
    struct intake in = {0};
    struct err e = {0};
    int fd = intake_openat_beneath(dir_fd, name, INTAKE_MAX_ARCHIVE_BYTES);
    if (fd < 0) intake_reject(w->in, w->path, true, "it cannot be read, or is larger than 32 MiB");
    else if (++w->archive_count > INTAKE_MAX_ARCHIVES)
        intake_reject(w->in, w->path, true, "more than 8 archives; the rest is left out");
    else if (!intake_archive(fd, w->filter, w->user, &in, &e))
        intake_reject(w->in, w->path, true, e.text);
    for (unsigned i = 0; i < in.n; i++) w->bytes += in.files[i].data.size;
    if (w->bytes > INTAKE_MAX_TOTAL_BYTES)
        intake_free(&in), intake_reject(w->in, w->path, true, "the sources exceed 64 MiB in all");
    intake_move(w->in, &in, w->path);
    if (fd >= 0) close(fd);
}

static void visit_folder(struct folder_walk *w, int dir_fd, const char *name) {
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    w->depth++;
    char **names = fd >= 0 ? intake_names(fd) : NULL;
    if (!names) intake_reject(w->in, w->path, true, "a folder that cannot be read");
    for (char **n = names; n && *n; n++) {
        if (++w->entry_count == INTAKE_MAX_ENTRIES)
            intake_reject(w->in, *n, true, "more than 4096 entries; the rest is left out");
        if (w->entry_count < INTAKE_MAX_ENTRIES) visit_entry(w, fd, *n);
    }
    w->depth--;
    intake_free_names(names);
    if (fd >= 0) close(fd);
}

/* Returns true for a link that may lead to sources: it has no extension, or that of a source. */
static bool may_hide_sources(const char *name, const struct stat *st) {
    return S_ISLNK(st->st_mode) && (!strchr(name, '.') || intake_needs_review(name));
}

static void visit_entry(struct folder_walk *w, int dir_fd, const char *name) {
    struct stat st = {0};
    size_t before = strlen(w->path);
    int n = snprintf(w->path + before, sizeof w->path - before, "%s%s", before ? "/" : "", name);
    if (name[0] == '.' || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        w->in->other_file_count++;
    else if (n >= (int)(sizeof w->path - before) || strlen(w->path) > INTAKE_MAX_PATH)
        intake_reject(w->in, name, true, "its path is longer than 512 bytes");
    else if (S_ISDIR(st.st_mode) && w->depth < INTAKE_MAX_DEPTH) visit_folder(w, dir_fd, name);
    else if (S_ISDIR(st.st_mode)) intake_reject(w->in, w->path, true, "more than 12 folders deep");
    else if (w->filter(w->user, w->path)) add_file(w, dir_fd, name, &st);
    else if (may_hide_sources(name, &st))
        intake_reject(w->in, w->path, true, "a link, which is not followed");
    else if (intake_needs_review(w->path) && intake_is_archive(name)) add_archive(w, dir_fd, name);
    else if (intake_needs_review(w->path)) intake_reject(w->in, w->path, true, "not a .cu file");
    else intake_add_other(w->in, w->path);
    w->path[before] = 0;
}

void intake_folder(int dir_fd, intake_filter_fn *filter, void *user, struct intake *out) {
    struct folder_walk w = {.filter = filter, .user = user, .in = out};
    char **names = intake_names(dir_fd);
    if (!names) intake_reject(out, ".", true, "a folder that cannot be read");
    for (char **n = names; n && *n; n++) {
        if (++w.entry_count == INTAKE_MAX_ENTRIES)
            intake_reject(out, *n, true, "more than 4096 entries; the rest is left out");
        if (w.entry_count < INTAKE_MAX_ENTRIES) visit_entry(&w, dir_fd, *n);
    }
    intake_free_names(names);
}

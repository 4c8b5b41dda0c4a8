/* intake_folder.c — a student's folder, read as intake.h says: every folder below it, to a depth;
 * through no link. */
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

struct walk {
    intake_wants *wants;
    void *user;
    struct intake *in;
    unsigned entries, depth;
    size_t bytes;
    char path[PATH_MAX]; /* from the student's folder on */
};

static void visit(struct walk *w, int folder, const char *name);

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **intake_names(int folder) {
    char **list = xcalloc(1, sizeof *list);
    unsigned n = 0, room = 1;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        GROW(list, n + 2, room, 1);
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

static const char *why_not(int error, const struct stat *st) {
    if (!S_ISREG(st->st_mode)) return "a link or no regular file";
    if (error == EACCES || error == EPERM) return "it cannot be read: permission denied";
    if ((uint64_t)st->st_size > SOURCE_LIMIT) return "larger than 1 MiB";
    return "it cannot be read";
}

static void file(struct walk *w, int folder, const char *name, const struct stat *st) {
    struct buf data = {0};
    int fd = intake_open_beneath(folder, name, SOURCE_LIMIT), error = errno;
    bool ok = fd >= 0 && intake_read(fd, SOURCE_LIMIT, &data);
    w->bytes += data.size;
    if (!ok) intake_leave(w->in, w->path, true, why_not(error, st));
    else if (w->bytes > INTAKE_TOTAL_BYTES)
        intake_leave(w->in, w->path, true, "beyond 64 MiB of sources");
    else intake_add(w->in, w->path, buf_str(&data), data.size);
    if (fd >= 0) close(fd);
    buf_free(&data);
}

static void below(struct walk *w, int folder, const char *name) {
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    w->depth++;
    char **names = fd >= 0 ? intake_names(fd) : NULL;
    if (!names) intake_leave(w->in, w->path, true, "a folder that cannot be read");
    for (char **n = names; n && *n; n++) {
        if (++w->entries == INTAKE_ENTRIES)
            intake_leave(w->in, *n, true, "more than 4096 entries: the rest is not read");
        if (w->entries < INTAKE_ENTRIES) visit(w, fd, *n);
    }
    w->depth--;
    intake_free_names(names);
    if (fd >= 0) close(fd);
}

/* A link may lead to a folder of sources; where its name ends like a file's, it is judged by that.
 */
static bool may_hide_sources(const char *name, const struct stat *st) {
    return S_ISLNK(st->st_mode) && (!strchr(name, '.') || intake_is_doubtful(name));
}

static void visit(struct walk *w, int folder, const char *name) {
    struct stat st = {0};
    size_t before = strlen(w->path);
    int n = snprintf(w->path + before, sizeof w->path - before, "%s%s", before ? "/" : "", name);
    if (name[0] == '.' || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0) w->in->others++;
    else if (n >= (int)(sizeof w->path - before) || strlen(w->path) > INTAKE_PATH)
        intake_leave(w->in, name, true, "its path is longer than 512 bytes");
    else if (S_ISDIR(st.st_mode) && w->depth < INTAKE_DEPTH) below(w, folder, name);
    else if (S_ISDIR(st.st_mode)) intake_leave(w->in, w->path, true, "more than 12 folders deep");
    else if (w->wants(w->user, w->path)) file(w, folder, name, &st);
    else if (may_hide_sources(name, &st))
        intake_leave(w->in, w->path, true, "a link, which is not followed");
    else if (intake_is_doubtful(name)) intake_leave(w->in, w->path, true, "no .cu file");
    else w->in->others++;
    w->path[before] = 0;
}

void intake_folder(int folder, intake_wants *wants, void *user, struct intake *out) {
    struct walk w = {.wants = wants, .user = user, .in = out};
    char **names = intake_names(folder);
    if (!names) intake_leave(out, ".", true, "a folder that cannot be read");
    for (char **n = names; n && *n; n++) {
        if (++w.entries == INTAKE_ENTRIES)
            intake_leave(out, *n, true, "more than 4096 entries: the rest is not read");
        if (w.entries < INTAKE_ENTRIES) visit(&w, folder, *n);
    }
    intake_free_names(names);
}

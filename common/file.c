/* file.c — see file.h. */
#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool set_errno_error(struct err *e, const char *path, const char *action) {
    return err_set(e, ERR_SYSTEM, "%s: cannot %s: %s", path, action, strerror(errno));
}

static bool read_all(int fd, const char *path, size_t limit, struct buf *out, struct err *e) {
    char chunk[65536];
    size_t total = 0;
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return set_errno_error(e, path, "read");
        total += (size_t)n;
        if (total > limit) return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", path, limit);
        buf_add(out, chunk, (size_t)n);
    }
    buf_add(out, "", 0); /* gives an empty file, too, data that ends in a NUL */
    return true;
}

bool file_read(const char *path, size_t limit, struct buf *out, struct err *e) {
    /* O_NONBLOCK: to open a pipe must not block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return set_errno_error(e, path, "open");
    struct stat st;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!ok) err_set(e, ERR_INPUT, "%s: not a regular file", path);
    ok = ok && read_all(fd, path, limit, out, e);
    close(fd);
    return ok;
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Returns true if the path is a regular file or does not exist. Does not follow links. */
static bool is_replaceable(const char *path) {
    struct stat st;
    return lstat(path, &st) < 0 || S_ISREG(st.st_mode);
}

bool file_write(const char *path, const void *data, size_t size, struct err *e) {
    char temporary[PATH_MAX];
    if (!is_replaceable(path))
        return err_set(e, ERR_INPUT, "%s: not a regular file, so it was not replaced", path);
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
        return err_set(e, ERR_INPUT, "%s: path too long", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) return set_errno_error(e, path, "create");
    bool ok = write_all(fd, data, size) && fchmod(fd, 0644) == 0;
    ok = close(fd) == 0 && ok;
    if (ok && rename(temporary, path) == 0) return true;
    set_errno_error(e, path, "write");
    unlink(temporary);
    return false;
}

/* Opens a device or a pipe for writing. */
static bool open_in_place(const char *path, struct file_out *o, struct err *e) {
    o->temporary[0] = 0;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    o->f = fd >= 0 ? fdopen(fd, "w") : NULL;
    return o->f || set_errno_error(e, path, "open");
}

bool file_open(const char *path, struct file_out *o, struct err *e) {
    char target[PATH_MAX];
    *o = (struct file_out){.f = stdout};
    if (!path) return true;
    /* Replace the target of a link, not the link. */
    if (!is_replaceable(path) && realpath(path, target) && is_replaceable(target)) path = target;
    if (snprintf(o->temporary, sizeof o->temporary, "%s.XXXXXX", path) >= (int)sizeof o->temporary)
        return err_set(e, ERR_INPUT, "%s: path too long", path);
    strcpy(o->path, path);
    if (!is_replaceable(path)) return open_in_place(path, o, e);
    int fd = mkostemp(o->temporary, O_CLOEXEC);
    o->f = fd >= 0 ? fdopen(fd, "w") : NULL;
    return o->f || set_errno_error(e, path, "create");
}

bool file_close(struct file_out *o, bool commit, struct err *e) {
    if (!o->path[0]) /* standard output */
        return (fflush(o->f) == 0 && !ferror(o->f)) ||
               set_errno_error(e, "standard output", "write");
    if (!o->temporary[0]) { /* a device or a pipe */
        bool written = fflush(o->f) == 0 && !ferror(o->f);
        return (fclose(o->f) == 0 && written) || set_errno_error(e, o->path, "write");
    }
    bool ok = !ferror(o->f) && fflush(o->f) == 0 && fchmod(fileno(o->f), 0644) == 0 &&
              fsync(fileno(o->f)) == 0;
    ok = fclose(o->f) == 0 && ok;
    if (commit && ok && rename(o->temporary, o->path) == 0) return true;
    if (commit) set_errno_error(e, o->path, "write");
    unlink(o->temporary);
    return !commit; /* to discard the file is no error */
}

bool file_write_output(const char *path, const void *data, size_t size, struct err *e) {
    struct file_out o;
    if (!file_open(path, &o, e)) return false;
    fwrite(data, 1, size, o.f); /* file_close() reports errors */
    return file_close(&o, true, e);
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

bool dir_create(const char *path, struct err *e) {
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part) return err_set(e, ERR_INPUT, "%s: path too long", path);
    strcpy(part, path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        if (mkdir(part, 0777) < 0 && errno != EEXIST) return set_errno_error(e, part, "create");
        *p = '/';
    }
    if (mkdir(part, 0777) < 0 && errno != EEXIST) return set_errno_error(e, part, "create");
    return true;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

bool dir_remove(const char *path, struct err *e) {
    if (!file_exists(path)) return true;
    if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0) return true;
    return set_errno_error(e, path, "remove");
}

const char *path_basename(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool path_join(char *out, size_t size, const char *dir, const char *name) {
    return snprintf(out, size, "%s/%s", dir, name) < (int)size;
}

void path_temporary(char out[PATH_TEMPORARY_BYTES], const char *name) {
    const char *folder = getenv("TMPDIR");
    if (!folder || *folder != '/' || strlen(folder) > 200) folder = "/tmp";
    snprintf(out, PATH_TEMPORARY_BYTES, "%s/warpbook-%.30s.XXXXXX", folder, name);
}

/* workbench_file.c — reads and writes files below a folder for `grader serve`. It opens folder
 * after folder with O_NOFOLLOW, so neither ".." nor a link leads out. */
#include "common/file.h"
#include "common/paths.h"
#include "grader/cli/workbench.h"
#include "grader/grade/grade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the folder of `relative` as a descriptor, and its last part in `*name`; -1 with an error.
 */
static int open_parent(const char *root, const char *relative, const char **name, struct err *e) {
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t n; folder >= 0 && relative[n = strcspn(relative, "/")]; relative += n + 1) {
        char part[256];
        bool is_plain = n && n < sizeof part && relative[0] != '.';
        snprintf(part, sizeof part, "%.*s", (int)n, relative);
        int next =
            is_plain ? openat(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        close(folder);
        folder = next;
    }
    *name = relative;
    if (folder >= 0 && *relative && *relative != '.') return folder;
    if (folder >= 0) close(folder);
    err_set(e, ERR_INPUT, "%.200s: not a plain path to a file of this folder", relative);
    return -1;
}

/* Reads the file `name` of an open folder. */
static bool read_in(int folder, const char *name, size_t limit, struct buf *out, struct err *e) {
    char path[64];
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return err_set(e, ERR_INPUT, "%.200s: %s", name, strerror(errno));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = file_read(path, limit, out, e);
    close(fd);
    return ok;
}

bool workbench_read(const char *root, const char *relative, size_t limit, struct buf *out,
                    struct err *e) {
    const char *name;
    int folder = open_parent(root, relative, &name, e);
    if (folder < 0) return false;
    bool ok = read_in(folder, name, limit, out, e);
    close(folder);
    return ok;
}

static bool write_all(int fd, const struct buf *text) {
    for (size_t done = 0; done < text->size;) {
        ssize_t n = write(fd, text->data + done, text->size - done);
        if (n < 0 && errno != EINTR) return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Returns the mode of the file, or that of a new one. */
static mode_t mode_of(int folder, const char *name) {
    struct stat st;
    bool exists = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
    return exists ? st.st_mode & 0777 : 0644;
}

/* Puts the temporary file in the place of `name`. An exchange shows what it replaced: another
 * editor may have saved since the caller last read the file. */
static bool move_into_place(int folder, const char *temporary, const char *name,
                            struct buf *replaced) {
    struct err ignored = {0};
    if (!replaced || renameat2(folder, temporary, folder, name, RENAME_EXCHANGE) < 0)
        return renameat(folder, temporary, folder, name) == 0; /* a new file, or no exchange here */
    read_in(folder, temporary, SOURCE_LIMIT, replaced, &ignored);
    return unlinkat(folder, temporary, 0) == 0;
}

bool workbench_write(const char *root, const char *relative, const struct buf *text,
                     struct buf *replaced, struct err *e) {
    const char *name;
    char temporary[300];
    int folder = open_parent(root, relative, &name, e);
    if (folder < 0) return false;
    snprintf(temporary, sizeof temporary, ".%.200s.%ld", name, (long)getpid());
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok =
        fd >= 0 && write_all(fd, text) && fchmod(fd, mode_of(folder, name)) == 0 && fsync(fd) == 0;
    if (fd >= 0) ok = close(fd) == 0 && ok;
    ok = ok && move_into_place(folder, temporary, name, replaced);
    if (!ok) err_set(e, ERR_SYSTEM, "%.200s: cannot write: %s", relative, strerror(errno));
    if (!ok) unlinkat(folder, temporary, 0);
    close(folder);
    return ok;
}

static void relative_path(const struct exercise *ex, char out[400]) {
    snprintf(out, 400, "chapters/%.160s.cu", book_id(ex));
}

bool workbench_read_source(const struct exercise *ex, struct buf *out, struct err *e) {
    char path[400];
    relative_path(ex, path);
    if (access(book_student_file(ex), F_OK) < 0 && errno == ENOENT) return true;
    return workbench_read(paths_workspace_dir(), path, SOURCE_LIMIT, out, e);
}

bool workbench_write_source(const struct exercise *ex, const struct buf *text, struct buf *replaced,
                            struct err *e) {
    char path[400];
    struct stat st;
    relative_path(ex, path);
    if (lstat(book_student_file(ex), &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, ERR_INPUT, "%.200s: not a regular file, so it was not replaced", path);
    return workbench_write(paths_workspace_dir(), path, text, replaced, e);
}

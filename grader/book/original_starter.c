/* original_starter.c — returns the starter file as the book ships it, whatever the student made of
 * it.
 *
 * Where the book is installed, no one edits its files. In a source tree, students edit
 * chapters/NN/NAME.cu in place, so the shipped text must come from elsewhere. If the book is a git
 * checkout, it is the file of the last commit: nothing to keep up to date, and an author's new
 * starter file counts once it is committed. A book from an archive has no git; there the grader
 * uses a copy that it made when it first saw the file (build/pristine). The alternative, embedding
 * the starter files at build time, would embed the student's edits at the next rebuild. */
#include "grader/book/book.h"
#include "common/file.h"
#include "common/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { SOURCE_LIMIT = 1 << 20 };

static bool drain(int fd, struct buf *out) {
    char chunk[8192];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || out->size > SOURCE_LIMIT) return false;
        buf_add(out, chunk, (size_t)n);
    }
    return true;
}

/* Appends the committed file. Returns false without git, outside a checkout, or if the file is not
 * in it. */
static bool from_git(const struct exercise *ex, struct buf *out) {
    char object[512];
    snprintf(object, sizeof object, "HEAD:./chapters/%s/%s.cu", ex->chapter, ex->name);
    char *argv[] = {"git",  "-c", "safe.directory=*", "-C", (char *)book_root(), "cat-file", "blob",
                    object, NULL};
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) < 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bool ok = posix_spawnp(&pid, "git", &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    bool drained = ok && drain(fds[0], out);
    close(fds[0]);
    int status = 1;
    while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return drained && WIFEXITED(status) && WEXITSTATUS(status) == 0 && out->size > 0;
}

bool book_original_starter(const struct exercise *ex, struct buf *out, struct err *e) {
    size_t initial_size = out->size;
    if (paths_is_installed()) return file_read(book_chapter_file(ex, ".cu"), SOURCE_LIMIT, out, e);
    if (from_git(ex, out)) return true;
    out->size = initial_size;
    char copy[PATH_MAX + 512];
    snprintf(copy, sizeof copy, "%s/pristine/%s", paths_build_dir(), ex->chapter);
    if (!dir_create(copy, e)) return false;
    snprintf(copy, sizeof copy, "%s/pristine/%s/%s.cu", paths_build_dir(), ex->chapter, ex->name);
    if (file_exists(copy)) return file_read(copy, SOURCE_LIMIT, out, e);
    if (!file_read(book_chapter_file(ex, ".cu"), SOURCE_LIMIT, out, e)) return false;
    return file_write(copy, out->data + initial_size, out->size - initial_size, e);
}

const struct exercise *book_exercise_of_starter(const char *relative) {
    char path[512];
    for (unsigned i = 0; i < book_count(); i++) {
        snprintf(path, sizeof path, "chapters/%s.cu", book_id(book_at(i)));
        if (!strcmp(path, relative)) return book_at(i);
    }
    return NULL;
}

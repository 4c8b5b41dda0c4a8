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
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { SOURCE_LIMIT = 1 << 20, ANSWER_LIMIT = 64 << 20 };

static bool drain(int fd, struct buf *out) {
    char chunk[8192];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || out->size > ANSWER_LIMIT) return false;
        buf_add(out, chunk, (size_t)n);
    }
    return true;
}

/* Writes the names of all starter files to an unnamed file, for git's standard input. */
static int open_names(void) {
    struct buf names = {0};
    for (unsigned i = 0; i < book_count(); i++)
        buf_printf(&names, "HEAD:./chapters/%s.cu\n", book_id(book_at(i)));
    int fd = memfd_create("names", MFD_CLOEXEC);
    bool ok = fd >= 0 && write(fd, buf_str(&names), names.size) == (ssize_t)names.size &&
              lseek(fd, 0, SEEK_SET) == 0;
    buf_free(&names);
    if (ok) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Appends git's reply for all starter files: for each one a line "ID blob SIZE", the bytes, a
 * newline; or a line that ends with "missing". */
static bool query_git(int names, struct buf *out) {
    char *argv[] = {"git",     "-c", "safe.directory=*", "-C", (char *)book_root(), "cat-file",
                    "--batch", NULL};
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) < 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, names, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bool ok = posix_spawnp(&pid, "git", &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    bool drained = ok && drain(fds[0], out);
    close(fds[0]);
    int status = 1;
    while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return drained && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Returns the texts in the order of the book, an empty one where the commit has no such file; NULL
 * without git or outside a checkout. One git process answers for all, once. */
static const struct buf *committed_starters(void) {
    static struct buf *starters;
    static bool is_loaded;
    if (is_loaded) return starters;
    is_loaded = true;
    struct buf reply = {0};
    int names = open_names();
    bool ok = names >= 0 && query_git(names, &reply);
    if (names >= 0) close(names);
    if (ok) starters = xcalloc(book_count(), sizeof *starters);
    const char *at = buf_str(&reply), *end = at + reply.size;
    for (unsigned i = 0; ok && i < book_count() && at < end; i++) {
        size_t size = 0, head = strcspn(at, "\n") + 1;
        if (sscanf(at, "%*[0-9a-f] blob %zu", &size) == 1 && head + size < (size_t)(end - at)) {
            buf_add(&starters[i], at + head, size);
            head += size + 1;
        }
        at += head;
    }
    buf_free(&reply);
    return starters;
}

/* Appends the committed file. Returns false without git, outside a checkout, or if the file is not
 * in it. */
static bool from_git(const struct exercise *ex, struct buf *out) {
    const struct buf *starters = committed_starters();
    for (unsigned i = 0; starters && i < book_count(); i++)
        if (book_at(i) == ex) {
            buf_add(out, buf_str(&starters[i]), starters[i].size);
            return starters[i].size > 0;
        }
    return false;
}

bool book_original_starter(const struct exercise *ex, struct buf *out, struct err *e) {
    size_t initial_size = out->size;
    if (paths_is_installed()) return file_read(book_chapter_file(ex, ".cu"), SOURCE_LIMIT, out, e);
    if (from_git(ex, out)) return true;
    out->size = initial_size;
    char copy[PATH_MAX + 512];
    snprintf(copy, sizeof copy, "%s/pristine/%s", paths_program_dir(), ex->chapter);
    if (!dir_create(copy, e)) return false;
    snprintf(copy, sizeof copy, "%s/pristine/%s/%s.cu", paths_program_dir(), ex->chapter, ex->name);
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

/* assignment_hidden.c — see assignment_hidden.h. An instructor's hidden cases are a C file. It is
 * trusted like the book's own exercises: gcc, which nvcc needs anyway, compiles it outside the
 * sandbox, and dlopen loads it into the grader. Students' code runs in the sandbox and sees neither
 * this file nor its folder. */
#include "grader/class/assignment_hidden.h"
#include "common/file.h"
#include "grader/book/book.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { MAX_QUOTED_OUTPUT = 400, MAX_CASES = 1000 };

/* Appends the first MAX_QUOTED_OUTPUT bytes that come from `fd`, and reads the rest. */
static void read_output(int fd, struct buf *output) {
    char chunk[4096];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno != EINTR) break;
        size_t capacity = MAX_QUOTED_OUTPUT - output->size;
        if (n > 0) buf_add(output, chunk, (size_t)n < capacity ? (size_t)n : capacity);
    }
}

/* Starts a program with stdout and stderr going to `fd`. Returns 0, or an errno value. */
static int start_program(char *const argv[], int fd, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    posix_spawn_file_actions_adddup2(&actions, fd, 2);
    error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Runs a program; `output` gets the beginning of its stdout and stderr, or the reason why it did
 * not start. Returns true if it exits with 0. */
static bool run_program(char *const argv[], struct buf *output) {
    int fds[2], status = 1;
    pid_t pid;
    int error = pipe2(fds, O_CLOEXEC) < 0 ? errno : 0;
    if (!error) {
        error = start_program(argv, fds[1], &pid);
        close(fds[1]);
        if (!error) read_output(fds[0], output);
        close(fds[0]);
    }
    if (error) {
        buf_printf(output, "%s can't be started: %s", argv[0], strerror(error));
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status)) buf_printf(output, "signal %d ended %s", WTERMSIG(status), argv[0]);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The flags are those of the book's own exercises, so that hidden cases draw the same numbers. */
static bool compile(const char *from, const char *to, struct err *e) {
    struct buf output = {0};
    char include[PATH_MAX + 2];
    snprintf(include, sizeof include, "-I%s", book_root());
    char *argv[] = {"gcc",
                    "-std=gnu11",
                    "-shared",
                    "-fPIC",
                    "-O1",
                    "-fvisibility=hidden",
                    "-fsigned-char",
                    "-ffp-contract=off",
                    "-D_GNU_SOURCE",
                    include,
                    "-xc",
                    (char *)from,
                    "-o",
                    (char *)to,
                    NULL};
    bool ok = run_program(argv, &output);
    if (!ok) err_set(e, ERR_INPUT, "%s does not compile:\n%s", from, buf_str(&output));
    buf_free(&output);
    return ok;
}

static bool validate_cases(const struct assignment_part *p, struct err *e) {
    const struct grading_policy *policy = &p->policy;
    if (!policy->nhidden || policy->nhidden > MAX_CASES)
        return err_set(e, ERR_INPUT, "%s has %u cases; it needs 1 to %d", p->hidden_path,
                       policy->nhidden, MAX_CASES);
    for (unsigned i = 0; i < policy->nhidden; i++)
        for (unsigned d = 0; d < EX_DIMS; d++)
            if (policy->hidden_cases[i].dim[d] < 0)
                return err_set(e, ERR_INPUT, "%s: case %u has a negative size", p->hidden_path,
                               i + 1);
    return true;
}

/* Sets p->dl_handle to the library that gcc makes of the file. */
static bool load_library(struct assignment_part *p, struct err *e) {
    char library_path[PATH_TEMPORARY_BYTES];
    path_temporary(library_path, "hidden");
    int fd = mkstemp(library_path);
    if (fd < 0) return err_set(e, ERR_SYSTEM, "%s: %s", library_path, strerror(errno));
    close(fd);
    bool is_compiled = compile(p->hidden_path, library_path, e);
    if (is_compiled) {
        p->dl_handle = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
        if (!p->dl_handle) err_set(e, ERR_INPUT, "%s: %s", p->hidden_path, dlerror());
    }
    unlink(library_path);
    return p->dl_handle != NULL;
}

bool assignment_hidden_load(struct assignment_part *p, struct err *e) {
    if (!file_exists(p->hidden_path))
        return err_set(e, ERR_INPUT, "%s does not exist", p->hidden_path);
    if (!load_library(p, e)) return false;
    const unsigned *n = dlsym(p->dl_handle, "ex_hidden_count");
    const struct ex_case *cases = dlsym(p->dl_handle, "ex_hidden_cases");
    if (!n || !cases)
        return err_set(e, ERR_INPUT, "%s has no EX_HIDDEN(...); see common/exercise_hidden.h",
                       p->hidden_path);
    p->policy.hidden_cases = cases;
    p->policy.nhidden = *n;
    return validate_cases(p, e);
}

void assignment_hidden_free(struct assignment_part *p) {
    if (p->dl_handle) dlclose(p->dl_handle);
    p->dl_handle = NULL;
}

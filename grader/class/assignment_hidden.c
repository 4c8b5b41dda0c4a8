/* assignment_hidden.c — see assignment_hidden.h. The instructor's file is as trusted as the book:
 * gcc, which nvcc needs anyway, compiles it outside the sandbox. Students' code runs in the sandbox
 * and sees neither this file nor its folder. */
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
enum { MAX_OUTPUT_BYTES = 600, MAX_CASES = 1000 };

/* Runs a program; `output` gets the beginning of its output. Returns true if it exits with 0. */
static bool run_program(char *const argv[], struct buf *output) {
    int fds[2], status = 1;
    char chunk[4096];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) < 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1),
        posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
    bool ok = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    for (ssize_t n; ok && (n = read(fds[0], chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno != EINTR) break;
        if (n > 0 && output->size < MAX_OUTPUT_BYTES) buf_add(output, chunk, (size_t)n);
    }
    close(fds[0]);
    while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

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
    if (!ok)
        err_set(e, ERR_INPUT, "%s does not compile:\n%.400s", from,
                output.size ? buf_str(&output) : "gcc is not installed");
    buf_free(&output);
    return ok;
}

static bool validate_cases(const struct assignment_part *p, struct err *e) {
    const struct grading_policy *t = &p->policy;
    if (!t->nhidden || t->nhidden > MAX_CASES)
        return err_set(e, ERR_INPUT, "%s has %u cases; it needs 1 to %d", p->hidden, t->nhidden,
                       MAX_CASES);
    for (unsigned i = 0; i < t->nhidden; i++)
        for (unsigned d = 0; d < EX_DIMS; d++)
            if (t->hidden_cases[i].dim[d] < 0)
                return err_set(e, ERR_INPUT, "%s: case %u has a negative size", p->hidden, i + 1);
    return true;
}

bool assignment_hidden_load(struct assignment_part *p, struct err *e) {
    char to[PATH_TEMPORARY_BYTES];
    if (!file_exists(p->hidden)) return err_set(e, ERR_INPUT, "%s does not exist", p->hidden);
    path_temporary(to, "hidden");
    int fd = mkstemp(to);
    if (fd < 0) return err_set(e, ERR_SYSTEM, "%s: %s", to, strerror(errno));
    close(fd);
    bool ok = compile(p->hidden, to, e);
    if (ok && !(p->dl_handle = dlopen(to, RTLD_NOW | RTLD_LOCAL)))
        ok = err_set(e, ERR_INPUT, "%s: %s", p->hidden, dlerror());
    unlink(to);
    if (!ok) return false;
    const unsigned *n = dlsym(p->dl_handle, "ex_hidden_count");
    p->policy.hidden_cases = dlsym(p->dl_handle, "ex_hidden_cases"), p->policy.nhidden = n ? *n : 0;
    if (!n || !p->policy.hidden_cases)
        return p->policy.nhidden = 0,
               err_set(e, ERR_INPUT, "%s has no EX_HIDDEN(...); see common/exercise_hidden.h",
                       p->hidden);
    return validate_cases(p, e);
}

void assignment_hidden_free(struct assignment_part *p) {
    if (p->dl_handle) dlclose(p->dl_handle);
    p->dl_handle = NULL;
}

/* compiler.c — starts the process that compiles native code. See compiler.h.
 *
 * The sandbox is in another program, `simgpu compile-native`, since the simulator knows nothing of
 * sandboxes, and a large process forks slowly. That program inherits the source as its standard
 * input, the object as its standard output, and the read end of a pipe. When this process ends, in
 * whatever way, or cancels the compilation, the pipe closes, and the program ends its sandbox. */
#include "grader/sim/native/compiler.h"
#include "common/buf.h"
#include "common/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sandbox shows no other folder of programs. */
static const char gcc_path[] = "/usr/bin/gcc";

/* Size and time stand for the content, as with nvcc. */
void native_compiler_identity(struct buf *out) {
    struct stat st;
    if (stat(gcc_path, &st) != 0) return;
    buf_printf(out, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
               st.st_mtim.tv_nsec);
}

static void close_pipe(struct native_run *r, bool is_cancelled) {
    pthread_mutex_lock(&r->lock);
    r->is_cancelled |= is_cancelled;
    if (r->liveness_fd >= 0) close(r->liveness_fd);
    r->liveness_fd = -1;
    pthread_mutex_unlock(&r->lock);
}

void native_run_cancel(struct native_run *r) { close_pipe(r, true); }

enum { MAX_ARGUMENTS = 32, LIVENESS_FD = 3 };

static bool spawn_program(const char *const *options, int source, int object, int liveness,
                          pid_t *pid) {
    const char *argv[MAX_ARGUMENTS + 4] = {"simgpu", "compile-native", gcc_path};
    char path[PATH_MAX];
    posix_spawn_file_actions_t files;
    for (unsigned n = 3; *options && n < MAX_ARGUMENTS; n++) argv[n] = *options++;
    extern char **environ;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, source, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, object, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, liveness, LIVENESS_FD);
    bool ok = posix_spawn(pid, paths_component("simgpu", path), &files, NULL, (char *const *)argv,
                          environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

/* Starts the program, unless the run was cancelled. */
static bool start(struct native_run *r, const char *const *options, int source, int object,
                  pid_t *pid) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return false;
    pthread_mutex_lock(&r->lock);
    bool ok = !r->is_cancelled && spawn_program(options, source, object, ends[0], pid);
    if (ok) r->liveness_fd = ends[1];
    pthread_mutex_unlock(&r->lock);
    close(ends[0]);
    if (!ok) close(ends[1]);
    return ok;
}

static uint64_t milliseconds_of(struct timeval t) {
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000;
}

/* A program that fails writes its reason instead of an object. */
static bool report_failure(int object, struct err *e) {
    char text[400];
    ssize_t n = pread(object, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return err_set(e, ERR_SYSTEM, "%s", *text ? text : "the compiler's process ended early");
}

bool native_compiler_run(struct native_run *r, const char *const *options, int source, int object,
                         uint64_t *milliseconds, struct err *e) {
    pid_t pid, ended;
    int status = 0;
    struct rusage used = {0};
    if (!start(r, options, source, object, &pid))
        return err_set(e, ERR_SYSTEM, "can't run simgpu compile-native");
    while ((ended = wait4(pid, &status, 0, &used)) < 0 && errno == EINTR) {}
    close_pipe(r, false);
    *milliseconds += milliseconds_of(used.ru_utime) + milliseconds_of(used.ru_stime);
    return (ended == pid && status == 0) || report_failure(object, e);
}

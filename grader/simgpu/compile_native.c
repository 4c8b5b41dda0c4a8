/* compile_native.c — `simgpu compile-native GCC OPTIONS`: has gcc compile the C code on standard
 * input into a shared object on standard output, in the compilers' sandbox. `simgpu run` starts it
 * (sim/native/compiler.c), and it isn't meant for users. When descriptor 3, a pipe, closes at its
 * other end, the sandbox and this process end. If there is no object, standard output has the
 * reason. */
#include "common/buf.h"
#include "common/file.h"
#include "grader/jail/jail.h"
#include "grader/simgpu/tools.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIVENESS_FD = 3, MAX_OPTIONS = 32, MAX_SECONDS = 60 };

static const char *const environment[] = {"PATH=/usr/bin", "TMPDIR=/work", "HOME=/work",
                                          "LC_ALL=C.UTF-8", NULL};
static const struct jail_limits limits = {.cpu_seconds = MAX_SECONDS,
                                          .memory_bytes = 2ull << 30,
                                          .file_bytes = 64 << 20,
                                          .work_bytes = 512 << 20,
                                          .max_processes = 64,
                                          .max_fds = 256};

static void write_all(int fd, const void *data, size_t size) {
    const char *at = data;
    for (ssize_t n; size; at += n, size -= (size_t)n)
        if ((n = write(fd, at, size)) <= 0) return;
}

static int fail(const char *reason) {
    write_all(STDOUT_FILENO, reason, strlen(reason));
    return 1;
}

static bool read_input(struct buf *source) {
    char chunk[1 << 16];
    ssize_t n;
    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0) buf_add(source, chunk, (size_t)n);
    return n == 0 && source->size;
}

/* Waits until the compiler ends. Ends this process if the other end of the pipe closes before. */
static void watch(const struct jail *j) {
    struct pollfd fds[] = {{jail_pollfd(j), POLLIN, 0}, {LIVENESS_FD, POLLIN, 0}};
    while (poll(fds, 2, MAX_SECONDS * 1000) < 0 && errno == EINTR) {}
    if (fds[1].revents && !fds[0].revents) jail_end_by_signal(SIGTERM);
}

static int compile(const char *const *argv, const struct buf *source) {
    struct err e = {0};
    struct jail_result r;
    struct jail_file file = {"kernel.c", source->data, source->size};
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = environment,
                           .files = &file,
                           .nfiles = 1,
                           .out_files = {"kernel.so"},
                           .limits = limits};
    job.binds = jail_system_binds(JAIL_COMPILER, &job.nbinds);
    struct jail *j = jail_start(&job, &e);
    if (!j) return fail(e.text);
    watch(j);
    jail_wait(j, MAX_SECONDS, &r);
    bool ok = r.outcome == JAIL_EXITED && r.code == 0 && r.has_out_file[0];
    if (ok) write_all(STDOUT_FILENO, r.out_files[0].data, r.out_files[0].size);
    jail_result_free(&r);
    return ok ? 0
              : fail("gcc failed on the native code of a kernel; SIMGPU_KEEP_NATIVE=1 keeps that");
}

int compile_native_main(int argc, char **argv) {
    static const char *const end[] = {"kernel.c", "-o", "kernel.so", NULL};
    const char *command[MAX_OPTIONS + sizeof end / sizeof *end];
    struct buf source = {0};
    struct err e = {0};
    if (!argc || argc > MAX_OPTIONS || !read_input(&source)) return 2;
    memcpy(command, argv, (size_t)argc * sizeof *command);
    memcpy(command + argc, end, sizeof end);
    if (!file_exists(argv[0])) return fail("native code needs gcc in /usr/bin: install it");
    jail_handle_interrupts();
    if (!jail_probe(&e)) return fail(e.text);
    int status = compile(command, &source);
    buf_free(&source);
    return status;
}

/* gpu_device.c — see gpu_device.h. */
#include "grader/grade/gpu_device.h"
#include "grader/grade/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's reply: the device row without valid pointers, and the GPU's name or the error. */
struct probe_reply {
    struct gpu_device device;
    bool ok;
    int driver_version;
    char text[512];
};

static struct gpu_device present_device;
static int driver_version;
static const struct gpu_device *nearest_device;
static const struct gpu_options options = {.pool_bytes = 3ull << 30};

static _Noreturn void probe_gpu(int to) {
    struct probe_reply a = {.ok = false};
    struct err e = {0};
    struct backend *b = backend_gpu_open(&(struct gpu_options){.pool_bytes = 64 << 20}, &e);
    if (b) {
        struct gpu_info info;
        backend_gpu_info(b, &info);
        a.ok = true, a.device = *b->device;
        a.driver_version = info.driver_version;
        snprintf(a.text, sizeof a.text, "%s", info.name);
        b->ops->close(b);
    } else snprintf(a.text, sizeof a.text, "%.500s", e.text);
    ssize_t n = write(to, &a, sizeof a);
    _exit(n == sizeof a ? 0 : 1);
}

static bool run_probe(struct probe_reply *a) {
    int pipe_fds[2];
    size_t received = 0;
    if (pipe(pipe_fds)) return false;
    pid_t pid = fork();
    if (pid == 0) probe_gpu(pipe_fds[1]);
    close(pipe_fds[1]);
    for (ssize_t n; pid > 0 && received < sizeof *a &&
                    (n = read(pipe_fds[0], (char *)a + received, sizeof *a - received)) > 0;)
        received += (size_t)n;
    close(pipe_fds[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
    return received == sizeof *a;
}

const struct gpu_device *gpu_device_present(struct err *e) {
    static char name[128];
    struct probe_reply a = {.ok = false};
    if (present_device.name) return &present_device;
    if (!run_probe(&a))
        return err_set(e, ERR_SYSTEM, "--device gpu: the process that queries the GPU died"), NULL;
    if (!a.ok) return err_set(e, ERR_SYSTEM, "--device gpu: %s", a.text), NULL;
    snprintf(name, sizeof name, "%.127s", a.text);
    const char *sources = device_at(0)->spec_sources;
    present_device = a.device, driver_version = a.driver_version;
    nearest_device = device_find(a.device.name); /* before its name becomes "gpu" */
    present_device.name = "gpu", present_device.full_name = name,
    present_device.spec_sources = sources;
    build_add_target(present_device.cc_major * 10 + present_device.cc_minor);
    return &present_device;
}

int gpu_device_driver_version(void) { return driver_version; }

const struct gpu_device *gpu_device_nearest(void) { return nearest_device; }

const struct gpu_options *gpu_options_of(const struct gpu_device *d) {
    return present_device.name && d == &present_device ? &options : NULL;
}

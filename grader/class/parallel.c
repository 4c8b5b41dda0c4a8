/* parallel.c — see parallel.h. A child writes its result to a memory file that the parent created,
 * then exits. */
#include "grader/class/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct worker {
    pid_t pid; /* 0 = free */
    int result_fd;
};

unsigned parallel_job_count(unsigned requested) {
    cpu_set_t set;
    if (requested) return requested;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static _Noreturn void run_child(int fd, unsigned slot, const struct parallel_ops *p, pid_t parent) {
    struct buf out = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    p->run_item(p->user, slot, &out);
    bool ok = true;
    for (size_t at = 0; ok && at < out.size;) {
        ssize_t n = write(fd, out.data + at, out.size - at);
        if (n > 0) at += (size_t)n;
        else ok = n < 0 && errno == EINTR;
    }
    _exit(ok ? 0 : 3);
}

static bool start_worker(struct worker *worker, unsigned slot, const struct parallel_ops *p,
                         struct err *e) {
    pid_t parent = getpid();
    worker->result_fd = memfd_create("result", MFD_CLOEXEC);
    fflush(NULL);
    pid_t pid = worker->result_fd >= 0 ? fork() : -1;
    if (pid == 0) run_child(worker->result_fd, slot, p, parent);
    if (pid < 0) {
        err_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
        if (worker->result_fd >= 0) close(worker->result_fd);
    }
    worker->pid = pid > 0 ? pid : 0;
    return pid > 0;
}

static bool deliver_result(struct worker *worker, unsigned slot, bool ok,
                           const struct parallel_ops *p, struct err *e) {
    struct buf data = {0};
    char chunk[16384];
    lseek(worker->result_fd, 0, SEEK_SET);
    for (ssize_t n; (n = read(worker->result_fd, chunk, sizeof chunk)) > 0;)
        buf_add(&data, chunk, (size_t)n);
    close(worker->result_fd);
    worker->pid = 0;
    bool may_continue = p->item_done(p->user, slot, ok, buf_str(&data), data.size, e);
    buf_free(&data);
    return may_continue;
}

/* Waits for a child to end, and calls `tick` meanwhile. Polling costs less than 0.1 % of a core; a
 * signal at the end of a child would interrupt the libraries that the callbacks use. */
static pid_t wait_child(int *status, const struct parallel_ops *p, struct err *e) {
    pid_t pid;
    if (!p->tick) return wait(status);
    while ((pid = waitpid(-1, status, WNOHANG)) == 0) {
        if (!p->tick(p->user, e)) return wait(status);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return pid;
}

/* Waits for any child to end and delivers its result. */
static bool wait_any(struct worker *workers, unsigned jobs, const struct parallel_ops *p,
                     struct err *e) {
    int status;
    pid_t pid = wait_child(&status, p, e);
    if (pid < 0 && errno != EINTR)
        return err_set(e, ERR_SYSTEM, "cannot wait for a process: %s", strerror(errno));
    for (unsigned i = 0; pid > 0 && i < jobs; i++)
        if (workers[i].pid == pid)
            return deliver_result(&workers[i], i, WIFEXITED(status) && WEXITSTATUS(status) == 0, p,
                                  e);
    return true;
}

bool parallel_run(unsigned jobs, const struct parallel_ops *p, struct err *e) {
    struct worker *workers = xcalloc(jobs, sizeof *workers);
    enum parallel_status status = PARALLEL_ITEM;
    bool ok = true;
    for (unsigned running = 1; running;) {
        for (unsigned i = 0; i < jobs && ok && status == PARALLEL_ITEM; i++) {
            if (workers[i].pid) continue;
            status = p->next_item(p->user, i, e);
            ok = status == PARALLEL_END ||
                 (status == PARALLEL_ITEM && start_worker(&workers[i], i, p, e));
        }
        running = 0;
        for (unsigned i = 0; i < jobs; i++) running += workers[i].pid != 0;
        if (running && (!wait_any(workers, jobs, p, e) || e->text[0])) ok = false;
    }
    free(workers);
    return ok;
}

/* jail_interrupt.c — ends this process's sandboxes before a signal such as Ctrl-C ends it, so that
 * no process and no control group stays. The kernel would kill the processes, but nobody would
 * remove the groups: a group can be removed only after its last process.
 *
 * A handler runs at any moment, so it calls what POSIX allows in one, and reads a table whose rows
 * are complete before their owner is set. Forked processes inherit handler and table; the owner
 * tells them which rows are theirs. A terminal sends Ctrl-C to all of them. Each removes its own,
 * and waits for its children first, because their end follows from its own (PR_SET_PDEATHSIG). */
#include "grader/jail/jail_plan.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SANDBOXES = 16, WAIT_MS = 700 };

static struct open_sandbox {
    volatile pid_t owner;     /* 0 = free */
    volatile pid_t program;   /* the sandbox's first process; 0 = none, or it belongs to a keeper */
    volatile int liveness_fd; /* its closing tells the keeper to kill everything; -1 = none */
    const struct jail_cgroup *cgroups;
} sandboxes[MAX_SANDBOXES];

void jail_interrupt_add(const struct jail_cgroup *cgroups) {
    for (unsigned i = 0; i < MAX_SANDBOXES; i++) {
        if (sandboxes[i].owner == getpid()) continue;
        sandboxes[i] = (struct open_sandbox){.liveness_fd = -1, .cgroups = cgroups};
        sandboxes[i].owner = getpid();
        return;
    }
}

static struct open_sandbox *find(const struct jail_cgroup *cgroups) {
    for (unsigned i = 0; i < MAX_SANDBOXES; i++)
        if (sandboxes[i].owner == getpid() && sandboxes[i].cgroups == cgroups) return &sandboxes[i];
    return NULL;
}

void jail_interrupt_set_program(const struct jail_cgroup *cgroups, pid_t program, int liveness_fd) {
    struct open_sandbox *s = find(cgroups);
    if (s) s->program = program, s->liveness_fd = liveness_fd;
}

void jail_interrupt_remove(const struct jail_cgroup *cgroups) {
    struct open_sandbox *s = find(cgroups);
    if (s) s->owner = 0;
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

static void kill_programs(void) {
    for (unsigned i = 0; i < MAX_SANDBOXES; i++) {
        const struct open_sandbox *s = &sandboxes[i];
        if (s->owner != getpid()) continue;
        if (s->liveness_fd >= 0) close(s->liveness_fd);
        if (s->program > 0) kill(s->program, SIGKILL);
    }
}

/* Waits until no child is left, up to WAIT_MS. */
static void wait_for_children(void) {
    for (int waited = 0; waited < WAIT_MS; waited++) {
        pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);
        if (pid < 0 && errno == ECHILD) return;
        if (pid == 0) sleep_ms(1);
    }
}

static void remove_groups(void) {
    for (unsigned i = 0; i < MAX_SANDBOXES; i++) {
        const struct jail_cgroup *c = sandboxes[i].cgroups;
        for (unsigned k = 0; sandboxes[i].owner == getpid() && k < c->n; k++)
            for (int tries = 0; tries < 100 && rmdir(c->paths[k]) < 0 && errno == EBUSY; tries++)
                sleep_ms(1);
    }
}

void jail_end_by_signal(int number) {
    sigset_t set;
    kill_programs();
    wait_for_children();
    remove_groups();
    signal(number, SIG_DFL);
    sigemptyset(&set), sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static const int handled[] = {SIGINT, SIGTERM, SIGHUP};
enum { HANDLED_COUNT = sizeof handled / sizeof *handled };

static void set_of_handled(sigset_t *set) {
    sigemptyset(set);
    for (unsigned i = 0; i < HANDLED_COUNT; i++) sigaddset(set, handled[i]);
}

void jail_interrupt_delay(sigset_t *former) {
    sigset_t set;
    set_of_handled(&set);
    pthread_sigmask(SIG_BLOCK, &set, former);
}

void jail_interrupt_allow(const sigset_t *former) { pthread_sigmask(SIG_SETMASK, former, NULL); }

void jail_handle_interrupts(void) {
    struct sigaction action = {.sa_handler = jail_end_by_signal}, old;
    set_of_handled(&action.sa_mask);
    /* nohup and `&` ignore signals on purpose. */
    for (unsigned i = 0; i < HANDLED_COUNT; i++)
        if (sigaction(handled[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(handled[i], &action, NULL);
}

void jail_forget_interrupts(void) {
    struct sigaction old;
    for (unsigned i = 0; i < HANDLED_COUNT; i++)
        if (sigaction(handled[i], NULL, &old) == 0 && old.sa_handler == jail_end_by_signal)
            signal(handled[i], SIG_DFL);
}

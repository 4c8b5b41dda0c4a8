/* inputs.c — see inputs.h. The prefetch is a process, not a thread: sandboxes are forked meanwhile,
 * and a thread could hold a lock of the C library at that moment. Forked processes begin with the
 * grader's memory, so the expected outputs are kept out of it (MADV_DONTFORK). */
#include "grader/grade/inputs.h"
#include "common/system_info.h"
#include "grader/book/book.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void inputs_draw_scalars(struct problem *p, const char *seed, unsigned index) {
    struct ex_rng rng;
    problem_rng_init(&rng, seed, book_id(p->ex), index, ~0u);
    problem_draw_scalars(p, &rng);
}

void inputs_draw_round(struct problem *p, const char *seed, unsigned index, unsigned round,
                       bool outputs) {
    struct ex_rng rng;
    char purpose[256];
    snprintf(purpose, sizeof purpose, "%s buffers", book_id(p->ex));
    problem_rng_init(&rng, seed, purpose, index, round);
    problem_draw_buffers(p, &rng, outputs);
}

struct input_prefetch {
    pid_t pid; /* 0 = it has ended */
    const char *seed;
    unsigned index;
    struct problem problem;     /* its memory is shared with the process */
    struct argument *arguments; /* EX_ARGS, in that memory: the process's copy of problem.arg */
    struct case_memory case_memory;
};

static bool has_two_cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

static _Noreturn void run_prefetch(struct input_prefetch *a, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    inputs_draw_scalars(&a->problem, a->seed, a->index);
    inputs_draw_round(&a->problem, a->seed, a->index, 0, true);
    case_memory_fill(&a->case_memory, &a->problem, true, false, &(struct control_replay){0});
    problem_compute_expected(&a->problem);
    memcpy(a->arguments, a->problem.arg, sizeof a->problem.arg);
    _exit(0);
}

/* Returns true if a quarter of the available memory holds the data, which exists while nvcc and the
 * device process run and raises the peak by half. */
static bool has_enough_memory(const struct input_prefetch *a) {
    uint64_t bytes = a->case_memory.size;
    for (unsigned i = 0; i < a->problem.ex->nargs; i++)
        bytes += a->problem.arg[i].bytes +
                 (a->problem.arg[i].expected ? 8 * a->problem.arg[i].count : 0);
    return system_available_memory() / 4 > bytes;
}

struct input_prefetch *input_prefetch_start(const struct exercise *ex, const struct ex_case *c,
                                            const char *seed, unsigned index) {
    struct input_prefetch *a = has_two_cores() ? xcalloc(1, sizeof *a) : NULL;
    struct err e = {0};
    if (!a) return NULL;
    a->seed = seed, a->index = index, a->case_memory.fd = -1;
    bool ok = problem_open_shared(&a->problem, ex, c, &e) &&
              case_memory_open(&a->case_memory, &a->problem, &e) && has_enough_memory(a);
    a->arguments = arena_array(&a->problem.arena, struct argument, EX_ARGS);
    pid_t parent = getpid();
    fflush(NULL);
    a->pid = ok ? fork() : -1;
    if (a->pid == 0) run_prefetch(a, parent);
    arena_set_dontfork(&a->problem.arena), case_memory_set_dontfork(&a->case_memory);
    if (a->pid > 0) return a;
    input_prefetch_free(a);
    return NULL;
}

/* Waits; returns true if the process exited with status 0. */
static bool wait_for_success(struct input_prefetch *a) {
    int status = -1;
    while (a->pid > 0 && waitpid(a->pid, &status, 0) < 0 && errno == EINTR) {}
    a->pid = 0;
    return status == 0;
}

bool input_prefetch_take(struct input_prefetch *a, const struct ex_case *c, const char *seed,
                         unsigned index, struct problem *p, struct case_memory *m) {
    if (!a || !a->pid || a->problem.c != c || a->index != index || strcmp(a->seed, seed) != 0 ||
        !wait_for_success(a))
        return false;
    *p = a->problem, *m = a->case_memory;
    memcpy(p->arg, a->arguments, sizeof p->arg);
    for (unsigned i = 0; i < p->ex->nargs; i++)
        if (p->arg[i].expected) case_memory_prefault(p->arg[i].expected, p->arg[i].count * 8);
    a->problem = (struct problem){.c = NULL}, a->case_memory = (struct case_memory){.fd = -1};
    return true;
}

void input_prefetch_free(struct input_prefetch *a) {
    if (!a) return;
    if (a->pid > 0) kill(a->pid, SIGKILL), wait_for_success(a);
    case_memory_close(&a->case_memory);
    problem_close(&a->problem);
    free(a);
}

/* inputs.c — see inputs.h. A process and no thread: jails are forked meanwhile, and a thread could
 * hold a lock of the C library then. What they begin with is the grader's memory, so that what is
 * wanted of a submission is kept from them. */
#include "grader/grade/inputs.h"
#include "common/machine.h"
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

void inputs_scalars(struct problem *p, const char *seed, unsigned index) {
    struct ex_rng rng;
    problem_rng_start(&rng, seed, book_id(p->ex), index, ~0u);
    problem_draw_scalars(p, &rng);
}

void inputs_round(struct problem *p, const char *seed, unsigned index, unsigned round,
                  bool outputs) {
    struct ex_rng rng;
    char what[256];
    snprintf(what, sizeof what, "%s buffers", book_id(p->ex));
    problem_rng_start(&rng, seed, what, index, round);
    problem_draw_buffers(p, &rng, outputs);
}

struct inputs_ahead {
    pid_t pid; /* 0 = it has ended, or its end was seen */
    const char *seed;
    unsigned index;
    struct problem problem; /* its memory is shared with the process */
    struct operand *drawn;  /* EX_ARGS in that memory: what the process knows of the operands */
    struct share share;
};

static bool has_two_cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

static _Noreturn void draw_and_solve(struct inputs_ahead *a, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    inputs_scalars(&a->problem, a->seed, a->index);
    inputs_round(&a->problem, a->seed, a->index, 0, true);
    share_fill(&a->share, &a->problem, true, false, &(struct control_replay){0});
    problem_solve(&a->problem);
    memcpy(a->drawn, a->problem.op, sizeof a->problem.op);
    _exit(0);
}

/* It is there while nvcc works and while the device does, so that grading takes half as much again
 * at its peak. */
static bool has_room(const struct inputs_ahead *a) {
    uint64_t bytes = a->share.size;
    for (unsigned i = 0; i < a->problem.ex->nargs; i++)
        bytes += a->problem.op[i].bytes + (a->problem.op[i].want ? 8 * a->problem.op[i].count : 0);
    return machine_memory() / 4 > bytes;
}

struct inputs_ahead *inputs_ahead(const struct exercise *ex, const struct ex_case *c,
                                  const char *seed, unsigned index) {
    struct inputs_ahead *a = has_two_cores() ? xcalloc(1, sizeof *a) : NULL;
    struct err e = {0};
    if (!a) return NULL;
    a->seed = seed, a->index = index, a->share.fd = -1;
    bool ok = problem_open_shared(&a->problem, ex, c, &e) &&
              share_open(&a->share, &a->problem, &e) && has_room(a);
    a->drawn = arena_array(&a->problem.arena, struct operand, EX_ARGS);
    pid_t parent = getpid();
    fflush(NULL);
    a->pid = ok ? fork() : -1;
    if (a->pid == 0) draw_and_solve(a, parent);
    arena_keep(&a->problem.arena), share_keep(&a->share);
    if (a->pid > 0) return a;
    inputs_drop(a);
    return NULL;
}

/* True where it ended by itself and well. */
static bool ended(struct inputs_ahead *a) {
    int status = -1;
    while (a->pid > 0 && waitpid(a->pid, &status, 0) < 0 && errno == EINTR) {}
    a->pid = 0;
    return status == 0;
}

bool inputs_take(struct inputs_ahead *a, const struct ex_case *c, const char *seed, unsigned index,
                 struct problem *p, struct share *m) {
    if (!a || !a->pid || a->problem.c != c || a->index != index || strcmp(a->seed, seed) != 0 ||
        !ended(a))
        return false;
    *p = a->problem, *m = a->share;
    memcpy(p->op, a->drawn, sizeof p->op);
    for (unsigned i = 0; i < p->ex->nargs; i++)
        if (p->op[i].want) share_touch(p->op[i].want, p->op[i].count * 8);
    a->problem = (struct problem){.c = NULL}, a->share = (struct share){.fd = -1};
    return true;
}

void inputs_drop(struct inputs_ahead *a) {
    if (!a) return;
    if (a->pid > 0) kill(a->pid, SIGKILL), ended(a);
    share_close(&a->share);
    problem_close(&a->problem);
    free(a);
}

/* background.c — compiles kernels in a thread of its own, while the interpreter runs them. See
 * native.h.
 *
 * A kernel is compiled once its work has shown that this pays: launches report the warp
 * instructions that the kernel has run or is likely to run. A look into the cache takes a few
 * milliseconds, so it needs less work than the compiler. */
#include "common/grow.h"
#include "grader/sim/native/compiler.h"
#include "grader/sim/native/native.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The steps that a kernel's work has earned: sim_func.native_step. */
enum native_step { STEP_NONE, STEP_LOOKUP, STEP_COMPILE };

struct job {
    struct sim_module *module;
    const struct sim_func *func;
    enum native_step step;
    struct job *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *jobs; /* the first is the next one */
    const struct sim_module *busy_with;
    struct native_run *run; /* of the job that runs */
    bool has_thread;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- the thread ---- */

static struct job take_job(struct native_run *run) {
    pthread_mutex_lock(&queue.lock);
    while (!queue.jobs) pthread_cond_wait(&queue.changed, &queue.lock);
    struct job *first = queue.jobs, job = *first;
    queue.jobs = first->next;
    queue.busy_with = job.module, queue.run = run;
    pthread_mutex_unlock(&queue.lock);
    free(first);
    return job;
}

static void end_job(void) {
    pthread_mutex_lock(&queue.lock);
    queue.busy_with = NULL, queue.run = NULL;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

/* A failure has no message here: nobody requested native code, and the interpreter goes on. */
static void *run_jobs(void *ignored) {
    for (;;) {
        struct native_run run = NATIVE_RUN_INIT;
        struct err e = {0};
        struct job job = take_job(&run);
        native_make(&run, job.module, job.func, job.step == STEP_COMPILE, &e);
        end_job();
    }
    return ignored;
}

/* Signals are for the threads that expect them. */
static bool start_thread(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = !pthread_create(&thread, NULL, run_jobs, NULL) && !pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void add_job(struct sim_module *m, const struct sim_func *f, enum native_step step) {
    struct job *job = xcalloc(1, sizeof *job), **end = &queue.jobs;
    *job = (struct job){.module = m, .func = f, .step = step};
    pthread_mutex_lock(&queue.lock);
    while (*end) end = &(*end)->next;
    *end = job;
    if (!queue.has_thread) queue.has_thread = start_thread();
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

void native_cancel(const struct sim_module *m) {
    pthread_mutex_lock(&queue.lock);
    for (struct job **p = &queue.jobs, *job; (job = *p);)
        if (job->module == m) *p = job->next, free(job);
        else p = &job->next;
    while (queue.busy_with == m) {
        native_run_cancel(queue.run);
        pthread_cond_wait(&queue.changed, &queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
}

/* ---- when it pays ---- */

/* In warp instructions, of which the interpreter runs about 100 million a second and a thread. gcc
 * takes about 20 ms an operation. What the running launch has left is known: it should take four
 * times as long as gcc. Later launches aren't: work that is done makes more likely, and after
 * twice gcc's time a kernel that gains nothing loses half at most. */
enum { LOOKUP_INSNS = 5000000, GCC_INSNS_PER_OP = 2000000, MIN_LEFT = 4, MIN_DONE = 2 };

static enum native_step step_for(const struct sim_func *f, u64 done, u64 left) {
    u64 gcc = (u64)GCC_INSNS_PER_OP * (f->end_op - f->first_op);
    return done / MIN_DONE + left / MIN_LEFT >= gcc ? STEP_COMPILE
           : done + left >= LOOKUP_INSNS            ? STEP_LOOKUP
                                                    : STEP_NONE;
}

void native_consider(struct sim_module *m, const struct sim_func *f, u64 done, u64 left) {
    enum native_step step = step_for(f, done, left);
    u8 *reached = &m->funcs[f - m->funcs].native_step,
       before = __atomic_load_n(reached, __ATOMIC_RELAXED);
    if (step <= before) return;
    if (__atomic_compare_exchange_n(reached, &before, (u8)step, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        add_job(m, f, step);
}

/* cost.c — measures the cost of a sandbox: starts the same trivial program in each tier and
 * without one. A submission that is not in the cache starts four: nvcc, ptxas, the host
 * process and the device process. */
#include "common/clock.h"
#include "grader/jail/jail.h"
#include "grader/tests/hostile/hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT_COUNT = 41, JAIL_COUNT = 4, TARGET_MS = 60 };

static double now_ms(void) { return clock_seconds() * 1e3; }

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_jailed(void) {
    static const char *const argv[] = {"/usr/bin/true", NULL};
    static const char *const env[] = {NULL};
    struct err e = {0};
    struct jail_result r;
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = env,
                           .limits = {.cpu_seconds = 5,
                                      .memory_bytes = 1 << 30,
                                      .file_bytes = 1 << 20,
                                      .work_bytes = 1 << 20,
                                      .max_processes = 16,
                                      .max_fds = 64}};
    job.binds = jail_system_binds(JAIL_COMPILER, &job.nbinds);
    double start = now_ms();
    struct jail *j = jail_start(&job, &e);
    if (!j) return -1;
    jail_wait(j, 5, &r);
    bool ok = r.outcome == JAIL_EXITED && r.code == 0;
    jail_result_free(&r);
    return ok ? now_ms() - start : -1;
}

static double time_unjailed(void) {
    double start = now_ms();
    pid_t pid = fork();
    if (pid == 0) execl("/usr/bin/true", "true", (char *)NULL), _exit(127);
    waitpid(pid, NULL, 0);
    return now_ms() - start;
}

static double median(double (*once)(void)) {
    double all[REPEAT_COUNT];
    for (unsigned i = 0; i < REPEAT_COUNT; i++)
        if ((all[i] = once()) < 0) return -1;
    qsort(all, REPEAT_COUNT, sizeof *all, by_value);
    return all[REPEAT_COUNT / 2];
}

unsigned measure_jail(void) {
    static const char *const names[] = {"T1", "T2"};
    double unjailed_ms = median(time_unjailed);
    unsigned failed = 0;
    printf("cost of the jail, median of %d starts of /usr/bin/true; bare: %.2f ms\n", REPEAT_COUNT,
           unjailed_ms);
    for (int t = JAIL_NAMESPACES; t <= JAIL_LANDLOCK; t++) {
        jail_set_tier(t);
        double ms = median(time_jailed), each = JAIL_COUNT * (ms - unjailed_ms);
        if (ms < 0) {
            printf("  %s: not on this machine\n", names[t]);
            continue;
        }
        printf("%s %s: %.2f ms, so %.1f ms a submission (four jails); aim: under %d ms\n",
               each < TARGET_MS ? "ok  " : "FAIL", names[t], ms, each, TARGET_MS);
        failed += each >= TARGET_MS;
    }
    jail_set_tier(JAIL_NAMESPACES);
    printf("\n");
    return failed;
}

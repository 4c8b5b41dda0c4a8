/* kills.c — kills the grader at random moments, or interrupts it as Ctrl-C does: no process may
 * survive, no file may remain, no cache entry may be damaged, and the next run must work. Each run
 * grades a new source, so that all stages run. */
#include "common/paths.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/jail/jail.h"
#include "grader/tests/hostile/hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void write_source(char path[PATH_MAX], unsigned number) {
    struct buf source = {0};
    struct err e = {0};
    char from[PATH_MAX];
    snprintf(from, sizeof from, "%s/solutions/02-coalescing/transpose.cu", book_root());
    snprintf(path, PATH_MAX, "%s/transpose.cu", decoy_folder());
    if (!file_read(from, 1 << 20, &source, &e)) die("%s", e.text);
    buf_printf(&source, "// %s %u\n", decoy_token(), number);
    if (!file_write(path, source.data, source.size, &e)) die("%s", e.text);
    buf_free(&source);
}

static pid_t start_grader(const char *file) {
    char grader[PATH_MAX];
    snprintf(grader, sizeof grader, "%s/grader", paths_program_dir());
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        signal(SIGINT, SIG_DFL); /* a background job ignores it */
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1), dup2(null, 2);
        execl(grader, "grader", "run", "transpose", "--file", file, (char *)NULL);
        _exit(127);
    }
    setpgid(pid, pid); /* a process group of its own, as in a shell; whoever is first */
    return pid;
}

static unsigned random_below(unsigned n) {
    unsigned v = 0;
    if (getrandom(&v, sizeof v, 0) != sizeof v) die("no random numbers");
    return v % n;
}

/* Names of the cache's folders: those that come later are this test's own. */
static const char *const kinds[] = {"obj", "ptxas", "times"};

static char **list(const char *kind) {
    char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/cache/%s", paths_program_dir(), kind);
    return book_list_files(folder, "", "");
}

static bool contains_name(char *const *names, const char *name) {
    for (; *names; names++)
        if (!strcmp(*names, name)) return true;
    return false;
}

/* Every entry reads back whole (cache_get drops one that does not); no half-written file lies
 * beside them. */
static void check_cache(const char *kind, char *const *before, struct buf *problems) {
    char **now = list(kind), path[PATH_MAX + 300];
    for (char **n = now; *n; n++) {
        char key[HASH_HEX_SIZE] = "";
        struct buf entry = {0};
        bool is_key = strlen(*n) == HASH_HEX_SIZE - 1;
        if (is_key) memcpy(key, *n, HASH_HEX_SIZE);
        if (!is_key) buf_printf(problems, "%.80s lies in the cache; ", *n);
        else if (!cache_get(kind, key, &entry))
            buf_printf(problems, "a damaged entry in %s; ", kind);
        buf_free(&entry);
        snprintf(path, sizeof path, "%s/cache/%s/%s", paths_program_dir(), kind, *n);
        if (!contains_name(before, *n)) unlink(path);
    }
    book_free_list(now);
}

static bool grader_completes(void) {
    char file[PATH_MAX];
    int status = 1;
    write_source(file, 1u << 20);
    pid_t pid = start_grader(file);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Control groups of this grader, which is dead; 0 = of any dead one. After a kill, the next grader
 * removes them; an interrupted one leaves none. */
static void check_groups(pid_t pid, struct buf *problems) {
    static const char *const bases[] = {"/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory",
                                        "/sys/fs/cgroup"};
    for (unsigned i = 0; i < 3; i++) {
        char **names = book_list_files(bases[i], "warpbook.", "");
        for (char **n = names; *n; n++) {
            int owner = atoi(*n + 9);
            if (pid ? owner == pid : kill(owner, 0) < 0 && errno == ESRCH)
                buf_printf(problems, "control group %.60s stays; ", *n);
        }
        book_free_list(names);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sends the signal at a random moment: SIGINT to the process group, as a terminal does. Returns the
 * seconds until the grader had ended. */
static double end_grader(pid_t pid, int signal, unsigned *ended_before) {
    int status = 0;
    usleep(1000 * (10 + random_below(2490)));
    double start = now();
    kill(signal == SIGINT ? -pid : pid, signal);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    *ended_before += WIFEXITED(status);
    return now() - start;
}

static unsigned try_tier(const char *tier, int signal, unsigned times) {
    struct buf problems = {0};
    char file[PATH_MAX], **before[3];
    unsigned ended = 0;
    double max_seconds = 0;
    setenv("WARPBOOK_JAIL_TIER", tier, 1);
    for (unsigned k = 0; k < 3; k++) before[k] = list(kinds[k]);
    for (unsigned i = 0; i < times && !problems.size; i++) {
        write_source(file, i);
        pid_t pid = start_grader(file);
        double seconds = end_grader(pid, signal, &ended);
        if (seconds > max_seconds) max_seconds = seconds;
        report_leftovers(&problems);
        if (signal == SIGINT) check_groups(pid, &problems);
        if (signal == SIGINT && seconds > 2) buf_puts(&problems, "it took more than 2 s; ");
    }
    if (!problems.size && !grader_completes()) buf_puts(&problems, "the next run does not work; ");
    check_groups(0, &problems);
    for (unsigned k = 0; k < 3; k++)
        check_cache(kinds[k], before[k], &problems), book_free_list(before[k]);
    printf("%s grader %s %u times under %s (%u had ended before), ended after at most %.1f s%s%s\n",
           problems.size ? "FAIL" : "ok  ", signal == SIGINT ? "interrupted" : "killed", times,
           tier, ended, max_seconds,
           problems.size ? ": " : ": no process, no file, no damaged entry; the next run works",
           buf_str(&problems));
    fflush(stdout);
    unsigned failed = problems.size > 0;
    buf_free(&problems);
    return failed;
}

static unsigned try_signal(int signal, unsigned times) {
    unsigned failed = try_tier("T1", signal, times / 2) + try_tier("T2", signal, times - times / 2);
    unsetenv("WARPBOOK_JAIL_TIER");
    printf("\n");
    return failed;
}

unsigned try_kills(unsigned times) { return try_signal(SIGKILL, times); }
unsigned try_interrupts(unsigned times) { return try_signal(SIGINT, times); }

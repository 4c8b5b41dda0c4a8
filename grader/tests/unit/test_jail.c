/* test_jail.c — tests that the sandbox contains a process and returns its results, in each tier
 * (_i). The expectations are the kernel's documented behaviour. */
#include "common/clock.h"
#include "grader/jail/jail.h"
#include "grader/jail/landlock.h"
#include "grader/tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct jail_job base(enum jail_kind kind) {
    struct jail_job j = {.kind = kind,
                         .limits = {.cpu_seconds = 3,
                                    .memory_bytes = 256 << 20,
                                    .file_bytes = 1 << 20,
                                    .work_bytes = 4 << 20,
                                    .max_processes = 16,
                                    .max_fds = 64}};
    j.binds = jail_system_binds(kind, &j.nbinds);
    return j;
}

static struct jail_result run(const struct jail_job *job, double seconds) {
    struct err e = {0};
    struct jail_result r;
    struct jail *j = jail_start(job, &e);
    ck_assert_msg(j != NULL, "%s", e.text);
    jail_wait(j, seconds, &r);
    return r;
}

static struct jail_result shell(const char *script, const char *output_file) {
    static const char *const env[] = {"PATH=/usr/bin", NULL};
    const char *argv[] = {"/usr/bin/sh", "-c", script, NULL};
    struct jail_job j = base(JAIL_COMPILER);
    j.argv = argv, j.env = env, j.out_files[0] = output_file;
    return run(&j, 15); /* on a machine that is emulated, or busy, they take seconds */
}

static struct jail_result inside(enum jail_kind kind, int (*f)(void *), void *data,
                                 double seconds) {
    struct jail_job j = base(kind);
    j.entry = f, j.entry_data = data;
    return run(&j, seconds);
}

static void choose(void) { jail_set_tier(JAIL_NAMESPACES); }
static void choose_landlock(void) { jail_set_tier(JAIL_LANDLOCK); }

START_TEST(the_sandbox_probe_passes) {
    struct err e = {0};
    setenv("WARPBOOK_JAIL_TIER", jail_current_tier() == JAIL_NAMESPACES ? "T1" : "T2", 1);
    ck_assert_msg(jail_probe(&e), "%s", e.text);
}
END_TEST

/* A sandbox has small process ids of its own; they must not be taken for the grader's when that
 * is process 1, 2 or 3 of a container. */
static int probe_as_pid_1(int extra_processes) {
    struct err e = {0};
    int status = 0;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("proc", "/proc", "proc", 0, NULL) < 0)
        return 2;
    for (int i = 0; i < extra_processes && !status; i++) {
        pid_t next = fork();
        if (next == 0) _exit(!jail_probe(&e));
        if (waitpid(next, &status, 0) < 0) return 2;
    }
    return status || !jail_probe(&e);
}

START_TEST(the_sandbox_probe_passes_with_low_pids) {
    int status = 0;
    setenv("WARPBOOK_JAIL_TIER", jail_current_tier() == JAIL_NAMESPACES ? "T1" : "T2", 1);
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0) return; /* only root may */
    pid_t first = fork();
    if (first == 0) _exit(probe_as_pid_1(2));
    ck_assert(waitpid(first, &status, 0) == first);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(output_and_exit_status_are_returned) {
    struct jail_result r = shell("echo one; echo two >&2; exit 7", NULL);
    ck_assert_int_eq(r.outcome, JAIL_EXITED);
    ck_assert_int_eq(r.code, 7);
    ck_assert_str_eq(buf_str(&r.output), "one\ntwo\n");
    jail_result_free(&r);
}
END_TEST

START_TEST(standard_input_is_empty_and_cannot_be_opened_by_name) {
    struct jail_result r = shell("cat && echo read; cat </dev/stdin && echo opened", NULL);
    ck_assert_ptr_nonnull(strstr(buf_str(&r.output), "read\n"));
    ck_assert_ptr_null(strstr(buf_str(&r.output), "opened\n"));
    jail_result_free(&r);
}
END_TEST

START_TEST(a_written_file_is_returned) {
    struct jail_result r = shell("printf abc >out", "out");
    ck_assert(r.has_out_file[0]);
    ck_assert_str_eq(buf_str(&r.out_files[0]), "abc");
    jail_result_free(&r);
}
END_TEST

START_TEST(a_symbolic_link_is_not_returned) {
    struct jail_result r = shell("ln -s /usr/bin/sh out", "out");
    ck_assert(!r.has_out_file[0]);
    jail_result_free(&r);
}
END_TEST

START_TEST(passed_files_are_visible) {
    struct jail_file file = {"in.txt", "hello", 5};
    const char *argv[] = {"/usr/bin/cat", "in.txt", NULL};
    struct jail_job j = base(JAIL_COMPILER);
    j.argv = argv, j.files = &file, j.nfiles = 1;
    struct jail_result r = run(&j, 3);
    ck_assert_str_eq(buf_str(&r.output), "hello");
    jail_result_free(&r);
}
END_TEST

/* Paths that exist on the machine and must not exist inside. */
START_TEST(the_host_file_system_is_hidden) {
    struct jail_result r = shell("cat /etc/passwd /proc/1/status 2>/dev/null; ls /home/* /root/* "
                                 "/sys/* /var/* 2>/dev/null; echo end",
                                 NULL);
    ck_assert_str_eq(buf_str(&r.output), "end\n");
    jail_result_free(&r);
}
END_TEST

START_TEST(root_is_read_only) {
    struct jail_result r =
        shell("for p in /x /usr/lib/x /usr/bin/x /dev/x /etc/x; do touch $p && echo $p; "
              "done 2>/dev/null; : >x && echo only",
              NULL);
    ck_assert_str_eq(buf_str(&r.output), "only\n");
    jail_result_free(&r);
}
END_TEST

START_TEST(folder_is_limited) {
    if (jail_current_tier() == JAIL_LANDLOCK) return; /* see full_folder_ends_it */
    struct jail_result r = shell("i=0; while [ $i -lt 40 ]; do head -c 500000 /dev/zero >f$i || "
                                 "break; i=$((i+1)); done; echo $i",
                                 NULL);
    int files = atoi(buf_str(&r.output));
    for (const char *p = buf_str(&r.output); *p; p++)
        if (*p == '\n' && p[1]) files = atoi(p + 1);
    ck_assert_int_ge(files, 7); /* 4 MiB hold eight files of 500 kB */
    ck_assert_int_le(files, 8);
    jail_result_free(&r);
}
END_TEST

/* Without its own file system, the folder is checked while the program runs. */
START_TEST(a_full_work_folder_ends_the_job) {
    if (jail_current_tier() == JAIL_NAMESPACES) return;
    struct jail_result r =
        shell("i=0; while :; do head -c 500000 /dev/zero >f$i; i=$((i+1)); done", NULL);
    ck_assert_int_eq(r.outcome, JAIL_OUTPUT_LIMIT);
    jail_result_free(&r);
    r = shell("i=0; while [ $i -lt 40 ]; do mkdir d && cd d; i=$((i+1)); done; exec sleep 60",
              NULL);
    ck_assert_int_eq(r.outcome, JAIL_OUTPUT_LIMIT); /* nested so deep that nobody could count */
    jail_result_free(&r);
}
END_TEST

/* Everything that programs leave in the folders that stand for /work is deleted, whatever its
 * permissions and type. */
START_TEST(the_work_folder_is_removed) {
    char base[] = "/tmp/jail-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(base));
    setenv("TMPDIR", base, 1);
    /* The locked folder comes last: one that cannot be counted is a full one, if the program runs
     * long enough to be looked at. */
    struct jail_result r = shell(
        "mkdir -p a/b/c/d; ln -s / link; mkfifo pipe; setsid sleep 60 & exec mkdir -m 0 locked",
        NULL);
    unsetenv("TMPDIR");
    ck_assert_int_eq(r.outcome, JAIL_EXITED);
    ck_assert_int_eq(rmdir(base), 0); /* empty */
    jail_result_free(&r);
}
END_TEST

static int sleep_long(void *data) {
    (void)data;
    signal(SIGTERM, SIG_IGN);
    sleep(60);
    return 0;
}
START_TEST(the_wall_clock_limit_ends_the_job) {
    double start = clock_seconds();
    struct jail_result r = inside(JAIL_HOST, sleep_long, NULL, 0.3);
    ck_assert_int_eq(r.outcome, JAIL_TIMEOUT);
    ck_assert_double_lt(clock_seconds() - start, 1.5);
    jail_result_free(&r);
}
END_TEST

START_TEST(background_processes_are_killed) {
    struct jail_result r = shell("setsid sleep 60 & setsid sleep 60 & echo left", NULL);
    ck_assert_int_eq(r.outcome,
                     JAIL_EXITED); /* and jail_wait returned at once, or this test would time out */
    jail_result_free(&r);
}
END_TEST

static int crash(void *data) {
    (void)data, raise(SIGSEGV);
    return 0;
}
static int print_much(void *data) {
    char line[4096];
    (void)data;
    memset(line, 'x', sizeof line);
    for (;;)
        if (write(1, line, sizeof line) < 0) return 0;
}
static int open_socket(void *data) {
    (void)data;
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}
static int trace(void *data) {
    (void)data;
    return (int)syscall(SYS_ptrace, 0, 0, 0, 0);
}
static int make_namespace(void *data) {
    (void)data;
    return fork() >= 0 && syscall(SYS_unshare, 0x10000000) == 0;
}
__attribute__((unused)) static int touch_memory(void *data) {
    (void)data;
    for (int i = 0; i < 1024; i++) {
        char *p = malloc(16 << 20);
        if (!p) return i;
        memset(p, 1, 16 << 20);
    }
    return 200;
}

START_TEST(exit_reasons_are_distinguished) {
    struct jail_result r = inside(JAIL_HOST, crash, NULL, 3);
    ck_assert_int_eq(r.outcome, JAIL_SIGNALLED);
    ck_assert_int_eq(r.signal, SIGSEGV);
    jail_result_free(&r);
    r = inside(JAIL_HOST, print_much, NULL, 3);
    ck_assert_int_eq(r.outcome, JAIL_OUTPUT_LIMIT);
    ck_assert_uint_eq(r.output.size, 1 << 20);
    jail_result_free(&r);
}
END_TEST

/* A sanitised process has no such limit (jail_init_run.c): its shadow is larger. */
#ifndef __SANITIZE_ADDRESS__
START_TEST(memory_is_limited) {
    struct jail_result r = inside(JAIL_HOST, touch_memory, NULL, 15);
    ck_assert_int_eq(r.outcome, JAIL_EXITED);
    ck_assert_int_le(r.code, 16); /* 256 MiB hold at most sixteen of 16 MiB */
    jail_result_free(&r);
}
END_TEST
#endif

static int spin(void *data) {
    (void)data;
    for (volatile unsigned n = 0;; n++) {}
    return 0;
}
START_TEST(an_exhausted_cpu_limit_is_not_a_kill) {
    struct jail_job j = base(JAIL_HOST);
    j.entry = spin, j.limits.cpu_seconds = 1;
    struct jail_result r = run(&j, 15);
    ck_assert_int_eq(r.outcome, JAIL_TIMEOUT);
    ck_assert_int_eq(r.signal, SIGXCPU);
    jail_result_free(&r);
}
END_TEST

static int kill_itself(void *data) {
    (void)data;
    kill(getpid(), SIGKILL);
    return 0;
}
START_TEST(a_program_that_kills_itself_is_not_reported_as_starved) {
    struct jail_result r = inside(JAIL_COMPILER, kill_itself, NULL, 3);
    ck_assert_int_eq(r.outcome, JAIL_SIGNALLED);
    ck_assert_int_eq(r.signal, SIGKILL);
    jail_result_free(&r);
}
END_TEST

/* ---- memory that runs out, in groups that this user can make ---- */

static bool version_2(void) { return access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0; }

/* Returns the memory control group of this process if it may create groups below it, else "". */
static void current_memory_cgroup(char path[512]) {
    char line[512], *at = NULL;
    bool old = !version_2();
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !at && fgets(line, sizeof line, f)) at = strstr(line, old ? ":memory:" : "0::");
    if (f) fclose(f);
    path[0] = 0;
    if (!at) return;
    at[strcspn(at, "\n")] = 0;
    snprintf(path, 512, "/sys/fs/cgroup%s%s", old ? "/memory" : "", strrchr(at, ':') + 1);
}

static bool write_file(const char *folder, const char *name, long long n) {
    char path[800];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    bool ok = f && fprintf(f, "%lld\n", n) > 0;
    return f && fclose(f) == 0 && ok;
}

/* Moves this process into a group of that many bytes below its own, whose name has so many
 * digits; its children live there, too. Returns false if the machine can't. Version 2 allows no
 * processes beside groups with limits, so there only the cases that need no group of the
 * sandbox's own can run. */
static bool enter_small_cgroup(long long bytes, int digits) {
    char current[512], small[760];
    current_memory_cgroup(current);
    snprintf(small, sizeof small, "%s/wbtest.%0*d", current, digits, (int)getpid());
    if (!*current || mkdir(small, 0755) < 0) return false;
    bool ok = (write_file(small, "memory.limit_in_bytes", bytes) ||
               write_file(small, "memory.max", bytes)) &&
              write_file(small, "cgroup.procs", getpid());
    if (!ok) rmdir(small);
    return ok;
}

static void leave_small_cgroup(void) {
    char small[512], *end;
    current_memory_cgroup(small);
    end = strrchr(small, '/');
    *end = 0;
    ck_assert(write_file(small, "cgroup.procs", getpid()));
    *end = '/';
    for (int i = 0; i < 400 && rmdir(small) < 0; i++) usleep(5000);
}

/* No rlimit can limit a device process's memory; only control groups can. */
static struct jail_result consume_memory(uint64_t limit) {
    struct jail_job j = base(JAIL_DEVICE);
    j.entry = touch_memory, j.limits.memory_bytes = limit;
    return run(&j, 10);
}

START_TEST(a_full_memory_cgroup_is_the_fault_of_the_program) {
    struct err e = {0};
    ck_assert_msg(jail_probe(&e), "%s", e.text); /* which finds out whether groups can be made */
    if (!strstr(jail_describe_tier(), "cgroup")) return;
    struct jail_result r = consume_memory(64 << 20);
    ck_assert_int_eq(r.outcome, JAIL_MEMORY_LIMIT);
    jail_result_free(&r);
}
END_TEST

/* A desktop's terminal is in a group whose path has some 150 letters. */
START_TEST(cgroups_are_created_below_a_long_path) {
    struct err e = {0};
    if (version_2() || !enter_small_cgroup(1ll << 30, 180)) return;
    ck_assert_msg(jail_probe(&e), "%s", e.text);
    struct jail_result r = consume_memory(64 << 20);
    ck_assert_int_eq(r.outcome, JAIL_MEMORY_LIMIT);
    jail_result_free(&r);
    leave_small_cgroup();
}
END_TEST

START_TEST(an_out_of_memory_host_is_reported_as_starved) {
    if (!enter_small_cgroup(96 << 20, 1)) return;
    for (int groups = 0; groups < 2; groups++) {
        jail_use_cgroups(groups);
        struct jail_result r =
            consume_memory(8ull << 30); /* far from its own limit, if it has one */
        ck_assert_int_eq(r.outcome, JAIL_SYSTEM_OOM);
        jail_result_free(&r);
    }
    leave_small_cgroup();
}
END_TEST

START_TEST(forbidden_system_calls_are_violations) {
    static int (*const attempts[])(void *) = {open_socket, trace, make_namespace};
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        struct jail_result r = inside(JAIL_HOST, attempts[i], NULL, 3);
        ck_assert_int_eq(r.outcome, JAIL_VIOLATION);
        jail_result_free(&r);
    }
    struct jail_result r =
        inside(JAIL_COMPILER, open_socket, NULL, 3); /* fails there, and does no harm */
    ck_assert_int_eq(r.outcome, JAIL_EXITED);
    ck_assert_int_eq(r.code, 0);
    jail_result_free(&r);
}
END_TEST

static int check_passed_fds(void *data) {
    int *fds = data; /* the one passed as 3, and one that was not */
    char c;
    bool passed = read(3, &c, 1) == 1 && c == 'k', hidden = fcntl(fds[1], F_GETFD) < 0;
    for (int i = 5; i < 256; i++) hidden = hidden && fcntl(i, F_GETFD) < 0;
    return passed && hidden ? 0 : 1;
}
START_TEST(only_passed_descriptors_are_open) {
    int pipe_fds[2], secret[2];
    ck_assert(pipe(pipe_fds) == 0 && pipe(secret) == 0);
    ck_assert(write(pipe_fds[1], "k", 1) == 1);
    int hidden = fcntl(secret[0], F_DUPFD, 99), fds[2] = {pipe_fds[0], hidden};
    struct jail_fd map = {pipe_fds[0], 3};
    struct jail_job j = base(JAIL_HOST);
    j.entry = check_passed_fds, j.entry_data = fds, j.fds = &map, j.nfds = 1;
    struct jail_result r = run(&j, 3);
    ck_assert_int_eq(r.outcome, JAIL_EXITED);
    ck_assert_int_eq(r.code, 0);
    jail_result_free(&r);
}
END_TEST

START_TEST(a_missing_program_is_an_internal_error) {
    const char *argv[] = {"/usr/bin/no-such-program", NULL};
    struct jail_job j = base(JAIL_COMPILER);
    j.argv = argv;
    struct jail_result r = run(&j, 3);
    ck_assert_int_eq(r.outcome, JAIL_INTERNAL_ERROR);
    ck_assert_ptr_nonnull(strstr(r.reason, "start of the program"));
    jail_result_free(&r);
}
END_TEST

/* Counts the control groups of this process. Their place is the one that this process is in. */
static unsigned count_groups(const char *base, pid_t owner) {
    char prefix[32];
    unsigned n = 0;
    int length = snprintf(prefix, sizeof prefix, "warpbook.%d.", (int)owner);
    DIR *d = opendir(base);
    for (struct dirent *x; d && (x = readdir(d));) n += !strncmp(x->d_name, prefix, (size_t)length);
    if (d) closedir(d);
    return n;
}

static void interrupt_self(void) { raise(SIGINT); }

/* Ctrl-C comes right after the fork, before the fork's result is stored. */
static void start_while_interrupted(void) {
    static const char *const env[] = {NULL};
    const char *argv[] = {"/usr/bin/sleep", "30", NULL};
    struct err e = {0};
    struct jail_job j = base(JAIL_COMPILER);
    j.argv = argv, j.env = env;
    signal(SIGINT, SIG_DFL);
    jail_use_cgroups(true);
    jail_handle_interrupts();
    pthread_atfork(NULL, interrupt_self, NULL);
    jail_start(&j, &e);
    _exit(1); /* the signal ends this process before */
}

START_TEST(an_interrupt_during_the_start_leaves_no_process_and_no_group) {
    char memory[512];
    int status = 0;
    current_memory_cgroup(memory);
    double start = clock_seconds();
    pid_t pid = fork();
    if (pid == 0) start_while_interrupted();
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    ck_assert_uint_eq(count_groups(memory, pid), 0);
    ck_assert(clock_seconds() - start < 15); /* far below the program's 30 s */
}
END_TEST

static TCase *all_tests(const char *name, void (*setup)(void)) {
    TCase *t = tcase_create(name);
    tcase_set_timeout(t, 20);
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, the_sandbox_probe_passes);
    tcase_add_test(t, the_sandbox_probe_passes_with_low_pids);
    tcase_add_test(t, output_and_exit_status_are_returned);
    tcase_add_test(t, standard_input_is_empty_and_cannot_be_opened_by_name);
    tcase_add_test(t, a_written_file_is_returned);
    tcase_add_test(t, a_symbolic_link_is_not_returned);
    tcase_add_test(t, passed_files_are_visible);
    tcase_add_test(t, the_host_file_system_is_hidden);
    tcase_add_test(t, root_is_read_only);
    tcase_add_test(t, folder_is_limited);
    tcase_add_test(t, a_full_work_folder_ends_the_job);
    tcase_add_test(t, the_work_folder_is_removed);
    tcase_add_test(t, the_wall_clock_limit_ends_the_job);
    tcase_add_test(t, background_processes_are_killed);
    tcase_add_test(t, exit_reasons_are_distinguished);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(t, memory_is_limited);
#endif
    tcase_add_test(t, an_exhausted_cpu_limit_is_not_a_kill);
    tcase_add_test(t, a_program_that_kills_itself_is_not_reported_as_starved);
    tcase_add_test(t, a_full_memory_cgroup_is_the_fault_of_the_program);
    tcase_add_test(t, cgroups_are_created_below_a_long_path);
    tcase_add_test(t, an_out_of_memory_host_is_reported_as_starved);
    tcase_add_test(t, forbidden_system_calls_are_violations);
    tcase_add_test(t, only_passed_descriptors_are_open);
    tcase_add_test(t, a_missing_program_is_an_internal_error);
    return t;
}

UNIT_SUITE(jail) {
    Suite *s = suite_create("jail");
    suite_add_tcase(s, all_tests("T1", choose));
    if (jail_landlock_abi() < 6) return s;
    TCase *t = all_tests("T2", choose_landlock);
    suite_add_tcase(s, t);
    /* T1's clone runs no handler of pthread_atfork. */
    tcase_add_test(t, an_interrupt_during_the_start_leaves_no_process_and_no_group);
    return s;
}

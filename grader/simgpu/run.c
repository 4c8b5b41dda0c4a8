/* run.c — `simgpu run [options] PROGRAM ARGS…`: starts the program with a connection to a device
 * server in this process, serves it, and exits with the program's status or signal. main.c calls
 * it. */
#include "common/buf.h"
#include "common/file.h"
#include "common/system_info.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/sim/sass/sass.h"
#include "grader/simgpu/run_options.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A launch of more warps is large to --sample, as to the timed cases of the grader. */
enum { LISTING_LIMIT = 64 << 20, SAMPLE_WARPS = 1024 };

struct run {
    const struct run_options *options;
    const struct gpu_device *device;
    pthread_mutex_t lock; /* Several connections report at the same time. */
    struct counter_log *counters;
    struct simgpu_page *page;
    struct report_log *reports;
    struct simgpu_progress *progress;
    const char *program;
    char ptxas[4200], cache[4200];  /* paths; empty = none */
    bool reported_estimates;        /* We have warned that registers are estimates. */
    struct sass_insn *machine_code; /* from --machine-code */
    uint32_t nmachine_code;
    pid_t pid;                  /* of the program */
    int end_pipe[2];            /* readable once the program has ended */
    struct buf time_line;       /* the last line of --time */
    unsigned time_line_repeats; /* launches that time_line stands for, not printed yet */
    bool reported_sample;       /* We have said that results are not computed. */
    bool connected;             /* A process has requested a device. */
    bool version_mismatch;      /* A process uses another version of the runtime library. */
    _Atomic bool memory_exceeded, ended; /* The program hit --memory; the program has ended. */
    _Atomic bool has_leaks;              /* --leaks reported memory. */
};

/* ---- the program ---- */

/* Prints one line for consecutive launches of equal time. */
static void print_time_line(struct run *r) {
    if (r->time_line_repeats > 1)
        fprintf(stderr, "%s (%u times)\n", buf_str(&r->time_line), r->time_line_repeats);
    else if (r->time_line_repeats) fprintf(stderr, "%s\n", buf_str(&r->time_line));
    r->time_line_repeats = 0;
}

static void add_time(struct run *r, const struct server_launch *l) {
    const struct time_estimate *t = &l->result->estimate;
    struct buf line = {0};
    char bound[192];
    if (!(t->seconds > 0)) return;
    time_format_limits(t->limits, bound, sizeof bound);
    buf_printf(&line, "simgpu: %s: %.2f us modelled (%.2f to %.2f), bound by: %s%s%s", l->kernel,
               t->seconds * 1e6, t->low * 1e6, t->high * 1e6, bound,
               *t->uncertainty_note ? "; " : "", t->uncertainty_note);
    text_demangle(&line);
    if (strcmp(buf_str(&line), buf_str(&r->time_line)) != 0) print_time_line(r);
    buf_free(&r->time_line);
    r->time_line = line;
    r->time_line_repeats++;
}

/* Only once: what is not computed in one launch is wrong in all that follow. */
static void report_sample(struct run *r, const struct server_launch *l) {
    struct buf line = {0};
    if (!l->result->sim.is_sampled || r->reported_sample) return;
    r->reported_sample = true;
    buf_printf(&line,
               "simgpu: --sample: from this launch of %s on, large launches run only part of their "
               "blocks: the program's results are not computed; counters and times are scaled",
               l->kernel);
    text_demangle(&line);
    fprintf(stderr, "%s\n", buf_str(&line));
    buf_free(&line);
}

static void on_launch_begin(void *user, const struct server_launch *l) {
    struct run *r = user;
    simgpu_progress_begin(r->progress, l);
}

static void on_launch(void *user, const struct server_launch *l) {
    struct run *r = user;
    simgpu_progress_end(r->progress);
    pthread_mutex_lock(&r->lock);
    report_sample(r, l);
    if (r->counters) counter_log_add(r->counters, l);
    if (r->page) simgpu_page_add(r->page, l);
    report_log_add(r->reports, l);
    if (r->options->time) add_time(r, l);
    pthread_mutex_unlock(&r->lock);
}

static void on_report(void *user, const struct sim_report *report) {
    struct run *r = user;
    simgpu_progress_hide(r->progress);
    pthread_mutex_lock(&r->lock);
    report_log_add_report(r->reports, report);
    pthread_mutex_unlock(&r->lock);
}

static void on_note(void *user, const char *text) {
    const struct run *r = user;
    struct buf line = {0};
    buf_printf(&line, "simgpu: %s\n", text);
    text_demangle(&line);
    simgpu_progress_hide(r->progress);
    fputs(buf_str(&line), stderr);
    buf_free(&line);
}

static _Noreturn void exec_program(const struct listener *r, char **argv) {
    char text[16];
    int fd = listener_client_fd(r);
    snprintf(text, sizeof text, "%d", fd);
    setenv(WB_ENV_SOCKET, text, 1);
    unsetenv(WB_ENV_WINDOW);
    fcntl(fd, F_SETFD, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execvp(argv[0], argv);
    fprintf(stderr, "simgpu run: %s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* ---- programs built with another runtime ---- */

struct file_mapping {
    const char *bytes;
    size_t size;
};

static struct file_mapping map_file(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return (struct file_mapping){0};
    void *p = fstat(fd, &st) || !st.st_size
                  ? MAP_FAILED
                  : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return p == MAP_FAILED ? (struct file_mapping){0}
                           : (struct file_mapping){p, (size_t)st.st_size};
}

/* Called when the program never requested a device. Warns if it holds device code but not our
 * runtime. */
static void report_foreign_runtime(const char *program) {
    static const char device_code[] = ".nv_fatbin", runtime_marker[] = WB_ENV_SOCKET;
    struct file_mapping f = strchr(program, '/') ? map_file(program) : (struct file_mapping){0};
    if (!f.bytes) return;
    if (memmem(f.bytes, f.size, device_code, sizeof device_code) &&
        !memmem(f.bytes, f.size, runtime_marker, sizeof runtime_marker))
        fprintf(stderr,
                "simgpu run: %s is linked with another CUDA runtime, which cannot use the "
                "simulated device: rebuild it with `build/simgpu nvcc`\n",
                program);
    munmap((void *)f.bytes, f.size);
}

/* Returns the program's exit status; if a signal ended the program, raises it here. */
static int exit_as_program(int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    int signal_number = WTERMSIG(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return 128 + signal_number;
}

static bool on_kernel_found(void *user, const char *kernel, const struct backend_kernel *k) {
    const struct run *run = user;
    (void)kernel;
    if (run->machine_code) sim_set_machine_code(k->handle, run->machine_code, run->nmachine_code);
    return true;
}

/* Warns only once, since the same problem usually affects every kernel of the program. */
static void on_missing_registers(void *user, const char *text) {
    struct run *run = user;
    if (!run->reported_estimates)
        fprintf(stderr, "simgpu: register counts and occupancy are estimates: %.400s\n", text);
    run->reported_estimates = true;
}

/* Returns how much host memory the simulation of a program may use; 0 = not known. */
static uint64_t host_memory_limit(const struct run_options *o) {
    return o->memory ? o->memory : system_available_memory() / 10 * 9;
}

static struct server *open_device(void *user, int connection) {
    struct run *run = user;
    run->connected = true;
    const struct run_options *o = run->options;
    struct err e = {0};
    struct sim_options so = {
        .device = run->device,
        .workers = o->workers,
        .devices = o->devices,
        .sanitize = o->sanitize,
        .ptx_counters = o->ptx_counters,
        .native = o->sample ? SIM_NATIVE_NEVER : o->native,
        .sample_warps = o->sample ? SAMPLE_WARPS : 0,
        .adversarial_schedule = o->adversarial_schedule,
        .hardware_order = o->hardware_order,
        .spare_host_bytes = host_memory_limit(o) / 2,
        .time_budget = o->timeout,
        .instruction_budget = o->budget,
    };
    struct server_options options = {.user = run,
                                     .sanitize = o->sanitize,
                                     .skip_repeats = !o->execute_repeats,
                                     .on_kernel_found = on_kernel_found,
                                     .on_launch_begin = on_launch_begin,
                                     .on_launch = on_launch,
                                     .on_report = on_report,
                                     .on_note = on_note,
                                     .connection_fd = connection};
    struct backend *b = backend_sim_open(&so, &e);
    if (b)
        backend_sim_set_timing(b, o->time || o->report || o->pictures),
            backend_sim_set_cold_l2(b, o->cold_caches);
    if (b && run->ptxas[0])
        backend_sim_set_ptxas(
            b, &(struct backend_ptxas){run->ptxas, run->cache, run, on_missing_registers});
    struct server *s = b ? server_open(b, &options, &e) : NULL;
    if (!s) fprintf(stderr, "simgpu run: %s\n", e.text);
    return s;
}

/* Ends the program, because its runtime library misreads our replies and would fail later with a
 * misleading error. */
static void kill_mismatched_program(struct run *run) {
    pthread_mutex_lock(&run->lock);
    if (!run->version_mismatch)
        fprintf(stderr,
                "simgpu run: %s was built with another version of the runtime library: rebuild it "
                "with `build/simgpu nvcc`\n",
                run->program);
    run->version_mismatch = true;
    pthread_mutex_unlock(&run->lock);
    kill(run->pid, SIGKILL);
}

static void on_close(void *user, struct server *s) {
    struct run *run = user;
    struct buf text = {0};
    if (server_has_version_mismatch(s)) kill_mismatched_program(run);
    if (run->options->report_leaks) server_append_leaks(s, &text);
    if (text.size) fprintf(stderr, "simgpu: leak: %s\n", buf_str(&text));
    if (text.size) run->has_leaks = true;
    buf_free(&text);
}

/* ---- host memory ----
 * Simulated device memory has the real device's size, but only touched pages use host memory. We
 * end the program before they exhaust the host and the OS kills some other process. */

static uint64_t resident_bytes(void) {
    unsigned long long total, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%llu %llu", &total, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void end_at_memory_limit(struct run *run, uint64_t max_bytes) {
    run->memory_exceeded = true;
    simgpu_progress_hide(run->progress);
    fprintf(stderr,
            "simgpu run: simulating %s uses more than %llu MiB of host memory: run a smaller "
            "problem size, or raise the limit with --memory MIB\n",
            run->program, (unsigned long long)(max_bytes >> 20));
    kill(run->pid, SIGKILL);
}

/* Returns the signal by which a user ended the program, such as Ctrl-C; 0 = none did. The main
 * thread reaps the program later. */
static int interrupt_of_program(const struct run *run) {
    siginfo_t info = {0};
    int wait = waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    bool killed = wait == 0 && info.si_pid == run->pid && info.si_code == CLD_KILLED;
    int number = killed ? info.si_status : 0;
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGKILL ? number
                                                                                          : 0;
}

/* Watches memory, shows the progress of launches, and ends this process if the user has ended the
 * program and a launch that nobody waits for still runs after GRACE_TICKS. */
static void *watch_program(void *user) {
    enum { TICK_NS = 20000000, GRACE_TICKS = 15, PROGRESS_TICKS = 25 };
    struct run *run = user;
    uint64_t max_bytes = host_memory_limit(run->options);
    for (unsigned ticks = 1, ticks_after_end = 0; !run->ended; ticks++) {
        nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
        int number = run->ended ? 0 : interrupt_of_program(run);
        if (number) simgpu_progress_hide(run->progress);
        else if (ticks % PROGRESS_TICKS == 0) simgpu_progress_show(run->progress);
        if (number && ++ticks_after_end == GRACE_TICKS) {
            if (run->memory_exceeded) _exit(3);
            signal(number, SIG_DFL), raise(number);
        }
        if (max_bytes && !run->memory_exceeded && !run->ended && resident_bytes() > max_bytes)
            end_at_memory_limit(run, max_bytes);
    }
    return NULL;
}

/* Closes the write end of `end_pipe` when the program has ended. A sandbox may refuse pidfd_open,
 * which would do the same without a thread. */
static void *wait_for_end(void *user) {
    struct run *run = user;
    siginfo_t ignored;
    while (waitid(P_PID, (id_t)run->pid, &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
    close(run->end_pipe[1]);
    return NULL;
}

/* Starts wait_for_end(). The pipe is made after the program, which so doesn't inherit it. */
static bool watch_end(struct run *run, pthread_t *waiter) {
    if (run->pid < 0 || pipe2(run->end_pipe, O_CLOEXEC) < 0) return false;
    if (!pthread_create(waiter, NULL, wait_for_end, run)) return true;
    close(run->end_pipe[0]), close(run->end_pipe[1]);
    return false;
}

/* Returns the program's wait status from waitpid, or -1 if it could not be started. */
static int serve_program(struct run *run, char **argv, struct err *e) {
    struct listener *r = listener_open(e);
    if (!r) return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) exec_program(r, argv);
    run->pid = pid;
    pthread_t watcher, waiter;
    int status = -1;
    bool has_watcher = pid > 0 && !pthread_create(&watcher, NULL, watch_program, run),
         is_started = watch_end(run, &waiter);
    signal(SIGINT, SIG_IGN); /* The program receives it too and decides. */
    if (!is_started) err_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    else listener_serve(r, run->end_pipe[0], open_device, on_close, run);
    listener_close(r); /* waits for a launch that runs; the watcher bounds that */
    run->ended = true;
    if (has_watcher) pthread_join(watcher, NULL);
    if (!is_started) return -1;
    pthread_join(waiter, NULL);
    close(run->end_pipe[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

/* Opens the file for the counters; called before the program runs, so that a wrong path costs no
 * run. */
static bool open_counters(struct run *run, FILE **out, struct err *e) {
    const struct run_options *o = run->options;
    *out = NULL;
    if (!o->counters) return true;
    *out = o->counters_file ? fopen(o->counters_file, "we") : stderr;
    if (!*out) return err_set(e, ERR_SYSTEM, "%s: %s", o->counters_file, strerror(errno));
    run->counters = counter_log_new(o->counters, o->device);
    return true;
}

static bool open_listing(struct run *run, struct err *e) {
    struct buf text = {0};
    const char *path = run->options->listing;
    bool ok = !path ||
              (file_read(path, LISTING_LIMIT, &text, e) &&
               sass_parse(buf_str(&text), text.size, &run->machine_code, &run->nmachine_code, e));
    buf_free(&text);
    return ok;
}

static bool write_counters(struct run *run, FILE *out, struct err *e) {
    if (!run->counters) return true;
    counter_log_finish(run->counters, out);
    bool ok = !ferror(out);
    if (out != stderr) ok = !fclose(out) && ok;
    return ok || err_set(e, ERR_SYSTEM, "cannot write the counters: %s", strerror(errno));
}

/* Sets run->ptxas and run->cache. Without ptxas, occupancy is estimated from the PTX; without the
 * cache, ptxas runs again for every run. */
static void find_tools(struct run *run) {
    char folder[PATH_MAX];
    struct err ignored = {0};
    bool found = paths_cuda_toolkit(folder, &ignored) &&
                 path_join(run->ptxas, sizeof run->ptxas, folder, "bin/ptxas");
    if (!found || !file_exists(run->ptxas)) run->ptxas[0] = 0;
    found = paths_cache_dir(folder, &ignored) &&
            path_join(run->cache, sizeof run->cache, folder, "registers");
    if (!found) run->cache[0] = 0;
}

static bool write_page(struct run *run, struct err *e) {
    if (!run->page) return true;
    const struct run_options *o = run->options;
    bool ok = (!o->report || simgpu_page_write(run->page, o->report, e)) &&
              (!o->pictures || simgpu_page_pictures(run->page, o->pictures, e));
    simgpu_page_free(run->page);
    return ok;
}

int run_main(int argc, char **argv) {
    struct err e = {0};
    FILE *counters_out;
    struct run_options o = {
        .device = "h200", .sanitize = true, .timeout = 60, .native = SIM_NATIVE_IN_BACKGROUND};
    if (argc && simgpu_is_help(argv[0])) return fputs(simgpu_run_usage, stdout), 0;
    int program_index = simgpu_parse_run_options(&o, argc, argv, &e);
    if (!e.kind) simgpu_check_sample_options(&o, &e);
    if (!e.kind && program_index >= argc)
        err_set(&e, ERR_INPUT, "no program given\n%s", simgpu_run_usage);
    if (e.kind) return fprintf(stderr, "simgpu run: %s\n", e.text), 2;
    struct run run = {
        .options = &o, .device = device_find(o.device), .lock = PTHREAD_MUTEX_INITIALIZER};
    if (!run.device)
        return fprintf(stderr, "simgpu run: unknown device %s: `simgpu devices` lists all\n",
                       o.device),
               2;
    if (!open_listing(&run, &e))
        return fprintf(stderr, "simgpu run: %s: %s\n", o.listing, e.text), 2;
    if (!open_counters(&run, &counters_out, &e))
        return fprintf(stderr, "simgpu run: %s\n", e.text), 3;
    find_tools(&run);
    run.reports = report_log_new();
    run.progress = simgpu_progress_new();
    if (o.report || o.pictures) run.page = simgpu_page_new(run.device, argv[program_index]);
    run.program = argv[program_index];
    int status = serve_program(&run, argv + program_index, &e);
    simgpu_progress_free(run.progress);
    print_time_line(&run);
    buf_free(&run.time_line);
    bool has_findings = report_log_finish(run.reports) || run.has_leaks;
    bool written = write_counters(&run, counters_out, &e);
    written = write_page(&run, &e) && written;
    free(run.machine_code);
    if (!written || status < 0) return fprintf(stderr, "simgpu run: %s\n", e.text), 3;
    if (!run.connected) report_foreign_runtime(run.program);
    if (run.version_mismatch || run.memory_exceeded) return 3;
    return status == 0 && has_findings ? o.error_exitcode : exit_as_program(status);
}

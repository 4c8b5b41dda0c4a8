/* simgpu_run.c — `simgpu run [options] PROGRAM ARGS…`: starts the program with a connection to a device server in
 * this process, serves it, and ends as the program ended. */
#include "grader/server/simgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct run_options {
    enum counter_format counters;
    const char *counters_file, *device;
    unsigned workers;
    bool sanitize, hostile_schedule, leaks;
    double timeout;
    uint64_t memory;
};

struct run {
    struct counter_log *counters;
    struct report_log *reports;
};

static const char usage[] =
    "usage: simgpu run [options] PROGRAM ARGS...\n"
    "  --device NAME           the device to simulate (simgpu devices lists them; h200)\n"
    "  --counters text|json    count what each kernel does, by source line\n"
    "  --counters-file FILE    where to write the counters (standard error)\n"
    "  --workers N             threads (one for each core)\n"
    "  --no-sanitize           do not look for races and uninitialised reads\n"
    "  --leaks                 say what the program did not free\n"
    "  --schedule hostile      split warps after divergence wherever hardware may\n"
    "  --memory MIB            device memory (2048)\n"
    "  --timeout SECONDS       of wall clock for one kernel (60)\n";

/* ---- options ---- */

static bool parse_number(const char *text, double low, double high, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out >= low && *out <= high;
}

static bool set_option(struct run_options *o, const char *name, const char *value, struct err *e) {
    double number;
    if (!strcmp(name, "--counters-file")) return o->counters_file = value, true;
    if (!strcmp(name, "--device")) return o->device = value, true;
    if (!strcmp(name, "--counters")) {
        o->counters = !strcmp(value, "text") ? COUNTERS_TEXT : !strcmp(value, "json") ? COUNTERS_JSON : COUNTERS_NONE;
        return o->counters || err_set(e, ERR_INPUT, "--counters %s: text or json", value);
    }
    if (!strcmp(name, "--schedule")) {
        o->hostile_schedule = !strcmp(value, "hostile");
        return o->hostile_schedule || !strcmp(value, "usual") ||
               err_set(e, ERR_INPUT, "--schedule %s: usual or hostile", value);
    }
    if (!strcmp(name, "--workers")) {
        if (!parse_number(value, 1, 256, &number)) return err_set(e, ERR_INPUT, "--workers %s: from 1 to 256", value);
        return o->workers = (unsigned)number, true;
    }
    if (!strcmp(name, "--memory")) {
        if (!parse_number(value, 1, 65536, &number)) return err_set(e, ERR_INPUT, "--memory %s: from 1 to 65536", value);
        return o->memory = (uint64_t)number << 20, true;
    }
    if (!strcmp(name, "--timeout")) {
        if (!parse_number(value, 0.001, 1e6, &o->timeout))
            return err_set(e, ERR_INPUT, "--timeout %s: seconds, more than 0", value);
        return true;
    }
    return err_set(e, ERR_INPUT, "unknown option %s\n%s", name, usage);
}

/* The index of the program's name. */
static int parse(struct run_options *o, int argc, char **argv, struct err *e) {
    int i = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--")) return i + 1;
        if (!strcmp(argv[i], "--no-sanitize")) o->sanitize = false;
        else if (!strcmp(argv[i], "--leaks")) o->leaks = true;
        else if (i + 1 == argc) return err_set(e, ERR_INPUT, "%s needs a value\n%s", argv[i], usage), argc;
        else if (!set_option(o, argv[i], argv[i + 1], e)) return argc;
        else i++;
    }
    return i;
}

/* ---- the program ---- */

static void launched(void *user, const struct server_launch *l) {
    struct run *r = user;
    if (r->counters) counter_log_add(r->counters, l);
    report_log_add(r->reports, l);
}

static void note(void *user, const char *text) {
    (void)user;
    fprintf(stderr, "simgpu: %s\n", text);
}

static void set_descriptor(const char *variable, int fd) {
    char text[16];
    snprintf(text, sizeof text, "%d", fd);
    setenv(variable, text, 1);
    fcntl(fd, F_SETFD, 0);
}

static _Noreturn void become(struct server *s, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    set_descriptor(WB_ENV_SOCKET, server_client_socket(s));
    set_descriptor(WB_ENV_WINDOW, server_client_window(s));
    execvp(argv[0], argv);
    fprintf(stderr, "simgpu run: %s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Ends as the program ended, signals included. */
static int end_like(int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
}

static int serve_program(struct server *s, char **argv, struct err *e) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return err_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno)), -1;
    if (pid == 0) become(s, argv);
    server_client_started(s);
    signal(SIGINT, SIG_IGN); /* the program gets it too, and decides */
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
    server_serve(s, 0, pidfd);
    if (pidfd >= 0) close(pidfd);
    server_hang_up(s);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

static struct server *open_device(const struct run_options *o, struct run *run, struct err *e) {
    const struct gpu_device *d = device_find(o->device);
    if (!d) return err_set(e, ERR_INPUT, "no device %s: `simgpu devices` lists them", o->device), NULL;
    struct sim_options so = {
        .device = d,
        .workers = o->workers,
        .sanitize = o->sanitize,
        .hostile_schedule = o->hostile_schedule,
        .memory_limit = o->memory,
        .time_budget = o->timeout,
    };
    struct backend *b = backend_sim_open(&so, e);
    struct server_options options = {.user = run, .launched = launched, .note = note};
    return b ? server_open(b, &options, e) : NULL;
}

static void say_leaks(const struct server *s) {
    struct buf text = {0};
    server_leaks(s, &text);
    if (text.size) fprintf(stderr, "simgpu: leak: %s\n", buf_str(&text));
    buf_free(&text);
}

static bool write_counters(struct run *run, const struct run_options *o, struct err *e) {
    if (!run->counters) return true;
    FILE *out = o->counters_file ? fopen(o->counters_file, "w") : stderr;
    if (!out) return err_set(e, ERR_SYSTEM, "%s: %s", o->counters_file, strerror(errno));
    counter_log_end(run->counters, out);
    bool ok = !ferror(out);
    if (out != stderr) ok = !fclose(out) && ok;
    return ok || err_set(e, ERR_SYSTEM, "%s: cannot write", o->counters_file ? o->counters_file : "standard error");
}

int simgpu_run(int argc, char **argv) {
    struct err e = {0};
    struct run_options o = {.device = "h200", .sanitize = true, .timeout = 60};
    int program = parse(&o, argc, argv, &e);
    if (!e.kind && program >= argc) err_set(&e, ERR_INPUT, "no program given\n%s", usage);
    if (e.kind) return fprintf(stderr, "simgpu run: %s\n", e.text), 2;
    struct run run = {.reports = report_log_new()};
    if (o.counters) run.counters = counter_log_new(o.counters, o.device);
    struct server *s = open_device(&o, &run, &e);
    if (!s) return fprintf(stderr, "simgpu run: %s\n", e.text), e.kind == ERR_INPUT ? 2 : 3;
    int status = serve_program(s, argv + program, &e);
    if (o.leaks) say_leaks(s);
    server_close(s);
    report_log_end(run.reports);
    if (status < 0 || !write_counters(&run, &o, &e)) return fprintf(stderr, "simgpu run: %s\n", e.text), 3;
    return end_like(status);
}

int simgpu_devices(int argc, char **argv) {
    (void)argv;
    if (argc) return fprintf(stderr, "usage: simgpu devices\n"), 2;
    printf("%-10s %-28s %5s %4s %8s %10s %10s %8s\n", "name", "device", "cc", "SMs", "clock", "L2", "memory", "bandwidth");
    for (unsigned i = 0; device_at(i); i++) {
        const struct gpu_device *d = device_at(i);
        printf("%-10s %-28s %3u.%u %4u %4.0f MHz %6.0f MiB %6.0f GiB %6.2f TB/s\n", d->name, d->full_name, d->cc_major,
               d->cc_minor, d->sms, d->clock_hz * 1e-6, (double)d->l2_bytes / (1 << 20),
               (double)d->dram_bytes / (1 << 30), d->dram_rate * 1e-12);
    }
    return 0;
}

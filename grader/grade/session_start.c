/* session_start.c — the two processes of a session, from start to end, and what their ends mean as
 * verdicts. See session.c. */
#include "grader/grade/session_parts.h"
#include "common/file.h"
#include "common/text.h"
#include "common/where.h"
#include "grader/book/book.h"
#include "grader/grade/ptxas.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RESTARTS = 3, HOST_MEMORY = 512 /* MiB */ };

/* ---- ends of the host process ---- */

enum verdict session_tell(struct case_run *out, enum verdict v, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&out->message, format, ap);
    va_end(ap);
    return out->verdict = v;
}

/* An allocation that failed ends a C++ program by an exception that nobody catches; the library
 * says which. */
static bool ran_out(const struct jail_result *r) {
    return r->signal == SIGABRT && r->output.size && strstr(buf_str(&r->output), "std::bad_alloc");
}

static enum verdict tell_signal(struct case_run *out, int signal) {
    const char *hint =
        signal == SIGSEGV || signal == SIGBUS
            ? "\nDevice pointers can't be followed on the host: only kernels may read or "
              "write what they point to."
            : "";
    return session_tell(out, V_RTE, "the host code crashed: %s%s", strsignal(signal), hint);
}

enum verdict session_tell_end(struct case_run *out, const struct jail_result *r) {
    switch (r->outcome) {
    case JAIL_VIOLATION:
        return session_tell(
            out, V_SEC,
            "the host code made a system call that an entry has no use for; the jail stopped it");
    case JAIL_MEMORY_LIMIT:
        return session_tell(out, V_MLE,
                            "the host code used more memory than its processes together may");
    case JAIL_SYSTEM_OOM:
        return session_tell(
            out, V_IE,
            "the machine killed the host process: it, or the container that this runs in, has too "
            "little memory; grade again with fewer --jobs");
    case JAIL_TIMEOUT:
        return session_tell(out, V_TLE, "the host code did not return within its time limit");
    case JAIL_OUTPUT_LIMIT:
        return session_tell(out, V_OLE, "the host code printed more than 1 MiB");
    case JAIL_SIGNALLED:
        if (ran_out(r))
            return session_tell(out, V_MLE,
                                "the host code asked for more memory than the %d MiB that it has",
                                HOST_MEMORY);
        return tell_signal(out, r->signal);
    case JAIL_EXITED:
        return session_tell(
            out, V_RTE,
            "the host process ended with exit status %d instead of returning from the entry",
            r->code);
    case JAIL_INTERNAL_ERROR: break;
    }
    return session_tell(out, V_IE, "%s", r->reason);
}

void session_read_log(struct session *s) {
    struct buf fresh = {0};
    if (!s->jail || s->log.size > LOG_LIMIT) return;
    s->printed = jail_output(s->jail, s->printed, LOG_LIMIT, &fresh);
    text_clean(&s->log, buf_str(&fresh), fresh.size, LOG_LIMIT);
    buf_free(&fresh);
}

/* Ends both processes; `seconds` is the grace that a host process which is on its way out gets. */
void session_stop(struct session *s, double seconds, struct jail_result *r) {
    session_read_log(s);
    device_process_close(s->device);
    s->device = NULL;
    if (s->jail) jail_wait(s->jail, seconds, r);
    s->jail = NULL;
    s->printed = 0;
}

void session_stop_quietly(struct session *s) {
    struct jail_result r = {0};
    session_stop(s, 0, &r);
    jail_result_free(&r);
}

/* ---- the device process ---- */

/* Why it gave no answer, as a verdict. It is gone then: the next case starts another one. */
enum verdict session_tell_device(struct session *s, enum device_end end, double seconds,
                                 struct case_run *out) {
    char fate[256];
    snprintf(fate, sizeof fate, "%s", device_process_fate(s->device));
    session_stop_quietly(s);
    s->recorded = false;
    switch (end) {
    case DEVICE_MEMORY:
        return session_tell(
            out, V_MLE,
            "the simulated GPU used up its memory over this device code, and was stopped");
    case DEVICE_LATE:
        return session_tell(out, V_TLE,
                            "the device did not answer within %.0f s, and was stopped: it hangs, "
                            "or this machine was too slow",
                            seconds);
    case DEVICE_ATTACK:
        return session_tell(out, V_SEC, "the device process made %s; the jail stopped it", fate);
    case DEVICE_CRASHED:
        return session_tell(out, V_RTE, "the device process crashed over this device code: %s",
                            fate);
    case DEVICE_LIED: return session_tell(out, V_RTE, "the device process sent what is no answer");
    default: return session_tell(out, V_IE, "%s", fate);
    }
}

static int watched(const struct session *s) { return s->jail ? jail_pollfd(s->jail) : -1; }

/* True with an answer; else the verdict is in `out`. */
bool session_ask(struct session *s, enum control_op op, double seconds, struct control_request *q,
                 int fd, struct control_reply *p, struct case_run *out) {
    q->op = op, q->time_limit_seconds = seconds;
    enum device_end end = device_process_ask(s->device, q, fd, watched(s), p);
    if (end == DEVICE_ANSWERED) return true;
    session_tell_device(s, end, seconds, out);
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct control_kernel *)a)->name_digest,
                  ((const struct control_kernel *)b)->name_digest);
}

/* What ptxas said of each kernel, by the digest of its name, sorted, and the machine code behind;
 * as a memory file. */
static int kernels_file(const struct ptxas *p, struct err *e) {
    struct control_kernel *k = xcalloc(p->n + 1, sizeof *k);
    for (unsigned i = 0; i < p->n; i++) {
        struct hash h;
        hash_start(&h);
        hash_text(&h, p->kernels[i].name);
        hash_hex(&h, k[i].name_digest);
        k[i].registers = p->kernels[i].registers, k[i].spill_bytes = p->kernels[i].spill_bytes;
    }
    qsort(k, p->n, sizeof *k, by_name);
    size_t bytes = p->n * sizeof *k, code = p->ncode * sizeof *p->code;
    int fd = server_shared_memory("kernels", bytes + code ? bytes + code : 1, e);
    bool ok = fd >= 0 && pwrite(fd, k, bytes, 0) == (ssize_t)bytes &&
              pwrite(fd, p->code ? p->code : (void *)k, code, (off_t)bytes) == (ssize_t)code;
    if (fd >= 0 && !ok) {
        err_set(e, ERR_SYSTEM, "cannot write %zu bytes of shared memory", bytes + code);
        close(fd);
        fd = -1;
    }
    free(k);
    return fd;
}

static enum verdict open_device(struct session *s, struct case_run *out) {
    struct control_request q = {0};
    struct control_reply p;
    struct control_open *o = &q.u.open;
    struct err e = {0};
    static const struct ptxas none;
    const struct ptxas *known = s->ptxas ? s->ptxas : &none;
    if (known->n > CONTROL_MAX_KERNELS)
        return session_tell(out, V_CE, "%u kernels in one file", known->n);
    int fd = kernels_file(known, &e);
    if (fd < 0) return session_tell(out, V_IE, "%s", e.text);
    snprintf(o->device, sizeof o->device, "%s", s->o.gpu ? "gpu" : s->o.device->name);
    o->is_gpu = s->o.gpu != NULL, o->workers = s->o.workers, o->nkernels = known->n,
    o->ncode = known->ncode, o->nimages = 1, o->has_client = 1;
    if (s->o.gpu) o->pool_bytes = s->o.gpu->pool_bytes;
    if (!o->workers) o->workers = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    memcpy(o->image_digest[0], s->build->image, HASH_HEX);
    bool ok = session_ask(s, CONTROL_OPEN, host_seconds + (s->o.gpu ? 60 : 0), &q, fd, &p, out);
    close(fd);
    return ok ? V_AC : out->verdict;
}

/* ---- starting ---- */

static bool start_host(struct session *s, struct err *e) {
    char host[PATH_MAX];
    where_part("hostproc", host);
    if (!file_exists(host)) return err_set(e, ERR_SYSTEM, "%s is missing; run `make`", host);
    const char *argv[] = {"/hostproc", "/work/submission.so", NULL};
    const char *env[] = {"LC_ALL=C.UTF-8", WB_ENV_SOCKET "=3", WB_ENV_WINDOW "=4", NULL};
    struct jail_bind binds[16];
    struct jail_file file = {"submission.so", s->build->object.data, s->build->object.size};
    struct jail_fd fds[] = {{device_process_client_socket(s->device), 3},
                            {device_process_client_window(s->device), 4}};
    struct jail_job job = {
        .kind = JAIL_HOST,
        .argv = argv,
        .env = env,
        .binds = binds,
        .files = &file,
        .nfiles = 1,
        .fds = fds,
        .nfds = 2,
        .limits = {.cpu_seconds = 60,
                   .memory_bytes = (uint64_t)HOST_MEMORY << 20,
                   .address_bytes = 96ull << 30, /* 64 GiB stand for the device; page tables cost */
                   .file_bytes = 1 << 20,
                   .work_bytes = 96 << 20,
                   .max_processes = 8,
                   .max_fds = 64}};
    const struct jail_bind *system = jail_system_binds(JAIL_HOST, &job.nbinds);
    memcpy(binds, system, job.nbinds * sizeof *system);
    binds[job.nbinds++] = (struct jail_bind){host, "/hostproc", false};
    if (s->build->object.size > job.limits.file_bytes)
        job.limits.work_bytes += s->build->object.size;
    s->jail = jail_start(&job, e);
    if (s->jail) device_process_client_started(s->device);
    return s->jail;
}

static bool start_device(struct session *s, struct err *e) {
    struct device_process_options o = {
        .device = s->o.device, .gpu = s->o.gpu, .workers = s->o.workers};
    s->device = device_process_start(&o, e);
    return s->device;
}

/* The object did not load, which later cases cannot change. */
static enum verdict not_ready(struct session *s, const struct control_outcome *o,
                              struct case_run *out) {
    struct jail_result r = {0};
    session_stop(s, o->end_reason == SERVER_CLOSED ? 1 : 0, &r);
    if (o->end_reason == SERVER_DEADLINE)
        session_tell(
            out, V_TLE,
            "loading the program took more than %.0f s (a constructor that does not return?)",
            host_seconds);
    else if (o->end_reason == SERVER_LIMIT)
        session_tell(out, V_RTE,
                     "the program issued too many device calls before its entry was called");
    else if (o->end_reason == SERVER_CLOSED) session_tell_end(out, &r);
    else if (o->call_state == WB_NO_OBJECT)
        session_tell(out, V_CE, "the compiled file does not load: %s", o->text);
    else
        session_tell(
            out, V_RTE,
            "the host code answered the device server itself, before its entry was called");
    jail_result_free(&r);
    s->stuck = out->verdict;
    buf_puts(&s->stuck_message, buf_str(&out->message));
    s->finished = true;
    return out->verdict;
}

/* Device code that cannot be loaded fails as a call; the reason decides whose fault it is. */
static enum verdict bad_module(struct session *s, const struct control_outcome *o,
                               struct case_run *out) {
    s->finished = true;
    bool ours = !strcmp(server_error_name(o->error), "cudaErrorNotSupported");
    s->stuck = ours ? V_IE : V_RTE;
    buf_printf(&s->stuck_message,
               ours ? "the simulated GPU can't run this: %s" : "the device code does not load: %s",
               o->reason);
    return session_tell(out, s->stuck, "%s", buf_str(&s->stuck_message));
}

/* ptxas works while the processes start; what it refuses is not loaded. */
static enum verdict wait_for_ptxas(struct session *s, struct case_run *out) {
    const struct ptxas *p = s->ptxas = s->o.finish ? s->o.finish(s->o.user) : s->o.registers;
    if (!p || (!p->refused && !p->failed)) return V_AC;
    s->finished = true;
    s->stuck = p->refused ? V_CE : V_IE;
    buf_printf(&s->stuck_message, p->refused ? "ptxas refuses the device code:\n%s" : "%s",
               buf_str(&p->text));
    return session_tell(out, s->stuck, "%s", buf_str(&s->stuck_message));
}

enum verdict session_start(struct session *s, struct case_run *out) {
    struct err e = {0};
    struct control_request q = {0};
    struct control_reply p;
    if (s->starts++ >= MAX_RESTARTS) s->finished = true;
    s->stuck = V_AC;
    if (!start_device(s, &e) || !start_host(s, &e)) {
        session_stop_quietly(s);
        return session_tell(out, V_IE, "%s", e.text);
    }
    if (wait_for_ptxas(s, out) != V_AC) return session_stop_quietly(s), out->verdict;
    if (open_device(s, out) != V_AC) return out->verdict;
    if (!session_ask(s, CONTROL_WAIT_READY, host_seconds, &q, -1, &p, out)) return out->verdict;
    if (p.outcome.end_reason != SERVER_CALL || p.outcome.call_state != WB_READY)
        return not_ready(s, &p.outcome, out);
    /* Another call that failed by then is a constructor's affair. */
    bool loading =
        !strcmp(p.outcome.call_name, "module_load") || !strcmp(p.outcome.call_name, "upload");
    return p.outcome.error && loading ? bad_module(s, &p.outcome, out) : V_AC;
}

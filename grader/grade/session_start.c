/* session_start.c — starts and ends the two processes of a session, and turns their ends into
 * verdicts. See session.c. */
#include "grader/grade/session_internal.h"
#include "common/file.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/grade/ptxas.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RESTARTS = 3, HOST_MEMORY_MIB = 512 /* MiB */ };

/* ---- ends of the host process ---- */

enum verdict session_set_verdict(struct case_run *out, enum verdict v, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&out->message, format, ap);
    va_end(ap);
    return out->verdict = v;
}

/* Returns true if a failed allocation ended the host process: the C++ library prints the uncaught
 * exception. */
static bool is_bad_alloc(const struct jail_result *r) {
    return r->signal == SIGABRT && r->output.size && strstr(buf_str(&r->output), "std::bad_alloc");
}

void session_write_host_position(const struct jail_result *r, struct buf *out) {
    const char *at = NULL, *next = r->output.size ? buf_str(&r->output) : "";
    char text[256] = "";
    while ((next = strstr(next, WB_HOST_POSITION))) at = next += strlen(WB_HOST_POSITION);
    if (!at || sscanf(at, "%255[^\n]", text) != 1) return;
    text_clean_name(out, text);
    buf_puts(out, ": ");
}

static enum verdict verdict_from_signal(struct case_run *out, const struct jail_result *r) {
    const char *hint = "";
    if (r->signal == SIGSEGV || r->signal == SIGBUS)
        hint =
            "\nDevice pointers can't be dereferenced on the host; only kernels can read or write "
            "what they point to. Endless recursion ends in this way, too.";
    if (r->signal == SIGFPE) hint = ": an integer was divided by 0";
    session_write_host_position(r, &out->message);
    return session_set_verdict(out, V_RTE, "the host code crashed: %s%s", strsignal(r->signal),
                               hint);
}

enum verdict session_verdict_from_host(struct case_run *out, const struct jail_result *r) {
    switch (r->outcome) {
    case JAIL_VIOLATION:
        return session_set_verdict(
            out, V_SEC,
            "the host code made a system call that an entry doesn't need; the sandbox stopped it");
    case JAIL_MEMORY_LIMIT:
        return session_set_verdict(
            out, V_MLE, "the host code and its child processes used more memory than allowed");
    case JAIL_SYSTEM_OOM:
        return session_set_verdict(
            out, V_IE,
            "the system killed the host process because this machine or container ran out of "
            "memory; grade again with fewer --jobs");
    case JAIL_TIMEOUT:
        session_write_host_position(r, &out->message);
        return session_set_verdict(out, V_TLE,
                                   "the host code did not return within its time limit");
    case JAIL_OUTPUT_LIMIT:
        return session_set_verdict(out, V_OLE, "the host code printed more than 1 MiB");
    case JAIL_SIGNALLED:
        if (is_bad_alloc(r))
            return session_set_verdict(
                out, V_MLE, "the host code tried to allocate more memory than its limit of %d MiB",
                HOST_MEMORY_MIB);
        return verdict_from_signal(out, r);
    case JAIL_EXITED:
        return session_set_verdict(
            out, V_RTE,
            "the host process ended with exit status %d instead of returning from the entry",
            r->code);
    case JAIL_INTERNAL_ERROR: break;
    }
    return session_set_verdict(out, V_IE, "%s", r->reason);
}

void session_read_log(struct session *s) {
    struct buf new_output = {0};
    if (!s->jail || s->log.size > LOG_LIMIT) return;
    s->output_read = jail_output(s->jail, s->output_read, LOG_LIMIT, &new_output);
    text_clean(&s->log, buf_str(&new_output), new_output.size, LOG_LIMIT);
    buf_free(&new_output);
}

/* Ends both processes; `seconds` is the grace that a host process which is on its way out gets. */
void session_stop(struct session *s, double seconds, struct jail_result *r) {
    session_read_log(s);
    device_process_close(s->device);
    s->device = NULL;
    if (s->jail) jail_wait(s->jail, seconds, r);
    s->jail = NULL;
    s->output_read = 0;
}

void session_stop_quietly(struct session *s) {
    struct jail_result r = {0};
    session_stop(s, 0, &r);
    jail_result_free(&r);
}

/* ---- the device process ---- */

/* See session_internal.h. The next case starts new processes. */
enum verdict session_verdict_from_device(struct session *s, enum device_outcome outcome,
                                         double seconds, struct case_run *out) {
    char exit_reason[256];
    snprintf(exit_reason, sizeof exit_reason, "%s", device_process_exit_reason(s->device));
    session_stop_quietly(s);
    s->is_recorded = false;
    switch (outcome) {
    case DEVICE_OUT_OF_MEMORY:
        return session_set_verdict(
            out, V_MLE, "the simulated GPU ran out of memory on this device code and was stopped");
    case DEVICE_TIMEOUT:
        return session_set_verdict(
            out, V_TLE,
            "the device did not reply within %.0f s and was stopped: it hangs, "
            "or this machine was too slow",
            seconds);
    case DEVICE_SECCOMP_VIOLATION:
        return session_set_verdict(out, V_SEC, "the device process made %s; the sandbox stopped it",
                                   exit_reason);
    case DEVICE_CRASHED:
        return session_set_verdict(out, V_RTE, "the device process crashed on this device code: %s",
                                   exit_reason);
    case DEVICE_PROTOCOL_ERROR:
        return session_set_verdict(out, V_RTE, "the device process sent a malformed reply");
    default: return session_set_verdict(out, V_IE, "%s", exit_reason);
    }
}

static int watched_pidfd(const struct session *s) { return s->jail ? jail_pollfd(s->jail) : -1; }

/* See session_internal.h. */
bool session_request(struct session *s, enum control_op op, double seconds,
                     struct control_request *q, int fd, struct control_reply *p,
                     struct case_run *out) {
    q->op = op, q->time_limit_seconds = seconds;
    enum device_outcome outcome = device_process_call(s->device, q, fd, watched_pidfd(s), p);
    if (outcome == DEVICE_REPLIED) return true;
    session_verdict_from_device(s, outcome, seconds, out);
    return false;
}

static int compare_kernel_names(const void *a, const void *b) {
    return strcmp(((const struct control_kernel *)a)->name_digest,
                  ((const struct control_kernel *)b)->name_digest);
}

/* Returns a memory file with registers and spills of each kernel, sorted by the digest of its name,
 * then the machine code; -1 on failure. */
static int write_kernels_file(const struct ptxas *p, struct err *e) {
    struct control_kernel *k = xcalloc(p->nkernels + 1, sizeof *k);
    for (unsigned i = 0; i < p->nkernels; i++) {
        struct hash h;
        hash_init(&h);
        hash_update_string(&h, p->kernels[i].name);
        hash_final_hex(&h, k[i].name_digest);
        k[i].registers = p->kernels[i].registers, k[i].spill_bytes = p->kernels[i].spill_bytes;
    }
    qsort(k, p->nkernels, sizeof *k, compare_kernel_names);
    size_t bytes = p->nkernels * sizeof *k, code = p->ncode * sizeof *p->code;
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
    static const struct ptxas no_kernels;
    const struct ptxas *kernels = s->ptxas ? s->ptxas : &no_kernels;
    if (kernels->nkernels > CONTROL_MAX_KERNELS)
        return session_set_verdict(out, V_CE, "the file has %u kernels, which is too many",
                                   kernels->nkernels);
    int fd = write_kernels_file(kernels, &e);
    if (fd < 0) return session_set_verdict(out, V_IE, "%s", e.text);
    snprintf(o->device, sizeof o->device, "%s", s->o.gpu ? "gpu" : s->o.device->name);
    o->is_gpu = s->o.gpu != NULL, o->workers = s->o.workers, o->nkernels = kernels->nkernels,
    o->ncode = kernels->ncode, o->nimages = 1, o->has_client = 1;
    o->ndevices = s->ex->devices;
    if (s->o.gpu) o->pool_bytes = s->o.gpu->pool_bytes;
    if (!o->workers) o->workers = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    memcpy(o->image_digest[0], s->build->image, HASH_HEX_SIZE);
    bool ok = session_request(s, CONTROL_OPEN, host_timeout_seconds + (s->o.gpu ? 60 : 0), &q, fd,
                              &p, out);
    close(fd);
    return ok ? V_AC : out->verdict;
}

/* ---- starting ---- */

static bool start_host(struct session *s, struct err *e) {
    char host[PATH_MAX];
    paths_component("hostproc", host);
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
                   .memory_bytes = (uint64_t)HOST_MEMORY_MIB << 20,
                   .address_bytes = 96ull << 30, /* 64 GiB are reserved for device addresses */
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
    if (s->jail) device_process_close_client_fds(s->device);
    return s->jail;
}

static bool start_device(struct session *s, struct err *e) {
    struct device_process_options o = {
        .device = s->o.device, .gpu = s->o.gpu, .workers = s->o.workers};
    s->device = device_process_start(&o, e);
    return s->device;
}

/* The object did not load: all later cases get the same verdict. */
static enum verdict explain_not_ready(struct session *s, const struct control_outcome *o,
                                      struct case_run *out) {
    struct jail_result r = {0};
    session_stop(s, o->end_reason == SERVER_CLOSED ? 1 : 0, &r);
    if (o->end_reason == SERVER_DEADLINE)
        session_set_verdict(
            out, V_TLE, "loading the program took more than %.0f s; does a constructor not return?",
            host_timeout_seconds);
    else if (o->end_reason == SERVER_LIMIT)
        session_set_verdict(out, V_RTE,
                            "the program issued too many device calls before its entry was called");
    else if (o->end_reason == SERVER_CLOSED) session_verdict_from_host(out, &r);
    else if (o->call_state == WB_NO_OBJECT)
        session_set_verdict(out, V_CE, "the compiled file does not load: %s", o->text);
    else
        session_set_verdict(
            out, V_RTE,
            "the host code sent the device server a malformed message before its entry was called");
    jail_result_free(&r);
    s->load_verdict = out->verdict;
    buf_puts(&s->load_message, buf_str(&out->message));
    s->is_finished = true;
    return out->verdict;
}

/* Loading the device code failed: an internal error if the simulated GPU does not support it, else
 * a run-time error. */
static enum verdict explain_module_error(struct session *s, const struct control_outcome *o,
                                         struct case_run *out) {
    s->is_finished = true;
    bool is_unsupported = !strcmp(server_error_name(o->error), "cudaErrorNotSupported");
    s->load_verdict = is_unsupported ? V_IE : V_RTE;
    buf_printf(&s->load_message,
               is_unsupported ? "the simulated GPU can't run this: %s"
                              : "the device code does not load: %s",
               o->reason);
    return session_set_verdict(out, s->load_verdict, "%s", buf_str(&s->load_message));
}

/* Waits for ptxas, which runs while the processes start. If ptxas rejects the code, nothing is
 * loaded. */
static enum verdict wait_for_ptxas(struct session *s, struct case_run *out) {
    const struct ptxas *p = s->ptxas =
        s->o.finish_ptxas ? s->o.finish_ptxas(s->o.user) : s->o.ptxas_result;
    if (!p || (!p->refused && !p->failed)) return V_AC;
    s->is_finished = true;
    s->load_verdict = p->refused ? V_CE : V_IE;
    buf_printf(&s->load_message, p->refused ? "ptxas rejects the device code:\n%s" : "%s",
               buf_str(&p->text));
    return session_set_verdict(out, s->load_verdict, "%s", buf_str(&s->load_message));
}

enum verdict session_start(struct session *s, struct case_run *out) {
    struct err e = {0};
    struct control_request q = {0};
    struct control_reply p;
    if (s->start_count++ >= MAX_RESTARTS) s->is_finished = true;
    s->load_verdict = V_AC;
    if (!start_device(s, &e) || !start_host(s, &e)) {
        session_stop_quietly(s);
        return session_set_verdict(out, V_IE, "%s", e.text);
    }
    if (wait_for_ptxas(s, out) != V_AC) return session_stop_quietly(s), out->verdict;
    if (open_device(s, out) != V_AC) return out->verdict;
    if (!session_request(s, CONTROL_WAIT_READY, host_timeout_seconds, &q, -1, &p, out))
        return out->verdict;
    if (p.outcome.end_reason != SERVER_CALL_FAILED || p.outcome.call_state != WB_READY)
        return explain_not_ready(s, &p.outcome, out);
    /* Any other failed call comes from a constructor and does not matter here. */
    bool is_load_call =
        !strcmp(p.outcome.call_name, "module_load") || !strcmp(p.outcome.call_name, "upload");
    return p.outcome.error && is_load_call ? explain_module_error(s, &p.outcome, out) : V_AC;
}

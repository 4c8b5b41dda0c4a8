/* session.c — see session.h. How verdicts come about:
 *
 *   host process     died: its jail says how (SEC, TLE, OLE, crash = RTE); not back in time: TLE
 *   device process   died or lied: by what it did (MLE, TLE, SEC, RTE)
 *   recording        entry missing or object not loadable: CE; device code we cannot run: IE, never the student's loss
 *   replay           a fault: RTE with the simulator's report; budget or deadline: TLE; a sanitizer's finding: RTE
 *   comparison       WA, with the first wrong elements; a CUDA call that failed while recording is told along with it
 *                    and makes it RTE, because it is the likely cause
 *   our own failures IE
 *
 * Inputs and outputs lie in a memory file that the device process maps: the simulator works on its pages. What is compared
 * is a copy, and inputs are drawn where the device process cannot reach them. */
#include "grader/grade/session.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/grade/device_process.h"
#include "grader/grade/ptxas.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOG_LIMIT = 8 << 10, MAX_RESTARTS = 3, HOST_MEMORY = 512 /* MiB */ };
static const double host_seconds = 4; /* for loading, and for one call of the entry */

/* The memory file of a case: the box, then each buffer, from a page of its own on. */
struct share {
    int fd; /* -1 = none */
    uint8_t *bytes;
    uint64_t size, offset[EX_ARGS];
};

struct session {
    const struct exercise *ex;
    const struct build *build;
    struct session_options o;
    const struct ptxas *ptxas;     /* once known */
    struct device_process *device; /* NULL until the first case, and after the host process died */
    struct jail *jail;
    struct problem problem;
    struct share share;
    uint64_t address[EX_ARGS];   /* of each argument's own buffer */
    struct control_reply record; /* what recording gave */
    bool recorded;
    struct tally tally;
    struct buf log;
    size_t printed; /* bytes of the jail's output already in the log */
    unsigned starts;
    bool finished;
    char compiled_by[64];
    /* Of a submission that does not load: the verdict of every case. */
    enum verdict stuck;
    struct buf stuck_message;
};

/* ---- ends of the host process ---- */

static enum verdict tell(struct case_run *out, enum verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum verdict tell(struct case_run *out, enum verdict v, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&out->message, format, ap);
    va_end(ap);
    return out->verdict = v;
}

/* An allocation that failed ends a C++ program by an exception that nobody catches; the library says which. */
static bool ran_out(const struct jail_result *r) {
    return r->signal == SIGABRT && r->output.size && strstr(buf_str(&r->output), "std::bad_alloc");
}

static enum verdict tell_signal(struct case_run *out, int signal) {
    const char *hint = signal == SIGSEGV || signal == SIGBUS
                           ? "\nDevice pointers can't be followed on the host: only kernels may read or "
                             "write what they point to."
                           : "";
    return tell(out, V_RTE, "the host code crashed: %s%s", strsignal(signal), hint);
}

static enum verdict tell_end(struct case_run *out, const struct jail_result *r) {
    switch (r->end) {
    case JAIL_VIOLATION:
        return tell(out, V_SEC, "the host code made a system call that an entry has no use for; the jail stopped it");
    case JAIL_MEMORY: return tell(out, V_MLE, "the host code used more memory than its processes together may");
    case JAIL_TIMEOUT: return tell(out, V_TLE, "the host code did not return within its time limit");
    case JAIL_OUTPUT: return tell(out, V_OLE, "the host code printed more than 1 MiB");
    case JAIL_SIGNALLED:
        if (ran_out(r))
            return tell(out, V_MLE, "the host code asked for more memory than the %d MiB that it has", HOST_MEMORY);
        return tell_signal(out, r->signal);
    case JAIL_EXITED:
        return tell(out, V_RTE, "the host process ended with exit status %d instead of returning from the entry",
                    r->code);
    case JAIL_BROKEN: break;
    }
    return tell(out, V_IE, "%s", r->why);
}

static void read_log(struct session *s) {
    struct buf fresh = {0};
    if (!s->jail || s->log.size > LOG_LIMIT) return;
    s->printed = jail_output(s->jail, s->printed, LOG_LIMIT, &fresh);
    text_clean(&s->log, buf_str(&fresh), fresh.size, LOG_LIMIT);
    buf_free(&fresh);
}

/* Ends both processes; `seconds` is the grace that a host process which is on its way out gets. */
static void stop(struct session *s, double seconds, struct jail_result *r) {
    read_log(s);
    device_process_close(s->device);
    s->device = NULL;
    if (s->jail) jail_wait(s->jail, seconds, r);
    s->jail = NULL;
    s->printed = 0;
}

static void stop_quietly(struct session *s) {
    struct jail_result r = {0};
    stop(s, 0, &r);
    jail_result_free(&r);
}

/* ---- the device process ---- */

/* Why it gave no answer, as a verdict. It is gone then: the next case starts another one. */
static enum verdict tell_device(struct session *s, enum device_end end, double seconds, struct case_run *out) {
    char fate[256];
    snprintf(fate, sizeof fate, "%s", device_process_fate(s->device));
    stop_quietly(s);
    s->recorded = false;
    switch (end) {
    case DEVICE_MEMORY:
        return tell(out, V_MLE, "the simulated GPU used up its memory over this device code, and was stopped");
    case DEVICE_LATE: return tell(out, V_TLE, "the device did not answer within %.0f s, and was stopped", seconds);
    case DEVICE_ATTACK: return tell(out, V_SEC, "the device process made %s; the jail stopped it", fate);
    case DEVICE_CRASHED: return tell(out, V_RTE, "the device process crashed over this device code: %s", fate);
    case DEVICE_LIED: return tell(out, V_RTE, "the device process sent what is no answer");
    default: return tell(out, V_IE, "%s", fate);
    }
}

static int watched(const struct session *s) { return s->jail ? jail_pollfd(s->jail) : -1; }

/* True with an answer; else the verdict is in `out`. */
static bool ask(struct session *s, enum control_op op, double seconds, struct control_request *q, int fd,
                struct control_reply *p, struct case_run *out) {
    q->op = op, q->seconds = seconds;
    enum device_end end = device_process_ask(s->device, q, fd, watched(s), p);
    if (end == DEVICE_ANSWERED) return true;
    tell_device(s, end, seconds, out);
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct control_kernel *)a)->name, ((const struct control_kernel *)b)->name);
}

/* What ptxas said of each kernel, by the digest of its name, sorted; as a memory file. */
static int kernels_file(const struct ptxas *p, struct err *e) {
    struct control_kernel *k = xcalloc(p->n + 1, sizeof *k);
    for (unsigned i = 0; i < p->n; i++) {
        struct hash h;
        hash_start(&h);
        hash_text(&h, p->kernels[i].name);
        hash_hex(&h, k[i].name);
        k[i].registers = p->kernels[i].registers, k[i].spill_bytes = p->kernels[i].spill_bytes;
    }
    qsort(k, p->n, sizeof *k, by_name);
    size_t bytes = p->n * sizeof *k;
    int fd = server_shared_memory("kernels", bytes ? bytes : 1, e);
    if (fd >= 0 && pwrite(fd, k, bytes, 0) != (ssize_t)bytes) {
        err_set(e, ERR_SYSTEM, "cannot write %zu bytes of shared memory", bytes);
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
    if (known->n > CONTROL_KERNELS) return tell(out, V_CE, "%u kernels in one file", known->n);
    int fd = kernels_file(known, &e);
    if (fd < 0) return tell(out, V_IE, "%s", e.text);
    snprintf(o->device, sizeof o->device, "%s", s->o.gpu ? "gpu" : s->o.device->name);
    o->gpu = s->o.gpu != NULL, o->workers = s->o.workers, o->kernels = known->n, o->images = 1, o->client = 1;
    if (s->o.gpu) o->pool_bytes = s->o.gpu->pool_bytes;
    if (!o->workers) o->workers = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    memcpy(o->image[0], s->build->image, HASH_HEX);
    bool ok = ask(s, CONTROL_OPEN, host_seconds + (s->o.gpu ? 60 : 0), &q, fd, &p, out);
    close(fd);
    return ok ? V_AC : out->verdict;
}

/* ---- starting ---- */

static bool start_host(struct session *s, struct err *e) {
    char host[PATH_MAX];
    snprintf(host, sizeof host, "%s/libexec/hostproc", book_build());
    if (!file_exists(host)) return err_set(e, ERR_SYSTEM, "%s is missing; run `make`", host);
    const char *argv[] = {"/hostproc", "/work/submission.so", NULL};
    const char *env[] = {"LC_ALL=C.UTF-8", WB_ENV_SOCKET "=3", WB_ENV_WINDOW "=4", NULL};
    struct jail_bind binds[16];
    struct jail_file file = {"submission.so", s->build->object.data, s->build->object.size};
    struct jail_fd fds[] = {{device_process_client_socket(s->device), 3}, {device_process_client_window(s->device), 4}};
    struct jail_job job = {.kind = JAIL_HOST,
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
                                      .processes = 8,
                                      .files = 64}};
    const struct jail_bind *system = jail_system_binds(JAIL_HOST, &job.nbinds);
    memcpy(binds, system, job.nbinds * sizeof *system);
    binds[job.nbinds++] = (struct jail_bind){host, "/hostproc", false};
    if (s->build->object.size > job.limits.file_bytes) job.limits.work_bytes += s->build->object.size;
    s->jail = jail_start(&job, e);
    if (s->jail) device_process_client_started(s->device);
    return s->jail;
}

static bool start_device(struct session *s, struct err *e) {
    struct device_process_options o = {.device = s->o.device, .gpu = s->o.gpu, .workers = s->o.workers};
    s->device = device_process_start(&o, e);
    return s->device;
}

/* The object did not load, which later cases cannot change. */
static enum verdict not_ready(struct session *s, const struct control_outcome *o, struct case_run *out) {
    struct jail_result r = {0};
    stop(s, o->end == SERVER_CLOSED ? 1 : 0, &r);
    if (o->end == SERVER_DEADLINE)
        tell(out, V_TLE, "loading the program took more than %.0f s (a constructor that does not return?)",
             host_seconds);
    else if (o->end == SERVER_LIMIT)
        tell(out, V_RTE, "the program issued too many device calls before its entry was called");
    else if (o->end == SERVER_CLOSED) tell_end(out, &r);
    else if (o->state == WB_NO_OBJECT) tell(out, V_CE, "the compiled file does not load: %s", o->text);
    else tell(out, V_RTE, "the host code answered the device server itself, before its entry was called");
    jail_result_free(&r);
    s->stuck = out->verdict;
    buf_puts(&s->stuck_message, buf_str(&out->message));
    s->finished = true;
    return out->verdict;
}

/* Device code that cannot be loaded fails as a call; the reason decides whose fault it is. */
static enum verdict bad_module(struct session *s, const struct control_outcome *o, struct case_run *out) {
    s->finished = true;
    bool ours = !strcmp(server_error_name(o->error), "cudaErrorNotSupported");
    s->stuck = ours ? V_IE : V_RTE;
    buf_printf(&s->stuck_message, ours ? "the simulated GPU can't run this: %s" : "the device code does not load: %s",
               o->why);
    return tell(out, s->stuck, "%s", buf_str(&s->stuck_message));
}

/* ptxas works while the processes start; what it refuses is not loaded. */
static enum verdict wait_for_ptxas(struct session *s, struct case_run *out) {
    const struct ptxas *p = s->ptxas = s->o.finish ? s->o.finish(s->o.user) : s->o.registers;
    if (!p || (!p->refused && !p->failed)) return V_AC;
    s->finished = true;
    s->stuck = p->refused ? V_CE : V_IE;
    buf_printf(&s->stuck_message, p->refused ? "ptxas refuses the device code:\n%s" : "%s", buf_str(&p->text));
    return tell(out, s->stuck, "%s", buf_str(&s->stuck_message));
}

static enum verdict start(struct session *s, struct case_run *out) {
    struct err e = {0};
    struct control_request q = {0};
    struct control_reply p;
    if (s->starts++ >= MAX_RESTARTS) s->finished = true;
    s->stuck = V_AC;
    if (!start_device(s, &e) || !start_host(s, &e)) {
        stop_quietly(s);
        return tell(out, V_IE, "%s", e.text);
    }
    if (wait_for_ptxas(s, out) != V_AC) return stop_quietly(s), out->verdict;
    if (open_device(s, out) != V_AC) return out->verdict;
    if (!ask(s, CONTROL_READY, host_seconds, &q, -1, &p, out)) return out->verdict;
    if (p.outcome.end != SERVER_CALL || p.outcome.state != WB_READY) return not_ready(s, &p.outcome, out);
    /* Another call that failed by then is a constructor's affair. */
    bool loading = !strcmp(p.outcome.call, "module_load") || !strcmp(p.outcome.call, "upload");
    return p.outcome.error && loading ? bad_module(s, &p.outcome, out) : V_AC;
}

/* ---- recording ---- */

static bool is_own_buffer(const struct session *s, unsigned i) {
    return s->ex->args[i].role != EX_SCALAR && s->problem.op[i].owner == (int)i;
}

static void unshare(struct session *s) {
    if (s->share.bytes) munmap(s->share.bytes, s->share.size);
    if (s->share.fd >= 0) close(s->share.fd);
    s->share = (struct share){.fd = -1};
}

static bool make_share(struct session *s, struct err *e) {
    const uint64_t page = 65536; /* a multiple of every machine's */
    unshare(s);
    s->share.size = CONTROL_BOX;
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        if (!is_own_buffer(s, i)) continue;
        s->share.offset[i] = s->share.size;
        s->share.size += (s->problem.op[i].bytes + page - 1) / page * page;
    }
    s->share.fd = server_shared_memory("case", s->share.size, e);
    if (s->share.fd < 0) return false;
    void *p = mmap(NULL, s->share.size, PROT_READ | PROT_WRITE, MAP_SHARED, s->share.fd, 0);
    if (p == MAP_FAILED) return err_set(e, ERR_SYSTEM, "cannot map %llu bytes", (unsigned long long)s->share.size);
    s->share.bytes = p;
    return true;
}

/* The case's buffers, in the order of the arguments; `index` says which argument's is which. */
static bool lay_out(struct session *s, struct case_run *out) {
    struct control_request q = {0};
    struct control_reply p;
    struct control_buffers *b = &q.u.buffers;
    struct err e = {0};
    if (!make_share(s, &e)) return tell(out, V_IE, "%s", e.text), false;
    b->file_bytes = s->share.size;
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        if (!is_own_buffer(s, i)) continue;
        struct control_buffer *c = &b->buffer[b->n++];
        *c = (struct control_buffer){.bytes = s->problem.op[i].bytes, .offset = s->share.offset[i]};
        snprintf(c->name, sizeof c->name, "%s", s->ex->args[i].name);
    }
    if (!ask(s, CONTROL_BUFFERS, host_seconds, &q, s->share.fd, &p, out)) return false;
    if (p.outcome.error)
        return tell(out, V_MLE, "the program's own device variables leave no room: %s", p.outcome.why), false;
    for (unsigned i = 0, n = 0; i < s->ex->nargs; i++)
        if (is_own_buffer(s, i)) s->address[i] = p.address[n++];
    return true;
}

/* The device address of argument i. */
static uint64_t address(const struct session *s, unsigned i) {
    return s->address[s->problem.op[i].owner] + s->problem.op[i].offset;
}

static unsigned wire_type(enum ex_type t) {
    static const unsigned types[] = {[EX_I8] = WB_I8,   [EX_U8] = WB_U8,   [EX_I32] = WB_I32, [EX_U32] = WB_U32,
                                     [EX_I64] = WB_I64, [EX_U64] = WB_U64, [EX_F32] = WB_F32, [EX_F64] = WB_F64};
    return types[t];
}

static void make_args(const struct session *s, struct wb_arg *args) {
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        const struct ex_arg *a = &s->ex->args[i];
        args[i] = (struct wb_arg){.type = a->role == EX_SCALAR ? wire_type(a->type) : WB_PTR};
        if (a->role == EX_SCALAR) memcpy(&args[i].value, s->problem.op[i].before, s->problem.op[i].bytes);
        else args[i].value = address(s, i);
    }
}

static enum verdict not_recorded(struct session *s, const struct control_outcome *o, struct case_run *out) {
    if (o->end == SERVER_CALL && o->state == WB_NO_ENTRY) {
        s->finished = true;
        s->stuck = V_CE;
        buf_printf(&s->stuck_message, "the file exports no function `%s`: is it there, and is it extern \"C\"?%s%s",
                   book_entry(s->ex), o->text[0] ? "\n" : "", o->text);
        return tell(out, V_CE, "%s", buf_str(&s->stuck_message));
    }
    struct jail_result r = {0};
    bool closed = o->end == SERVER_CLOSED;
    stop(s, closed ? 1 : 0, &r);
    if (o->end == SERVER_LIMIT)
        tell(out, V_RTE, "the entry issued too many device calls or launches, or copied too much: %s", o->why);
    else if (closed) tell_end(out, &r);
    else if (o->end == SERVER_CALL) tell(out, V_RTE, "the host code answered the device server itself, wrongly");
    else tell(out, V_TLE, "the host code did not return within %.0f s", host_seconds);
    jail_result_free(&r);
    if (out->verdict == V_SEC || out->verdict == V_TLE || out->verdict == V_OLE) s->finished = true;
    return out->verdict;
}

/* The case's buffers, and what the entry does with them. */
static enum verdict record(struct session *s, struct case_run *out) {
    struct control_request q = {0};
    if (!lay_out(s, out)) return out->verdict;
    make_args(s, q.u.record.args);
    q.u.record.nargs = s->ex->nargs;
    snprintf(q.u.record.entry, sizeof q.u.record.entry, "%s", book_entry(s->ex));
    if (!ask(s, CONTROL_RECORD, host_seconds, &q, -1, &s->record, out)) return out->verdict;
    const struct control_outcome *o = &s->record.outcome;
    if (o->end != SERVER_CALL || o->state != WB_RETURNED) return not_recorded(s, o, out);
    s->recorded = true;
    /* A launch that was refused is an error even where the result happens to be right. */
    if (o->error && !strcmp(o->call, "launch"))
        return tell(out, V_RTE, "the launch failed: %s (%s)\n%s", server_error_name(o->error),
                    server_error_text(o->error), o->why);
    return V_AC;
}

/* ---- replaying ---- */

static void add_range(struct session *s, struct control_replay *r, unsigned argument, enum server_content content) {
    const struct operand *o = &s->problem.op[argument];
    unsigned buffer = 0;
    for (int k = 0; k < o->owner; k++) buffer += is_own_buffer(s, (unsigned)k);
    memcpy(s->share.bytes + s->share.offset[o->owner] + o->offset, o->before, o->bytes);
    r->range[r->ranges++] =
        (struct control_range){.buffer = buffer, .content = content, .offset = o->offset, .bytes = o->bytes};
}

/* Puts what was drawn into the memory file. `outputs`: what was drawn for them, too; without, they hold anything. Random bits
 * stand in an output, and reading them counts as reading what was never written; inputs inside an output come last. */
static void write_inputs(struct session *s, struct control_replay *r, bool outputs) {
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        bool output = s->ex->args[i].role == EX_OUT;
        if (!is_own_buffer(s, i) || !s->problem.op[i].bytes || (output && !outputs)) continue;
        add_range(s, r, i, output ? SERVER_POISON : SERVER_WRITTEN);
    }
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        const struct operand *o = &s->problem.op[i];
        if (s->ex->args[i].role == EX_SCALAR || o->owner == (int)i || !o->bytes) continue;
        if (s->ex->args[o->owner].role == EX_OUT && s->ex->args[i].role != EX_OUT) add_range(s, r, i, SERVER_WRITTEN);
    }
}

static void read_back(struct session *s) {
    for (unsigned i = 0; i < s->ex->nargs; i++)
        if (is_own_buffer(s, i) && s->problem.op[i].bytes)
            memcpy(s->problem.op[i].after, s->share.bytes + s->share.offset[i], s->problem.op[i].bytes);
}

static void tell_reports(const struct tally *t, struct case_run *out) {
    for (unsigned i = 0; i < t->nreports && i < 3; i++) {
        buf_printf(&out->message, "%s%s: %s", out->message.size ? "\n" : "", sim_fault_name(t->reports[i].fault),
                   t->reports[i].text);
        if (t->reports[i].count > 1)
            buf_printf(&out->message, " (%llu times)", (unsigned long long)t->reports[i].count);
    }
}

static enum verdict tell_fault(const struct session *s, const struct case_plan *plan, const struct control_outcome *o,
                               struct case_run *out) {
    enum sim_fault f = s->tally.fault;
    tell_reports(&s->tally, out);
    if (f == SIM_FAULT_BUDGET || f == SIM_FAULT_TIME || o->end == SERVER_DEADLINE) {
        if (!out->message.size)
            tell(out, V_TLE, "the launches did not end within %.0f s on the simulated GPU", plan->seconds);
        return out->verdict = V_TLE;
    }
    if (!out->message.size) tell(out, V_RTE, "%s: %s", server_error_name(o->fault), server_error_text(o->fault));
    return out->verdict = V_RTE;
}

/* Did the recording do anything? If not, why it comes out wrong is plain. */
static void explain_wrong(const struct session *s, const struct control_outcome *recorded, struct case_run *out) {
    if (recorded->error) {
        out->verdict = V_RTE;
        buf_printf(&out->message, "\nThe call to `%s` had failed: %s (%s)%s%s", recorded->call,
                   server_error_name(recorded->error), server_error_text(recorded->error), recorded->why[0] ? ": " : "",
                   recorded->why);
    } else if (!s->record.launches)
        buf_puts(&out->message,
                 "\nThe entry launched no kernel, and results have to be computed on the device. (Inputs are drawn "
                 "anew after the entry has returned; its launches are run again with them.)");
}

static void draw(struct session *s, unsigned index, unsigned round, bool outputs) {
    struct ex_rng rng;
    char what[256];
    snprintf(what, sizeof what, "%s buffers", book_id(s->ex));
    problem_rng_start(&rng, s->o.seed, what, index, round);
    problem_draw_buffers(&s->problem, &rng, outputs);
}

/* Which blocks are sampled follows from the seed, which no submission knows. */
static uint64_t sample_key(const struct session *s, unsigned index) {
    struct ex_rng rng;
    problem_rng_start(&rng, s->o.seed, "sampled blocks", index, 0);
    return ex_random(&rng);
}

/* From a copy: the device process may still write into the box. */
static bool take_box(struct session *s, const struct control_reply *p, bool first) {
    struct buf box = {0}, log = {0};
    buf_add(&box, s->share.bytes, p->tally_bytes);
    tally_free(&s->tally);
    bool ok = tally_unpack(&s->tally, box.data, box.size);
    buf_free(&box);
    buf_add(&log, s->share.bytes + CONTROL_BOX - CONTROL_LOG, p->log_bytes);
    if (ok && first && s->log.size < LOG_LIMIT) text_clean(&s->log, buf_str(&log), log.size, LOG_LIMIT);
    buf_free(&log);
    snprintf(s->compiled_by, sizeof s->compiled_by, "%s", p->compiled_by);
    return ok;
}

/* Runs the recording on fresh inputs; the tally is in `s`, outputs in `after`. */
static bool replay(struct session *s, const struct case_plan *plan, unsigned round, struct control_reply *p,
                   struct case_run *out) {
    struct control_request q = {0};
    struct control_replay *r = &q.u.replay;
    bool whole = !plan->sample_warps; /* of a sample, no output is compared */
    draw(s, plan->index, round, whole);
    write_inputs(s, r, whole);
    r->instructions = plan->instructions, r->sanitize = plan->sanitize, r->timing = !plan->sanitize;
    r->sample_warps = plan->sample_warps, r->read_back = whole;
    if (plan->sample_warps) r->sample_key = sample_key(s, plan->index);
    if (!ask(s, CONTROL_REPLAY, plan->seconds, &q, -1, p, out)) return false;
    if (!take_box(s, p, round == 0)) return tell_device(s, DEVICE_LIED, plan->seconds, out), false;
    if (whole) read_back(s);
    return true;
}

static enum verdict replay_once(struct session *s, const struct case_plan *plan, unsigned round, struct case_run *out) {
    struct control_reply p;
    if (!replay(s, plan, round, &p, out)) return out->verdict;
    const struct control_outcome *o = &p.outcome;
    if (o->fault || s->tally.fault != SIM_FAULT_NONE || o->end == SERVER_DEADLINE) return tell_fault(s, plan, o, out);
    if (s->tally.nreports) return tell_reports(&s->tally, out), out->verdict = V_RTE;
    if (plan->sample_warps) return V_AC;
    problem_solve(&s->problem);
    if (problem_compare(&s->problem, &out->message)) return V_AC;
    out->verdict = V_WA;
    explain_wrong(s, &s->record.outcome, out);
    return out->verdict;
}

/* Device memory that ran out explains whatever came of it. */
static enum verdict out_of_memory(const struct control_outcome *recorded, enum verdict v, struct case_run *out) {
    bool ran_out = recorded->error && !strcmp(server_error_name(recorded->error), "cudaErrorMemoryAllocation");
    if (!ran_out || (v != V_WA && v != V_RTE)) return v;
    return tell(out, V_MLE, "%sThe call to `%s` had failed: %s", out->message.size ? "\n" : "", recorded->call,
                recorded->why);
}

static enum verdict record_and_replay(struct session *s, const struct case_plan *plan, struct case_run *out) {
    enum verdict v = record(s, out);
    for (unsigned round = 0; round < plan->rounds && v == V_AC; round++) v = replay_once(s, plan, round, out);
    if (!s->recorded) return v;
    s->tally.other_writes = s->record.writes;
    if (!s->o.gpu) tally_copied(&s->tally, s->o.device, (double)s->record.copied_bytes);
    return out_of_memory(&s->record.outcome, v, out);
}

/* Opens the problem, draws its scalars, starts the processes. False: the verdict is in `out`. */
static bool begin(struct session *s, const struct ex_case *c, unsigned index, struct case_run *out) {
    struct err e = {0};
    struct ex_rng rng;
    *out = (struct case_run){.verdict = V_AC};
    s->recorded = false;
    if (s->stuck != V_AC) return tell(out, s->stuck, "%s", buf_str(&s->stuck_message)), false;
    if (!problem_open(&s->problem, s->ex, c, &e))
        return tell(out, V_IE, "the exercise's description: %s", e.text), false;
    if (!s->device && start(s, out) != V_AC) return false;
    problem_rng_start(&rng, s->o.seed, book_id(s->ex), index, ~0u);
    problem_draw_scalars(&s->problem, &rng);
    return true;
}

void session_case(struct session *s, const struct ex_case *c, const struct case_plan *plan, struct case_run *out) {
    if (begin(s, c, plan->index, out)) out->verdict = record_and_replay(s, plan, out);
    session_release(s);
    out->tally = s->tally;
    s->tally = (struct tally){0};
}

/* ---- measuring ---- */

enum verdict session_prepare(struct session *s, const struct ex_case *c, unsigned index, struct case_run *out) {
    return begin(s, c, index, out) ? record(s, out) : out->verdict;
}

double session_round(struct session *s, unsigned index, unsigned round) {
    struct control_request q = {0};
    struct control_reply p;
    struct case_run out = {0};
    if (!s->recorded) return -1;
    draw(s, index, round, true);
    write_inputs(s, &q.u.replay, true);
    bool ok = ask(s, CONTROL_ROUND, 10, &q, -1, &p, &out);
    if (ok) snprintf(s->compiled_by, sizeof s->compiled_by, "%s", p.compiled_by);
    session_case_free(&out);
    return ok ? p.seconds : -1;
}

void session_release(struct session *s) {
    s->recorded = false;
    unshare(s);
    problem_close(&s->problem);
}

const char *session_compiled_by(const struct session *s) { return s->compiled_by; }

/* ---- the rest ---- */

struct session *session_open(const struct exercise *ex, const struct build *b, const struct session_options *o,
                             struct err *e) {
    if (ex->nargs > EX_ARGS) return err_set(e, ERR_INTERNAL, "%s: more than %d arguments", ex->name, EX_ARGS), NULL;
    struct session *s = xcalloc(1, sizeof *s);
    s->ex = ex, s->build = b, s->o = *o;
    s->share.fd = -1;
    s->stuck = V_AC;
    return s;
}

bool session_finished(const struct session *s) { return s->finished; }

void session_log(struct session *s, struct buf *out) {
    read_log(s);
    text_clean(out, buf_str(&s->log), s->log.size, LOG_LIMIT);
}

void session_close(struct session *s) {
    if (!s) return;
    stop_quietly(s);
    unshare(s);
    buf_free(&s->log);
    buf_free(&s->stuck_message);
    tally_free(&s->tally);
    free(s);
}

void session_case_free(struct case_run *r) {
    buf_free(&r->message);
    tally_free(&r->tally);
}

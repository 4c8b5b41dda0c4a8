/* session.c — see session.h. How verdicts come about:
 *
 *   host process     died: its jail says how (SEC, TLE, OLE, crash = RTE); not back in time: TLE
 *   recording        entry missing or object not loadable: CE; device code we cannot run: IE, never the student's loss
 *   replay           a fault: RTE with the simulator's report; budget or deadline: TLE; a sanitizer's finding: RTE
 *   comparison       WA, with the first wrong elements; a CUDA call that failed while recording is told along with it
 *                    and makes it RTE, because it is the likely cause
 *   our own failures IE */
#include "grader/grade/session.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/server/backend_gpu.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_LIMIT = 8 << 10, MAX_RESTARTS = 3, HOST_MEMORY = 512 /* MiB */ };
static const double host_seconds = 4; /* for loading, and for one call of the entry */

struct session {
    const struct exercise *ex;
    const struct build *build;
    struct session_options o;
    struct server *server; /* NULL until the first case, and after the host process died */
    struct jail *jail;
    struct problem problem;
    struct recording *recording;
    struct tally tally;
    struct buf log;
    size_t printed; /* bytes of the jail's output already in the log */
    unsigned starts;
    bool finished, fresh;
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

/* Ends the host process; `seconds` is the grace that a process which is on its way out gets. */
static void stop(struct session *s, double seconds, struct jail_result *r) {
    read_log(s);
    server_close(s->server);
    s->server = NULL;
    if (s->jail) jail_wait(s->jail, seconds, r);
    s->jail = NULL;
    s->printed = 0;
}

static void stop_quietly(struct session *s) {
    struct jail_result r = {0};
    stop(s, 0, &r);
    jail_result_free(&r);
}

/* ---- starting ---- */

/* The simulator learns a kernel's registers when it has launched it once; `fresh` says that this was the first time,
 * so that a run whose occupancy counts is repeated. */
static void give_registers(struct session *s, const struct server_launch *l) {
    const struct ptxas *p = s->o.registers;
    struct sim_kernel_info info;
    sim_kernel_info(l->launch->kernel, &info);
    for (unsigned i = 0; p && i < p->n; i++) {
        bool known = p->kernels[i].registers == info.registers && p->kernels[i].spill_bytes == info.spill_bytes;
        if (strcmp(p->kernels[i].name, l->kernel) || known) continue;
        sim_set_registers(l->launch->kernel, p->kernels[i].registers, p->kernels[i].spill_bytes);
        s->fresh = true;
    }
}

static void launched(void *user, const struct server_launch *l) {
    struct session *s = user;
    if (s->o.gpu) {
        s->tally.launches++, s->tally.seconds += l->result->seconds;
        return;
    }
    give_registers(s, l);
    tally_add(&s->tally, s->o.device, l);
}

static bool start_host(struct session *s, struct err *e) {
    char host[PATH_MAX];
    snprintf(host, sizeof host, "%s/libexec/hostproc", book_build());
    if (!file_exists(host)) return err_set(e, ERR_SYSTEM, "%s is missing; run `make`", host);
    const char *argv[] = {"/hostproc", "/work/submission.so", NULL};
    const char *env[] = {"LC_ALL=C.UTF-8", WB_ENV_SOCKET "=3", WB_ENV_WINDOW "=4", NULL};
    struct jail_bind binds[16];
    struct jail_file file = {"submission.so", s->build->object.data, s->build->object.size};
    struct jail_fd fds[] = {{server_client_socket(s->server), 3}, {server_client_window(s->server), 4}};
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
    if (s->jail) server_client_started(s->server);
    return s->jail;
}

static bool start_server(struct session *s, struct err *e) {
    struct sim_options sim = {.device = s->o.device, .workers = s->o.workers, .sanitize = true};
    struct backend *b = s->o.gpu ? backend_gpu_open(s->o.gpu, e) : backend_sim_open(&sim, e);
    if (!b) return false;
    struct server_options o = {
        .grading = true, .max_messages = 1 << 20, .max_launches = 1 << 16, .user = s, .launched = launched};
    s->server = server_open(b, &o, e);
    return s->server;
}

/* The object did not load, which later cases cannot change. */
static enum verdict not_ready(struct session *s, const struct server_outcome *o, struct case_run *out) {
    struct jail_result r = {0};
    stop(s, o->end == SERVER_CLOSED ? 1 : 0, &r);
    if (o->end == SERVER_DEADLINE)
        tell(out, V_TLE, "loading the program took more than %.0f s (a constructor that does not return?)",
             host_seconds);
    else if (o->end == SERVER_LIMIT)
        tell(out, V_RTE, "the program issued too many device calls before its entry was called");
    else if (o->end == SERVER_CLOSED) tell_end(out, &r);
    else if (o->state == WB_NO_OBJECT) tell(out, V_CE, "the compiled file does not load: %s", o->text);
    else tell(out, V_IE, "the host process did not start as it should (state %d) %s", o->state, o->text);
    jail_result_free(&r);
    s->stuck = out->verdict;
    buf_puts(&s->stuck_message, buf_str(&out->message));
    s->finished = true;
    return out->verdict;
}

/* Device code that cannot be loaded fails as a call; the reason decides whose fault it is. */
static enum verdict bad_module(struct session *s, const struct server_outcome *o, struct case_run *out) {
    s->finished = true;
    bool ours = !strcmp(server_error_name(o->error), "cudaErrorNotSupported");
    s->stuck = ours ? V_IE : V_RTE;
    buf_printf(&s->stuck_message, ours ? "the simulated GPU can't run this: %s" : "the device code does not load: %s",
               o->why);
    return tell(out, s->stuck, "%s", buf_str(&s->stuck_message));
}

static enum verdict start(struct session *s, struct case_run *out) {
    struct err e = {0};
    if (s->starts++ >= MAX_RESTARTS) s->finished = true;
    s->stuck = V_AC;
    if (!start_server(s, &e) || !start_host(s, &e)) {
        stop_quietly(s);
        return tell(out, V_IE, "%s", e.text);
    }
    struct server_outcome o;
    if (!server_wait_ready(s->server, server_now() + host_seconds, jail_pollfd(s->jail), &o))
        return not_ready(s, &o, out);
    return o.error ? bad_module(s, &o, out) : V_AC;
}

/* ---- recording ---- */

static bool lay_out(struct session *s, struct err *e) {
    struct server_buffer buffers[EX_ARGS];
    unsigned n = 0;
    for (unsigned i = 0; i < s->ex->nargs; i++)
        if (s->ex->args[i].role != EX_SCALAR && s->problem.op[i].owner == (int)i)
            buffers[n++] = (struct server_buffer){s->ex->args[i].name, s->problem.op[i].bytes};
    return server_buffers(s->server, buffers, n, e);
}

/* The device address of argument i. */
static uint64_t address(const struct session *s, unsigned i) {
    unsigned n = 0;
    for (int k = 0; k < s->problem.op[i].owner; k++)
        n += s->ex->args[k].role != EX_SCALAR && s->problem.op[k].owner == k;
    return server_buffer_address(s->server, n) + s->problem.op[i].offset;
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

static enum verdict not_recorded(struct session *s, const struct server_outcome *o, struct case_run *out) {
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
    else tell(out, V_TLE, "the host code did not return within %.0f s", host_seconds);
    jail_result_free(&r);
    if (out->verdict == V_SEC || out->verdict == V_TLE || out->verdict == V_OLE) s->finished = true;
    return out->verdict;
}

/* ---- replaying ---- */

/* `outputs`: what was drawn for them, too; without, they hold anything. */
static bool write_inputs(struct session *s, bool outputs) {
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        const struct operand *o = &s->problem.op[i];
        if (s->ex->args[i].role == EX_SCALAR || o->owner != (int)i || !o->bytes) continue;
        if (s->ex->args[i].role == EX_OUT && !outputs) continue;
        if (!server_write(s->server, address(s, i), o->before, o->bytes)) return false;
        /* Random bits stand in an output, and reading them counts as reading what was never written. */
        if (s->ex->args[i].role == EX_OUT && !s->o.gpu)
            sim_forget(backend_sim(server_backend(s->server)), address(s, i), o->bytes);
    }
    for (unsigned i = 0; i < s->ex->nargs; i++) { /* inputs inside an output */
        const struct operand *o = &s->problem.op[i];
        bool inside = o->owner != (int)i && s->ex->args[o->owner].role == EX_OUT && s->ex->args[i].role != EX_OUT;
        if (s->ex->args[i].role == EX_SCALAR || !inside || !o->bytes) continue;
        if (!server_write(s->server, address(s, i), o->before, o->bytes)) return false;
    }
    return true;
}

static bool read_back(struct session *s) {
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        const struct operand *o = &s->problem.op[i];
        if (s->ex->args[i].role == EX_SCALAR || o->owner != (int)i || !o->bytes) continue;
        if (!server_read(s->server, address(s, i), o->after, o->bytes)) return false;
    }
    return true;
}

static void tell_reports(const struct tally *t, struct case_run *out) {
    for (unsigned i = 0; i < t->nreports && i < 3; i++) {
        buf_printf(&out->message, "%s%s: %s", out->message.size ? "\n" : "", sim_fault_name(t->reports[i].fault),
                   t->reports[i].text);
        if (t->reports[i].count > 1)
            buf_printf(&out->message, " (%llu times)", (unsigned long long)t->reports[i].count);
    }
}

static enum verdict tell_fault(const struct session *s, const struct case_plan *plan, const struct server_outcome *o,
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
static void explain_wrong(const struct session *s, const struct server_outcome *recorded, struct case_run *out) {
    if (recorded->error) {
        out->verdict = V_RTE;
        buf_printf(&out->message, "\nThe call to `%s` had failed: %s (%s)%s%s", recorded->call,
                   server_error_name(recorded->error), server_error_text(recorded->error), recorded->why[0] ? ": " : "",
                   recorded->why);
    } else if (!recording_launches(s->recording))
        buf_puts(&out->message,
                 "\nThe entry launched no kernel, and results have to be computed on the device. (Inputs are drawn "
                 "anew after the entry has returned; its launches are run again with them.)");
}

static enum verdict replay_once(struct session *s, const struct case_plan *plan, const struct server_outcome *recorded,
                                unsigned round, struct case_run *out) {
    struct err e = {0};
    struct server_outcome o;
    struct ex_rng rng;
    char what[256];
    snprintf(what, sizeof what, "%s buffers", book_id(s->ex));
    problem_rng_start(&rng, s->o.seed, what, plan->index, round);
    problem_draw_buffers(&s->problem, &rng, !plan->sample_warps);
    tally_free(&s->tally);
    if (!server_restart(s->server, &e) || !write_inputs(s, !plan->sample_warps)) /* of a sample, none is compared */
        return tell(out, V_IE, "%s", e.text[0] ? e.text : "cannot write the inputs");
    if (!server_replay(s->server, s->recording, server_now() + plan->seconds, &o, &e))
        return tell(out, V_IE, "%s", e.text);
    struct buf printed = {0};
    server_take_output(s->server, &printed);
    if (round == 0 && s->log.size < LOG_LIMIT) text_clean(&s->log, buf_str(&printed), printed.size, LOG_LIMIT);
    buf_free(&printed);
    if (o.fault || s->tally.fault != SIM_FAULT_NONE || o.end == SERVER_DEADLINE) return tell_fault(s, plan, &o, out);
    if (s->tally.nreports) return tell_reports(&s->tally, out), out->verdict = V_RTE;
    if (plan->sample_warps) return V_AC;
    if (!read_back(s)) return tell(out, V_IE, "cannot read the outputs back");
    problem_solve(&s->problem);
    if (problem_compare(&s->problem, &out->message)) return V_AC;
    out->verdict = V_WA;
    explain_wrong(s, recorded, out);
    return out->verdict;
}

/* Device memory that ran out explains whatever came of it. */
static enum verdict out_of_memory(const struct server_outcome *recorded, enum verdict v, struct case_run *out) {
    bool ran_out = recorded->error && !strcmp(server_error_name(recorded->error), "cudaErrorMemoryAllocation");
    if (!ran_out || (v != V_WA && v != V_RTE)) return v;
    return tell(out, V_MLE, "%sThe call to `%s` had failed: %s", out->message.size ? "\n" : "", recorded->call,
                recorded->why);
}

static void set_simulator(struct backend *b, const struct case_plan *plan) {
    sim_set_sanitize(backend_sim(b), plan->sanitize);
    sim_set_sample(backend_sim(b), plan->sample_warps);
    backend_sim_set_timing(b, !plan->sanitize);
    backend_sim_set_instructions(b, plan->instructions);
}

static enum verdict record_and_replay(struct session *s, const struct case_plan *plan, struct case_run *out) {
    struct err e = {0};
    struct wb_arg args[EX_ARGS];
    struct server_outcome o;
    if (!lay_out(s, &e)) return tell(out, V_IE, "%s", e.text);
    make_args(s, args);
    if (!server_record(s->server, book_entry(s->ex), args, s->ex->nargs, server_now() + host_seconds,
                       jail_pollfd(s->jail), &s->recording, &o))
        return not_recorded(s, &o, out);
    /* A launch that was refused is an error even where the result happens to be right. */
    if (o.error && !strcmp(o.call, "launch"))
        return tell(out, V_RTE, "the launch failed: %s (%s)\n%s", server_error_name(o.error),
                    server_error_text(o.error), o.why);
    if (!s->o.gpu) set_simulator(server_backend(s->server), plan);
    enum verdict v = V_AC;
    for (unsigned round = 0; round < plan->rounds && v == V_AC; round++) {
        s->fresh = false;
        v = replay_once(s, plan, &o, round, out);
        if (v == V_AC && plan->occupancy && s->fresh) v = replay_once(s, plan, &o, round, out);
    }
    s->tally.other_writes = recording_writes(s->recording);
    if (!s->o.gpu) tally_copied(&s->tally, s->o.device, (double)recording_copied(s->recording));
    return out_of_memory(&o, v, out);
}

void session_case(struct session *s, const struct ex_case *c, const struct case_plan *plan, struct case_run *out) {
    *out = (struct case_run){.verdict = V_AC};
    struct err e = {0};
    struct ex_rng rng;
    if (s->stuck != V_AC) {
        tell(out, s->stuck, "%s", buf_str(&s->stuck_message));
        return;
    }
    if (!problem_open(&s->problem, s->ex, c, &e)) tell(out, V_IE, "the exercise's description: %s", e.text);
    else if (s->server || start(s, out) == V_AC) {
        problem_rng_start(&rng, s->o.seed, book_id(s->ex), plan->index, ~0u);
        problem_draw_scalars(&s->problem, &rng);
        out->verdict = record_and_replay(s, plan, out);
    }
    recording_free(s->recording);
    s->recording = NULL;
    problem_close(&s->problem);
    tally_sort(&s->tally);
    out->tally = s->tally;
    s->tally = (struct tally){0};
}

/* ---- measuring ---- */

enum verdict session_prepare(struct session *s, const struct ex_case *c, unsigned index, struct case_run *out) {
    struct err e = {0};
    struct ex_rng rng;
    struct wb_arg args[EX_ARGS];
    struct server_outcome o;
    *out = (struct case_run){.verdict = V_AC};
    if (!problem_open(&s->problem, s->ex, c, &e)) return tell(out, V_IE, "the exercise's description: %s", e.text);
    if (!s->server && start(s, out) != V_AC) return out->verdict;
    problem_rng_start(&rng, s->o.seed, book_id(s->ex), index, ~0u);
    problem_draw_scalars(&s->problem, &rng);
    if (!lay_out(s, &e)) return tell(out, V_IE, "%s", e.text);
    make_args(s, args);
    if (!server_record(s->server, book_entry(s->ex), args, s->ex->nargs, server_now() + host_seconds,
                       jail_pollfd(s->jail), &s->recording, &o))
        return not_recorded(s, &o, out);
    if (o.error && !strcmp(o.call, "launch"))
        return tell(out, V_RTE, "the launch failed: %s (%s)\n%s", server_error_name(o.error),
                    server_error_text(o.error), o.why);
    return V_AC;
}

double session_round(struct session *s, unsigned index, unsigned round) {
    struct err e = {0};
    struct server_outcome o;
    struct ex_rng rng;
    char what[256];
    int error = 0;
    struct backend *b = server_backend(s->server);
    snprintf(what, sizeof what, "%s buffers", book_id(s->ex));
    problem_rng_start(&rng, s->o.seed, what, index, round);
    problem_draw_buffers(&s->problem, &rng, true);
    bool ready =
        server_restart(s->server, &e) && write_inputs(s, true) && backend_gpu_flush(b) && backend_gpu_begin(b, &e);
    if (!ready) return -1;
    bool ok = server_replay(s->server, s->recording, server_now() + 10, &o, &e);
    double seconds = backend_gpu_end(b, &error);
    if (!ok || o.fault || error || o.end == SERVER_DEADLINE) return -1;
    return recording_launches(s->recording) ? seconds : 0;
}

void session_release(struct session *s) {
    recording_free(s->recording);
    s->recording = NULL;
    problem_close(&s->problem);
}

struct backend *session_backend(struct session *s) {
    return s->server ? server_backend(s->server) : NULL;
}

/* ---- the rest ---- */

struct session *session_open(const struct exercise *ex, const struct build *b, const struct session_options *o,
                             struct err *e) {
    if (ex->nargs > EX_ARGS) return err_set(e, ERR_INTERNAL, "%s: more than %d arguments", ex->name, EX_ARGS), NULL;
    struct session *s = xcalloc(1, sizeof *s);
    s->ex = ex, s->build = b, s->o = *o;
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
    buf_free(&s->log);
    buf_free(&s->stuck_message);
    tally_free(&s->tally);
    free(s);
}

void session_case_free(struct case_run *r) {
    buf_free(&r->message);
    tally_free(&r->tally);
}

/* session.c — runs the cases of a session; see session.h. Verdicts come about as follows:
 *
 *   host process    it ended: SEC, MLE, TLE, OLE or RTE, as its sandbox reports; it is late: TLE
 *   device process  it ended, is late or sent a malformed reply: MLE, TLE, SEC or RTE
 *   recording       entry missing or object not loadable: CE; device code we can't run: IE, which
 *                   costs the student nothing
 *   replay          fault: RTE with the simulator's report; deadlock, budget or deadline: TLE;
 *                   finding of the sanitizer: RTE
 *   comparison      WA with the first wrong elements; RTE if a CUDA call failed while recording,
 *                   because that is the likely cause
 *   grader          our own failures: IE
 *
 * Inputs and outputs lie in a memory file that the device process maps, so that the simulator works
 * on its pages. The grader draws inputs where the device process can't reach them, and compares a
 * copy of what it wrote. */
#include "grader/grade/session_internal.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/grade/ptxas.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- recording ---- */

/* Opens the case's memory file and sends its buffers to the device process, in the order of the
 * arguments. */
static bool setup_buffers(struct session *s, struct case_run *out) {
    struct control_request q = {0};
    struct control_reply p;
    struct control_buffers *b = &q.u.buffers;
    struct err e = {0};
    if (!s->is_prefetched) {
        case_memory_close(&s->case_memory);
        if (!case_memory_open(&s->case_memory, &s->problem, &e))
            return session_set_verdict(out, V_IE, "%s", e.text), false;
        case_memory_set_dontfork(&s->case_memory);
    }
    b->file_bytes = s->case_memory.size;
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        if (!problem_owns_buffer(&s->problem, i)) continue;
        struct control_buffer *c = &b->buffer[b->n++];
        *c = (struct control_buffer){.bytes = s->problem.arg[i].bytes,
                                     .offset = s->case_memory.offset[i],
                                     .is_host_memory = s->ex->args[i].is_pinned_host,
                                     .device = s->ex->args[i].device};
        snprintf(c->name, sizeof c->name, "%s", s->ex->args[i].name);
    }
    if (!session_request(s, CONTROL_BUFFERS, host_timeout_seconds, &q, s->case_memory.fd, &p, out))
        return false;
    if (p.outcome.error)
        return session_set_verdict(out, V_MLE,
                                   "the program's device variables leave too little memory: %s",
                                   p.outcome.reason),
               false;
    for (unsigned i = 0, n = 0; i < s->ex->nargs; i++)
        if (problem_owns_buffer(&s->problem, i)) s->address[i] = p.address[n++];
    return true;
}

/* Returns the device address of argument i. */
static uint64_t address(const struct session *s, unsigned i) {
    return s->address[s->problem.arg[i].owner] + s->problem.arg[i].offset;
}

static unsigned wire_type(enum ex_type t) {
    static const unsigned types[] = {
        [EX_I8] = WB_I8,   [EX_U8] = WB_U8,   [EX_I32] = WB_I32, [EX_U32] = WB_U32,
        [EX_I64] = WB_I64, [EX_U64] = WB_U64, [EX_F32] = WB_F32, [EX_F64] = WB_F64};
    return types[t];
}

static void make_args(const struct session *s, struct wb_arg *args) {
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        const struct ex_arg *a = &s->ex->args[i];
        args[i] = (struct wb_arg){.type = a->role == EX_SCALAR ? wire_type(a->type) : WB_PTR};
        if (a->role == EX_SCALAR)
            memcpy(&args[i].value, s->problem.arg[i].initial, s->problem.arg[i].bytes);
        else
            args[i].value = address(s, i),
            args[i].host_bytes = a->is_pinned_host ? s->problem.arg[i].bytes : 0;
    }
}

/* ---- failed calls ---- */

static bool is_launch(const struct control_outcome *recording) {
    return !strcmp(recording->call_name, "launch");
}

/* Writes the failed call: source line, name, CUDA's error and the reason. */
static void write_failed_call(const struct control_outcome *recording, struct buf *out) {
    if (recording->line) buf_printf(out, "%s:%u: ", recording->file, recording->line);
    if (is_launch(recording)) buf_puts(out, "the launch failed");
    else if (recording->api_call[0]) buf_printf(out, "%s failed", recording->api_call);
    else buf_printf(out, "a call failed (message `%s`)", recording->call_name);
    buf_printf(out, ": %s (%s)%s%s", server_error_name(recording->error),
               server_error_text(recording->error), recording->reason[0] ? ": " : "",
               recording->reason);
}

static bool has_failed_call(const struct case_run *out) {
    return strstr(buf_str(&out->message), " failed: cuda");
}

/* Puts the failed call before the errors that it caused. */
static void prepend_failed_call(const struct control_outcome *recording, struct case_run *out) {
    struct buf text = {0};
    write_failed_call(recording, &text);
    if (out->message.size) buf_printf(&text, "\n%s", buf_str(&out->message));
    buf_free(&out->message);
    out->message = text;
}

/* ---- recording ---- */

static enum verdict explain_not_recorded(struct session *s, const struct control_outcome *o,
                                         struct case_run *out) {
    if (o->end_reason == SERVER_CALL_FAILED && o->call_state == WB_NO_ENTRY) {
        s->is_finished = true;
        s->load_verdict = V_CE;
        buf_printf(&s->load_message,
                   "the file exports no function `%s`. Is it defined, and is it extern \"C\"?%s%s",
                   book_entry(s->ex), o->text[0] ? "\n" : "", o->text);
        return session_set_verdict(out, V_CE, "%s", buf_str(&s->load_message));
    }
    struct jail_result r = {0};
    bool closed = o->end_reason == SERVER_CLOSED;
    session_stop(s, closed ? 1 : 0, &r);
    if (o->end_reason == SERVER_LIMIT)
        session_set_verdict(
            out, V_RTE,
            "the entry issued too many device calls or launches, or copied too much: %s",
            o->reason);
    else if (closed) {
        session_verdict_from_host(out, &r);
        if (o->error && out->verdict == V_RTE) prepend_failed_call(o, out);
    } else if (o->end_reason == SERVER_CALL_FAILED)
        session_set_verdict(out, V_RTE, "the host code sent the device server a malformed message");
    else {
        session_write_host_position(&r, &out->message);
        session_set_verdict(out, V_TLE, "the host code did not return within %.0f s",
                            host_timeout_seconds);
    }
    jail_result_free(&r);
    if (out->verdict == V_SEC || out->verdict == V_TLE || out->verdict == V_OLE)
        s->is_finished = true;
    return out->verdict;
}

/* Sets up the case's buffers, calls the entry and records what it issues. */
static enum verdict record_case(struct session *s, struct case_run *out) {
    struct control_request q = {0};
    if (!setup_buffers(s, out)) return out->verdict;
    make_args(s, q.u.record.args);
    q.u.record.nargs = s->ex->nargs;
    snprintf(q.u.record.entry, sizeof q.u.record.entry, "%s", book_entry(s->ex));
    if (!session_request(s, CONTROL_RECORD, host_timeout_seconds, &q, -1, &s->recording, out))
        return out->verdict;
    const struct control_outcome *o = &s->recording.outcome;
    if (o->end_reason != SERVER_CALL_FAILED || o->call_state != WB_RETURNED)
        return explain_not_recorded(s, o, out);
    s->is_recorded = true;
    /* A refused launch is an error even if the result happens to be correct. */
    if (o->error && is_launch(o)) return write_failed_call(o, &out->message), out->verdict = V_RTE;
    return V_AC;
}

/* ---- replaying ---- */

static enum verdict set_fault_verdict(const struct session *s, const struct case_plan *plan,
                                      const struct control_outcome *o, struct case_run *out) {
    enum sim_fault f = s->launch_stats.fault;
    session_write_reports(s, out);
    out->host_too_slow =
        f == SIM_FAULT_TIMEOUT || (f == SIM_FAULT_NONE && o->end_reason == SERVER_DEADLINE);
    if (out->host_too_slow)
        buf_printf(&out->message,
                   "%sthis machine was too slow: the simulated GPU did not finish within %.0f s",
                   out->message.size ? "\n" : "", plan->timeout_seconds);
    out->is_deadlocked = f == SIM_FAULT_DEADLOCK;
    if (f == SIM_FAULT_INSN_BUDGET || out->is_deadlocked || out->host_too_slow)
        return out->verdict = V_TLE;
    if (!out->message.size)
        session_set_verdict(out, V_RTE, "%s: %s", server_error_name(o->fault),
                            server_error_text(o->fault));
    return out->verdict = V_RTE;
}

/* Adds the likely cause of a wrong answer: a failed call, or no kernel launch at all. */
static void explain_wrong_answer(const struct session *s, const struct control_outcome *recording,
                                 struct case_run *out) {
    if (recording->error) {
        out->verdict = V_RTE;
        prepend_failed_call(recording, out);
    } else if (!s->recording.launches)
        buf_puts(&out->message,
                 "\nThe entry launched no kernel. Compute the results on the device: the grader "
                 "draws the inputs after the entry has returned, then runs its launches on them.");
}

/* Draws the inputs of a round, unless they were prefetched (first round only). */
static void draw_inputs(struct session *s, unsigned index, unsigned round, bool outputs) {
    s->is_prefetched = s->is_prefetched && round == 0 && outputs;
    if (!s->is_prefetched) inputs_draw_round(&s->problem, s->o.seed, index, round, outputs);
}

/* Returns the key that selects the sampled blocks. It follows from the seed, which no submission
 * knows. */
static uint64_t sample_key(const struct session *s, unsigned index) {
    struct ex_rng rng;
    problem_rng_init(&rng, s->o.seed, "sampled blocks", index, 0);
    return ex_random(&rng);
}

/* Reads statistics and log from a copy of the result area, because the device process may still
 * write to it. */
static bool read_result_area(struct session *s, const struct control_reply *p, bool first) {
    struct buf result_bytes = {0}, log = {0};
    buf_add(&result_bytes, s->case_memory.bytes, p->stats_bytes);
    launch_stats_free(&s->launch_stats);
    bool ok = launch_stats_unpack(&s->launch_stats, result_bytes.data, result_bytes.size);
    buf_free(&result_bytes);
    buf_add(&log, s->case_memory.bytes + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES, p->log_bytes);
    if (ok && first && s->log.size < LOG_LIMIT)
        text_clean(&s->log, buf_str(&log), log.size, LOG_LIMIT);
    buf_free(&log);
    snprintf(s->compiled_by, sizeof s->compiled_by, "%s", p->compiled_by);
    return ok;
}

/* Returns true for the second round of a case, which acts as a second call: it keeps the module's
 * variables, so that an accumulator without a reset fails, and runs interdependent blocks in
 * reverse order, so that code that relies on their order fails. */
static bool is_second_call(const struct session *s, unsigned round) {
    return round == 1 && !s->o.gpu;
}

/* Several graders may share a GPU. The lease gives one of them exclusive use, for measurements and
 * for checks, which would disturb measurements. */
static void acquire_gpu_lease(const struct session *s) {
    while (s->o.gpu && s->o.gpu_lease_fd > 0 && flock(s->o.gpu_lease_fd, LOCK_EX) < 0 &&
           errno == EINTR) {}
}

static void release_gpu_lease(const struct session *s) {
    if (s->o.gpu && s->o.gpu_lease_fd > 0) flock(s->o.gpu_lease_fd, LOCK_UN);
}

static bool request_with_lease(struct session *s, enum control_op op, double seconds,
                               struct control_request *q, struct control_reply *p,
                               struct case_run *out) {
    acquire_gpu_lease(s);
    bool ok = session_request(s, op, seconds, q, -1, p, out);
    release_gpu_lease(s);
    return ok;
}

/* What a replay finds of the one before it. */
enum call_kind {
    FIRST_CALL,
    SECOND_CALL,         /* variables as the last call left them, and the changed block order */
    SECOND_CALL_IN_ORDER /* variables alone */
};

/* Runs the recording on the inputs of a round; leaves the statistics in `s` and the outputs in
 * `actual`. */
static bool replay(struct session *s, const struct case_plan *plan, unsigned round,
                   enum call_kind kind, struct control_reply *p, struct case_run *out) {
    struct control_request q = {0};
    struct control_replay *r = &q.u.replay;
    bool full_grid = !plan->sample_warps; /* outputs of a sample are not compared */
    draw_inputs(s, plan->index, round, full_grid);
    case_memory_fill(&s->case_memory, &s->problem, full_grid, s->is_prefetched, r);
    r->instruction_budget = plan->max_instructions, r->sanitize = plan->sanitize,
    r->timing = plan->timing, r->watch = plan->watch, r->empty_caches = s->o.empty_caches;
    r->sample_warps = plan->sample_warps, r->read_back = full_grid,
    r->keep_variables = kind != FIRST_CALL;
    r->reverse_block_order = kind == SECOND_CALL;
    if (plan->sample_warps) r->sample_key = sample_key(s, plan->index);
    if (plan->watch) r->watch_key = sample_key(s, plan->index);
    bool are_released = !s->is_prefetched && inputs_release(&s->problem);
    if (!request_with_lease(s, CONTROL_REPLAY, plan->timeout_seconds, &q, p, out)) return false;
    if (are_released) draw_inputs(s, plan->index, round, full_grid);
    if (!read_result_area(s, p, round == 0))
        return session_verdict_from_device(s, DEVICE_PROTOCOL_ERROR, plan->timeout_seconds, out),
               false;
    return true;
}

/* Compares the outputs, in the process that drew the case if there is one; V_IE if that died. */
static enum verdict compare(struct session *s, struct case_run *out) {
    bool is_correct = false;
    if (s->is_prefetched && !input_prefetch_compare(s->o.prefetch, &is_correct, &out->message))
        return session_set_verdict(out, V_IE, "the process that compares the outputs has died");
    if (s->is_prefetched) return is_correct ? V_AC : V_WA;
    case_memory_read_back(&s->case_memory, &s->problem, s->o.same_inputs);
    problem_compute_expected(&s->problem);
    return problem_compare(&s->problem, &out->message) ? V_AC : V_WA;
}

static enum verdict replay_once(struct session *s, const struct case_plan *plan, unsigned round,
                                enum call_kind kind, struct case_run *out) {
    struct control_reply p;
    if (!replay(s, plan, round, kind, &p, out)) return out->verdict;
    const struct control_outcome *o = &p.outcome;
    if (o->fault || s->launch_stats.fault != SIM_FAULT_NONE || o->end_reason == SERVER_DEADLINE)
        return set_fault_verdict(s, plan, o, out);
    session_log_notes(s);
    if (session_has_findings(s)) return session_write_reports(s, out), out->verdict = V_RTE;
    if (plan->sample_warps) return V_AC;
    enum verdict v = compare(s, out);
    if (v != V_WA) return v;
    out->verdict = V_WA;
    explain_wrong_answer(s, &s->recording.outcome, out);
    session_explain_by_notes(s, out);
    return out->verdict;
}

/* If device memory ran out, that explains a wrong answer or an error: the verdict becomes MLE. */
static enum verdict memory_verdict(const struct control_outcome *recording, enum verdict v,
                                   struct case_run *out) {
    bool is_oom = recording->error &&
                  !strcmp(server_error_name(recording->error), "cudaErrorMemoryAllocation");
    if (!is_oom || (v != V_WA && v != V_RTE)) return v;
    if (!has_failed_call(out)) prepend_failed_call(recording, out);
    return out->verdict = V_MLE;
}

/* Names the failed call: a kernel may fault because that call returned no texture, address or size.
 */
static void explain_fault(const struct control_outcome *recording, struct case_run *out) {
    if (recording->error && !has_failed_call(out)) prepend_failed_call(recording, out);
}

static bool is_call_correct(struct session *s, const struct case_plan *plan, unsigned round,
                            enum call_kind kind) {
    struct case_run again = {.verdict = V_AC};
    bool correct = s->device && replay_once(s, plan, round, kind, &again) == V_AC;
    session_case_free(&again);
    return correct;
}

static const char one_set_passed[] =
    "One set of random inputs gave a correct result, the next one did not:";

/* Returns what made a second call fail; its inputs are other ones than the first call's, and so is
 * its state. A deadline leaves no time for other calls. */
static const char *second_call_note(struct session *s, const struct case_plan *plan, unsigned round,
                                    bool may_run) {
    if (!may_run)
        return "The first call was correct, the second one was not. It found device variables as "
               "the first call left them, blocks that see each other's writes ran in reverse "
               "order, and __activemask() found half of the lanes in divergent code.";
    if (!is_call_correct(s, plan, round, FIRST_CALL)) return one_set_passed;
    if (!is_call_correct(s, plan, round, SECOND_CALL_IN_ORDER))
        return "The first call was correct, the second one was not. It found device variables as "
               "the first call left them.";
    return "The first call was correct, the second one was not. In it, blocks that see each "
           "other's writes ran in reverse order, and __activemask() found half of the lanes in "
           "divergent code; a GPU may do either.";
}

/* Puts the reason before the errors of a later round. */
static void explain_later_round(struct session *s, const struct case_plan *plan, unsigned round,
                                struct case_run *out) {
    bool may_run = out->verdict == V_WA || out->verdict == V_RTE || out->is_deadlocked;
    struct buf text = {0};
    buf_printf(&text, "%s\n",
               is_second_call(s, round) ? second_call_note(s, plan, round, may_run)
                                        : one_set_passed);
    buf_add(&text, out->message.data, out->message.size);
    buf_free(&out->message);
    out->message = text;
}

static void log_leaks(struct session *s) {
    static const char note[] = "note: the entry leaks device memory at each call: ";
    if (!s->recording.leak_text[0] || strstr(buf_str(&s->log), note)) return;
    buf_printf(&s->log, "%s%s\n", note, s->recording.leak_text);
}

/* Notes a failed call that did no harm to the results. */
static void log_failed_call(struct session *s) {
    struct buf text = {0};
    if (s->recording.outcome.error) write_failed_call(&s->recording.outcome, &text);
    if (text.size && !strstr(buf_str(&s->log), buf_str(&text)))
        buf_printf(&s->log, "note: %s\n", buf_str(&text));
    buf_free(&text);
}

static enum verdict record_and_replay(struct session *s, const struct case_plan *plan,
                                      struct case_run *out) {
    enum verdict v = record_case(s, out);
    for (unsigned round = 0; round < plan->rounds && v == V_AC; round++) {
        v = replay_once(s, plan, round, is_second_call(s, round) ? SECOND_CALL : FIRST_CALL, out);
        if (v != V_AC && round) explain_later_round(s, plan, round, out);
    }
    if (!s->is_recorded) return v;
    log_leaks(s);
    if (v == V_AC) log_failed_call(s);
    if (v == V_RTE && strcmp(s->recording.outcome.call_name, "launch"))
        explain_fault(&s->recording.outcome, out);
    s->launch_stats.has_other_writes = s->recording.has_other_writes;
    if (!s->o.gpu)
        launch_stats_add_transfers(&s->launch_stats, s->o.device, &s->recording.transfers);
    return memory_verdict(&s->recording.outcome, v, out);
}

/* Opens the problem, draws its scalars, starts the processes. Returns false with the verdict in
 * `out`. */
static bool begin_case(struct session *s, const struct ex_case *c, unsigned index,
                       struct case_run *out) {
    struct err e = {0};
    *out = (struct case_run){.verdict = V_AC};
    s->is_recorded = s->has_inputs = false;
    if (s->load_verdict != V_AC)
        return session_set_verdict(out, s->load_verdict, "%s", buf_str(&s->load_message)), false;
    s->is_prefetched =
        input_prefetch_take(s->o.prefetch, c, s->o.seed, index, &s->problem, &s->case_memory);
    if (!s->is_prefetched && !problem_open(&s->problem, s->ex, c, &e))
        return session_set_verdict(out, V_IE, "the exercise's test file: %s", e.text), false;
    if (!s->device && session_start(s, out) != V_AC) return false;
    if (!s->is_prefetched) inputs_draw_scalars(&s->problem, s->o.seed, index);
    return true;
}

void session_case(struct session *s, const struct ex_case *c, const struct case_plan *plan,
                  struct case_run *out) {
    if (begin_case(s, c, plan->index, out)) out->verdict = record_and_replay(s, plan, out);
    session_release(s);
    out->launch_stats = s->launch_stats;
    s->launch_stats = (struct launch_stats){0};
}

/* ---- measuring ---- */

enum verdict session_prepare(struct session *s, const struct ex_case *c, unsigned index,
                             struct case_run *out) {
    return begin_case(s, c, index, out) ? record_case(s, out) : out->verdict;
}

static void fill_inputs(struct session *s, unsigned index, unsigned round,
                        struct control_replay *r) {
    if (!s->has_inputs || !s->o.same_inputs) {
        s->replay_inputs = (struct control_replay){0};
        draw_inputs(s, index, round, true);
        case_memory_fill(&s->case_memory, &s->problem, true, false, &s->replay_inputs);
    }
    s->has_inputs = true;
    *r = s->replay_inputs;
}

double session_time_round(struct session *s, unsigned index, unsigned round) {
    struct control_request q = {0};
    struct control_reply p;
    struct case_run out = {0};
    if (!s->is_recorded) return -1;
    fill_inputs(s, index, round, &q.u.replay);
    bool ok = request_with_lease(s, CONTROL_TIMED_REPLAY, 10, &q, &p, &out);
    if (ok) snprintf(s->compiled_by, sizeof s->compiled_by, "%s", p.compiled_by);
    session_case_free(&out);
    return ok ? p.seconds : -1;
}

void session_release(struct session *s) {
    s->is_recorded = s->has_inputs = false;
    case_memory_close(&s->case_memory);
    problem_close(&s->problem);
}

const char *session_compiled_by(const struct session *s) { return s->compiled_by; }

/* ---- the rest ---- */

struct session *session_open(const struct exercise *ex, const struct build *b,
                             const struct session_options *o, struct err *e) {
    if (ex->nargs > EX_ARGS)
        return err_set(e, ERR_INTERNAL, "%s: more than %d arguments", ex->name, EX_ARGS), NULL;
    struct session *s = xcalloc(1, sizeof *s);
    s->ex = ex, s->build = b, s->o = *o;
    s->case_memory.fd = -1;
    s->load_verdict = V_AC;
    return s;
}

bool session_is_finished(const struct session *s) { return s->is_finished; }

void session_label_log(struct session *s, const char *name) {
    struct buf labelled_log = {0};
    session_read_log(s);
    if (s->log.size > s->log_labelled) {
        buf_add(&labelled_log, s->log.data, s->log_labelled);
        buf_printf(&labelled_log, "%s[%s]\n",
                   s->log_labelled && s->log.data[s->log_labelled - 1] != '\n' ? "\n" : "", name);
        buf_add(&labelled_log, s->log.data + s->log_labelled, s->log.size - s->log_labelled);
        buf_free(&s->log);
        s->log = labelled_log;
    }
    s->log_labelled = s->log.size;
}

void session_log(struct session *s, struct buf *out) {
    session_read_log(s);
    text_clean(out, buf_str(&s->log), s->log.size, LOG_LIMIT);
}

void session_close(struct session *s) {
    if (!s) return;
    session_stop_quietly(s);
    case_memory_close(&s->case_memory);
    buf_free(&s->log);
    buf_free(&s->load_message);
    launch_stats_free(&s->launch_stats);
    free(s);
}

void session_case_free(struct case_run *r) {
    buf_free(&r->message);
    launch_stats_free(&r->launch_stats);
}

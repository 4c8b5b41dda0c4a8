/* session.c — see session.h. How verdicts come about:
 *
 *   host process     died: its jail says how (SEC, TLE, OLE, crash = RTE); not back in time: TLE
 *   device process   died or lied: by what it did (MLE, TLE, SEC, RTE)
 *   recording        entry missing or object not loadable: CE; device code we cannot run: IE, never
 * the student's loss replay           a fault: RTE with the simulator's report; budget or deadline:
 * TLE; a sanitizer's finding: RTE comparison       WA, with the first wrong elements; a CUDA call
 * that failed while recording is told along with it and makes it RTE, because it is the likely
 * cause our own failures IE
 *
 * Inputs and outputs lie in a memory file that the device process maps: the simulator works on its
 * pages. What is compared is a copy, and inputs are drawn where the device process cannot reach
 * them. */
#include "grader/grade/session_parts.h"
#include "common/quote.h"
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

/* The case's buffers, in the order of the arguments; `index` says which argument's is which. */
static bool lay_out(struct session *s, struct case_run *out) {
    struct control_request q = {0};
    struct control_reply p;
    struct control_buffers *b = &q.u.buffers;
    struct err e = {0};
    if (!s->ahead) {
        share_close(&s->share);
        if (!share_open(&s->share, &s->problem, &e))
            return session_tell(out, V_IE, "%s", e.text), false;
        share_keep(&s->share);
    }
    b->file_bytes = s->share.size;
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        if (!problem_has_buffer(&s->problem, i)) continue;
        struct control_buffer *c = &b->buffer[b->n++];
        *c = (struct control_buffer){.bytes = s->problem.op[i].bytes,
                                     .offset = s->share.offset[i],
                                     .is_host_memory = s->ex->args[i].host};
        snprintf(c->name, sizeof c->name, "%s", s->ex->args[i].name);
    }
    if (!session_ask(s, CONTROL_BUFFERS, host_seconds, &q, s->share.fd, &p, out)) return false;
    if (p.outcome.error)
        return session_tell(out, V_MLE, "the program's own device variables leave no room: %s",
                            p.outcome.reason),
               false;
    for (unsigned i = 0, n = 0; i < s->ex->nargs; i++)
        if (problem_has_buffer(&s->problem, i)) s->address[i] = p.address[n++];
    return true;
}

/* The device address of argument i. */
static uint64_t address(const struct session *s, unsigned i) {
    return s->address[s->problem.op[i].owner] + s->problem.op[i].offset;
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
            memcpy(&args[i].value, s->problem.op[i].before, s->problem.op[i].bytes);
        else
            args[i].value = address(s, i),
            args[i].host_bytes = a->host ? s->problem.op[i].bytes : 0;
    }
}

static enum verdict not_recorded(struct session *s, const struct control_outcome *o,
                                 struct case_run *out) {
    if (o->end_reason == SERVER_CALL && o->call_state == WB_NO_ENTRY) {
        s->finished = true;
        s->stuck = V_CE;
        buf_printf(&s->stuck_message,
                   "the file exports no function `%s`: is it there, and is it extern \"C\"?%s%s",
                   book_entry(s->ex), o->text[0] ? "\n" : "", o->text);
        return session_tell(out, V_CE, "%s", buf_str(&s->stuck_message));
    }
    struct jail_result r = {0};
    bool closed = o->end_reason == SERVER_CLOSED;
    session_stop(s, closed ? 1 : 0, &r);
    if (o->end_reason == SERVER_LIMIT)
        session_tell(out, V_RTE,
                     "the entry issued too many device calls or launches, or copied too much: %s",
                     o->reason);
    else if (closed) session_tell_end(out, &r);
    else if (o->end_reason == SERVER_CALL)
        session_tell(out, V_RTE, "the host code answered the device server itself, wrongly");
    else session_tell(out, V_TLE, "the host code did not return within %.0f s", host_seconds);
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
    if (!session_ask(s, CONTROL_RECORD, host_seconds, &q, -1, &s->record, out)) return out->verdict;
    const struct control_outcome *o = &s->record.outcome;
    if (o->end_reason != SERVER_CALL || o->call_state != WB_RETURNED)
        return not_recorded(s, o, out);
    s->recorded = true;
    /* A launch that was refused is an error even where the result happens to be right. */
    if (o->error && !strcmp(o->call_name, "launch"))
        return session_tell(out, V_RTE, "the launch failed: %s (%s)\n%s",
                            server_error_name(o->error), server_error_text(o->error), o->reason);
    return V_AC;
}

/* ---- replaying ---- */

/* Of a large buffer, each piece is given back when it is copied, so that it is never there twice.
 */
static void take_out(struct session *s, uint64_t at, void *to, uint64_t bytes) {
    const uint64_t piece = 4 << 20;
    bool large = bytes >= SHARE_LARGE && !s->o.same_inputs;
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = large && bytes - done > piece ? piece : bytes - done;
        memcpy((char *)to + done, s->share.bytes + at + done, n);
        if (large) share_give_back(&s->share, at + done, n);
    }
}

/* A copy, since the device process may still write: what lies in `after` of an input is used as an
 * index, maybe. An input that is as it was costs none: aliases of it point into its `after`, so
 * that all go with it. An output alone in its buffer is compared where it lies: each element is
 * looked at once, and nothing is decided by it but whether this submission is right. */
static void read_back(struct session *s) {
    struct operand *op = s->problem.op;
    for (unsigned i = 0; i < s->ex->nargs; i++) {
        uint8_t *now = s->share.bytes + s->share.offset[i];
        if (!problem_has_buffer(&s->problem, i) || !op[i].bytes) continue;
        if (op[i].put) {
            op[i].after = now, share_touch(now, op[i].bytes);
            continue;
        }
        bool same = !op[i].written && !memcmp(now, op[i].before, op[i].bytes);
        op[i].after = same ? op[i].before : op[i].room;
        if (!same) take_out(s, s->share.offset[i], op[i].after, op[i].bytes);
        else if (op[i].bytes >= SHARE_LARGE && !s->o.same_inputs)
            share_give_back(&s->share, s->share.offset[i], op[i].bytes);
    }
    problem_place_aliases(&s->problem);
}

static void tell_note(const struct sim_report *r, struct buf *out) {
    struct buf text = {0};
    buf_puts(&text, r->text);
    text_demangle(&text);
    buf_printf(out, "%s: %s", sim_fault_name(r->fault), buf_str(&text));
    if (r->count > 1) buf_printf(out, " (%llu times)", (unsigned long long)r->count);
    buf_puts(out, "\n");
    buf_free(&text);
}

/* Of what was found, what is no fault: once for a submission; those that explain a result are for a
 * wrong one. */
static void keep_notes(struct session *s) {
    for (unsigned i = 0; i < s->tally.nreports; i++) {
        const struct sim_report *r = &s->tally.reports[i];
        if (r->fault == SIM_NOTE_REVALIDATED_READ && !strstr(buf_str(&s->log), "note: "))
            tell_note(r, &s->log);
    }
}

static void explain_by_notes(const struct session *s, struct case_run *out) {
    for (unsigned i = 0; i < s->tally.nreports; i++)
        if (s->tally.reports[i].fault == SIM_NOTE_EARLY_EXIT)
            buf_printf(&out->message, "\n%s: %s", sim_fault_name(SIM_NOTE_EARLY_EXIT),
                       s->tally.reports[i].text);
}

static bool has_findings(const struct launch_stats *t) {
    for (unsigned i = 0; i < t->nreports; i++)
        if (!sim_fault_is_note(t->reports[i].fault)) return true;
    return false;
}

/* The line of the submission that a report begins with; 0 if it is of another file. */
static unsigned own_line(const struct session *s, const char *text) {
    size_t n = s->o.file ? strlen(s->o.file) : 0;
    unsigned line = 0;
    if (!n || strncmp(text, s->o.file, n) || sscanf(text + n, ":%u: ", &line) != 1) return 0;
    return line;
}

static void tell_report(const struct session *s, const struct sim_report *r, struct buf *out) {
    struct buf text = {0}, lines = {0};
    unsigned line = own_line(s, r->text);
    buf_puts(&text, r->text);
    if (line) quote_elements(&text, s->o.source->data, s->o.source->size, line);
    if (line && sim_fault_is_hazard(r->fault))
        quote_lines(buf_str(&text), s->o.source->data, s->o.source->size, line, "\n", "", &lines);
    buf_printf(out, "%s: %s", sim_fault_name(r->fault), buf_str(&text));
    if (r->count > 1) buf_printf(out, " (%llu times)", (unsigned long long)r->count);
    buf_puts(out, buf_str(&lines));
    buf_free(&text);
    buf_free(&lines);
}

static void tell_reports(const struct session *s, struct case_run *out) {
    const struct launch_stats *t = &s->tally;
    for (unsigned i = 0, told = 0; i < t->nreports && told < 3; i++) {
        if (sim_fault_is_note(t->reports[i].fault)) continue;
        told++;
        if (out->message.size) buf_puts(&out->message, "\n");
        tell_report(s, &t->reports[i], &out->message);
    }
}

static enum verdict tell_fault(const struct session *s, const struct case_plan *plan,
                               const struct control_outcome *o, struct case_run *out) {
    enum sim_fault f = s->tally.fault;
    tell_reports(s, out);
    out->slow_machine =
        f == SIM_FAULT_TIMEOUT || (f == SIM_FAULT_NONE && o->end_reason == SERVER_DEADLINE);
    if (out->slow_machine)
        buf_printf(
            &out->message,
            "%sthis machine was too slow: %.0f s were not enough to run this on the simulated GPU",
            out->message.size ? "\n" : "", plan->seconds);
    if (f == SIM_FAULT_INSN_BUDGET || out->slow_machine) return out->verdict = V_TLE;
    if (!out->message.size)
        session_tell(out, V_RTE, "%s: %s", server_error_name(o->fault),
                     server_error_text(o->fault));
    return out->verdict = V_RTE;
}

/* A call as the student wrote it, where the server knows its message. */
static void put_call(const char *name, struct buf *out) {
    static const struct {
        const char *message, *words;
    } known[] = {{"read", "The copy to the host"},
                 {"write", "The copy to the device"},
                 {"copy", "The copy"},
                 {"fill", "The call to `cudaMemset`"},
                 {"launch", "The kernel launch"},
                 {"alloc", "The call to `cudaMalloc`"},
                 {"free", "The call to `cudaFree`"},
                 {"sync", "The synchronisation"},
                 {"condition", "The creation of a graph's condition"},
                 {"texture_create", "The creation of a texture or surface object"}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].message)) {
            buf_puts(out, known[i].words);
            return;
        }
    buf_printf(out, "The call to `%s`", name);
}

/* A call that failed comes before what is wrong because of it. */
static void tell_failed_call(const struct control_outcome *recorded, struct case_run *out) {
    struct buf text = {0};
    put_call(recorded->call_name, &text);
    buf_printf(&text, " had failed: %s (%s)%s%s", server_error_name(recorded->error),
               server_error_text(recorded->error), recorded->reason[0] ? ": " : "",
               recorded->reason);
    if (out->message.size) buf_printf(&text, "\n%s", buf_str(&out->message));
    buf_free(&out->message);
    out->message = text;
}

/* Did the recording do anything? If not, why it comes out wrong is plain. */
static void explain_wrong(const struct session *s, const struct control_outcome *recorded,
                          struct case_run *out) {
    if (recorded->error) {
        out->verdict = V_RTE;
        tell_failed_call(recorded, out);
    } else if (!s->record.launches)
        buf_puts(&out->message,
                 "\nThe entry launched no kernel, and results have to be computed on the device. "
                 "(Inputs are drawn "
                 "anew after the entry has returned; its launches are run again with them.)");
}

/* What was drawn ahead stands for the first round, with its outputs and what is wanted of them. */
static void draw(struct session *s, unsigned index, unsigned round, bool outputs) {
    s->ahead = s->ahead && round == 0 && outputs;
    if (!s->ahead) inputs_round(&s->problem, s->o.seed, index, round, outputs);
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
    buf_add(&box, s->share.bytes, p->stats_bytes);
    launch_stats_free(&s->tally);
    bool ok = launch_stats_unpack(&s->tally, box.data, box.size);
    buf_free(&box);
    buf_add(&log, s->share.bytes + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES, p->log_bytes);
    if (ok && first && s->log.size < LOG_LIMIT)
        text_clean(&s->log, buf_str(&log), log.size, LOG_LIMIT);
    buf_free(&log);
    snprintf(s->compiled_by, sizeof s->compiled_by, "%s", p->compiled_by);
    return ok;
}

/* The second round of a case is a second call in a row, which finds the module's variables as the
 * first left them: an accumulator that nobody resets is right once. And of blocks that see each
 * other's writes the later ones get on first: what relies on their order is right once, too. */
static bool is_second_call(const struct session *s, unsigned round) {
    return round == 1 && !s->o.gpu;
}

/* Several graders may share a GPU: whoever measures must be alone on it, and who checks must not
 * disturb. */
static void take_turn(const struct session *s) {
    while (s->o.gpu && s->o.turn > 0 && flock(s->o.turn, LOCK_EX) < 0 && errno == EINTR) {}
}

static void pass_turn(const struct session *s) {
    if (s->o.gpu && s->o.turn > 0) flock(s->o.turn, LOCK_UN);
}

static bool ask_in_turn(struct session *s, enum control_op op, double seconds,
                        struct control_request *q, struct control_reply *p, struct case_run *out) {
    take_turn(s);
    bool ok = session_ask(s, op, seconds, q, -1, p, out);
    pass_turn(s);
    return ok;
}

/* Runs the recording on fresh inputs; the tally is in `s`, outputs in `after`. */
static bool replay(struct session *s, const struct case_plan *plan, unsigned round,
                   struct control_reply *p, struct case_run *out) {
    struct control_request q = {0};
    struct control_replay *r = &q.u.replay;
    bool whole = !plan->sample_warps; /* of a sample, no output is compared */
    draw(s, plan->index, round, whole);
    share_fill(&s->share, &s->problem, whole, s->ahead, r);
    r->instruction_budget = plan->instructions, r->sanitize = plan->sanitize,
    r->timing = plan->timing;
    r->sample_warps = plan->sample_warps, r->read_back = whole,
    r->keep_variables = is_second_call(s, round);
    r->reverse_block_order = r->keep_variables;
    if (plan->sample_warps) r->sample_key = sample_key(s, plan->index);
    if (!ask_in_turn(s, CONTROL_REPLAY, plan->seconds, &q, p, out)) return false;
    if (!take_box(s, p, round == 0))
        return session_tell_device(s, DEVICE_LIED, plan->seconds, out), false;
    if (whole) read_back(s);
    return true;
}

static enum verdict replay_once(struct session *s, const struct case_plan *plan, unsigned round,
                                struct case_run *out) {
    struct control_reply p;
    if (!replay(s, plan, round, &p, out)) return out->verdict;
    const struct control_outcome *o = &p.outcome;
    if (o->fault || s->tally.fault != SIM_FAULT_NONE || o->end_reason == SERVER_DEADLINE)
        return tell_fault(s, plan, o, out);
    keep_notes(s);
    if (has_findings(&s->tally)) return tell_reports(s, out), out->verdict = V_RTE;
    if (plan->sample_warps) return V_AC;
    if (!s->ahead) problem_solve(&s->problem);
    if (problem_compare(&s->problem, &out->message)) return V_AC;
    out->verdict = V_WA;
    explain_wrong(s, &s->record.outcome, out);
    explain_by_notes(s, out);
    return out->verdict;
}

/* Device memory that ran out explains whatever came of it. */
static enum verdict out_of_memory(const struct control_outcome *recorded, enum verdict v,
                                  struct case_run *out) {
    bool ran_out =
        recorded->error && !strcmp(server_error_name(recorded->error), "cudaErrorMemoryAllocation");
    if (!ran_out || (v != V_WA && v != V_RTE)) return v;
    if (!strstr(buf_str(&out->message), " had failed: ")) tell_failed_call(recorded, out);
    return out->verdict = V_MLE;
}

/* A kernel that got no texture, address or size from a call that failed goes wrong by what stood
 * there instead. */
static void explain_fault(const struct control_outcome *recorded, struct case_run *out) {
    if (recorded->error && !strstr(buf_str(&out->message), " had failed: "))
        tell_failed_call(recorded, out);
}

/* Before what is wrong at the second call, that the first one was not. */
static void tell_second_call(struct case_run *out) {
    struct buf text = {0};
    buf_puts(&text, "The first call came out right; the next one, with variables of the device as "
                    "the first left them, "
                    "and with later "
                    "blocks before earlier ones where they see each other's writes, did not.\n");
    buf_add(&text, out->message.data, out->message.size);
    buf_free(&out->message);
    out->message = text;
}

static void note_leaks(struct session *s) {
    static const char note[] = "note: the entry leaves device memory behind at each call: ";
    if (!s->record.leak_text[0] || strstr(buf_str(&s->log), note)) return;
    buf_printf(&s->log, "%s%s\n", note, s->record.leak_text);
}

static enum verdict record_and_replay(struct session *s, const struct case_plan *plan,
                                      struct case_run *out) {
    enum verdict v = record(s, out);
    for (unsigned round = 0; round < plan->rounds && v == V_AC; round++) {
        v = replay_once(s, plan, round, out);
        if (v != V_AC && is_second_call(s, round)) tell_second_call(out);
    }
    if (!s->recorded) return v;
    note_leaks(s);
    if (v == V_RTE && strcmp(s->record.outcome.call_name, "launch"))
        explain_fault(&s->record.outcome, out);
    s->tally.has_other_writes = s->record.has_other_writes;
    if (!s->o.gpu) launch_stats_add_transfers(&s->tally, s->o.device, &s->record.transfers);
    return out_of_memory(&s->record.outcome, v, out);
}

/* Opens the problem, draws its scalars, starts the processes. False: the verdict is in `out`. */
static bool begin(struct session *s, const struct ex_case *c, unsigned index,
                  struct case_run *out) {
    struct err e = {0};
    *out = (struct case_run){.verdict = V_AC};
    s->recorded = s->drawn = false;
    if (s->stuck != V_AC)
        return session_tell(out, s->stuck, "%s", buf_str(&s->stuck_message)), false;
    s->ahead = inputs_take(s->o.ahead, c, s->o.seed, index, &s->problem, &s->share);
    if (!s->ahead && !problem_open(&s->problem, s->ex, c, &e))
        return session_tell(out, V_IE, "the exercise's description: %s", e.text), false;
    if (!s->device && session_start(s, out) != V_AC) return false;
    if (!s->ahead) inputs_scalars(&s->problem, s->o.seed, index);
    return true;
}

void session_case(struct session *s, const struct ex_case *c, const struct case_plan *plan,
                  struct case_run *out) {
    if (begin(s, c, plan->index, out)) out->verdict = record_and_replay(s, plan, out);
    session_release(s);
    out->tally = s->tally;
    s->tally = (struct launch_stats){0};
}

/* ---- measuring ---- */

enum verdict session_prepare(struct session *s, const struct ex_case *c, unsigned index,
                             struct case_run *out) {
    return begin(s, c, index, out) ? record(s, out) : out->verdict;
}

static void give_inputs(struct session *s, unsigned index, unsigned round,
                        struct control_replay *r) {
    if (!s->drawn || !s->o.same_inputs) {
        s->inputs = (struct control_replay){0};
        draw(s, index, round, true);
        share_fill(&s->share, &s->problem, true, false, &s->inputs);
    }
    s->drawn = true;
    *r = s->inputs;
}

double session_round(struct session *s, unsigned index, unsigned round) {
    struct control_request q = {0};
    struct control_reply p;
    struct case_run out = {0};
    if (!s->recorded) return -1;
    give_inputs(s, index, round, &q.u.replay);
    bool ok = ask_in_turn(s, CONTROL_TIMED_REPLAY, 10, &q, &p, &out);
    if (ok) snprintf(s->compiled_by, sizeof s->compiled_by, "%s", p.compiled_by);
    session_case_free(&out);
    return ok ? p.seconds : -1;
}

void session_release(struct session *s) {
    s->recorded = s->drawn = false;
    share_close(&s->share);
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
    s->share.fd = -1;
    s->stuck = V_AC;
    return s;
}

bool session_finished(const struct session *s) { return s->finished; }

void session_label_log(struct session *s, const char *name) {
    struct buf whole = {0};
    session_read_log(s);
    if (s->log.size > s->labelled) {
        buf_add(&whole, s->log.data, s->labelled);
        buf_printf(&whole, "%s[%s]\n",
                   s->labelled && s->log.data[s->labelled - 1] != '\n' ? "\n" : "", name);
        buf_add(&whole, s->log.data + s->labelled, s->log.size - s->labelled);
        buf_free(&s->log);
        s->log = whole;
    }
    s->labelled = s->log.size;
}

void session_log(struct session *s, struct buf *out) {
    session_read_log(s);
    text_clean(out, buf_str(&s->log), s->log.size, LOG_LIMIT);
}

void session_close(struct session *s) {
    if (!s) return;
    session_stop_quietly(s);
    share_close(&s->share);
    buf_free(&s->log);
    buf_free(&s->stuck_message);
    launch_stats_free(&s->tally);
    free(s);
}

void session_case_free(struct case_run *r) {
    buf_free(&r->message);
    launch_stats_free(&r->tally);
}

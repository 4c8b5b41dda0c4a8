/* fuzz_control.c — fuzzes the grader's end of the channel to a device process that a submission
 * has taken over: honest replies for an exercise of 64 floats, changed at places that the input
 * names, are graded and reported like a submission's.
 *
 * Input: for each reply in turn a byte of `enum how`, a byte with the number of changes, and for
 * each change five bytes: where (the reply, the result bytes, their log, a case's buffers), a
 * 16-bit offset in words there, and 16 bits that choose the word. After the end of the input
 * replies are honest; unchanged replies give AC. */
#include "grader/tests/fuzz/fuzz.h"
#include "common/arena.h"
#include "common/exercise.h"
#include "common/paths.h"
#include "grader/grade/device_process.h"
#include "grader/grade/grading_ctx.h"
#include "grader/grade/session_internal.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ELEMENTS = 64, MAX_CHANGES = 16 };
enum reply_fault { FAULT_SHORT = 1, FAULT_DUPLICATE = 2, FAULT_EXTRA_FD = 4, FAULT_NO_REPLY = 8 };

/* ---- the exercise ---- */

static size_t elements(const struct ex_case *c) { return (size_t)c->dim[0]; }
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    for (long i = 0; i < c->dim[0]; i++) ((double *)expected[0])[i] = ((const float *)host[1])[i];
}
static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = elements},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = elements},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32}};
static const struct ex_case cases[] = {{.dim = {ELEMENTS}}};

START_TEST(is_copied) { ex_check_case(&cases[0]); }
END_TEST
START_TEST(few_sectors) {
    ex_require_at_most("global_load_sectors_per_request", 4.5, "a float a lane");
}
END_TEST
START_TEST(few_conflicts) { ex_require_at_most("bank_conflicts", 0, "none"); }
END_TEST
static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_test(correctness, is_copied);
    tcase_add_test(goals, few_sectors);
    tcase_add_test(guards, few_conflicts);
}
static const struct exercise exercise = {.name = "copy",
                                         .chapter = "00-fuzz",
                                         .title = "A copy",
                                         .args = args,
                                         .nargs = EX_COUNT(args),
                                         .cases = cases,
                                         .ncases = 1,
                                         .technique_case = {.dim = {ELEMENTS}},
                                         .timed_case = {.dim = {ELEMENTS}},
                                         .reference = reference,
                                         .points = {20, 50, 30},
                                         .tests = tests};

/* ---- the other end ---- */

struct hostile_device {
    int channel;
    const uint8_t *data;
    size_t size, at;
    uint8_t *memory; /* the case's */
    struct control_buffers buffers;
};

static unsigned next_bytes(struct hostile_device *t, unsigned bytes) {
    unsigned value = 0;
    for (; bytes; bytes--) value = value << 8 | (t->at < t->size ? t->data[t->at++] : 0);
    return value;
}

/* Words at which sums, products and comparisons go wrong; the rest of the 16 bits is put in as it
 * is. */
static uint64_t boundary_value(unsigned choice) {
    static const uint64_t boundary_values[] = {
        ~0ull,
        1ull << 63,
        (1ull << 63) - 1,
        1ull << 32,
        (1ull << 32) - 1,
        1ull << 31,
        (1ull << 31) - 1,
        0x7ff0000000000000,  /* infinity */
        0x7ff8000000000000,  /* not a number */
        0x7fefffffffffffff,  /* DBL_MAX */
        0xbff0000000000000,  /* -1.0 */
        0x1b5b33316d68650a,  /* an escape sequence */
        0x41414141414141c3,  /* text without an end, not UTF-8 */
        0x2f6b726f772f2e2e}; /* ../work/ */
    enum { NVALUES = sizeof boundary_values / sizeof *boundary_values };
    return choice % 32 < NVALUES ? boundary_values[choice % 32] : choice;
}

static void corrupt_reply(struct hostile_device *t, struct control_reply *p) {
    unsigned area = next_bytes(t, 1), offset = next_bytes(t, 2), choice = next_bytes(t, 2);
    uint64_t w = boundary_value(choice), bytes = choice & 0x8000 ? 4 : 8;
    uint8_t *results = t->memory;
    if (area % 4 == 0) memcpy((uint8_t *)p + 4ul * offset % (sizeof *p - 8), &w, bytes);
    else if (!results) return;
    else if (area % 4 == 1)
        memcpy(results + 4ul * offset % (launch_stats_wire_bytes() - 8), &w, bytes);
    else if (area % 4 == 2)
        memcpy(results + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES +
                   offset % (CONTROL_LOG_BYTES - 8),
               &w, bytes);
    else
        memcpy(results + CONTROL_RESULT_BYTES +
                   4ul * offset % (t->buffers.file_bytes - CONTROL_RESULT_BYTES - 8),
               &w, bytes);
}

static void unmap_memory(struct hostile_device *t) {
    if (t->memory) munmap(t->memory, t->buffers.file_bytes);
    t->memory = NULL;
}

static void map_memory(struct hostile_device *t, const struct control_buffers *b, int fd) {
    unmap_memory(t);
    t->buffers = *b;
    if (fd < 0) return;
    void *m = mmap(NULL, b->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) abort();
    t->memory = m;
}

/* What a replay of an honest copy leaves. */
static void replay_copy(struct hostile_device *t, struct control_reply *p) {
    struct launch_stats_line line = {"copy.cu", 3, {0}, {0}};
    struct launch_stats y = {
        .launches = 1, .lines = &line, .nlines = 1, .blocks = 2, .threads = 64, .registers = 8};
    y.occupancy = 1, y.seconds = 2e-6, y.low = 1e-6, y.high = 3e-6;
    y.nkernels = 1, memcpy(y.kernels[0].name, "nothing", 8);
    p->stats_bytes = (uint32_t)launch_stats_pack(&y, t->memory);
    memcpy(t->memory + t->buffers.buffer[0].offset, t->memory + t->buffers.buffer[1].offset,
           t->buffers.buffer[0].bytes);
}

static void make_valid_reply(struct hostile_device *t, const struct control_request *q, int fd,
                             struct control_reply *p) {
    *p = (struct control_reply){
        .version = control_version(), .op = q->op, .serial = q->serial, .ok = 1};
    if (q->op == CONTROL_BUFFERS) map_memory(t, &q->u.buffers, fd);
    for (unsigned i = 0; i < CONTROL_MAX_ARGS; i++) p->address[i] = (i + 1) << 20;
    p->outcome =
        (struct control_outcome){.end_reason = SERVER_CALL_FAILED, .call_state = WB_RETURNED};
    p->launches = 1;
    if (q->op == CONTROL_REPLAY && t->memory) replay_copy(t, p);
}

static void send_reply(struct hostile_device *t, const struct control_reply *p, unsigned fault) {
    size_t bytes = fault & FAULT_SHORT ? next_bytes(t, 2) % sizeof *p : sizeof *p;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } cmsg = {0};
    struct iovec iov = {(void *)p, bytes};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fault & FAULT_EXTRA_FD) {
        m.msg_control = &cmsg, m.msg_controllen = sizeof cmsg;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &t->channel, sizeof t->channel);
    }
    for (unsigned i = 0; i < (fault & FAULT_DUPLICATE ? 2 : 1); i++)
        sendmsg(t->channel, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int receive_request(int channel, struct control_request *q, int *fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } cmsg = {0};
    struct iovec iov = {q, sizeof *q};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cmsg, .msg_controllen = sizeof cmsg};
    *fd = -1;
    ssize_t n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n == sizeof *q;
}

static void *serve(void *user) {
    struct hostile_device *t = user;
    struct control_request q;
    static __thread struct control_reply p;
    for (int fd; receive_request(t->channel, &q, &fd);) {
        unsigned fault = next_bytes(t, 1), changes = next_bytes(t, 1) % (MAX_CHANGES + 1);
        make_valid_reply(t, &q, fd, &p);
        if (fd >= 0) close(fd);
        for (; changes; changes--) corrupt_reply(t, &p);
        if ((fault & 15) == FAULT_NO_REPLY) break;
        send_reply(t, &p, fault);
    }
    unmap_memory(t);
    close(t->channel);
    return NULL;
}

/* ---- the grader ---- */

static void require(bool ok) {
    if (!ok) __builtin_trap();
}

/* What reaches a terminal and a file of results, whatever was sent. */
static void check_reports(const struct result *r) {
    struct buf text = {0}, json = {0};
    struct report_style style = {0};
    report_text(r, grade_device(), &style, &text);
    report_profile(r, grade_device(), &style, true, &text);
    for (size_t i = 0; i < text.size;
         i++) /* a tab moves a cursor and nothing else: messages may have some */
        require((uint8_t)text.data[i] >= ' ' ? text.data[i] != 0x7f
                                             : text.data[i] == '\n' || text.data[i] == '\t');
    const struct result *results[] = {r};
    json_t *o = report_json(results, 1, grade_device(), "seed");
    require(o != NULL);
    report_json_write(o, &json);
    require(json.size > 2);
    require(isfinite(r->score) && r->score >= 0 && r->score <= 100 && r->verdict < V_COUNT);
    buf_free(&text), buf_free(&json);
}

static void grade_submission(const struct grade_options *o, struct grading_ctx *g, int channel) {
    struct err e = {0};
    struct result *r = g->r;
    struct session_options so = {.device = grade_device(), .seed = o->seed, .workers = 1};
    r->ex = g->ex, r->max_score = 100, r->id = "00-fuzz/copy", r->file = "copy.cu", r->message = "",
    r->speed.note = "";
    buf_puts(&r->source, "line 1\nline 2\nline 3\n");
    require((g->session = session_open(g->ex, &g->build, &so, &e)) != NULL);
    g->session->device = device_process_attach(channel);
    grade_evaluate(g);
    session_log(g->session, &r->log);
    session_close(g->session);
    launch_stats_free(&g->launch_stats);
}

/* Check, whose tests run here, answers SIGALRM by killing the process group of its last fork, and
 * nothing was forked: that would be our own, with whatever was started beside us. libFuzzer's clock
 * of -timeout sends one, so it stands still here; what hangs is found by the limit that `make fuzz`
 * sets to the whole run. */
static struct itimerval stop_timer(void) {
    struct itimerval disabled = {0}, previous;
    require(!setitimer(ITIMER_REAL, &disabled, &previous));
    return previous;
}

FUZZ(control) {
    int pair[2];
    pthread_t thread;
    struct itimerval saved_timer = stop_timer();
    struct err e = {0};
    require(paths_init(&e)); /* grading asks whether the book has its solutions */
    require(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
    struct hostile_device t = {.channel = pair[1], .data = data, .size = size};
    struct grade_options o = {.device = grade_device(), .seed = "fuzz", .no_speed = true};
    struct result r = {0};
    struct grading_ctx g = {.ex = &exercise, .o = &o, .r = &r};
    require(!pthread_create(&thread, NULL, serve, &t));
    grade_submission(&o, &g, pair[0]);
    pthread_join(thread, NULL);
    check_reports(&r);
    if (!size) require(r.verdict == V_AC);
    result_free(&r);
    setitimer(ITIMER_REAL, &saved_timer, NULL);
    return 0;
}

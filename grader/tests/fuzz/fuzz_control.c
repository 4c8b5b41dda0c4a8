/* fuzz_control.c — a device process that was taken over, at the grader's end of its channel: what
 * would be honest answers of an exercise of 64 floats, changed at places that the input names,
 * graded and reported as a submission's would be.
 *
 * Input: for each answer in turn a byte of `enum how`, a byte with the number of changes, and for
 * each change five bytes: where (the answer, the box, its log, a case's buffers), a 16-bit offset
 * in words there, and 16 bits that choose the word. Where the input ends, answers are honest:
 * nothing changed is AC. */
#include "grader/tests/fuzz/fuzz.h"
#include "common/arena.h"
#include "common/exercise.h"
#include "common/where.h"
#include "grader/grade/device_process.h"
#include "grader/grade/grading.h"
#include "grader/grade/session_parts.h"
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

enum { ELEMENTS = 64, MOST_CHANGES = 16 };
enum how { SHORT = 1, TWICE = 2, WITH_DESCRIPTOR = 4, NOTHING = 8 };

/* ---- the exercise ---- */

static size_t elements(const struct ex_case *c) { return (size_t)c->dim[0]; }
static void reference(const struct ex_case *c, void *const host[], void *const want[]) {
    for (long i = 0; i < c->dim[0]; i++) ((double *)want[0])[i] = ((const float *)host[1])[i];
}
static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = elements},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = elements},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32}};
static const struct ex_case copied[] = {{.dim = {ELEMENTS}}};

START_TEST(is_copied) { ex_check_case(&copied[0]); }
END_TEST
START_TEST(few_sectors) { ex_at_most("global_load_sectors_per_request", 4.5, "a float a lane"); }
END_TEST
START_TEST(few_conflicts) { ex_at_most("bank_conflicts", 0, "none"); }
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
                                         .cases = copied,
                                         .ncases = 1,
                                         .technique_case = {.dim = {ELEMENTS}},
                                         .timed = {.dim = {ELEMENTS}},
                                         .reference = reference,
                                         .points = {20, 50, 30},
                                         .tests = tests};

/* ---- the other end ---- */

struct taken {
    int channel;
    const uint8_t *data;
    size_t size, at;
    uint8_t *memory; /* the case's */
    struct control_buffers buffers;
};

static unsigned next(struct taken *t, unsigned bytes) {
    unsigned value = 0;
    for (; bytes; bytes--) value = value << 8 | (t->at < t->size ? t->data[t->at++] : 0);
    return value;
}

/* Words at which sums, products and comparisons go wrong; the rest of the 16 bits is put in as it
 * is. */
static uint64_t word(unsigned choice) {
    static const uint64_t odd[] = {~0ull,
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
    enum { ODD = sizeof odd / sizeof *odd };
    return choice % 32 < ODD ? odd[choice % 32] : choice;
}

static void change(struct taken *t, struct control_reply *p) {
    unsigned area = next(t, 1), offset = next(t, 2), choice = next(t, 2);
    uint64_t w = word(choice), bytes = choice & 0x8000 ? 4 : 8;
    uint8_t *box = t->memory;
    if (area % 4 == 0) memcpy((uint8_t *)p + 4ul * offset % (sizeof *p - 8), &w, bytes);
    else if (!box) return;
    else if (area % 4 == 1) memcpy(box + 4ul * offset % (launch_stats_wire_bytes() - 8), &w, bytes);
    else if (area % 4 == 2)
        memcpy(box + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES + offset % (CONTROL_LOG_BYTES - 8),
               &w, bytes);
    else
        memcpy(box + CONTROL_RESULT_BYTES +
                   4ul * offset % (t->buffers.file_bytes - CONTROL_RESULT_BYTES - 8),
               &w, bytes);
}

static void unmap(struct taken *t) {
    if (t->memory) munmap(t->memory, t->buffers.file_bytes);
    t->memory = NULL;
}

static void take_memory(struct taken *t, const struct control_buffers *b, int fd) {
    unmap(t);
    t->buffers = *b;
    if (fd < 0) return;
    void *m = mmap(NULL, b->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) abort();
    t->memory = m;
}

/* What a replay of an honest copy leaves. */
static void replay(struct taken *t, struct control_reply *p) {
    struct launch_stats_line line = {"copy.cu", 3, {0}, {0}};
    struct launch_stats y = {
        .launches = 1, .lines = &line, .nlines = 1, .blocks = 2, .threads = 64, .registers = 8};
    y.occupancy = 1, y.seconds = 2e-6, y.low = 1e-6, y.high = 3e-6;
    y.nkernels = 1, memcpy(y.kernels[0].name, "nothing", 8);
    p->stats_bytes = (uint32_t)launch_stats_pack(&y, t->memory);
    memcpy(t->memory + t->buffers.buffer[0].offset, t->memory + t->buffers.buffer[1].offset,
           t->buffers.buffer[0].bytes);
}

static void honest(struct taken *t, const struct control_request *q, int fd,
                   struct control_reply *p) {
    *p = (struct control_reply){
        .version = control_version(), .op = q->op, .serial = q->serial, .ok = 1};
    if (q->op == CONTROL_BUFFERS) take_memory(t, &q->u.buffers, fd);
    for (unsigned i = 0; i < CONTROL_MAX_ARGS; i++) p->address[i] = (i + 1) << 20;
    p->outcome = (struct control_outcome){.end_reason = SERVER_CALL, .call_state = WB_RETURNED};
    p->launches = 1;
    if (q->op == CONTROL_REPLAY && t->memory) replay(t, p);
}

static void answer(struct taken *t, const struct control_reply *p, unsigned how) {
    size_t bytes = how & SHORT ? next(t, 2) % sizeof *p : sizeof *p;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)p, bytes};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (how & WITH_DESCRIPTOR) {
        m.msg_control = &control, m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &t->channel, sizeof t->channel);
    }
    for (unsigned i = 0; i < (how & TWICE ? 2 : 1); i++)
        sendmsg(t->channel, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int receive(int channel, struct control_request *q, int *fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {q, sizeof *q};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    *fd = -1;
    ssize_t n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n == sizeof *q;
}

static void *serve(void *user) {
    struct taken *t = user;
    struct control_request q;
    static __thread struct control_reply p;
    for (int fd; receive(t->channel, &q, &fd);) {
        unsigned how = next(t, 1), changes = next(t, 1) % (MOST_CHANGES + 1);
        honest(t, &q, fd, &p);
        if (fd >= 0) close(fd);
        for (; changes; changes--) change(t, &p);
        if ((how & 15) == NOTHING) break;
        answer(t, &p, how);
    }
    unmap(t);
    close(t->channel);
    return NULL;
}

/* ---- the grader ---- */

static void hold(bool ok) {
    if (!ok) __builtin_trap();
}

/* What reaches a terminal and a file of results, whatever was sent. */
static void reports_hold(const struct result *r) {
    struct buf text = {0}, json = {0};
    struct report_style plain = {0};
    report_text(r, grade_device(), &plain, &text);
    report_profile(r, grade_device(), &plain, true, &text);
    for (size_t i = 0; i < text.size;
         i++) /* a tab moves a cursor and nothing else: messages may have some */
        hold((uint8_t)text.data[i] >= ' ' ? text.data[i] != 0x7f
                                          : text.data[i] == '\n' || text.data[i] == '\t');
    const struct result *one[] = {r};
    json_t *o = report_json(one, 1, grade_device(), "seed");
    hold(o != NULL);
    report_json_write(o, &json);
    hold(json.size > 2);
    hold(isfinite(r->score) && r->score >= 0 && r->score <= 100 && r->verdict < V_COUNT);
    buf_free(&text), buf_free(&json);
}

static void graded(const struct grade_options *o, struct grading *g, int channel) {
    struct err e = {0};
    struct result *r = g->r;
    struct session_options so = {.device = grade_device(), .seed = o->seed, .workers = 1};
    r->ex = g->ex, r->max_score = 100, r->id = "00-fuzz/copy", r->file = "copy.cu", r->message = "",
    r->speed.note = "";
    buf_puts(&r->source, "line 1\nline 2\nline 3\n");
    hold((g->session = session_open(g->ex, &g->build, &so, &e)) != NULL);
    g->session->device = device_process_adopt(channel);
    grade_evaluate(g);
    session_log(g->session, &r->log);
    session_close(g->session);
    launch_stats_free(&g->tally);
}

/* Check, whose tests run here, answers SIGALRM by killing the process group of its last fork, and
 * nothing was forked: that would be our own, with whatever was started beside us. libFuzzer's clock
 * of -timeout sends one, so it stands still here; what hangs is found by the limit that `make fuzz`
 * sets to the whole run. */
static struct itimerval stop_clock(void) {
    struct itimerval none = {0}, was;
    hold(!setitimer(ITIMER_REAL, &none, &was));
    return was;
}

FUZZ(control) {
    int pair[2];
    pthread_t thread;
    struct itimerval clock = stop_clock();
    struct err e = {0};
    hold(where_open(&e)); /* grading asks whether the book has its answers */
    hold(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
    struct taken t = {.channel = pair[1], .data = data, .size = size};
    struct grade_options o = {.device = grade_device(), .seed = "fuzz", .no_speed = true};
    struct result r = {0};
    struct grading g = {.ex = &exercise, .o = &o, .r = &r};
    hold(!pthread_create(&thread, NULL, serve, &t));
    graded(&o, &g, pair[0]);
    pthread_join(thread, NULL);
    reports_hold(&r);
    if (!size) hold(r.verdict == V_AC);
    result_free(&r);
    setitimer(ITIMER_REAL, &clock, NULL);
    return 0;
}

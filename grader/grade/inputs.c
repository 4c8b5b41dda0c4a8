/* inputs.c — see inputs.h. The prefetch is a process, not a thread: sandboxes are forked meanwhile,
 * and a thread could hold a lock of the C library at that moment. It keeps what it drew, and
 * compares the outputs itself. So inputs and expected outputs are in private memory, which gets
 * large pages: to fill shared memory takes five times as long. Sandboxes are forks of the grader,
 * which never has this data. */
#include "grader/grade/inputs.h"
#include "common/system_info.h"
#include "grader/book/book.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void inputs_draw_scalars(struct problem *p, const char *seed, unsigned index) {
    struct ex_rng rng;
    problem_rng_init(&rng, seed, book_id(p->ex), index, ~0u);
    problem_draw_scalars(p, &rng);
}

void inputs_draw_round(struct problem *p, const char *seed, unsigned index, unsigned round,
                       bool outputs) {
    struct ex_rng rng, key;
    char purpose[256];
    snprintf(purpose, sizeof purpose, "%s strata", book_id(p->ex));
    problem_rng_init(&key, seed, purpose, index, 0);
    snprintf(purpose, sizeof purpose, "%s buffers", book_id(p->ex));
    problem_rng_init(&rng, seed, purpose, index, round);
    rng.round = round, rng.case_key = ex_random(&key);
    problem_draw_buffers(p, &rng, outputs);
}

bool inputs_release(struct problem *p) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < p->ex->nargs; i++)
        if (problem_owns_buffer(p, i) && !p->arg[i].are_random_bits_deferred)
            bytes += p->arg[i].bytes;
    if (bytes < LARGE_BUFFER_BYTES || bytes < system_available_memory() / 16) return false;
    problem_release_initial(p);
    return true;
}

struct input_prefetch {
    pid_t pid;  /* 0 = it has ended */
    int socket; /* to the process; -1 = none */
    const char *seed;
    unsigned index;
    struct problem problem; /* only the process writes to its memory */
    struct case_memory case_memory;
    bool is_taken;
};

/* The process answers: inputs are drawn; after a request, the outcome of the comparison. */
struct prefetch_reply {
    bool is_correct;
    uint32_t message_bytes; /* which follow */
};

static bool has_two_cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

static bool send_all(int fd, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool receive_all(int fd, void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = recv(fd, (char *)bytes + done, size - done, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool send_reply(int fd, bool is_correct, const struct buf *message) {
    struct prefetch_reply r = {.is_correct = is_correct, .message_bytes = (uint32_t)message->size};
    return send_all(fd, &r, sizeof r) && send_all(fd, message->data, message->size);
}

static _Noreturn void run_prefetch(struct input_prefetch *a, int fd, pid_t parent) {
    struct buf message = {0};
    char request;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    inputs_draw_scalars(&a->problem, a->seed, a->index);
    inputs_draw_round(&a->problem, a->seed, a->index, 0, true);
    case_memory_fill(&a->case_memory, &a->problem, true, false, &(struct control_replay){0});
    if (!send_reply(fd, true, &message)) _exit(1);
    problem_compute_expected(&a->problem);
    if (!receive_all(fd, &request, 1)) _exit(1);
    case_memory_read_back(&a->case_memory, &a->problem, false);
    bool is_correct = problem_compare(&a->problem, &message);
    _exit(!send_reply(fd, is_correct, &message));
}

/* Returns true if a quarter of the available memory holds the data, which exists while nvcc and the
 * device process run and raises the peak by half. */
static bool has_enough_memory(const struct input_prefetch *a) {
    uint64_t bytes = a->case_memory.size;
    for (unsigned i = 0; i < a->problem.ex->nargs; i++)
        bytes += a->problem.arg[i].bytes +
                 (a->problem.arg[i].expected ? 8 * a->problem.arg[i].count : 0);
    return system_available_memory() / 4 > bytes;
}

/* Leaves `pid` 0 if the process can't start. */
static void start_process(struct input_prefetch *a) {
    int fds[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) return;
    fflush(NULL);
    a->socket = fds[0];
    a->pid = fork();
    if (a->pid == 0) close(fds[0]), run_prefetch(a, fds[1], parent);
    close(fds[1]);
    if (a->pid < 0) a->pid = 0;
}

struct input_prefetch *input_prefetch_start(const struct exercise *ex, const struct ex_case *c,
                                            const char *seed, unsigned index) {
    struct input_prefetch *a = has_two_cores() ? xcalloc(1, sizeof *a) : NULL;
    struct err e = {0};
    if (!a) return NULL;
    a->seed = seed, a->index = index, a->case_memory.fd = a->socket = -1;
    if (problem_open(&a->problem, ex, c, &e) &&
        case_memory_open(&a->case_memory, &a->problem, &e) && has_enough_memory(a))
        start_process(a);
    case_memory_set_dontfork(&a->case_memory);
    if (a->pid) return a;
    input_prefetch_free(a);
    return NULL;
}

/* Waits for a reply; appends its message. Returns false if the process has died. */
static bool receive_reply(struct input_prefetch *a, bool *is_correct, struct buf *message) {
    struct prefetch_reply r;
    if (!receive_all(a->socket, &r, sizeof r)) return false;
    char *text = xcalloc(r.message_bytes + 1, 1);
    bool ok = receive_all(a->socket, text, r.message_bytes);
    if (ok) buf_add(message, text, r.message_bytes);
    free(text);
    *is_correct = r.is_correct;
    return ok;
}

bool input_prefetch_take(struct input_prefetch *a, const struct ex_case *c, const char *seed,
                         unsigned index, struct problem *p, struct case_memory *m) {
    struct buf ignored = {0};
    bool drawn,
        is_same = a && a->pid && !a->is_taken && a->problem.c == c && a->index == index &&
                  strcmp(a->seed, seed) == 0,
        is_ready = is_same && receive_reply(a, &drawn, &ignored);
    buf_free(&ignored);
    if (!is_ready) return false;
    inputs_draw_scalars(&a->problem, seed, index);
    *p = a->problem, *m = a->case_memory;
    a->problem = (struct problem){.c = NULL}, a->case_memory = (struct case_memory){.fd = -1};
    return a->is_taken = true;
}

bool input_prefetch_compare(struct input_prefetch *a, bool *is_correct, struct buf *message) {
    return a->is_taken && send_all(a->socket, "c", 1) && receive_reply(a, is_correct, message);
}

void input_prefetch_free(struct input_prefetch *a) {
    if (!a) return;
    if (a->pid > 0) kill(a->pid, SIGKILL);
    while (a->pid > 0 && waitpid(a->pid, NULL, 0) < 0 && errno == EINTR) {}
    if (a->socket >= 0) close(a->socket);
    case_memory_close(&a->case_memory);
    problem_close(&a->problem);
    free(a);
}

/* test_grader_inputs.c — tests that a case that another process draws and compares equals the one
 * of this process, to the last byte and word. */
#include "common/system_info.h"
#include "grader/grade/inputs.h"
#include "grader/tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t large_count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static double scale(const struct ex_case *c, struct ex_rng *r) {
    return (double)c->dim[0] + (double)ex_uniform_int(r, 1, 100);
}
static void doubled(const struct ex_case *c, void *const host[], void *const expected[]) {
    for (long i = 0; i < c->dim[0]; i++) {
        ((double *)expected[1])[i] = 2 * (double)((const float *)host[2])[i];
        ((double *)expected[3])[i] *= 4; /* exact */
    }
}

/* The output precedes an input, so the random numbers drawn for it shift those drawn for the
 * input. */
static const struct ex_arg args[] = {
    {.name = "scale", .role = EX_SCALAR, .type = EX_F32, .value = scale},
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = large_count},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = large_count},
    {.name = "both", .role = EX_INOUT, .type = EX_F32, .count = large_count}};
static const struct ex_case large = {.dim = {700001}}, other = {.dim = {700001}};
static const struct exercise ex = {
    .chapter = "00-made-up", .name = "made", .args = args, .nargs = 4, .reference = doubled};

static void draw_in_process(struct problem *p, struct case_memory *m) {
    struct err e = {0};
    ck_assert(problem_open(p, &ex, &large, &e) && case_memory_open(m, p, &e));
    inputs_draw_scalars(p, "seed", 5);
    inputs_draw_round(p, "seed", 5, 0, true);
    case_memory_fill(m, p, true, false, &(struct control_replay){0});
    problem_compute_expected(p);
}

static bool no_children(void) { return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD; }

/* Writes what the reference expects, as the device process would. */
static void write_expected(const struct problem *p, struct case_memory *m) {
    for (unsigned i = 0; i < ex.nargs; i++) {
        float *to = (float *)(m->bytes + m->offset[i]);
        for (size_t k = 0; p->arg[i].expected && k < p->arg[i].count; k++)
            to[k] = (float)((const double *)p->arg[i].expected)[k];
    }
}

/* With right outputs, and with those that no kernel wrote. */
START_TEST(a_prefetched_case_equals_a_direct_one) {
    struct problem direct, prefetched;
    struct case_memory m, n;
    struct buf message = {0}, expected_message = {0};
    bool is_correct = _i == 0;
    draw_in_process(&direct, &m);
    struct input_prefetch *a = input_prefetch_start(&ex, &large, "seed", 5);
    if (!a) return; /* one core */
    ck_assert(input_prefetch_take(a, &large, "seed", 5, &prefetched, &n));
    ck_assert(n.size == m.size && !memcmp(n.bytes, m.bytes, m.size));
    ck_assert(!memcmp(direct.arg[0].initial, prefetched.arg[0].initial, direct.arg[0].bytes));
    if (_i == 0) write_expected(&direct, &m), write_expected(&direct, &n);
    case_memory_read_back(&m, &direct, false);
    ck_assert(problem_compare(&direct, &expected_message) == (_i == 0));
    ck_assert(input_prefetch_compare(a, &is_correct, &message) && is_correct == (_i == 0));
    ck_assert_str_eq(buf_str(&message), buf_str(&expected_message));
    ck_assert(!input_prefetch_compare(a, &is_correct, &message)); /* once */
    input_prefetch_free(a);
    ck_assert(no_children());
    buf_free(&message), buf_free(&expected_message);
    case_memory_close(&m), case_memory_close(&n), problem_close(&direct),
        problem_close(&prefetched);
}
END_TEST

/* A page that is given back reads as zeros; the sanitizer's memory is never given back. */
START_TEST(released_inputs_are_drawn_again) {
    static const struct ex_case mapped = {.dim = {3000001}};
    struct problem p, again;
    struct err e = {0};
    ck_assert(problem_open(&p, &ex, &mapped, &e) && problem_open(&again, &ex, &mapped, &e));
    inputs_draw_round(&p, "seed", 5, 1, true), inputs_draw_round(&again, "seed", 5, 1, true);
    problem_release_initial(&again);
#ifndef __SANITIZE_ADDRESS__
    for (unsigned i = 2; i < 4; i++) {
        const float *in = again.arg[i].initial;
        ck_assert(in[mapped.dim[0] / 2] == 0 && in[mapped.dim[0] / 2 + 1] == 0);
    }
#endif
    inputs_draw_round(&again, "seed", 5, 1, true);
    for (unsigned i = 2; i < 4; i++)
        ck_assert(!memcmp(p.arg[i].initial, again.arg[i].initial, p.arg[i].bytes));
    problem_close(&p), problem_close(&again);
}
END_TEST

START_TEST(prefetched_inputs_of_another_case_are_not_used) {
    struct input_prefetch *a = input_prefetch_start(&ex, &large, "seed", 5);
    struct problem p;
    struct case_memory m;
    if (!a) return;
    ck_assert(!input_prefetch_take(a, &other, "seed", 5, &p, &m));
    ck_assert(!input_prefetch_take(a, &large, "seed", 6, &p, &m));
    ck_assert(!input_prefetch_take(a, &large, "other", 5, &p, &m));
    ck_assert(!input_prefetch_take(NULL, &large, "seed", 5, &p, &m));
    ck_assert(input_prefetch_take(a, &large, "seed", 5, &p, &m));
    ck_assert(!input_prefetch_take(a, &large, "seed", 5, &p, &m)); /* once */
    input_prefetch_free(a);
    case_memory_close(&m), problem_close(&p);
}
END_TEST

/* Sandboxes start as forks of the grader, which must not have inputs or expected outputs. A child
 * that reads the memory file must crash. */
static bool crashes_on_read(const volatile uint8_t *at) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) signal(SIGSEGV, SIG_DFL), _exit(*at * 0);
    return waitpid(pid, &status, 0) == pid && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
START_TEST(sandboxes_cannot_read_prefetched_inputs) {
    struct input_prefetch *a = input_prefetch_start(&ex, &large, "seed", 5);
    struct problem p;
    struct case_memory m;
    if (!a) return;
    ck_assert(input_prefetch_take(a, &large, "seed", 5, &p, &m));
    ck_assert(!crashes_on_read((const uint8_t *)&large));
    ck_assert(crashes_on_read(m.bytes));
    for (size_t k = 0; k < p.arg[2].count; k++)
        ck_assert(((float *)p.arg[2].initial)[k] == 0 && ((double *)p.arg[1].expected)[k] == 0);
    input_prefetch_free(a);
    case_memory_close(&m), problem_close(&p);
}
END_TEST

/* As if the compiler had refused the file. */
START_TEST(an_unused_prefetch_process_is_terminated) {
    input_prefetch_free(input_prefetch_start(&ex, &large, "seed", 5));
    ck_assert(no_children());
}
END_TEST

/* By another way: pages that the machine has. In a container, less. */
START_TEST(the_memory_of_inputs_is_estimated) {
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    ck_assert(system_available_memory() > 1 << 20 && system_available_memory() <= all);
}
END_TEST

UNIT_SUITE(grader_inputs) {
    Suite *s = suite_create("grader_inputs");
    TCase *t = tcase_create("grader_inputs");
    tcase_add_loop_test(t, a_prefetched_case_equals_a_direct_one, 0, 2);
    tcase_add_test(t, released_inputs_are_drawn_again);
    tcase_add_test(t, prefetched_inputs_of_another_case_are_not_used);
    tcase_add_test(t, sandboxes_cannot_read_prefetched_inputs);
    tcase_add_test(t, an_unused_prefetch_process_is_terminated);
    tcase_add_test(t, the_memory_of_inputs_is_estimated);
    suite_add_tcase(s, t);
    return s;
}

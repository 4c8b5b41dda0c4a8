/* test_device_process.c — tests a device process that a submission has taken over
 * (grader/tests/hostile/device). Whatever it does and replies, the grader must survive, keep its
 * secrets and end in time, and the submission must gain nothing. */
#include "common/paths.h"
#include "common/clock.h"
#include "grader/book/book.h"
#include "grader/grade/device_process.h"
#include "grader/grade/grade.h"
#include "grader/jail/jail.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char source[] =
    "__global__ void transpose_kernel(float *o, const float *i, int r, int c) {}\n"
    "extern \"C\" void transpose(float *out, const float *in, int rows, int cols) {\n"
    "    if (rows && cols) transpose_kernel<<<1, 32>>>(out, in, rows, cols);\n}\n";
static const char secret_text[] = "warpbook-planted-secret";

static const struct {
    const char *mode;
    enum verdict verdict; /* V_COUNT: any that is not a pass and not our own fault */
    double seconds;       /* it must end within */
} attacks[] = {
    {"none", V_WA, 30},          {"at-once", V_RTE, 30},     {"short", V_RTE, 30},
    {"empty", V_RTE, 30},        {"garbage", V_RTE, 30},     {"version", V_RTE, 30},
    {"serial", V_RTE, 30},       {"other-op", V_RTE, 30},    {"endless-text", V_RTE, 30},
    {"end", V_RTE, 30},          {"state", V_RTE, 30},       {"nan", V_RTE, 30},
    {"long-log", V_RTE, 30},     {"long-tally", V_RTE, 30},  {"tally-past-end", V_RTE, 30},
    {"no-tally", V_RTE, 30},     {"tally-lines", V_RTE, 30}, {"tally-reports", V_RTE, 30},
    {"tally-fault", V_RTE, 30},  {"escapes", V_WA, 30},      {"secret-file", V_WA, 30},
    {"grader-memory", V_WA, 30}, {"parent", V_COUNT, 30},    {"fork-bomb", V_COUNT, 60},
    {"network", V_COUNT, 30},    {"descriptors", V_WA, 30},  {"memory", V_COUNT, 60},
    {"hang", V_TLE, 60},         {"crash", V_RTE, 30},       {"exit", V_RTE, 30},
    {"flood", V_COUNT, 60},
};
/* "memory" gets MLE, or TLE where the machine can't provide 4 GiB within the 4 s allowed for a
 * reply. */
enum { ATTACKS = sizeof attacks / sizeof *attacks };

static void plant(void) {
    struct err e = {0};
    FILE *f = fopen("/tmp/warpbook-secret", "w");
    ck_assert_ptr_nonnull(f);
    fputs(secret_text, f);
    fclose(f);
    setenv("WARPBOOK_TEST_SECRET", secret_text, 1);
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
}

static void remove_decoy(void) { unlink("/tmp/warpbook-secret"); }

static void put_all_messages(const struct result *r, struct buf *out) {
    buf_printf(out, "%s\n%s\n", r->message, buf_str(&r->log));
    for (unsigned i = 0; i < r->ncases; i++)
        buf_printf(out, "%s: %s\n", r->cases[i].name, r->cases[i].message);
}

START_TEST(a_compromised_device_process_gains_nothing) {
    char program[1024];
    struct err e = {0};
    const struct exercise **found = book_find("transpose", &e);
    struct grade_options o = {
        .device = device_find("h200"), .seed = "taken over", .no_speed = true};
    struct result r;
    struct buf all = {0};
    snprintf(program, sizeof program, "%s/tests/hostile-device", paths_program_dir());
    device_process_set_test_program(program, attacks[_i].mode);
    double start = clock_seconds();
    grade_source(found[0], "transpose.cu", source, sizeof source - 1, &o, &r);
    double took = clock_seconds() - start;
    put_all_messages(&r, &all);
    ck_assert_msg(took < attacks[_i].seconds, "%s took %.1f s", attacks[_i].mode, took);
    ck_assert_msg(r.verdict != V_AC && r.verdict != V_PART && r.verdict != V_IE, "%s: %s\n%s",
                  attacks[_i].mode, verdict_code(r.verdict), buf_str(&all));
    ck_assert_msg(attacks[_i].verdict == V_COUNT || r.verdict == attacks[_i].verdict,
                  "%s: %s instead of %s\n%s", attacks[_i].mode, verdict_code(r.verdict),
                  verdict_code(attacks[_i].verdict), buf_str(&all));
    ck_assert_msg(r.score == 0, "%s: %g points", attacks[_i].mode, r.score);
    ck_assert_msg(!strstr(buf_str(&all), secret_text) && !strchr(buf_str(&all), '\033'), "%s",
                  buf_str(&all));
    buf_free(&all);
    result_free(&r);
    free(found);
}
END_TEST

/* On a GPU the grader waits for the process, so that it exits in order. */
START_TEST(it_detects_a_disconnect_despite_a_leaked_descriptor) {
    int pair[2];
    char byte;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    int copy = dup(pair[0]); /* as in the sandbox's keeper, a fork of ours */
    device_process_close(device_process_attach(pair[0]));
    ck_assert_int_eq(recv(pair[1], &byte, 1, MSG_DONTWAIT), 0);
    close(copy), close(pair[1]);
}
END_TEST

UNIT_SUITE(device_process) {
    Suite *s = suite_create("device_process");
    TCase *t = tcase_create("taken over");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, plant, remove_decoy);
    tcase_add_loop_test(t, a_compromised_device_process_gains_nothing, 0, ATTACKS);
    suite_add_tcase(s, t);
    TCase *end = tcase_create("end");
    tcase_add_test(end, it_detects_a_disconnect_despite_a_leaked_descriptor);
    suite_add_tcase(s, end);
    return s;
}

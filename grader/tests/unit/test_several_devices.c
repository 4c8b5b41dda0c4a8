/* test_several_devices.c — tests exercises on several devices (struct exercise, `devices`) through
 * the grader: what crosses when, races between devices, a device without work, and what a machine
 * with one GPU reports. */
#include "grader/book/book.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/grade.h"
#include "grader/jail/jail.h"
#include "grader/tests/unit/fake_cuda.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void open_book(void) {
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
}

static void grade(const char *path, const struct gpu_device *device, struct result *r) {
    struct err e = {0};
    const struct exercise **found = book_find("halo_exchange", &e);
    ck_assert_msg(found && found[0], "%s", e.text);
    struct grade_options o = {
        .device = device, .seed = "several devices", .workers = 2, .no_speed = true};
    ck_assert_msg(grade_file(found[0], path, &o, r, &e), "%s", e.text);
    free(found);
}

static double metric_of(const struct result *r, const char *name) {
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!strcmp(r->technique[i].metric, name)) return r->technique[i].value;
    ck_abort_msg("no %s", name);
}

#define SOLUTIONS "solutions/16-several-gpus/halo_exchange"
#define MUTANTS   "grader/tests/mutants/16-several-gpus/halo_exchange/"

START_TEST(rows_cross_both_ways_beside_the_work) {
    struct result r;
    grade(SOLUTIONS ".cu", grade_device(), &r);
    ck_assert_int_eq(r.verdict, V_AC);
    ck_assert_double_eq(metric_of(&r, "peer_bytes"), 1);
    ck_assert_double_eq_tol(metric_of(&r, "peer_critical_path"), 0.5, 1e-9);
    ck_assert_double_gt(metric_of(&r, "peer_overlap"), 0.75);
    result_free(&r);
    grade(SOLUTIONS "-1-default-streams.cu", grade_device(), &r);
    ck_assert_double_eq_tol(metric_of(&r, "peer_critical_path"), 1, 1e-9);
    ck_assert_double_eq(metric_of(&r, "peer_overlap"), 0);
    result_free(&r);
}
END_TEST

START_TEST(races_between_devices_are_found) {
    struct result r;
    grade(MUTANTS "no-wait-for-the-row.cu", grade_device(), &r);
    ck_assert_int_eq(r.verdict, V_RTE);
    const char *message = NULL;
    for (unsigned i = 0; i < r.ncases && !message; i++)
        if (r.cases[i].verdict == V_RTE) message = r.cases[i].message;
    ck_assert_ptr_nonnull(message);
    ck_assert_msg(strstr(message, "of device 1 reads") && strstr(message, "of device 0 writes"),
                  "%s", message);
    result_free(&r);
}
END_TEST

START_TEST(one_device_that_does_all_the_work_is_found) {
    struct result r;
    grade(MUTANTS "device-forgotten.cu", grade_device(), &r);
    ck_assert_int_eq(r.verdict, V_PART);
    ck_assert_double_eq_tol(metric_of(&r, "kernel_critical_path"), 1, 1e-9);
    result_free(&r);
}
END_TEST

/* Checked by simulation, and the report says what measuring would take. */
START_TEST(a_machine_with_one_gpu_models_the_time) {
    struct err e = {0};
    struct result r;
    fake_cuda_use("WARPBOOK_LIBNVML");
    const struct gpu_device *gpu = gpu_device_present(&e);
    ck_assert_msg(gpu != NULL, "%s", e.text);
    grade(SOLUTIONS ".cu", gpu, &r);
    ck_assert_int_eq(r.verdict, V_AC);
    ck_assert_msg(strstr(r.speed.note, "measuring this exercise takes 2 GPUs"), "%s", r.speed.note);
    for (unsigned i = 0; i < r.ncases; i++)
        ck_assert_ptr_null(strstr(r.cases[i].name, "on the GPU"));
    result_free(&r);
}
END_TEST

UNIT_SUITE(several_devices) {
    Suite *s = suite_create("several_devices");
    TCase *c = tcase_create("halo_exchange");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, open_book, NULL);
    tcase_add_test(c, rows_cross_both_ways_beside_the_work);
    tcase_add_test(c, races_between_devices_are_found);
    tcase_add_test(c, one_device_that_does_all_the_work_is_found);
    tcase_add_test(c, a_machine_with_one_gpu_models_the_time);
    suite_add_tcase(s, c);
    return s;
}

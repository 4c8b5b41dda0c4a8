/* test_score.c — the arithmetic of points (grader/grade/score.h). Expected values are worked out by hand beside
 * each. */
#include "grader/grade/score.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

#define NEAR(a, b) ck_assert_double_eq_tol(a, b, 1e-9)

START_TEST(goals_share_and_guards_take) {
    static const struct {
        struct check_counts n;
        double want; /* of 60 points */
    } rows[] = {
        {{1, 1, 0, 0}, 60}, {{3, 2, 0, 0}, 40}, /* two thirds */
        {{3, 2, 2, 2}, 40},                     /* guards kept give nothing */
        {{3, 2, 2, 1}, 20},                     /* 2 - 1 of 3 */
        {{3, 2, 2, 0}, 0},                      /* 2 - 2 */
        {{4, 4, 5, 4}, 45},                     /* 4 - 1 of 4 */
        {{1, 1, 1, 0}, 0},                      /* one fault for another */
        {{1, 1, 3, 0}, 0},                      /* never below nothing */
        {{2, 0, 3, 3}, 0},                      /* nothing reached, all guards kept: the unedited skeleton */
        {{2, 0, 3, 0}, 0},  {{0, 0, 0, 0}, 60}, /* nothing asked */
        {{0, 0, 1, 0}, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) NEAR(score_technique(60, &rows[i].n), rows[i].want);
}
END_TEST

START_TEST(speed_has_no_cliff) {
    NEAR(score_speed(30, 0.475), 15); /* half of 0.95 */
    NEAR(score_speed(30, 0.95), 30);
    NEAR(score_speed(30, 1.7), 30);
    NEAR(score_speed(30, 0), 0);
}
END_TEST

/* ---- a whole result ---- */

static const struct exercise exercise = {.name = "none", .points = {.correctness = 20, .technique = 50, .speed = 30}};

/* Two goals, the first of two limits, and two guards; `failed` has a letter for each limit that fails. */
static void result_with(struct result *r, const char *failed) {
    static const struct {
        char letter;
        const char *name;
        bool guard;
    } limits[] = {{'a', "first goal", false},
                  {'b', "first goal", false},
                  {'c', "second goal", false},
                  {'d', "first guard", true},
                  {'e', "second guard", true}};
    *r = (struct result){.ex = &exercise, .max_score = 100, .checks = {2, 2, 2, 2}};
    r->technique = arena_array(&r->arena, struct technique_result, 5);
    for (unsigned i = 0; i < 5; i++) {
        bool passed = !strchr(failed, limits[i].letter);
        r->technique[r->ntechnique++] = (struct technique_result){
            .name = limits[i].name, .metric = "blocks", .guard = limits[i].guard, .passed = passed};
        *(limits[i].guard ? &r->checks.kept : &r->checks.reached) -= !passed;
    }
}

static double all_missing(const struct result *r) {
    double sum = 0;
    for (unsigned i = 0; i < r->nmissing; i++) sum += r->missing[i].points;
    return sum;
}

/* 20 + 25 of 70 without speed: 64.29; the other goal is worth 25 / 70. */
START_TEST(without_a_time_the_rest_is_scaled) {
    struct result r;
    result_with(&r, "b");
    score_points(&r, false);
    ck_assert_int_eq(r.verdict, V_PART);
    NEAR(r.score, 4500.0 / 70);
    ck_assert_uint_eq(r.nmissing, 1);
    NEAR(r.missing[0].points, 2500.0 / 70);
    ck_assert_str_eq(r.missing[0].group, "goal");
    ck_assert_str_eq(r.missing[0].why, "a goal is not reached: first goal");
    result_free(&r);
}
END_TEST

/* Of 100: 20; one goal of two 25, less as much for the guard; 0.57 / 0.95 of 30, 18. */
START_TEST(what_is_missing_adds_up) {
    struct result r;
    result_with(&r, "cd");
    r.speed = (struct speed_result){.valid = true, .kind = "modelled", .vs_solution = 0.57};
    score_points(&r, true);
    NEAR(r.score, 38);
    ck_assert_uint_eq(r.nmissing, 3);
    NEAR(r.missing[0].points, 25);
    NEAR(r.missing[1].points, 25);
    ck_assert_str_eq(r.missing[1].group, "guard");
    ck_assert_str_eq(r.missing[1].why, "a guard failed: first guard");
    NEAR(r.missing[2].points, 12);
    NEAR(all_missing(&r) + r.score, 100);
    result_free(&r);
}
END_TEST

/* 20 + 50 of 100: a submission that has seen to it that there is no time does not make the whole smaller. Where speed does
 * not count, that changes nothing; nor does a time that is missing through no fault of its own. */
START_TEST(a_forfeited_time_is_worth_nothing) {
    static const struct {
        bool forfeit, counts;
        double score;
    } rows[] = {{true, true, 70}, {true, false, 100}, {false, true, 100}};
    for (unsigned i = 0; i < 3; i++) {
        struct result r;
        result_with(&r, "");
        r.speed = (struct speed_result){.forfeit = rows[i].forfeit, .note = "too slow"};
        score_points(&r, rows[i].counts);
        NEAR(r.score, rows[i].score);
        NEAR(all_missing(&r) + r.score, 100);
        if (i == 0) ck_assert_str_eq(r.missing[0].why, "no time: too slow");
        result_free(&r);
    }
}
END_TEST

/* A failed guard takes no more than there is: 0 of 50, and 50 missing for the goals alone. */
START_TEST(nothing_is_missing_twice) {
    struct result r;
    result_with(&r, "bcde");
    score_points(&r, false);
    NEAR(r.got.technique, 0);
    NEAR(all_missing(&r) + r.score, 100);
    ck_assert_uint_eq(r.nmissing, 2);
    result_free(&r);
}
END_TEST

START_TEST(all_goals_and_a_failed_guard_are_partly) {
    struct result r;
    result_with(&r, "e");
    score_points(&r, false);
    ck_assert_int_eq(r.verdict, V_PART);
    NEAR(r.score, 45 / 0.7); /* 20 + 50 - 25 */
    result_free(&r);
    result_with(&r, "");
    score_points(&r, false);
    ck_assert_int_eq(r.verdict, V_AC);
    NEAR(r.score, 100);
    ck_assert_uint_eq(r.nmissing, 0);
    result_free(&r);
}
END_TEST

START_TEST(wrong_results_miss_everything) {
    struct result r;
    result_with(&r, "");
    r.verdict = V_RTE;
    score_nothing(&r);
    ck_assert_uint_eq(r.nmissing, 1);
    NEAR(r.missing[0].points, 100);
    ck_assert_str_eq(r.missing[0].group, "correctness");
    r.verdict = V_IE;
    score_nothing(&r);
    ck_assert_uint_eq(r.nmissing, 0);
    result_free(&r);
}
END_TEST

/* What `verify` asks of the naive version; `says` is in the complaint, "" = none. */
START_TEST(naive_versions) {
    static const struct {
        const char *failed, *says;
    } rows[] = {
        {"abc", ""},
        {"ac", "the goal `first goal` has a limit that the naive version meets"},
        {"ab", "the goal `second goal`"},
        {"abcd", "the guard `first guard` fails on the naive version"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r;
        struct buf why = {0};
        result_with(&r, rows[i].failed);
        r.checks.reached = 0;
        ck_assert_int_eq(score_rule(&r, &why), !rows[i].says[0]);
        ck_assert_msg(strstr(buf_str(&why), rows[i].says), "%s: %s", rows[i].failed, buf_str(&why));
        buf_free(&why), result_free(&r);
    }
}
END_TEST

START_TEST(an_exercise_without_goals) {
    struct result r;
    struct buf why = {0};
    result_with(&r, "abc");
    r.ntechnique = 0;
    r.checks = (struct check_counts){0, 0, 2, 2};
    ck_assert(!score_rule(&r, &why));
    ck_assert(strstr(buf_str(&why), "it has no goal"));
    r.checks = (struct check_counts){1, 1, 2, 2}; /* a test with an assertion of its own */
    buf_clear(&why);
    ck_assert(!score_rule(&r, &why));
    buf_free(&why), result_free(&r);
}
END_TEST

UNIT_SUITE(score) {
    Suite *s = suite_create("score");
    TCase *t = tcase_create("points");
    tcase_add_test(t, goals_share_and_guards_take);
    tcase_add_test(t, speed_has_no_cliff);
    tcase_add_test(t, without_a_time_the_rest_is_scaled);
    tcase_add_test(t, what_is_missing_adds_up);
    tcase_add_test(t, a_forfeited_time_is_worth_nothing);
    tcase_add_test(t, nothing_is_missing_twice);
    tcase_add_test(t, all_goals_and_a_failed_guard_are_partly);
    tcase_add_test(t, wrong_results_miss_everything);
    tcase_add_test(t, naive_versions);
    tcase_add_test(t, an_exercise_without_goals);
    suite_add_tcase(s, t);
    return s;
}

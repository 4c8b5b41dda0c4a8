/* test_score.c — tests the arithmetic of points (grader/grade/score.h). The expected values are
 * derived by hand beside each case. */
#include "grader/grade/score.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define NEAR(a, b) ck_assert_double_eq_tol(a, b, 1e-9)

START_TEST(goals_add_points_and_guards_deduct_them) {
    static const struct {
        struct check_counts n;
        double expected; /* of 60 points */
    } rows[] = {
        {{1, 1, 0, 0, 1}, 60},   {{3, 2, 0, 0, 2}, 40}, /* two thirds */
        {{3, 2, 2, 2, 2}, 40},                          /* guards kept give nothing */
        {{3, 2, 2, 1, 2}, 20},                          /* 2 - 1 of 3 */
        {{3, 2, 2, 0, 2}, 0},                           /* 2 - 2 */
        {{4, 4, 5, 4, 4}, 45},                          /* 4 - 1 of 4 */
        {{1, 1, 1, 0, 1}, 0},                           /* one fault for another */
        {{1, 1, 3, 0, 1}, 0},                           /* never below nothing */
        {{2, 0, 3, 3, 0}, 0},    /* nothing reached, all guards kept: the starter file */
        {{2, 0, 3, 3, 0.5}, 15}, /* half of the way to one of two */
        {{2, 1, 1, 0, 1.5}, 15}, /* 1.5 - 1 of 2 */
        {{2, 0, 3, 0, 0}, 0},    {{0, 0, 0, 0, 0}, 60}, /* nothing asked */
        {{0, 0, 1, 0, 0}, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        NEAR(score_technique(60, &rows[i].n), rows[i].expected);
}
END_TEST

/* Logarithms by hand: 64 / 4 is 16, half of which is 4, so 16 is half of the way from 64 to 4. */
START_TEST(goal_progress_is_logarithmic) {
    static const struct {
        bool at_most;
        double baseline, baseline_limit, value, limit, expected;
    } rows[] = {
        {true, 64, 4, 16, 4, 0.5},
        {true, 64, 4, 64, 4, 0},
        {true, 64, 4, 200, 4, 0}, /* worse than naive */
        {true, 16, 4, 36, 18,
         0.5}, /* the limit follows what is asked for: 4 times over it, now twice */
        {true, 1000, 0, 100, 0, 0.5}, /* a limit of 0: two decades */
        {true, 1000, 0, 1, 0, 0.95},  /* and the last step is the limit itself */
        {false, 1, 64, 8, 64, 0.5},
        {false, 0, 1, 0.1, 1, 0.5}, /* the same upwards */
        {false, 0, 1, 0, 1, 0},
        {true, 0, 2, 8, 2, 0.25}, /* a condition, which the baseline satisfies: 4 of 16 */
        {true, 0, 2, 32, 2, 0},
        {true, 0, 0, 1, 0, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct technique_result t = {.is_upper_limit = rows[i].at_most,
                                     .has_baseline = true,
                                     .baseline_value = rows[i].baseline,
                                     .baseline_limit = rows[i].baseline_limit,
                                     .value = rows[i].value,
                                     .limit = rows[i].limit};
        ck_assert_msg(score_goal_progress(&t) > rows[i].expected - 1e-9 &&
                          score_goal_progress(&t) < rows[i].expected + 1e-9,
                      "row %u: %g", i, score_goal_progress(&t));
        t.has_baseline = false;
        NEAR(score_goal_progress(&t), 0);
        t.passed = true;
        NEAR(score_goal_progress(&t), 1);
    }
}
END_TEST

/* The model solution is 4 times as fast as the baseline. 0.9 of its speed is 3.6 times, and half
 * of the points are at the square root of that. */
START_TEST(speed_has_no_cliff) {
    NEAR(score_speed(30, 0.25, 4), 0);
    NEAR(score_speed(30, 0.1, 4), 0);
    NEAR(score_speed(30, 1.8973665961010275 / 4, 4), 15);
    NEAR(score_speed(30, 0.9, 4), 30);
    NEAR(score_speed(30, 1.7, 4), 30);
}
END_TEST

/* From the model solution's speed down to the baseline's: the speed that counts is never below the
 * modelled one, never falls as that rises, and is the modelled one at both ends. */
START_TEST(modelled_speed_gets_the_benefit_of_the_doubt) {
    double previous = 0;
    for (unsigned i = 0; i <= 200; i++) {
        double vs_solution = 0.25 * pow(4, i / 200.0),
               counted = score_counted_speed(vs_solution, 4);
        ck_assert_msg(counted >= vs_solution - 1e-12 && counted >= previous - 1e-12,
                      "%g counts as %g, less than %g", vs_solution, counted, previous);
        previous = counted;
    }
    NEAR(score_speed(30, score_counted_speed(0.25, 4), 4), 0);
    NEAR(score_speed(30, score_counted_speed(0.2, 4), 4), 0);
    NEAR(score_speed(30, score_counted_speed(1, 4), 4), 30);
}
END_TEST

/* A pair whose modelled times differ by e^0.6 = 1.82 times: the row of ratio_error.def, whose
 * factor ratios.py takes from measured pairs. Its version counts as faster by that factor. */
START_TEST(counted_speed_follows_measured_ratios) {
    static const struct {
        double log_ratio, log_error;
    } rows[] = {
#define X(log_ratio, log_error, pairs) {log_ratio, log_error},
#include "grader/grade/ratio_error.def"
#undef X
    };
    double vs_solution = exp(-rows[3].log_ratio);
    NEAR(score_counted_speed(vs_solution, 1000), vs_solution * exp(rows[3].log_error));
    int status = shell("command -v python3 >/dev/null && python3 grader/tests/timing/ratios.py "
                       "--check");
    ck_assert_msg(status == 0, "ratio_error.def is out of date");
}
END_TEST

/* ---- a whole result ---- */

static const struct exercise exercise = {
    .name = "none", .points = {.correctness = 20, .technique = 50, .speed = 30}};

/* Two goals, the first of two limits, and two guards; `failed` has a letter for each limit that
 * fails. */
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
    *r = (struct result){.ex = &exercise, .max_score = 100, .checks = {2, 2, 2, 2, 2}};
    r->technique = arena_array(&r->arena, struct technique_result, 5);
    for (unsigned i = 0; i < 5; i++) {
        bool passed = !strchr(failed, limits[i].letter);
        r->technique[r->ntechnique++] = (struct technique_result){.name = limits[i].name,
                                                                  .metric = "blocks",
                                                                  .is_guard = limits[i].guard,
                                                                  .passed = passed,
                                                                  .goal_progress = passed};
    }
    static const unsigned tests[] = {0, 0, 1, 0, 1};
    for (unsigned i = 0; i < 5; i++) r->technique[i].test_index = tests[i];
    unsigned first = strchr(failed, 'a') || strchr(failed, 'b'),
             second = strchr(failed, 'c') != NULL;
    r->checks.goals_reached -= first + second, r->checks.goal_progress = r->checks.goals_reached;
    r->checks.guards_passed -= (strchr(failed, 'd') != NULL) + (strchr(failed, 'e') != NULL);
}

static double total_points_lost(const struct result *r) {
    double sum = 0;
    for (unsigned i = 0; i < r->npoints_lost; i++) sum += r->points_lost[i].points;
    return sum;
}

/* 20 + 25 of 70 without speed: 64.29; the other goal is worth 25 / 70. */
START_TEST(without_a_time_other_points_are_scaled_up) {
    struct result r;
    result_with(&r, "b");
    score_points(&r, false);
    ck_assert_int_eq(r.verdict, V_PART);
    NEAR(r.score, 4500.0 / 70);
    ck_assert_uint_eq(r.npoints_lost, 1);
    NEAR(r.points_lost[0].points, 2500.0 / 70);
    ck_assert_str_eq(r.points_lost[0].group, "goal");
    ck_assert_str_eq(r.points_lost[0].reason, "goal not reached: first goal");
    result_free(&r);
}
END_TEST

/* Of 100: 20; one goal of two 25, less as much for the guard; at the square root of 3.6 times
 * the baseline's speed 15 of 30. */
START_TEST(lost_points_sum_to_the_difference) {
    struct result r;
    result_with(&r, "cd");
    r.speed = (struct speed_result){.valid = true,
                                    .kind = "measured",
                                    .vs_solution = 1.8973665961010275 / 4,
                                    .solution_speedup = 4};
    score_points(&r, true);
    NEAR(r.score, 35);
    ck_assert_uint_eq(r.npoints_lost, 3);
    NEAR(r.points_lost[0].points, 25);
    NEAR(r.points_lost[1].points, 25);
    ck_assert_str_eq(r.points_lost[1].group, "guard");
    ck_assert_str_eq(r.points_lost[1].reason, "guard failed: first guard");
    NEAR(r.points_lost[2].points, 15);
    NEAR(total_points_lost(&r) + r.score, 100);
    result_free(&r);
}
END_TEST

/* 20 + 50 of 100: a submission that prevents its own timing does not shrink the total. If speed
 * does not count, nothing changes; nor if the time is missing through no fault of the
 * submission. */
START_TEST(a_disqualified_time_earns_no_points) {
    static const struct {
        bool is_disqualified, counts;
        double score;
    } rows[] = {{true, true, 70}, {true, false, 100}, {false, true, 100}};
    for (unsigned i = 0; i < 3; i++) {
        struct result r;
        result_with(&r, "");
        r.speed =
            (struct speed_result){.disqualified = rows[i].is_disqualified, .note = "too slow"};
        score_points(&r, rows[i].counts);
        NEAR(r.score, rows[i].score);
        NEAR(total_points_lost(&r) + r.score, 100);
        if (i == 0) ck_assert_str_eq(r.points_lost[0].reason, "no time: too slow");
        result_free(&r);
    }
}
END_TEST

/* The first goal has two figures, 20 % and 60 % of the way: 0.2 of its 25 points. Without a time,
 * of 70. */
START_TEST(the_worst_limit_decides_goal_progress) {
    struct result r;
    result_with(&r, "ab");
    r.technique[0].goal_progress = 0.2, r.technique[1].goal_progress = 0.6,
    r.checks.goal_progress = 1.2;
    score_points(&r, true);
    NEAR(r.score, (20 + 25 + 5) / 0.7);
    ck_assert_uint_eq(r.npoints_lost, 1);
    NEAR(r.points_lost[0].points, 20 / 0.7);
    ck_assert_str_eq(r.points_lost[0].reason, "goal 20 % reached: first goal");
    result_free(&r);
}
END_TEST

/* A missed goal is waived only for a submission that is beyond doubt faster than the model
 * solution, keeps the guards, and had all outputs of the timed size checked. */
START_TEST(goals_are_waived_by_outcome) {
    static const struct {
        double vs_solution, ci_low;
        const char *kind, *failed;
        bool is_full, counts, waived;
    } rows[] = {
        {1.3, 0, "modelled", "b", true, true, true},
        {1.2, 0, "modelled", "b", true, true, false},
        {1.3, 0, "modelled", "b", false, true, false},
        {1.3, 0, "modelled", "bd", true, true, false},
        {1.3, 0, "modelled", "b", true, false, false},
        {1.05, 1.01, "measured", "b", true, false, true},
        {1.05, 0.99, "measured", "b", true, false, false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r;
        result_with(&r, rows[i].failed);
        r.speed = (struct speed_result){.valid = true,
                                        .kind = rows[i].kind,
                                        .vs_solution = rows[i].vs_solution,
                                        .ci_low = rows[i].ci_low,
                                        .solution_speedup = 4,
                                        .output_fully_checked = rows[i].is_full};
        score_points(&r, rows[i].counts);
        ck_assert_msg(r.goals_waived == rows[i].waived, "row %u", i);
        ck_assert_int_eq(r.verdict, rows[i].waived ? V_AC : V_PART);
        NEAR(total_points_lost(&r) + r.score, 100);
        result_free(&r);
    }
}
END_TEST

START_TEST(the_unedited_starter_scores_zero) {
    struct result r;
    result_with(&r, "b");
    r.is_unmodified = true;
    score_points(&r, false);
    ck_assert_int_eq(r.verdict, V_PART);
    NEAR(r.score, 0);
    NEAR(total_points_lost(&r), 100);
    result_free(&r);
}
END_TEST

/* If the model solution is hardly faster than the baseline, the model's error would decide: 20 +
 * 50 of 70. */
START_TEST(zero_point_items_are_omitted_from_the_losses) {
    struct result r;
    result_with(&r, "");
    r.speed = (struct speed_result){
        .valid = true, .kind = "modelled", .vs_solution = 0.5, .solution_speedup = 1.1};
    score_points(&r, true);
    ck_assert(!r.speed_counted);
    NEAR(r.score, 100);
    result_free(&r);
}
END_TEST

/* A failed guard takes no more points than the submission has: 0 of 50, and the report shows 50
 * lost to the goals alone. */
START_TEST(no_points_are_lost_twice) {
    struct result r;
    result_with(&r, "bcde");
    score_points(&r, false);
    NEAR(r.earned.technique, 0);
    NEAR(total_points_lost(&r) + r.score, 100);
    ck_assert_uint_eq(r.npoints_lost, 2);
    result_free(&r);
}
END_TEST

START_TEST(all_goals_with_a_failed_guard_are_partial) {
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
    ck_assert_uint_eq(r.npoints_lost, 0);
    result_free(&r);
}
END_TEST

START_TEST(wrong_results_score_zero) {
    struct result r;
    result_with(&r, "");
    r.verdict = V_RTE;
    score_incorrect(&r);
    ck_assert_uint_eq(r.npoints_lost, 1);
    NEAR(r.points_lost[0].points, 100);
    ck_assert_str_eq(r.points_lost[0].group, "correctness");
    r.verdict = V_IE;
    score_incorrect(&r);
    ck_assert_uint_eq(r.npoints_lost, 0);
    result_free(&r);
}
END_TEST

/* Checks that `verify` makes of the baseline; the complaint contains `expected_text`, "" = no
 * complaint. */
START_TEST(the_baseline_must_fail_each_goal_and_pass_each_guard) {
    static const struct {
        const char *failed, *expected_text;
    } rows[] = {
        {"abc", ""},
        {"ac", ""}, /* a figure of a goal that it meets is a condition */
        {"ab", "the baseline meets every limit of the goal `second goal`"},
        {"abcd", "the guard `first guard` fails on the baseline"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result r;
        struct buf reason = {0};
        result_with(&r, rows[i].failed);
        r.checks.goals_reached = 0;
        ck_assert_int_eq(score_check_rule(&r, &reason), !rows[i].expected_text[0]);
        ck_assert_msg(strstr(buf_str(&reason), rows[i].expected_text), "%s: %s", rows[i].failed,
                      buf_str(&reason));
        buf_free(&reason), result_free(&r);
    }
}
END_TEST

START_TEST(an_exercise_without_goals_is_scored_by_speed) {
    struct result r;
    struct buf reason = {0};
    result_with(&r, "abc");
    r.ntechnique = 0;
    r.checks = (struct check_counts){0, 0, 2, 2, 0};
    ck_assert(!score_check_rule(&r, &reason));
    ck_assert(strstr(buf_str(&reason), "it has no goal"));
    r.checks = (struct check_counts){1, 1, 2, 2, 1}; /* a test with an assertion of its own */
    buf_clear(&reason);
    ck_assert(!score_check_rule(&r, &reason));
    buf_free(&reason), result_free(&r);
}
END_TEST

/* The idea is the reason for lost speed points only where all goals are reached: before that, the
 * missed goal says what to do. */
START_TEST(a_missing_idea_explains_lost_speed_points) {
    for (unsigned goals_reached = 0; goals_reached < 2; goals_reached++) {
        struct result r;
        result_with(&r, goals_reached ? "" : "a");
        r.checks.goals_reached = r.checks.goals - !goals_reached;
        r.checks.goal_progress = r.checks.goals_reached;
        r.speed = (struct speed_result){
            .valid = true, .kind = "modelled", .vs_solution = 0.5, .solution_speedup = 4};
        r.missing_idea = "use vectors (chapter 02-coalescing, \"By hand: vector_loads\")";
        score_points(&r, true);
        const char *reason = r.points_lost[r.npoints_lost - 1].reason;
        ck_assert_msg(!!strstr(reason, "; to go on: use vectors (chapter") == goals_reached, "%s",
                      reason);
        result_free(&r);
    }
}
END_TEST

UNIT_SUITE(score) {
    Suite *s = suite_create("score");
    TCase *t = tcase_create("points");
    tcase_add_test(t, goals_add_points_and_guards_deduct_them);
    tcase_add_test(t, goal_progress_is_logarithmic);
    tcase_add_test(t, speed_has_no_cliff);
    tcase_add_test(t, modelled_speed_gets_the_benefit_of_the_doubt);
    tcase_add_test(t, counted_speed_follows_measured_ratios);
    tcase_add_test(t, the_worst_limit_decides_goal_progress);
    tcase_add_test(t, goals_are_waived_by_outcome);
    tcase_add_test(t, zero_point_items_are_omitted_from_the_losses);
    tcase_add_test(t, the_unedited_starter_scores_zero);
    tcase_add_test(t, without_a_time_other_points_are_scaled_up);
    tcase_add_test(t, lost_points_sum_to_the_difference);
    tcase_add_test(t, a_disqualified_time_earns_no_points);
    tcase_add_test(t, no_points_are_lost_twice);
    tcase_add_test(t, all_goals_with_a_failed_guard_are_partial);
    tcase_add_test(t, wrong_results_score_zero);
    tcase_add_test(t, the_baseline_must_fail_each_goal_and_pass_each_guard);
    tcase_add_test(t, an_exercise_without_goals_is_scored_by_speed);
    tcase_add_test(t, a_missing_idea_explains_lost_speed_points);
    suite_add_tcase(s, t);
    return s;
}

/* test_ladder_points.c — tests the rules on the points and reports of a ladder's steps. Each
 * expected loss is a logarithm by hand, in the comment beside it. */
#include "grader/book/book.h"
#include "grader/cli/ladder_points.h"
#include "grader/tests/unit/unit.h"

/* 40 of 100 points are for speed. The model solution is e / 0.9 times as fast as the baseline, so
 * that a factor of 1.03 in time is ln 1.03 = 0.0296 of them, 1.18 points. */
static struct result step_with(double score) {
    return (struct result){.verdict = V_PART,
                           .score = score,
                           .max_score = 100,
                           .available = {0, 60, 40},
                           .speed_counted = true,
                           .speed = {.valid = true,
                                     .kind = "measured",
                                     .vs_solution = 0.5,
                                     .solution_speedup = 2.718281828 / 0.9}};
}

START_TEST(a_step_may_not_cost_points) {
    static const struct {
        double before, step;
        bool ok;
    } rows[] = {{60, 61, true}, {60, 60, true}, {60, 58.9, true}, {60, 58.7, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct result before = step_with(rows[i].before), step = step_with(rows[i].step);
        struct buf problems = {0};
        ck_assert_int_eq(ladder_keeps_points(&step, &before, &problems), rows[i].ok);
        ck_assert_int_eq(problems.size == 0, rows[i].ok);
        buf_free(&problems);
    }
}
END_TEST

START_TEST(without_speed_points_no_loss_is_accepted) {
    struct result before = step_with(60), step = step_with(59.9);
    struct buf problems = {0};
    step.speed_counted = false;
    ck_assert(!ladder_keeps_points(&step, &before, &problems));
    ck_assert_str_eq(buf_str(&problems),
                     "it gets 59.9 points, the step before 60.0: a step that the book recommends "
                     "must not cost points\n");
    buf_free(&problems);
}
END_TEST

/* Returns what the rule on ideas says of a step that loses speed points for `reason`. */
static const char *complaint(const char *reason, unsigned goals_reached, struct buf *problems) {
    struct point_loss loss = {20, "speed", reason};
    struct result r = step_with(80);
    r.checks = (struct check_counts){.goals = 2, .goals_reached = goals_reached};
    r.points_lost = &loss, r.npoints_lost = 1;
    bool ok = ladder_names_idea(&r, problems);
    ck_assert_int_eq(ok, problems->size == 0);
    return buf_str(problems);
}

START_TEST(a_slow_step_must_name_its_missing_idea) {
    struct err e = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
    static const struct {
        const char *reason;
        unsigned goals_reached;
        const char *expected;
    } rows[] = {
        {"0.5x", 2, "names no missing idea"},
        {"0.5x", 1, ""}, /* its missed goal says what to do */
        {"0.5x; to go on: use vectors", 2, "names no missing idea"},
        {"0.5x; to go on: use vectors (chapter 02-coalescing, \"By hand: vector_loads\")", 2, ""},
        {"0.5x; to go on: use vectors (chapter 02-coalescing, \"By hand: vector\")", 2,
         "which doesn't exist"},
        {"0.5x; to go on: use vectors (chapter 02, \"By hand: vector_loads\")", 2,
         "which doesn't exist"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf problems = {0};
        const char *text = complaint(rows[i].reason, rows[i].goals_reached, &problems);
        ck_assert_msg(rows[i].expected[0] ? strstr(text, rows[i].expected) != NULL : !*text,
                      "row %u: %s", i, text);
        buf_free(&problems);
    }
}
END_TEST

UNIT_SUITE(ladder_points) {
    Suite *s = suite_create("ladder_points");
    TCase *t = tcase_create("rules");
    tcase_add_test(t, a_step_may_not_cost_points);
    tcase_add_test(t, without_speed_points_no_loss_is_accepted);
    tcase_add_test(t, a_slow_step_must_name_its_missing_idea);
    suite_add_tcase(s, t);
    return s;
}

/* test_verify_shard.c — tests what `grader verify --quick --shard K/N` leaves to other shards: no
 * exercise and no chapter in all of them, and nothing that changed. */
#include "grader/cli/verify.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

static const struct exercise one = {.chapter = "00-x", .name = "one"},
                             two = {.chapter = "00-x", .name = "two"},
                             three = {.chapter = "01-y", .name = "one"};
static const struct exercise *list[] = {&one, &two, &three, NULL};
enum { N = 3 };

static struct options options;
static struct verification c = {.o = &options, .list = list};

static void set_shard(unsigned number, unsigned count, bool knows_changes, const char *changed) {
    options.shard_number = number, options.shard_count = count;
    c.knows_changes = knows_changes;
    buf_clear(&c.changed_files);
    buf_puts(&c.changed_files, changed);
}

START_TEST(each_exercise_is_in_one_shard) {
    unsigned count[N] = {0}, chapter_count = 0;
    for (unsigned k = 1; k <= 4; k++) {
        set_shard(k, 4, true, "");
        for (unsigned i = 0; i < N; i++) count[i] += !verify_defers_exercise(&c, i);
        chapter_count += !verify_defers_chapter(&c, "00-x", 0);
    }
    for (unsigned i = 0; i < N; i++) ck_assert_uint_eq(count[i], 1);
    ck_assert_uint_eq(chapter_count, 1);
}
END_TEST

START_TEST(what_changed_is_in_all_shards) {
    static const struct {
        const char *changed;
        bool one, two, three, chapter_00;
    } cases[] = {{"solutions/00-x/one.cu\n", 1, 0, 0, 0},
                 {"solutions/00-x/one-1-slow.cu\nchapters/00-x/one.md\n", 0, 0, 0, 0},
                 {"a\nchapters/00-x/two_test.c\nchapters/01-y/one.cu\n", 0, 1, 1, 0},
                 {"chapters/00-x/lesson/pairs.cu\n", 0, 0, 0, 1},
                 {"a\nchapters/00-x/quiz.md\n", 0, 0, 0, 1},
                 {"x/chapters/00-x/one.cu\nchapters/00-x/README.md.old\n", 0, 0, 0, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_shard(4, 4, true, cases[i].changed);
        ck_assert_int_eq(!verify_defers_exercise(&c, 0), cases[i].one);
        ck_assert_int_eq(!verify_defers_exercise(&c, 1), cases[i].two);
        ck_assert_int_eq(!verify_defers_exercise(&c, 2), cases[i].three);
        ck_assert_int_eq(!verify_defers_chapter(&c, "00-x", 0), cases[i].chapter_00);
    }
}
END_TEST

START_TEST(without_git_or_shards_nothing_is_deferred) {
    for (unsigned k = 0; k < 2; k++) {
        set_shard(4, k ? 4 : 0, !k, "");
        ck_assert(!verify_defers_exercise(&c, 0));
        ck_assert(!verify_defers_chapter(&c, "00-x", 0));
    }
}
END_TEST

START_TEST(a_shard_needs_quick) {
    ck_assert_int_eq(shell("%s/grader verify --shard 1/2 transpose 2>/dev/null", build_folder()),
                     2);
}
END_TEST

UNIT_SUITE(verify_shard) {
    Suite *s = suite_create("verify_shard");
    TCase *t = tcase_create("shards");
    tcase_add_test(t, each_exercise_is_in_one_shard);
    tcase_add_test(t, what_changed_is_in_all_shards);
    tcase_add_test(t, without_git_or_shards_nothing_is_deferred);
    tcase_add_test(t, a_shard_needs_quick);
    suite_add_tcase(s, t);
    return s;
}

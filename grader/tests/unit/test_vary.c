/* test_vary.c — tests variants for exams: what the parser refuses, that a seed always selects the
 * same, that every rule of the book's files applies, and `grader vary` run as a program. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/cli/vary.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char example[] = "# comment\noperation minus: a - b\n`a + b` ==> `a - b`\n"
                              "`a` ==> `c`\noperation twice: 2 a\n`a + b` ==> `2 * a\\nend`\n"
                              "size large: n = 2\n`n = 1` ==> `n = 2`\n";

START_TEST(the_longest_rule_applies_in_one_pass) {
    struct vary_list list;
    struct err e = {0};
    struct buf out = {0};
    ck_assert_msg(vary_parse(example, &list, &e), "%s", e.text);
    ck_assert_uint_eq(list.n, 3);
    struct vary_choice *minus[2] = {&list.choices[0], &list.choices[2]};
    ck_assert(vary_apply(minus, "a + b, a, n = 1", &out));
    /* `a - b` is not changed again by the rule for `a`. */
    ck_assert_str_eq(buf_str(&out), "a - b, c, n = 2");
    struct vary_choice *twice[2] = {&list.choices[1], NULL};
    buf_clear(&out);
    ck_assert(vary_apply(twice, "a + b", &out));
    ck_assert_str_eq(buf_str(&out), "2 * a\nend");
    buf_clear(&out);
    ck_assert(!vary_apply(twice, "n = 1", &out));
    buf_free(&out), vary_free(&list);
}
END_TEST

START_TEST(a_seed_selects_the_same_and_seeds_differ) {
    struct vary_list list;
    struct err e = {0};
    unsigned seen[2] = {0};
    ck_assert(vary_parse(example, &list, &e));
    for (unsigned i = 0; i < 20; i++) {
        char seed[16];
        struct vary_choice *first[2], *second[2];
        snprintf(seed, sizeof seed, "exam-%u", i);
        vary_select(&list, seed, first), vary_select(&list, seed, second);
        ck_assert(first[0] == second[0] && first[1] == &list.choices[2]);
        seen[first[0] - list.choices]++;
    }
    ck_assert(seen[0] && seen[1]);
    vary_free(&list);
}
END_TEST

static const char *const refused[][2] = {
    {"size large: n\n`a` ==> `b`\n", "the file has no operation"},
    {"operation minus\n", "line 1: expected `operation NAME: DESCRIPTION`"},
    {"`a` ==> `b`\n", "line 1: expected an operation, a size, or a rule"},
    {"operation minus: x\n\n`a` => `b`\n", "line 3: expected an operation, a size, or a rule"},
    {"operation minus: x\n`` ==> `b`\n", "line 2: expected an operation, a size, or a rule"},
};

START_TEST(invalid_files_are_refused) {
    struct vary_list list;
    struct err e = {0};
    ck_assert(!vary_parse(refused[_i][0], &list, &e));
    ck_assert_msg(text_starts_with(e.text, refused[_i][1]), "%s", e.text);
    vary_free(&list);
}
END_TEST

/* ---- the book's variants ---- */

static void read_all(const char *pattern, struct buf *out) {
    struct err e = {0};
    glob_t found = {0};
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        ck_assert_msg(file_read(found.gl_pathv[i], 1 << 20, out, &e), "%s", e.text);
    globfree(&found);
}

/* Appends the texts that `grader vary` changes, and those of the model solution alone. */
static void read_exercise(const struct exercise *ex, struct buf *all, struct buf *solution) {
    static const char *const patterns[] = {
        "chapters/%s.cu",  "chapters/%s.md",         "chapters/%s_test.c",
        "solutions/%s.cu", "solutions/%s-[0-9]*.cu", "grader/tests/mutants/%s/*.cu"};
    char path[300];
    for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, patterns[i], book_id(ex));
#pragma GCC diagnostic pop
        read_all(path, all);
        if (i == 3) read_all(path, solution);
    }
}

static void check_choice(const struct exercise *ex, struct vary_choice *c) {
    struct buf all = {0}, solution = {0}, out = {0};
    struct vary_choice *chosen[2] = {c, NULL};
    read_exercise(ex, &all, &solution);
    vary_apply(chosen, buf_str(&all), &out);
    for (unsigned i = 0; i < c->n; i++)
        ck_assert_msg(c->rules[i].is_used, "%s.vary: %s: no file has `%s`", ex->name, c->name,
                      c->rules[i].from);
    buf_clear(&out);
    /* Another operation needs another solution; another size doesn't. */
    ck_assert_msg(c->is_size || vary_apply(chosen, buf_str(&solution), &out),
                  "%s.vary: %s leaves the solution as it is", ex->name, c->name);
    buf_free(&all), buf_free(&solution), buf_free(&out);
}

START_TEST(every_rule_applies_to_its_exercise) {
    unsigned exercises = 0, chapters = 0;
    const char *chapter = "";
    for (unsigned i = 0; i < book_count(); i++) {
        char path[300];
        struct buf text = {0};
        struct vary_list list;
        struct err e = {0};
        snprintf(path, sizeof path, "chapters/%s.vary", book_id(book_at(i)));
        if (!file_exists(path)) continue;
        ck_assert(file_read(path, 1 << 20, &text, &e));
        ck_assert_msg(vary_parse(buf_str(&text), &list, &e), "%s: %s", path, e.text);
        for (unsigned k = 0; k < list.n; k++) check_choice(book_at(i), &list.choices[k]);
        exercises++, chapters += strcmp(chapter, book_at(i)->chapter) != 0;
        chapter = book_at(i)->chapter;
        vary_free(&list), buf_free(&text);
    }
    ck_assert_uint_ge(exercises, 24);
    ck_assert_uint_ge(chapters, 16);
}
END_TEST

START_TEST(what_cannot_be_varied_is_refused) {
    const char *b = build_folder();
    ck_assert_int_eq(shell("%s/grader vary spmv --seed x --output /tmp/wb-none 2>&1 | grep -q "
                           "'spmv has no variants; these exercises have some: vector_add '",
                           b),
                     0);
    ck_assert_int_eq(shell("%s/grader vary transpose --output /tmp/wb-none 2>&1 | grep -q "
                           "'vary needs --seed TEXT'",
                           b),
                     0);
    ck_assert_int_eq(shell("%s/grader vary transpose --seed x --output /tmp 2>&1 | grep -q "
                           "'/tmp exists; name a new folder'",
                           b),
                     0);
}
END_TEST

#define EXAM_FILE \
    "printf 'seed = \"s\"\n[[exercise]]\nname = \"%s\"\nvariant = \"2027\"\n' >%s/exam.toml && "

/* The original must not be graded where an assignment says that students have a variant. */
START_TEST(an_assignment_with_a_variant_is_not_graded_by_the_original) {
    const char *b = build_folder();
    char folder[] = "/tmp/wb-exam.XXXXXX";
    ck_assert(mkdtemp(folder));
    ck_assert_int_eq(
        shell(EXAM_FILE "mkdir -p %s/c/ann && echo '// x' >%s/c/ann/scale_add.cu && %s/grader "
                        "batch %s/c --assignment %s/exam.toml 2>&1 | grep -q \"exam.toml:2: this "
                        "book doesn't have that variant of scale_add: grade in the copy\"",
              "scale_add", folder, folder, folder, b, folder, folder),
        0);
    ck_assert_int_eq(shell(EXAM_FILE "%s/grader vary --assignment %s/exam.toml --output %s/o 2>&1 "
                                     "| grep -q 'spmv has no variants; these exercises'",
                           "spmv", folder, b, folder, folder),
                     0);
    ck_assert_int_eq(shell("sed -i /variant/d %s/exam.toml && %s/grader vary --assignment "
                           "%s/exam.toml --output %s/o 2>&1 | grep -q 'no ..exercise.. has a line "
                           "variant'",
                           folder, b, folder, folder),
                     0);
    shell("rm -r %s", folder);
}
END_TEST

/* A variant's rules would show students what may change. */
START_TEST(students_get_no_variants) {
    int id = getpid();
    ck_assert_int_eq(shell("cd /tmp && XDG_STATE_HOME=/tmp/wb-vary.%d/state %s/grader begin "
                           "wb-vary.%d/work >/dev/null && test -f "
                           "wb-vary.%d/work/chapters/07-fusion/scale_add.cu && "
                           "! ls wb-vary.%d/work/chapters/*/*.vary wb-vary.%d/work/chapters/*.def "
                           "2>/dev/null",
                           id, build_folder(), id, id, id, id),
                     0);
    shell("rm -rf /tmp/wb-vary.%d*", id);
}
END_TEST

/* Copies, builds, verifies; then the variant's own solution passes, and the original one doesn't,
 * also where the assignment that names the variant is graded. */
START_TEST(a_variant_is_built_and_verified) {
    const char *b = build_folder();
    int id = getpid();
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/wb-vary.%d.class", id);
    ck_assert_int_eq(shell("mkdir -p %s/ann %s/bob && " EXAM_FILE
                           "%s/grader vary --assignment %s/exam.toml --output /tmp/wb-vary.%d "
                           ">/tmp/wb-vary.%d.log",
                           folder, folder, "scale_add", folder, b, folder, id, id),
                     0);
    ck_assert_int_eq(
        shell("cd /tmp/wb-vary.%d && cp solutions/07-fusion/scale_add.cu %s/ann && cp "
              "%s/../solutions/07-fusion/scale_add.cu %s/bob && ! build/grader batch %s/ann %s/bob "
              "--assignment %s/exam.toml --format csv >%s/csv && grep -q '^\"ann\",.*,AC,' "
              "%s/csv && grep -q '^\"bob\",.*,WA,' %s/csv",
              id, folder, b, folder, folder, folder, folder, folder, folder, folder),
        0);
    ck_assert_int_eq(shell("grep -q '^vary: the solution of the original exercise: "
                           "07-fusion/scale_add  WA' /tmp/wb-vary.%d.log",
                           id),
                     0);
    ck_assert_int_eq(shell("cd /tmp/wb-vary.%d && build/grader run scale_add --file "
                           "solutions/07-fusion/scale_add.cu >/dev/null",
                           id),
                     0);
    shell("rm -rf /tmp/wb-vary.%d*", id);
}
END_TEST

UNIT_SUITE(vary) {
    Suite *s = suite_create("vary");
    TCase *t = tcase_create("vary"), *whole = tcase_create("a whole variant");
    tcase_add_test(t, the_longest_rule_applies_in_one_pass);
    tcase_add_test(t, a_seed_selects_the_same_and_seeds_differ);
    tcase_add_loop_test(t, invalid_files_are_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(t, every_rule_applies_to_its_exercise);
    tcase_add_test(t, what_cannot_be_varied_is_refused);
    tcase_add_test(t, an_assignment_with_a_variant_is_not_graded_by_the_original);
    tcase_add_test(t, students_get_no_variants);
    suite_add_tcase(s, t);
    tcase_set_tags(whole, "long");
    tcase_set_timeout(whole, 900);
    tcase_add_test(whole, a_variant_is_built_and_verified);
    suite_add_tcase(s, whole);
    return s;
}

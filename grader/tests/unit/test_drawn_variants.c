/* test_drawn_variants.c — tests variants that differ between the students of a class: the draw,
 * its file, what the gradebook says of a solution of another variant, and a whole class graded
 * with the programs. */
#include "common/file.h"
#include "grader/class/assignment_draw.h"
#include "grader/cli/class_copies.h"
#include "grader/cli/vary.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char example[] = "operation a: x\n`x` ==> `a`\noperation b: x\n`x` ==> `b`\n"
                              "operation c: x\n`x` ==> `c`\nsize s: x\n`y` ==> `s`\n"
                              "size t: x\n`y` ==> `t`\n";

/* Three operations have six orders: 40 seeds show more than one. */
START_TEST(each_number_has_another_operation) {
    struct vary_list list;
    struct err e = {0};
    struct vary_choice *chosen[2], *again[2];
    unsigned first[3] = {0};
    ck_assert_msg(vary_parse(example, &list, &e), "%s", e.text);
    for (unsigned i = 0; i < 40; i++) {
        char seed[16];
        unsigned seen = 0;
        snprintf(seed, sizeof seed, "exam-%u", i);
        for (unsigned k = 1; k <= 3; k++) {
            ck_assert(vary_draw(&list, seed, "02-x/y", k, chosen));
            ck_assert(vary_draw(&list, seed, "02-x/y", k, again));
            ck_assert(chosen[0] == again[0] && chosen[1] == again[1] && chosen[1]->is_size);
            seen |= 1U << (chosen[0] - list.choices);
            if (k == 1) first[chosen[0] - list.choices]++;
        }
        ck_assert_uint_eq(seen, 7);
        ck_assert(!vary_draw(&list, seed, "02-x/y", 4, chosen));
    }
    ck_assert(first[0] && first[1] && first[2]);
    vary_free(&list);
}
END_TEST

/* A fair draw of 400 students gives each of four numbers about 100; 60 and 140 are over four
 * standard deviations (8.7) away. */
START_TEST(the_seed_and_the_id_draw_the_number) {
    struct assignment a = {.variants = {.count = 4, .seed = "one"}}, b = a;
    unsigned count[5] = {0}, equal = 0;
    strcpy(b.variants.seed, "two");
    for (unsigned i = 0; i < 400; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%u", i);
        unsigned number = assignment_draw_number(&a, id, "");
        ck_assert(number >= 1 && number <= 4);
        ck_assert_uint_eq(number, assignment_draw_number(&a, id, ""));
        equal += number == assignment_draw_number(&b, id, "");
        count[number]++;
    }
    for (unsigned k = 1; k <= 4; k++) ck_assert(count[k] > 60 && count[k] < 140);
    ck_assert(equal > 60 && equal < 140);
    /* Members of a group hand in one file, so they have one number. */
    for (unsigned i = 0; i < 20; i++) {
        char group[16];
        snprintf(group, sizeof group, "g%u", i);
        ck_assert_uint_eq(assignment_draw_number(&a, "ann", group),
                          assignment_draw_number(&a, "bob", group));
    }
}
END_TEST

/* ---- the store ---- */

static void execute(struct store *s, const char *sql) {
    struct err e = {0};
    ck_assert_msg(store_exec(s, &e, sql, ""), "%s", e.text);
}

static void check_row(struct store *s, const char *student, const char *expected_text) {
    struct err e = {0};
    struct store_rows *q =
        store_query(s, &e,
                    "SELECT coalesce(CAST(variant AS TEXT), '-') || '|' || coalesce(CAST("
                    "solves_variant AS TEXT), '-') || '|' || coalesce(CAST(score AS TEXT), '-') || "
                    "'|' || reason FROM gradebook WHERE student = ?",
                    "t", student);
    ck_assert_msg(store_step(s, &q, &e), "%s", e.text);
    ck_assert_str_eq(store_column_text(q, 0), expected_text);
    store_finalize(&q);
}

/* The file counts, for a student whom it lacks the seed. */
START_TEST(the_file_says_who_has_which) {
    struct assignment a = {.variants = {.count = 4, .seed = "one"}};
    struct roster roster = {0};
    struct store s;
    struct err e = {0};
    char path[600];
    snprintf(a.variants.folder, sizeof a.variants.folder, "%s/tests/draw", build_folder());
    ck_assert_int_eq(shell("rm -rf %s && mkdir -p %s", a.variants.folder, a.variants.folder), 0);
    ck_assert(store_open(&s, NULL, true, &e));
    execute(&s, "INSERT INTO student (id, name, rostered, entries, doubt) VALUES "
                "('ann', '', 1, 1, ''), ('bob', '', 1, 1, ''), ('=1', '', 1, 1, '')");
    ck_assert(!assignment_draw_save(&a, &s, &e));
    ck_assert_msg(strstr(e.text, "/variants.csv does not exist: write the variants"), "%s", e.text);
    snprintf(path, sizeof path, "%s/r.csv", a.variants.folder);
    e = (struct err){0};
    const char text[] = "id,name,group\nann,\"Ann, A\",g\n=1,,\n";
    ck_assert(file_write(path, text, strlen(text), &e) && roster_read(path, &roster, &e) &&
              assignment_draw_write(&a, &roster, &e));
    ck_assert_msg(assignment_draw_save(&a, &s, &e), "%s", e.text);
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM student WHERE variant = CASE id WHEN 'ann' THEN %u WHEN 'bob' "
             "THEN %u ELSE %u END",
             assignment_draw_number(&a, "", roster.rows[0].group),
             assignment_draw_number(&a, "bob", ""), assignment_draw_number(&a, "=1", ""));
    ck_assert_int_eq(store_query_int(&s, &e, sql), 3);
    ck_assert_int_eq(
        shell("printf 'student;variant\\nbob;5\\n' >%s/variants.csv", a.variants.folder), 0);
    ck_assert(!assignment_draw_save(&a, &s, &e));
    ck_assert_msg(strstr(e.text, "row 2: the variant must be 1 to 4"), "%s", e.text);
    roster_free(&roster), store_close(&s);
}
END_TEST

static const char *const class_sql[] = {
    "INSERT INTO assignment VALUES (1, 'x', '', '', 0, 0, 0, 0, 0)",
    "INSERT INTO assigned VALUES ('e', 1, 40, 0, 1)",
    "INSERT INTO student (id, name, rostered, entries, doubt, variant) VALUES ('ann', '', 1, 1, "
    "'', 1), ('bob', '', 1, 1, '', 2), ('cid', '', 1, 1, '', 3), ('dan', '', 1, 1, '', 3)",
    "INSERT INTO source VALUES ('a', 'x'), ('c', 'y')",
    "INSERT INTO result (key, exercise, digest, file, seed, device, grader, nvcc, book, counted, "
    "jail, graded_at, seconds, verdict, score, max_score, reason, report, json) SELECT k, 'e', d, "
    "'', '', '', '', '', '', 1, '', '', 0, v, p, 100, 'why', '', '{}' FROM (SELECT 'a1' AS k, 'a' "
    "AS d, 'AC' AS v, 100 AS p UNION SELECT 'a2', 'a', 'WA', 20 UNION SELECT 'a0', 'a', 'WA', 20 "
    "UNION SELECT 'a3', 'a', 'WA', 20 UNION SELECT 'c3', 'c', 'WA', 10 UNION SELECT 'c0', 'c', "
    "'PART', 50 UNION SELECT 'c1', 'c', 'WA', 0 UNION SELECT 'c2', 'c', 'PART', 0) t",
    "INSERT INTO submission (student, exercise, state, digest, file, why, key) VALUES ('ann', 'e', "
    "'taken', 'a', '', '', 'a1'), ('bob', 'e', 'taken', 'a', '', '', 'a2'), ('cid', 'e', 'taken', "
    "'c', '', '', 'c3'), ('dan', 'e', 'taken', 'a', '', '', 'a3')",
    "INSERT INTO variant_check VALUES ('a2', 0, 'a0'), ('a2', 1, 'a1'), ('a2', 3, 'a3'), ('c3', 1, "
    "'c1'), ('c3', 2, 'c2')"};

/* bob handed in ann's file, cid the book's. An untouched starter file is no solution: c2 has no
 * points. Before the checks, dan keeps what his cases earn. */
START_TEST(a_solution_of_another_variant_has_no_points) {
    struct assignment a = {.variants = {.count = 3}};
    struct store s;
    struct err e = {0};
    ck_assert(store_open(&s, NULL, true, &e));
    for (unsigned i = 0; i < sizeof class_sql / sizeof *class_sql; i++) execute(&s, class_sql[i]);
    check_row(&s, "ann", "1|-|100.0|why");
    check_row(&s, "bob", "2|1|0.0|solves variant 1, not this student's variant 2");
    check_row(&s, "cid", "3|-|10.0|why");
    check_row(&s, "dan", "3|-|20.0|why");
    /* Of three failures each needs three results; five are there. */
    ck_assert_int_eq(assignment_draw_count_unchecked(&a, &s, &e), 4);
    execute(&s, "INSERT INTO variant_check VALUES ('c3', 0, 'c0')");
    check_row(&s, "cid", "3|0|0.0|solves the book's exercise, not this student's variant 3");
    ck_assert_int_eq(store_query_int(&s, &e, "SELECT percent FROM total WHERE student = 'bob'"), 0);
    /* An instructor's score still counts. */
    execute(&s, "INSERT INTO decision (student, exercise, kind, line, value, reason, author, "
                "made_at, former) VALUES ('bob', 'e', 'score', 0, '50', 'wrong download', 'Poe', "
                "'', '0')");
    check_row(&s, "bob", "2|1|50.0|score by Poe: wrong download (before: 0)");
    /* Another variant after a change of the file: nothing is left of the finding. */
    execute(&s, "UPDATE assigned SET varied = 0");
    check_row(&s, "cid", "-|-|10.0|why");
    store_close(&s);
}
END_TEST

/* ---- graders of copies ---- */

/* Returns true if a copy's grader, here a script, has the seed among its arguments. */
static bool passes_seed(const struct options *o, struct store *s, const char *seed) {
    struct err e = {0};
    ck_assert_msg(cli_copies_run(o, s, "batch", seed, NULL, &e), "%s", e.text);
    return !shell("grep -q -- '--seed %s' %s/args", seed, o->loaded_assignment->variants.folder);
}

/* Other users see the arguments. */
START_TEST(a_secret_seed_is_no_argument) {
    struct assignment a = {.seed = "secret", .variants = {.count = 1}};
    struct options o = {.loaded_assignment = &a};
    struct store s;
    struct err e = {0};
    char path[128];
    ck_assert_msg(options_add_device(&o, "sim:h200", &e), "%s", e.text);
    snprintf(a.variants.folder, sizeof a.variants.folder, "/tmp/wb-copies.%d", (int)getpid());
    ck_assert_int_eq(shell("mkdir -p %s/1/build && cd %s && printf '#!/bin/sh\\necho \"$@\" "
                           ">%s/args\\n' >1/build/grader && chmod +x 1/build/grader",
                           a.variants.folder, a.variants.folder, a.variants.folder),
                     0);
    snprintf(path, sizeof path, "%.64s/s.db", a.variants.folder);
    ck_assert(store_open(&s, path, true, &e));
    o.has_seed = true;
    ck_assert(!passes_seed(&o, &s, "secret"));
    ck_assert(passes_seed(&o, &s, "typed"));
    o.has_seed = false;
    ck_assert(!passes_seed(&o, &s, "stored"));
    store_close(&s);
    shell("rm -rf %s", a.variants.folder);
}
END_TEST

/* ---- a whole class ---- */

static char folder[64];

static int in_class(const char *line) {
    return shell("cd %s && PATH=%s:$PATH && { %s; } >out 2>&1 || { cat out >&2; false; }", folder,
                 build_folder(), line);
}

static void write_class(void) {
    snprintf(folder, sizeof folder, "/tmp/wb-draw.%d", getpid());
    ck_assert_int_eq(
        shell(
            "mkdir -p %s && cd %s && printf 'id,name\\nann,Ann\\nbob,Bob\\ncid,Cid\\ndan,Dan\\n' "
            ">r.csv && printf 'seed = \"s\"\\nroster = \"r.csv\"\\n[variants]\\ncount = 2\\nseed = "
            "\"private-seed\"\\nfolder = \"copies\"\\n[[exercise]]\\nname = \"scale_add\"\\nvaried "
            "= "
            "true\\n' >hw.toml",
            folder, folder),
        0);
}

/* Gives ann variant 1, bob, cid and dan variant 2. Ann solves hers, bob his with the names
 * changed, cid hands in Ann's, dan the book's solution. */
static void hand_in(void) {
    ck_assert_int_eq(
        in_class("printf 'student,variant\\nann,1\\nbob,2\\ncid,2\\ndan,2\\n' >copies/variants.csv "
                 "&& mkdir -p c/ann c/bob c/cid c/dan && f=solutions/07-fusion/scale_add.cu && cp "
                 "copies/1/$f c/ann && cp copies/2/$f c/bob && sed 's/\\bu\\b/first/g' copies/1/$f "
                 ">c/cid/scale_add.cu"),
        0);
    ck_assert_int_eq(shell("cp solutions/07-fusion/scale_add.cu %s/c/dan", folder), 0);
}

static void check_grades(void) {
    ck_assert_int_eq(
        in_class("! grader batch c --assignment hw.toml --store a.db --format csv "
                 "--output g.csv && tr -d '\\r' <g.csv | cut -d, -f1,3,4 >g; tr -d '\\r' "
                 "<g.csv | sed 's/.*,\\([^,]*,[^,]*\\)$/\\1/' >v"),
        0);
    ck_assert_int_eq(
        in_class(
            "[ \"$(tail -n +2 g | tr '\\n' ' ')\" = '\"ann\",AC,100.0 \"bob\",AC,100.0 "
            "\"cid\",WA,0.0 \"dan\",WA,0.0 ' ] && [ \"$(tail -n +2 v | tr '\\n' ' ')\" = '1, 2, "
            "2,1 2,0 ' ]"),
        0);
    ck_assert_int_eq(in_class("grep -q \"solves variant 1, not this student's variant 2\" g.csv && "
                              "grep -q \"solves the book's exercise, not this\" g.csv"),
                     0);
}

/* Nothing is graded twice, also from the store alone; then each export says the same. */
static void check_resume_and_exports(void) {
    ck_assert_int_eq(
        in_class("n() { sqlite3 a.db 'SELECT count(*), max(graded_at) FROM result'; }; "
                 "n >n1; ! grader batch --store a.db >/dev/null; n >n2; cmp n1 n2"),
        0);
    ck_assert_int_eq(
        in_class(
            "grader export a.db --format json >j && [ $(grep -c '\"variant\": ' j) = 4 ] && "
            "[ $(grep -c '\"solves_variant\": ' j) = 2 ] && grader export a.db --format totals "
            "| grep -q '^\"cid\",.*,0.00,'"),
        0);
    ck_assert_int_eq(in_class("grader reproduce a.db bob scale_add | grep -qx identical"), 0);
    ck_assert_int_eq(in_class("grader similar a.db >s; grep ann s | grep -q cid"), 0);
    ck_assert_int_eq(
        in_class(
            "grader feedback a.db pages && test -f pages/bob-scale_add.html && "
            "test -f pages/cid-scale_add.html && grep -q 'solves another variant' pages/cid.md && "
            "! grep -q 'another variant' pages/bob.md && ! grep -rq private-seed pages"),
        0);
    ck_assert_int_eq(
        in_class("grader anonymize a.db b.db && [ $(sqlite3 b.db \"SELECT count(*) FROM "
                 "gradebook WHERE solves_variant IS NOT NULL AND score = 0\") = 2 ]"),
        0);
}

/* What students get of a copy names neither the seed nor another variant nor the number. */
static void check_secrecy(void) {
    ck_assert_int_eq(
        in_class(
            "XDG_STATE_HOME=$PWD/state copies/1/build/grader begin work >/dev/null && grep -q "
            "'a [*] x' work/chapters/07-fusion/scale_add.md && ! grep -rqE 'private-seed|^copy "
            "[0-9]+ of ' work && ! find work | grep -qE 'vary$|variants.txt'"),
        0);
    ck_assert_int_eq(in_class("! grep -rq private-seed copies --include=*.txt --include=*.csv "
                              "--include=*.md"),
                     0);
}

START_TEST(a_class_with_two_variants_is_graded) {
    write_class();
    ck_assert_int_eq(in_class("! grader vary --assignment hw.toml --output x && grep -q 'give no "
                              "--output' out"),
                     0);
    ck_assert_int_eq(
        in_class("mkdir -p e/ann && echo '// x' >e/ann/scale_add.cu && ! grader batch "
                 "e --assignment hw.toml --store e.db && grep -q 'copies/1 doesn.t have "
                 "variant 1' out"),
        0);
    ck_assert_int_eq(
        in_class("grader vary --assignment hw.toml && [ $(wc -l <copies/variants.csv) "
                 "= 5 ] && grep -q 'the solution of variant 2 in variant 1: .* WA' out"),
        0);
    hand_in();
    check_grades();
    check_resume_and_exports();
    check_secrecy();
    shell("rm -rf %s", folder);
}
END_TEST

UNIT_SUITE(drawn_variants) {
    Suite *s = suite_create("drawn_variants");
    TCase *t = tcase_create("the draw"), *whole = tcase_create("a whole class");
    tcase_add_test(t, each_number_has_another_operation);
    tcase_add_test(t, the_seed_and_the_id_draw_the_number);
    tcase_add_test(t, the_file_says_who_has_which);
    tcase_add_test(t, a_solution_of_another_variant_has_no_points);
    tcase_add_test(t, a_secret_seed_is_no_argument);
    suite_add_tcase(s, t);
    tcase_set_tags(whole, "long");
    tcase_set_timeout(whole, 1800);
    tcase_add_test(whole, a_class_with_two_variants_is_graded);
    suite_add_tcase(s, whole);
    return s;
}

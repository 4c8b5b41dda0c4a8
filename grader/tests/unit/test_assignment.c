/* test_assignment.c — tests assignments: what a file may contain and how errors are reported,
 * days late, hidden cases and credit for cases through the programs, and the resulting marks.
 * The expected figures are derived by hand beside each case. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/assignment.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static char class_folder[4096];

static int run_in_class(const char *line) {
    return shell("cd %s && PATH=%s:$PATH && { %s; } >out 2>&1", class_folder, build_folder(), line);
}

static void begin(void) {
    snprintf(class_folder, sizeof class_folder, "%s/tests/assignment", build_folder());
    ck_assert_int_eq(
        shell("rm -rf %s && mkdir -p %s/private %s/c", class_folder, class_folder, class_folder),
        0);
}

static void write_text(const char *name, const char *text) {
    char path[4200];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", class_folder, name);
    ck_assert_msg(file_write(path, text, strlen(text), &e), "%s", e.text);
}

static bool read_is_ok(const char *text, struct assignment *a, struct err *e) {
    char path[4200];
    *e = (struct err){0};
    write_text("a.toml", text);
    snprintf(path, sizeof path, "%s/a.toml", class_folder);
    return assignment_read(path, false, a, e);
}

START_TEST(an_assignment_file_is_parsed) {
    struct assignment a;
    struct err e;
    begin();
    ck_assert_msg(
        read_is_ok("name = \"Homework 1\"\ndevice = \"sim:a100\"\nseed = \"s\"\ndrop_lowest = "
                   "1\nmodelled_speed = false\n"
                   "deadline = 2026-10-01T23:59:00+02:00\n[late]\nfree_days = 1\nmost_days = "
                   "3\npenalty = 10\n"
                   "[[exercise]]\nname = \"transpose\"\nweight = 2.5\n[[exercise]]\nname = "
                   "\"02-coalescing/particles\"\n"
                   "credit_for_cases = 30\nhidden = \"private/x.c\"\n",
                   &a, &e),
        "%s", e.text);
    ck_assert_str_eq(a.name, "Homework 1");
    ck_assert_int_eq(a.deadline, 1790891940); /* date -d 2026-10-01T21:59:00Z +%s */
    ck_assert(a.n == 2 && a.parts[0].weight == 2.5 && a.parts[1].weight == 1 &&
              a.parts[1].policy.case_points == 30);
    ck_assert_str_eq(book_id(a.parts[1].ex), "02-coalescing/particles");
    ck_assert(text_ends_with(a.parts[1].hidden_path, "/assignment/private/x.c"));
    ck_assert(!a.count_modelled && a.drop_lowest == 1);
    /* A second late is a day; the first is free, then 10 % each, nothing after the third. */
    ck_assert_int_eq(assignment_days_late(&a, a.deadline), 0);
    ck_assert_int_eq(assignment_days_late(&a, a.deadline + 1), 1);
    ck_assert_int_eq(assignment_days_late(&a, a.deadline + 86400), 1);
    ck_assert_int_eq(assignment_days_late(&a, a.deadline + 86401), 2);
    ck_assert(assignment_late_factor(&a, 1) == 1 && assignment_late_factor(&a, 2) == 0.9 &&
              assignment_late_factor(&a, 3) == 0.8);
    ck_assert(assignment_late_factor(&a, 4) == 0);
    assignment_free(&a);
}
END_TEST

static const struct {
    const char *text, *expected_text;
} refused[] = {
    {"name = \"x\"\n", "a.toml:1: no exercise: add [[exercise]]"},
    {"name = 'x'\n\nnome = 3\n",
     "a.toml:3: 'nome' is not a key here; the keys are: name, device, seed"},
    {"[[exercise]]\nname = \"transpose\"\nwieght = 2\n",
     "a.toml:3: 'wieght' is not a key of exercise"},
    {"[[exercise]]\nname = \"transpoze\"\n", "a.toml:2: "},
    {"[[exercise]]\nname = \"02-coalescing\"\n", "a.toml:2: '02-coalescing' is a chapter"},
    {"[[exercise]]\nname = \"transpose\"\n[[exercise]]\nname = \"transpose\"\n",
     "a.toml:4: 02-coalescing/transpose is listed twice"},
    {"[[exercise]]\nname = \"transpose\"\nweight = \"2\"\n", "a.toml:3: weight takes a number"},
    {"[[exercise]]\nname = \"transpose\"\nweight = nan\n",
     "a.toml:3: weight takes a number from 0"},
    {"[[exercise]]\nweight = 2\n", "a.toml:1: this exercise has no name"},
    {"deadline = 2026-10-01T23:59:00\n", "a.toml:1: deadline needs an offset from UTC"},
    {"[variants]\ncount = 2\nseed = \"s\"\n[[exercise]]\nname = \"transpose\"\nvaried = true\n",
     "a.toml:1: [variants] needs count, seed and folder"},
    {"[[exercise]]\nname = \"transpose\"\nvaried = true\n",
     "a.toml:1: varied needs a table [variants]"},
    {"[variants]\ncount = 2\nseed = \"s\"\nfolder = \"f\"\n[[exercise]]\nname = \"transpose\"\n",
     "a.toml:1: no [[exercise]] has a line varied = true"},
    {"[variants]\ncount = 2\nseed = \"s\"\nfolder = \"f\"\n[[exercise]]\nname = \"transpose\"\n"
     "variant = \"x\"\n",
     "a.toml:5: variant and [variants] exclude each other"},
    {"deadline = \"tomorrow\"\n", "a.toml:1: deadline takes a date with time"},
    {"drop_lowest = 1\n[[exercise]]\nname = \"transpose\"\n",
     "drop_lowest is 1; it must be less than the number of exercises, 1"},
    {"[late]\npenalty = 10\n[[exercise]]\nname = \"transpose\"\n",
     "a.toml:1: [late] needs a deadline"},
    {"utc_offset = \"CEST\"\n[[exercise]]\nname = \"transpose\"\n", "utc_offset is 'CEST'"},
    {"[lates]\n", "a.toml:1: unknown table [lates]"},
    {"a = [1,\nb = 2\n", "a.toml:2: "},
    {"[gradescope]\ngoals = \"maybe\"\n",
     "a.toml:2: goals must be visible, hidden, after_due_date or after_published"},
};

START_TEST(errors_in_the_file_are_reported_with_their_line) {
    struct assignment a;
    struct err e;
    begin();
    ck_assert(!read_is_ok(refused[_i].text, &a, &e));
    ck_assert_msg(strstr(e.text, refused[_i].expected_text), "%s: %s", refused[_i].text, e.text);
}
END_TEST

/* As Moodle exports its worksheet: ann is in time to the minute, bob a minute late, cid without a
 * time, dan in another language. The offset is not a DST rule, so a day in winter shows it. */
START_TEST(times_of_moodles_worksheet_count_with_an_offset) {
    begin();
    write_text("w.csv",
               "Identifier,\"Full name\",Grade,\"Last modified (submission)\"\n"
               "Participant 1,ann,,\"Thursday, 1 October 2026, 9:59 PM\"\n"
               "Participant 2,bob,,\"Thursday, 1 October 2026, 22:00\"\nParticipant 3,cid,,-\n"
               "Participant 4,dan,,\"Donnerstag, 1. Oktober 2026, 22:00\"\n");
    write_text("c/ann_1_assignsubmission_file_transpose.cu", "// a");
    for (unsigned i = 0; i < 2; i++) {
        char path[4200];
        struct err e = {0};
        snprintf(path, sizeof path, "%s/m.toml", class_folder);
        struct buf text = {0};
        buf_printf(&text,
                   "roster = \"w.csv\"\ndeadline = 2026-10-01T21:59:00+02:00\n%s[[exercise]]\nname "
                   "= \"transpose\"\n",
                   i ? "utc_offset = \"+02:00\"\n" : "");
        ck_assert(file_write(path, buf_str(&text), text.size, &e));
        buf_free(&text);
        ck_assert_int_eq(
            run_in_class("rm -f m.db; grader intake c --assignment m.toml --store m.db "
                         ">said; sqlite3 m.db 'SELECT name, submitted_at, days_late "
                         "FROM student JOIN late ON id = student ORDER BY id' >t"),
            0);
        ck_assert_int_eq(
            run_in_class(i ? "[ \"$(cat t | tr '\\n' ' ')\" = 'ann|2026-10-01T19:59:00Z|0 "
                             "bob|2026-10-01T20:00:00Z|1 cid||0 dan||0 ' ]"
                           : "[ \"$(cat t | tr '\\n' ' ')\" = 'ann||0 bob||0 cid||0 dan||0 ' ]"),
            0);
    }
}
END_TEST

START_TEST(lms_timestamps_are_parsed) {
    static const struct {
        const char *text;
        long long at;
    } good[] = {{"2026-10-01T21:59:00Z", 1790891940},
                {"2026-10-01T23:59:00+02:00", 1790891940},
                {"2026-10-01 21:59:00.853527000 Z", 1790891940}, /* Gradescope's YAML */
                {"2026-10-01T14:59:00.123456-07:00", 1790891940},
                {"2026-10-01 21:59:00 UTC", 1790891940},
                {"2026-10-01 23:59:00 +0200", 1790891940}};
    long long t;
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(assignment_parse_time(good[i].text, &t) && t == good[i].at, "%s",
                      good[i].text);
    ck_assert(!assignment_parse_time("2026-10-01T21:59:00", &t) &&
              !assignment_parse_time("yesterday", &t) && !assignment_parse_time("", &t));
    ck_assert(!assignment_parse_time("2026-10-01T21:59:00+99:00", &t) &&
              !assignment_parse_time("2026-10-01T21:59:00Z!", &t));
}
END_TEST

/* A submission that is right at every size of the book's own cases and wrong at one size that no
 * case has. It prints its sizes, then and later; the student must see none of them. */
static const char untrusted_source[] =
    "#include <cstdio>\nstatic int seen;\n"
    "__global__ void k(float *o, const float *i, int r, int c) {\n"
    "  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
    "  if (x < c && y < r) o[x * r + y] = r == 77 ? 0.0f : i[y * c + x];\n}\n"
    "extern \"C\" void transpose(float *o, const float *i, int r, int c) {\n"
    "  if (seen) printf(\"seen %d\\n\", seen);\n  if (r == 77) seen = 77001, printf(\"now %d\\n\", "
    "r * 1000 + 1);\n"
    "  if (r && c) k<<<dim3((c + 31) / 32, (r + 31) / 32), dim3(32, 32)>>>(o, i, r, c);\n}\n";

static void make_class(void) {
    begin();
    write_text("private/transpose_cases.c",
               "#include \"common/exercise_hidden.h\"\n"
               "EX_HIDDEN({{40, 50}}, {{77, 45}, .label = \"the odd one\"})\n");
    ck_assert_int_eq(run_in_class("mkdir c/ann c/bob c/eve"), 0);
    write_text("c/bob/transpose.cu", untrusted_source);
    ck_assert_int_eq(shell("cp solutions/02-coalescing/transpose.cu %s/c/ann && cp "
                           "solutions/02-coalescing/transpose.cu %s/c/eve",
                           class_folder, class_folder),
                     0);
    write_text("r.csv", "id,submitted_at\nann,2026-10-01T21:59:00Z\nbob,2026-09-01 "
                        "10:00:00+02:00\neve,2026-10-03 22:00:00Z\nzoe,\n");
    write_text("hw.toml", "deadline = 2026-10-01T23:59:00+02:00\nroster = \"r.csv\"\nseed = "
                          "\"s1\"\n[late]\npenalty = 10\nmost_days = 5\n"
                          "[[exercise]]\nname = \"transpose\"\nhidden = "
                          "\"private/transpose_cases.c\"\ncredit_for_cases = 40\n");
    ck_assert_int_eq(
        run_in_class(
            "grader batch c --assignment hw.toml --store a.db --format csv --output g.csv"),
        1);
}

START_TEST(a_compiler_that_cannot_start_is_named_with_the_reason) {
    make_class();
    ck_assert_int_eq(
        run_in_class("program=$(command -v grader); PATH=/nowhere $program batch c --assignment "
                     "hw.toml --store b.db >gcc.log 2>&1"),
        2);
    ck_assert_int_eq(run_in_class("grep -q \"gcc can't be started: No such file\" gcc.log"), 0);
}
END_TEST

START_TEST(hidden_cases_count_and_stay_hidden) {
    make_class();
    ck_assert_int_eq(run_in_class("grep -q '^\"ann\",\"02-coalescing/transpose\",AC,100.0,' g.csv"),
                     0);
    ck_assert_int_eq(
        run_in_class(
            "grep -q '^\"bob\",\"02-coalescing/transpose\",WA,.*\"hidden case 2 of 2: the' g.csv"),
        0);
    ck_assert_int_eq(
        run_in_class("grader feedback a.db pages && grep -q 'of them hidden' pages/bob.md"), 0);
    ck_assert_int_eq(run_in_class("! grep -qE '77001|rows 77|odd one|now ' pages/bob.md"), 0);
    ck_assert_int_eq(run_in_class("grader export a.db --format json | grep -q 'the odd one'"), 0);
}
END_TEST

/* Transpose lists 12 cases, and 2 are drawn; with the counted size and two hidden ones 17, of which
 * bob has 16: 40 * 16 / 17 = 37.65. */
START_TEST(cases_that_are_right_earn_credit) {
    make_class();
    ck_assert_int_eq(
        run_in_class("[ $(sqlite3 a.db \"SELECT json_array_length(json, '$.cases') FROM "
                     "result WHERE verdict = 'WA'\") = 17 ]"),
        0);
    ck_assert_int_eq(run_in_class("[ $(sqlite3 a.db \"SELECT printf('%.1f', score) FROM gradebook "
                                  "WHERE student = 'bob'\") = 37.6 ]"),
                     0);
}
END_TEST

/* Ann commits two days after the deadline, in a time zone of her own. Bob does too, but the
 * roster has an earlier time for him. Cid's .git is a file that points to Ann's, and Dan's is not a
 * repository. The grader must not start a program that a repository's configuration names
 * outside of the sandbox. */
START_TEST(the_submission_time_of_a_repository_is_its_last_commit) {
    begin();
    write_text("r.csv", "id,submitted_at\nann,\nbob,2026-09-30T10:00:00Z\ncid,\ndan,\n");
    write_text("hw.toml", "deadline = 2026-10-01T23:59:00+02:00\nroster = "
                          "\"r.csv\"\n[late]\npenalty = 10\nmost_days = 5\n"
                          "[[exercise]]\nname = \"transpose\"\n");
    ck_assert_int_eq(
        run_in_class(
            "export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
            "GIT_COMMITTER_NAME=a "
            "GIT_COMMITTER_EMAIL=a@b GIT_COMMITTER_DATE='2026-10-03T08:00:00 +1000' && for w in "
            "ann bob; do mkdir "
            "c/$w && "
            "echo '#error x' >c/$w/transpose.cu && git -C c/$w init -q && git -C c/$w add . && git "
            "-C c/$w commit "
            "-qm x && "
            "git -C c/$w config log.showSignature true && git -C c/$w config gpg.program "
            "$PWD/evil; done; "
            "printf '#!/bin/sh\\ntouch %s/ran\\n' $PWD >evil && chmod +x evil && mkdir -p c/cid "
            "c/dan/.git && "
            "echo \"gitdir: $PWD/c/ann/.git\" >c/cid/.git && for w in cid dan; do echo '#error x' "
            ">c/$w/transpose.cu; done"),
        0);
    ck_assert_int_eq(
        run_in_class("grader intake c --assignment hw.toml --store g.db --output i.txt"), 0);
    ck_assert_int_eq(
        run_in_class("grader intake c --assignment hw.toml --store g.db 2>&1 | grep 'for 1 "
                     "student the submission time is'"),
        0);
    /* 2026-10-03 08:00 +10:00 is 22:00 UTC of the second, a day and a minute after the deadline:
     * two days begun. */
    ck_assert_int_eq(
        run_in_class("[ \"$(sqlite3 g.db 'SELECT id, submitted_at, days_late FROM student "
                     "JOIN late ON late.student = id "
                     "ORDER BY 1' | tr '\\n' ' ')\" = 'ann|2026-10-02T22:00:00Z|2 "
                     "bob|2026-09-30T10:00:00Z|0 cid||0 "
                     "dan||0 ' ] && [ ! -e ran ]"),
        0);
}
END_TEST

/* eve: two days and a minute late, three days begun, none free: 70 % of 100. zoe: missing, 0. ann:
 * in time to the second. */
START_TEST(the_late_penalty_reduces_the_total) {
    make_class();
    ck_assert_int_eq(
        run_in_class(
            "grader export a.db --format totals >t.csv; tr -d '\\r' <t.csv | cut -d, -f1,4,5 >t"),
        0);
    ck_assert_int_eq(
        run_in_class("grep -qx '\"ann\",0,100.00' t && grep -qx '\"eve\",3,70.00' t && "
                     "grep -qx '\"zoe\",0,0.00' t"),
        0);
    ck_assert_int_eq(run_in_class("grader reproduce a.db bob transpose && grep -qx identical out"),
                     0);
    ck_assert_int_eq(
        run_in_class("sed -i s/credit_for_cases.*// hw.toml; grader reproduce a.db bob transpose"),
        1);
    ck_assert_int_eq(shell("grep -q 'the assignment has changed' %s/out", class_folder), 0);
}
END_TEST

/* Gradescope's metadata has the time; the roster's takes precedence; an unreadable one counts as
 * none. */
START_TEST(gradescope_metadata_gives_the_submission_time) {
    begin();
    ck_assert_int_eq(
        run_in_class("mkdir -p g/submission_1 g/submission_2 g/submission_3 && for i in 1 "
                     "2 3; do echo '#error x' "
                     ">g/submission_$i/transpose.cu; done"),
        0);
    write_text(
        "g/submission_metadata.yml",
        "submission_1:\n  :submitters:\n  - :sid: ann\n  :created_at: 2026-10-02 "
        "21:59:00.853527000 Z\n"
        "submission_2:\n  :submitters:\n  - :sid: bob\n  :created_at: 2026-10-02 21:59:00 Z\n"
        "submission_3:\n  :submitters:\n  - :sid: cid\n  :created_at: some time\n");
    write_text("r.csv", "id,submitted_at\nann,\nbob,2026-10-01T00:00:00Z\ncid,\n");
    write_text("hw.toml", "deadline = 2026-10-01T23:59:00+02:00\nroster = "
                          "\"r.csv\"\n[late]\npenalty = 10\nmost_days = 5\n"
                          "[[exercise]]\nname = \"transpose\"\n");
    ck_assert_int_eq(
        run_in_class("grader batch g --assignment hw.toml --store g.db && false; grep -q "
                     "'students without a submission time: 1;' out"),
        0);
    ck_assert_int_eq(
        run_in_class("[ \"$(sqlite3 g.db 'SELECT student, days_late FROM late ORDER BY 1' "
                     "| tr '\\n' ' ')\" = "
                     "'ann|1 bob|0 cid|0 ' ]"),
        0);
}
END_TEST

/* By hand: a mark without a score leaves the total open; the lowest of three is dropped: (90 * 2 +
 * 60) / 3 = 80. */
START_TEST(sql_views_apply_weights_and_dropped_scores) {
    begin();
    struct store s;
    struct err e = {0};
    ck_assert(store_open(&s, NULL, true, &e));
    static const char *const sql[] = {
        "INSERT INTO assignment VALUES (1, 'x', '', '', 0, 0, 0, 1, 0)",
        "INSERT INTO assigned VALUES ('a', 2, 0, 0, 0), ('b', 1, 0, 0, 0), ('c', 5, 0, 0, 0)",
        "INSERT INTO student (id, name, rostered, entries, doubt) VALUES ('x', '', 1, 1, ''), "
        "('y', '', 1, 1, '')",
        "INSERT INTO source VALUES ('d', '')",
        "INSERT INTO result (key, exercise, digest, file, seed, device, grader, nvcc, book, "
        "counted, jail, graded_at, "
        "seconds, verdict,"
        " score, max_score, reason, report, json) SELECT value, value, 'd', '', '', '', '', '', "
        "'', 1, '', '', 0, "
        "'PART',"
        " CASE value WHEN 'a' THEN 90 WHEN 'b' THEN 60 WHEN 'c' THEN 10 END, 100, '', '', '{}' "
        "FROM "
        "json_each('[\"a\",\"b\",\"c\",\"f\"]')",
        "INSERT INTO submission (student, exercise, state, digest, file, why, key) SELECT 'x', "
        "value, 'taken', 'd', "
        "'', '', value FROM"
        " json_each('[\"a\",\"b\",\"c\"]')",
        "INSERT INTO submission (student, exercise, state, digest, file, why, key) SELECT 'y', "
        "value, 'taken', 'd', "
        "'', '',"
        " CASE value WHEN 'b' THEN 'f' ELSE value END FROM json_each('[\"a\",\"b\",\"c\"]')"};
    for (unsigned i = 0; i < sizeof sql / sizeof *sql; i++)
        ck_assert_msg(store_exec(&s, &e, sql[i], ""), "%s", e.text);
    ck_assert_int_eq(
        store_query_int(&s, &e, "SELECT round(1000 * percent) FROM total WHERE student = 'x'"),
        80000);
    ck_assert_int_eq(
        store_query_int(&s, &e,
                        "SELECT percent IS NULL AND open = 'b' FROM total WHERE student = 'y'"),
        1);
    /* Of equal ones the heaviest is dropped, which is best for the student: (60 * 1 + 90 * 5) / 6
     * = 85. */
    ck_assert(store_exec(
        &s, &e, "UPDATE result SET score = CASE key WHEN 'c' THEN 90 ELSE 60 END WHERE key <> 'f'",
        ""));
    ck_assert_int_eq(
        store_query_int(&s, &e, "SELECT round(1000 * percent) FROM total WHERE student = 'x'"),
        85000);
    store_close(&s);
}
END_TEST

UNIT_SUITE(assignment) {
    Suite *s = suite_create("assignment");
    TCase *t = tcase_create("assignments");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, an_assignment_file_is_parsed);
    tcase_add_loop_test(t, errors_in_the_file_are_reported_with_their_line, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_test(t, times_of_moodles_worksheet_count_with_an_offset);
    tcase_add_test(t, lms_timestamps_are_parsed);
    tcase_add_test(t, a_compiler_that_cannot_start_is_named_with_the_reason);
    tcase_add_test(t, hidden_cases_count_and_stay_hidden);
    tcase_add_test(t, cases_that_are_right_earn_credit);
    tcase_add_test(t, the_submission_time_of_a_repository_is_its_last_commit);
    tcase_add_test(t, the_late_penalty_reduces_the_total);
    tcase_add_test(t, gradescope_metadata_gives_the_submission_time);
    tcase_add_test(t, sql_views_apply_weights_and_dropped_scores);
    suite_add_tcase(s, t);
    return s;
}

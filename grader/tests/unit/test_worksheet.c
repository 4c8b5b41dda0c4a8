/* test_worksheet.c — tests that the grades go into the files that each LMS exports, and that
 * nothing else in them changes. The store's results are rows that the test inserts; the expected
 * files are written by hand from the columns that each LMS documents for its import. */
#include "common/file.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/submissions.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* s1 has 85.5 of 100, s2 has 40, s3 handed in nothing, s4 is unclear. */
static void make_store(void) {
    struct buf rows = {0};
    submissions_make("worksheet");
    submissions_write("s1/transpose.cu", "// 1"), submissions_write("s2/transpose.cu", "// 2");
    submissions_write("s4/other.cu", "// 4"), submissions_write("s4/second.cu", "// 4");
    submissions_write_roster("r.csv", "id,name\ns1,Jane Doe\ns2,Jim Roe\ns3,Ann Poe\ns4,Eve Moe\n");
    submissions_write_roster("hw.toml", "name = \"Homework 1\"\nroster = \"r.csv\"\n[[exercise]]\n"
                                        "name = \"transpose\"\n");
    submissions_intake("c --assignment hw.toml --store c.db", 1, &rows);
    ck_assert_int_eq(
        shell(
            "cd %s && sqlite3 c.db \"INSERT INTO result (key, exercise, digest, file, seed, "
            "device, "
            "grader, nvcc, book, counted, jail, graded_at, seconds, verdict, score, max_score, "
            "reason, report, json) SELECT 'k' || student, exercise, digest, file, 's', 'h200', "
            "'g', "
            "'n', 'b', 1, 'j', '2026', 1, 'PART', CASE student WHEN 's1' THEN 85.5 ELSE 40 END, "
            "100, 'r', 'report', '{}' FROM submission WHERE state = 'taken'; UPDATE submission SET "
            "key = 'k' || student WHERE state = 'taken'\"",
            submissions_folder),
        0);
    buf_free(&rows);
}

/* Fails unless the LMS's file `before`, filled in, is `after`. */
static void check_worksheet(const char *format, const char *before, const char *after) {
    struct buf text = {0};
    struct err e = {0};
    char path[5000];
    submissions_write_roster("before.csv", before);
    ck_assert_int_eq(shell("cd %s && %s/grader export c.db --format %s --worksheet before.csv "
                           "--output after.csv 2>said",
                           submissions_folder, store_fixture_folder(), format),
                     1); /* s4 has no grade */
    snprintf(path, sizeof path, "%s/after.csv", submissions_folder);
    ck_assert_msg(file_read(path, 1 << 20, &text, &e), "%s", e.text);
    ck_assert_str_eq(buf_str(&text), after);
    buf_free(&text);
}

START_TEST(moodles_worksheet_comes_back_with_grades) {
#define HEAD                                                                                     \
    "\xef\xbb\xbfIdentifier,\"Full name\",\"ID number\",Status,Grade,\"Maximum Grade\",\"Grade " \
    "can be "                                                                                    \
    "changed\",\"Last modified (grade)\",\"Feedback comments\"\r\n"
    make_store();
    check_worksheet(
        "moodle",
        HEAD "\"Participant 11\",\"Jane Doe\",s1,\"Submitted for grading\",,20.00,Yes,-,\r\n"
             "\"Participant 12\",\"Jim, \"\"JR\"\" Roe\",s2,x,7,100.00,Yes,-,\"a\nb\"\r\n"
             "\"Participant 13\",\"Ann Poe\",s3,x,,100.00,Yes,-,\r\n"
             "\"Participant 14\",\"Eve Moe\",s4,x,,100.00,Yes,-,\r\n"
             "\"Participant 15\",\"No Body\",s9,x,3,100.00,Yes,-,\r\n",
        HEAD "\"Participant 11\",\"Jane Doe\",s1,\"Submitted for grading\",17.10,20.00,Yes,-,\r\n"
             "\"Participant 12\",\"Jim, \"\"JR\"\" Roe\",s2,x,40.00,100.00,Yes,-,\"a\nb\"\r\n"
             "\"Participant 13\",\"Ann Poe\",s3,x,0.00,100.00,Yes,-,\r\n"
             "\"Participant 14\",\"Eve Moe\",s4,x,,100.00,Yes,-,\r\n"
             "\"Participant 15\",\"No Body\",s9,x,3,100.00,Yes,-,\r\n");
#undef HEAD
}
END_TEST

START_TEST(canvas_gradebook_comes_back_with_grades) {
#define HEAD                                                                           \
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (771),Homework 10 (772)\n" \
    ",,,,,Manual Posting,\n"                                                           \
    "    Points Possible,,,,,50,100\n"
    make_store();
    check_worksheet("canvas",
                    HEAD "\"Doe, Jane\",501,s1,jd,A,,9\n\"Roe, Jim\",502,s2,jr,A,EX,9\n"
                         "\"Poe, Ann\",503,s3,ap,A,,9\n\"Moe, Eve\",504,s4,em,A,,9\n",
                    HEAD "\"Doe, Jane\",501,s1,jd,A,42.75,9\n\"Roe, Jim\",502,s2,jr,A,EX,9\n"
                         "\"Poe, Ann\",503,s3,ap,A,0.00,9\n\"Moe, Eve\",504,s4,em,A,,9\n");
#undef HEAD
}
END_TEST

/* Canvas's importer takes "EX" in any case as excused (lib/gradebook_importer.rb); Moodle's skips
 * what is no number, so its cell stays. */
START_TEST(who_is_excused_stays_excused) {
    make_store();
    submissions_write_roster("g.csv", "Student,ID,Section,Homework 1 (771)\nx,s1,A,\ny,s2,A,ex\n"
                                      "z,s3,A,4\n");
    submissions_write_roster("w.csv", "Identifier,ID number,Grade,Maximum Grade\nx,s1,,100\n"
                                      "y,s2,,100\nz,s3,,100\n");
    ck_assert_int_eq(
        shell(
            "cd %s && g=%s/grader && $g decide c.db s1 --excused yes --author P --reason ill "
            ">/dev/null && { $g export c.db --format canvas --worksheet g.csv --output g2 2>said; "
            "grep -q 'filled in: 1; excused: 2; without a score: 0;' said && grep -q '^x,s1,A,EX$' "
            "g2 "
            "&& grep -q '^y,s2,A,ex$' g2 && grep -q '^z,s3,A,0.00$' g2; } && { $g export c.db "
            "--format moodle --worksheet w.csv --output w2 2>said; grep -q 'filled in: 2; excused: "
            "1;' said && grep -q '^x,s1,,100$' w2 && grep -q '^y,s2,40.00,100$' w2; }",
            submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

START_TEST(brightspace_grades_come_back) {
#define HEAD                                                                       \
    "OrgDefinedId,Username,Last Name,First Name,Homework 1 Points Grade <Numeric " \
    "MaxPoints:10 Weight:5>,End-of-Line Indicator\r\n"
    make_store();
    check_worksheet("brightspace",
                    HEAD "#s1,#jd,Doe,Jane,,#\r\n#s2,#jr,Roe,Jim,1,#\r\n#s3,#ap,Poe,Ann,,#\r\n"
                         "#s4,#em,Moe,Eve,,#\r\n",
                    HEAD
                    "#s1,#jd,Doe,Jane,8.55,#\r\n#s2,#jr,Roe,Jim,4.00,#\r\n#s3,#ap,Poe,Ann,0.00,"
                    "#\r\n#s4,#em,Moe,Eve,,#\r\n");
#undef HEAD
}
END_TEST

/* Tabs between quoted cells, in UTF-16 as Blackboard's download has it. */
START_TEST(blackboards_grade_center_comes_back) {
    make_store();
    submissions_write_roster(
        "u8", "\xef\xbb\xbf\"Last Name\"\t\"Username\"\t\"Homework 1 [Total Pts: 200 "
              "Score] |45\"\n\"M\xc3\xb6y\"\t\"s1\"\t\"\"\n\"Roe\"\t\"s2\"\t\"3\"\n");
    submissions_write_roster(
        "x8", "\xef\xbb\xbf\"Last Name\"\t\"Username\"\t\"Homework 1 [Total Pts: 200 "
              "Score] |45\"\n\"M\xc3\xb6y\"\t\"s1\"\t171.00\n\"Roe\"\t\"s2\"\t80.00\n");
    ck_assert_int_eq(
        shell("cd %s && iconv -f UTF-8 -t UTF-16LE u8 >u16 && iconv -f UTF-8 -t UTF-16LE x8 "
              ">x16 && %s/grader export c.db --format blackboard --worksheet u16 "
              "--output a16 2>said; cmp x16 a16 && grep -q 'without a row in the "
              "worksheet: 2' said && grep -q '^s3$' said",
              submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

START_TEST(an_unknown_column_is_an_error) {
    make_store();
    submissions_write_roster("b.csv", "Student,ID,Essay (1)\nx,s1,\n");
    ck_assert_int_eq(
        shell("cd %s && %s/grader export c.db --format canvas --worksheet b.csv 2>said; "
              "[ $? = 2 ] && grep -q \"no column begins with 'Homework 1'; name one with "
              "--column\" said && %s/grader export c.db --format canvas --worksheet "
              "b.csv --column Essay 2>said | grep -q '^x,s1,85.50$'",
              submissions_folder, store_fixture_folder(), store_fixture_folder()),
        0);
}
END_TEST

static void add_tests(TCase *t) {
    tcase_add_test(t, moodles_worksheet_comes_back_with_grades);
    tcase_add_test(t, canvas_gradebook_comes_back_with_grades);
    tcase_add_test(t, who_is_excused_stays_excused);
    tcase_add_test(t, brightspace_grades_come_back);
    tcase_add_test(t, blackboards_grade_center_comes_back);
    tcase_add_test(t, an_unknown_column_is_an_error);
    tcase_set_timeout(t, 180);
}

UNIT_SUITE(worksheet) {
    Suite *s = suite_create("worksheet");
    store_fixture_add_long_server_cases(s, "worksheet", add_tests);
    return s;
}

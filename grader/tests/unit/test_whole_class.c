/* test_whole_class.c — tests that intake loses nobody: a class of several layouts in one folder,
 * names that fit several students, archives that can't be read, other exercises. The expected fate
 * of each student stands beside the entry. */
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/submissions.h"
#include "grader/tests/unit/unit.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>

static void make_folder(void) { submissions_make("whole_class"); }

/* Returns the value that a query of the store c.db yields, as text. */
static bool query_is(const char *query, const char *expected) {
    return shell("cd %s && [ \"$(sqlite3 c.db \"%s\")\" = \"%s\" ]", submissions_folder, query,
                 expected) == 0;
}

/* The fate of every student of the roster: of 301, 241 handed in plain folders, 30 by Canvas and 30
 * by Moodle, in one folder or in three. */
static void write_mixed_class(const char *const folders[3]) {
    struct buf roster = {0};
    char path[128];
    buf_puts(&roster, "id,name,number\n");
    for (unsigned i = 0; i < 301; i++) {
        buf_printf(&roster, "s%04u,Student%c Number%u,%u\n", i, 'A' + i % 26, i, 70000 + i);
        if (i < 241) snprintf(path, sizeof path, "%s/s%04u/transpose.cu", folders[0], i);
        else if (i < 271)
            snprintf(path, sizeof path, "%s/number%ustudent%c_%u_9%u_transpose.cu", folders[1], i,
                     'a' + i % 26, 70000 + i, i);
        else
            snprintf(path, sizeof path,
                     "%s/Student%c Number%u_%u_assignsubmission_file/transpose.cu", folders[2],
                     'A' + i % 26, i, 70000 + i);
        submissions_write(path, "// x\n");
    }
    submissions_write_roster("r.csv", buf_str(&roster));
    buf_free(&roster);
}

START_TEST(each_entry_has_its_own_layout) {
    static const char *const one[] = {".", ".", "."}, *const three[] = {"plain", "canvas",
                                                                        "moodle"};
    struct buf rows = {0};
    for (unsigned i = 0; i < 2; i++) {
        make_folder();
        write_mixed_class(i ? three : one);
        submissions_intake(i ? "c/plain c/canvas c/moodle --roster r.csv --store c.db"
                             : "c --roster r.csv --store c.db",
                           0, &rows);
        ck_assert(
            query_is("SELECT count(*), sum(rostered), sum(entries) FROM student", "301|301|301"));
        ck_assert(
            query_is("SELECT state, count(*) FROM submission GROUP BY 1 ORDER BY 1", "taken|301"));
    }
    buf_free(&rows);
}
END_TEST

/* With the layout of another LMS, nobody whose id is in an entry's name is missing. */
START_TEST(a_wrong_layout_makes_nobody_missing) {
    static const char *const one[] = {".", ".", "."};
    struct buf rows = {0};
    make_folder();
    write_mixed_class(one);
    submissions_intake("c --roster r.csv --store c.db --exercise transpose --layout moodle", 1,
                       &rows);
    ck_assert(query_is("SELECT state, count(*) FROM submission GROUP BY 1 ORDER BY 1",
                       "taken|30\nunclear|271"));
    ck_assert_int_eq(shell("cd %s && PATH=%s:$PATH && ! grader batch --store c.db 2>said && "
                           "grep -q 'unclear, so nothing was graded.*--accept-unclear' said",
                           submissions_folder, store_fixture_folder()),
                     0);
    ck_assert(query_is("SELECT count(*) FROM result", "0"));
    buf_free(&rows);
}
END_TEST

START_TEST(a_full_id_identifies_a_namesake) {
    struct buf rows = {0};
    make_folder();
    submissions_write("Jane Doe_123_assignsubmission_file_/transpose.cu", "// a\n");
    submissions_write("Jane Doe_124_assignsubmission_file_/transpose.cu", "// b\n");
    submissions_write("roejim_7_8_transpose.cu", "// c\n");
    submissions_write("roejim_9_10_transpose.cu", "// d\n");
    submissions_write_roster("r.csv", "id,name\nJane Doe_123,Jane Doe\nJane Doe_124,Jane Doe\n"
                                      "roejim_7,Jim Roe\nroejim_9,Jim Roe\n");
    submissions_intake("c --roster r.csv --store c.db", 0, &rows);
    ck_assert(query_is(
        "SELECT student, file, CAST(digest IS NOT NULL AS INTEGER) FROM submission ORDER BY 1",
        "Jane Doe_123|transpose.cu|1\nJane Doe_124|transpose.cu|1\n"
        "roejim_7|transpose.cu|1\nroejim_9|transpose.cu|1"));
    buf_free(&rows);
}
END_TEST

/* Two students have the name; their numbers are not on the roster. */
START_TEST(an_ambiguous_name_makes_only_its_students_unclear) {
    struct buf rows = {0};
    make_folder();
    submissions_write("Jane Doe_501_assignsubmission_file_/transpose.cu", "// a\n");
    submissions_write("doejane_502_9_transpose.cu", "// b\n");
    submissions_write("bob/transpose.cu", "// c\n");
    submissions_write_roster("r.csv", "id,name\nj1,Jane Doe\nj2,Jane Doe\nbob,Bob Poe\neve,Eve\n");
    submissions_intake("c --roster r.csv --store c.db", 1, &rows);
    ck_assert(query_is("SELECT student, state FROM submission ORDER BY 1",
                       "bob|taken\neve|missing\nj1|unclear\nj2|unclear"));
    submissions_has(&rows,
                    "\"\",\"Jane Doe_501_assignsubmission_file_\",\"\",\"\",\"unclear\",\"'Jane "
                    "Doe' is several students of the roster");
    submissions_has(&rows, "\"j1\",\"\",\"\",\"\",\"unclear\",\"may have handed in ");
    buf_free(&rows);
}
END_TEST

/* The name is in another column, in another script, and two students share it. Eight or more share
 * a section, which names nobody. */
START_TEST(namesakes_of_any_column_are_unclear) {
    struct buf rows = {0}, roster = {0};
    make_folder();
    submissions_write("Anna Kim_501_assignsubmission_file_/transpose.cu", "// a\n");
    submissions_write("Tuesday_assignsubmission_file_/transpose.cu", "// b\n");
    buf_puts(&roster, "id,name,latin,section\n");
    buf_puts(&roster, "a1,\xea\xb9\x80 \xd0\x90,Anna Kim,Tuesday\n"
                      "a2,\xea\xb9\x80 \xd0\x91,Anna Kim,Tuesday\n");
    for (unsigned i = 0; i < 7; i++) buf_printf(&roster, "b%u,,Ben %c,Tuesday\n", i, 'a' + i);
    submissions_write_roster("r.csv", buf_str(&roster));
    submissions_intake("c --roster r.csv --store c.db --exercise transpose", 1, &rows);
    ck_assert(query_is("SELECT state, group_concat(student) FROM (SELECT * FROM submission ORDER "
                       "BY student) s GROUP BY state ORDER BY 1",
                       "missing|b0,b1,b2,b3,b4,b5,b6\nunclear|a1,a2"));
    buf_free(&rows), buf_free(&roster);
}
END_TEST

/* 13 is Jim's number, but the name is Jane's. */
START_TEST(parts_of_a_name_must_agree) {
    struct buf rows = {0};
    make_folder();
    submissions_write("Jane Doe_13_assignsubmission_file_/transpose.cu", "// a\n");
    submissions_write_roster("r.csv", "id,name,seat\nj1,Jane Doe,12\nj2,Jim Roe,13\n");
    submissions_intake("c --roster r.csv --store c.db --exercise transpose", 1, &rows);
    ck_assert(
        query_is("SELECT student, state FROM submission ORDER BY 1", "j1|unclear\nj2|unclear"));
    submissions_has(&rows, "it names two students of the roster, 'j2' and 'j1'");
    buf_free(&rows);
}
END_TEST

/* The first column of Moodle's grading worksheet. */
START_TEST(moodle_participants_match_by_number) {
    struct buf rows = {0};
    make_folder();
    submissions_write("Jane Doe_7279_assignsubmission_file_/transpose.cu", "// a\n");
    submissions_write("Participant_7280_assignsubmission_file/transpose.cu", "// b\n");
    submissions_write_roster("r.csv", "Identifier,Full name,Email address,Status\n"
                                      "Participant 7279,Jane Doe,jane@x.edu,Submitted\n"
                                      "Participant 7280,Jim Roe,jim@x.edu,Submitted\n");
    submissions_intake("c --roster r.csv", 0, &rows);
    submissions_has(
        &rows, "\"Participant 7279\",\"Jane Doe_7279_assignsubmission_file_\",\"transpose.cu\"");
    submissions_has(
        &rows, "\"Participant 7280\",\"Participant_7280_assignsubmission_file\",\"transpose.cu\"");
    buf_free(&rows);
}
END_TEST

/* Writes an archive of one file, in the format of the name's extension. */
static void write_archive(const char *path, const struct buf *content) {
    struct archive *a = archive_write_new();
    struct archive_entry *en = archive_entry_new();
    ck_assert_int_eq(archive_write_set_format_filter_by_ext(a, path), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_open_filename(a, path), ARCHIVE_OK);
    archive_entry_set_pathname(en, "transpose.cu");
    archive_entry_set_filetype(en, AE_IFREG), archive_entry_set_perm(en, 0644);
    archive_entry_set_size(en, (la_int64_t)content->size);
    ck_assert_int_ge(archive_write_header(a, en), ARCHIVE_WARN);
    archive_write_data(a, buf_str(content), content->size);
    archive_entry_free(en), archive_write_free(a);
}

/* A prefix of an archive is read in full or unclear; it is never missing, which would be a zero. */
START_TEST(a_damaged_archive_is_never_missing) {
    static const char *const suffixes[] = {"zip", "7z", "tar.gz", "tar.xz", "cpio", "tar", "iso"};
    struct buf rows = {0}, roster = {0}, content = {0};
    char path[5000];
    make_folder();
    buf_puts(&roster, "id\n");
    for (unsigned i = 0; i < 4000; i++) buf_printf(&content, "%u\n", i * i);
    for (unsigned f = 0; f < sizeof suffixes / sizeof *suffixes; f++) {
        snprintf(path, sizeof path, "%s/a.%s", submissions_folder, suffixes[f]);
        write_archive(path, &content);
        for (unsigned k = 0; k < 8; k++) {
            buf_printf(&roster, "f%uk%u\n", f, k);
            ck_assert_int_eq(shell("head -c $(($(stat -c %%s %s) * %u / 8)) %s >%s/c/f%uk%u.%s",
                                   path, k, path, submissions_folder, f, k, suffixes[f]),
                             0);
        }
    }
    /* libarchive finds no entry and no error in a 7z that is nothing but a header. */
    buf_puts(&roster, "headless\n");
    ck_assert_int_eq(
        shell("cd %s/c && { printf '7z\\274\\257\\047\\034' && head -c 26 /dev/zero; } "
              ">headless.7z",
              submissions_folder),
        0);
    submissions_write_roster("r.csv", buf_str(&roster));
    submissions_intake("c --roster r.csv --store c.db --exercise transpose", 1, &rows);
    ck_assert(query_is("SELECT count(*) FROM submission WHERE state = 'missing'", "0"));
    ck_assert(query_is("SELECT count(*) FROM submission", "57"));
    submissions_has(&rows, "\"headless.7z\",\"\",\"unclear\",\"it is damaged, or has no files\"");
    ck_assert(query_is("SELECT count(*) FROM submission WHERE student LIKE 'f1k%' AND state = "
                       "'unclear' AND why <> ''",
                       "8"));
    buf_free(&rows), buf_free(&roster), buf_free(&content);
}
END_TEST

START_TEST(an_exercise_of_another_assignment_is_named) {
    struct buf rows = {0};
    make_folder();
    submissions_write("ann/histogram.cu", "// x\n"),
        submissions_write("ann/particles.cu", "// x\n");
    submissions_write_roster("r.csv", "id\nann\n");
    submissions_intake("c --roster r.csv --exercise transpose", 0, &rows);
    submissions_has(&rows, "\"ann\",\"ann\",\"\",\"\",\"left out\",\"not part of this assignment: "
                           "histogram, particles\"");
    buf_free(&rows);
}
END_TEST

/* A name that merely contains an id is nobody's, and its student is not missing. */
START_TEST(an_id_within_a_name_is_unclear) {
    struct buf rows = {0};
    make_folder();
    submissions_write("hw1-s0001/transpose.cu", "// x\n");
    submissions_write("s0002-resubmitted.zip", "PK broken");
    submissions_write("s0003 notes.txt", "x");
    submissions_write("stranger/transpose.cu", "// x\n");
    submissions_write_roster("r.csv", "id\ns0001\ns0002\ns0003\ns0004\n");
    submissions_intake("c --roster r.csv --store c.db", 1, &rows);
    ck_assert(
        query_is("SELECT student, state FROM submission ORDER BY 1",
                 "s0001|unclear\ns0002|unclear\ns0003|unclear\ns0004|missing\nstranger|taken"));
    submissions_has(&rows,
                    "\"\",\"hw1-s0001\",\"\",\"\",\"unclear\",\"not on the roster under this "
                    "name, which contains that of s0001; rename it\"");
    buf_free(&rows);
}
END_TEST

/* Three students have results. The next run names only the folder of late submissions; later ones
 * name all folders. dan handed in nothing, eve something that can't be read. */
START_TEST(a_folder_of_late_submissions_makes_nobody_missing) {
    struct buf rows = {0};
    make_folder();
    for (const char *const *name = (const char *const[]){"ann", "bob", "cat", NULL}; *name;
         name++) {
        char path[64];
        snprintf(path, sizeof path, "first/%s/transpose.cu", *name);
        submissions_write(path, "// x\n");
    }
    submissions_write("first/eve.zip", "PK broken");
    submissions_write("late/cat/transpose.cu", "// y\n");
    submissions_write_roster("r.csv", "id\nann\nbob\ncat\ndan\neve\n");
    submissions_intake("c/first --roster r.csv --store c.db", 1, &rows);
    ck_assert_int_eq(
        shell(
            "cd %s && PATH=%s:$PATH && ! grep -q 'kept what' said && grader batch c/late --roster "
            "r.csv --store c.db >out 2>said; [ $? = 1 ] && grep -q 'kept what the store has of 3 "
            "students ' said && grep -q 'add --complete' said && grader export c.db --format csv "
            ">csv && [ "
            "$(grep -c ',CE,0.0,' csv) = 3 ] && grader feedback c.db p >log && grep -q CE p/ann.md "
            "&& ! grep -q 'nothing handed in' p/ann.md && grader stats c.db | grep -q 'CE *3'",
            submissions_folder, store_fixture_folder()),
        0);
    ck_assert(
        query_is("SELECT student, state, coalesce(CAST(digest = (SELECT digest FROM submission "
                 "WHERE student = 'ann') AS INTEGER), 0) FROM submission ORDER BY 1",
                 "ann|taken|1\nbob|taken|1\ncat|taken|0\ndan|missing|0\neve|unclear|0"));
    submissions_intake("c/late --roster r.csv --store c.db --complete", 0, &rows);
    ck_assert(query_is("SELECT student, state FROM submission ORDER BY 1",
                       "ann|missing\nbob|missing\ncat|taken\ndan|missing\neve|missing"));
    buf_free(&rows);
}
END_TEST

/* ann hands in one of two exercises again; bob's new archive can't be read. */
START_TEST(a_resubmission_of_one_exercise_keeps_the_other) {
    struct buf rows = {0};
    make_folder();
    submissions_write("first/ann/transpose.cu", "// x\n");
    submissions_write("first/ann/particles.cu", "// x\n");
    submissions_write("first/bob/transpose.cu", "// x\n");
    submissions_write("late/ann/particles.cu", "// y\n");
    submissions_write("late/bob.zip", "PK broken");
    submissions_write("late/cat/transpose.cu", "// z\n"); /* on no roster */
    submissions_write_roster("r.csv", "id\nann\nbob\n");
    submissions_intake("c/first --roster r.csv --store c.db", 0, &rows);
    submissions_intake("c/late --roster r.csv --store c.db", 1, &rows);
    ck_assert_int_eq(
        shell("grep -q 'kept 1 earlier submission of students' %s/said", submissions_folder), 0);
    ck_assert(query_is("SELECT student, exercise, state FROM submission WHERE student = 'ann' "
                       "OR student = 'bob' ORDER BY 1, 2",
                       "ann|02-coalescing/particles|taken\nann|02-coalescing/transpose|taken\n"
                       "bob|02-coalescing/particles|unclear\nbob|02-coalescing/transpose|unclear"));
    submissions_intake("c/late --roster r.csv --store c.db --complete", 1, &rows);
    ck_assert(query_is("SELECT state FROM submission WHERE student = 'ann' ORDER BY exercise",
                       "taken\nmissing"));
    buf_free(&rows);
}
END_TEST

/* Is this the source of student s540? */
static bool has_source(const char *text) {
    return query_is(store_fixture_is_server()
                        ? "SELECT convert_from(body, 'UTF8') FROM submission JOIN source USING "
                          "(digest) WHERE student = 's540'"
                        : "SELECT body FROM submission JOIN source USING (digest) WHERE student = "
                          "'s540'",
                    text);
}

/* A source of nearly 1 MiB: three of them are more than a worker of the intake returns. */
static void write_large_source(const char *path, char letter) {
    struct buf text = {0};
    for (unsigned i = 0; i < 1000; i++) buf_printf(&text, "// %01000d%c\n", 0, letter);
    submissions_write(path, buf_str(&text));
    buf_free(&text);
}

/* Students are read in groups of 256, by processes that each return at most 2 MiB; archives that
 * were read before come from the cache. */
START_TEST(groups_of_students_lose_nobody) {
    struct buf rows = {0}, again = {0}, content = {0};
    char path[5000];
    make_folder();
    for (unsigned i = 0; i < 600; i++) {
        snprintf(path, sizeof path, "s%03u/transpose.cu", i);
        if (i % 60) submissions_write(path, "// x\n");
        buf_clear(&content), buf_printf(&content, "// %u\n", i);
        snprintf(path, sizeof path, "%s/c/s%03u.zip", submissions_folder, i);
        if (i % 60 == 0) write_archive(path, &content);
    }
    write_large_source("s255/transpose.cu", 'a'), write_large_source("s255/particles.cu", 'b');
    write_large_source("s255/sum_reduce.cu", 'c'), write_large_source("s256/transpose.cu", 'd');
    submissions_intake("c --store c.db", 0, &rows);
    ck_assert(query_is("SELECT state, count(*) FROM submission GROUP BY 1 ORDER BY 1",
                       "absent|1198\ntaken|602"));
    ck_assert(query_is("SELECT group_concat(CAST(length(body) AS TEXT)) FROM submission JOIN "
                       "source USING (digest) "
                       "WHERE student IN ('s255', 's256')",
                       "1005000,1005000,1005000,1005000"));
    ck_assert(has_source("// 540"));
    submissions_intake("c --store c.db", 0, &again);
    ck_assert_str_eq(buf_str(&rows), buf_str(&again));
    buf_clear(&content), buf_puts(&content, "// changed\n");
    snprintf(path, sizeof path, "%s/c/s540.zip", submissions_folder);
    write_archive(path, &content);
    submissions_intake("c --store c.db", 0, &again);
    ck_assert(has_source("// changed"));
    buf_free(&rows), buf_free(&again), buf_free(&content);
}
END_TEST

static void add_tests(TCase *t) {
    tcase_add_test(t, each_entry_has_its_own_layout);
    tcase_add_test(t, a_wrong_layout_makes_nobody_missing);
    tcase_add_test(t, a_full_id_identifies_a_namesake);
    tcase_add_test(t, an_ambiguous_name_makes_only_its_students_unclear);
    tcase_add_test(t, namesakes_of_any_column_are_unclear);
    tcase_add_test(t, parts_of_a_name_must_agree);
    tcase_add_test(t, moodle_participants_match_by_number);
    tcase_add_test(t, a_damaged_archive_is_never_missing);
    tcase_add_test(t, an_exercise_of_another_assignment_is_named);
    tcase_add_test(t, an_id_within_a_name_is_unclear);
    tcase_add_test(t, a_folder_of_late_submissions_makes_nobody_missing);
    tcase_add_test(t, a_resubmission_of_one_exercise_keeps_the_other);
    tcase_add_test(t, groups_of_students_lose_nobody);
    tcase_set_timeout(t, 120);
}

UNIT_SUITE(whole_class) {
    Suite *s = suite_create("whole_class");
    store_fixture_add_long_server_cases(s, "whole_class", add_tests);
    return s;
}

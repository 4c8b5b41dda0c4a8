/* test_intake.c — tests the intake of a class's messy hand-ins: every entry gets a row, every
 * file meant for an exercise is taken, and doubts are reported. The test makes the folders; the
 * expected outcome stands beside each. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/class/match_files.h"
#include "grader/class/plan.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/submissions.h"
#include "grader/tests/unit/unit.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_folder(void) { submissions_make("intake"); }

/* Options follow the folder's name. */
static void intake(const char *options, int status, struct buf *out) {
    char arguments[512];
    snprintf(arguments, sizeof arguments, "c %s", options);
    submissions_intake(arguments, status, out);
}

/* An archive of one file. */
static void put_archive(const char *path, int format, const char *name, const char *text) {
    char full_path[5000];
    snprintf(full_path, sizeof full_path, "%s/c/%s", submissions_folder, path);
    struct archive *a = archive_write_new();
    struct archive_entry *en = archive_entry_new();
    ck_assert_int_eq(archive_write_set_format(a, format), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_open_filename(a, full_path), ARCHIVE_OK);
    archive_entry_set_pathname(en, name);
    archive_entry_set_filetype(en, AE_IFREG), archive_entry_set_perm(en, 0644);
    archive_entry_set_size(en, (la_int64_t)strlen(text));
    ck_assert_int_ge(archive_write_header(a, en), ARCHIVE_WARN);
    archive_write_data(a, text, strlen(text));
    archive_entry_free(en), archive_write_free(a);
}

/* Sets the flag for UTF-8 names (bit 11) in a zip's headers: at 6 in a local header, 8 in a
 * central one. */
static void flag_utf8(const char *path) {
    char full_path[5000];
    struct buf zip = {0};
    struct err e = {0};
    snprintf(full_path, sizeof full_path, "%s/c/%s", submissions_folder, path);
    ck_assert(file_read(full_path, 1 << 20, &zip, &e));
    for (size_t i = 0; i + 10 < zip.size; i++) {
        if (!memcmp(zip.data + i, "PK\3\4", 4)) zip.data[i + 7] |= 8;
        if (!memcmp(zip.data + i, "PK\1\2", 4)) zip.data[i + 9] |= 8;
    }
    ck_assert(file_write(full_path, zip.data, zip.size, &e));
    buf_free(&zip);
}

#define TAKEN "\"02-coalescing/transpose\",\"taken\""

START_TEST(every_accepted_file_name_is_matched) {
    static const struct {
        const char *path, *row;
    } files[] = {
        {"a/Transpose.cu", "\"a\",\"a\",\"Transpose.cu\"," TAKEN},
        {"b/transpose (1).cu", "\"b\",\"b\",\"transpose (1).cu\"," TAKEN},
        {"c/deep/er/transpose.cu", "\"c\",\"c\",\"deep/er/transpose.cu\"," TAKEN},
        {"d/chapters/02-coalescing/transpose.cu",
         "\"d\",\"d\",\"chapters/02-coalescing/transpose.cu\"," TAKEN},
        {"e/TRANSPOSE.CU", "\"e\",\"e\",\"TRANSPOSE.CU\"," TAKEN},
        {"f/transpose.cu.txt", "\"f\",\"f\",\"transpose.cu.txt\"," TAKEN},
        {"g/doeg_12_345_transpose-2.cu", "\"g\",\"g\",\"doeg_12_345_transpose-2.cu\"," TAKEN},
        {"h_transpose.cu", "\"h\",\"h_transpose.cu\",\"transpose.cu\"," TAKEN},
        {"i j/Copy of transpose.cu", "\"i j\",\"i j\",\"Copy of transpose.cu\"," TAKEN},
    };
    struct buf rows = {0};
    make_folder();
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        submissions_write(files[i].path, "// x\n");
    intake("", 0, &rows);
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        submissions_has(&rows, files[i].row);
    buf_free(&rows);
}
END_TEST

START_TEST(archives_of_every_kind_and_name_are_read) {
    struct buf rows = {0};
    make_folder();
    put_archive("a.ZIP", ARCHIVE_FORMAT_ZIP, "J\xc3\xb6rg/transpose.cu", "// x\n");
    put_archive("b.7z", ARCHIVE_FORMAT_7ZIP, "transpose.cu", "// x\n");
    put_archive("c.tar", ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, "J\xc3\xb6rg/Transpose.cu", "// x\n");
    put_archive("d.cpio", ARCHIVE_FORMAT_CPIO_POSIX, "./transpose.cu", "// x\n");
    put_archive("e.tar", ARCHIVE_FORMAT_TAR_USTAR, "J\xf6rg/transpose.cu", "// x\n"); /* Latin-1 */
    put_archive("i.zip", ARCHIVE_FORMAT_ZIP, "J\xc3\xb6rg/transpose.cu", "// x\n");
    flag_utf8("i.zip");
    submissions_write("f.zip", "PK broken"), submissions_write("g.rar", "Rar! broken"),
        submissions_write("h.7z", "");
    intake("", 1, &rows);
    submissions_has(&rows, "\"a\",\"a.ZIP\",\"J\xc3\xb6rg/transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"b\",\"b.7z\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"c\",\"c.tar\",\"J\xc3\xb6rg/Transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"d\",\"d.cpio\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"e\",\"e.tar\",\"J\\xf6rg/transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"i\",\"i.zip\",\"J\xc3\xb6rg/transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"f\",\"f.zip\",\"f.zip\",\"\",\"unclear\"");
    submissions_has(&rows, "\"g\",\"g.rar\",\"g.rar\",\"\",\"unclear\"");
    submissions_has(&rows, "\"h\",\"h.7z\",\"h.7z\",\"\",\"unclear\"");
    buf_free(&rows);
}
END_TEST

static bool accept_all(void *user, const char *path) {
    (void)user, (void)path;
    return true;
}

/* tar's r appends an update; what tar extracts last stays. */
START_TEST(of_equal_names_in_an_archive_the_last_counts) {
    char path[5000];
    struct intake in = {0};
    struct err e = {0};
    make_folder();
    ck_assert_int_eq(
        shell("cd %s && echo old >t.cu && tar cf t.tar t.cu && echo new >t.cu && tar rf "
              "t.tar t.cu",
              submissions_folder),
        0);
    snprintf(path, sizeof path, "%s/t.tar", submissions_folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_msg(intake_archive(fd, accept_all, NULL, &in, &e), "%s", e.text);
    close(fd);
    ck_assert_uint_eq(in.n, 1);
    ck_assert_str_eq(buf_str(&in.files[0].data), "new\n");
    ck_assert_uint_eq(in.nrejections, 1);
    intake_free(&in);
}
END_TEST

START_TEST(rejected_files_are_listed_with_the_reason) {
    static const char *const expected[] = {
        "\"big\",\"big\",\"transpose.cu\",\"\",\"unclear\",\"larger than 1 MiB\"",
        "\"link\",\"link\",\"transpose.cu\",\"\",\"unclear\",\"a link, or not a regular file\"",
        "\"linked\",\"linked\",\"linked\",\"\",\"unclear\",\"a link, which is not followed\"",
        "\"two\",\"two\",\"transpose.cu\",\"\",\"unclear\",\"two different files match one "
        "exercise\"",
        "\"own\",\"own\",\"final.cu\",\"\",\"unclear\",\"no exercise has this name\"",
        "\"word\",\"word\",\"transpose.cpp\",\"\",\"unclear\",\"not a .cu file\"",
        "\"nested\",\"nested\",\"work.zip\",\"\",\"unclear\",\"its archive format is not "
        "supported\"",
        "\"\",\"notes.txt\",\"\",\"\",\"unclear\",\"not a folder, an archive or a .cu "
        "file\"",
        "\"\",\"transpose.cu\",\"\",\"\",\"unclear\",\"no student's name",
        "\"\",\".hidden\",\"\",\"\",\"left out\",\"a hidden file\"",
    };
    struct buf rows = {0};
    make_folder();
    submissions_write("good/transpose.cu", "// x\n"),
        submissions_write("two/transpose.cu", "// x\n"),
        submissions_write("two/transpose(2).cu", "// y\n");
    submissions_write("own/final.cu", "x"), submissions_write("word/transpose.cpp", "x"),
        submissions_write("nested/work.zip", "x"), submissions_write("notes.txt", "x");
    submissions_write("transpose.cu", "x"), submissions_write(".hidden", "x"),
        submissions_write("link/x.md", "x");
    ck_assert_int_eq(shell("cd %s/c && mkdir big && head -c 1048577 /dev/zero >big/transpose.cu && "
                           "ln -s good linked && ln -s "
                           "../good/transpose.cu link/transpose.cu",
                           submissions_folder),
                     0);
    intake("", 1, &rows);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        submissions_has(&rows, expected[i]);
    buf_free(&rows);
}
END_TEST

START_TEST(canvas_names_belong_to_their_students) {
    struct buf rows = {0};
    make_folder();
    submissions_write("smithjohn_11_501_transpose.cu", "// a\n"),
        submissions_write("smithjohn_12_502_transpose-1.cu", "// b\n");
    submissions_write("smithjohn_11_503_histogram.cu", "// c\n"),
        submissions_write("doejane_LATE_13_504_transpose.cu", "// d\n"),
        submissions_write("x.cu", "// e\n");
    intake("", 1, &rows);
    submissions_has(&rows, "\"smithjohn_11\",\"smithjohn_11_501_transpose.cu, "
                           "smithjohn_11_503_histogram.cu\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"histogram.cu\",\"05-atomics-reduction/histogram\",\"taken\"");
    submissions_has(
        &rows, "\"smithjohn_12\",\"smithjohn_12_502_transpose-1.cu\",\"transpose-1.cu\"," TAKEN);
    submissions_has(&rows,
                    "\"doejane_13\",\"doejane_LATE_13_504_transpose.cu\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"\",\"x.cu\",\"\",\"\",\"unclear\",\"no student's name");
    intake("--layout canvas", 1, &rows);
    submissions_has(&rows, "\"\",\"x.cu\",\"\",\"\",\"unclear\",\"its name is not in the format "
                           "doejane_123_456_FILE");
    buf_free(&rows);
}
END_TEST

START_TEST(moodle_gradescope_and_github_layouts_are_read) {
    struct buf rows = {0};
    make_folder();
    submissions_write("Jane Doe_13_assignsubmission_file_/transpose.cu", "// a\n"),
        submissions_write("Jim Roe_14_assignsubmission_file_transpose.cu", "// b\n");
    submissions_write("Ann Poe_15_assignsubmission_onlinetext_/onlinetext.html", "x");
    intake("", 1, &rows);
    submissions_has(
        &rows, "\"Jane Doe_13\",\"Jane Doe_13_assignsubmission_file_\",\"transpose.cu\"," TAKEN);
    submissions_has(
        &rows,
        "\"Jim Roe_14\",\"Jim Roe_14_assignsubmission_file_transpose.cu\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"Ann Poe_15\",");
    make_folder();
    submissions_write("submission_7/transpose.cu", "// a\n"),
        submissions_write("submission_8/transpose.cu", "// b\n"),
        submissions_write("submission_9/transpose.cu", "// c\n");
    submissions_write(
        "submission_metadata.yml",
        "---\nsubmission_7:\n  :submitters:\n  - :name: Jane Doe\n    :sid: '0042'\n    :email: "
        "j@x.edu\n"
        "  - :name: Jim Roe\n    :sid: \n    :email: jim@x.edu\n  :created_at: 2026-01-01\n"
        "submission_8:\n  :submitters:\n  - :name: \"Ann Poe\"\n");
    intake("", 1, &rows);
    submissions_has(&rows, "\"0042\",\"submission_7\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"jim@x.edu\",\"submission_7\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"Ann Poe\",\"submission_8\",\"transpose.cu\"," TAKEN);
    submissions_has(
        &rows,
        "\"\",\"submission_9\",\"\",\"\",\"unclear\",\"submission_metadata.yml does not name it\"");
    make_folder();
    submissions_write("hw1-submissions/hw1-jane-doe/transpose.cu", "// a\n"),
        submissions_write("hw1-submissions/other/transpose.cu", "// a\n");
    ck_assert_int_eq(shell("cd %s && mv c/hw1-submissions . && rmdir c && ln -s hw1-submissions c",
                           submissions_folder),
                     0);
    intake("../intake/hw1-submissions --layout folders", 1, &rows); /* the same folder twice */
    submissions_has(&rows,
                    "\"hw1-jane-doe\",\"hw1-jane-doe, hw1-jane-doe\",\"\",\"\",\"unclear\",\"two "
                    "entries are the same student: hw1-jane-doe in c, and hw1-jane-doe in "
                    "../intake/hw1-submissions; keep one");
    buf_clear(&rows);
    ck_assert_int_eq(shell("cd %s && %s/grader intake hw1-submissions --layout github --format csv "
                           ">rows 2>&1; grep -q "
                           "'^\"jane-doe\",.*taken' rows && "
                           "grep -q '^\"\",\"other\"' rows",
                           submissions_folder, build_folder()),
                     0);
    buf_free(&rows);
}
END_TEST

/* An LMS delivers one archive of the whole class; a student's own archive may have such names,
 * too. */
START_TEST(an_archive_of_a_class_is_not_one_student) {
    static const char *const classes[] = {
        "doe_12_34_transpose.cu roe_LATE_13_35_transpose.cu",
        "J\xc3\xb6rg_12_assignsubmission_file_/transpose.cu "
        "Ann_13_assignsubmission_file_/transpose.cu",
        "export/submission_12/transpose.cu export/submission_13/a.zip"};
    static const char *const students[] = {"submission_12/transpose.cu",
                                           "doe_12_34_transpose.cu doe_12_35_particles.cu",
                                           "transpose.cu notes_16_16_particles.cu"};
    struct buf rows = {0};
    for (unsigned i = 0; i < 6; i++) {
        make_folder();
        submissions_write("other/transpose.cu", "// x\n");
        ck_assert_int_eq(shell("mkdir %s/t && cd %s/t && for f in %s; do mkdir -p $(dirname $f) && "
                               "echo //$f >$f; done && "
                               "tar cf ../c/all.tar *",
                               submissions_folder, submissions_folder,
                               i < 3 ? classes[i] : students[i - 3]),
                         0);
        intake("", i < 3, &rows);
        if (i < 3)
            submissions_has(
                &rows,
                "\"all\",\"all.tar\",\"all.tar\",\"\",\"unclear\",\"a whole class: unpack it");
        else submissions_has(&rows, "\"all\",\"all.tar\",\"");
        submissions_has(&rows, "\"other\",\"other\",\"transpose.cu\"," TAKEN);
        ck_assert_int_eq(shell("rm %s/c/all.tar && mv %s/t %s/c/all", submissions_folder,
                               submissions_folder, submissions_folder),
                         0);
        intake("", i < 3, &rows);
        submissions_has(&rows,
                        i < 3 ? "\"all\",\"all\",\"all\",\"\",\"unclear\",\"a whole class: name"
                              : "\"all\",\"all\",\"");
    }
    buf_free(&rows);
}
END_TEST

START_TEST(an_empty_entry_is_listed) {
    struct buf rows = {0};
    make_folder();
    submissions_write("ann/transpose.cu", "// x\n");
    ck_assert_int_eq(shell("mkdir %s/c/bob %s/c/eve && printf 'id\\nann\\nbob\\n' >%s/r.csv",
                           submissions_folder, submissions_folder, submissions_folder),
                     0);
    intake("--roster r.csv", 0, &rows);
    submissions_has(&rows, "\"bob\",\"bob\",\"\",\"\",\"missing\",\"it is empty\"");
    submissions_has(&rows, "\"eve\",\"eve\",\"\",\"\",\"left out\",\"it is empty\"");
    buf_free(&rows);
}
END_TEST

START_TEST(the_roster_identifies_students_and_missing_ones) {
    struct buf rows = {0};
    make_folder();
    submissions_write("doejane_13_504_transpose.cu", "// d\n"),
        submissions_write("x_99_1_transpose.cu", "// x\n");
    ck_assert_int_eq(
        shell("printf '\\357\\273\\277\"Student\",ID,SIS User ID\\n\"Doe, Jane\",13,s1\\n\"Roe, "
              "Jim\",14,s2\\n' >%s/r.csv",
              submissions_folder),
        0);
    intake("--roster r.csv", 0, &rows);
    submissions_has(&rows, "\"13\",\"doejane_13_504_transpose.cu\",\"transpose.cu\"," TAKEN);
    submissions_has(&rows, "\"14\",\"\",\"\",\"\",\"missing\"");
    submissions_has(&rows,
                    "\"x_99\",\"x_99_1_transpose.cu\",\"\",\"\",\"note\",\"not on the roster\"");
    ck_assert_int_eq(
        shell("printf 'id;name\\n13;Jane Doe\\n13;Jim\\n' >%s/r.csv", submissions_folder), 0);
    intake("--roster r.csv", 2, &rows);
    submissions_has(&rows, "'13' is listed twice");
    ck_assert_int_eq(shell("printf 'a,b\\n1,2\\n' >%s/r.csv", submissions_folder), 0);
    intake("--roster r.csv", 2, &rows);
    submissions_has(&rows, "must name the columns");
    buf_free(&rows);
}
END_TEST

START_TEST(ambiguous_file_names_match_no_exercise) {
    struct err e = {0};
    ck_assert(book_open(&e));
    const struct exercise **ex = book_find("vector_add", &e);
    static const char *const
        yes[] = {"vector_add.cu",       "Vector-Add.cu",        "vector add (12).CU",
                 "a/b/vector_add_3.cu", "vector_add - Copy.cu", "x_LATE_1_2_vector_add.cu"},
        *const no[] = {
            "vector_add_old.cu", "vector_add", "vector.cu", ".vector_add.cu", "xvector_add.cu",
            "vector_add.cpp",    "(1).cu",     ".cu",       "-1.cu"};
    for (unsigned i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(match_exercise_name(ex[0], yes[i]), "%s is refused", yes[i]);
    for (unsigned i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!match_exercise_name(ex[0], no[i]), "%s is taken", no[i]);
    free(ex);
}
END_TEST

START_TEST(suffixes_of_copies_are_removed_one_at_a_time) {
    static const struct exercise with_number = {.name = "scan_2"};
    ck_assert(match_exercise_name(&with_number, "scan_2 copy.cu"));
    ck_assert(match_exercise_name(&with_number, "scan_2 - copy (3).cu"));
    ck_assert(!match_exercise_name(&with_number, "scan copy.cu"));
}
END_TEST

START_TEST(one_students_folder_is_one_student) {
    make_folder();
    submissions_write("s0004/chapters/02-coalescing/transpose.cu", "// x\n"),
        submissions_write("s0005/transpose.cu", "// x\n"),
        submissions_write("s0005/notes.txt", "x");
    ck_assert_int_eq(shell("cd %s && %s/grader intake c/s0004 c/s0005 --format csv >rows && [ "
                           "$(grep -c taken rows) = "
                           "2 ] && grep -q '^\"s0004\"' rows && "
                           "grep -q '^\"s0005\"' rows",
                           submissions_folder, build_folder()),
                     0);
    ck_assert_int_eq(
        shell(
            "cd %s/c/s0004 && %s/grader intake . --format csv >rows && grep -q '^\"s0004\"' rows; "
            "rc=$?; rm rows; exit $rc",
            submissions_folder, build_folder()),
        0);
}
END_TEST

UNIT_SUITE(intake) {
    Suite *s = suite_create("intake");
    TCase *t = tcase_create("intake");
    tcase_add_test(t, every_accepted_file_name_is_matched);
    tcase_add_test(t, archives_of_every_kind_and_name_are_read);
    tcase_add_test(t, of_equal_names_in_an_archive_the_last_counts);
    tcase_add_test(t, rejected_files_are_listed_with_the_reason);
    tcase_add_test(t, canvas_names_belong_to_their_students);
    tcase_add_test(t, moodle_gradescope_and_github_layouts_are_read);
    tcase_add_test(t, the_roster_identifies_students_and_missing_ones);
    tcase_add_test(t, an_archive_of_a_class_is_not_one_student);
    tcase_add_test(t, an_empty_entry_is_listed);
    tcase_add_test(t, ambiguous_file_names_match_no_exercise);
    tcase_add_test(t, suffixes_of_copies_are_removed_one_at_a_time);
    tcase_add_test(t, one_students_folder_is_one_student);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return s;
}

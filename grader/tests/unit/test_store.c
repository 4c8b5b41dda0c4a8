/* test_store.c — tests a small class in a store, through the programs: what a second run does,
 * what the exports contain, what reproduce, regrade and merge find. All submissions but one
 * model solution fail to compile, which is quick. */
#include "grader/class/export.h"
#include "grader/class/store.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char at[4096];

static int run_in_class(const char *format, const char *store) {
    char line[4096];
    snprintf(line, sizeof line, format, store);
    return shell("cd %s && PATH=%s:$PATH && { %s; } >out 2>&1", at, store_fixture_folder(), line);
}

static void make_class(void) {
    snprintf(at, sizeof at, "%s/tests/store", build_folder());
    ck_assert_int_eq(shell("rm -rf %s && mkdir -p %s/c/ann %s/c/bob %s/c/odd && cp "
                           "solutions/02-coalescing/transpose.cu %s/c/ann",
                           at, at, at, at, at),
                     0);
    ck_assert_int_eq(
        shell("cd %s && echo '#error one' >c/bob/transpose.cu && echo x >c/odd/final.cu && printf "
              "'id\\nann\\nbob\\nzoe\\n' >r.csv",
              at),
        0);
    ck_assert_int_eq(
        run_in_class(
            "grader batch c --roster r.csv --store %s --seed s1 --format csv --output g.csv",
            "a.db"),
        1);
}

START_TEST(only_the_roster_gives_a_zero) {
    make_class();
    ck_assert_int_eq(
        run_in_class("grep -q '^\"ann\",\"02-coalescing/transpose\",AC,100.0,' g.csv", ""), 0);
    ck_assert_int_eq(
        run_in_class("grep -q '^\"bob\",\"02-coalescing/transpose\",CE,0.0,' g.csv", ""), 0);
    ck_assert_int_eq(
        run_in_class("grep -q '^\"odd\",\"02-coalescing/transpose\",-,,100.0,.*\"unclear\"' g.csv",
                     ""),
        0);
    ck_assert_int_eq(
        run_in_class(
            "grep -q '^\"zoe\",\"02-coalescing/transpose\",-,0.0,100.0,.*\"missing\"' g.csv", ""),
        0);
    ck_assert_int_eq(run_in_class("[ $(wc -l <g.csv) = 5 ]", ""), 0);
}
END_TEST

/* Spreadsheets of East Asian locales take fullwidth signs for the ASCII ones. */
START_TEST(cells_that_begin_a_formula_are_defused) {
    static const char *const cells[][2] = {{"=1", "\"'=1\""},
                                           {"\xef\xbc\x9d"
                                            "1",
                                            "\"'\xef\xbc\x9d"
                                            "1\""},
                                           {" \xef\xbc\x8b"
                                            "1",
                                            "\"' \xef\xbc\x8b"
                                            "1\""},
                                           {"\xef\xbc\x8d"
                                            "1",
                                            "\"'\xef\xbc\x8d"
                                            "1\""},
                                           {"\xef\xbc\xa0"
                                            "A1",
                                            "\"'\xef\xbc\xa0"
                                            "A1\""},
                                           {"\xef\xbc\xa1", "\"\xef\xbc\xa1\""},
                                           {"ann", "\"ann\""}};
    for (unsigned i = 0; i < sizeof cells / sizeof *cells; i++) {
        char text[64] = "";
        FILE *f = fmemopen(text, sizeof text, "w");
        export_csv_cell(f, cells[i][0]);
        fclose(f);
        ck_assert_str_eq(text, cells[i][1]);
    }
}
END_TEST

/* As a user who may not write: root may always. */
START_TEST(a_store_that_cannot_be_written_says_so) {
    struct store s;
    struct err e = {0};
    char folder[] = "/tmp/warpbook-store-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.db", folder);
    ck_assert(store_open(&s, path, true, &e));
    store_close(&s);
    for (int i = 0; i < 2; i++) { /* the file, then its folder */
        ck_assert_int_eq(
            shell("chmod %s %s && chmod %s %s", i ? "666" : "444", path, i ? "555" : "777", folder),
            0);
        if (getuid() == 0) ck_assert_int_eq(seteuid(65534), 0);
        ck_assert(!store_open(&s, path, false, &e));
        if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
        ck_assert_msg(strstr(e.text, "may not write") != NULL, "%s", e.text);
    }
    shell("rm -rf %s", folder);
}
END_TEST

/* Columns are letters wide, not bytes, and a name that is cut is cut between letters. */
START_TEST(table_columns_align_for_any_script) {
    make_class();
    ck_assert_int_eq(
        run_in_class("mkdir c/J\xc3\xb6rg c/%s && for w in c/J\xc3\xb6rg c/\xc3\xa9*; do "
                     "cp c/bob/transpose.cu $w; done",
                     "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                     "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                     "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                     "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"),
        0);
    ck_assert_int_eq(run_in_class("grader batch c --roster r.csv --store %s --output t", "a.db"),
                     1);
    ck_assert_int_eq(
        run_in_class("[ $(LC_ALL=C.UTF-8 grep -c '^.\\{24\\} transpose  ' t) = 6 ]", ""), 0);
    ck_assert_int_eq(
        run_in_class("grader intake c --roster r.csv --output t; "
                     "LC_ALL=C.UTF-8 grep -q '^J\xc3\xb6rg.\\{15\\}taken     transpose    "
                     "        transpose.cu  ' t",
                     ""),
        0);
}
END_TEST

START_TEST(the_unedited_starter_is_reported_as_not_started) {
    make_class();
    ck_assert_int_eq(
        shell("git show HEAD:chapters/02-coalescing/transpose.cu >%s/c/bob/transpose.cu", at), 0);
    ck_assert_int_eq(run_in_class("grader batch c --store %s --format csv --output e", "a.db"), 1);
    ck_assert_int_eq(
        run_in_class(
            "grep '^\"bob\"' e | grep -q 'PART,0.0,.*\"not started: this is the starter file\"'",
            ""),
        0);
}
END_TEST

START_TEST(a_second_run_grades_only_changes) {
    make_class();
    ck_assert_int_eq(
        run_in_class("sqlite3 %s 'SELECT key, graded_at, seconds FROM result ORDER BY 1' >before",
                     "a.db"),
        0);
    ck_assert_int_eq(run_in_class("grader batch c --roster r.csv --store %s", "a.db"), 1);
    ck_assert_int_eq(
        run_in_class(
            "sqlite3 %s 'SELECT key, graded_at, seconds FROM result ORDER BY 1' | cmp - before",
            "a.db"),
        0);
    ck_assert_int_eq(run_in_class("echo '#error two' >c/bob/transpose.cu; mkdir c/zoe; cp "
                                  "c/bob/transpose.cu c/zoe; grader "
                                  "batch c --store %s",
                                  "a.db"),
                     1);
    /* bob's and zoe's are the same file: one more result. */
    ck_assert_int_eq(run_in_class("[ $(sqlite3 %s 'SELECT count(*) FROM result') = 3 ]", "a.db"),
                     0);
    ck_assert_int_eq(
        run_in_class(
            "[ \"$(sqlite3 %s \"SELECT group_concat(verdict) FROM (SELECT verdict FROM gradebook "
            "ORDER BY student) s\")\" = AC,CE,CE ]",
            "a.db"),
        0);
    ck_assert_int_eq(
        run_in_class(
            "[ $(sqlite3 %s \"SELECT count(DISTINCT seed) || max(seed) FROM result\") = 1s1 ]",
            "a.db"),
        0);
}
END_TEST

/* What another grader sees while the class is read in again: a student is the first thing that is
 * written of each, so that is where a trigger counts the rows that were committed before, and those
 * that have a result. */
START_TEST(repeated_intake_removes_nothing) {
    make_class();
    ck_assert_int_eq(
        run_in_class(store_fixture_is_server()
                         ? "sqlite3 %s \"CREATE TABLE saw (n INTEGER, graded INTEGER); CREATE "
                           "FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO "
                           "saw SELECT count(*), count(key) FROM submission; RETURN NULL; END'; "
                           "CREATE TRIGGER look AFTER UPDATE ON student FOR EACH ROW EXECUTE "
                           "FUNCTION note()\""
                         : "sqlite3 %s 'CREATE TABLE saw (n, graded); CREATE TRIGGER look AFTER "
                           "UPDATE ON student BEGIN INSERT INTO saw SELECT count(*), count(key) "
                           "FROM submission; END'",
                     "a.db"),
        0);
    ck_assert_int_eq(run_in_class("grader batch c --roster r.csv --store %s", "a.db"), 1);
    ck_assert_int_eq(
        run_in_class("[ \"$(sqlite3 %s 'SELECT count(*), min(n), max(n), min(graded) FROM "
                     "saw')\" = '4|4|4|2' ]",
                     "a.db"),
        0);
    ck_assert_int_eq(run_in_class("rm -r c/odd c/bob && grader batch c --roster r.csv --store %s "
                                  "--complete --format csv --output g.csv",
                                  "a.db"),
                     1);
    ck_assert_int_eq(
        run_in_class(
            "grep -q '^\"bob\",\"02-coalescing/transpose\",-,0.0,100.0,.*\"missing\"' g.csv", ""),
        0);
    ck_assert_int_eq(run_in_class("[ \"$(sqlite3 %s 'SELECT min(n) FROM saw')\" = 4 ]", "a.db"), 0);
}
END_TEST

START_TEST(ungraded_submissions_have_no_score_in_any_format) {
    static const char *const formats[] = {"text", "csv", "json", "junit", "tap", "nbgrader"};
    char line[512];
    make_class();
    ck_assert_int_eq(
        run_in_class(
            "sqlite3 %s \"UPDATE result SET verdict = 'IE', score = NULL WHERE verdict = 'CE'\"",
            "a.db"),
        0);
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(line, sizeof line, "grader export %%s --format %s --output e", formats[i]);
        ck_assert_msg(run_in_class(line, "a.db") == 0, "%s", formats[i]);
        /* One zero, the one that the roster gives; JSON's and text's other figures are no scores.
         */
        snprintf(line, sizeof line,
                 "[ $(grep -E '(score|bob|odd|zoe)' e | grep -cE '(\"|,| |: )0\\.0(,|\"| |$)') -le "
                 "%d ] && grep -q ann e",
                 i == 5 ? 1 : 2);
        ck_assert_msg(run_in_class(line, "") == 0, "zeros in %s", formats[i]);
        if (i < 5)
            ck_assert_msg(run_in_class("grep -q s1 e", "") == 0, "no seed in %s", formats[i]);
    }
    ck_assert_int_eq(run_in_class("grader export %s --format json | tr -d '\\n ' | grep -qE "
                                  "'\"score\":(null|0.0),\"reason\":\"([^\"]*)\",\"why\":\"\\2\"'",
                                  "a.db"),
                     0);
    ck_assert_int_eq(
        run_in_class("grader export %s --format text | grep '^bob' | grep -q 'IE  *-  '", "a.db"),
        0);
    ck_assert_int_eq(run_in_class("grader export %s --format tap | grep -q '^ok 3 - odd "
                                  "02-coalescing/transpose # SKIP unclear'",
                                  "a.db"),
                     0);
    ck_assert_int_eq(run_in_class("grader export %s --format junit | grep -q 'tests=\"4\" "
                                  "failures=\"1\" errors=\"1\" skipped=\"1\"'",
                                  "a.db"),
                     0);
}
END_TEST

START_TEST(a_result_can_be_reproduced_and_regraded) {
    make_class();
    ck_assert_int_eq(
        run_in_class("grader reproduce %s ann transpose && grep -q '^identical$' out", "a.db"), 0);
    ck_assert_int_eq(
        run_in_class("sqlite3 %s \"UPDATE result SET json = replace(json, '\\\"AC\\\"', "
                     "'\\\"WA\\\"'), nvcc = '13.5.1'\"",
                     "a.db"),
        0);
    ck_assert_int_eq(run_in_class("grader reproduce %s ann transpose", "a.db"), 1);
    ck_assert_int_eq(
        run_in_class(
            "grader reproduce %s ann transpose >said; grep -q 'verdict was .WA., is .AC.' said && "
            "grep -q '13.5.1 then' said",
            "a.db"),
        0);
    ck_assert_int_eq(
        run_in_class(
            "grader regrade %s --seed s2 --diff >said && grep -q '^0 of 2 results differ' said",
            "a.db"),
        0);
    ck_assert_int_eq(
        run_in_class("[ $(sqlite3 %s 'SELECT max(seed) FROM gradebook') = s1 ]", "a.db"), 0);
    ck_assert_int_eq(run_in_class("grader regrade %s --seed s2", "a.db"), 0);
    ck_assert_int_eq(
        run_in_class("[ $(sqlite3 %s 'SELECT min(seed) FROM gradebook') = s2 ]", "a.db"), 0);
}
END_TEST

START_TEST(merged_shards_equal_a_full_run) {
    make_class();
    for (int k = 1; k <= 2; k++) {
        char line[256];
        snprintf(line, sizeof line,
                 "grader batch c --roster r.csv --store part%d.db --seed s1 --shard %d/2", k, k);
        ck_assert_int_eq(run_in_class(line, ""), 1);
    }
    ck_assert_int_eq(
        run_in_class("grader merge whole.db part1.db part2.db && grader merge whole.db %s", "a.db"),
        0);
    ck_assert_int_eq(run_in_class("for s in %s whole.db; do sqlite3 $s 'SELECT student, exercise, "
                                  "state, verdict, score, key FROM "
                                  "gradebook ORDER BY 1' >$s.txt; "
                                  "done; cmp a.db.txt whole.db.txt && [ $(sqlite3 whole.db 'SELECT "
                                  "count(*) FROM result') = 2 ]",
                                  "a.db"),
                     0);
    ck_assert_int_eq(run_in_class("grader batch c --store other.db --seed s2", ""), 1);
    ck_assert_int_eq(run_in_class("grader merge whole.db other.db 2>why", ""), 2);
    ck_assert_int_eq(run_in_class("grep -q 'another seed.*s1, s2' why", ""), 0);
    ck_assert_int_eq(
        run_in_class("grader merge new.db part1.db part2.db >said && grader merge new.db "
                     "part1.db part2.db >again",
                     ""),
        0);
    ck_assert_int_eq(
        run_in_class("[ $(sed 's/.*: \\([0-9]*\\) result.* added$/\\1/' said | awk '{n += "
                     "$1} END {print n}') = 2 ]",
                     ""),
        0);
    ck_assert_int_eq(
        run_in_class(
            "[ $(grep -c ': 0 results added; [0-9]* already present, all equal' again) -ge 1 ]",
            ""),
        0);
    ck_assert_int_eq(
        run_in_class(
            "for s in part1.db part2.db; do sqlite3 $s 'UPDATE result SET score = 1'; done", ""),
        0);
    ck_assert_int_eq(run_in_class("grader merge whole.db part1.db part2.db", ""), 2);
}
END_TEST

/* The exports give the reason for a verdict, not only its place: n = 1 writes out of bounds, and
 * a step of the ladder lacks only speed. */
START_TEST(reasons_explain_each_verdict) {
    make_class();
    ck_assert_int_eq(shell("sed 's/row + k < rows/row < rows/' "
                           "solutions/02-coalescing/transpose.cu >%s/c/bob/transpose.cu && "
                           "cp solutions/02-coalescing/transpose-3-tile.cu %s/c/odd/transpose.cu "
                           "&& rm %s/c/odd/final.cu",
                           at, at, at),
                     0);
    ck_assert_int_eq(run_in_class("grader batch c --store %s --format csv --output e", "a.db"), 1);
    ck_assert_int_eq(
        run_in_class(
            "grep '^\"bob\"' e | grep -q 'RTE,.*\"transpose.cu:[0-9]*: out-of-bounds: kernel'", ""),
        0);
    ck_assert_int_eq(
        run_in_class("grep '^\"odd\"' e | grep -q \"PART,.*\\\"0.47x the model solution's speed\"",
                     ""),
        0);
}
END_TEST

/* ann handed in the model solution, and an earlier class has it with other names for things. */
START_TEST(similar_reads_the_stores_of_this_and_an_earlier_class) {
    make_class();
    ck_assert_int_eq(run_in_class("grader similar %s >pairs 2>count", "a.db"), 0);
    ck_assert_int_eq(
        run_in_class("grep -q '^0 pairs, 1 copies of the book' count && grep -q ann pairs", ""), 0);
    ck_assert_int_eq(
        run_in_class("mkdir -p old/eve && sed 's/tile/block_copy/g' c/ann/transpose.cu "
                     ">old/eve/transpose.cu && grader intake old --exercise transpose --store %s "
                     "&& grader similar old.db --against a.db 2>count >pairs && "
                     "grep -q 'copies of the book' count && grep -q eve pairs",
                     "old.db"),
        0);
}
END_TEST

/* An exam's grader may not change between the first and the last submission. */
START_TEST(a_frozen_assignment_refuses_another_grader) {
    snprintf(at, sizeof at, "%s/tests/store", build_folder());
    ck_assert_int_eq(shell("rm -rf %s && mkdir -p %s/c/bob && cd %s && echo '#error one' "
                           ">c/bob/transpose.cu && printf 'release = \"0123456789ab\"\\n"
                           "[[exercise]]\\nname = \"transpose\"\\n' >hw.toml",
                           at, at, at),
                     0);
    ck_assert_int_eq(run_in_class("grader batch c --assignment hw.toml --store %s 2>said", "f.db"),
                     2);
    ck_assert_int_eq(run_in_class("grep -q 'hw.toml is frozen to the grader "
                                  "0123456789ab, and this is [0-9a-f]*: grade with that one' said "
                                  "&& [ $(sqlite3 %s 'SELECT count(*) FROM result') = 0 ]",
                                  "f.db"),
                     0);
    ck_assert_int_eq(
        run_in_class("own=$(grader --version | sed -n 's/^grader \\(.\\{16\\}\\).*/\\1/p') && sed "
                     "-i s/0123456789ab/$own/ hw.toml && grader batch c --assignment hw.toml "
                     "--store %s >said 2>&1; [ $? = 1 ] && grep -q CE said",
                     "f.db"),
        0);
}
END_TEST

START_TEST(unwritable_output_is_reported_before_grading) {
    make_class();
    ck_assert_int_eq(run_in_class("grader batch c --store new.db --output /nowhere/g.csv", ""), 3);
    ck_assert_int_eq(run_in_class("[ ! -e new.db ]", ""), 0);
    ck_assert_int_eq(run_in_class("echo no >text.db; grader export text.db", ""), 2);
    ck_assert_int_eq(run_in_class("grader export none.db", ""), 2);
}
END_TEST

START_TEST(each_student_has_a_page) {
    make_class();
    ck_assert_int_eq(
        run_in_class(
            "mkdir 'c/<b>`x`' && cp c/bob/transpose.cu 'c/<b>`x`' && grader batch c --store %s "
            "--roster r.csv; grader feedback a.db pages",
            "a.db"),
        0);
    ck_assert_int_eq(
        run_in_class("[ $(ls pages/*.md | wc -l) = 5 ] && grep -q '100.0 of 100 points' "
                     "pages/ann.md && grep -q "
                     "'There is no score' pages/odd.md",
                     ""),
        0);
    ck_assert_int_eq(run_in_class("head -1 pages/_b_*.md | grep -qF '# \\<b\\>\\`x\\`'", ""), 0);
    ck_assert_int_eq(
        run_in_class("grep -q '<h1>02-coalescing/transpose' pages/ann-transpose.html && "
                     "grep -q 'href=\"ann-transpose.html\"' "
                     "pages/ann.html && grep -q 'no score, which doesn' pages/odd.html",
                     ""),
        0);
    ck_assert_int_eq(
        run_in_class("! grep -q '<b>' pages/*.html && grep -q '<h1>&lt;b&gt;' pages/_b_*.html", ""),
        0);
    ck_assert_int_eq(
        run_in_class("! grep -L \"default-src 'none'; style-src 'sha256-\" pages/*.html | grep .",
                     ""),
        0);
    ck_assert_int_eq(run_in_class("grader stats %s --format html --output s.html && grep -q '<rect "
                                  "class=\"yours\"' s.html "
                                  "&& ! grep -q '<script' s.html",
                                  "a.db"),
                     0);
    ck_assert_int_eq(
        run_in_class("grader stats %s | grep -q '02-coalescing/transpose *CE *2 *0.0'", "a.db"), 0);
}
END_TEST

/* Those that write to a store. */
static void add_tests(TCase *t) {
    tcase_add_test(t, only_the_roster_gives_a_zero);
    tcase_add_test(t, a_second_run_grades_only_changes);
    tcase_add_test(t, repeated_intake_removes_nothing);
    tcase_add_test(t, merged_shards_equal_a_full_run);
    tcase_set_timeout(t, 180);
}

/* Of what exports and pages contain, and of gradings. */
static void add_export_tests(TCase *t) {
    tcase_add_test(t, table_columns_align_for_any_script);
    tcase_add_test(t, the_unedited_starter_is_reported_as_not_started);
    tcase_add_test(t, ungraded_submissions_have_no_score_in_any_format);
    tcase_add_test(t, a_result_can_be_reproduced_and_regraded);
    tcase_add_test(t, reasons_explain_each_verdict);
    tcase_add_test(t, similar_reads_the_stores_of_this_and_an_earlier_class);
    tcase_add_test(t, a_frozen_assignment_refuses_another_grader);
    tcase_add_test(t, unwritable_output_is_reported_before_grading);
    tcase_add_test(t, each_student_has_a_page);
    tcase_set_timeout(t, 180);
}

UNIT_SUITE(store) {
    Suite *s = suite_create("store");
    store_fixture_add_cases(s, "store", add_tests);
    store_fixture_add_long_server_cases(s, "exports", add_export_tests);
    TCase *t = tcase_create("without a class");
    tcase_add_test(t, cells_that_begin_a_formula_are_defused);
    tcase_add_test(t, a_store_that_cannot_be_written_says_so);
    suite_add_tcase(s, t);
    return s;
}

/* test_decision.c — tests what an instructor decides: that it counts in every export, that the
 * history keeps what was before, and that a forgotten student leaves no byte in the store. The
 * results are rows that the test inserts. */
#include "common/file.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/submissions.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* ann and bob have 40 of 100 in both exercises, and handed in two days late. */
static void make_store(void) {
    struct buf rows = {0};
    submissions_make("decision");
    for (unsigned i = 0; i < 4; i++) {
        char path[64], text[64];
        snprintf(path, sizeof path, "%s/%s.cu", i % 2 ? "bob" : "ann",
                 i / 2 ? "particles" : "transpose");
        snprintf(text, sizeof text, "// first\n// second %u\n", i);
        submissions_write(path, text);
    }
    submissions_write_roster("r.csv",
                             "id,submitted_at\nann,2026-10-03T12:00:00Z\nbob,2026-10-03T12:00:00Z"
                             "\n");
    submissions_write_roster("hw.toml",
                             "name = \"HW\"\nroster = \"r.csv\"\ndeadline = "
                             "2026-10-01T12:00:00Z\n[late]\npenalty = 10\nmost_days = 5\n"
                             "[[exercise]]\nname = \"transpose\"\n[[exercise]]\nname = "
                             "\"particles\"\n");
    submissions_intake("c --assignment hw.toml --store c.db", 0, &rows);
    ck_assert_int_eq(
        shell("cd %s && sqlite3 c.db \"INSERT INTO result (key, exercise, digest, file, seed, "
              "device, "
              "grader, nvcc, book, counted, jail, graded_at, seconds, verdict, score, max_score, "
              "reason, report, json) SELECT student || exercise, exercise, digest, file, 's', "
              "'h200', "
              "'g', 'n', 'b', 1, 'j', '2026', 1, 'PART', 40, 100, 'r', 'report', "
              "'{\\\"score\\\": 40.0}' FROM submission; UPDATE submission SET key = student || "
              "exercise\"",
              submissions_folder),
        0);
    buf_free(&rows);
}

static int decide(const char *arguments) {
    return shell("cd %s && %s/grader decide c.db %s --author 'Dr. Poe' 2>said", submissions_folder,
                 store_fixture_folder(), arguments);
}

/* Returns the total of a student in percent, as `export --format totals` writes it. */
static bool total_is(const char *student, const char *percent) {
    return shell("cd %s && %s/grader export c.db --format totals | grep -q "
                 "'^\"%s\",\"\",[^,]*,[0-9]*,%s,'",
                 submissions_folder, store_fixture_folder(), student, percent) == 0;
}

/* 40 % in each, two days late at 10 % each: 32. */
START_TEST(a_score_replaces_the_machines) {
    make_store();
    ck_assert(total_is("ann", "32.00"));
    ck_assert_int_eq(decide("ann transpose --score 90 --reason 'the goal does not apply'"), 0);
    ck_assert(total_is("ann", "52.00")); /* (90 + 40) / 2 * 0.8 */
    ck_assert(total_is("bob", "32.00"));
    ck_assert_int_eq(
        shell("cd %s && %s/grader export c.db --format csv | grep -q '^\"ann\",\"02-coalescing"
              "/transpose\",PART,90.0,100.0,.*\"score by Dr. Poe: the goal does not apply "
              "(before: PART, 40.00)\".*\"overridden\"'",
              submissions_folder, store_fixture_folder()),
        0);
    ck_assert_int_eq(shell("cd %s && %s/grader export c.db --format json >j && grep -q "
                           "'\"machine_score\": 40.0' j && grep -q '\"score\": 90.0' j",
                           submissions_folder, store_fixture_folder()),
                     0);
    ck_assert_int_eq(decide("ann transpose --score - --reason 'a mistake'"), 0);
    ck_assert(total_is("ann", "32.00"));
    ck_assert_int_eq(
        shell("cd %s && %s/grader decide c.db >h && [ $(wc -l <h) = 2 ] && grep -q 'Dr. Poe: "
              "ann transpose score = 90.00; before: PART, 40.00; reason: the goal' h && grep "
              "-q 'score = -; before: 90.00; reason: a mistake' h && %s/grader decide c.db "
              "--format csv | grep -q '\"score\",\"\",\"90.00\",\"PART, 40.00\"'",
              submissions_folder, store_fixture_folder(), store_fixture_folder()),
        0);
}
END_TEST

START_TEST(an_accepted_but_excused_result_is_a_skipped_test) {
    make_store();
    ck_assert_int_eq(decide("ann transpose --excused yes --reason ill"), 0);
    ck_assert_int_eq(
        shell("cd %s && PATH=%s:$PATH && sqlite3 c.db \"UPDATE result SET verdict = 'AC'\" && "
              "grader export c.db --format junit >j && grep -q 'skipped=\"1\"' j && grep -q "
              "'classname=\"ann\" name=\"02-coalescing/transpose\".*<skipped message=\"excused by "
              "Dr. Poe: ill\"/>' j && [ $(grep -c '<skipped' j) = 1 ]",
              submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

START_TEST(an_extension_and_an_excuse_count) {
    make_store();
    ck_assert_int_eq(decide("ann --deadline 2026-10-04T00:00:00+02:00 --reason ill"), 0);
    ck_assert(total_is("ann", "40.00"));
    ck_assert(total_is("bob", "32.00"));
    ck_assert_int_eq(decide("ann transpose --score 80 --reason x"), 0);
    ck_assert_int_eq(decide("ann particles --excused yes --reason ill"), 0);
    ck_assert(total_is("ann", "80.00"));
    ck_assert_int_eq(decide("ann --excused yes --reason 'ill all term'"), 0);
    ck_assert(total_is("ann", "")); /* no mark, and nothing open */
    ck_assert_int_eq(decide("ann --excused - --reason back"), 0);
    ck_assert(total_is("ann", "80.00"));
}
END_TEST

START_TEST(decisions_are_on_the_pages) {
    make_store();
    ck_assert_int_eq(decide("ann transpose --comment 'see <here>' --line 2"), 0);
    ck_assert_int_eq(decide("ann transpose --score 70 --reason 'by hand'"), 0);
    ck_assert_int_eq(
        shell("cd %s && rm -rf p && %s/grader feedback c.db p >said && grep -q '^line 2: Dr. Poe "
              "comments: see <here>' p/ann.md && grep -q '^    > // second 0' p/ann.md && grep -q "
              "'see "
              "&lt;here&gt;' p/ann.html && grep -q 'decides: score: 70.00 (by hand)' p/ann.md && ! "
              "grep "
              "-q Poe p/bob.md",
              submissions_folder, store_fixture_folder()),
        0);
    /* (70 + 40) / 2, two days late at 10 % each */
    ck_assert_int_eq(
        shell("cd %s && grep -q '^Handed in late: each mark is multiplied by 80 %%.$' "
              "p/ann.md && grep -q '^Total: 44.00 %%.$' p/ann.md && grep -q '<p>Total: "
              "32.00 %%.</p>' p/bob.html",
              submissions_folder),
        0);
    ck_assert_int_eq(decide("bob transpose --moderated yes --reason sample"), 0);
    ck_assert_int_eq(
        shell("cd %s && %s/grader feedback c.db p >said && grep -q '^There is no total "
              "yet: no score for 02-coalescing/transpose.$' p/bob.md",
              submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

/* The history is the requests' only store, so a withdrawn or repeated one stays in it, too. */
START_TEST(a_request_is_open_until_it_is_answered) {
    static const char open_count[] = "cd %s && [ \"$(%s/grader stats c.db | sed -n '/OPEN "
                                     "REQ/,/^$/p' | grep -c '^  2')\" = %u ]";
    make_store();
    ck_assert_int_eq(decide("ann transpose --answer 'no question'"), 2);
    ck_assert_int_eq(decide("ann --request 'all of it'"), 2);
    ck_assert_int_eq(decide("ann transpose --request 'see <line 2>'"), 0);
    ck_assert_int_eq(shell(open_count, submissions_folder, store_fixture_folder(), 1), 0);
    ck_assert_int_eq(decide("bob transpose --answer x"), 2);
    ck_assert_int_eq(decide("ann transpose --answer 'the limit stands'"), 0);
    ck_assert_int_eq(shell(open_count, submissions_folder, store_fixture_folder(), 0), 0);
    ck_assert_int_eq(decide("ann transpose --request again"), 0);
    ck_assert_int_eq(shell(open_count, submissions_folder, store_fixture_folder(), 1), 0);
    ck_assert_int_eq(decide("ann transpose --request -"), 0);
    ck_assert_int_eq(shell(open_count, submissions_folder, store_fixture_folder(), 0), 0);
    ck_assert_int_eq(
        shell(
            "cd %s && rm -rf p && %s/grader feedback c.db p >said && %s/grader decide c.db "
            "--format "
            "csv >h && [ $(grep -c '\"request\"' h) = 3 ] && grep -q '^Dr. Poe answers: the limit "
            "stands' p/ann.md && ! grep -q again p/ann.md",
            submissions_folder, store_fixture_folder(), store_fixture_folder()),
        0);
}
END_TEST

START_TEST(requests_are_in_the_json) {
    make_store();
    ck_assert_int_eq(decide("ann transpose --request 'see line 2'"), 0);
    ck_assert(shell("cd %s && %s/grader export c.db --format json | grep -c '\"requests\"' >n && [ "
                    "$(cat n) = 1 ]",
                    submissions_folder, store_fixture_folder()) == 0);
    ck_assert_int_eq(decide("ann transpose --answer 'yes, 10 more'"), 0);
    ck_assert_int_eq(
        shell(
            "cd %s && %s/grader export c.db --format json >j && python3 -c \"import json; r = [x "
            "for s in json.load(open('j'))['submissions'] for x in s['exercises'] if 'requests' in "
            "x]; assert len(r) == 1; q = r[0]['requests'][0]; assert (q['text'], q['answer'], "
            "q['answered_by'], q['open']) == ('see line 2', 'yes, 10 more', 'Dr. Poe', False), q\"",
            submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

START_TEST(canvas_sources_come_back_with_the_comments_at_their_lines) {
    struct buf rows = {0};
    submissions_make("decision");
    submissions_write("poeann_103_9001_transpose.cu", "first\nsecond");
    submissions_intake("c --exercise transpose --store c.db", 0, &rows);
    ck_assert_int_eq(decide("poeann_103 transpose --comment 'on line one' --line 1"), 0);
    ck_assert_int_eq(decide("poeann_103 transpose --comment 'on the end' --line 2"), 0);
    ck_assert_int_eq(decide("poeann_103 transpose --comment 'on all of it'"), 0);
    ck_assert_int_eq(
        shell(
            "cd %s && %s/grader feedback c.db k.zip --format canvas >said && unzip -p k.zip | sed "
            "-n '/on all of it/,$p' >f && printf '// Dr. Poe, comment: on all of "
            "it\\n\\nfirst\\n// "
            "Dr. Poe, comment: on line one\\nsecond\\n// Dr. Poe, comment: on the end\\n' | cmp - "
            "f",
            submissions_folder, store_fixture_folder()),
        0);
    buf_free(&rows);
}
END_TEST

/* eve handed in nothing. ann's 40 % at two days late at 10 % each are 32 %. */
START_TEST(a_partners_submission_counts) {
    make_store();
    ck_assert_int_eq(
        shell("cd %s && printf 'eve,2026-10-01T11:00:00Z\\n' >>r.csv && %s/grader intake c "
              "--assignment hw.toml --store c.db >said",
              submissions_folder, store_fixture_folder()),
        0);
    ck_assert(total_is("eve", "0.00"));
    ck_assert_int_eq(decide("eve --partner nobody --reason x"), 2);
    ck_assert_int_eq(decide("eve --partner eve --reason x"), 2);
    ck_assert_int_eq(decide("eve --partner ann --reason 'in pairs'"), 0);
    ck_assert(total_is("eve", "32.00"));
    ck_assert_int_eq(decide("ann --partner bob --reason chain"), 2);
    ck_assert_int_eq(decide("bob --partner eve --reason chain"), 2);
    ck_assert_int_eq(decide("ann transpose --score 90 --reason x"), 0);
    ck_assert_int_eq(decide("ann transpose --comment 'for both' --line 1"), 0);
    ck_assert(total_is("eve", "52.00"));
    ck_assert_int_eq(decide("eve transpose --score 70 --reason 'did less'"), 0);
    ck_assert(total_is("eve", "44.00")); /* (70 + 40) / 2 * 0.8 */
    ck_assert(total_is("ann", "52.00"));
    ck_assert_int_eq(
        shell("cd %s && rm -rf p && %s/grader feedback c.db p >said && grep -q '^line 1: Dr. Poe "
              "comments: for both' p/eve.md && grep -q 'handed in by: ann (in pairs)' p/eve.md && "
              "%s/grader forget c.db ann >said && ! grep -qa -e '\"ann\"' -e 'in pairs' c.db*",
              submissions_folder, store_fixture_folder(), store_fixture_folder()),
        0);
    ck_assert(total_is("eve", "35.00")); /* her own 70, and nothing */
}
END_TEST

/* The names are those of the submissions, from which each LMS reads whom a file is for. */
START_TEST(feedback_goes_back_under_the_submissions_names) {
    struct buf rows = {0};
    submissions_make("decision");
    submissions_write("Jane Doe_101_assignsubmission_file_/transpose.cu", "// m");
    submissions_write("J\xc3\xb6rg_102_assignsubmission_onlinetext/onlinetext.html", "m");
    submissions_write("poeann_103_9001_transpose.cu", "int original;\n");
    submissions_intake("c --exercise transpose --store c.db", 1, &rows);
    ck_assert_int_eq(shell("cd %s && %s/grader feedback c.db m.zip --format moodle >said && "
                           "%s/grader feedback c.db "
                           "k.zip --format canvas >>said && python3 -c \"import zipfile, sys; "
                           "sys.stdout.buffer.write(''.join(n + chr(10) for n in "
                           "zipfile.ZipFile('m.zip').namelist()).encode())\" >names",
                           submissions_folder, store_fixture_folder(), store_fixture_folder()),
                     0);
    ck_assert_int_eq(shell("cd %s && grep -q '^Jane "
                           "Doe_101_assignsubmission_file_/Jane_Doe_101-.*[.]html$' names && "
                           "grep -q '^J\xc3\xb6rg_102_assignsubmission_file_/J__rg_102-.*[.]html$' "
                           "names && [ $(wc -l "
                           "<names) = 2 ] && [ \"$(unzip -Z1 k.zip)\" = "
                           "poeann_103_9001_transpose.cu ] && unzip -p "
                           "k.zip | tail -1 | grep -q '^int original;$' && unzip -p k.zip | head "
                           "-1 | grep -q '^// "
                           "02-coalescing/transpose: not graded'",
                           submissions_folder),
                     0);
    buf_free(&rows);
}
END_TEST

START_TEST(wrong_decisions_are_refused) {
    static const char *const wrong[] = {"nobody transpose --score 9 --reason x",
                                        "ann transpose --score 101 --reason x",
                                        "ann transpose --score 9",
                                        "ann --score 9 --reason x",
                                        "ann transpose --reason x",
                                        "ann transpose --score 9 --excused yes --reason x",
                                        "ann --deadline tomorrow --reason x",
                                        "ann transpose --score 9 --line 2 --reason x",
                                        "ann transpose --comment x --line 3",
                                        "ann --comment x --line 1",
                                        "ann transpose --excused no --reason x",
                                        "ann transpose --moderated no --reason x",
                                        "ann nothing --score 9 --reason x"};
    make_store();
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(decide(wrong[i]) == 2, "%s", wrong[i]);
    ck_assert_int_eq(shell("cd %s && [ -z \"$(%s/grader decide c.db)\" ]", submissions_folder,
                           store_fixture_folder()),
                     0);
}
END_TEST

/* Instructors know names, and the number of Moodle's participants. */
START_TEST(a_name_leads_to_the_id) {
    struct buf rows = {0};
    submissions_make("decision");
    submissions_write("Ann Poe_7_assignsubmission_file/transpose.cu", "// x\n");
    submissions_write_roster("r.csv", "Identifier,Full name\nParticipant 7,Ann Poe\n"
                                      "Participant 8,Jane Doe\nParticipant 9,Jane Doe\n");
    submissions_intake("c --roster r.csv --store c.db", 0, &rows);
    static const char *const wrong[][2] = {{"'ann poe'", "use the id: 'Participant 7'"},
                                           {"7", "use the id: 'Participant 7'"},
                                           {"'Jane Doe'", "'Participant 8', 'Participant 9'"},
                                           {"Eve", "lists the ids"}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "%s --excused yes --reason ill", wrong[i][0]);
        ck_assert_int_eq(decide(arguments), 2);
        ck_assert_msg(shell("grep -qF -- \"%s\" %s/said", wrong[i][1], submissions_folder) == 0,
                      "%s", wrong[i][0]);
    }
    buf_free(&rows);
}
END_TEST

/* Also the bytes of deleted rows must be gone. */
START_TEST(a_forgotten_student_leaves_nothing) {
    make_store();
    ck_assert_int_eq(decide("ann transpose --comment 'about ann'"), 0);
    ck_assert_int_eq(
        shell(
            "bytes() { %s; }; cd %s && bytes | grep -qa 'second 0' && %s/grader forget c.db ann "
            ">said && ! bytes | grep -qa -e 'second 0' -e 'about ann' -e '[\"'\\'']ann[\"'\\'']' "
            "-e "
            "'ann/' && [ \"$(sqlite3 c.db 'SELECT (SELECT group_concat(id) FROM student), (SELECT "
            "count(*) FROM result), (SELECT count(*) FROM source)')\" = 'bob|2|2' ] && ! %s/grader "
            "forget c.db ann 2>said",
            store_fixture_is_server() ? "sqlite3 c.db .dump" : "cat c.db*", submissions_folder,
            store_fixture_folder(), store_fixture_folder()),
        0);
}
END_TEST

/* A copy keeps the result that another student has, too. */
START_TEST(a_shared_result_stays) {
    make_store();
    ck_assert_int_eq(
        shell(
            "cd %s && sqlite3 c.db \"UPDATE submission SET digest = (SELECT digest FROM submission "
            "WHERE student = 'ann' AND exercise LIKE '%%transpose'), key = (SELECT key FROM "
            "submission "
            "WHERE student = 'ann' AND exercise LIKE '%%transpose') WHERE student = 'bob' AND "
            "exercise "
            "LIKE '%%transpose'\" && %s/grader forget c.db ann >said && [ \"$(sqlite3 c.db "
            "\"SELECT "
            "count(*) FROM gradebook WHERE student = 'bob' AND score = 40\")\" = 2 ]",
            submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

/* In the second store, ann's score is overridden, bob has another grader's result and another file,
 * and cat is new. An equal row is not listed. */
START_TEST(compare_names_what_changed) {
    struct buf text = {0};
    struct err e = {0};
    char path[4200];
    make_store();
    ck_assert_int_eq(shell("cd %s && PATH=%s:$PATH && grader merge d.db c.db >merged && grader "
                           "compare c.db d.db >said 2>sum && ! "
                           "grep -q . said && grep -q '^0 grades differ; 4 in both' sum",
                           submissions_folder, store_fixture_folder()),
                     0);
    ck_assert_int_eq(
        shell(
            "cd %s && PATH=%s:$PATH && grader decide d.db ann transpose --score 90 --reason ok "
            "--author Poe && sqlite3 d.db \"UPDATE result SET grader = 'h', seed = 't', score = "
            "20 WHERE key LIKE 'bob%%transpose'; UPDATE submission SET digest = NULL WHERE "
            "student = 'bob' AND exercise LIKE '%%particles'; UPDATE result SET score = 30 WHERE "
            "key LIKE '%%particles'; INSERT INTO student VALUES ('cat', '', 0, 1, '', '', 0); "
            "INSERT "
            "INTO submission (student, exercise, state, file, why) VALUES ('cat', 'x/y', 'absent',"
            " '', '')\"; grader compare c.db d.db --format csv --output cmp 2>sum; [ $? = 1 ] && "
            "sed 's/\\r//' cmp >rows && grep -q '^5 grades differ; 4 in both "
            "stores, mean score 40.0 -> 42.5' sum",
            submissions_folder, store_fixture_folder()),
        0);
    snprintf(path, sizeof path, "%s/rows", submissions_folder);
    ck_assert(file_read(path, 4096, &text, &e));
    ck_assert_str_eq(
        buf_str(&text),
        "student,exercise,old_verdict,old_score,new_verdict,new_score,changed,reason\n"
        "\"ann\",\"02-coalescing/particles\",\"PART\",40.0,\"PART\",30.0,\"nothing that it depends "
        "on\",\"r\"\n"
        "\"ann\",\"02-coalescing/transpose\",\"PART\",40.0,\"PART\",90.0,\"decision\",\"score by "
        "Poe: ok (before: PART, 40.00)\"\n"
        "\"bob\",\"02-coalescing/particles\",\"PART\",40.0,\"PART\",30.0,\"file\",\"r\"\n"
        "\"bob\",\"02-coalescing/transpose\",\"PART\",40.0,\"PART\",20.0,\"seed, grader\",\"r\"\n"
        "\"cat\",\"x/y\",\"none\",,\"absent\",,\"only in the second store\",\"\"\n");
    buf_free(&text);
}
END_TEST

/* ann's file is named after her, and what her report and the decisions say is withheld; grades and
 * totals stay. */
START_TEST(an_anonymized_store_names_nobody) {
    make_store();
    ck_assert_int_eq(decide("ann transpose --score 90 --reason 'ann was ill'"), 0);
    ck_assert_int_eq(decide("bob transpose --comment 'ask bob' --line 2"), 0);
    ck_assert_int_eq(decide("bob transpose --request 'bob asks'"), 0);
    ck_assert_int_eq(decide("bob transpose --answer 'ann knows'"), 0);
    ck_assert_int_eq(decide("bob --partner ann --reason pair"), 0);
    ck_assert_int_eq(
        shell("cd %s && PATH=%s:$PATH && sqlite3 c.db \"UPDATE student SET name = 'Ann Poe', doubt "
              "= 'ann?' WHERE id = 'ann'; UPDATE result SET file = 'ann.cu', reason = 'ann.cu:3: "
              "race', report = 'ann', whole = 'ann', json = '{\\\"score\\\": 40.0, "
              "\\\"log\\\": \\\"ann\\\", \\\"file\\\": \\\"ann.cu\\\"}' WHERE key "
              "LIKE 'ann%%'; UPDATE result SET key = replace(key, 'ann', 'x'); UPDATE submission "
              "SET file = 'ann.cu', key = replace(key, 'ann', 'x') WHERE student = 'ann'; UPDATE "
              "result SET key = replace(key, 'bob', 'y'); UPDATE submission SET key = replace(key, "
              "'bob', 'y')\" && grader anonymize c.db d.db && sqlite3 d.db .dump | grep "
              "^INSERT >rows && ! grep -i -e 'ann' -e bob -e poe -e second rows && grep -q "
              "'submission.cu:3: race' rows && ! grep -q 'Ann Poe' d.db*",
              submissions_folder, store_fixture_folder()),
        0);
    ck_assert_int_eq(
        shell("cd %s && PATH=%s:$PATH && for f in c d; do sqlite3 $f.db 'SELECT percent, open FROM "
              "total ORDER BY 1' >$f.total; grader export $f.db --format csv >$f.csv || exit; done "
              "&& cmp c.total d.total && [ $(wc -l <d.csv) = 5 ] && grep -q '^\"S-[0-9a-f]*\"' "
              "d.csv && ! grader anonymize c.db d.db 2>said && grep -q -e 'd.db exists' -e 'has "
              "students' said && "
              "[ $(sqlite3 c.db 'SELECT count(*) FROM student') = 2 ]",
              submissions_folder, store_fixture_folder()),
        0);
}
END_TEST

/* In transpose, bob is first and ann second; a wrong result has no place. */
START_TEST(the_leaderboard_ranks_correct_results) {
    make_store();
    ck_assert_int_eq(
        shell(
            "cd %s && PATH=%s:$PATH && sqlite3 c.db \"UPDATE student SET name = '<b>Bob' WHERE id "
            "= 'bob'; UPDATE result SET score = 60, speed_kind = 'modelled', vs_solution = 0.5 "
            "WHERE key LIKE 'bob%%transpose'; UPDATE result SET verdict = 'WA', score = 0 WHERE "
            "key LIKE 'bob%%particles'\" && grader leaderboard c.db --output b.html && grep "
            "'<tr><td' b.html >rows",
            submissions_folder, store_fixture_folder()),
        0);
    struct buf text = {0};
    struct err e = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s/rows", submissions_folder);
    ck_assert(file_read(path, 4096, &text, &e));
    ck_assert_str_eq(buf_str(&text),
                     "<tr><td class=\"n\">1</td><td>ann</td><td class=\"n\">40.0</td><td "
                     "class=\"n\"></td><td></td></tr>\n"
                     "<tr><td class=\"n\">1</td><td>&lt;b&gt;Bob</td><td class=\"n\">60.0</td><td "
                     "class=\"n\">0.50</td><td>modelled</td></tr>\n"
                     "<tr><td class=\"n\">2</td><td>ann</td><td class=\"n\">40.0</td><td "
                     "class=\"n\"></td><td></td></tr>\n");
    ck_assert_int_eq(
        shell("cd %s && %s/grader leaderboard c.db --anonymous --output b.html && ! grep -qi -e "
              "'>ann' -e bob b.html && [ $(grep -c '<td>S-[0-9a-f]*</td>' b.html) = 3 ]",
              submissions_folder, store_fixture_folder()),
        0);
    buf_free(&text);
}
END_TEST

/* ---- moderation ---- */

static int decide_as(const char *author, const char *arguments) {
    return shell("cd %s && %s/grader decide c.db %s --author %s --reason why 2>said",
                 submissions_folder, store_fixture_folder(), arguments, author);
}

/* Returns true if the gradebook has this state, score and reason of ann's transpose. */
static bool transpose_is(const char *expected) {
    return shell("cd %s && PATH=%s:$PATH && [ \"$(sqlite3 c.db \"SELECT state, "
                 "coalesce(CAST(round(CAST(score AS NUMERIC), 1) AS TEXT), '-'), reason FROM "
                 "gradebook WHERE student = 'ann' AND exercise LIKE '%%/transpose'\")\" = \"%s\" ]",
                 submissions_folder, store_fixture_folder(), expected) == 0;
}

static bool history_says(const char *pattern) {
    return shell("cd %s && %s/grader decide c.db | grep -q -- '%s'", submissions_folder,
                 store_fixture_folder(), pattern) == 0;
}

static bool was_refused_with(const char *text) {
    return shell("cd %s && grep -q '%s' said", submissions_folder, text) == 0;
}

/* 40 % in the other exercise, two days late at 10 % each. */
START_TEST(a_third_person_decides_between_blind_scores) {
    make_store();
    ck_assert_int_eq(decide_as("Ada", "ann transpose --blind-score 60"), 2);
    ck_assert(was_refused_with("not in moderation"));
    ck_assert_int_eq(decide("ann transpose --moderated yes --reason sample"), 0);
    ck_assert(transpose_is("in moderation|-|0 of 2 blind scores"));
    ck_assert(total_is("ann", ""));
    ck_assert(total_is("bob", "32.00"));
    ck_assert_int_eq(decide_as("Ada", "ann transpose --blind-score 55"), 0);
    ck_assert(history_says("Ada: ann transpose blind_score = hidden$"));
    ck_assert_int_eq(decide_as("Ada", "ann transpose --blind-score 60"), 0);
    ck_assert(transpose_is("in moderation|-|1 of 2 blind scores"));
    ck_assert_int_eq(decide_as("Ada", "ann transpose --score 60"), 2);
    ck_assert_int_eq(decide_as("Ben", "ann transpose --blind-score 80"), 0);
    ck_assert(history_says("Ada: ann transpose blind_score = 60.00; before: 55.00; reason: why"));
    ck_assert(transpose_is("in moderation|-|two blind scores differ; a third person decides"));
    ck_assert_int_eq(decide_as("Ben", "ann transpose --blind-score 61"), 2);
    ck_assert_int_eq(decide_as("Cyd", "ann transpose --blind-score 61"), 2);
    ck_assert_int_eq(decide_as("Ben", "ann transpose --score 60"), 2);
    ck_assert(was_refused_with("a third person decides"));
    ck_assert_int_eq(decide_as("Cyd", "ann transpose --score 70"), 0);
    ck_assert(transpose_is("overridden|70.0|score by Cyd: why (before: PART, in moderation, no "
                           "score, blind scores 60.00 and 80.00)"));
    ck_assert(total_is("ann", "44.00")); /* (70 + 40) / 2 * 0.8 */
    ck_assert_int_eq(decide_as("Cyd", "ann transpose --score -"), 0);
    ck_assert(transpose_is("in moderation|-|two blind scores differ; a third person decides"));
    ck_assert_int_eq(decide("ann transpose --moderated - --reason 'by mistake'"), 0);
    ck_assert(transpose_is("graded|40.0|r"));
}
END_TEST

/* The tolerance is 5 points. */
START_TEST(blind_scores_within_the_tolerance_count_with_their_mean) {
    make_store();
    ck_assert_int_eq(shell("cd %s && sed -i 's/^.late.$/[moderation]\\ntolerance = 5\\n&/' "
                           "hw.toml && %s/grader intake c --assignment hw.toml --store c.db >said",
                           submissions_folder, store_fixture_folder()),
                     0);
    ck_assert_int_eq(decide("ann --moderated yes --reason sample"), 0);
    ck_assert_int_eq(decide_as("Ada", "ann transpose --blind-score 70"), 0);
    ck_assert_int_eq(decide_as("Ben", "ann transpose --blind-score 75"), 0);
    ck_assert(transpose_is("moderated|72.5|mean of two blind scores"));
    ck_assert(total_is("ann", "")); /* particles is in moderation, too */
    ck_assert_int_eq(decide_as("Ada", "ann particles --blind-score 50"), 0);
    ck_assert_int_eq(
        shell("cd %s && %s/grader stats c.db | grep -A 1 'IN MODERATION' | grep -q '^ *ann  "
              ".*/particles  *1 of 2 blind scores'",
              submissions_folder, store_fixture_folder()),
        0);
    ck_assert_int_eq(decide_as("Ben", "ann particles --blind-score 50"), 0);
    ck_assert(total_is("ann", "49.00")); /* (72.5 + 50) / 2 * 0.8 */
}
END_TEST

/* A partner's submission has one moderation. The student's pages show the outcome, not who scored
 * what. */
START_TEST(a_moderated_score_is_on_the_pages_without_the_blind_ones) {
    make_store();
    ck_assert_int_eq(decide("bob --partner ann --reason pair"), 0);
    ck_assert_int_eq(decide("ann transpose --moderated yes --reason sample"), 0);
    ck_assert_int_eq(decide_as("Ada", "ann transpose --blind-score 66"), 0);
    ck_assert_int_eq(decide_as("Ben", "ann transpose --blind-score 66"), 0);
    ck_assert_int_eq(decide_as("Ada", "bob transpose --score 1"), 2);
    ck_assert_int_eq(decide("bob transpose --moderated yes --reason sample"), 2);
    ck_assert_int_eq(
        shell("cd %s && rm -rf p && %s/grader feedback c.db p >said && for s in ann bob; do grep "
              "-q '^moderated: mean of two blind scores' p/$s.md && grep -q '</span> 66.0 of 100' "
              "p/$s.html && ! grep -q -e Ada -e Ben -e sample p/$s.* || exit 1; done",
              submissions_folder, store_fixture_folder()),
        0);
    ck_assert_int_eq(shell("cd %s && %s/grader anonymize c.db d.db && %s/grader export d.db "
                           "--format csv >a && [ $(grep -c ',66.0,100.0,.*\"moderated\"' a) = 2 ] "
                           "&& %s/grader decide d.db >h && ! grep -q -e Ada -e Ben -e ann h",
                           submissions_folder, store_fixture_folder(), store_fixture_folder(),
                           store_fixture_folder()),
                     0);
    ck_assert_int_eq(
        shell("cd %s && %s/grader export c.db --format json | grep -A 1 '\"score\": 66' >j; "
              "%s/grader merge e.db c.db && %s/grader compare c.db e.db",
              submissions_folder, store_fixture_folder(), store_fixture_folder(),
              store_fixture_folder()),
        0);
}
END_TEST

static void add_tests(TCase *t) {
    tcase_add_test(t, a_third_person_decides_between_blind_scores);
    tcase_add_test(t, blind_scores_within_the_tolerance_count_with_their_mean);
    tcase_add_test(t, a_moderated_score_is_on_the_pages_without_the_blind_ones);
    tcase_add_test(t, a_score_replaces_the_machines);
    tcase_add_test(t, an_accepted_but_excused_result_is_a_skipped_test);
    tcase_add_test(t, an_extension_and_an_excuse_count);
    tcase_add_test(t, decisions_are_on_the_pages);
    tcase_add_test(t, feedback_goes_back_under_the_submissions_names);
    tcase_add_test(t, a_request_is_open_until_it_is_answered);
    tcase_add_test(t, requests_are_in_the_json);
    tcase_add_test(t, a_partners_submission_counts);
    tcase_add_test(t, canvas_sources_come_back_with_the_comments_at_their_lines);
    tcase_add_test(t, wrong_decisions_are_refused);
    tcase_add_test(t, a_name_leads_to_the_id);
    tcase_add_test(t, a_forgotten_student_leaves_nothing);
    tcase_add_test(t, a_shared_result_stays);
    tcase_add_test(t, compare_names_what_changed);
    tcase_add_test(t, an_anonymized_store_names_nobody);
    tcase_add_test(t, the_leaderboard_ranks_correct_results);
    tcase_set_timeout(t, 180);
}

UNIT_SUITE(decision) {
    Suite *s = suite_create("decision");
    store_fixture_add_long_server_cases(s, "decision", add_tests);
    return s;
}

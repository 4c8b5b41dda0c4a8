/* test_serve_class.c — tests `grader serve --class`: what each role sees and may do, decisions,
 * pairs of similar submissions, pseudonyms, and assistants who work at the same time.
 * grader/tests/pages/class_page.py tests the page in a browser. */
#include "grader/tests/unit/serve_client.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANN "student=ann&exercise=02-coalescing/transpose"
static const char reader_token[] = "000102030405060708090a0b0c0d0e0f",
                  poe_token[] = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                  ann_token[] = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";

static void make_class(const char *options) {
    serve_client_folder();
    ck_assert_int_eq(
        shell(
            "cd %s && mkdir -p work c/ann c/bob && echo '// <b>ann'\\''s' >c/ann/transpose.cu && "
            "echo '// bobs' >c/bob/transpose.cu && printf 'id,name\\nann,Ann Lee\\nbob,Bob "
            "Roe\\neve,Eve Fox\\n' >r.csv && printf '# tokens\\n%s read Rita\\n%s decide Dr. "
            "Poe\\n%s student ann\\n' >tokens && chmod 600 tokens && %s/grader intake c --roster "
            "r.csv --store "
            "c.db >log 2>&1; sqlite3 c.db \"INSERT INTO result (key, exercise, digest, file, "
            "seed, device, grader, nvcc, book, counted, jail, graded_at, seconds, verdict, score, "
            "max_score, reason, report, json) SELECT student, exercise, digest, file, 's', "
            "'h200', 'g', 'n', 'b', 1, 'j', '2026', 1, 'PART', 40, 100, 'r', 'the report', '{}' "
            "FROM submission WHERE state = 'taken'; UPDATE submission SET key = student WHERE "
            "state = 'taken'\"",
            client.folder, reader_token, poe_token, ann_token, store_fixture_folder()),
        0);
    serve_client_start(options);
}

static void open_class(void) { make_class("--class ../c.db --author Lead --tokens ../tokens"); }
static void open_anonymous_class(void) { make_class("--class ../c.db --anonymous"); }

/* The next requests carry this token. */
static void sign_in(const char *other) { strcpy(client.token, other); }

static unsigned decide(const char *kind, const char *value, unsigned line, unsigned seen) {
    char body[300];
    snprintf(body, sizeof body,
             "{\"kind\":\"%s\",\"value\":\"%s\",\"reason\":\"why\",\"line\":%u,\"seen\":%u}", kind,
             value, line, seen);
    return serve_client_status(serve_client_request("POST", "api/decide?" ANN, "", body));
}

static bool store_has(const char *query, const char *expected) {
    return shell("cd %s && [ \"$(sqlite3 c.db \"%s\")\" = \"%s\" ]", client.folder, query,
                 expected) == 0;
}

START_TEST(a_class_is_shown_with_sources_and_reports) {
    ck_assert_uint_eq(serve_client_get(""), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "class.js"));
    ck_assert_uint_eq(serve_client_get("api/class"), 200);
    ck_assert_ptr_nonnull(
        strstr(client.answer,
               "{\"student\":\"ann\",\"name\":\"Ann Lee\",\"exercise\":\"02-coalescing/transpose\","
               "\"state\":\"graded\",\"verdict\":\"PART\",\"score\":40.0"));
    ck_assert_ptr_nonnull(
        strstr(client.answer, "\"state\":\"missing\",\"verdict\":null,\"score\":0.0"));
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"source\":\"// <b>ann's\\n\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "\"report\":\"the report\""));
    ck_assert_uint_eq(serve_client_get("api/submission?student=nobody&exercise=x"), 404);
    ck_assert_uint_eq(serve_client_get("api/contents"), 404);
    ck_assert_uint_eq(serve_client_status(serve_client_request(
                          "POST", "api/decide?" ANN, "Origin: http://evil.example\r\n", "{}")),
                      403);
}
END_TEST

START_TEST(a_role_limits_what_a_token_may_do) {
    char head[300], owner[SERVE_TOKEN_SIZE];
    strcpy(owner, client.token);
    snprintf(head, sizeof head,
             "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
             reader_token, client.port);
    ck_assert_uint_eq(serve_client_status(serve_client_send(head, "", 0)), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, reader_token));
    ck_assert_ptr_null(strstr(client.answer, owner));
    sign_in(reader_token);
    ck_assert_uint_eq(serve_client_get("api/class"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"author\":\"Rita\",\"may_decide\":false"));
    ck_assert_uint_eq(decide("score", "90", 0, 0), 403);
    ck_assert(store_has("SELECT count(*) FROM decision", "0"));
    sign_in(poe_token);
    ck_assert_uint_eq(decide("score", "90", 0, 0), 200);
    sign_in("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe00");
    ck_assert_uint_eq(decide("score", "10", 0, 0), 403);
    ck_assert(store_has("SELECT author, value, former FROM decision", "Dr. Poe|90.00|PART, 40.00"));
}
END_TEST

START_TEST(a_student_sees_and_asks_about_the_own_submissions_only) {
    sign_in(ann_token);
    ck_assert_uint_eq(serve_client_get("api/class"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"student\":\"ann\""));
    ck_assert_ptr_null(strstr(client.answer, "bob"));
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 200);
    ck_assert_uint_eq(
        serve_client_get("api/submission?student=bob&exercise=02-coalescing/transpose"), 404);
    ck_assert_uint_eq(serve_client_get("api/similar"), 403);
    ck_assert_uint_eq(serve_client_get("api/pair?exercise=02-coalescing/transpose&a=ann&b=bob"),
                      403);
    ck_assert_uint_eq(decide("score", "100", 0, 0), 422);
    ck_assert_uint_eq(decide("comment", "x", 1, 0), 422);
    ck_assert_uint_eq(decide("answer", "x", 0, 0), 422);
    ck_assert_uint_eq(decide("request", "line 1 is right", 0, 0), 200);
    ck_assert_uint_eq(serve_client_status(serve_client_request(
                          "POST", "api/decide?student=bob&exercise=02-coalescing/transpose", "",
                          "{\"kind\":\"request\",\"value\":\"x\",\"reason\":\"\","
                          "\"line\":0,\"seen\":0}")),
                      422);
    ck_assert(store_has("SELECT student, author, kind, value FROM decision",
                        "ann|ann|request|line 1 is right"));
    sign_in(poe_token);
    ck_assert_uint_eq(decide("request", "not mine to ask", 0, 9), 422);
    ck_assert_uint_eq(serve_client_get("api/class"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"text\":\"line 1 is right\",\"open\":true"));
    ck_assert_uint_eq(decide("answer", "it is", 0, 9), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"open\":false,\"answer\":\"it is\""));
}
END_TEST

/* One entry of two students, as a group's; the second decision is stale for one of them. */
START_TEST(a_decision_for_a_group_is_for_all_or_nobody) {
    static const char for_group[] =
        "{\"kind\":\"score\",\"value\":\"%u\",\"reason\":\"r\",\"line\":"
        "0,\"seen\":%u,\"group\":true}";
    char body[200];
    ck_assert_int_eq(shell("cd %s && sqlite3 c.db \"DELETE FROM entry; INSERT INTO entry VALUES "
                           "('ann', 'team', 'canvas', '', 0), ('bob', 'team', 'canvas', '', 0)\"",
                           client.folder),
                     0);
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"partners\":[\"bob\"]"));
    snprintf(body, sizeof body, for_group, 77, 0);
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("POST", "api/decide?" ANN, "", body)), 200);
    ck_assert(store_has("SELECT group_concat(mark) FROM (SELECT student || round(CAST(score AS "
                        "NUMERIC), 1) AS mark FROM gradebook WHERE score > 1 ORDER BY student) s",
                        "ann77.0,bob77.0"));
    ck_assert_int_eq(shell("cd %s && %s/grader decide c.db bob transpose --score 5 --author R "
                           "--reason x",
                           client.folder, store_fixture_folder()),
                     0);
    snprintf(body, sizeof body, for_group, 88, 2);
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("POST", "api/decide?" ANN, "", body)), 422);
    ck_assert(store_has("SELECT group_concat(mark) FROM (SELECT student || round(CAST(score AS "
                        "NUMERIC), 1) AS mark FROM gradebook WHERE score > 1 ORDER BY student) s",
                        "ann77.0,bob5.0"));
}
END_TEST

START_TEST(a_partner_is_shown_with_the_submission) {
    static const char bob[] = "api/submission?student=bob&exercise=02-coalescing/transpose";
    ck_assert_int_eq(
        shell("cd %s && %s/grader decide c.db bob --partner ann --author Poe --reason "
              "pair && %s/grader decide c.db ann transpose --comment 'for both' --line "
              "1 --author Poe",
              client.folder, store_fixture_folder(), store_fixture_folder()),
        0);
    ck_assert_uint_eq(serve_client_get(bob), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"submitter\":\"ann\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "\"source\":\"// <b>ann's\\n\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "for both"));
}
END_TEST

/* The two sources share a kernel under other names; a third one has nothing of it. */
START_TEST(a_pair_is_shown_with_its_passages) {
    static const char kernel[] =
        "__global__ void %s(float *o, const float *i, int n) { int x = threadIdx.x + 3;\n"
        "for (int k = 0; k < 32 && x + k < n; k += 8) o[x * 5 + k] = i[x] * 2.0f - 1.0f;\n"
        "if (x > 7 || n < 3) o[x] = i[n - x] / 3.0f; else o[n] = i[x * x] + 4.0f;\n"
        "while (x < n) x += x * 2 + 1, o[x & 31] -= i[x ^ 5] * (x | 6); }\n";
    char ann[800], bob[800];
    snprintf(ann, sizeof ann, kernel, "a"), snprintf(bob, sizeof bob, kernel, "other_name");
    ck_assert_int_eq(
        shell("cd %s && sqlite3 c.db \"UPDATE source SET body = '%s' WHERE digest = (SELECT digest "
              "FROM submission WHERE student = 'ann' AND state = 'taken'); UPDATE source SET body "
              "= '\n%s' WHERE digest = (SELECT digest FROM submission WHERE student = 'bob' "
              "AND state = 'taken')\"",
              client.folder, ann, bob),
        0);
    ck_assert_uint_eq(serve_client_get("api/similar"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"exercise\":\"02-coalescing/transpose\""));
    ck_assert_ptr_nonnull(
        strstr(client.answer, "{\"a\":\"ann\",\"b\":\"bob\",\"has_other\":false,\"share\":1.0"));
    ck_assert_uint_eq(serve_client_get("api/pair?exercise=02-coalescing/transpose&a=bob&b=ann"),
                      200);
    ck_assert_ptr_nonnull(
        strstr(client.answer, "\"passages\":[{\"a\":[2,5],\"b\":[1,4],\"tokens\":"));
    ck_assert_uint_eq(serve_client_get("api/pair?exercise=02-coalescing/transpose&a=ann&b=eve"),
                      404);
    ck_assert_uint_eq(serve_client_get("api/similar?exercise=nothing"), 404);
}
END_TEST

/* Both have read the page before either decides. */
START_TEST(two_assistants_at_once_lose_nothing) {
    char owner[SERVE_TOKEN_SIZE];
    strcpy(owner, client.token);
    ck_assert_uint_eq(decide("score", "90", 0, 0), 200);
    sign_in(poe_token);
    ck_assert_uint_eq(decide("score", "70", 0, 0), 422);
    ck_assert_ptr_nonnull(strstr(client.answer, "Lead decided this meanwhile (score: 90.00)"));
    ck_assert_uint_eq(decide("comment", "see here", 1, 0), 200);
    ck_assert_uint_eq(decide("score", "70", 0, 2), 200);
    sign_in(owner);
    ck_assert_uint_eq(decide("comment", "and here", 1, 0), 422);
    ck_assert_uint_eq(decide("comment", "all of it", 0, 0), 200);
    ck_assert_uint_eq(decide("score", "101", 0, 9), 422);
    ck_assert_uint_eq(decide("excused", "yes", 0, 9), 422);
    ck_assert(store_has("SELECT author, kind, line, value, former FROM decision ORDER BY n",
                        "Lead|score|0|90.00|PART, 40.00\nDr. Poe|comment|1|see here|\n"
                        "Dr. Poe|score|0|70.00|90.00\nLead|comment|0|all of it|"));
    ck_assert(store_has(
        "SELECT round(CAST(score AS NUMERIC), 1) FROM gradebook WHERE student = 'ann'", "70.0"));
}
END_TEST

/* The owner of the printed address and Dr. Poe score blind; Rita only reads. */
START_TEST(nobody_sees_a_blind_score_before_both_are_there) {
    char owner[SERVE_TOKEN_SIZE];
    strcpy(owner, client.token);
    ck_assert_uint_eq(decide("blind_score", "61", 0, 0), 422);
    ck_assert_int_eq(shell("cd %s && %s/grader decide c.db ann transpose --moderated yes --author "
                           "Chair --reason sample",
                           client.folder, store_fixture_folder()),
                     0);
    ck_assert_uint_eq(serve_client_get("api/class"), 200);
    ck_assert_ptr_nonnull(
        strstr(client.answer, "\"moderation\":[{\"student\":\"ann\",\"exercise\":\"02-coalescing/"
                              "transpose\",\"blind_scores\":0,\"awaited\":true}]"));
    ck_assert_uint_eq(decide("blind_score", "61.25", 0, 0), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"value\":\"61.25\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "\"blind_scores\":1,\"awaited\":false"));
    sign_in(poe_token);
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 200);
    ck_assert_ptr_null(strstr(client.answer, "61.25"));
    ck_assert_ptr_null(strstr(client.answer, "\"author\":\"Lead\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "\"state\":\"in moderation\""));
    ck_assert_uint_eq(decide("blind_score", "70.5", 0, 1), 200); /* no conflict with Lead's */
    ck_assert_ptr_nonnull(strstr(client.answer, "61.25"));
    sign_in(reader_token);
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "70.50"));
    ck_assert_uint_eq(decide("blind_score", "1", 0, 9), 403);
    sign_in(ann_token);
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 200);
    ck_assert_ptr_null(strstr(client.answer, "61.25"));
    ck_assert_ptr_null(strstr(client.answer, "Chair"));
    ck_assert_ptr_nonnull(strstr(client.answer, "\"moderation\":[]"));
    ck_assert_uint_eq(decide("blind_score", "100", 0, 9), 422);
    sign_in(owner);
    ck_assert_uint_eq(decide("score", "65", 0, 9), 422);
    ck_assert_ptr_nonnull(strstr(client.answer, "a third person decides"));
}
END_TEST

/* Ten comments by the server and ten by `grader decide`, in turns and at the same time. */
START_TEST(other_processes_decide_at_the_same_time) {
    /* A comment needs its line: ann's source becomes one of 20. */
    ck_assert_int_eq(
        shell("cd %s && sqlite3 c.db \"UPDATE source SET body = '$(yes // | head -20)' "
              "WHERE digest = (SELECT digest FROM submission WHERE student = 'ann' "
              "AND state = 'taken')\"",
              client.folder),
        0);
    pid_t other = fork();
    if (other == 0)
        _exit(shell("cd %s && for i in 11 12 13 14 15 16 17 18 19 20; do %s/grader decide c.db ann "
                    "transpose --comment x --line $i --author Roe || exit 1; done",
                    client.folder, store_fixture_folder()));
    int result;
    for (unsigned line = 1; line <= 10; line++)
        ck_assert_uint_eq(decide("comment", "y", line, 0), 200);
    ck_assert_int_eq(waitpid(other, &result, 0), other);
    ck_assert_int_eq(result, 0);
    ck_assert(store_has("SELECT count(*), count(DISTINCT line), count(*) FILTER (WHERE author = "
                        "'Lead') FROM decided",
                        "20|20|10"));
}
END_TEST

/* Without --author, the printed address only reads. */
START_TEST(pseudonyms_hide_the_names) {
    char path[200], name[13];
    ck_assert_uint_eq(serve_client_get("api/class"), 200);
    ck_assert_ptr_null(strstr(client.answer, "ann"));
    ck_assert_ptr_null(strstr(client.answer, "Lee"));
    const char *at = strstr(client.answer, "\"student\":\"S-");
    ck_assert_ptr_nonnull(at);
    snprintf(name, sizeof name, "%s", at + strlen("\"student\":\""));
    snprintf(path, sizeof path, "api/submission?student=%s&exercise=02-coalescing/transpose", name);
    ck_assert_uint_eq(serve_client_get(path), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"score\":40.0"));
    ck_assert_uint_eq(serve_client_get("api/submission?" ANN), 404);
    ck_assert_uint_eq(decide("score", "90", 0, 0), 403);
}
END_TEST

START_TEST(wrong_files_of_tokens_are_refused) {
    static const char *const wrong[] = {
        "short decide Poe", "000102030405060708090a0b0c0d0e0f lead Poe",
        "000102030405060708090a0b0c0d0e0f read", "000102030405060708090A0B0C0D0E0F read Poe"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(
            shell("cd %s && echo '%s' >t && chmod 600 t && ! %s/grader serve --class c.db "
                  "--tokens t 2>said && grep -q 't:1: write TOKEN ROLE NAME' said",
                  client.folder, wrong[i], store_fixture_folder()) == 0,
            "%s", wrong[i]);
    ck_assert_int_eq(shell("cd %s && chmod 644 tokens && ! %s/grader serve --class c.db --tokens "
                           "tokens 2>said && grep -q 'chmod 600' said",
                           client.folder, store_fixture_folder()),
                     0);
}
END_TEST

static void add_class_tests(TCase *t) {
    tcase_add_checked_fixture(t, open_class, serve_client_stop);
    tcase_add_test(t, a_class_is_shown_with_sources_and_reports);
    tcase_add_test(t, a_role_limits_what_a_token_may_do);
    tcase_add_test(t, a_student_sees_and_asks_about_the_own_submissions_only);
    tcase_add_test(t, a_decision_for_a_group_is_for_all_or_nobody);
    tcase_add_test(t, a_partner_is_shown_with_the_submission);
    tcase_add_test(t, a_pair_is_shown_with_its_passages);
    tcase_add_test(t, two_assistants_at_once_lose_nothing);
    tcase_add_test(t, nobody_sees_a_blind_score_before_both_are_there);
    tcase_add_test(t, other_processes_decide_at_the_same_time);
    tcase_add_test(t, wrong_files_of_tokens_are_refused);
}

static void add_anonymous_tests(TCase *t) {
    tcase_add_checked_fixture(t, open_anonymous_class, serve_client_stop);
    tcase_add_test(t, pseudonyms_hide_the_names);
}

UNIT_SUITE(serve_class) {
    Suite *s = suite_create("serve_class");
    store_fixture_add_long_server_cases(s, "class", add_class_tests);
    store_fixture_add_long_server_cases(s, "anonymous class", add_anonymous_tests);
    return s;
}

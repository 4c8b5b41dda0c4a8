/* test_serve.c — tests `grader serve`: which requests it refuses, that it reaches no file outside
 * of the workspace, how it bounds requests, and the way from a saved text to the event with its
 * result. It speaks HTTP over a plain socket, since a client library would mend malformed requests.
 * grader/tests/pages/workbench.py and class_page.py test the pages in a browser. */
#include "grader/serve/serve.h"
#include "common/hash.h"
#include "grader/tests/unit/serve_client.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the guard ---- */

static struct serve_guard guard_for(const char *origin) {
    struct serve_guard g;
    serve_guard_init(&g, 8000, origin);
    return g;
}

START_TEST(only_the_token_is_accepted) {
    struct serve_guard g = guard_for(NULL), other = guard_for(NULL);
    char cookie[200], shorter[SERVE_TOKEN_SIZE];
    ck_assert_uint_eq(strlen(g.token), 32);
    ck_assert_str_ne(g.token, other.token);
    ck_assert(serve_guard_accepts_token(&g, g.token, NULL));
    snprintf(shorter, sizeof shorter, "%.31s", g.token);
    ck_assert(!serve_guard_accepts_token(&g, shorter, NULL) &&
              !serve_guard_accepts_token(&g, "", NULL) &&
              !serve_guard_accepts_token(&g, NULL, NULL) &&
              !serve_guard_accepts_token(&g, other.token, NULL));
    snprintf(cookie, sizeof cookie, "a=1; warpbook_8000=%s; b=2", g.token);
    ck_assert(serve_guard_accepts_cookie(&g, cookie, NULL));
    snprintf(cookie, sizeof cookie, "warpbook_8001=%s", g.token);
    ck_assert(!serve_guard_accepts_cookie(&g, cookie, NULL));
    snprintf(cookie, sizeof cookie, "warpbook_8000=%s", other.token);
    ck_assert(!serve_guard_accepts_cookie(&g, cookie, NULL) &&
              !serve_guard_accepts_cookie(&g, NULL, NULL));
}
END_TEST

START_TEST(hosts_are_addresses_or_the_proxy) {
    static const char *const accepted[] = {"127.0.0.1:8000", "localhost:8000", "[::1]:8000",
                                           "192.168.1.7:8000"},
                             *const refused[] = {"evil.example:8000",
                                                 "127.0.0.1:8001",
                                                 "127.0.0.1",
                                                 "",
                                                 "127.0.0.1.evil.example:8000",
                                                 "[::1",
                                                 "localhost:8000x",
                                                 "localhost: 8000",
                                                 "localhost.:8000",
                                                 "LOCALHOST:8000",
                                                 "127.1:8000",
                                                 "localhost\xe3\x80\x82:8000",
                                                 "hub.example"};
    struct serve_guard g = guard_for(NULL), proxied = guard_for("https://hub.example/user/x/");
    for (unsigned i = 0; i < sizeof accepted / sizeof *accepted; i++)
        ck_assert_msg(serve_guard_accepts_host(&g, accepted[i]), "%s", accepted[i]);
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_msg(!serve_guard_accepts_host(&g, refused[i]), "%s", refused[i]);
    ck_assert(!serve_guard_accepts_host(&g, NULL));
    ck_assert(serve_guard_accepts_host(&proxied, "hub.example"));
    ck_assert(!serve_guard_accepts_host(&proxied, "hub.example.evil"));
}
END_TEST

START_TEST(origins_are_this_server_or_the_proxy) {
    struct serve_guard g = guard_for(NULL), proxied = guard_for("https://hub.example/user/x");
    static const char host[] = "127.0.0.1:8000";
    ck_assert(serve_guard_accepts_origin(&g, NULL, host));
    ck_assert(serve_guard_accepts_origin(&g, "http://127.0.0.1:8000", host));
    ck_assert(!serve_guard_accepts_origin(&g, "http://127.0.0.1:8001", host));
    ck_assert(!serve_guard_accepts_origin(&g, "https://evil.example", host));
    ck_assert(!serve_guard_accepts_origin(&g, "null", host));
    ck_assert(serve_guard_accepts_origin(&proxied, "https://hub.example", host));
    ck_assert(!serve_guard_accepts_origin(&proxied, "https://hub.example.evil", host));
    ck_assert(!serve_guard_accepts_origin(&proxied, "http://hub.example", host));
}
END_TEST

/* ---- a server ---- */

#define TRANSPOSE "id=02-coalescing/transpose"

static void open_fn(void) {
    serve_client_folder();
    ck_assert_int_eq(shell("cd %s && XDG_STATE_HOME=%s/state %s/grader begin work >log",
                           client.folder, client.folder, build_folder()),
                     0);
    serve_client_start("");
}

START_TEST(the_token_becomes_a_strict_cookie) {
    char head[300];
    snprintf(head, sizeof head,
             "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
             client.token, client.port);
    ck_assert_uint_eq(serve_client_status(serve_client_send(head, "", 0)), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "content=\"0; url=./\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "; HttpOnly; SameSite=Strict\r\n"));
    ck_assert_uint_eq(serve_client_get(""), 200);
    ck_assert_ptr_nonnull(strstr(client.answer,
                                 "Content-Security-Policy: default-src 'none'; script-src "
                                 "'self'; style-src 'self'"));
    snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
             client.port);
    ck_assert_uint_eq(serve_client_status(serve_client_send(head, "", 0)), 403);
    snprintf(head, sizeof head,
             "GET /?token=%032u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", 7,
             client.port);
    ck_assert_uint_eq(serve_client_status(serve_client_send(head, "", 0)), 403);
}
END_TEST

START_TEST(foreign_hosts_and_origins_are_refused) {
    char head[400];
    snprintf(head, sizeof head,
             "GET /api/contents HTTP/1.1\r\nHost: evil.example:%u\r\nCookie: warpbook_%u=%s\r\n"
             "Connection: close\r\n\r\n",
             client.port, client.port, client.token);
    ck_assert_uint_eq(serve_client_status(serve_client_send(head, "", 0)), 403);
    ck_assert_uint_eq(serve_client_status(serve_client_request(
                          "POST", "api/grade?" TRANSPOSE, "Origin: http://evil.example\r\n", "")),
                      403);
    ck_assert_uint_eq(serve_client_get("api/contents"), 200);
}
END_TEST

START_TEST(no_path_leads_out) {
    static const char *const paths[] = {"../../../../etc/x.css",
                                        "codemirror/../../../../etc/x.css",
                                        "codemirror/..%2f..%2f..%2fetc/x.css",
                                        "%2e%2e/serve.c",
                                        "chapters/../solutions/x.svg",
                                        "docs/../chapters/paths.md",
                                        "docs/..%2f..%2fetc/x.md",
                                        "docs/results/../../README.md",
                                        "README.md",
                                        "/etc/x.css",
                                        ".hidden.js",
                                        "api/exercise?id=../../etc/passwd",
                                        "api/exercise?id=02-coalescing/../../x",
                                        "api/version?" TRANSPOSE "&digest=../../../etc/passwd"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++)
        ck_assert_msg(serve_client_get(paths[i]) == 404, "%s:\n%.300s", paths[i], client.answer);
    ck_assert_uint_eq(serve_client_get("chapters/02-coalescing/lesson/nothing.svg"), 404);
}
END_TEST

START_TEST(links_are_neither_read_nor_replaced) {
    char digest[HASH_HEX_SIZE], more[120];
    ck_assert_int_eq(shell("cd %s && echo secret >outside && cd work/chapters/02-coalescing && "
                           "ln -sf %s/outside transpose.cu",
                           client.folder, client.folder),
                     0);
    ck_assert_uint_eq(serve_client_get("api/exercise?" TRANSPOSE), 422);
    ck_assert_ptr_null(strstr(client.answer, "secret"));
    sha256_hex("secret\n", 7, digest);
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("PUT", "api/source?" TRANSPOSE, more, "x")), 422);
    ck_assert_int_eq(shell("grep -q secret %s/outside", client.folder), 0);
    ck_assert_int_eq(shell("cd %s/work/chapters && mv 02-coalescing ../../moved && "
                           "ln -s ../../moved 02-coalescing && rm ../../moved/transpose.cu && "
                           "echo secret >../../moved/transpose.cu",
                           client.folder),
                     0);
    ck_assert_uint_eq(serve_client_get("api/exercise?" TRANSPOSE), 422);
}
END_TEST

START_TEST(large_bodies_are_refused) {
    char head[500];
    struct buf body = {0};
    while (body.size <= SERVE_MAX_BODY) buf_printf(&body, "%-1000s\n", "x");
    ck_assert_uint_eq(serve_client_status(
                          serve_client_request("PUT", "api/source?" TRANSPOSE, "", buf_str(&body))),
                      413);
    snprintf(head, sizeof head,
             "PUT /api/source?" TRANSPOSE " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: "
             "warpbook_%u=%s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
             client.port, client.port, client.token, body.size);
    buf_puts(&body, "\r\n0\r\n\r\n");
    ck_assert_uint_eq(serve_client_status(serve_client_send(head, buf_str(&body), body.size)), 413);
    ck_assert_uint_eq(serve_client_get("api/contents"), 200);
    buf_free(&body);
}
END_TEST

/* What a proxy and the server could read differently. The second request, which would stop a job,
 * must not be answered. */
START_TEST(ambiguous_requests_are_refused) {
    static const char *const headers[] = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n",
        "Host: evil.example\r\n\r\n",
        "Origin: http://127.0.0.1:1\r\nOrigin: http://evil.example\r\n\r\n"};
    char head[1500];
    for (unsigned i = 0; i < sizeof headers / sizeof *headers; i++) {
        snprintf(
            head, sizeof head,
            "POST /api/stop HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: warpbook_%u=%s\r\n%sPOST "
            "/api/stop HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: "
            "warpbook_%u=%s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            client.port, client.port, client.token, headers[i], client.port, client.port,
            client.token);
        const char *answer = serve_client_send(head, "", 0);
        ck_assert_msg(serve_client_status(answer) == 400 && !strstr(answer, " 202 "), "%s%s",
                      headers[i], answer);
    }
}
END_TEST

/* More than the server keeps: each new one closes the oldest, and requests are answered. */
START_TEST(silent_connections_hold_up_nobody) {
    enum { COUNT = 3 * SERVE_MAX_CONNECTIONS };
    int fds[COUNT];
    struct pollfd first = {.events = POLLIN};
    time_t start = time(NULL);
    for (unsigned i = 0; i < COUNT; i++) fds[i] = serve_client_connect();
    ck_assert_uint_eq(serve_client_get("api/contents"), 200);
    first.fd = fds[0];
    ck_assert_int_eq(poll(&first, 1, 5000), 1);
    ck_assert_int_lt(time(NULL) - start, SERVE_MAX_REQUEST_SECONDS);
    for (unsigned i = 0; i < COUNT; i++) close(fds[i]);
}
END_TEST

START_TEST(a_slow_request_holds_up_nobody_and_ends) {
    int fd = serve_client_connect(), sent = 0;
    time_t start = time(NULL);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ck_assert_int_gt(send(fd, "GET / HTTP/1.1\r\nX: ", 19, MSG_NOSIGNAL), 0);
    while (poll(&p, 1, 500) == 0 && time(NULL) - start < 4 * SERVE_MAX_REQUEST_SECONDS) {
        if (send(fd, "x", 1, MSG_NOSIGNAL) < 0) break;
        if (!sent++) ck_assert_uint_eq(serve_client_get("api/contents"), 200);
    }
    ck_assert_int_ge(time(NULL) - start, SERVE_MAX_REQUEST_SECONDS - 1);
    ck_assert_int_lt(time(NULL) - start, 3 * SERVE_MAX_REQUEST_SECONDS);
    close(fd);
}
END_TEST

/* ---- editing ---- */

/* Sets the digest of the file. */
static void read_digest(char digest[HASH_HEX_SIZE]) {
    ck_assert_uint_eq(serve_client_get("api/exercise?" TRANSPOSE), 200);
    const char *at = strstr(client.answer, "\"digest\":\"");
    ck_assert_ptr_nonnull(at);
    snprintf(digest, HASH_HEX_SIZE, "%s", at + 10);
}

static int listen_to_events(void) {
    char head[300];
    int fd = serve_client_connect();
    snprintf(head, sizeof head,
             "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: warpbook_%u=%s\r\n\r\n",
             client.port, client.port, client.token);
    ck_assert_int_gt(send(fd, head, strlen(head), 0), 0);
    serve_client_receive(fd, "retry: ");
    return fd;
}

START_TEST(a_saved_text_is_graded_and_kept) {
    char digest[HASH_HEX_SIZE], more[120], path[200], text[80];
    read_digest(digest);
    int events = listen_to_events();
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    snprintf(text, sizeof text, "wrong // in %s\n",
             client.folder); /* a new text: no result is kept */
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("PUT", "api/source?" TRANSPOSE, more, text)), 200);
    ck_assert_int_eq(shell("grep -qx 'wrong // in %s' %s/work/chapters/02-coalescing/transpose.cu",
                           client.folder, client.folder),
                     0);
    serve_client_receive(events, "event: result\ndata: {");
    ck_assert_ptr_nonnull(strstr(client.answer, "event: step\ndata: {\"step\":\"compiling\""));
    close(events);
    sha256_hex(text, strlen(text), digest);
    ck_assert_uint_eq(serve_client_get("api/history?" TRANSPOSE), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"verdict\":\"CE\",\"score\":0.0"));
    ck_assert_ptr_nonnull(strstr(client.answer, digest));
    snprintf(path, sizeof path, "api/version?" TRANSPOSE "&digest=%s", digest);
    ck_assert_uint_eq(serve_client_get(path), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\r\n\r\nwrong // in "));
}
END_TEST

START_TEST(another_editors_save_is_seen_and_not_overwritten) {
    char digest[HASH_HEX_SIZE], more[120], path[200];
    read_digest(digest);
    int events = listen_to_events();
    ck_assert_int_eq(
        shell("echo theirs >%s/work/chapters/02-coalescing/transpose.cu", client.folder), 0);
    serve_client_receive(events, "event: file\ndata: {\"id\":\"02-coalescing/transpose\"");
    serve_client_receive(events, "event: result\ndata: {");
    close(events);
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("PUT", "api/source?" TRANSPOSE, more, "mine\n")),
        409);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"source\":\"theirs\\n\""));
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("PUT", "api/source?" TRANSPOSE, "", "mine\n")),
        409);
    sha256_hex("theirs\n", 7, digest);
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("PUT", "api/source?" TRANSPOSE, more, "mine\n")),
        200);
    snprintf(path, sizeof path, "api/version?" TRANSPOSE "&digest=%s", digest);
    ck_assert_uint_eq(serve_client_get(path), 200); /* the replaced text */
    ck_assert_ptr_nonnull(strstr(client.answer, "\r\n\r\ntheirs\n"));
}
END_TEST

static void edit_transpose(const char *line) {
    ck_assert_int_eq(shell("cd %s/work/chapters/02-coalescing && { cat transpose.cu; echo '%s'; } "
                           ">new && mv new transpose.cu",
                           client.folder, line),
                     0);
}

/* A page that is loaded again neither queues a second grading nor begins the stopped one again. */
START_TEST(a_stopped_grading_stays_stopped) {
    int fd = listen_to_events();
    char edit[64]; /* one that no earlier run has graded: its result would be kept */
    snprintf(edit, sizeof edit, "// edited %ld %d", (long)time(NULL), (int)getpid());
    edit_transpose(edit);
    serve_client_receive(fd, "event: step");
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(serve_client_get("api/exercise?" TRANSPOSE), 200);
        ck_assert_ptr_nonnull(strstr(client.answer, "\"waiting\":[]"));
    }
    ck_assert_uint_eq(serve_client_status(serve_client_request("POST", "api/stop", "", "")), 202);
    serve_client_receive(fd, "\"message\":\"stopped\"");
    for (unsigned i = 0; i < 2; i++) { /* the job's end follows the message */
        usleep(500000);
        ck_assert_uint_eq(serve_client_get("api/exercise?" TRANSPOSE), 200);
    }
    ck_assert_ptr_nonnull(strstr(client.answer, "\"running\":null"));
    edit_transpose("// edited again");
    serve_client_receive(fd, "event: result");
    close(fd);
}
END_TEST

START_TEST(hints_come_one_at_a_time) {
    ck_assert_uint_eq(serve_client_get("api/exercise?" TRANSPOSE), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"hints\":{\"shown\":[],\"count\":3}"));
    ck_assert_ptr_null(strstr(client.answer, "## Hint"));
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("POST", "api/hint?" TRANSPOSE, "", "")), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"count\":3"));
    ck_assert_ptr_null(strstr(client.answer, "\",\"")); /* one of them */
    ck_assert_uint_eq(
        serve_client_status(serve_client_request("GET", "api/hint?" TRANSPOSE, "", "")), 404);
}
END_TEST

START_TEST(documents_are_sent_as_text) {
    ck_assert_uint_eq(serve_client_get("docs/glossary.md"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "text/markdown"));
    ck_assert_ptr_nonnull(strstr(client.answer, "### sector\n"));
}
END_TEST

static unsigned post_path(const char *name) {
    char path[100];
    snprintf(path, sizeof path, "api/path?name=%s", name);
    return serve_client_status(serve_client_request("POST", path, "", ""));
}

/* chapters/paths.def begins the path `beginner` with vector_add, the book with intensity. */
START_TEST(the_next_exercise_follows_the_path) {
    ck_assert_uint_eq(post_path("nothing"), 422);
    ck_assert_uint_eq(post_path("beginner"), 202);
    ck_assert_uint_eq(serve_client_get("api/contents"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"next\":\"00-roofline/vector_add\""));
    ck_assert_ptr_nonnull(strstr(client.answer, "\"path\":\"beginner\""));
    ck_assert_uint_eq(post_path("book"), 202);
    ck_assert_uint_eq(serve_client_get("api/contents"), 200);
    ck_assert_ptr_nonnull(strstr(client.answer, "\"next\":\"00-roofline/intensity\""));
}
END_TEST

/* The process that grades is the server's only child. */
START_TEST(the_end_of_the_grading_process_is_reported) {
    int events = listen_to_events();
    ck_assert_int_eq(
        shell("kill -9 $(cat /proc/%d/task/%d/children)", (int)client.pid, (int)client.pid), 0);
    serve_client_receive(events, "event: failure\ndata: {\"message\":\"the grading process ended");
    close(events);
    ck_assert_uint_eq(serve_client_get("api/contents"), 200);
}
END_TEST

/* The browser keeps unsaved texts by the address. */
START_TEST(the_next_server_takes_the_same_port) {
    unsigned port = client.port;
    int ignored;
    kill(client.pid, SIGTERM), waitpid(client.pid, &ignored, 0);
    client.port = 0;
    serve_client_start("");
    ck_assert_uint_eq(client.port, port);
}
END_TEST

START_TEST(the_browsers_arguments_hold_no_token) {
    int status = 0;
    ck_assert_int_eq(
        shell("mkdir %s/bin && printf '#!/bin/sh\necho \"$@\" >%s/opened\n' >%s/bin/xdg-open && "
              "chmod +x %s/bin/xdg-open",
              client.folder, client.folder, client.folder, client.folder),
        0);
    pid_t opener = fork();
    if (opener == 0) {
        _exit(shell("cd %s/work && export PATH=%s/bin:$PATH XDG_STATE_HOME=%s/state; "
                    "%s/grader serve --open >../second & server=$!; tries=0; "
                    "while [ ! -s %s/opened ] && [ $tries -lt 100 ]; do "
                    "sleep 0.1; tries=$((tries + 1)); done; kill $server; wait",
                    client.folder, client.folder, client.folder, build_folder(), client.folder));
    }
    ck_assert_int_eq(waitpid(opener, &status, 0), opener);
    ck_assert_int_eq(shell("cd %s && t=$(sed -n 's/.*token=//p' second) && test -n \"$t\" && "
                           "! grep -q \"$t\" opened && grep -q \"$t\" $(cat opened) && "
                           "test $(stat -c %%a $(cat opened)) = 600",
                           client.folder),
                     0);
}
END_TEST

UNIT_SUITE(serve) {
    Suite *suite = suite_create("serve");
    TCase *guard = tcase_create("guard"), *t = tcase_create("server"),
          *slow = tcase_create("slow requests");
    tcase_add_test(guard, only_the_token_is_accepted);
    tcase_add_test(guard, hosts_are_addresses_or_the_proxy);
    tcase_add_test(guard, origins_are_this_server_or_the_proxy);
    tcase_add_checked_fixture(t, open_fn, serve_client_stop);
    tcase_add_test(t, the_token_becomes_a_strict_cookie);
    tcase_add_test(t, foreign_hosts_and_origins_are_refused);
    tcase_add_test(t, no_path_leads_out);
    tcase_add_test(t, links_are_neither_read_nor_replaced);
    tcase_add_test(t, large_bodies_are_refused);
    tcase_add_test(t, ambiguous_requests_are_refused);
    tcase_add_test(t, silent_connections_hold_up_nobody);
    tcase_add_test(t, a_saved_text_is_graded_and_kept);
    tcase_add_test(t, another_editors_save_is_seen_and_not_overwritten);
    tcase_add_test(t, a_stopped_grading_stays_stopped);
    tcase_add_test(t, hints_come_one_at_a_time);
    tcase_add_test(t, documents_are_sent_as_text);
    tcase_add_test(t, the_next_exercise_follows_the_path);
    tcase_add_test(t, the_end_of_the_grading_process_is_reported);
    tcase_add_test(t, the_next_server_takes_the_same_port);
    tcase_add_test(t, the_browsers_arguments_hold_no_token);
    tcase_add_checked_fixture(slow, open_fn, serve_client_stop);
    tcase_add_test(slow, a_slow_request_holds_up_nobody_and_ends);
    tcase_set_timeout(slow, 60);
    tcase_set_tags(slow, "long"); /* waits for the limit of 10 s */
    suite_add_tcase(suite, guard), suite_add_tcase(suite, t), suite_add_tcase(suite, slow);
    return suite;
}

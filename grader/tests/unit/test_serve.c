/* test_serve.c — tests `grader serve`: which requests it refuses, that it reaches no file outside
 * of the workspace, how it bounds requests, and the way from a saved text to the event with its
 * result. It speaks HTTP over a plain socket, since a client library would mend malformed requests.
 * grader/tests/pages/workbench.py and class_page.py test the pages in a browser. */
#include "grader/serve/serve.h"
#include "common/hash.h"
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

enum { MAX_ANSWER = 4 << 20, PATIENCE_MS = 40000 };
#define TRANSPOSE "id=02-coalescing/transpose"

static char folder[64], token[SERVE_TOKEN_SIZE], answer[MAX_ANSWER];
static unsigned port;
static pid_t server;

static void start_server(const char *options) {
    char command[600], line[200] = "";
    int out[2];
    snprintf(command, sizeof command,
             "cd %s/work && XDG_STATE_HOME=%s/state exec %s/grader serve %s", folder, folder,
             build_folder(), options);
    ck_assert_int_eq(pipe(out), 0);
    if ((server = fork()) == 0) {
        dup2(out[1], 1);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    while (fgets(line, sizeof line, f) &&
           sscanf(line, " http://127.0.0.1:%u/?token=%32s", &port, token) != 2) {}
    ck_assert_msg(port, "no address was printed");
    fclose(f);
}

static void open_fn(void) {
    strcpy(folder, "/tmp/warpbook-serve-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(shell("cd %s && XDG_STATE_HOME=%s/state %s/grader begin work >log", folder,
                           folder, build_folder()),
                     0);
    start_server("");
}

static void close_fn(void) {
    int status = 0;
    kill(server, SIGTERM);
    waitpid(server, &status, 0);
    shell("rm -rf %s", folder);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the server's status: %x", status);
}

static int connect_to_server(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* Reads until the text arrived or the server closed; `needle` "" = until it closed. */
static const char *receive(int fd, const char *needle) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t size = 0;
    for (answer[0] = 0; !*needle || !strstr(answer, needle);) {
        ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "no '%s' in:\n%s", needle, answer);
        ssize_t n = read(fd, answer + size, MAX_ANSWER - 1 - size);
        if (n <= 0) break;
        answer[size += (size_t)n] = 0;
    }
    return answer;
}

/* Sends a request with raw headers, then the body; returns the whole answer. */
static const char *send_raw(const char *head, const char *body, size_t size) {
    int fd = connect_to_server();
    ck_assert_int_eq(send(fd, head, strlen(head), MSG_NOSIGNAL), (ssize_t)strlen(head));
    for (ssize_t n = 0; size && n >= 0; body += n, size -= (size_t)n)
        if ((n = send(fd, body, size, MSG_NOSIGNAL)) < 0) break; /* refused before its end */
    receive(fd, "");
    close(fd);
    return answer;
}

/* A request as the page sends it, with further header lines. */
static const char *request(const char *method, const char *path, const char *more,
                           const char *body) {
    char head[2000];
    snprintf(head, sizeof head,
             "%s /%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: warpbook_%u=%s\r\n"
             "Connection: close\r\nContent-Length: %zu\r\n%s\r\n",
             method, path, port, port, token, strlen(body), more);
    return send_raw(head, body, strlen(body));
}

static unsigned status(const char *text) {
    unsigned value = 0;
    sscanf(text, "HTTP/1.1 %u", &value);
    return value;
}

static unsigned get_status(const char *path) { return status(request("GET", path, "", "")); }

START_TEST(the_token_becomes_a_strict_cookie) {
    char head[300];
    snprintf(head, sizeof head,
             "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", token,
             port);
    ck_assert_uint_eq(status(send_raw(head, "", 0)), 200);
    ck_assert_ptr_nonnull(strstr(answer, "content=\"0; url=./\""));
    ck_assert_ptr_nonnull(strstr(answer, "; HttpOnly; SameSite=Strict\r\n"));
    ck_assert_uint_eq(get_status(""), 200);
    ck_assert_ptr_nonnull(strstr(answer, "Content-Security-Policy: default-src 'none'; script-src "
                                         "'self'; style-src 'self'"));
    snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
             port);
    ck_assert_uint_eq(status(send_raw(head, "", 0)), 403);
    snprintf(head, sizeof head,
             "GET /?token=%032u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", 7,
             port);
    ck_assert_uint_eq(status(send_raw(head, "", 0)), 403);
}
END_TEST

START_TEST(foreign_hosts_and_origins_are_refused) {
    char head[400];
    snprintf(head, sizeof head,
             "GET /api/contents HTTP/1.1\r\nHost: evil.example:%u\r\nCookie: warpbook_%u=%s\r\n"
             "Connection: close\r\n\r\n",
             port, port, token);
    ck_assert_uint_eq(status(send_raw(head, "", 0)), 403);
    ck_assert_uint_eq(
        status(request("POST", "api/grade?" TRANSPOSE, "Origin: http://evil.example\r\n", "")),
        403);
    ck_assert_uint_eq(get_status("api/contents"), 200);
}
END_TEST

START_TEST(no_path_leads_out) {
    static const char *const paths[] = {"../../../../etc/x.css",
                                        "codemirror/../../../../etc/x.css",
                                        "codemirror/..%2f..%2f..%2fetc/x.css",
                                        "%2e%2e/serve.c",
                                        "chapters/../solutions/x.svg",
                                        "/etc/x.css",
                                        ".hidden.js",
                                        "api/exercise?id=../../etc/passwd",
                                        "api/exercise?id=02-coalescing/../../x",
                                        "api/version?" TRANSPOSE "&digest=../../../etc/passwd"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++)
        ck_assert_msg(get_status(paths[i]) == 404, "%s:\n%.300s", paths[i], answer);
    ck_assert_uint_eq(get_status("chapters/02-coalescing/lesson/nothing.svg"), 404);
}
END_TEST

START_TEST(links_are_neither_read_nor_replaced) {
    char digest[HASH_HEX_SIZE], more[120];
    ck_assert_int_eq(shell("cd %s && echo secret >outside && cd work/chapters/02-coalescing && "
                           "ln -sf %s/outside transpose.cu",
                           folder, folder),
                     0);
    ck_assert_uint_eq(get_status("api/exercise?" TRANSPOSE), 422);
    ck_assert_ptr_null(strstr(answer, "secret"));
    sha256_hex("secret\n", 7, digest);
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    ck_assert_uint_eq(status(request("PUT", "api/source?" TRANSPOSE, more, "x")), 422);
    ck_assert_int_eq(shell("grep -q secret %s/outside", folder), 0);
    ck_assert_int_eq(shell("cd %s/work/chapters && mv 02-coalescing ../../moved && "
                           "ln -s ../../moved 02-coalescing && rm ../../moved/transpose.cu && "
                           "echo secret >../../moved/transpose.cu",
                           folder),
                     0);
    ck_assert_uint_eq(get_status("api/exercise?" TRANSPOSE), 422);
}
END_TEST

START_TEST(large_bodies_are_refused) {
    char head[500];
    struct buf body = {0};
    while (body.size <= SERVE_MAX_BODY) buf_printf(&body, "%-1000s\n", "x");
    ck_assert_uint_eq(status(request("PUT", "api/source?" TRANSPOSE, "", buf_str(&body))), 413);
    snprintf(head, sizeof head,
             "PUT /api/source?" TRANSPOSE " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: "
             "warpbook_%u=%s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
             port, port, token, body.size);
    buf_puts(&body, "\r\n0\r\n\r\n");
    ck_assert_uint_eq(status(send_raw(head, buf_str(&body), body.size)), 413);
    ck_assert_uint_eq(get_status("api/contents"), 200);
    buf_free(&body);
}
END_TEST

START_TEST(a_slow_request_holds_up_nobody_and_ends) {
    int fd = connect_to_server(), sent = 0;
    time_t start = time(NULL);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ck_assert_int_gt(send(fd, "GET / HTTP/1.1\r\nX: ", 19, MSG_NOSIGNAL), 0);
    while (poll(&p, 1, 500) == 0 && time(NULL) - start < 4 * SERVE_MAX_REQUEST_SECONDS) {
        if (send(fd, "x", 1, MSG_NOSIGNAL) < 0) break;
        if (!sent++) ck_assert_uint_eq(get_status("api/contents"), 200);
    }
    ck_assert_int_ge(time(NULL) - start, SERVE_MAX_REQUEST_SECONDS - 1);
    ck_assert_int_lt(time(NULL) - start, 3 * SERVE_MAX_REQUEST_SECONDS);
    close(fd);
}
END_TEST

/* ---- editing ---- */

/* Sets the digest of the file. */
static void read_digest(char digest[HASH_HEX_SIZE]) {
    ck_assert_uint_eq(get_status("api/exercise?" TRANSPOSE), 200);
    const char *at = strstr(answer, "\"digest\":\"");
    ck_assert_ptr_nonnull(at);
    snprintf(digest, HASH_HEX_SIZE, "%s", at + 10);
}

static int listen_to_events(void) {
    char head[300];
    int fd = connect_to_server();
    snprintf(head, sizeof head,
             "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: warpbook_%u=%s\r\n\r\n",
             port, port, token);
    ck_assert_int_gt(send(fd, head, strlen(head), 0), 0);
    receive(fd, "retry: ");
    return fd;
}

START_TEST(a_saved_text_is_graded_and_kept) {
    char digest[HASH_HEX_SIZE], more[120], path[200], text[80];
    read_digest(digest);
    int events = listen_to_events();
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    snprintf(text, sizeof text, "wrong // in %s\n", folder); /* a new text: no result is kept */
    ck_assert_uint_eq(status(request("PUT", "api/source?" TRANSPOSE, more, text)), 200);
    ck_assert_int_eq(shell("grep -qx 'wrong // in %s' %s/work/chapters/02-coalescing/transpose.cu",
                           folder, folder),
                     0);
    receive(events, "event: result\ndata: {");
    ck_assert_ptr_nonnull(strstr(answer, "event: step\ndata: {\"step\":\"compiling\""));
    close(events);
    sha256_hex(text, strlen(text), digest);
    ck_assert_uint_eq(get_status("api/history?" TRANSPOSE), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"verdict\":\"CE\",\"score\":0.0"));
    ck_assert_ptr_nonnull(strstr(answer, digest));
    snprintf(path, sizeof path, "api/version?" TRANSPOSE "&digest=%s", digest);
    ck_assert_uint_eq(get_status(path), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\r\n\r\nwrong // in "));
}
END_TEST

START_TEST(another_editors_save_is_seen_and_not_overwritten) {
    char digest[HASH_HEX_SIZE], more[120], path[200];
    read_digest(digest);
    int events = listen_to_events();
    ck_assert_int_eq(shell("echo theirs >%s/work/chapters/02-coalescing/transpose.cu", folder), 0);
    receive(events, "event: file\ndata: {\"id\":\"02-coalescing/transpose\"");
    receive(events, "event: result\ndata: {");
    close(events);
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    ck_assert_uint_eq(status(request("PUT", "api/source?" TRANSPOSE, more, "mine\n")), 409);
    ck_assert_ptr_nonnull(strstr(answer, "\"source\":\"theirs\\n\""));
    ck_assert_uint_eq(status(request("PUT", "api/source?" TRANSPOSE, "", "mine\n")), 409);
    sha256_hex("theirs\n", 7, digest);
    snprintf(more, sizeof more, "If-Match: %s\r\n", digest);
    ck_assert_uint_eq(status(request("PUT", "api/source?" TRANSPOSE, more, "mine\n")), 200);
    snprintf(path, sizeof path, "api/version?" TRANSPOSE "&digest=%s", digest);
    ck_assert_uint_eq(get_status(path), 200); /* the replaced text */
    ck_assert_ptr_nonnull(strstr(answer, "\r\n\r\ntheirs\n"));
}
END_TEST

START_TEST(hints_come_one_at_a_time) {
    ck_assert_uint_eq(get_status("api/exercise?" TRANSPOSE), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"hints\":{\"shown\":[],\"count\":3}"));
    ck_assert_ptr_null(strstr(answer, "## Hint"));
    ck_assert_uint_eq(status(request("POST", "api/hint?" TRANSPOSE, "", "")), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"count\":3"));
    ck_assert_ptr_null(strstr(answer, "\",\"")); /* one of them */
    ck_assert_uint_eq(status(request("GET", "api/hint?" TRANSPOSE, "", "")), 404);
}
END_TEST

/* The process that grades is the server's only child. */
START_TEST(the_end_of_the_grading_process_is_reported) {
    int events = listen_to_events();
    ck_assert_int_eq(shell("kill -9 $(cat /proc/%d/task/%d/children)", (int)server, (int)server),
                     0);
    receive(events, "event: failure\ndata: {\"message\":\"the grading process ended");
    close(events);
    ck_assert_uint_eq(get_status("api/contents"), 200);
}
END_TEST

START_TEST(the_browsers_arguments_hold_no_token) {
    int status = 0;
    ck_assert_int_eq(
        shell("mkdir %s/bin && printf '#!/bin/sh\necho \"$@\" >%s/opened\n' >%s/bin/xdg-open && "
              "chmod +x %s/bin/xdg-open",
              folder, folder, folder, folder),
        0);
    pid_t opener = fork();
    if (opener == 0) {
        _exit(shell("cd %s/work && export PATH=%s/bin:$PATH XDG_STATE_HOME=%s/state; "
                    "%s/grader serve --open >../second & server=$!; tries=0; "
                    "while [ ! -s %s/opened ] && [ $tries -lt 100 ]; do "
                    "sleep 0.1; tries=$((tries + 1)); done; kill $server; wait",
                    folder, folder, folder, build_folder(), folder));
    }
    ck_assert_int_eq(waitpid(opener, &status, 0), opener);
    ck_assert_int_eq(shell("cd %s && t=$(sed -n 's/.*token=//p' second) && test -n \"$t\" && "
                           "! grep -q \"$t\" opened && grep -q \"$t\" $(cat opened) && "
                           "test $(stat -c %%a $(cat opened)) = 600",
                           folder),
                     0);
}
END_TEST

/* ---- a class ---- */

#define ANN "student=ann&exercise=02-coalescing/transpose"
static const char reader_token[] = "000102030405060708090a0b0c0d0e0f",
                  poe_token[] = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                  ann_token[] = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";

static void make_class(const char *options) {
    strcpy(folder, "/tmp/warpbook-serve-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
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
            folder, reader_token, poe_token, ann_token, build_folder()),
        0);
    start_server(options);
}

static void open_class(void) { make_class("--class ../c.db --author Lead --tokens ../tokens"); }
static void open_anonymous_class(void) { make_class("--class ../c.db --anonymous"); }

/* The next requests carry this token. */
static void sign_in(const char *other) { strcpy(token, other); }

static unsigned decide(const char *kind, const char *value, unsigned line, unsigned seen) {
    char body[300];
    snprintf(body, sizeof body,
             "{\"kind\":\"%s\",\"value\":\"%s\",\"reason\":\"why\",\"line\":%u,\"seen\":%u}", kind,
             value, line, seen);
    return status(request("POST", "api/decide?" ANN, "", body));
}

static bool store_has(const char *query, const char *expected) {
    return shell("cd %s && [ \"$(sqlite3 c.db \"%s\")\" = \"%s\" ]", folder, query, expected) == 0;
}

START_TEST(a_class_is_shown_with_sources_and_reports) {
    ck_assert_uint_eq(get_status(""), 200);
    ck_assert_ptr_nonnull(strstr(answer, "class.js"));
    ck_assert_uint_eq(get_status("api/class"), 200);
    ck_assert_ptr_nonnull(
        strstr(answer,
               "{\"student\":\"ann\",\"name\":\"Ann Lee\",\"exercise\":\"02-coalescing/transpose\","
               "\"state\":\"graded\",\"verdict\":\"PART\",\"score\":40.0"));
    ck_assert_ptr_nonnull(strstr(answer, "\"state\":\"missing\",\"verdict\":null,\"score\":0.0"));
    ck_assert_uint_eq(get_status("api/submission?" ANN), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"source\":\"// <b>ann's\\n\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"report\":\"the report\""));
    ck_assert_uint_eq(get_status("api/submission?student=nobody&exercise=x"), 404);
    ck_assert_uint_eq(get_status("api/contents"), 404);
    ck_assert_uint_eq(
        status(request("POST", "api/decide?" ANN, "Origin: http://evil.example\r\n", "{}")), 403);
}
END_TEST

START_TEST(a_role_limits_what_a_token_may_do) {
    char head[300], owner[SERVE_TOKEN_SIZE];
    strcpy(owner, token);
    snprintf(head, sizeof head,
             "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
             reader_token, port);
    ck_assert_uint_eq(status(send_raw(head, "", 0)), 200);
    ck_assert_ptr_nonnull(strstr(answer, reader_token));
    ck_assert_ptr_null(strstr(answer, owner));
    sign_in(reader_token);
    ck_assert_uint_eq(get_status("api/class"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"author\":\"Rita\",\"may_decide\":false"));
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
    ck_assert_uint_eq(get_status("api/class"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"student\":\"ann\""));
    ck_assert_ptr_null(strstr(answer, "bob"));
    ck_assert_uint_eq(get_status("api/submission?" ANN), 200);
    ck_assert_uint_eq(get_status("api/submission?student=bob&exercise=02-coalescing/transpose"),
                      404);
    ck_assert_uint_eq(get_status("api/similar"), 403);
    ck_assert_uint_eq(get_status("api/pair?exercise=02-coalescing/transpose&a=ann&b=bob"), 403);
    ck_assert_uint_eq(decide("score", "100", 0, 0), 422);
    ck_assert_uint_eq(decide("comment", "x", 1, 0), 422);
    ck_assert_uint_eq(decide("answer", "x", 0, 0), 422);
    ck_assert_uint_eq(decide("request", "line 1 is right", 0, 0), 200);
    ck_assert_uint_eq(
        status(request("POST", "api/decide?student=bob&exercise=02-coalescing/transpose", "",
                       "{\"kind\":\"request\",\"value\":\"x\",\"reason\":\"\","
                       "\"line\":0,\"seen\":0}")),
        422);
    ck_assert(store_has("SELECT student, author, kind, value FROM decision",
                        "ann|ann|request|line 1 is right"));
    sign_in(poe_token);
    ck_assert_uint_eq(decide("request", "not mine to ask", 0, 9), 422);
    ck_assert_uint_eq(get_status("api/class"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"text\":\"line 1 is right\",\"open\":true"));
    ck_assert_uint_eq(decide("answer", "it is", 0, 9), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"open\":false,\"answer\":\"it is\""));
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
                           folder),
                     0);
    ck_assert_uint_eq(get_status("api/submission?" ANN), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"partners\":[\"bob\"]"));
    snprintf(body, sizeof body, for_group, 77, 0);
    ck_assert_uint_eq(status(request("POST", "api/decide?" ANN, "", body)), 200);
    ck_assert(store_has("SELECT group_concat(student || score) FROM gradebook WHERE score > 1",
                        "ann77.0,bob77.0"));
    ck_assert_int_eq(shell("cd %s && %s/grader decide c.db bob transpose --score 5 --author R "
                           "--reason x",
                           folder, build_folder()),
                     0);
    snprintf(body, sizeof body, for_group, 88, 2);
    ck_assert_uint_eq(status(request("POST", "api/decide?" ANN, "", body)), 422);
    ck_assert(store_has("SELECT group_concat(student || score) FROM gradebook WHERE score > 1",
                        "ann77.0,bob5.0"));
}
END_TEST

START_TEST(a_partner_is_shown_with_the_submission) {
    static const char bob[] = "api/submission?student=bob&exercise=02-coalescing/transpose";
    ck_assert_int_eq(
        shell("cd %s && %s/grader decide c.db bob --partner ann --author Poe --reason "
              "pair && %s/grader decide c.db ann transpose --comment 'for both' --line "
              "1 --author Poe",
              folder, build_folder(), build_folder()),
        0);
    ck_assert_uint_eq(get_status(bob), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"submitter\":\"ann\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"source\":\"// <b>ann's\\n\""));
    ck_assert_ptr_nonnull(strstr(answer, "for both"));
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
        shell(
            "cd %s && sqlite3 c.db \"UPDATE source SET body = '%s' WHERE digest = (SELECT digest "
            "FROM submission WHERE student = 'ann' AND state = 'taken'); UPDATE source SET body = "
            "char(10) || '%s' WHERE digest = (SELECT digest FROM submission WHERE student = 'bob' "
            "AND state = 'taken')\"",
            folder, ann, bob),
        0);
    ck_assert_uint_eq(get_status("api/similar"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"exercise\":\"02-coalescing/transpose\""));
    ck_assert_ptr_nonnull(
        strstr(answer, "{\"a\":\"ann\",\"b\":\"bob\",\"has_other\":false,\"share\":1.0"));
    ck_assert_uint_eq(get_status("api/pair?exercise=02-coalescing/transpose&a=bob&b=ann"), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"passages\":[{\"a\":[2,5],\"b\":[1,4],\"tokens\":"));
    ck_assert_uint_eq(get_status("api/pair?exercise=02-coalescing/transpose&a=ann&b=eve"), 404);
    ck_assert_uint_eq(get_status("api/similar?exercise=nothing"), 404);
}
END_TEST

/* Both have read the page before either decides. */
START_TEST(two_assistants_at_once_lose_nothing) {
    char owner[SERVE_TOKEN_SIZE];
    strcpy(owner, token);
    ck_assert_uint_eq(decide("score", "90", 0, 0), 200);
    sign_in(poe_token);
    ck_assert_uint_eq(decide("score", "70", 0, 0), 422);
    ck_assert_ptr_nonnull(strstr(answer, "Lead decided this meanwhile (score: 90.00)"));
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
    ck_assert(store_has("SELECT score FROM gradebook WHERE student = 'ann'", "70.0"));
}
END_TEST

/* Ten comments by the server and ten by `grader decide`, in turns and at the same time. */
START_TEST(other_processes_decide_at_the_same_time) {
    pid_t other = fork();
    if (other == 0)
        _exit(shell("cd %s && for i in 11 12 13 14 15 16 17 18 19 20; do %s/grader decide c.db ann "
                    "transpose --comment x --line $i --author Roe || exit 1; done",
                    folder, build_folder()));
    int result;
    for (unsigned line = 1; line <= 10; line++)
        ck_assert_uint_eq(decide("comment", "y", line, 0), 200);
    ck_assert_int_eq(waitpid(other, &result, 0), other);
    ck_assert_int_eq(result, 0);
    ck_assert(store_has("SELECT count(*), count(DISTINCT line), sum(author = 'Lead') FROM decided",
                        "20|20|10"));
}
END_TEST

/* Without --author, the printed address only reads. */
START_TEST(pseudonyms_hide_the_names) {
    char path[200], name[13];
    ck_assert_uint_eq(get_status("api/class"), 200);
    ck_assert_ptr_null(strstr(answer, "ann"));
    ck_assert_ptr_null(strstr(answer, "Lee"));
    const char *at = strstr(answer, "\"student\":\"S-");
    ck_assert_ptr_nonnull(at);
    snprintf(name, sizeof name, "%s", at + strlen("\"student\":\""));
    snprintf(path, sizeof path, "api/submission?student=%s&exercise=02-coalescing/transpose", name);
    ck_assert_uint_eq(get_status(path), 200);
    ck_assert_ptr_nonnull(strstr(answer, "\"score\":40.0"));
    ck_assert_uint_eq(get_status("api/submission?" ANN), 404);
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
                  folder, wrong[i], build_folder()) == 0,
            "%s", wrong[i]);
    ck_assert_int_eq(shell("cd %s && chmod 644 tokens && ! %s/grader serve --class c.db --tokens "
                           "tokens 2>said && grep -q 'chmod 600' said",
                           folder, build_folder()),
                     0);
}
END_TEST

UNIT_SUITE(serve) {
    Suite *suite = suite_create("serve");
    TCase *guard = tcase_create("guard"), *t = tcase_create("server"),
          *slow = tcase_create("slow requests"), *class = tcase_create("class"),
          *anonymous = tcase_create("anonymous class");
    tcase_add_checked_fixture(class, open_class, close_fn);
    tcase_add_test(class, a_class_is_shown_with_sources_and_reports);
    tcase_add_test(class, a_role_limits_what_a_token_may_do);
    tcase_add_test(class, a_student_sees_and_asks_about_the_own_submissions_only);
    tcase_add_test(class, a_decision_for_a_group_is_for_all_or_nobody);
    tcase_add_test(class, a_partner_is_shown_with_the_submission);
    tcase_add_test(class, a_pair_is_shown_with_its_passages);
    tcase_add_test(class, two_assistants_at_once_lose_nothing);
    tcase_add_test(class, other_processes_decide_at_the_same_time);
    tcase_add_test(class, wrong_files_of_tokens_are_refused);
    tcase_add_checked_fixture(anonymous, open_anonymous_class, close_fn);
    tcase_add_test(anonymous, pseudonyms_hide_the_names);
    suite_add_tcase(suite, class), suite_add_tcase(suite, anonymous);
    tcase_add_test(guard, only_the_token_is_accepted);
    tcase_add_test(guard, hosts_are_addresses_or_the_proxy);
    tcase_add_test(guard, origins_are_this_server_or_the_proxy);
    tcase_add_checked_fixture(t, open_fn, close_fn);
    tcase_add_test(t, the_token_becomes_a_strict_cookie);
    tcase_add_test(t, foreign_hosts_and_origins_are_refused);
    tcase_add_test(t, no_path_leads_out);
    tcase_add_test(t, links_are_neither_read_nor_replaced);
    tcase_add_test(t, large_bodies_are_refused);
    tcase_add_test(t, a_saved_text_is_graded_and_kept);
    tcase_add_test(t, another_editors_save_is_seen_and_not_overwritten);
    tcase_add_test(t, hints_come_one_at_a_time);
    tcase_add_test(t, the_end_of_the_grading_process_is_reported);
    tcase_add_test(t, the_browsers_arguments_hold_no_token);
    tcase_add_checked_fixture(slow, open_fn, close_fn);
    tcase_add_test(slow, a_slow_request_holds_up_nobody_and_ends);
    tcase_set_timeout(slow, 60);
    tcase_set_tags(slow, "long"); /* waits for the limit of 10 s */
    suite_add_tcase(suite, guard), suite_add_tcase(suite, t), suite_add_tcase(suite, slow);
    return suite;
}

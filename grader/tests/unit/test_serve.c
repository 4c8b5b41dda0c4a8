/* test_serve.c — tests `grader serve`: which requests it refuses, that it reaches no file outside
 * of the workspace, how it bounds requests, and the way from a saved text to the event with its
 * result. It speaks HTTP over a plain socket, since a client library would mend malformed requests.
 * grader/tests/pages/workbench.py tests the page in a browser. */
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
    ck_assert(serve_guard_accepts_token(&g, g.token));
    snprintf(shorter, sizeof shorter, "%.31s", g.token);
    ck_assert(!serve_guard_accepts_token(&g, shorter) && !serve_guard_accepts_token(&g, "") &&
              !serve_guard_accepts_token(&g, NULL) && !serve_guard_accepts_token(&g, other.token));
    snprintf(cookie, sizeof cookie, "a=1; warpbook_8000=%s; b=2", g.token);
    ck_assert(serve_guard_accepts_cookie(&g, cookie));
    snprintf(cookie, sizeof cookie, "warpbook_8001=%s", g.token);
    ck_assert(!serve_guard_accepts_cookie(&g, cookie));
    snprintf(cookie, sizeof cookie, "warpbook_8000=%s", other.token);
    ck_assert(!serve_guard_accepts_cookie(&g, cookie) && !serve_guard_accepts_cookie(&g, NULL));
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

static void start_server(void) {
    char command[400], line[200] = "";
    int out[2];
    snprintf(command, sizeof command, "cd %s/work && XDG_STATE_HOME=%s/state exec %s/grader serve",
             folder, folder, build_folder());
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
    start_server();
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

UNIT_SUITE(serve) {
    Suite *suite = suite_create("serve");
    TCase *guard = tcase_create("guard"), *t = tcase_create("server"),
          *slow = tcase_create("slow requests");
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

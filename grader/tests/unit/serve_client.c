#include "grader/tests/unit/serve_client.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 40000 };
struct serve_client client;

void serve_client_folder(void) {
    strcpy(client.folder, "/tmp/warpbook-serve-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(client.folder));
}

void serve_client_start(const char *options) {
    char command[600], line[200] = "";
    int out[2];
    snprintf(command, sizeof command,
             "cd %s/work && XDG_STATE_HOME=%s/state exec %s/grader serve %s", client.folder,
             client.folder, store_fixture_folder(), options);
    ck_assert_int_eq(pipe(out), 0);
    if ((client.pid = fork()) == 0) {
        dup2(out[1], 1);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    while (fgets(line, sizeof line, f) &&
           sscanf(line, " http://127.0.0.1:%u/?token=%32s", &client.port, client.token) != 2) {}
    ck_assert_msg(client.port, "no address was printed");
    fclose(f);
}

void serve_client_stop(void) {
    int exit_status = 0;
    kill(client.pid, SIGTERM);
    waitpid(client.pid, &exit_status, 0);
    shell("rm -rf %s", client.folder);
    ck_assert_msg(WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0,
                  "the server's status: %x", exit_status);
}

int serve_client_connect(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)client.port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

const char *serve_client_receive(int fd, const char *needle) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t size = 0;
    for (client.answer[0] = 0; !*needle || !strstr(client.answer, needle);) {
        ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "no '%s' in:\n%s", needle, client.answer);
        ssize_t n = read(fd, client.answer + size, SERVE_MAX_ANSWER - 1 - size);
        if (n <= 0) break;
        client.answer[size += (size_t)n] = 0;
    }
    return client.answer;
}

const char *serve_client_send(const char *head, const char *body, size_t size) {
    int fd = serve_client_connect();
    ck_assert_int_eq(send(fd, head, strlen(head), MSG_NOSIGNAL), (ssize_t)strlen(head));
    for (ssize_t n = 0; size && n >= 0; body += n, size -= (size_t)n)
        if ((n = send(fd, body, size, MSG_NOSIGNAL)) < 0) break; /* refused before its end */
    serve_client_receive(fd, "");
    close(fd);
    return client.answer;
}

const char *serve_client_request(const char *method, const char *path, const char *more,
                                 const char *body) {
    char head[2000];
    snprintf(head, sizeof head,
             "%s /%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nCookie: warpbook_%u=%s\r\n"
             "Connection: close\r\nContent-Length: %zu\r\n%s\r\n",
             method, path, client.port, client.port, client.token, strlen(body), more);
    return serve_client_send(head, body, strlen(body));
}

unsigned serve_client_status(const char *text) {
    unsigned value = 0;
    sscanf(text, "HTTP/1.1 %u", &value);
    return value;
}

unsigned serve_client_get(const char *path) {
    return serve_client_status(serve_client_request("GET", path, "", ""));
}

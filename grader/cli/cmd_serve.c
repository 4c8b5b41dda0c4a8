/* cmd_serve.c — grader serve: shows the workbook in a browser (workbench.h). It prints the address
 * and serves until Ctrl-C. */
#include "common/file.h"
#include "common/paths.h"
#include "grader/cli/commands.h"
#include "grader/cli/workbench.h"
#include "grader/cli/workbench_class.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t interrupted;
static void on_interrupt(int s) { (void)s, interrupted = 1; }

/* Splits --listen ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT. */
static bool parse_listen(const char *text, char address[64], unsigned *port, struct err *e) {
    const char *colon = strrchr(text, ':');
    bool is_bare_v6 = colon && strchr(text, ':') != colon && *text != '[';
    char end;
    if (is_bare_v6) colon = NULL;
    size_t size = colon ? (size_t)(colon - text) : strlen(text);
    if (*text == '[' && size > 2 && text[size - 1] == ']') text++, size -= 2;
    *port = 0;
    if (size >= 64 || (colon && (sscanf(colon, ":%5u%c", port, &end) != 1 || *port > 65535)))
        return err_set(e, ERR_INPUT, "--listen takes ADDRESS:PORT, not '%.80s'", text);
    snprintf(address, 64, "%.*s", (int)size, text);
    return true;
}

static bool is_loopback(const char *address) {
    return !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

static void print_address(const struct workbench *w, const char *address) {
    struct buf url = {0};
    serve_append_url(w->server, &url);
    printf("The workbook is open at\n    %s\nCtrl-C ends it.\n", buf_str(&url));
    if (!is_loopback(address))
        printf("Whoever reaches %s and has this address can change your files and run programs in "
               "the sandbox; the connection is not encrypted. Safer: leave --listen out, and use "
               "ssh -L.\n",
               address);
    fflush(stdout);
    buf_free(&url);
}

/* Writes a page that leads to the address, readable by this user only. */
static bool write_opener(const struct serve *server, char path[PATH_MAX], struct err *e) {
    char state[PATH_MAX];
    struct buf url = {0};
    if (!paths_state_dir(state, e) || !dir_create(state, e) ||
        !path_join(path, PATH_MAX, state, "serve.html"))
        return false;
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return err_set(e, ERR_SYSTEM, "%.500s: %s", path, strerror(errno));
    serve_append_url(server, &url);
    bool ok = dprintf(fd, "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
                      buf_str(&url)) > 0;
    buf_free(&url);
    return (close(fd) == 0 && ok) || err_set(e, ERR_SYSTEM, "%.500s: cannot write", path);
}

/* Opens the browser on a file that leads to the address: other users could read the token in an
 * argument of its process. */
static bool open_browser(const struct serve *server, struct err *e) {
    char path[PATH_MAX];
    pid_t pid;
    char *arguments[] = {"xdg-open", path, NULL};
    if (!write_opener(server, path, e)) return false;
    return posix_spawnp(&pid, "xdg-open", NULL, NULL, arguments, environ) == 0 ||
           err_set(e, ERR_SYSTEM, "--open: there is no xdg-open; open the address yourself");
}

/* ---- the port ---- */

/* The browser keeps unsaved texts by the address. So the next server of this user takes the last
 * one's port again, if it is free. */
static bool port_file(char path[PATH_MAX]) {
    char state[PATH_MAX];
    struct err ignored = {0};
    return paths_state_dir(state, &ignored) && dir_create(state, &ignored) &&
           path_join(path, PATH_MAX, state, "serve.port");
}

static unsigned last_port(void) {
    char path[PATH_MAX];
    struct buf text = {0};
    struct err ignored = {0};
    unsigned port = 0;
    if (port_file(path) && file_exists(path) && file_read(path, 16, &text, &ignored))
        sscanf(buf_str(&text), "%5u", &port);
    buf_free(&text);
    return port <= 65535 ? port : 0;
}

static void keep_port(unsigned port) {
    char path[PATH_MAX], text[16];
    struct err ignored = {0};
    snprintf(text, sizeof text, "%u\n", port);
    if (port_file(path)) file_write(path, text, strlen(text), &ignored);
}

/* Starts the server on the last port, else on any free one. */
static struct serve *start_on_free_port(struct serve_options options, struct err *e) {
    struct serve *server = NULL;
    struct err ignored = {0};
    if ((options.port = last_port())) server = serve_start(&options, &ignored);
    options.port = 0;
    if (!server) server = serve_start(&options, e);
    if (server) keep_port(serve_port(server));
    return server;
}

static void serve_until_interrupt(struct workbench *w) {
    enum { CHECK_INTERVAL_MS = 300 };
    while (!interrupted) {
        serve_wait(w->server, w->events_fd, CHECK_INTERVAL_MS);
        workbench_read_events(w);
        workbench_check_files(w);
    }
}

static int serve_class(const struct options *o, const char *address, unsigned port) {
    struct err e = {0};
    struct workbench_class c;
    if (!workbench_class_open(&c, o, &e)) return cli_report_error(&e);
    c.server = serve_start(&(struct serve_options){.address = address,
                                                   .port = port,
                                                   .origin = o->origin,
                                                   .tokens = c.tokens,
                                                   .ntokens = c.ntokens,
                                                   .handle = workbench_class_handle,
                                                   .user = &c},
                           &e);
    if (c.server) workbench_class_print_address(&c);
    if (c.server && o->open && !open_browser(c.server, &e))
        cli_report_error(&e), e = (struct err){0};
    while (c.server && !interrupted) serve_wait(c.server, -1, 300);
    if (c.server) serve_stop(c.server);
    workbench_class_close(&c);
    return e.text[0] ? cli_report_error(&e) : EXIT_PASSED;
}

int cmd_serve(const struct options *o) {
    struct err e = {0};
    char address[64];
    unsigned port;
    struct workbench w = {.o = o, .exercises = xcalloc(book_count(), sizeof *w.exercises)};
    if (o->noperands || o->file || o->output)
        err_set(&e, ERR_INPUT, "serve takes no exercise, --file or --output");
    bool ok =
        e.kind == ERR_NONE && parse_listen(o->listen ? o->listen : "127.0.0.1", address, &port, &e);
    signal(SIGINT, on_interrupt), signal(SIGTERM, on_interrupt);
    if (ok && o->class_store) return free(w.exercises), serve_class(o, address, port);
    if (ok && (o->tokens || o->anonymous || o->author))
        err_set(&e, ERR_INPUT, "--tokens, --anonymous and --author apply to serve --class F.db");
    ok = e.kind == ERR_NONE && workbench_start_grading(&w, &e);
    struct serve_options options = {.address = address,
                                    .port = port,
                                    .origin = o->origin,
                                    .handle = workbench_handle,
                                    .user = &w};
    if (ok) w.server = port ? serve_start(&options, &e) : start_on_free_port(options, &e);
    if (!w.server) return cli_report_error(&e);
    workbench_check_files(&w); /* learns the present contents */
    print_address(&w, address);
    if (o->open && !open_browser(w.server, &e)) cli_report_error(&e);
    serve_until_interrupt(&w);
    serve_stop(w.server);
    for (unsigned i = 0; i < book_count(); i++) buf_free(&w.exercises[i].result);
    free(w.exercises);
    buf_free(&w.events);
    return EXIT_PASSED;
}

/* workbench_queue.c — the queue of gradings of `grader serve`. The grading process forks for each
 * file: a grading that crashes or leaks ends alone, and none inherits a connection to the page. */
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/cli/workbench.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the grading process ---- */

struct grading_output {
    int fd;
    const struct exercise *ex;
};

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) data += n, size -= (size_t)n;
    }
    return true;
}

/* Sends an event. Takes over the reference. */
static void put_event(const struct grading_output *g, const char *name, json_t *o) {
    struct buf line = {0};
    buf_printf(&line, "%s ", name);
    json_object_set_new(o, "id", json_string(book_id(g->ex)));
    workbench_put_json(o, &line);
    buf_puts(&line, "\n");
    write_all(g->fd, line.data, line.size);
    buf_free(&line);
}

static void on_step(void *user, const char *step) {
    put_event(user, "step", json_pack("{s:s}", "step", step));
}

static void grade(const struct options *o, struct grading_output *g) {
    struct grade_options go = options_to_grade_options(o, o->devices[0]);
    struct result r;
    struct err e = {0};
    go.progress = on_step, go.user = g, go.reuse = options_reuse(o);
    if (!grade_file(g->ex, book_student_file(g->ex), &go, &r, &e)) {
        put_event(g, "failure", json_pack("{s:s}", "message", e.text));
        return;
    }
    progress_record(&r);
    put_event(g, "result", workbench_result_json(o, &r));
    result_free(&r);
}

static void grade_in_child(const struct options *o, struct grading_output *g) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        grade(o, g);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (child < 0 || status != 0)
        put_event(g, "failure", json_pack("{s:s}", "message", "the grader's process died"));
    put_event(g, "end", json_object());
}

/* Grades each exercise whose index arrives, until the server ends. */
static _Noreturn void run_grading_process(const struct options *o, int requests, int events) {
    unsigned index;
    setsid(); /* Ctrl-C is for the server, whose end ends this process */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(requests, &index, sizeof index) == sizeof index && index < book_count()) {
        struct grading_output g = {events, book_at(index)};
        grade_in_child(o, &g);
    }
    _exit(0);
}

bool workbench_start_grading(struct workbench *w, struct err *e) {
    int requests[2], events[2];
    if (pipe2(requests, O_CLOEXEC) < 0 || pipe2(events, O_CLOEXEC) < 0)
        return err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) return err_set(e, ERR_SYSTEM, "fork: %s", strerror(errno));
    if (pid == 0) {
        close(requests[1]), close(events[0]);
        run_grading_process(w->o, requests[0], events[1]);
    }
    close(requests[0]), close(events[1]);
    w->requests_fd = requests[1], w->events_fd = events[0], w->graded_index = book_count();
    return fcntl(w->events_fd, F_SETFL, O_NONBLOCK) == 0 ||
           err_set(e, ERR_SYSTEM, "fcntl: %s", strerror(errno));
}

/* ---- the queue ---- */

static void send_queue(struct workbench *w) {
    json_t *list = json_array();
    struct buf text = {0};
    for (unsigned i = 0; i < book_count(); i++)
        if (w->exercises[i].is_queued)
            json_array_append_new(list, json_string(book_id(book_at(i))));
    json_t *o = json_pack("{s:o}", "waiting", list);
    if (w->graded_index < book_count())
        json_object_set_new(o, "grading", json_string(book_id(book_at(w->graded_index))));
    workbench_put_json(o, &text);
    serve_send_event(w->server, "queue", buf_str(&text));
    buf_free(&text);
}

static void start_next(struct workbench *w) {
    for (unsigned i = 0; i < book_count() && w->graded_index == book_count(); i++)
        if (w->exercises[i].is_queued && write_all(w->requests_fd, (char *)&i, sizeof i))
            w->exercises[i].is_queued = false, w->graded_index = i;
}

void workbench_queue(struct workbench *w, unsigned index) {
    w->exercises[index].is_queued = true;
    start_next(w);
    send_queue(w);
}

/* Handles a line "EVENT JSON", whose newline is a zero byte now. */
static void handle_event(struct workbench *w, char *line) {
    char *data = strchr(line, ' ');
    if (!data || w->graded_index == book_count()) return;
    *data++ = 0;
    if (!strcmp(line, "end")) {
        w->graded_index = book_count();
        start_next(w);
        send_queue(w);
        return;
    }
    if (!strcmp(line, "result")) {
        struct buf *result = &w->exercises[w->graded_index].result;
        buf_clear(result), buf_puts(result, data);
    }
    serve_send_event(w->server, line, data);
}

/* The grading process ended, which only a signal from outside makes it do. */
static void report_end(struct workbench *w) {
    static const char message[] = "the grading process ended; start grader serve again";
    struct buf text = {0};
    fprintf(stderr, "grader: %s\n", message);
    workbench_put_json(json_pack("{s:s}", "message", message), &text);
    serve_send_event(w->server, "failure", buf_str(&text));
    buf_free(&text);
    close(w->events_fd);
    w->events_fd = -1;
}

void workbench_read_events(struct workbench *w) {
    char chunk[65536];
    ssize_t n;
    if (w->events_fd < 0) return;
    while ((n = read(w->events_fd, chunk, sizeof chunk)) > 0) buf_add(&w->events, chunk, (size_t)n);
    if (n == 0) report_end(w);
    char *line = w->events.data, *end;
    size_t left = w->events.size;
    while (left && (end = memchr(line, '\n', left))) {
        *end = 0;
        handle_event(w, line);
        left -= (size_t)(end + 1 - line);
        line = end + 1;
    }
    if (left) memmove(w->events.data, line, left);
    w->events.size = left;
}

void workbench_check_files(struct workbench *w) {
    for (unsigned i = 0; i < book_count(); i++) {
        struct source_watch *file = &w->exercises[i].file;
        bool is_first = !file->digest[0];
        if (!source_watch_has_changed(file, book_student_file(book_at(i))) || is_first) continue;
        struct buf text = {0};
        workbench_put_json(
            json_pack("{s:s, s:s}", "id", book_id(book_at(i)), "digest", file->digest), &text);
        serve_send_event(w->server, "file", buf_str(&text));
        buf_free(&text);
        workbench_queue(w, i);
    }
}

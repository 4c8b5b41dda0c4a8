/* workbench_queue.c — the queue of jobs of `grader serve`. The grading process forks for each job:
 * one that crashes or leaks ends alone, and none inherits a connection to the page. */
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

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) data += n, size -= (size_t)n;
    }
    return true;
}

static const char *id_of(const struct workbench_job *job) {
    return job->index < book_count() ? book_id(book_at(job->index)) : job->argument;
}

void workbench_put_event(const struct workbench_output *out, const char *name, json_t *o) {
    struct buf line = {0};
    buf_printf(&line, "%s ", name);
    json_object_set_new(o, "id", json_string(id_of(out->job)));
    workbench_put_json(o, &line);
    buf_puts(&line, "\n");
    write_all(out->fd, line.data, line.size);
    buf_free(&line);
}

static volatile sig_atomic_t running_child, is_stopped;
static void stop_child(int s) {
    (void)s;
    is_stopped = 1;
    if (running_child > 0) kill(running_child, SIGKILL);
}

static void run_in_child(const struct workbench_output *out) {
    int status = 0;
    is_stopped = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGUSR1, SIG_DFL);
        workbench_run_job(out);
        _exit(0);
    }
    running_child = child;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    running_child = 0;
    if (child < 0 || status != 0)
        workbench_put_event(
            out, "failure",
            json_pack("{s:s}", "message", is_stopped ? "stopped" : "the grader's process died"));
    workbench_put_event(out, "end", json_object());
}

/* Does each job that arrives, until the server ends. */
static _Noreturn void run_grading_process(const struct options *o, int requests, int events) {
    struct workbench_job job;
    setsid(); /* Ctrl-C is for the server, whose end ends this process */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = stop_child, .sa_flags = SA_RESTART}, NULL);
    while (read(requests, &job, sizeof job) == sizeof job)
        run_in_child(&(struct workbench_output){events, o, &job});
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
    w->requests_fd = requests[1], w->events_fd = events[0], w->grading_pid = pid;
    return fcntl(w->events_fd, F_SETFL, O_NONBLOCK) == 0 ||
           err_set(e, ERR_SYSTEM, "fcntl: %s", strerror(errno));
}

/* ---- the queue ---- */

static json_t *job_json(const struct workbench_job *job) {
    static const char *const kinds[] = {"grade", "quiz", "tune", "play"};
    return json_pack("{s:s, s:s, s:s}", "id", id_of(job), "kind", kinds[job->kind], "device",
                     job->device->name);
}

struct json_t *workbench_queue_json(const struct workbench *w) {
    json_t *waiting = json_array();
    for (unsigned i = w->is_busy; i < w->njobs; i++)
        json_array_append_new(waiting, job_json(&w->jobs[i]));
    return json_pack("{s:o, s:o?}", "waiting", waiting, "running",
                     w->is_busy ? job_json(&w->jobs[0]) : NULL);
}

static void send_queue(struct workbench *w) {
    struct buf text = {0};
    workbench_put_json(workbench_queue_json(w), &text);
    serve_send_event(w->server, "queue", buf_str(&text));
    buf_free(&text);
}

static void start_next(struct workbench *w) {
    if (!w->is_busy && w->njobs)
        w->is_busy = write_all(w->requests_fd, (char *)&w->jobs[0], sizeof w->jobs[0]);
}

static bool is_equal(const struct workbench_job *a, const struct workbench_job *b) {
    return a->kind == b->kind && a->index == b->index && !strcmp(a->argument, b->argument);
}

bool workbench_queue(struct workbench *w, const struct workbench_job *job) {
    unsigned i = w->is_busy;
    while (i < w->njobs && !is_equal(&w->jobs[i], job)) i++;
    if (i == WORKBENCH_MAX_JOBS) return false;
    w->jobs[i] = *job;
    if (i == w->njobs) w->njobs++;
    start_next(w);
    send_queue(w);
    return true;
}

bool workbench_is_grading(const struct workbench *w, unsigned index) {
    for (unsigned i = 0; i < w->njobs; i++)
        if (w->jobs[i].kind == WORKBENCH_GRADE && w->jobs[i].index == index) return true;
    return false;
}

void workbench_queue_grading(struct workbench *w, unsigned index) {
    const struct gpu_device *d = w->exercises[index].device;
    w->exercises[index].is_stopped = false;
    workbench_queue(w, &(struct workbench_job){.kind = WORKBENCH_GRADE,
                                               .index = index,
                                               .device = d ? d : w->o->devices[0]});
}

void workbench_stop_job(struct workbench *w) {
    if (!w->is_busy) return;
    if (w->jobs[0].kind == WORKBENCH_GRADE) w->exercises[w->jobs[0].index].is_stopped = true;
    kill(w->grading_pid, SIGUSR1);
}

static void end_job(struct workbench *w) {
    memmove(w->jobs, w->jobs + 1, --w->njobs * sizeof *w->jobs);
    w->is_busy = false;
    start_next(w);
    send_queue(w);
}

/* Handles a line "EVENT JSON", whose newline is a zero byte now. */
static void handle_event(struct workbench *w, char *line) {
    char *data = strchr(line, ' ');
    if (!data || !w->is_busy) return;
    *data++ = 0;
    if (!strcmp(line, "end")) {
        end_job(w);
        return;
    }
    if (!strcmp(line, "result")) {
        struct buf *result = &w->exercises[w->jobs[0].index].result;
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
        workbench_queue_grading(w, i);
    }
}

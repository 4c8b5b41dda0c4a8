/* workbench.h — `grader serve`: the workbook in a browser. One process answers the page's requests
 * and looks for changed files; another, the grading process, grades one file after another. The
 * page is in grader/serve/app; docs/architecture.md, "The workbench", lists requests and events. */
#pragma once
#include "grader/book/book.h"
#include "grader/cli/options.h"
#include "grader/cli/source_watch.h"
#include "grader/serve/serve.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t;
struct workbench_exercise {
    struct source_watch file;
    const struct gpu_device *device; /* the one that the page chose; NULL = the first */
    struct buf result; /* the last result as JSON in one line; empty = none since the start */
    bool is_stopped;   /* the student stopped the last grading */
};

/* What the grading process does, one job after another. */
enum workbench_job_kind {
    WORKBENCH_GRADE, /* grades the student's file */
    WORKBENCH_QUIZ,  /* judges an answer; argument: "QUESTION ANSWER" */
    WORKBENCH_TUNE,  /* sweeps the parameters of the student's file */
    WORKBENCH_PLAY   /* runs a program of the playground; argument: its name */
};
enum { WORKBENCH_MAX_JOBS = 128, WORKBENCH_MAX_ARGUMENT = 200 };
struct workbench_job {
    enum workbench_job_kind kind;
    unsigned index; /* of the exercise; the playground: book_count() */
    const struct gpu_device *device;
    char argument[WORKBENCH_MAX_ARGUMENT];
};

struct workbench {
    const struct options *o;
    struct serve *server;
    struct workbench_exercise *exercises; /* by their index in the book */
    /* The grading process: jobs go in, lines "EVENT JSON" come out. */
    int requests_fd, events_fd, grading_pid;
    bool is_busy; /* jobs[0] runs; the others wait */
    struct workbench_job jobs[WORKBENCH_MAX_JOBS];
    unsigned njobs;
    struct buf events; /* an incomplete line */
};

/* ---- workbench_queue.c ---- */
/* Starts the grading process. Call it before serve_start(), so that it inherits no connection. */
bool workbench_start_grading(struct workbench *w, struct err *e);
/* Appends a job, unless an equal one waits. Returns false if the queue is full. */
bool workbench_queue(struct workbench *w, const struct workbench_job *job);
/* Returns true if a grading of the exercise runs or waits. */
bool workbench_is_grading(const struct workbench *w, unsigned index);
/* Appends the grading of an exercise on its device. */
void workbench_queue_grading(struct workbench *w, unsigned index);
/* Returns {"waiting": [JOB, ...], "running": JOB or null}. */
struct json_t *workbench_queue_json(const struct workbench *w);
/* Ends the running job. */
void workbench_stop_job(struct workbench *w);
/* Forwards the events of the grading process to the pages; starts the next job. */
void workbench_read_events(struct workbench *w);
/* Queues every exercise whose file has changed, and tells the pages. */
void workbench_check_files(struct workbench *w);

/* ---- workbench_jobs.c ---- */
struct workbench_output {
    int fd;
    const struct options *o;
    const struct workbench_job *job;
};
/* Writes the line of an event. Takes over the reference. */
void workbench_put_event(const struct workbench_output *out, const char *name, struct json_t *o);
/* Does a job, in a process of its own. */
void workbench_run_job(const struct workbench_output *out);

/* ---- workbench_requests.c ---- */
/* Answers a request: `user` is the workbench. */
void workbench_handle(void *user, const struct serve_request *request, struct serve_reply *reply);

/* Sends the style sheet, a file of the pages, of CodeMirror, a picture of a lesson, or a document
 * of docs/ as text. */
void workbench_send_file(const char *path, struct serve_reply *reply);

/* ---- workbench_json.c: what the page shows; the caller owns the objects ---- */
struct json_t *workbench_contents_json(const struct gpu_device *d);
struct json_t *workbench_exercise_json(const struct workbench *w, unsigned index, struct err *e);
struct json_t *workbench_history_json(const struct exercise *ex, const struct gpu_device *d);
struct json_t *workbench_hints_json(const struct exercise *ex);
struct json_t *workbench_solution_json(const struct exercise *ex, struct err *e);
struct json_t *workbench_result_json(const struct gpu_device *d, const struct result *r);
struct json_t *workbench_devices_json(void);
struct json_t *workbench_quiz_json(const struct exercise *ex, struct err *e);
/* Appends the object in one line. Takes over the reference. */
void workbench_put_json(struct json_t *o, struct buf *out);

/* ---- workbench_file.c ---- */
/* Read and replace the file `relative` below the folder `root`. They follow no link on the way, so
 * they reach nothing outside of `root`. `replaced`, if not NULL, receives the text that the write
 * replaced; it stays empty for a new file, and where the file system can't tell. */
bool workbench_read(const char *root, const char *relative, size_t limit, struct buf *out,
                    struct err *e);
bool workbench_write(const char *root, const char *relative, const struct buf *text,
                     struct buf *replaced, struct err *e);
/* The same for the file that the student edits. A missing file reads as empty. */
bool workbench_read_source(const struct exercise *ex, struct buf *out, struct err *e);
bool workbench_write_source(const struct exercise *ex, const struct buf *text, struct buf *replaced,
                            struct err *e);

/* ---- workbench_play.c ---- */
/* Returns true for "NAME.cu" without folders. */
bool workbench_is_play_name(const char *name);
bool workbench_read_play(const char *name, struct buf *out, struct err *e);
bool workbench_write_play(const char *name, const struct buf *text, struct err *e);
struct json_t *workbench_play_list_json(void);
/* Builds and runs a program in a sandbox; NULL with an error if that could not be tried. */
struct json_t *workbench_play_json(const char *name, const char *device, struct err *e);

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
    bool is_queued;
    struct buf result; /* the last result as JSON in one line; empty = none since the start */
};
struct workbench {
    const struct options *o;
    struct serve *server;
    struct workbench_exercise *exercises; /* by their index in the book */
    /* The grading process: indexes of exercises go in, lines "EVENT JSON" come out. */
    int requests_fd, events_fd;
    unsigned graded_index; /* the exercise that it grades; book_count() = none */
    struct buf events;     /* an incomplete line */
};

/* ---- workbench_queue.c ---- */
/* Starts the grading process. Call it before serve_start(), so that it inherits no connection. */
bool workbench_start_grading(struct workbench *w, struct err *e);
void workbench_queue(struct workbench *w, unsigned index);
/* Forwards the events of the grading process to the pages; starts the next grading. */
void workbench_read_events(struct workbench *w);
/* Queues every exercise whose file has changed, and tells the pages. */
void workbench_check_files(struct workbench *w);

/* ---- workbench_requests.c ---- */
/* Answers a request: `user` is the workbench. */
void workbench_handle(void *user, const struct serve_request *request, struct serve_reply *reply);

/* ---- workbench_json.c: what the page shows; the caller owns the objects ---- */
struct json_t *workbench_contents_json(void);
struct json_t *workbench_exercise_json(const struct workbench *w, unsigned index, struct err *e);
struct json_t *workbench_history_json(const struct exercise *ex);
struct json_t *workbench_hints_json(const struct exercise *ex);
struct json_t *workbench_solution_json(const struct exercise *ex, struct err *e);
struct json_t *workbench_result_json(const struct options *o, const struct result *r);
/* Appends the object in one line. Takes over the reference. */
void workbench_put_json(struct json_t *o, struct buf *out);

/* ---- workbench_file.c ---- */
/* Read and replace the file `relative` below the folder `root`. They follow no link on the way, so
 * they reach nothing outside of `root`. */
bool workbench_read(const char *root, const char *relative, size_t limit, struct buf *out,
                    struct err *e);
bool workbench_write(const char *root, const char *relative, const struct buf *text, struct err *e);
/* The same for the file that the student edits. A missing file reads as empty. */
bool workbench_read_source(const struct exercise *ex, struct buf *out, struct err *e);
bool workbench_write_source(const struct exercise *ex, const struct buf *text, struct err *e);

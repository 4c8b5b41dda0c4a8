/* simgpu.h — the commands of build/simgpu and what they share. Commands return an exit status. */
#pragma once
#include "common/err.h"
#include "grader/server/server.h"
#include "grader/server/launch_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The commands of simgpu. They return the exit status. */
int nvcc_main(int argc, char **argv);
static inline bool simgpu_is_help(const char *argument) {
    return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}
int run_main(int argc, char **argv);
int devices_main(int argc, char **argv);

/* ---- programs that connect (listener.c) ---- */

struct listener;
/* Opens a socket for the programs that connect to simgpu; NULL with an error. */
struct listener *listener_open(struct err *e);
/* Returns the descriptor that programs inherit, with its number in WARPBOOK_SOCKET. */
int listener_client_fd(const struct listener *r);
/* Serves every process that connects on its own thread, with the server that `on_connect` returns,
 * until `stop_fd` becomes readable. Calls `on_close` before it closes a server. */
void listener_serve(struct listener *r, int stop_fd,
                    struct server *(*on_connect)(void *user, int connection),
                    void (*on_close)(void *user, struct server *s), void *user);
void listener_close(struct listener *r);

/* ---- counters and reports of a run (counters.c) ---- */

enum counter_format { COUNTERS_NONE, COUNTERS_TEXT, COUNTERS_JSON };

struct counter_log;
struct counter_log *counter_log_new(enum counter_format f, const char *device);
void counter_log_add(struct counter_log *log, const struct server_launch *l);
/* Writes everything and frees the log. */
void counter_log_finish(struct counter_log *log, FILE *out);

/* ---- progress of launches on standard error (progress.c) ---- */

struct simgpu_progress;
struct simgpu_progress *simgpu_progress_new(void);
void simgpu_progress_free(struct simgpu_progress *p);
/* A launch begins or ends; call both on the thread that runs it. */
void simgpu_progress_begin(struct simgpu_progress *p, const struct server_launch *l);
void simgpu_progress_end(struct simgpu_progress *p);
/* Renews the status line: it shows the longest launch that a program waits for, if there is one of
 * at least two seconds. Call it a few times a second. */
void simgpu_progress_show(struct simgpu_progress *p);
/* Clears the status line before another text. */
void simgpu_progress_hide(struct simgpu_progress *p);

/* ---- report page (report_page.c) ---- */

struct simgpu_page;
struct simgpu_page *simgpu_page_new(const struct gpu_device *d, const char *program);
void simgpu_page_add(struct simgpu_page *p, const struct server_launch *l);
bool simgpu_page_write(struct simgpu_page *p, const char *path, struct err *e);
/* Writes the pictures that marked source lines request to `folder` (pictures.c). */
bool simgpu_page_pictures(const struct simgpu_page *p, const char *folder, struct err *e);
void simgpu_page_free(struct simgpu_page *p);
/* The statistics so far; the source files of the launches, NULL past the last. */
const struct launch_stats *simgpu_page_stats(const struct simgpu_page *p);
const char *simgpu_page_source(const struct simgpu_page *p, unsigned i);
struct sim_access simgpu_to_sim_access(const struct launch_stats_access *t);

/* Prints a launch's reports to standard error: the first of a kind for each kernel, the rest as a
 * count at the end. */
struct report_log;
struct report_log *report_log_new(void);
void report_log_add(struct report_log *log, const struct server_launch *l);
/* Adds a report that belongs to no launch. */
void report_log_add_report(struct report_log *log, const struct sim_report *r);
/* Returns true if there was any report other than a note. Frees the log. */
bool report_log_finish(struct report_log *log);

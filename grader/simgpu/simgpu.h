/* simgpu.h — the verbs of build/simgpu. Verbs return an exit status. */
#pragma once
#include "common/err.h"
#include "grader/server/server.h"
#include "grader/server/launch_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

int simgpu_nvcc(int argc, char **argv);
int simgpu_run(int argc, char **argv);
int simgpu_devices(int argc, char **argv);

/* ---- programs that connect (listener.c) ---- */

struct listener;
struct listener *listener_open(struct err *e);
/* For programs to inherit as WARPBOOK_SOCKET. */
int listener_client_fd(const struct listener *r);
/* Serves every process that connects, each with a device that `open` gives it, on a thread of its
 * own, until `watch` becomes readable. `closing` is called before a server is closed. */
void listener_serve(struct listener *r, int stop_fd,
                    struct server *(*on_connect)(void *user, int connection),
                    void (*on_close)(void *user, struct server *s), void *user);
void listener_close(struct listener *r);

/* ---- what a run's launches add up to (counters.c) ---- */

enum counter_format { COUNTERS_NONE, COUNTERS_TEXT, COUNTERS_JSON };

struct counter_log;
struct counter_log *counter_log_new(enum counter_format f, const char *device);
void counter_log_add(struct counter_log *log, const struct server_launch *l);
/* Writes everything and frees the log. */
void counter_log_finish(struct counter_log *log, FILE *out);

/* ---- the same as a page (write_report_page.c) ---- */

struct simgpu_page;
struct simgpu_page *simgpu_page_new(const struct gpu_device *d, const char *program);
void simgpu_page_add(struct simgpu_page *p, const struct server_launch *l);
bool simgpu_page_write(struct simgpu_page *p, const char *path, struct err *e);
/* Writes the pictures that lines of the source ask for, into `folder` (pictures.c). */
bool simgpu_page_pictures(const struct simgpu_page *p, const char *folder, struct err *e);
void simgpu_page_free(struct simgpu_page *p);
/* What it has gathered; the source files that launches named, NULL past the last. */
const struct launch_stats *simgpu_page_stats(const struct simgpu_page *p);
const char *simgpu_page_source(const struct simgpu_page *p, unsigned i);
struct sim_access simgpu_to_sim_access(const struct launch_stats_access *t);

/* Prints a launch's reports to standard error: the first of a kind for each kernel, the rest as a
 * count at the end. */
struct report_log;
struct report_log *report_log_new(void);
void report_log_add(struct report_log *log, const struct server_launch *l);
void report_log_add_report(struct report_log *log,
                           const struct sim_report *r); /* not of the launch at hand */
/* True if there was any. Frees the log. */
bool report_log_finish(struct report_log *log);

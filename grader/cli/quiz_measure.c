/* quiz_measure.c — counts for a question on the simulated GPU (quiz.h). The program is the book's
 * own, so simgpu runs it without the grader's sandbox. Its executable is in the cache; it is built
 * again if its source or simgpu is newer. */
#include "common/file.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/cli/quiz.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { MAX_LOG_BYTES = 1 << 16, MAX_JSON_BYTES = 1 << 24, MAX_SHOWN_CHARS = 600 };

static bool is_older(const char *path, const char *reference) {
    struct stat a, b;
    return stat(path, &a) < 0 || stat(reference, &b) < 0 || a.st_mtim.tv_sec < b.st_mtim.tv_sec ||
           (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec < b.st_mtim.tv_nsec);
}

/* Runs a program with its output in the file `log`; an error shows the beginning of the output. */
static bool run_logged(char *const *argv, const char *log, struct err *e) {
    posix_spawn_file_actions_t actions;
    struct buf output = {0};
    struct err ignored = {0};
    pid_t pid;
    int status = 1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int spawn_error = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (spawn_error) return err_set(e, ERR_SYSTEM, "%s: %s", argv[0], strerror(spawn_error));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return true;
    file_read(log, MAX_LOG_BYTES, &output, &ignored);
    err_set(e, ERR_SYSTEM, "simgpu %s failed: %.*s", argv[1], MAX_SHOWN_CHARS, buf_str(&output));
    buf_free(&output);
    return false;
}

struct quiz_paths {
    char source[PATH_MAX], simgpu[PATH_MAX], folder[PATH_MAX], program[PATH_MAX], json[PATH_MAX],
        log[PATH_MAX];
};

static bool find_paths(const char *chapter, const char *file, struct quiz_paths *p, struct err *e) {
    char cache[PATH_MAX], name[128];
    if (!paths_cache_dir(cache, e)) return false;
    snprintf(name, sizeof name, "%.100s", file);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '-';
    snprintf(p->source, sizeof p->source, "%.3500s/chapters/%.100s/%.100s", book_root(), chapter,
             file);
    paths_component("simgpu", p->simgpu);
    snprintf(p->folder, sizeof p->folder, "%.3700s/quiz/%.100s", cache, chapter);
    snprintf(p->program, sizeof p->program, "%.3800s/%.100s.run", p->folder, name);
    snprintf(p->json, sizeof p->json, "%.3800s/%.100s.json", p->folder, name);
    snprintf(p->log, sizeof p->log, "%.3800s/%.100s.log", p->folder, name);
    return true;
}

/* A program that uses wgmma has a comment with nvcc's options, as those of grader/tests do. */
static char gencode_flag[] = "-gencode", gencode_sm_90a[] = "arch=compute_90a,code=compute_90a";
static bool needs_sm_90a(const char *path) {
    struct buf text = {0};
    struct err ignored = {0};
    bool is_needed =
        file_read(path, MAX_LOG_BYTES, &text, &ignored) &&
        strstr(buf_str(&text), "// nvcc: -gencode arch=compute_90a,code=compute_90a\n");
    buf_free(&text);
    return is_needed;
}

/* A program for several devices has a comment, as those of grader/tests/programs do:
 * "// run: --devices 2". Sets the number, by default "1". */
static void find_device_count(const char *path, char count[2]) {
    static const char comment[] = "\n// run: --devices ";
    struct buf text = {0};
    struct err ignored = {0};
    const char *at =
        file_read(path, MAX_LOG_BYTES, &text, &ignored) ? strstr(buf_str(&text), comment) : NULL;
    snprintf(count, 2, "%s", at ? at + sizeof comment - 1 : "1");
    buf_free(&text);
}

static bool build_and_run(struct quiz_paths *p, const char *pictures, struct err *e) {
    char folder[PATH_MAX], ndevices[2];
    static char devices_flag[] = "--devices";
    snprintf(folder, sizeof folder, "%s", pictures ? pictures : "");
    find_device_count(p->source, ndevices);
    bool is_sm_90a = needs_sm_90a(p->source);
    char *compile[] = {p->simgpu,      "nvcc",     p->source,
                       "-o",           p->program, is_sm_90a ? gencode_flag : NULL,
                       gencode_sm_90a, NULL};
    char *count[] = {p->simgpu,         "run",   "--counters", "json", devices_flag, ndevices,
                     "--counters-file", p->json, p->program,   NULL};
    char *draw[] = {p->simgpu,         "run",   "--counters", "json", devices_flag, ndevices,
                    "--counters-file", p->json, "--pictures", folder, p->program,   NULL};
    bool is_up_to_date = !is_older(p->program, p->source) && !is_older(p->program, p->simgpu);
    return (is_up_to_date || run_logged(compile, p->log, e)) &&
           run_logged(pictures ? draw : count, p->log, e);
}

/* Waits until no other process builds or runs programs in this folder. Returns the lock, which
 * close() gives back, or -1. */
static int lock_folder(const char *folder, struct err *e) {
    int fd = dir_create(folder, e) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) return err_set(e, ERR_SYSTEM, "%s: %s", folder, strerror(errno)), -1;
    while (flock(fd, LOCK_EX) < 0 && errno == EINTR) {}
    return fd;
}

/* Returns a launch's number of that name: a counter, or another number of the launch, such as
 * theoretical_occupancy. */
static const json_t *launch_number(const json_t *launch, const char *name) {
    const json_t *v = json_object_get(json_object_get(launch, "counters"), name);
    return json_is_number(v) ? v : json_object_get(launch, name);
}

/* Sums a counter over the launches of `kernel`, or over all launches if it is "". */
static bool sum_counter(const json_t *launches, const char *kernel, const char *name, double *out,
                        struct err *e) {
    size_t i, match_count = 0;
    const json_t *launch, *v;
    *out = 0;
    json_array_foreach(launches, i, launch) {
        const char *name_of_kernel = json_string_value(json_object_get(launch, "kernel"));
        if (*kernel && (!name_of_kernel || strcmp(name_of_kernel, kernel) != 0)) continue;
        if (!json_is_number(v = launch_number(launch, name)))
            return err_set(e, ERR_INPUT, "`%s` is not a counter", name);
        *out += json_number_value(v);
        match_count++;
    }
    return match_count ||
           err_set(e, ERR_INPUT, "the program launches no kernel%s%s (extern \"C\"?)",
                   *kernel ? " " : "", kernel);
}

bool quiz_read_counter(const char *json, const struct quiz_question *q, double *expected,
                       struct err *e) {
    json_t *all = json_loads(json, 0, NULL);
    const json_t *launches = json_object_get(all, "launches");
    double denominator = 1;
    bool ok =
        sum_counter(launches, q->kernel, q->counter, expected, e) &&
        (!q->denominator[0] || sum_counter(launches, q->kernel, q->denominator, &denominator, e));
    if (ok && denominator == 0)
        ok = err_set(e, ERR_INPUT, "`%s` is 0, so it can't be a denominator", q->denominator);
    json_decref(all);
    if (ok) *expected /= denominator;
    return ok;
}

bool quiz_run(const char *chapter, const char *file, const char *pictures, struct buf *json,
              struct err *e) {
    struct quiz_paths p;
    int lock = find_paths(chapter, file, &p, e) ? lock_folder(p.folder, e) : -1;
    if (lock < 0) return false;
    bool ok = build_and_run(&p, pictures, e) && file_read(p.json, MAX_JSON_BYTES, json, e);
    close(lock);
    return ok;
}

bool quiz_measure(const char *chapter, const struct quiz_question *q, double *expected,
                  struct err *e) {
    struct buf json = {0};
    bool ok = quiz_run(chapter, q->file, NULL, &json, e) &&
              quiz_read_counter(buf_str(&json), q, expected, e);
    buf_free(&json);
    return ok;
}

/* quiz_count.c — see quiz.h: what the simulated GPU counts for a question. The program is the
 * book's own, so it runs as simgpu runs any: built into the cache, again where it or simgpu is
 * newer than what is there. */
#include "common/file.h"
#include "common/where.h"
#include "grader/book/book.h"
#include "grader/cli/quiz.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { LOG_LIMIT = 1 << 16, JSON_LIMIT = 1 << 24, SHOWN = 600 };

static bool older(const char *path, const char *than) {
    struct stat a, b;
    return stat(path, &a) < 0 || stat(than, &b) < 0 || a.st_mtim.tv_sec < b.st_mtim.tv_sec ||
           (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec < b.st_mtim.tv_nsec);
}

/* Runs a program with all that it says in `log`; an error shows how that begins. */
static bool run(char *const *argv, const char *log, struct err *e) {
    posix_spawn_file_actions_t actions;
    struct buf said = {0};
    struct err ignored = {0};
    pid_t pid;
    int status = 1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return err_set(e, ERR_SYSTEM, "%s: %s", argv[0], strerror(failed));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return true;
    file_read(log, LOG_LIMIT, &said, &ignored);
    err_set(e, ERR_SYSTEM, "simgpu %s failed: %.*s", argv[1], SHOWN, buf_str(&said));
    buf_free(&said);
    return false;
}

struct paths {
    char source[PATH_MAX], simgpu[PATH_MAX], folder[PATH_MAX], program[PATH_MAX], json[PATH_MAX],
        log[PATH_MAX];
};

static bool find(const char *chapter, const char *file, struct paths *p, struct err *e) {
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

/* What uses wgmma says so, as the programs of grader/tests do: by the options that a compiler must
 * be given. */
static char option[] = "-gencode", sm_90a[] = "arch=compute_90a,code=compute_90a";
static bool wants_sm_90a(const char *path) {
    struct buf text = {0};
    struct err ignored = {0};
    bool wants = file_read(path, LOG_LIMIT, &text, &ignored) &&
                 strstr(buf_str(&text), "// nvcc: -gencode arch=compute_90a,code=compute_90a\n");
    buf_free(&text);
    return wants;
}

static bool build_and_run(struct paths *p, const char *pictures, struct err *e) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", pictures ? pictures : "");
    bool own = wants_sm_90a(p->source);
    char *compile[] = {p->simgpu,           "nvcc", p->source, "-o", p->program,
                       own ? option : NULL, sm_90a, NULL};
    char *count[] = {p->simgpu,         "run",   "--counters", "json",
                     "--counters-file", p->json, p->program,   NULL};
    char *draw[] = {p->simgpu, "run",        "--counters", "json",     "--counters-file",
                    p->json,   "--pictures", folder,       p->program, NULL};
    bool fresh = !older(p->program, p->source) && !older(p->program, p->simgpu);
    return dir_create(p->folder, e) && (fresh || run(compile, p->log, e)) &&
           run(pictures ? draw : count, p->log, e);
}

/* A launch's number of that name: a counter, or one that stands beside them
 * (theoretical_occupancy). */
static const json_t *number_of(const json_t *launch, const char *name) {
    const json_t *v = json_object_get(json_object_get(launch, "counters"), name);
    return json_is_number(v) ? v : json_object_get(launch, name);
}

/* Counters add up over launches. */
static bool sum(const json_t *launches, const char *kernel, const char *name, double *out,
                struct err *e) {
    size_t i, seen = 0;
    const json_t *launch, *v;
    *out = 0;
    json_array_foreach(launches, i, launch) {
        const char *called = json_string_value(json_object_get(launch, "kernel"));
        if (*kernel && (!called || strcmp(called, kernel) != 0)) continue;
        if (!json_is_number(v = number_of(launch, name)))
            return err_set(e, ERR_INPUT, "`%s` is no counter", name);
        *out += json_number_value(v);
        seen++;
    }
    return seen || err_set(e, ERR_INPUT, "the program launches no kernel%s%s (extern \"C\"?)",
                           *kernel ? " " : "", kernel);
}

bool quiz_figure(const char *json, const struct quiz_question *q, double *figure, struct err *e) {
    json_t *all = json_loads(json, 0, NULL);
    const json_t *launches = json_object_get(all, "launches");
    double over = 1;
    bool ok = sum(launches, q->kernel, q->counter, figure, e) &&
              (!q->over[0] || sum(launches, q->kernel, q->over, &over, e));
    if (ok && over == 0)
        ok = err_set(e, ERR_INPUT, "`%s` is 0: nothing can be divided by it", q->over);
    json_decref(all);
    if (ok) *figure /= over;
    return ok;
}

bool quiz_run(const char *chapter, const char *file, const char *pictures, struct buf *json,
              struct err *e) {
    struct paths p;
    return find(chapter, file, &p, e) && build_and_run(&p, pictures, e) &&
           file_read(p.json, JSON_LIMIT, json, e);
}

bool quiz_count(const char *chapter, const struct quiz_question *q, double *figure, struct err *e) {
    struct buf json = {0};
    bool ok =
        quiz_run(chapter, q->file, NULL, &json, e) && quiz_figure(buf_str(&json), q, figure, e);
    buf_free(&json);
    return ok;
}

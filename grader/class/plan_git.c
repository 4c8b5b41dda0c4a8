/* plan_git.c — finds the time of the last commit of a submission that is a git repository (plan.h).
 * The student's git configuration may name programs to run, so git runs in a sandbox that has
 * nothing but the repository. */
#include "common/buf.h"
#include "common/file.h"
#include "grader/class/assignment.h"
#include "grader/class/plan.h"
#include "grader/jail/jail.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const long long max_unix_time = 253402300800; /* the year 10000 */

/* Sets `git` to the absolute path of an entry's .git folder. Returns false if there is none, or if
 * it is a link or a file. */
static bool repository_of(const struct plan_entry *en, char git[PATH_MAX]) {
    char folder[PATH_MAX], path[PATH_MAX];
    struct stat st;
    return en->kind == PLAN_KIND_FOLDER && realpath(en->dir, folder) &&
           path_join(path, sizeof path, folder, en->name) &&
           path_join(git, PATH_MAX, path, ".git") && lstat(git, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Parses git's output, which must be a single number, as seconds since 1970. */
static bool parse_timestamp(const struct buf *text, long long *out) {
    char *end;
    *out = strtoll(buf_str(text), &end, 10);
    return end != buf_str(text) && !strcmp(end, "\n") && *out > 0 && *out < max_unix_time;
}

static bool last_commit_time(const char *git, long long *out) {
    static const char *const argv[] = {
        "/usr/bin/git", "--git-dir=/repository", "--no-pager",   "log",
        "-1",           "--no-show-signature",   "--format=%ct", NULL};
    static const char *const env[] = {"PATH=/usr/bin",        "HOME=/work",
                                      "LC_ALL=C.UTF-8",       "GIT_CONFIG_NOSYSTEM=1",
                                      "GIT_OPTIONAL_LOCKS=0", NULL};
    struct jail_bind binds[32];
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = env,
                           .binds = binds,
                           .limits = {.cpu_seconds = 5,
                                      .memory_bytes = 512 << 20,
                                      .file_bytes = 1 << 20,
                                      .work_bytes = 1 << 20,
                                      .max_processes = 8,
                                      .max_fds = 128}};
    struct err ignored = {0};
    struct jail_result r;
    const struct jail_bind *system_binds = jail_system_binds(JAIL_COMPILER, &job.nbinds);
    memcpy(binds, system_binds, job.nbinds * sizeof *system_binds);
    binds[job.nbinds++] = (struct jail_bind){git, "/repository", false};
    struct jail *j = jail_start(&job, &ignored);
    if (!j) return false;
    jail_wait(j, 10, &r);
    bool ok = r.outcome == JAIL_EXITED && r.code == 0 && parse_timestamp(&r.output, out);
    jail_result_free(&r);
    return ok;
}

unsigned plan_add_git_times(struct plan *p) {
    unsigned n = 0;
    for (unsigned i = 0; i < p->npairs; i++) {
        struct plan_student *s = &p->students[p->pairs[i].student];
        char git[PATH_MAX], text[32];
        long long seconds;
        if (s->time || !repository_of(&p->entries[p->pairs[i].entry], git) ||
            !last_commit_time(git, &seconds))
            continue;
        assignment_format_time(seconds, text);
        s->time = xstrdup(text);
        n++;
    }
    return n;
}

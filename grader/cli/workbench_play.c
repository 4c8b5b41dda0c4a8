/* workbench_play.c — the playground of `grader serve`: programs with a `main` of their own, in
 * playground/ of the workspace. simgpu builds and runs one in a sandbox without a network, which
 * sees the compiler, simgpu and this one file. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/workbench.h"
#include "grader/grade/compiler_jail.h"
#include "grader/grade/grade.h"
#include "grader/sim/sim.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME = 64, PLAY_SECONDS = 60, MAX_OUTPUT_BYTES = 256 << 10, MAX_SHOWN_FILES = 200 };
static const char folder_name[] = "playground";

bool workbench_is_play_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_-";
    size_t stem = strspn(name, letters);
    return stem > 0 && stem <= MAX_NAME && name[0] != '-' && !strcmp(name + stem, ".cu");
}

/* Returns false with an error if the name is none. */
static bool relative_path(const char *name, char out[128], struct err *e) {
    if (!name || !workbench_is_play_name(name))
        return err_set(e, ERR_INPUT,
                       "a program's name has up to 64 letters, digits, _ or -, then .cu");
    return snprintf(out, 128, "%s/%s", folder_name, name) < 128;
}

bool workbench_read_play(const char *name, struct buf *out, struct err *e) {
    char path[128];
    return relative_path(name, path, e) &&
           workbench_read(paths_workspace_dir(), path, SOURCE_LIMIT, out, e);
}

bool workbench_write_play(const char *name, const struct buf *text, struct err *e) {
    char path[128], folder[PATH_MAX];
    struct stat st;
    if (!relative_path(name, path, e) ||
        !path_join(folder, sizeof folder, paths_workspace_dir(), folder_name))
        return false;
    mkdir(folder, 0755); /* if it fails, the write says why */
    if (path_join(folder, sizeof folder, paths_workspace_dir(), path) && lstat(folder, &st) == 0 &&
        !S_ISREG(st.st_mode))
        return err_set(e, ERR_INPUT, "%s: not a regular file, so it was not replaced", path);
    return workbench_write(paths_workspace_dir(), path, text, NULL, e);
}

struct json_t *workbench_play_list_json(void) {
    char folder[PATH_MAX];
    json_t *list = json_array();
    if (!path_join(folder, sizeof folder, paths_workspace_dir(), folder_name)) return list;
    char **files = book_list_files(folder, "", ".cu");
    for (unsigned i = 0; files[i] && json_array_size(list) < MAX_SHOWN_FILES; i++)
        if (workbench_is_play_name(files[i])) json_array_append_new(list, json_string(files[i]));
    book_free_list(files);
    return list;
}

/* ---- a run ---- */

/* The sandbox's folder /work is not executable, so a second sandbox runs the program, which it sees
 * at this path. */
static const char program_path[] = "/warpbook/program";
static const char run_script[] =
    "/warpbook/build/simgpu run --device \"$1\" --time --counters json --counters-file "
    "counters.json --report report.html /warpbook/program\n"
    "echo $? >status\n"
    "exit 0\n";

struct play_sandbox {
    struct compiler_jail compiler;
    char simgpu[PATH_MAX];
    struct jail_bind binds[28]; /* the compiler's, simgpu's, the program */
    unsigned nbinds;
};

static bool prepare_sandbox(struct play_sandbox *s, struct err *e) {
    if (!build_compiler_jail(&s->compiler, e)) return false;
    if (!s->compiler.has_compiler)
        return err_set(e, ERR_SYSTEM, "the playground needs nvcc, and this machine has none");
    memcpy(s->binds, s->compiler.binds, s->compiler.nbinds * sizeof *s->binds);
    s->nbinds = s->compiler.nbinds;
    s->binds[s->nbinds++] =
        (struct jail_bind){paths_component("simgpu", s->simgpu), "/warpbook/build/simgpu", false};
    s->binds[s->nbinds++] =
        (struct jail_bind){s->compiler.library, "/warpbook/build/lib/libwbcudart.a", false};
    s->binds[s->nbinds++] = (struct jail_bind){s->compiler.cuda, "/warpbook/build/cuda", false};
    return true;
}

/* Runs a job in the sandbox; false with an error if that could not be tried. */
static bool run_job(struct play_sandbox *s, struct jail_job job, struct jail_result *r,
                    struct err *e) {
    job.env = build_environment, job.binds = s->binds, job.nbinds = s->nbinds;
    job.limits = build_limits, job.mounts_proc = true; /* simgpu finds its parts by /proc */
    job.limits.sparse_bytes = 1ull << 40; /* simgpu's memory that host and device share */
    job.limits.memory_bytes = 4ull << 30, job.limits.cpu_seconds = 4 * PLAY_SECONDS;
    struct jail *j = jail_start(&job, e);
    if (j) jail_wait(j, PLAY_SECONDS, r);
    return j != NULL;
}

static bool compile(struct play_sandbox *s, const char *name, const struct buf *source,
                    struct jail_result *r, struct err *e) {
    const char *argv[] = {
        "/warpbook/build/simgpu", "nvcc", "-lineinfo", "-O3", name, "-o", "program", NULL};
    struct jail_file file = {name, buf_str(source), source->size};
    return run_job(s,
                   (struct jail_job){.kind = JAIL_COMPILER,
                                     .argv = argv,
                                     .files = &file,
                                     .nfiles = 1,
                                     .out_files = {"program"}},
                   r, e);
}

/* Runs the program in the file `path`. simgpu and the program share a pair of sockets, which the
 * sandbox of a GPU's driver allows. */
static bool run_program(struct play_sandbox *s, const char *path, const char *name,
                        const struct buf *source, const char *device, struct jail_result *r,
                        struct err *e) {
    const char *argv[] = {"/bin/sh", "-c", run_script, "sh", device, NULL};
    struct jail_file file = {name, buf_str(source), source->size}; /* messages quote its lines */
    s->binds[s->nbinds++] = (struct jail_bind){path, program_path, false};
    return run_job(s,
                   (struct jail_job){.kind = JAIL_GPU,
                                     .argv = argv,
                                     .files = &file,
                                     .nfiles = 1,
                                     .out_files = {"counters.json", "report.html", "status"}},
                   r, e);
}

static const char *end_text(const struct jail_result *r, char out[200]) {
    static const char *const texts[] = {
        [JAIL_TIMEOUT] = "stopped after 60 seconds",
        [JAIL_OUTPUT_LIMIT] = "stopped: it printed or wrote too much",
        [JAIL_MEMORY_LIMIT] = "stopped: it used too much memory",
        [JAIL_SYSTEM_OOM] = "the machine ran out of memory",
        [JAIL_VIOLATION] = "stopped: it made a system call that the sandbox refuses"};
    if (r->outcome == JAIL_INTERNAL_ERROR) snprintf(out, 200, "%.190s", r->reason);
    else if (r->outcome == JAIL_SIGNALLED) snprintf(out, 200, "ended by signal %d", r->signal);
    else if (r->outcome != JAIL_EXITED) snprintf(out, 200, "%s", texts[r->outcome]);
    else if (r->code) snprintf(out, 200, "it does not compile");
    else
        snprintf(out, 200, "exit status %.*s", (int)strcspn(buf_str(&r->out_files[2]), "\n"),
                 buf_str(&r->out_files[2]));
    return out;
}

/* Demangles the kernels' names, and removes the counters' old names. */
static void tidy_launch(json_t *launch) {
    json_t *counters = json_object_get(launch, "counters");
    struct buf name = {0};
    buf_puts(&name, json_string_value(json_object_get(launch, "kernel")));
    text_demangle(&name);
    json_object_set_new(launch, "kernel", json_string(buf_str(&name)));
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        const char *old_name = sim_counter_name_v1(i);
        if (old_name) json_object_del(counters, old_name);
    }
    json_object_del(launch, "lines"); /* the report has them */
    buf_free(&name);
}

static json_t *counters_json(const struct buf *text) {
    json_t *all = json_loadb(buf_str(text), text->size, 0, NULL), *launch;
    size_t i;
    json_array_foreach(json_object_get(all, "launches"), i, launch) {
        if (json_is_string(json_object_get(launch, "kernel"))) tidy_launch(launch);
    }
    return all;
}

static json_t *result_json(const struct jail_result *r) {
    struct buf output = {0};
    char end[200];
    text_clean(&output, buf_str(&r->output), r->output.size, MAX_OUTPUT_BYTES);
    json_t *counters = counters_json(&r->out_files[0]);
    json_t *j = json_pack("{s:s, s:s, s:o?, s:s}", "output", buf_str(&output), "end",
                          end_text(r, end), "counters", counters, "report",
                          r->has_out_file[1] ? buf_str(&r->out_files[1]) : "");
    buf_free(&output);
    return j;
}

/* Writes the program to a temporary file and runs that. */
static json_t *run_built(struct play_sandbox *s, const struct buf *program, const char *name,
                         const struct buf *source, const char *device, struct err *e) {
    char folder[PATH_TEMPORARY_BYTES], path[PATH_TEMPORARY_BYTES + 16];
    struct jail_result r;
    json_t *o = NULL;
    path_temporary(folder, "play");
    if (!mkdtemp(folder)) return err_set(e, ERR_SYSTEM, "%s: %s", folder, strerror(errno)), NULL;
    snprintf(path, sizeof path, "%s/program", folder);
    if (file_write(path, buf_str(program), program->size, e) && chmod(path, 0755) == 0 &&
        run_program(s, path, name, source, device, &r, e)) {
        o = result_json(&r);
        jail_result_free(&r);
    }
    unlink(path), rmdir(folder);
    return o;
}

struct json_t *workbench_play_json(const char *name, const char *device, struct err *e) {
    struct buf source = {0};
    struct play_sandbox s;
    struct jail_result r;
    json_t *o = NULL;
    if (workbench_read_play(name, &source, e) && prepare_sandbox(&s, e) &&
        compile(&s, name, &source, &r, e)) {
        o = r.has_out_file[0] ? run_built(&s, &r.out_files[0], name, &source, device, e)
                              : result_json(&r);
        jail_result_free(&r);
    }
    buf_free(&source);
    return o;
}

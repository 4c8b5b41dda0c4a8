/* gpu_job.c — what `grader gpu-report` does for one exercise, in a process of its own: the verdict
 * of each version, its time against the model answer's, the same time modelled, and the vendor's
 * libraries. */
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/cli/gpu_report.h"
#include "grader/cli/vendor.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/speed_gpu.h"
#include "grader/server/server.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A measurement: turns are short, since inputs stay what they are. */
static const double warm_up = 0.15, pair_seconds = 2;
enum { LEAST_PAIRS = 10 };

static const char answer[] = "",
                  skeleton[] =
                      "skeleton"; /* names of versions, beside those of the ladder's steps */

struct job {
    const struct report *r;
    const struct exercise *ex;
    struct grade_options go;
    json_t *part;
    struct build build; /* of the model answer */
    struct session *session;
};

static const char *title(const char *version) { return version[0] ? version : "model answer"; }

static void cannot(struct job *j, const char *what, const char *version, const char *why) {
    char text[256];
    snprintf(text, sizeof text, "%s of %s, %s", what, book_id(j->ex), title(version));
    gpu_part_cannot(j->part, text, why);
}

/* True, with the row to fill, if it is missing and there is time. */
static bool wanted(struct job *j, const char *table, const char *what, const char *version) {
    if (json_object_get(json_object_get(j->part, table), version)) return false;
    if (!gpu_report_late(j->r)) return true;
    cannot(j, what, version, "there was no time left; run the report again into the same folder");
    return false;
}

static void keep(struct job *j, const char *table, const char *version, json_t *row) {
    struct err e = {0};
    json_object_set_new(json_object_get(j->part, table), version, row);
    if (!gpu_part_write(j->r, j->ex, j->part, &e)) cli_complain(&e);
}

/* ---- verdicts ---- */

static bool read_version(const struct exercise *ex, const char *version, char name[128],
                         struct buf *source, struct err *e) {
    const char *path =
        version == skeleton ? "" : book_solution_file(ex, version[0] ? version : NULL);
    grade_safe_file_name(ex, path, name, 128);
    return version == skeleton ? book_original_starter(ex, source, e)
                               : file_read(path, SOURCE_LIMIT, source, e);
}

/* Cases that ran on the GPU say so; without those that failed there, the result is the simulated
 * GPU's. */
static json_t *verdict_row(const struct result *r) {
    unsigned on_gpu = 0, failed = 0;
    const char *first = r->message ? r->message : "";
    for (unsigned i = 0; i < r->ncases; i++) {
        bool there = strstr(r->cases[i].name, "on the GPU)"), bad = r->cases[i].verdict != V_AC;
        on_gpu += there, failed += there && bad;
        if (bad && (!first[0] || (there && failed == 1))) first = r->cases[i].message;
    }
    return json_pack("{s:s,s:s,s:i,s:i,s:s}", "gpu", verdict_code(r->verdict), "simulated",
                     failed ? "AC" : verdict_code(r->verdict), "cases", (int)on_gpu, "failed",
                     (int)failed, "message", first);
}

static void verdict(struct job *j, const char *version) {
    struct buf source = {0};
    struct err e = {0};
    struct result r;
    char name[128];
    struct grade_options o = j->go;
    o.check_only = true;
    if (!wanted(j, "verdicts", "verdict", version)) return;
    if (read_version(j->ex, version, name, &source, &e)) {
        grade_source(j->ex, name, buf_str(&source), source.size, &o, &r);
        keep(j, "verdicts", version, verdict_row(&r));
        result_free(&r);
    } else cannot(j, "verdict", version, e.text);
    buf_free(&source);
}

/* ---- times ---- */

/* What the model says of the same file on this device. */
static double modelled(const struct job *j, const struct build *b, struct launch_stats *out) {
    struct err e = {0};
    struct ptxas registers = {0};
    const struct gpu_device *d = gpu_device_nearest();
    ptxas_finish(ptxas_start(b, d->cc_major * 10 + d->cc_minor), &registers);
    struct session_options so = {
        .device = d, .seed = j->go.seed, .workers = 1, .ptxas_result = &registers};
    struct session *s = session_open(j->ex, b, &so, &e);
    struct case_run run = {.verdict = V_IE};
    if (s) session_case(s, &j->ex->timed_case, &grade_plan_timed, &run);
    if (run.verdict == V_AC) *out = run.launch_stats, run.launch_stats = (struct launch_stats){0};
    session_case_free(&run);
    session_close(s);
    ptxas_free(&registers);
    return out->seconds;
}

static json_t *time_row(const struct job *j, const struct build *b, const struct measurement *m,
                        const char *compiled_by) {
    struct launch_stats t = {0};
    char bound[192] = "";
    modelled(j, b, &t);
    if (launch_stats_longest_kernel(&t))
        launch_stats_format_bound(launch_stats_longest_kernel(&t), bound, sizeof bound);
    json_t *row = json_pack("{s:f,s:f,s:[f,f],s:i,s:i,s:f,s:[f,f],s:s,s:s}", "measured_us",
                            m->second * 1e6, "vs_solution", m->ratio, "ci95", m->low, m->high,
                            "pairs", (int)m->pairs, "dropped", (int)m->dropped, "modelled_us",
                            t.seconds * 1e6, "modelled_interval_us", t.low * 1e6, t.high * 1e6,
                            "bound_by", bound, "compiled_by", compiled_by);
    launch_stats_free(&t);
    return row;
}

static bool measure(struct job *j, struct session *second, struct measurement *m, struct err *e) {
    struct measure_options mo = {.seconds = pair_seconds,
                                 .warm_up = warm_up,
                                 .min_pairs = LEAST_PAIRS,
                                 .is_gpu_shared = true};
    return speed_gpu_pairs(j->session, second, &j->go, &mo, m, e);
}

/* The model answer at the timed size, which all others are held against. */
static bool open_answer(struct job *j, struct err *e) {
    if (j->session) return true;
    if (!j->build.ok && !speed_gpu_build(j->ex, NULL, &j->build, e)) return false;
    return (j->session = speed_gpu_open(j->ex, &j->build, &j->go, true, e));
}

static void time_version(struct job *j, const char *version) {
    struct build b = {0};
    struct err e = {0};
    struct measurement m = {0};
    struct session *s = NULL;
    if (!wanted(j, "times", "time", version)) return;
    bool own = version[0];
    bool ok = open_answer(j, &e) && (!own || speed_gpu_build(j->ex, version, &b, &e));
    s = !ok ? NULL : own ? speed_gpu_open(j->ex, &b, &j->go, true, &e) : j->session;
    if (s && measure(j, s, &m, &e))
        keep(j, "times", version, time_row(j, own ? &b : &j->build, &m, session_compiled_by(s)));
    else cannot(j, "time", version, e.text);
    if (own) speed_gpu_close(s);
    build_free(&b);
}

/* ---- the vendor's libraries ---- */

static double own_time(const struct job *j) {
    const json_t *row = json_object_get(json_object_get(j->part, "times"), answer);
    return json_real_value(json_object_get(row, "measured_us"));
}

static void library(struct job *j, const char *routine, double seconds, double answer_us) {
    keep(j, "libraries", routine,
         json_pack("{s:f,s:f}", "us", seconds * 1e6, "answer_vs_routine",
                   answer_us > 0 ? seconds * 1e6 / answer_us : 0));
}

static void by_cublas(struct job *j) {
    const char *routine = vendor_routine(j->ex);
    struct err e = {0};
    if (!routine || !wanted(j, "libraries", "time of cuBLAS", routine)) return;
    flock(j->go.gpu_lease_fd, LOCK_EX);
    struct backend *b = backend_gpu_open(gpu_options_of(j->go.device), &e);
    double seconds = b ? vendor_time(b, j->ex, &routine, &e) : 0;
    if (b) b->ops->close(b);
    flock(j->go.gpu_lease_fd, LOCK_UN);
    if (seconds > 0) library(j, routine, seconds, own_time(j));
    else cannot(j, "time of cuBLAS", answer, e.text);
}

/* A library that does the job behind the same entry is one more version of the exercise. */
static void by_file(struct job *j, const char *path, const char *name, const char *what) {
    struct build b = {0};
    struct measurement m = {0};
    struct err e = {0};
    if (!wanted(j, "libraries", what, name)) return;
    bool ok = open_answer(j, &e) && vendor_build(j->ex, path, &b, &e);
    struct session *s = ok ? speed_gpu_open(j->ex, &b, &j->go, true, &e) : NULL;
    if (s && measure(j, s, &m, &e)) library(j, name, m.second, m.first * 1e6);
    else cannot(j, what, answer, e.text);
    speed_gpu_close(s);
    build_free(&b);
}

static void by_files(struct job *j) {
    char path[VENDOR_PATH];
    if (vendor_practice(j->ex, path))
        by_file(j, path, "in practice", "time of what is called in practice");
    if (vendor_file(j->ex, path)) by_file(j, path, "CUB", "time of CUB");
}

/* ---- all ---- */

static void each_version(struct job *j, void (*run)(struct job *, const char *),
                         bool with_skeleton) {
    char **steps = book_ladder_steps(j->ex);
    run(j, answer);
    for (unsigned i = 0; steps && steps[i]; i++) run(j, steps[i]);
    if (with_skeleton) run(j, skeleton);
    book_free_list(steps);
}

static int open_turn(const struct report *r) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, r->folder, "parts/turn")
               ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644)
               : -1;
}

void gpu_job(const struct report *r, const struct exercise *ex) {
    struct job j = {.r = r, .ex = ex, .go = r->go, .part = gpu_part_read(r, ex)};
    struct err e = {0};
    j.go.gpu_lease_fd = open_turn(r);
    json_object_set_new(j.part, "not_done", json_object());
    each_version(&j, verdict, true);
    each_version(&j, time_version, false);
    by_files(&j);
    by_cublas(&j);
    speed_gpu_close(j.session);
    if (!gpu_part_write(r, ex, j.part, &e)) cli_complain(&e);
    build_free(&j.build);
    json_decref(j.part);
    if (j.go.gpu_lease_fd >= 0) close(j.go.gpu_lease_fd);
}

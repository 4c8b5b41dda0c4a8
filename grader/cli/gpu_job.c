/* gpu_job.c — the part of `grader gpu-report` for one exercise, which gpu_report.c runs in a
 * process of its own: the verdict of each version, its time in comparison with the model
 * solution's, the modelled time, and the times of the vendor's libraries. */
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

/* Seconds. They are short, because all pairs of a measurement use the same inputs. */
static const double warm_up_seconds = 0.15, pair_seconds = 2;
enum { MIN_PAIRS = 10 };

/* Names of versions in the report's tables; the ladder's steps have their own names. */
static const char solution_version[] = "", starter_version[] = GPU_STARTER_VERSION;

struct gpu_report_job {
    const struct gpu_report *report;
    const struct exercise *ex;
    struct grade_options options;
    json_t *part;
    struct build build; /* the model solution's */
    struct session *session;
};

static void add_failure(struct gpu_report_job *j, const char *description, const char *version,
                        const char *reason) {
    char text[256];
    snprintf(text, sizeof text, "%s of %s, %s", description, book_id(j->ex),
             gpu_version_title(version));
    gpu_part_add_failure(j->part, text, reason);
}

/* Returns true if the row is missing and there is time for it; without time it records that. */
static bool needs_row(struct gpu_report_job *j, const char *table, const char *description,
                      const char *version) {
    if (json_object_get(json_object_get(j->part, table), version)) return false;
    if (!gpu_report_is_out_of_time(j->report)) return true;
    add_failure(j, description, version, "no time left; run gpu-report again with the same folder");
    return false;
}

static void save_row(struct gpu_report_job *j, const char *table, const char *version,
                     json_t *row) {
    struct err e = {0};
    json_object_set_new(json_object_get(j->part, table), version, row);
    if (!gpu_part_write(j->report, j->ex, j->part, &e)) cli_report_error(&e);
}

/* ---- verdicts ---- */

static bool read_version(const struct exercise *ex, const char *version, char name[128],
                         struct buf *source, struct err *e) {
    const char *path =
        version == starter_version ? "" : book_solution_file(ex, version[0] ? version : NULL);
    grade_safe_file_name(ex, path, name, 128);
    return version == starter_version ? book_original_starter(ex, source, e)
                                      : file_read(path, SOURCE_LIMIT, source, e);
}

/* Makes the row of a result. The names of cases that ran on the GPU contain "on the GPU)". If one
 * of them failed, the simulated GPU had accepted the version; else both verdicts are the same. */
static json_t *verdict_row(const struct result *r) {
    unsigned gpu_case_count = 0, failed_count = 0;
    const char *message = r->message ? r->message : "";
    for (unsigned i = 0; i < r->ncases; i++) {
        bool is_on_gpu = strstr(r->cases[i].name, "on the GPU)"),
             is_failed = r->cases[i].verdict != V_AC;
        gpu_case_count += is_on_gpu, failed_count += is_on_gpu && is_failed;
        if (is_failed && (!message[0] || (is_on_gpu && failed_count == 1)))
            message = r->cases[i].message;
    }
    return json_pack("{s:s,s:s,s:i,s:i,s:s}", "gpu", verdict_code(r->verdict), "simulated",
                     failed_count ? "AC" : verdict_code(r->verdict), "cases", (int)gpu_case_count,
                     "failed", (int)failed_count, "message", message);
}

static void add_verdict(struct gpu_report_job *j, const char *version) {
    struct buf source = {0};
    struct err e = {0};
    struct result r;
    char name[128];
    struct grade_options o = j->options;
    o.check_only = true;
    if (!needs_row(j, "verdicts", "verdict", version)) return;
    if (read_version(j->ex, version, name, &source, &e)) {
        grade_source(j->ex, name, buf_str(&source), source.size, &o, &r);
        save_row(j, "verdicts", version, verdict_row(&r));
        result_free(&r);
    } else add_failure(j, "verdict", version, e.text);
    buf_free(&source);
}

/* ---- times ---- */

/* Returns the time, in seconds, that the time model gives the same build on this device. `out`
 * becomes the launches' statistics. */
static double modelled_seconds(const struct gpu_report_job *j, const struct build *b,
                               struct launch_stats *out) {
    struct err e = {0};
    struct ptxas registers = {0};
    const struct gpu_device *d = gpu_device_nearest();
    ptxas_finish(ptxas_start(b, d->cc_major * 10 + d->cc_minor), &registers);
    struct session_options so = {
        .device = d, .seed = j->options.seed, .workers = 1, .ptxas_result = &registers};
    struct session *s = session_open(j->ex, b, &so, &e);
    struct case_run run = {.verdict = V_IE};
    if (s) session_case(s, &j->ex->timed_case, &grade_plan_timed, &run);
    if (run.verdict == V_AC) *out = run.launch_stats, run.launch_stats = (struct launch_stats){0};
    session_case_free(&run);
    session_close(s);
    ptxas_free(&registers);
    return out->seconds;
}

static json_t *time_row(const struct gpu_report_job *j, const struct build *b,
                        const struct measurement *m, const char *compiled_by) {
    struct launch_stats t = {0};
    struct launch_stats_account account;
    modelled_seconds(j, b, &t);
    launch_stats_account(&t, &account);
    json_t *row = json_pack("{s:f,s:f,s:[f,f],s:i,s:i,s:f,s:[f,f],s:s,s:s}", "measured_us",
                            m->second * 1e6, "vs_solution", m->ratio, "ci95", m->low, m->high,
                            "pairs", (int)m->pairs, "dropped", (int)m->dropped, "modelled_us",
                            t.seconds * 1e6, "modelled_interval_us", t.low * 1e6, t.high * 1e6,
                            "bound_by", account.text, "compiled_by", compiled_by);
    launch_stats_free(&t);
    return row;
}

static bool measure(struct gpu_report_job *j, struct session *second, struct measurement *m,
                    struct err *e) {
    struct measure_options mo = {.seconds = pair_seconds,
                                 .warm_up = warm_up_seconds,
                                 .min_pairs = MIN_PAIRS,
                                 .is_gpu_shared = true};
    return speed_gpu_pairs(j->session, second, &j->options, &mo, m, e);
}

/* Opens the model solution at the timed size, with which all other versions are compared. */
static bool open_solution(struct gpu_report_job *j, struct err *e) {
    if (j->session) return true;
    if (!j->build.ok && !speed_gpu_build(j->ex, NULL, &j->build, e)) return false;
    return (j->session = speed_gpu_open(j->ex, &j->build, &j->options, true, e));
}

static void time_version(struct gpu_report_job *j, const char *version) {
    struct build b = {0};
    struct err e = {0};
    struct measurement m = {0};
    struct session *s = NULL;
    if (!needs_row(j, "times", "time", version)) return;
    bool is_other_version = version[0];
    bool ok =
        open_solution(j, &e) && (!is_other_version || speed_gpu_build(j->ex, version, &b, &e));
    s = !ok                ? NULL
        : is_other_version ? speed_gpu_open(j->ex, &b, &j->options, true, &e)
                           : j->session;
    if (s && measure(j, s, &m, &e))
        save_row(j, "times", version,
                 time_row(j, is_other_version ? &b : &j->build, &m, session_compiled_by(s)));
    else add_failure(j, "time", version, e.text);
    if (is_other_version) speed_gpu_close(s);
    build_free(&b);
}

/* ---- the vendor's libraries ---- */

static double solution_time_us(const struct gpu_report_job *j) {
    const json_t *row = json_object_get(json_object_get(j->part, "times"), solution_version);
    return json_real_value(json_object_get(row, "measured_us"));
}

static void save_library_row(struct gpu_report_job *j, const char *routine, double seconds,
                             double solution_us) {
    save_row(j, "libraries", routine,
             json_pack("{s:f,s:f}", "us", seconds * 1e6, "solution_vs_library",
                       solution_us > 0 ? seconds * 1e6 / solution_us : 0));
}

static void time_cublas(struct gpu_report_job *j) {
    const char *routine = vendor_routine(j->ex);
    struct err e = {0};
    if (!routine || !needs_row(j, "libraries", "time of cuBLAS", routine)) return;
    flock(j->options.gpu_lease_fd, LOCK_EX);
    struct backend *b = backend_gpu_open(gpu_options_of(j->options.device), &e);
    double seconds = b ? vendor_time(b, j->ex, &routine, &e) : 0;
    if (b) b->ops->close(b);
    flock(j->options.gpu_lease_fd, LOCK_UN);
    if (seconds > 0) save_library_row(j, routine, seconds, solution_time_us(j));
    else add_failure(j, "time of cuBLAS", solution_version, e.text);
}

/* Times a library that does the job behind the same entry, like any version of the exercise. */
static void time_library_file(struct gpu_report_job *j, const char *path, const char *name,
                              const char *description) {
    struct build b = {0};
    struct measurement m = {0};
    struct err e = {0};
    if (!needs_row(j, "libraries", description, name)) return;
    bool ok = open_solution(j, &e) && vendor_build(j->ex, path, &b, &e);
    struct session *s = ok ? speed_gpu_open(j->ex, &b, &j->options, true, &e) : NULL;
    if (s && measure(j, s, &m, &e)) save_library_row(j, name, m.second, m.first * 1e6);
    else add_failure(j, description, solution_version, e.text);
    speed_gpu_close(s);
    build_free(&b);
}

static void time_library_files(struct gpu_report_job *j) {
    char path[VENDOR_MAX_PATH];
    if (vendor_practice_path(j->ex, path))
        time_library_file(j, path, "in practice", "time of the version in practice");
    if (vendor_cub_path(j->ex, path)) time_library_file(j, path, "CUB", "time of CUB");
}

/* ---- all ---- */

static void for_each_version(struct gpu_report_job *j,
                             void (*function)(struct gpu_report_job *, const char *),
                             bool with_starter) {
    char **steps = book_ladder_steps(j->ex);
    function(j, solution_version);
    for (unsigned i = 0; steps && steps[i]; i++) function(j, steps[i]);
    if (with_starter) function(j, starter_version);
    book_free_list(steps);
}

static int open_gpu_lease(const struct gpu_report *r) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, r->folder, "parts/turn")
               ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644)
               : -1;
}

void gpu_report_run_job(const struct gpu_report *r, const struct exercise *ex) {
    struct gpu_report_job j = {
        .report = r, .ex = ex, .options = r->options, .part = gpu_part_read(r, ex)};
    struct err e = {0};
    j.options.gpu_lease_fd = open_gpu_lease(r);
    json_object_set_new(j.part, "not_done", json_object());
    for_each_version(&j, add_verdict, true);
    for_each_version(&j, time_version, false);
    time_library_files(&j);
    time_cublas(&j);
    speed_gpu_close(j.session);
    if (!gpu_part_write(r, ex, j.part, &e)) cli_report_error(&e);
    build_free(&j.build);
    json_decref(j.part);
    if (j.options.gpu_lease_fd >= 0) close(j.options.gpu_lease_fd);
}

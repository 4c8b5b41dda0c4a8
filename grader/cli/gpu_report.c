/* gpu_report.c — grader gpu-report DIR: checks and times all versions on a GPU, in one run of less
 * than eight minutes. `make gpu-report` calls it. The report has
 *
 *   verdicts of every version of every exercise, on the GPU and on the simulated GPU;
 *   times of every version in comparison with the model solution, measured and modelled;
 *   times of the vendor's libraries.
 *
 * Most of the work is on the host: inputs, references, simulation. So each exercise has a process.
 * The processes take turns with the GPU (session.h): while one measures, no other uses it. The
 * report lists what could not be done, with the reason. A later run keeps the rows that exist. */
#include "grader/cli/gpu_report.h"
#include "common/file.h"
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "common/cache.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/speed_gpu.h"
#include "grader/server/server.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of GPU memory for a job: two pools and contexts (gpu_device.c). */
static const uint64_t bytes_per_job = 8ull << 30;

bool gpu_report_is_out_of_time(const struct gpu_report *r) { return server_now() > r->deadline; }

/* ---- the jobs ---- */

/* The jobs, one for each exercise, in the order of the book. */
struct job_queue {
    struct gpu_report *report;
    unsigned next_job;
    unsigned *slot_jobs; /* slot_jobs[i]: index of the exercise that slot i runs */
    struct status_count count;
};

static enum parallel_status next_item(void *user, unsigned slot, struct err *e) {
    struct job_queue *t = user;
    (void)e;
    if (t->next_job == t->report->n) return PARALLEL_END;
    t->slot_jobs[slot] = t->next_job++;
    return PARALLEL_ITEM;
}

static void run_item(void *user, unsigned slot, struct buf *out) {
    const struct job_queue *t = user;
    (void)out;
    gpu_report_run_job(t->report, t->report->list[t->slot_jobs[slot]]);
}

/* Rewrites the report after a job. A crashed job has left its rows but no reason, so add one. */
static bool item_done(void *user, unsigned slot, bool ok, const char *data, size_t size,
                      struct err *e) {
    struct job_queue *t = user;
    struct gpu_report *r = t->report;
    unsigned i = t->slot_jobs[slot];
    struct err ignored = {0};
    (void)data, (void)size, (void)e;
    t->count.done++;
    status_count_show(&t->count, r->list[i]->name);
    if (!ok) {
        json_t *part = gpu_part_read(r, r->list[i]);
        gpu_part_add_failure(part, book_id(r->list[i]), "its process crashed");
        gpu_part_write(r, r->list[i], part, &ignored);
        json_decref(part);
    }
    gpu_report_write(r, false, &ignored);
    return true;
}

void gpu_report_run_jobs(struct gpu_report *r) {
    struct err e = {0};
    unsigned jobs = parallel_job_count(r->o->jobs),
             memory_jobs = (unsigned)(r->options.device->dram_bytes / bytes_per_job);
    if (jobs > memory_jobs) jobs = memory_jobs ? memory_jobs : 1;
    struct job_queue t = {.report = r, .slot_jobs = xcalloc(jobs, sizeof *t.slot_jobs)};
    status_count_begin(&t.count, "exercises", r->n);
    if (!parallel_run(jobs, &(struct parallel_ops){next_item, run_item, item_done, &t, NULL}, &e))
        cli_report_error(&e);
    free(t.slot_jobs);
}

static void measure_roofline(struct gpu_report *r) {
    struct roofline c;
    struct err e = {0};
    status_show("roofline", "measuring");
    if (!speed_gpu_ceiling(&r->options, &c, &e)) {
        json_object_set_new(r->header, "roofline_missing", json_string(e.text));
        return;
    }
    json_object_set_new(r->header, "roofline",
                        json_pack("{s:f,s:f}", "bytes_per_second", c.bytes_per_second,
                                  "flops_per_second", c.flops_per_second));
}

/* ---- the command ---- */

/* Of the eight minutes; the rest is for the start and for rows in progress at the end. */
static const double report_seconds = 450;

static void run_stages(struct gpu_report *r) {
    r->deadline = server_now() + report_seconds;
    measure_roofline(r);
    gpu_report_run_jobs(r);
}

static void make_key(struct gpu_report *r) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "gpu report 1");
    cache_add_grader(&h);
    hash_update_string(&h, r->options.device->full_name);
    hash_update_string(&h, r->options.seed);
    hash_final_hex(&h, r->key);
}

/* A fixed seed: each run has the same inputs, so that it can continue another one. */
static const char *const report_seed = "gpu report";

static bool open_report(struct gpu_report *r, const struct options *o, struct err *e) {
    struct options exercise_options = *o;
    char parts_folder[PATH_MAX];
    /* The first operand is the folder; exercises may follow. */
    exercise_options.operands++, exercise_options.noperands--;
    *r = (struct gpu_report){
        .o = o, .options = options_to_grade_options(o, o->devices[0]), .folder = o->operands[0]};
    r->options.seed = report_seed, r->options.workers = 1;
    if (!(r->list = cli_select_exercises(&exercise_options, e))) return false;
    for (unsigned i = 0; r->list[i]; i++) /* the others take several GPUs */
        if (r->list[i]->devices <= 1) r->list[r->n++] = r->list[i];
    make_key(r);
    r->header = json_pack("{s:s,s:i,s:i}", "name", r->options.device->full_name, "sms",
                          (int)r->options.device->sms, "driver", gpu_device_driver_version());
    /* Writing the report now shows whether the folder is writable, not only after eight minutes. */
    return dir_create(r->folder, e) &&
           path_join(parts_folder, sizeof parts_folder, r->folder, "parts") &&
           dir_create(parts_folder, e) && gpu_report_write(r, false, e);
}

int cmd_gpu_report(const struct options *o) {
    struct err e = {0};
    struct gpu_report r = {0};
    if (!o->noperands || !gpu_options_of(o->devices[0])) {
        err_set(&e, ERR_INPUT, "usage: grader gpu-report FOLDER [EXERCISE…] --device gpu");
        return cli_report_error(&e);
    }
    bool ok = open_report(&r, o, &e);
    if (ok) run_stages(&r);
    status_clear();
    ok = ok && gpu_report_write(&r, true, &e);
    json_decref(r.header);
    free(r.list);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}

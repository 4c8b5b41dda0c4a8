/* gpu_report.c — grader gpu-report DIR: everything that has a GPU as its subject, in one run under
 * eight minutes.
 *
 *   verdicts of every version of every exercise, on the GPU and on the simulated one
 *   times of every version, against the model answer; the same times modelled; the vendor's
 * libraries
 *
 * Most of the work is the host's: inputs, references, the simulator. So each exercise has a
 * process, and they take turns with the GPU (session.h), which nobody else uses while one of them
 * measures. What could not be done is said in the report, with the reason; what another run finds
 * there it leaves as it is. */
#include "grader/cli/gpu_report.h"
#include "common/file.h"
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "grader/grade/cache.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/speed_gpu.h"
#include "grader/server/server.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t bytes_per_job =
    8ull << 30; /* bytes of GPU memory: two pools and contexts (gpu_device.c) */

bool gpu_report_is_out_of_time(const struct gpu_report *r) { return server_now() > r->deadline; }

/* ---- the jobs ---- */

/* An exercise each, as their turns come. */
struct job_queue {
    struct gpu_report *report;
    unsigned next_job;
    unsigned *slot_jobs; /* of each place: which exercise */
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

/* One that died has left its rows, but not why. */
static bool item_done(void *user, unsigned slot, bool ok, const char *data, size_t size,
                      struct err *e) {
    struct job_queue *t = user;
    struct gpu_report *r = t->report;
    unsigned i = t->slot_jobs[slot];
    struct err ignored = {0};
    (void)data, (void)size, (void)e;
    status_show((void *)r->list[i]->name, "done");
    if (!ok) {
        json_t *part = gpu_part_read(r, r->list[i]);
        gpu_part_add_failure(part, book_id(r->list[i]), "its process died");
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
    if (!parallel_run(jobs, &(struct parallel_ops){next_item, run_item, item_done, &t}, &e))
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

static const double report_seconds =
    450; /* of the eight minutes: the rest is opening, and what is under way at the end */

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

/* Inputs that nobody has to keep secret: the same at each run, which can go on with what another
 * began. */
static const char *const report_seed = "gpu report";

static bool open_report(struct gpu_report *r, const struct options *o, struct err *e) {
    struct options exercise_options = *o;
    char parts_folder[PATH_MAX];
    exercise_options.operands++,
        exercise_options.noperands--; /* the folder; exercises follow it, or all are meant */
    *r = (struct gpu_report){
        .o = o, .options = options_to_grade_options(o, o->devices[0]), .folder = o->operands[0]};
    r->options.seed = report_seed, r->options.workers = 1;
    if (!(r->list = cli_select_exercises(&exercise_options, e))) return false;
    while (r->list[r->n]) r->n++;
    make_key(r);
    r->header = json_pack("{s:s,s:i,s:i}", "name", r->options.device->full_name, "sms",
                          (int)r->options.device->sms, "driver", gpu_device_driver_version());
    return dir_create(r->folder, e) &&
           path_join(parts_folder, sizeof parts_folder, r->folder, "parts") &&
           dir_create(parts_folder, e) &&
           gpu_report_write(
               r, false, e); /* a folder that cannot be written shows now, not in eight minutes */
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

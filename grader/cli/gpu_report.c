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

static const uint64_t of_a_job =
    8ull << 30; /* bytes of GPU memory: two pools and contexts (gpu_device.c) */

bool gpu_report_late(const struct report *r) { return server_now() > r->end; }

/* ---- the jobs ---- */

/* An exercise each, as their turns come. */
struct turns {
    struct report *r;
    unsigned begun;
    unsigned *at; /* of each place: which exercise */
};

static enum parallel_answer next(void *user, unsigned slot, struct err *e) {
    struct turns *t = user;
    (void)e;
    if (t->begun == t->r->n) return PARALLEL_END;
    t->at[slot] = t->begun++;
    return PARALLEL_ITEM;
}

static void work(void *user, unsigned slot, struct buf *out) {
    const struct turns *t = user;
    (void)out;
    gpu_job(t->r, t->r->list[t->at[slot]]);
}

/* One that died has left its rows, but not why. */
static bool done(void *user, unsigned slot, bool ok, const char *data, size_t size, struct err *e) {
    struct turns *t = user;
    struct report *r = t->r;
    unsigned i = t->at[slot];
    struct err ignored = {0};
    (void)data, (void)size, (void)e;
    progress_show((void *)r->list[i]->name, "done");
    if (!ok) {
        json_t *part = gpu_part_read(r, r->list[i]);
        gpu_part_cannot(part, book_id(r->list[i]), "its process died");
        gpu_part_write(r, r->list[i], part, &ignored);
        json_decref(part);
    }
    gpu_report_write(r, false, &ignored);
    return true;
}

void gpu_report_jobs(struct report *r) {
    struct err e = {0};
    unsigned jobs = parallel_jobs(r->o->jobs),
             room = (unsigned)(r->go.device->dram_bytes / of_a_job);
    if (jobs > room) jobs = room ? room : 1;
    struct turns t = {.r = r, .at = xcalloc(jobs, sizeof *t.at)};
    if (!parallel_run(jobs, &(struct parallel){next, work, done, &t}, &e)) cli_complain(&e);
    free(t.at);
}

static void ceilings(struct report *r) {
    struct roofline c;
    struct err e = {0};
    progress_show("roofline", "measuring");
    if (!speed_gpu_ceiling(&r->go, &c, &e)) {
        json_object_set_new(r->head, "roofline_missing", json_string(e.text));
        return;
    }
    json_object_set_new(r->head, "roofline",
                        json_pack("{s:f,s:f}", "bytes_per_second", c.bytes_per_second,
                                  "flops_per_second", c.flops_per_second));
}

/* ---- the command ---- */

static const double report_seconds =
    450; /* of the eight minutes: the rest is opening, and what is under way at the end */

static void run_stages(struct report *r) {
    r->end = server_now() + report_seconds;
    ceilings(r);
    gpu_report_jobs(r);
}

static void make_key(struct report *r) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "gpu report 1");
    cache_add_grader(&h);
    hash_update_string(&h, r->go.device->full_name);
    hash_update_string(&h, r->go.seed);
    hash_final_hex(&h, r->key);
}

/* Inputs that nobody has to keep secret: the same at each run, which can go on with what another
 * began. */
static const char *const seed = "gpu report";

static bool open_report(struct report *r, const struct options *o, struct err *e) {
    struct options all = *o;
    char parts[PATH_MAX];
    all.names++, all.nnames--; /* the folder; exercises follow it, or all are meant */
    *r = (struct report){.o = o, .go = options_grade(o, o->devices[0]), .folder = o->names[0]};
    r->go.seed = seed, r->go.workers = 1;
    if (!(r->list = cli_chosen(&all, e))) return false;
    while (r->list[r->n]) r->n++;
    make_key(r);
    r->head = json_pack("{s:s,s:i,s:i}", "name", r->go.device->full_name, "sms",
                        (int)r->go.device->sms, "driver", gpu_device_driver_version());
    return dir_create(r->folder, e) && path_join(parts, sizeof parts, r->folder, "parts") &&
           dir_create(parts, e) &&
           gpu_report_write(
               r, false, e); /* a folder that cannot be written shows now, not in eight minutes */
}

int cmd_gpu_report(const struct options *o) {
    struct err e = {0};
    struct report r = {0};
    if (!o->nnames || !gpu_options_of(o->devices[0])) {
        err_set(&e, ERR_INPUT, "usage: grader gpu-report FOLDER [EXERCISE…] --device gpu");
        return cli_complain(&e);
    }
    bool ok = open_report(&r, o, &e);
    if (ok) run_stages(&r);
    progress_clear();
    ok = ok && gpu_report_write(&r, true, &e);
    json_decref(r.head);
    free(r.list);
    return ok ? EXIT_PASSED : cli_complain(&e);
}

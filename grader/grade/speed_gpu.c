/* speed_gpu.c — speed on a real GPU. Checks the submission there, measures its time against the
 * model solution's in pairs (measure.h), and relates it to what the device can do (roofline.h). */
#include "grader/book/book.h"
#include "common/file.h"
#include "grader/grade/device_process.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/grading_ctx.h"
#include "grader/grade/measure.h"
#include "grader/grade/score.h"
#include "grader/server/roofline.h"
#include "grader/server/driver.h"
#include "grader/grade/speed_gpu.h"

#include <stdio.h>
#include <string.h>

static const double pair_seconds = 6, baseline_seconds = 2;
/* Index of the timed case for its random numbers, which are the same for both of a pair. */
enum { TIMED_INDEX = 1000 };

/* ---- two sessions in parallel ---- */

static double run_one(void *user, unsigned index, unsigned round) {
    struct session **pair = user;
    return session_time_round(pair[index], TIMED_INDEX, round);
}

static struct session *open_session(const struct exercise *ex, const struct build *b,
                                    const struct grade_options *o, bool same_inputs,
                                    struct err *e) {
    struct session_options so = {.device = o->device,
                                 .seed = o->seed,
                                 .gpu = gpu_options_of(o->device),
                                 .same_inputs = same_inputs,
                                 .gpu_lease_fd = o->gpu_lease_fd};
    return session_open(ex, b, &so, e);
}

static bool prepare_session(struct session *s, const struct exercise *ex, struct err *e) {
    struct case_run run;
    enum verdict v = session_prepare(s, &ex->timed_case, TIMED_INDEX, &run);
    if (v != V_AC) err_set(e, ERR_SYSTEM, "%.400s", buf_str(&run.message));
    session_case_free(&run);
    return v == V_AC;
}

static uint64_t hash_seed(const char *text) {
    uint64_t h = 14695981039346656037ull;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211ull;
    return h;
}

/* Measures in a fresh process, so that no submission can influence it. */
bool speed_gpu_ceiling(const struct grade_options *o, struct roofline *out, struct err *e) {
    struct device_process_options po = {
        .device = o->device, .gpu = gpu_options_of(o->device), .no_client = true};
    struct device_process *d = device_process_start(&po, e);
    struct control_request q = {.op = CONTROL_OPEN, .time_limit_seconds = 60};
    struct control_reply p = {0};
    if (!d) return false;
    q.u.open =
        (struct control_open){.device = "gpu", .is_gpu = 1, .pool_bytes = po.gpu->pool_bytes};
    bool ok = device_process_call(d, &q, -1, -1, &p) == DEVICE_REPLIED;
    q = (struct control_request){.op = CONTROL_ROOFLINE, .time_limit_seconds = 60};
    ok = ok && device_process_call(d, &q, -1, -1, &p) == DEVICE_REPLIED;
    *out = (struct roofline){p.bytes_per_second, p.flops_per_second};
    if (!ok)
        err_set(e, ERR_SYSTEM, "the roofline could not be measured: %s",
                device_process_exit_reason(d));
    device_process_close(d);
    return ok;
}

struct session *speed_gpu_open(const struct exercise *ex, const struct build *b,
                               const struct grade_options *o, bool same_inputs, struct err *e) {
    struct session *s = open_session(ex, b, o, same_inputs, e);
    if (s && prepare_session(s, ex, e)) return s;
    speed_gpu_close(s);
    return NULL;
}

void speed_gpu_close(struct session *s) {
    if (s) session_release(s);
    session_close(s);
}

bool speed_gpu_pairs(struct session *first, struct session *second, const struct grade_options *o,
                     struct measure_options *mo, struct measurement *m, struct err *e) {
    struct session *pair[2] = {first, second};
    mo->boundary = SCORE_FULL_SPEED, mo->seed = hash_seed(o->seed), mo->nvml = nvml_open();
    measure_pairs(run_one, pair, mo, m);
    nvml_close(mo->nvml);
    return m->ok ||
           err_set(e, ERR_SYSTEM, "%s", m->cause[0] ? m->cause : "no pair could be measured");
}

bool speed_gpu_compare(const struct exercise *ex, const struct build *first,
                       const struct build *second, const struct grade_options *o, double seconds,
                       struct measurement *m, struct err *e) {
    struct measure_options mo = {.seconds = seconds};
    struct session *a = speed_gpu_open(ex, first, o, false, e),
                   *b = a ? speed_gpu_open(ex, second, o, false, e) : NULL;
    *m = (struct measurement){0};
    bool ok = a && b && speed_gpu_pairs(a, b, o, &mo, m, e);
    speed_gpu_close(a), speed_gpu_close(b);
    return ok;
}

bool speed_gpu_build(const struct exercise *ex, const char *step, struct build *b, struct err *e) {
    struct buf source = {0};
    char name[128];
    const char *path = book_solution_file(ex, step);
    if (!book_has_solutions())
        return err_set(
            e, ERR_INPUT,
            "this release has no model solution to measure against; use the simulated GPU");
    grade_safe_file_name(ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, e) &&
              build_run_portable(&(struct build_source){name, source.data, source.size, ex->sm_90a},
                                 b, e);
    if (ok && !b->ok) ok = err_set(e, ERR_INTERNAL, "%s does not compile", path);
    buf_free(&source);
    return ok;
}

/* ---- a submission ---- */

/* Runs all cases and the timed size on the GPU, since a fast but wrong version must not count.
 * Returns false if one fails. */
static bool check_on_gpu(struct grading_ctx *g) {
    struct err e = {0};
    struct session *simulated = g->session;
    struct case_plan plan = grade_plan_correctness;
    plan.rounds = 1, plan.sanitize = false, plan.timeout_seconds = 20;
    g->session = open_session(g->ex, &g->build, g->o, false, &e);
    bool ok = g->session;
    for (unsigned i = 0; ok && i < g->ex->ncases; i++)
        ok = check_case(g, &g->ex->cases[i], plan, " (on the GPU)", NULL) == V_AC;
    for (unsigned i = 0; ok && i < g->ndrawn; i++)
        ok = check_case(g, &g->drawn[i].c, plan, " (on the GPU)", NULL) == V_AC;
    if (ok) ok = check_case(g, &g->ex->timed_case, plan, " (timed, on the GPU)", NULL) == V_AC;
    session_close(g->session);
    g->session = simulated;
    return ok;
}

static const char *copy_text(struct grading_ctx *g, const char *s) {
    return arena_strndup(&g->r->arena, s, strlen(s));
}

/* Returns the tensor cores' share of the problem's operations, counted at the technique size. */
static double tensor_share(const struct grading_ctx *g) {
    double flops = g->ex->flops ? g->ex->flops(&g->ex->technique_case) : 0;
    return flops > 0 ? (double)g->launch_stats.counters.flops_matrix / flops : 0;
}

/* Returns the minimum seconds: FP32 operations at the measured rate, tensor cores, which no kernel
 * measures, at the device's nominal rate. */
static double measured_compute_seconds(const struct gpu_device *d, const struct speed_result *s,
                                       const struct roofline *c) {
    double tensor_flops = s->tensor_flops < s->flops ? s->tensor_flops : s->flops;
    double fp32_seconds =
        c->flops_per_second > 0 ? (s->flops - tensor_flops) / c->flops_per_second : 0;
    return fp32_seconds + grade_compute_seconds(d, tensor_flops, tensor_flops);
}

static void fill_speed(struct grading_ctx *g, const struct measurement *m,
                       const struct roofline *c) {
    struct speed_result *s = &g->r->speed;
    const struct ex_case *timed = &g->ex->timed_case;
    struct buf text = {0};
    problem_append_size(g->ex, timed, &text);
    s->size = copy_text(g, buf_str(&text));
    s->valid = s->output_fully_checked = true; /* by check_on_gpu() */
    s->kind = "measured";
    s->solution_us = m->first * 1e6, s->student_us = m->second * 1e6;
    s->vs_solution = m->ratio, s->ci_low = m->low, s->ci_high = m->high;
    s->low_us = s->high_us = s->student_us;
    s->bus_rate = grade_crosses_host_bus(g->ex) ? g->o->device->bus_bidirectional_rate : 0;
    double transfer_seconds = s->bus_rate > 0 ? g->ex->bytes(timed) / s->bus_rate
                              : g->ex->bytes && c->bytes_per_second > 0
                                  ? g->ex->bytes(timed) / c->bytes_per_second
                                  : 0;
    s->bytes = g->ex->bytes ? g->ex->bytes(timed) : 0,
    s->flops = g->ex->flops ? g->ex->flops(timed) : 0;
    struct sim_counters timed_counters = g->launch_stats.counters;
    timed_counters.flops_matrix = (uint64_t)(tensor_share(g) * s->flops);
    s->tensor_flops = grade_tensor_flops(g->ex, s->flops, (double)timed_counters.flops_matrix);
    double compute_seconds = measured_compute_seconds(g->o->device, s, c);
    s->roofline_fraction =
        (transfer_seconds > compute_seconds ? transfer_seconds : compute_seconds) / m->second;
    sanity_check_time(g, &timed_counters, m->second);
    s->bound_by = "";
    buf_clear(&text);
    buf_printf(&text, "%u pairs, %u dropped%s%s; copy kernel %.0f GB/s, FMA kernel %.1f TFLOP/s",
               m->pairs, m->dropped, m->dropped ? ": " : "", m->dropped ? m->cause : "",
               c->bytes_per_second * 1e-9, c->flops_per_second * 1e-12);
    if (m->is_inconclusive)
        buf_printf(&text,
                   "; speed points are full from %.2f on, inside the interval: too noisy to decide",
                   SCORE_FULL_SPEED);
    s->note = copy_text(g, buf_str(&text));
    buf_free(&text);
}

static void measure_baseline(struct grading_ctx *g) {
    struct build baseline = {0};
    struct measurement m;
    struct err e = {0};
    if (!g->ex->baseline) return;
    if (speed_gpu_build(g->ex, g->ex->baseline, &baseline, &e) &&
        speed_gpu_compare(g->ex, &baseline, &g->build, g->o, baseline_seconds, &m, &e))
        g->r->speed.vs_baseline = m.ratio, g->r->speed.baseline_us = m.first * 1e6;
    if (g->r->speed.vs_baseline > 0)
        g->r->speed.solution_speedup = g->r->speed.vs_baseline / g->r->speed.vs_solution;
    build_free(&baseline);
}

bool speed_gpu_run(struct grading_ctx *g) {
    struct build solution = {0};
    struct measurement m;
    struct roofline ceiling;
    struct err e = {0};
    if (g->o->progress) g->o->progress(g->o->user, "measuring");
    if (!check_on_gpu(g)) return false;
    if (g->o->check_only) return true;
    bool ok = speed_gpu_build(g->ex, NULL, &solution, &e) &&
              speed_gpu_compare(g->ex, &solution, &g->build, g->o, pair_seconds, &m, &e) &&
              speed_gpu_ceiling(g->o, &ceiling, &e);
    if (ok) fill_speed(g, &m, &ceiling), measure_baseline(g);
    else g->r->speed.note = copy_text(g, e.text);
    g->unstable = ok && m.is_inconclusive;
    build_free(&solution);
    return true;
}

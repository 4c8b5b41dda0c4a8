/* gpu_sections.c — the parts of `grader gpu-report`: correctness, times, the vendor's libraries, counters.
 * Every part stops when its time is over, says how much of it is missing, and leaves the rest to others. */
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/cli/gpu_counters.h"
#include "grader/grade/gpu_device.h"
#include "grader/cli/gpu_report.h"
#include "grader/server/server.h"
#include "grader/grade/speed_gpu.h"
#include "grader/cli/vendor.h"

#include <stdio.h>
#include <string.h>

static const double most_seconds = 6; /* of one measurement */

static double share(const struct report *r) {
    double left = r->end - server_now(), part = left / (r->steps_left ? r->steps_left : 1);
    return part > most_seconds ? most_seconds : part;
}

/* True, and said, if `missing` of a part's rows have to be left out. */
static bool out_of_time(struct report *r, const char *what, unsigned missing) {
    char text[128];
    if (!missing || !gpu_report_late(r)) return false;
    snprintf(text, sizeof text, "%s of %u", what, missing);
    gpu_report_cannot(r, text, "this part's share of the eight minutes was used up");
    return true;
}

static unsigned count(const struct exercise **list) {
    unsigned n = 0;
    while (list[n]) n++;
    return n;
}

static void note_compiler(struct report *r, const struct session *s) {
    const char *by = s ? session_compiled_by(s) : "";
    if (by[0]) snprintf(r->compiled_by, sizeof r->compiled_by, "compiled by %s", by);
}

/* ---- correctness ---- */

static void correct(struct report *r, const struct exercise *ex, const struct build *b) {
    struct err e = {0};
    struct session_options so = {.device = r->go.device, .seed = r->go.seed, .gpu = gpu_options_of(r->go.device)};
    struct session *s = session_open(ex, b, &so, &e);
    struct case_plan plan = {.rounds = 1, .seconds = 20};
    unsigned passed = 0;
    char why[300] = "";
    for (unsigned i = 0; s && i < ex->ncases; i++) {
        struct case_run run;
        plan.index = i;
        session_case(s, &ex->cases[i], &plan, &run);
        if (run.verdict == V_AC) passed++;
        else if (!why[0]) snprintf(why, sizeof why, "%s: %.250s", verdict_code(run.verdict), buf_str(&run.message));
        session_case_free(&run);
    }
    note_compiler(r, s);
    session_close(s);
    for (char *p = why; *p; p++)
        if (*p == '\n' || *p == '|') *p = ' ';
    buf_printf(&r->text, "| %s | %u of %u | %s |\n", book_id(ex), passed, ex->ncases, why);
    json_array_append_new(json_object_get(r->json, "correctness"),
                          json_pack("{s:s,s:i,s:i,s:s}", "exercise", book_id(ex), "passed", (int)passed, "cases",
                                    (int)ex->ncases, "first_failure", why));
}

static void correctness(struct report *r) {
    unsigned n = count(r->list);
    for (unsigned i = 0; i < n && !out_of_time(r, "correctness", n - i); i++) {
        struct build b = {0};
        struct err e = {0};
        progress_show((void *)r->list[i]->name, "correctness");
        if (speed_gpu_build(r->list[i], NULL, &b, &e)) correct(r, r->list[i], &b);
        else gpu_report_cannot(r, book_id(r->list[i]), e.text);
        build_free(&b);
        gpu_report_save(r);
    }
}

/* ---- times ---- */

/* What the model says of the same file on this device. */
static double modelled(const struct report *r, const struct exercise *ex, const struct build *b, double *low,
                       double *high) {
    struct err e = {0};
    struct ptxas registers = {0};
    ptxas_finish(ptxas_start(b, r->go.device->cc_major * 10 + r->go.device->cc_minor), &registers);
    struct session_options so = {
        .device = r->go.device, .seed = r->go.seed, .workers = r->go.workers, .registers = &registers};
    struct session *s = session_open(ex, b, &so, &e);
    struct case_run run = {0};
    double seconds = 0;
    if (s) session_case(s, &ex->timed, &grade_plan_timed, &run);
    if (s && run.verdict == V_AC) seconds = run.tally.seconds, *low = run.tally.low, *high = run.tally.high;
    session_case_free(&run);
    session_close(s);
    ptxas_free(&registers);
    return seconds;
}

static void write_time(struct report *r, const struct exercise *ex, const char *step, const struct measurement *m,
                       double model, double low, double high) {
    buf_printf(&r->text, "| %s | %s | %.2f | %.3f (%.3f–%.3f) | %u, %u | %.2f (%.2f–%.2f) | %+.0f %% |\n", book_id(ex),
               step ? step : "model answer", m->second * 1e6, m->ratio, m->low, m->high, m->pairs, m->dropped,
               model * 1e6, low * 1e6, high * 1e6, model > 0 ? 100 * (model / m->second - 1) : 0);
    json_array_append_new(json_object_get(r->json, "times"),
                          json_pack("{s:s,s:s,s:f,s:f,s:[f,f],s:i,s:i,s:f,s:[f,f]}", "exercise", book_id(ex), "step",
                                    step ? step : "", "measured_us", m->second * 1e6, "vs_solution", m->ratio, "ci95",
                                    m->low, m->high, "pairs", (int)m->pairs, "dropped", (int)m->dropped, "modelled_us",
                                    model * 1e6, "modelled_interval_us", low * 1e6, high * 1e6));
}

static void one_step(struct report *r, unsigned index, const struct build *answer, const char *step) {
    const struct exercise *ex = r->list[index];
    struct build b = {0};
    struct measurement m = {0};
    struct roofline c = {0};
    struct err e = {0};
    double low = 0, high = 0;
    progress_show((void *)ex->name, step ? step : "model answer");
    bool ok = speed_gpu_build(ex, step, &b, &e) &&
              speed_gpu_compare(ex, answer, &b, &r->go, share(r), &m, r->ceilings ? NULL : &c, &e);
    if (r->steps_left) r->steps_left--;
    char what[256];
    snprintf(what, sizeof what, "time of %s, %s", book_id(ex), step ? step : "model answer");
    if (!ok) gpu_report_cannot(r, what, e.text);
    double model = ok ? modelled(r, ex, &b, &low, &high) : 0;
    if (ok) write_time(r, ex, step, &m, model, low, high);
    if (ok && !step) r->answer[index] = m.second;
    if (ok && !r->ceilings)
        json_object_set_new(
            r->json, "roofline",
            json_pack("{s:f,s:f}", "bytes_per_second", c.bytes_per_second, "flops_per_second", c.flops_per_second));
    r->ceilings |= ok;
    build_free(&b);
}

static void ladder(struct report *r, unsigned index) {
    const struct exercise *ex = r->list[index];
    struct build answer = {0};
    struct err e = {0};
    if (!speed_gpu_build(ex, NULL, &answer, &e)) {
        gpu_report_cannot(r, book_id(ex), e.text);
        return;
    }
    char **steps = book_steps(ex);
    one_step(r, index, &answer, NULL);
    for (unsigned i = 0; steps && steps[i] && !gpu_report_late(r); i++) one_step(r, index, &answer, steps[i]);
    book_free_list(steps);
    build_free(&answer);
}

static unsigned count_steps(const struct report *r) {
    unsigned n = 0;
    for (unsigned i = 0; r->list[i]; i++, n++) {
        char **steps = book_steps(r->list[i]);
        for (unsigned k = 0; steps && steps[k]; k++) n++;
        book_free_list(steps);
    }
    return n;
}

static void times(struct report *r) {
    r->steps_left = count_steps(r);
    for (unsigned i = 0; r->list[i] && !gpu_report_late(r); i++) {
        ladder(r, i);
        gpu_report_save(r);
    }
    out_of_time(r, "times", r->steps_left);
}

/* ---- the vendor's libraries ---- */

static void write_library(struct report *r, const struct exercise *ex, const char *routine, double seconds,
                          double answer) {
    char ratio[32] = "";
    if (answer > 0) snprintf(ratio, sizeof ratio, "%.3f", seconds / answer);
    buf_printf(&r->text, "| %s | %s | %.2f | %s |\n", book_id(ex), routine, seconds * 1e6, ratio);
    json_array_append_new(json_object_get(r->json, "vendor"),
                          json_pack("{s:s,s:s,s:f,s:f}", "exercise", book_id(ex), "routine", routine, "us",
                                    seconds * 1e6, "answer_vs_routine", answer > 0 ? seconds / answer : 0));
}

static void by_cublas(struct report *r, unsigned index, struct backend *b) {
    const char *routine;
    struct err e = {0};
    double seconds = vendor_time(b, r->list[index], &routine, &e);
    if (seconds > 0) write_library(r, r->list[index], routine, seconds, r->answer[index]);
    else if (e.kind != ERR_INPUT) gpu_report_cannot(r, book_id(r->list[index]), e.text);
}

/* CUB does the job behind the same entry, so that it is one more version of the exercise. */
static void by_cub(struct report *r, unsigned index, const char *path) {
    const struct exercise *ex = r->list[index];
    struct build answer = {0}, cub = {0};
    struct measurement m;
    struct err e = {0};
    progress_show((void *)ex->name, "CUB");
    bool ok = speed_gpu_build(ex, NULL, &answer, &e) && vendor_build(ex, path, &cub, &e) &&
              speed_gpu_compare(ex, &answer, &cub, &r->go, share(r), &m, NULL, &e);
    if (ok) write_library(r, ex, "CUB", m.second, m.first);
    else gpu_report_cannot(r, book_id(ex), e.text);
    build_free(&answer), build_free(&cub);
}

static void libraries(struct report *r) {
    struct err e = {0};
    char path[VENDOR_PATH];
    r->steps_left = 0;
    for (unsigned i = 0; r->list[i]; i++) r->steps_left += vendor_file(r->list[i], path);
    for (unsigned i = 0; r->list[i] && !out_of_time(r, "comparisons with CUB", r->steps_left); i++) {
        if (!vendor_file(r->list[i], path)) continue;
        by_cub(r, i, path);
        r->steps_left--;
        gpu_report_save(r);
    }
    struct backend *b = backend_gpu_open(gpu_options_of(r->go.device), &e);
    if (!b) gpu_report_cannot(r, "cuBLAS", e.text);
    for (unsigned i = 0; b && r->list[i] && !gpu_report_late(r); i++) by_cublas(r, i, b);
    if (b) b->ops->close(b);
}

/* ---- counters ---- */

static void counters(struct report *r) {
    struct err e = {0};
    unsigned n = count(r->list);
    for (unsigned i = 0; i < n && !out_of_time(r, "counters", n - i); i++) {
        progress_show((void *)r->list[i]->name, "counters");
        if (!gpu_counters(r->list[i], &r->go, &r->text, json_object_get(r->json, "counters"), &e)) {
            gpu_report_cannot(r, "counters against Nsight Compute's", e.text);
            return;
        }
        gpu_report_save(r);
    }
}

const struct report_part *gpu_report_parts(unsigned *n) {
    /* Counters come early, since where ncu does not work the times have theirs; libraries want the answers' times. */
    static const struct report_part parts[] = {
        {"Correctness of the model answers", "| exercise | cases that pass | first failure |\n|---|---|---|\n", 70,
         correctness},
        {"Simulated counters against Nsight Compute's",
         "| exercise | counter | simulated | ncu | ratio |\n|---|---|---|---|---|\n", 80, counters},
        {"Times",
         "Ratio: the model answer's time over the step's, median of pairs, 95 % bootstrap interval.\n\n"
         "| exercise | step | measured, us | ratio | pairs, dropped | modelled, us | error "
         "|\n|---|---|---|---|---|---|---|\n",
         220, times},
        {"The vendor's libraries",
         "| exercise | routine | us | its time over the model answer's |\n|---|---|---|---|\n", 50, libraries},
    };
    *n = sizeof parts / sizeof *parts;
    return parts;
}

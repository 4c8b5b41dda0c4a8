/* speed.c — compares the student's modelled time with those of the model solution and the baseline,
 * at the timed size. A submission whose speed counts runs there with all its blocks and is checked,
 * and so does the model solution: a sample's time depends on which blocks it has (nbody: 12 % up or
 * down). Of the baseline, and of the book's files in `verify`, large launches run as a sample of
 * their blocks, with scaled counters. If even that takes too long (or a later launch needs the full
 * output of an earlier one), all three times are taken at the technique size, and the report says
 * so. Times of the book's files are cached by everything that they depend on. */
#include "grader/grade/grading_ctx.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/grade/baseline_data.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/provenance.h"
#include "grader/grade/speed_gpu.h"
#include "grader/grade/compiler_jail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Modelled seconds of a file at the timed and the technique size; 0 = too long to simulate, or
 * wrong. */
struct model_times {
    double timed, counted;
};

/* Returns modelled seconds; 0 if nothing was launched, -1 if the case failed. Moves the statistics
 * to `stats_out` if that is not NULL. Sets `host_too_slow` if wall-clock time ran out: such a
 * result must not be cached. */
static double time_case(struct session *s, const struct ex_case *c, struct case_plan plan,
                        struct launch_stats *stats_out, bool *host_too_slow) {
    struct case_run run;
    session_case(s, c, &plan, &run);
    double seconds = run.verdict == V_AC ? run.launch_stats.seconds : -1;
    *host_too_slow = *host_too_slow || run.host_too_slow;
    if (stats_out && seconds > 0) {
        *stats_out = run.launch_stats;
        run.launch_stats = (struct launch_stats){0};
    }
    session_case_free(&run);
    return seconds;
}

static bool model_file_times(struct grading_ctx *g, const struct build *b, bool is_solution,
                             struct model_times *t, bool *host_too_slow) {
    struct err e = {0};
    struct ptxas ptxas_result = {0};
    ptxas_finish(ptxas_start(b, g->o->device->cc_major * 10 + g->o->device->cc_minor),
                 &ptxas_result);
    struct session_options so = {.device = g->o->device,
                                 .seed = "reference times",
                                 .workers = g->o->workers,
                                 .ptxas_result = &ptxas_result};
    struct session *s = session_open(g->ex, b, &so, &e);
    if (s) {
        t->counted =
            time_case(s, &g->ex->technique_case, grade_plan_technique, NULL, host_too_slow);
        t->timed = time_case(s, &g->ex->timed_case,
                             is_solution ? grade_plan_full_grid : *grade_reference_plan(g->ex),
                             NULL, host_too_slow);
    }
    session_close(s);
    ptxas_free(&ptxas_result);
    return t->counted > 0;
}

static void time_key(const struct grading_ctx *g, const struct build *b, bool is_solution,
                     char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, is_solution ? "times 3: full grid" : "times 3: sample");
    hash_update_string(&h, build_disassembler(NULL) ? "machine code" : "PTX");
    cache_add_grader(&h);
    hash_update_string(&h, book_id(g->ex));
    hash_update_string(&h, g->o->device->name);
    hash_update_string(&h, b->key);
    hash_final_hex(&h, key);
}

/* Sets the times of a build of the book's, from the cache if possible. */
static bool built_times(struct grading_ctx *g, const struct build *b, bool is_solution,
                        struct model_times *t) {
    char key[HASH_HEX_SIZE];
    struct buf entry = {0};
    time_key(g, b, is_solution, key);
    bool host_too_slow = false;
    bool ok = b->ok && cache_get("times", key, &entry) &&
              sscanf(entry.data, "%la %la", &t->timed, &t->counted) == 2;
    if (b->ok && !ok && (ok = model_file_times(g, b, is_solution, t, &host_too_slow)) &&
        !host_too_slow) {
        buf_printf(&entry, "%a %a", t->timed, t->counted);
        cache_put("times", key, entry.data, entry.size);
    }
    buf_free(&entry);
    return ok;
}

/* Sets the recorded times of a version (baseline_data.h). `source` is NULL if this release leaves
 * it out. */
static bool recorded_times(const struct grading_ctx *g, const char *version,
                           const struct buf *source, struct model_times *t) {
    struct err e = {0};
    char key[BASELINE_KEY_SIZE];
    double times[2];
    if (source && (g->o->ignore_baseline_data || !baseline_data_is_current())) return false;
    if (source) baseline_data_key(g->ex, buf_str(source), source->size, key);
    if (!baseline_data_exists() || !baseline_data_times(book_id(g->ex), g->o->device->name, version,
                                                        source ? key : NULL, times, &e))
        return false;
    *t = (struct model_times){.timed = times[0], .counted = times[1]};
    return true;
}

/* Sets the times of a file of the book: the recorded ones, or those of a run. */
static bool reference_times(struct grading_ctx *g, const char *version, const char *name,
                            const struct buf *source, struct model_times *t) {
    struct build b;
    struct err e = {0};
    if (recorded_times(g, version, source, t)) return true;
    if (!build_run(&(struct build_source){name, source->data, source->size, g->ex->sm_90a}, &b, &e))
        return false;
    bool ok = built_times(g, &b, !strcmp(version, "solution"), t);
    build_free(&b);
    return ok;
}

static bool solution_times(struct grading_ctx *g, struct model_times *t) {
    struct buf source = {0};
    struct err e = {0};
    char name[128];
    if (!book_has_solutions()) return recorded_times(g, "solution", NULL, t);
    const char *path = book_solution_file(g->ex, NULL);
    grade_safe_file_name(g->ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, &e) &&
              reference_times(g, "solution", name, &source, t);
    buf_free(&source);
    return ok;
}

static bool baseline_times(struct grading_ctx *g, struct model_times *t) {
    struct buf source = {0};
    struct err e = {0};
    char name[128];
    bool found = baseline_source(g->ex, name, sizeof name, &source, &e);
    bool ok =
        found ? reference_times(g, "naive", name, &source, t) : recorded_times(g, "naive", NULL, t);
    buf_free(&source);
    return ok;
}

bool speed_reference_times(const struct exercise *ex, const struct grade_options *go,
                           bool use_baseline, double times[2]) {
    struct grading_ctx g = {.ex = ex, .o = go};
    struct model_times t = {0};
    bool ok = use_baseline ? baseline_times(&g, &t) : solution_times(&g, &t);
    times[0] = t.timed, times[1] = t.counted;
    return ok;
}

bool speed_reference_key(const struct exercise *ex, bool use_baseline, char key[BASELINE_KEY_SIZE],
                         struct err *e) {
    struct buf source = {0};
    char name[128];
    bool ok = use_baseline ? baseline_source(ex, name, sizeof name, &source, e)
                           : file_read(book_solution_file(ex, NULL), SOURCE_LIMIT, &source, e);
    if (ok) baseline_data_key(ex, buf_str(&source), source.size, key);
    buf_free(&source);
    return ok;
}

/* Returns the minimum seconds for the bytes and operations that the problem needs. No version can
 * beat it: L2 is cold and full of other data, so that every write evicts as much. */
static double roofline_seconds(const struct grading_ctx *g, const struct ex_case *c,
                               const struct sim_counters *n) {
    const struct gpu_device *d = g->o->device;
    double ndevices = g->ex->devices ? g->ex->devices : 1;
    double transfer_seconds =
        g->ex->bytes ? g->ex->bytes(c) / (grade_crosses_host_bus(g->ex) ? d->bus_bidirectional_rate
                                                                        : ndevices * d->dram_rate)
                     : 0;
    double flops = g->ex->flops ? g->ex->flops(c) : 0;
    double compute_seconds =
        grade_compute_seconds(d, flops, grade_tensor_flops(g->ex, flops, (double)n->flops_matrix));
    return transfer_seconds > compute_seconds ? transfer_seconds : compute_seconds;
}

/* `missing_machine_code`: times should come from machine code, but a launch had none. */
static const char *timing_note(bool timed, bool missing_machine_code) {
    static const char *const notes[2][2] = {
        {"at the technique size, because the simulator takes too long at the timed size",
         "at the technique size, because the simulator takes too long at the timed size; modelled "
         "from PTX, without machine code"},
        {"", "modelled from PTX, without machine code; see docs/time-model.md"}};
    return notes[timed][missing_machine_code];
}

/* Notes that the recorded times are of code from another compiler. */
static void note_other_nvcc(struct grading_ctx *g) {
    struct buf text = {0};
    buf_printf(&text,
               "%s%sthe times of model solution and baseline were recorded with nvcc %s; this "
               "machine has %s",
               g->r->speed.note, g->r->speed.note[0] ? "; " : "", baseline_data_nvcc_version(),
               grade_nvcc_version());
    g->r->speed.note = arena_strndup(&g->r->arena, buf_str(&text), text.size);
    buf_free(&text);
}

static void fill_speed(struct grading_ctx *g, const struct launch_stats *stats,
                       const struct model_times *solution, const struct model_times *baseline,
                       bool timed) {
    struct speed_result *s = &g->r->speed;
    const struct ex_case *c = timed ? &g->ex->timed_case : &g->ex->technique_case;
    double solution_seconds = timed ? solution->timed : solution->counted,
           baseline_seconds = timed ? baseline->timed : baseline->counted;
    struct buf size = {0};
    problem_append_size(g->ex, c, &size);
    s->valid = solution_seconds > 0 && stats->seconds > 0 && !stats->blocks_depend;
    s->kind = "modelled", s->is_timed_size = timed;
    s->student_us = stats->seconds * 1e6, s->solution_us = solution_seconds * 1e6,
    s->baseline_us = baseline_seconds * 1e6;
    s->low_us = stats->low * 1e6, s->high_us = stats->high * 1e6;
    s->vs_solution = solution_seconds / stats->seconds,
    s->vs_baseline = baseline_seconds / stats->seconds;
    s->solution_speedup = baseline_seconds > 0 ? baseline_seconds / solution_seconds : 0;
    s->roofline_fraction = roofline_seconds(g, c, &stats->counters) / stats->seconds;
    s->bytes = g->ex->bytes ? g->ex->bytes(c) : 0, s->flops = g->ex->flops ? g->ex->flops(c) : 0;
    s->bus_rate = grade_crosses_host_bus(g->ex) ? g->o->device->bus_bidirectional_rate : 0;
    s->tensor_flops = grade_tensor_flops(g->ex, s->flops, (double)stats->counters.flops_matrix);
    if (stats->blocks_depend) {
        s->disqualified = true;
        s->note = "not modelled, because blocks wait for each other or one runs for very long";
    } else if (s->valid && g->implausible_reason[0]) {
        s->valid = false;
        s->note = "faster than the device can be; does the entry do all of its work at this size?";
    } else if (g->o->empty_caches)
        s->note = "modelled with empty caches; the times of model solution and baseline are with "
                  "caches that a flush filled";
    else s->note = timing_note(timed, stats->from_ptx && build_disassembler(NULL));
    if (s->valid && !book_has_solutions() &&
        strcmp(baseline_data_nvcc_version(), grade_nvcc_version()) != 0)
        note_other_nvcc(g);
    s->bound_by = "";
    s->size = arena_strndup(&g->r->arena, buf_str(&size), size.size);
    buf_free(&size);
    if (s->valid) result_fill_times(g->r, stats);
}

/* Returns the work of the timed size as a multiple of the technique size's: bytes or operations,
 * whichever grows more; 0 = unknown. */
static double work_ratio(const struct exercise *ex) {
    double ratio = 0;
    double (*const work[])(const struct ex_case *) = {ex->bytes, ex->flops};
    for (unsigned i = 0; i < 2; i++)
        if (work[i] && work[i](&ex->technique_case) > 0)
            ratio = fmax(ratio, work[i](&ex->timed_case) / work[i](&ex->technique_case));
    return ratio;
}

/* Returns true, with a note, if the timed size would take more instructions than any budget allows,
 * as those at the technique size show. Running it up to the budget would take a minute. */
static bool exceeds_any_budget(struct grading_ctx *g) {
    enum { MARGIN_PERCENT = 110 };
    double estimate = (double)g->launch_stats.counters.inst_executed * work_ratio(g->ex);
    if (estimate * 100 <= (double)MAX_INSTRUCTIONS * MARGIN_PERCENT) return false;
    struct buf text = {0};
    buf_printf(&text,
               "the timed size takes too long to be checked: about %.0f million warp instructions, "
               "from those at the technique size; at most %d million",
               estimate / 1e6, MAX_INSTRUCTIONS / 1000000);
    g->r->speed.note = arena_strndup(&g->r->arena, buf_str(&text), text.size);
    g->r->speed.disqualified = true;
    buf_free(&text);
    return true;
}

/* If speed counts, checks every block at the timed size and moves the statistics to `stats_out`. If
 * the simulator can't finish, there is no time and the speed points are lost; otherwise code could
 * gain by being slow at this known size. `other_session` is on the device to time on; NULL = the
 * one that all other cases run on. */
static enum verdict check_timed(struct grading_ctx *g, struct session *other_session,
                                struct launch_stats *stats_out) {
    unsigned old_ncases = g->r->ncases;
    struct session *saved_session = g->session;
    if (other_session) g->session = other_session;
    char suffix[64] = " (timed)";
    if (other_session) snprintf(suffix, sizeof suffix, " (timed, on %s)", g->o->device->name);
    enum verdict v =
        check_case(g, &g->ex->timed_case, grade_known_size_plan(g->ex, &grade_plan_full_grid),
                   suffix, stats_out);
    g->session = saved_session;
    if (v == V_TLE && !g->is_deadlocked) g->r->ncases = old_ncases, g->stopped = false;
    return v;
}

/* The student's file on the device to time on, if it is not the one that checked it. */
struct other_device {
    struct session *session; /* NULL: the same device */
    struct ptxas ptxas_result;
    struct launch_stats counted_stats;
    char reason[256]; /* why it does not run there */
};

static bool open_other_device(struct grading_ctx *g, struct other_device *x) {
    const struct gpu_device *d = g->o->device;
    struct err e = {0};
    *x = (struct other_device){.session = NULL};
    if (d == grade_device()) return true;
    ptxas_finish(ptxas_start(&g->build, d->cc_major * 10 + d->cc_minor), &x->ptxas_result);
    struct session_options so = {.device = d,
                                 .seed = g->o->seed,
                                 .workers = g->o->workers,
                                 .empty_caches = g->o->empty_caches,
                                 .ptxas_result = &x->ptxas_result,
                                 .prefetch = g->prefetch};
    if (!(x->session = session_open(g->ex, &g->build, &so, &e)))
        return snprintf(x->reason, sizeof x->reason, "%.250s", e.text), false;
    struct case_run run;
    session_case(x->session, &g->ex->technique_case, &grade_plan_technique, &run);
    bool ok = run.verdict == V_AC;
    if (ok) {
        x->counted_stats = run.launch_stats, run.launch_stats = (struct launch_stats){0};
        g->r->occupancy = x->counted_stats.occupancy;
        result_fill_kernels(g->r, &x->ptxas_result);
    } else
        snprintf(x->reason, sizeof x->reason, "it does not run on this device: %.200s",
                 buf_str(&run.message));
    session_case_free(&run);
    return ok;
}

static void close_other_device(struct other_device *x) {
    session_close(x->session);
    ptxas_free(&x->ptxas_result);
    launch_stats_free(&x->counted_stats);
}

/* Sets the statistics at the timed size. Moves them from `full_stats` if the full grid ran on this
 * device already; its time agrees with that of a sample, which `grader verify` checks for each
 * model solution (cmd_verify.c). Returns false if the sample can't be run. */
static bool timed_stats(struct grading_ctx *g, const struct other_device *x,
                        struct launch_stats *full_stats, struct launch_stats *stats) {
    if (full_stats->seconds > 0 || full_stats->blocks_depend) {
        *stats = *full_stats, *full_stats = (struct launch_stats){0};
        return true;
    }
    bool host_too_slow = false;
    return time_case(x->session ? x->session : g->session, &g->ex->timed_case,
                     *grade_reference_plan(g->ex), stats, &host_too_slow) >= 0;
}

/* Fills in the speed. `full_stats` is of the full grid at the timed size, if that was checked. */
static void time_on_device(struct grading_ctx *g, const struct other_device *x, bool has_solution,
                           const struct model_times *solution, const struct model_times *baseline,
                           struct launch_stats *full_stats) {
    struct speed_result *s = &g->r->speed;
    struct launch_stats stats = {0};
    /* If the book's own files take too long there, the student's would too. */
    bool can_model = !has_solution || (solution->timed > 0 && baseline->timed > 0),
         ran = can_model && timed_stats(g, x, full_stats, &stats);
    bool timed = stats.seconds > 0;
    if (ran) sanity_check_work(g, &stats);
    if (!has_solution) s->note = "the model solution could not be timed on this device";
    else if (ran && !timed) s->note = "the entry launches nothing at the timed size";
    else
        fill_speed(g,
                   timed        ? &stats
                   : x->session ? &x->counted_stats
                                : &g->launch_stats,
                   solution, baseline, timed);
    launch_stats_free(&stats);
}

/* Code can query the device, so a failure on this one must not pay: it loses the speed points. */
static void set_device_failure(struct grading_ctx *g, const struct other_device *x,
                               bool has_solution) {
    struct speed_result *s = &g->r->speed;
    s->disqualified = has_solution && !g->o->trusted;
    s->note = arena_strndup(&g->r->arena, x->reason, strcspn(x->reason, "\n"));
}

static void set_timed_unchecked(struct grading_ctx *g) {
    g->r->speed.disqualified = true;
    g->r->speed.note = g->host_too_slow ? "this machine was too slow to check the timed size"
                                        : "the timed size takes too long to be checked";
}

bool speed_run(struct grading_ctx *g) {
    if (gpu_options_of(g->o->device)) return speed_gpu_run(g);
    struct model_times solution = {0}, baseline = {0};
    struct launch_stats full_stats = {0};
    struct other_device x;
    if (g->o->progress) g->o->progress(g->o->user, "timing");
    bool check = g->o->count_modelled && !g->o->trusted;
    if (check && exceeds_any_budget(g)) return true;
    bool has_other_device = open_other_device(g, &x);
    /* Check first, because prefetched inputs take as much memory as the timing of the book's files.
     */
    enum verdict v =
        check ? check_timed(g, has_other_device ? x.session : NULL, &full_stats) : V_AC;
    bool has_solution = v == V_AC && solution_times(g, &solution);
    g->r->speed.output_fully_checked = check && v == V_AC;
    if (v == V_TLE && !g->is_deadlocked) set_timed_unchecked(g);
    else if (v == V_AC && !has_other_device) set_device_failure(g, &x, has_solution);
    else if (v == V_AC) {
        if (has_solution) baseline_times(g, &baseline);
        time_on_device(g, &x, has_solution, &solution, &baseline, &full_stats);
    }
    close_other_device(&x);
    launch_stats_free(&full_stats);
    return v == V_AC || (v == V_TLE && !g->is_deadlocked);
}

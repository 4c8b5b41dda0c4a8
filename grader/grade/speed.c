/* speed.c — the student's modelled time beside that of the model answer and of the naive version,
 * at the size that one would time. A submission whose speed counts runs there with all its blocks,
 * and is checked; the book's own files with a sample of large launches' blocks, whose counters are
 * scaled: the time model sees totals only. Where even that takes the simulator too long (or a later
 * launch cannot do with the incomplete outputs of an earlier one), all three are taken at the size
 * that is counted, and the report says so. Times of the book's own files are kept in the cache, by
 * all that they depend on. */
#include "grader/grade/grading.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/grade/cache.h"
#include "grader/grade/figures.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/provenance.h"
#include "grader/grade/speed_gpu.h"
#include "grader/grade/toolbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Modelled seconds of a file at each of the two sizes; 0 = too long to simulate or wrong. */
struct times {
    double timed, counted;
};

/* Seconds, 0 where nothing was launched, -1 where it could not be simulated; and the tally where
 * the caller wants it. */
/* `slow` becomes true where a busy machine ended it, which says nothing about another time. */
static double time_case(struct session *s, const struct ex_case *c, struct case_plan plan,
                        struct launch_stats *keep, bool *slow) {
    struct case_run run;
    session_case(s, c, &plan, &run);
    double seconds = run.verdict == V_AC ? run.tally.seconds : -1;
    *slow = *slow || run.slow_machine;
    if (keep && seconds > 0) {
        *keep = run.tally;
        run.tally = (struct launch_stats){0};
    }
    session_case_free(&run);
    return seconds;
}

static bool measure(struct grading *g, const struct build *b, struct times *t, bool *slow) {
    struct err e = {0};
    struct ptxas registers = {0};
    ptxas_finish(ptxas_start(b, g->o->device->cc_major * 10 + g->o->device->cc_minor), &registers);
    struct session_options so = {.device = g->o->device,
                                 .seed = "reference times",
                                 .workers = g->o->workers,
                                 .registers = &registers};
    struct session *s = session_open(g->ex, b, &so, &e);
    if (s) {
        t->counted = time_case(s, &g->ex->technique_case, grade_plan_technique, NULL, slow);
        t->timed = time_case(s, &g->ex->timed, grade_plan_timed, NULL, slow);
    }
    session_close(s);
    ptxas_free(&registers);
    return t->counted > 0;
}

static void time_key(const struct grading *g, const struct build *b, char key[HASH_HEX]) {
    struct hash h;
    hash_start(&h);
    hash_text(&h, "times 2");
    hash_text(&h, build_disassembler(NULL) ? "machine code" : "PTX");
    cache_add_grader(&h);
    hash_text(&h, book_id(g->ex));
    hash_text(&h, g->o->device->name);
    hash_text(&h, b->key);
    hash_hex(&h, key);
}

/* Times of a file of the book, from the cache where it knows them. */
static bool reference(struct grading *g, const char *name, const void *source, size_t size,
                      struct times *t) {
    struct build b;
    struct err e = {0};
    char key[HASH_HEX];
    struct buf entry = {0};
    if (!build_run(&(struct build_source){name, source, size, g->ex->sm_90a}, &b, &e)) return false;
    time_key(g, &b, key);
    bool slow = false;
    bool ok = b.ok && cache_get("times", key, &entry) &&
              sscanf(entry.data, "%la %la", &t->timed, &t->counted) == 2;
    if (b.ok && !ok && (ok = measure(g, &b, t, &slow)) && !slow) {
        buf_printf(&entry, "%a %a", t->timed, t->counted);
        cache_put("times", key, entry.data, entry.size);
    }
    buf_free(&entry);
    build_free(&b);
    return ok;
}

/* Of a version that this release leaves out. */
static bool recorded(const struct grading *g, const char *version, struct times *t) {
    struct err e = {0};
    double times[2];
    if (!figures_there() || !figures_times(book_id(g->ex), g->o->device->name, version, times, &e))
        return false;
    *t = (struct times){.timed = times[0], .counted = times[1]};
    return true;
}

static bool answer(struct grading *g, struct times *t) {
    struct buf source = {0};
    struct err e = {0};
    char name[128];
    if (!book_has_answers()) return recorded(g, "answer", t);
    const char *path = book_solution_file(g->ex, NULL);
    grade_name(g->ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, &e) &&
              reference(g, name, source.data, source.size, t);
    buf_free(&source);
    return ok;
}

static bool baseline(struct grading *g, struct times *t) {
    struct buf source = {0};
    struct err e = {0};
    char name[128];
    bool there = naive_source(g->ex, name, sizeof name, &source, &e);
    bool ok = there ? reference(g, name, source.data, source.size, t) : recorded(g, "naive", t);
    buf_free(&source);
    return ok;
}

bool speed_reference(const struct exercise *ex, const struct grade_options *go, bool naive,
                     double times[2]) {
    struct grading g = {.ex = ex, .o = go};
    struct times t = {0};
    bool ok = naive ? baseline(&g, &t) : answer(&g, &t);
    times[0] = t.timed, times[1] = t.counted;
    return ok;
}

/* Least seconds that the device needs: the bytes that must move, the operations that must be done.
 * One figure for a problem and a device, which no version can beat: L2 is cold and full of other
 * data, so that whatever is written pushes as much out. */
static double roofline(const struct grading *g, const struct ex_case *c,
                       const struct sim_counters *n) {
    const struct gpu_device *d = g->o->device;
    double moving =
        g->ex->bytes
            ? g->ex->bytes(c) / (grade_crosses(g->ex) ? d->bus_bidirectional_rate : d->dram_rate)
            : 0;
    double flops = g->ex->flops ? g->ex->flops(c) : 0;
    double working = grade_working_seconds(
        d, flops, grade_on_tensor_cores(g->ex, flops, (double)n->flops_matrix));
    return moving > working ? moving : working;
}

struct busy {
    const char *name;
    double seconds;
};

static int by_seconds(const void *x, const void *y) {
    double a = ((const struct busy *)x)->seconds, b = ((const struct busy *)y)->seconds;
    return (a < b) - (a > b);
}

/* Which part of the time each engine works. */
static void put_busy(const struct launch_stats *own, struct buf *out) {
    struct busy b[] = {{"copies to the device", own->bus_in_seconds},
                       {"copies to the host", own->bus_out_seconds},
                       {"kernels", own->kernel_seconds}};
    qsort(b, 3, sizeof *b, by_seconds);
    for (unsigned i = 0; i < 3; i++)
        buf_printf(out, "%s%s, %.0f %%",
                   i == 0   ? ""
                   : i == 1 ? " (next: "
                            : "; ",
                   b[i].name, 100 * b[i].seconds / own->seconds);
    buf_puts(out, ")");
}

/* Of the kernel that takes longest, all its launches together; where data cross the bus, what takes
 * how much of the time. */
static const char *bound_by(struct arena *a, const struct launch_stats *own) {
    const struct launch_stats_kernel *k = launch_stats_longest_kernel(own);
    char bound[192];
    struct buf text = {0};
    if (own->scheduled && own->bus_in_seconds + own->bus_out_seconds > 0) {
        put_busy(own, &text);
        const char *kept = arena_strndup(a, buf_str(&text), text.size);
        return buf_free(&text), kept;
    }
    if (k) launch_stats_format_bound(k, bound, sizeof bound), buf_puts(&text, bound);
    if (k && own->nkernels > 1 && own->seconds > 0)
        buf_printf(&text, " in %s, which takes %.0f %% of the time", k->name,
                   100 * k->seconds / own->seconds);
    else if (k && k->launches > 1) buf_printf(&text, " in the %u launches together", k->launches);
    text_demangle(&text);
    const char *kept = arena_strndup(a, buf_str(&text), text.size);
    buf_free(&text);
    return kept;
}

/* `missed`: machine code was asked for, and a launch had none. */
static const char *note(bool timed, bool missed) {
    static const char *const notes[2][2] = {
        {"at the size that is counted: the timed size takes the simulator too long",
         "at the size that is counted: the timed size takes the simulator too long; modelled from "
         "PTX, without the "
         "machine code"},
        {"", "modelled from PTX, without the machine code; docs/time-model.md says when"}};
    return notes[timed][missed];
}

/* Recorded times are of code that another compiler made. */
static void note_other_nvcc(struct grading *g) {
    struct buf text = {0};
    buf_printf(&text,
               "%s%sthe model answer's and the naive version's times were recorded with nvcc %s; "
               "here it is %s",
               g->r->speed.note, g->r->speed.note[0] ? "; " : "", figures_nvcc(), grade_nvcc());
    g->r->speed.note = arena_strndup(&g->r->arena, buf_str(&text), text.size);
    buf_free(&text);
}

static void fill_in(struct grading *g, const struct launch_stats *own, const struct times *solution,
                    const struct times *base, bool timed) {
    struct speed_result *s = &g->r->speed;
    const struct ex_case *c = timed ? &g->ex->timed : &g->ex->technique_case;
    double answer = timed ? solution->timed : solution->counted,
           naive = timed ? base->timed : base->counted;
    struct buf size = {0};
    problem_size(g->ex, c, &size);
    s->valid = answer > 0 && own->seconds > 0 && !own->blocks_depend;
    s->kind = "modelled", s->timed = timed;
    s->student_us = own->seconds * 1e6, s->solution_us = answer * 1e6, s->baseline_us = naive * 1e6;
    s->low_us = own->low * 1e6, s->high_us = own->high * 1e6;
    s->vs_solution = answer / own->seconds, s->vs_baseline = naive / own->seconds;
    s->gain = naive > 0 ? naive / answer : 0;
    s->of_roofline = roofline(g, c, &own->counters) / own->seconds;
    s->bytes = g->ex->bytes ? g->ex->bytes(c) : 0, s->flops = g->ex->flops ? g->ex->flops(c) : 0;
    s->bus_rate = grade_crosses(g->ex) ? g->o->device->bus_bidirectional_rate : 0;
    s->matrix_flops = grade_on_tensor_cores(g->ex, s->flops, (double)own->counters.flops_matrix);
    if (own->blocks_depend) {
        s->forfeit = true;
        s->note = "not modelled: blocks wait for each other, or one runs for very long";
    } else if (s->valid && g->implausible[0]) {
        s->valid = false;
        s->note = "faster than the device can be: does the entry do all of its work at this size?";
    } else s->note = note(timed, own->from_ptx && build_disassembler(NULL));
    if (s->valid && !book_has_answers() && strcmp(figures_nvcc(), grade_nvcc()) != 0)
        note_other_nvcc(g);
    s->bound_by = bound_by(&g->r->arena, own);
    s->size = arena_strndup(&g->r->arena, buf_str(&size), size.size);
    buf_free(&size);
    if (s->valid) grade_keep_times(g->r, own);
}

/* Where speed is to count, the timed size must come out right, every block of it; `keep` gets its
 * tally. Where the simulator cannot finish it there is no time, and the points are lost: else to be
 * slow at this size, which code can look at, would pay. `where`: the session on the device whose
 * time is told; NULL = the one that everything else is checked on. */
static enum verdict check_timed(struct grading *g, struct session *where,
                                struct launch_stats *keep) {
    unsigned before = g->r->ncases;
    struct session *usual = g->session;
    if (where) g->session = where;
    char suffix[64] = " (timed)";
    if (where) snprintf(suffix, sizeof suffix, " (timed, on %s)", g->o->device->name);
    enum verdict v = check_case(g, &g->ex->timed, grade_plan_whole, suffix, keep);
    g->session = usual;
    if (v == V_TLE) g->r->ncases = before, g->stopped = false;
    return v;
}

/* The student's file on the device whose time is told, where that is not the one it was checked on.
 */
struct elsewhere {
    struct session *session; /* NULL: it is that one */
    struct ptxas registers;
    struct launch_stats counted;
    char why[256]; /* it does not run there */
};

static bool go_elsewhere(struct grading *g, struct elsewhere *x) {
    const struct gpu_device *d = g->o->device;
    struct err e = {0};
    *x = (struct elsewhere){.session = NULL};
    if (d == grade_device()) return true;
    ptxas_finish(ptxas_start(&g->build, d->cc_major * 10 + d->cc_minor), &x->registers);
    struct session_options so = {.device = d,
                                 .seed = g->o->seed,
                                 .workers = g->o->workers,
                                 .registers = &x->registers,
                                 .ahead = g->ahead};
    if (!(x->session = session_open(g->ex, &g->build, &so, &e)))
        return snprintf(x->why, sizeof x->why, "%.250s", e.text), false;
    struct case_run run;
    session_case(x->session, &g->ex->technique_case, &grade_plan_technique, &run);
    bool ok = run.verdict == V_AC;
    if (ok) {
        x->counted = run.tally, run.tally = (struct launch_stats){0};
        g->r->occupancy = x->counted.occupancy;
        grade_keep_kernels(g->r, &x->registers);
    } else
        snprintf(x->why, sizeof x->why, "it does not run on this device: %.200s",
                 buf_str(&run.message));
    session_case_free(&run);
    return ok;
}

static void come_back(struct elsewhere *x) {
    session_close(x->session);
    ptxas_free(&x->registers);
    launch_stats_free(&x->counted);
}

/* The tally at the timed size, moved out of `whole` where that is of this device: all blocks have
 * run already, and the times of whole runs and samples agree (`verify` holds each answer to it:
 * cmd_verify.c, ITSELF). False: it could not be had. */
static bool timed_tally(struct grading *g, const struct elsewhere *x, struct launch_stats *whole,
                        struct launch_stats *own) {
    if (whole->seconds > 0 || whole->blocks_depend) {
        *own = *whole, *whole = (struct launch_stats){0};
        return true;
    }
    bool slow = false;
    return time_case(x->session ? x->session : g->session, &g->ex->timed, grade_plan_timed, own,
                     &slow) >= 0;
}

/* `whole`: of every block at the timed size, where that was checked. */
static void time_on_device(struct grading *g, const struct elsewhere *x, bool known,
                           const struct times *solution, const struct times *base,
                           struct launch_stats *whole) {
    struct speed_result *s = &g->r->speed;
    struct launch_stats own = {0};
    /* Where the book's own files take too long there, so does the student's. */
    bool can = !known || (solution->timed > 0 && base->timed > 0),
         ran = can && timed_tally(g, x, whole, &own);
    bool timed = own.seconds > 0;
    if (ran) check_plausible(g, &own);
    if (!known) s->note = "the model answer could not be timed on this device";
    else if (ran && !timed) s->note = "nothing is launched at the size that is timed";
    else fill_in(g, timed ? &own : x->session ? &x->counted : &g->tally, solution, base, timed);
    launch_stats_free(&own);
}

/* Code can ask which device it is on: not to run there must not pay. */
static void not_there(struct grading *g, const struct elsewhere *x, bool known) {
    struct speed_result *s = &g->r->speed;
    s->forfeit = known && !g->o->trusted;
    s->note = arena_strndup(&g->r->arena, x->why, strcspn(x->why, "\n"));
}

static void not_checked(struct grading *g) {
    g->r->speed.forfeit = true;
    g->r->speed.note = g->slow_machine ? "this machine was too slow to check the timed size"
                                       : "the timed size takes too long to be checked";
}

bool speed_run(struct grading *g) {
    if (gpu_options_of(g->o->device)) return speed_gpu_run(g);
    struct times solution = {0}, base = {0};
    struct launch_stats whole = {0};
    struct elsewhere x;
    if (g->o->progress) g->o->progress(g->o->user, "timing");
    bool check = g->o->count_modelled && !g->o->trusted, there = go_elsewhere(g, &x);
    /* Before the book's own files are timed, if they are: what was drawn ahead takes as much memory
     * as they do. */
    enum verdict v = check ? check_timed(g, there ? x.session : NULL, &whole) : V_AC;
    bool known = v == V_AC && answer(g, &solution);
    g->r->speed.whole = check && v == V_AC;
    if (v == V_TLE) not_checked(g);
    else if (v == V_AC && !there) not_there(g, &x, known);
    else if (v == V_AC) {
        if (known) baseline(g, &base);
        time_on_device(g, &x, known, &solution, &base, &whole);
    }
    come_back(&x);
    launch_stats_free(&whole);
    return v == V_AC || v == V_TLE;
}

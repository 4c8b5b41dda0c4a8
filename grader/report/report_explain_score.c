/* report_explain_score.c — explains why points and time disagree: the goals limit something other
 * than the bottleneck, or a fast version misses the goals. In both cases a version with more points
 * may be slower than one with fewer. */
#include "grader/grade/score.h"
#include "grader/report/report.h"

#include <stdio.h>
#include <string.h>

/* What a metric counts or a resource limits. X(id, words for the report) */
#define SUBJECTS(X)                       \
    X(TRAFFIC, "memory traffic")          \
    X(SHARED, "shared memory wavefronts") \
    X(ATOMICS, "atomics")                 \
    X(INSTRUCTIONS, "instructions") X(LATENCY, "occupancy") X(LAUNCHES, "launches")
enum subject {
#define X(id, text) SUBJECT_##id,
    SUBJECTS(X)
#undef X
        SUBJECT_COUNT
};

struct subject_pattern {
    const char *substring;
    enum subject subject;
};

/* Sets the subject of the first pattern that the name contains; returns false if none matches. */
static bool subject_of(const char *name, const struct subject_pattern *p, unsigned n,
                       enum subject *out) {
    for (unsigned i = 0; i < n; i++)
        if (strstr(name, p[i].substring)) return *out = p[i].subject, true;
    return false;
}

static bool metric_subject(const char *metric, enum subject *out) {
    static const struct subject_pattern list[] = {
        {"atomic", SUBJECT_ATOMICS},       {"reduction", SUBJECT_ATOMICS},
        {"shared", SUBJECT_SHARED},        {"bank", SUBJECT_SHARED},
        {"launches", SUBJECT_LAUNCHES},    {"occupancy", SUBJECT_LATENCY},
        {"registers", SUBJECT_LATENCY},    {"blocks", SUBJECT_LATENCY},
        {"sector", SUBJECT_TRAFFIC},       {"excess", SUBJECT_TRAFFIC},
        {"read", SUBJECT_TRAFFIC},         {"write", SUBJECT_TRAFFIC},
        {"load", SUBJECT_TRAFFIC},         {"store", SUBJECT_TRAFFIC},
        {"request", SUBJECT_TRAFFIC},      {"bytes", SUBJECT_TRAFFIC},
        {"local", SUBJECT_TRAFFIC},        {"inst", SUBJECT_INSTRUCTIONS},
        {"branch", SUBJECT_INSTRUCTIONS},  {"barrier", SUBJECT_INSTRUCTIONS},
        {"shuffle", SUBJECT_INSTRUCTIONS}, {"flops", SUBJECT_INSTRUCTIONS},
        {"lanes", SUBJECT_INSTRUCTIONS}};
    return subject_of(metric, list, sizeof list / sizeof *list, out);
}

static bool bound_subject(const char *bound, enum subject *out) {
    static const struct subject_pattern list[] = {
        {"latency", SUBJECT_LATENCY},   {"waiting", SUBJECT_LATENCY},
        {"atomics", SUBJECT_ATOMICS},   {"shared", SUBJECT_SHARED},
        {"launch", SUBJECT_LAUNCHES},   {"DRAM", SUBJECT_TRAFFIC},
        {"L2", SUBJECT_TRAFFIC},        {"L1", SUBJECT_TRAFFIC},
        {"LSU", SUBJECT_TRAFFIC},       {"issue", SUBJECT_INSTRUCTIONS},
        {"ALU", SUBJECT_INSTRUCTIONS},  {"FMA", SUBJECT_INSTRUCTIONS},
        {"FP64", SUBJECT_INSTRUCTIONS}, {"XU", SUBJECT_INSTRUCTIONS}};
    return subject_of(bound, list, sizeof list / sizeof *list, out);
}

/* Returns the subjects of the goals, or those of the failed guards. */
static unsigned limit_subjects(const struct result *r, bool failed_guards) {
    unsigned mask = 0;
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        enum subject s;
        bool is_meant = failed_guards ? t->is_guard && !t->passed : !t->is_guard;
        if (is_meant && metric_subject(t->metric, &s)) mask |= 1u << s;
    }
    return mask;
}

static bool has_missed_goal(const struct result *r) {
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!r->technique[i].is_guard && !r->technique[i].passed) return true;
    return false;
}

static void write_subjects(unsigned mask, struct buf *out) {
    static const char *const texts[] = {
#define X(id, text) text,
        SUBJECTS(X)
#undef X
    };
    bool is_first_done = false;
    for (unsigned i = 0; i < SUBJECT_COUNT; i++) {
        if (!(mask >> i & 1)) continue;
        buf_puts(out, is_first_done ? " and " : ""), buf_puts(out, texts[i]);
        is_first_done = true;
    }
}

static double total_stall_seconds(const struct line_result *l, unsigned *top_reason) {
    double total = 0;
    *top_reason = 0;
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) {
        total += l->stall_seconds[k];
        if (l->stall_seconds[k] > l->stall_seconds[*top_reason]) *top_reason = k;
    }
    return total;
}

/* Names the line with the most stalls, if it has at least 20 % of the time. */
static void write_hot_line(const struct result *r, struct buf *out) {
    const struct line_result *hottest = NULL;
    double total_seconds = 0, max_seconds = 0;
    unsigned stall_reason = 0, top_reason;
    for (unsigned i = 0; i < r->nlines; i++) {
        double s = total_stall_seconds(&r->lines[i], &top_reason);
        total_seconds += s;
        if (s > max_seconds && r->lines[i].line)
            max_seconds = s, hottest = &r->lines[i], stall_reason = top_reason;
    }
    if (!hottest || max_seconds < 0.2 * total_seconds) return;
    buf_printf(out, " (%.0f %% of the time at %s:%u; top stall reason: %s)",
               100 * max_seconds / total_seconds, hottest->file, hottest->line,
               sim_stall_text(stall_reason));
}

/* The bottleneck is something that neither a goal nor a failed guard limits. */
static void explain_bottleneck(const struct result *r, struct buf *out) {
    char bound[64];
    enum subject s;
    unsigned goals = limit_subjects(r, false), guards = limit_subjects(r, true);
    snprintf(bound, sizeof bound, "%.*s", (int)strcspn(r->speed.bound_by, ","), r->speed.bound_by);
    if (r->speed.vs_solution >= SCORE_FULL_SPEED || !goals || !bound_subject(bound, &s) ||
        (goals | guards) >> s & 1)
        return;
    buf_puts(out, "The goals limit "), write_subjects(goals, out);
    buf_printf(out, ", but the time is bound by %s", bound), write_hot_line(r, out);
    buf_puts(out, ". Progress towards a goal may not save time here. ");
}

/* Fast, but without the technique that the goals require. */
static void explain_missed_goals(const struct result *r, struct buf *out) {
    double technique =
        r->available.technique > 0 ? r->earned.technique / r->available.technique : 1;
    double speed =
        r->available.speed > 0 && r->speed_counted ? r->earned.speed / r->available.speed : 0;
    if (speed - technique < 0.25 || r->goals_waived || !has_missed_goal(r)) return;
    buf_printf(out,
               "This version has %.0f %% of the speed points but %.0f %% of the technique "
               "points. A version that reaches more goals can score higher and still be slower. ",
               100 * speed, 100 * technique);
}

void report_explain_score(const struct result *r, struct buf *out) {
    bool scored = r->verdict == V_AC || r->verdict == V_PART;
    if (!scored || r->is_unmodified || r->is_single_case || !r->speed.valid || !r->speed_counted)
        return;
    explain_missed_goals(r, out);
    explain_bottleneck(r, out);
    while (out->size && out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
}

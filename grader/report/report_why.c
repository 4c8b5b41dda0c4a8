/* report_why.c — where points and time do not go together, says why: the goals count something else
 * than what the time is bound by, or a fast version misses what the goals ask for. Then one with
 * more points may be slower than one with fewer. */
#include "grader/grade/score.h"
#include "grader/report/report.h"

#include <stdio.h>
#include <string.h>

/* What metrics and resources are about. X(id, what the goals count, in words) */
#define SUBJECTS(X)                      \
    X(TRAFFIC, "traffic to memory")      \
    X(SHARED, "passes of shared memory") \
    X(ATOMICS, "atomics")                \
    X(INSTRUCTIONS, "instructions") X(LATENCY, "what fits on an SM") X(LAUNCHES, "launches")
enum subject {
#define X(id, text) SUBJECT_##id,
    SUBJECTS(X)
#undef X
        SUBJECT_COUNT
};

struct pattern {
    const char *part;
    enum subject subject;
};

/* The first that a name holds decides. */
static bool subject_of(const char *name, const struct pattern *p, unsigned n, enum subject *out) {
    for (unsigned i = 0; i < n; i++)
        if (strstr(name, p[i].part)) return *out = p[i].subject, true;
    return false;
}

static bool metric_subject(const char *metric, enum subject *out) {
    static const struct pattern list[] = {
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
    static const struct pattern list[] = {
        {"latency", SUBJECT_LATENCY},    {"waiting", SUBJECT_LATENCY},
        {"atomics", SUBJECT_ATOMICS},    {"shared", SUBJECT_SHARED},
        {"launch", SUBJECT_LAUNCHES},    {"DRAM", SUBJECT_TRAFFIC},
        {"L2", SUBJECT_TRAFFIC},         {"L1", SUBJECT_TRAFFIC},
        {"load/store", SUBJECT_TRAFFIC}, {"issue", SUBJECT_INSTRUCTIONS},
        {"units", SUBJECT_INSTRUCTIONS}};
    return subject_of(bound, list, sizeof list / sizeof *list, out);
}

static unsigned goal_subjects(const struct result *r) {
    unsigned set = 0;
    for (unsigned i = 0; i < r->ntechnique; i++) {
        enum subject s;
        if (!r->technique[i].guard && metric_subject(r->technique[i].metric, &s)) set |= 1u << s;
    }
    return set;
}

static void put_subjects(unsigned set, struct buf *out) {
    static const char *const texts[] = {
#define X(id, text) text,
        SUBJECTS(X)
#undef X
    };
    bool any = false;
    for (unsigned i = 0; i < SUBJECT_COUNT; i++) {
        if (!(set >> i & 1)) continue;
        buf_puts(out, any ? " and " : ""), buf_puts(out, texts[i]);
        any = true;
    }
}

static double spent(const struct line_result *l, unsigned *worst) {
    double all = 0;
    *worst = 0;
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) {
        all += l->waits[k];
        if (l->waits[k] > l->waits[*worst]) *worst = k;
    }
    return all;
}

/* The line at which warps spend most. */
static void put_place(const struct result *r, struct buf *out) {
    const struct line_result *most = NULL;
    double all = 0, top = 0;
    unsigned why = 0, worst;
    for (unsigned i = 0; i < r->nlines; i++) {
        double s = spent(&r->lines[i], &worst);
        all += s;
        if (s > top && r->lines[i].line) top = s, most = &r->lines[i], why = worst;
    }
    if (!most || top < 0.2 * all) return;
    buf_printf(out, " (%.0f %% of the time at %s:%u, most of it for %s)", 100 * top / all,
               most->file, most->line, sim_stall_text(why));
}

/* The time goes to what no goal is about. */
static void other_bound(const struct result *r, struct buf *out) {
    char bound[64];
    enum subject s;
    unsigned goals = goal_subjects(r);
    snprintf(bound, sizeof bound, "%.*s", (int)strcspn(r->speed.bound_by, ","), r->speed.bound_by);
    if (r->speed.vs_solution >= SCORE_FULL_SPEED || !goals || !bound_subject(bound, &s) ||
        goals >> s & 1)
        return;
    buf_puts(out, "The goals count "), put_subjects(goals, out);
    buf_printf(out, ", and the time is bound by %s", bound), put_place(r, out);
    buf_puts(out, ": a step towards a goal need not be one towards less time here. ");
}

/* Fast in its own way, without what is asked for. */
static void fast_without(const struct result *r, struct buf *out) {
    double technique = r->full.technique > 0 ? r->got.technique / r->full.technique : 1;
    double speed = r->full.speed > 0 && r->speed_counted ? r->got.speed / r->full.speed : 0;
    if (speed - technique < 0.25 || r->waived) return;
    buf_printf(out,
               "It has %.0f %% of the points for speed and %.0f %% of those for technique: a "
               "version that misses less "
               "can have more points and take longer. ",
               100 * speed, 100 * technique);
}

void report_why(const struct result *r, struct buf *out) {
    bool scored = r->verdict == V_AC || r->verdict == V_PART;
    if (!scored || r->untouched || r->partial || !r->speed.valid || !r->speed_counted) return;
    fast_without(r, out);
    other_bound(r, out);
    while (out->size && out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
}

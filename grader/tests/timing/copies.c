/* copies.c — the timeline (grader/sim/timing/timeline.h) against what grader/tests/timing/copies.cu
 * measured on an H100.
 *
 *   build/tests/copies [--rows]        the table of docs/time-model.md, or every row
 *
 * What kernels take by themselves is measured, too, and given; modelled is what commands take
 * together. A row was timed on the host, from before the first call to behind the last wait: what
 * that adds to one tiny copy is added here. */
#include "grader/sim/timing/timeline.h"
#include "common/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1024, MOST_COMMANDS = 512 };
static const char file[] = "grader/tests/timing/copies-h100.tsv";

static struct row {
    char name[64];
    double us;
} rows[MOST_ROWS];
static unsigned nrows;

static double measured(const char *name) {
    for (unsigned i = 0; i < nrows; i++)
        if (!strcmp(rows[i].name, name)) return rows[i].us;
    die("%s: no row `%s`", file, name);
}

static void read_rows(void) {
    FILE *f = fopen(file, "r");
    if (!f) die("%s: run from the top of the tree", file);
    while (nrows < MOST_ROWS &&
           fscanf(f, "%63[^\t]\t%lf\n", rows[nrows].name, &rows[nrows].us) == 2)
        nrows++;
    fclose(f);
}

/* ---- a list of commands ---- */

static struct list {
    struct timeline_command c[MOST_COMMANDS];
    uint32_t after[MOST_COMMANDS][TIMELINE_MAX_STREAMS], numbers[TIMELINE_MAX_STREAMS];
    unsigned n;
} list;

static struct timeline_command *add(enum timeline_engine e, unsigned stream) {
    struct timeline_command *c = &list.c[list.n++];
    *c = (struct timeline_command){
        .engine = e, .stream = stream, .number = ++list.numbers[stream], .device_share = 1};
    return c;
}

static double run(void) {
    const struct gpu_device *d = device_find("h100");
    struct timeline_rates r = time_timeline_rates(d);
    double around = (measured("in host 4") - measured("in events 4") + measured("out host 4") -
                     measured("out events 4")) /
                    2;
    double us = time_timeline_run(list.c, list.n, &r).seconds * 1e6 + around;
    memset(&list, 0, sizeof list);
    return us;
}

/* A kernel's seconds by itself, from what one took on the host's clock with the wait. */
static double alone(double us) {
    return (us - (measured("in host 4") - measured("in events 4") + measured("out host 4") -
                  measured("out events 4")) /
                     2) *
           1e-6;
}

/* ---- rows ---- */

enum { IN = 1, KERNELS = 2, OUT = 4 };
static const double array = 64 << 20;

/* Of a kernel that takes so long for the whole array, launch included, what a part of it takes. */
static double part_of(double seconds, unsigned parts) {
    double launch = device_find("h100")->launch_seconds;
    return launch + (seconds > launch ? seconds - launch : 0) / parts;
}

static double pipeline(unsigned work, unsigned parts, unsigned streams, unsigned what) {
    char name[64];
    snprintf(name, sizeof name, "work %u, kernels alone", work);
    double step = alone(measured("work 0, kernels alone")), spin = alone(measured(name)) - step;
    for (unsigned p = 0; p < parts; p++) {
        unsigned s = p % streams;
        if (what & IN) add(TIMELINE_H2D, s)->bytes = array / parts;
        if (what & KERNELS) add(TIMELINE_KERNEL, s)->seconds = part_of(step, parts);
        if (what & KERNELS && work) add(TIMELINE_KERNEL, s)->seconds = part_of(spin, parts);
        if (what & OUT) add(TIMELINE_D2H, s)->bytes = array / parts;
    }
    return run();
}

static double spins(double one, unsigned n, unsigned streams, double share) {
    for (unsigned i = 0; i < n; i++) {
        struct timeline_command *c = add(TIMELINE_KERNEL, i % streams);
        c->seconds = alone(one), c->device_share = share;
    }
    return run();
}

static double copies(double bytes, unsigned n, unsigned streams, bool both) {
    for (unsigned i = 0; i < n; i++)
        add(both && i % 2 ? TIMELINE_D2H : TIMELINE_H2D, i % streams)->bytes = bytes;
    return run();
}

static unsigned parse_what(const char *text) {
    return !strcmp(text, "in+k+out") ? IN | KERNELS | OUT
           : !strcmp(text, "in+k")   ? IN | KERNELS
                                     : IN | OUT;
}

/* Modelled microseconds of a row; < 0: it is an input, or of what the timeline does not have. */
static double model(const char *name) {
    unsigned a, b, c;
    char what[16], one[64];
    if (sscanf(name, "work %u, parts %u, streams %u, %15s", &a, &b, &c, what) == 4)
        return pipeline(a, b, c, parse_what(what));
    if (sscanf(name, "in host %u", &a) == 1 || sscanf(name, "out host %u", &a) == 1)
        return copies(a, 1, 1, false);
    if (sscanf(name, "20 copies of %u, streams %u", &a, &b) == 2) return copies(a, 20, b, false);
    if (!strcmp(name, "two in")) return copies(array, 2, 2, false);
    if (!strcmp(name, "both ways")) return copies(array, 2, 2, true);
    if (sscanf(name, "spin %u, %u in %u", &a, &b, &c) == 3 && b > 1) {
        snprintf(one, sizeof one, "spin %u, 1 in 1", a);
        return spins(measured(one), b, c, 1.0 / 132 / 32);
    }
    if (!strcmp(name, "full spin, 2 in 2")) return spins(measured("full spin, 1 in 1"), 2, 2, 1);
    return -1;
}

/* ---- what is printed ---- */

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static bool begins(const char *name, const char *with) {
    return !strncmp(name, with, strlen(with));
}

/* Rows of a kind: how many, the median of the errors without sign, the worst with it. */
static void tell_kind(const char *kind, const char *text) {
    double errors[MOST_ROWS], worst = 0;
    const char *which = "";
    unsigned n = 0;
    for (unsigned i = 0; i < nrows; i++) {
        double m = begins(rows[i].name, kind) ? model(rows[i].name) : -1;
        if (m < 0) continue;
        double error = m / rows[i].us - 1;
        errors[n++] = fabs(error);
        if (fabs(error) > fabs(worst)) worst = error, which = rows[i].name;
    }
    qsort(errors, n, sizeof *errors, by_value);
    if (n)
        printf("| %s | %u | %.1f %% | %+.1f %% (%s) |\n", text, n, 100 * errors[n / 2], 100 * worst,
               which);
}

static void tell_row(const char *name) {
    double m = model(name), t = measured(name);
    printf("| %s | %.4g | %.4g | %+.1f %% |\n", name, t, m, 100 * (m / t - 1));
}

int main(int argc, char **argv) {
    static const char *const chosen[] = {"in host 67108864",
                                         "out host 67108864",
                                         "two in",
                                         "both ways",
                                         "20 copies of 65536, streams 1",
                                         "20 copies of 1048576, streams 4",
                                         "work 0, parts 1, streams 1, in+k+out",
                                         "work 0, parts 64, streams 1, in+out",
                                         "work 0, parts 64, streams 1, in+k+out",
                                         "work 0, parts 2, streams 2, in+k+out",
                                         "work 0, parts 8, streams 2, in+k+out",
                                         "work 0, parts 8, streams 4, in+k+out",
                                         "work 0, parts 16, streams 4, in+k+out",
                                         "work 0, parts 64, streams 2, in+k+out",
                                         "work 0, parts 64, streams 8, in+k+out",
                                         "work 60000, parts 1, streams 1, in+k+out",
                                         "work 60000, parts 8, streams 4, in+k+out",
                                         "work 60000, parts 64, streams 8, in+k+out",
                                         "full spin, 2 in 2",
                                         "spin 100000, 8 in 8",
                                         "spin 1000, 8 in 8"};
    read_rows();
    if (argc > 1 && !strcmp(argv[1], "--rows")) {
        for (unsigned i = 0; i < nrows; i++)
            if (model(rows[i].name) >= 0) tell_row(rows[i].name);
        return 0;
    }
    printf("| row | measured, us | modelled | error |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < sizeof chosen / sizeof *chosen; i++) tell_row(chosen[i]);
    printf("\n| rows | n | median error | worst |\n|---|---|---|---|\n");
    tell_kind("work", "parts in streams");
    tell_kind("in host", "one copy in"), tell_kind("out host", "one copy out");
    tell_kind("20 copies", "20 copies"), tell_kind("spin", "small kernels beside each other");
    return 0;
}

/* check_timeline.c — compares the timeline (grader/sim/timing/timeline.h) with what
 * grader/tests/timing/copies.cu measured on an H100.
 *
 *   build/tests/copies [--rows]        the table of docs/time-model.md, or every row
 *
 * The kernels' own times are measured and given; the timeline models how long the commands take
 * together. A row was timed on the host, from before the first call to after the last wait, so
 * the overhead of one tiny copy is added here. */
#include "grader/sim/timing/timeline.h"
#include "common/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1024, MAX_COMMANDS = 512 };
static const char data_path[] = "grader/tests/timing/copies-h100.tsv";

static struct row {
    char name[64];
    double us;
} rows[MAX_ROWS];
static unsigned nrows;

static double measured_us(const char *name) {
    for (unsigned i = 0; i < nrows; i++)
        if (!strcmp(rows[i].name, name)) return rows[i].us;
    die("%s: no row `%s`", data_path, name);
}

static void read_rows(void) {
    FILE *f = fopen(data_path, "r");
    if (!f) die("%s: run from the top of the tree", data_path);
    while (nrows < MAX_ROWS && fscanf(f, "%63[^\t]\t%lf\n", rows[nrows].name, &rows[nrows].us) == 2)
        nrows++;
    fclose(f);
}

/* ---- a list of commands ---- */

static struct command_list {
    struct timeline_command commands[MAX_COMMANDS];
    uint32_t deps[MAX_COMMANDS][TIMELINE_MAX_STREAMS], numbers[TIMELINE_MAX_STREAMS];
    unsigned n;
} commands;

static struct timeline_command *add_command(enum timeline_engine e, unsigned stream) {
    struct timeline_command *c = &commands.commands[commands.n++];
    *c = (struct timeline_command){
        .engine = e, .stream = stream, .number = ++commands.numbers[stream], .device_share = 1};
    return c;
}

static double run_timeline(void) {
    const struct gpu_device *d = device_find("h100");
    struct timeline_rates r = time_timeline_rates(d);
    double host_overhead = (measured_us("in host 4") - measured_us("in events 4") +
                            measured_us("out host 4") - measured_us("out events 4")) /
                           2;
    double us = time_timeline_run(commands.commands, commands.n, &r).seconds * 1e6 + host_overhead;
    memset(&commands, 0, sizeof commands);
    return us;
}

/* A kernel's seconds by itself, from what one took on the host's clock with the wait. */
static double kernel_seconds(double us) {
    return (us - (measured_us("in host 4") - measured_us("in events 4") +
                  measured_us("out host 4") - measured_us("out events 4")) /
                     2) *
           1e-6;
}

/* ---- rows ---- */

enum { COPY_IN = 1, KERNELS = 2, COPY_OUT = 4 };
static const double array_bytes = 64 << 20;

/* Of a kernel that takes so long for the whole array, launch included, what a part of it takes. */
static double chunk_seconds(double seconds, unsigned nchunks) {
    double launch = device_find("h100")->launch_seconds;
    return launch + (seconds > launch ? seconds - launch : 0) / nchunks;
}

static double model_pipeline(unsigned work, unsigned nchunks, unsigned streams, unsigned stages) {
    char name[64];
    snprintf(name, sizeof name, "work %u, kernels alone", work);
    double base_seconds = kernel_seconds(measured_us("work 0, kernels alone")),
           spin_seconds = kernel_seconds(measured_us(name)) - base_seconds;
    for (unsigned p = 0; p < nchunks; p++) {
        unsigned s = p % streams;
        if (stages & COPY_IN) add_command(TIMELINE_H2D, s)->bytes = array_bytes / nchunks;
        if (stages & KERNELS)
            add_command(TIMELINE_KERNEL, s)->seconds = chunk_seconds(base_seconds, nchunks);
        if (stages & KERNELS && work)
            add_command(TIMELINE_KERNEL, s)->seconds = chunk_seconds(spin_seconds, nchunks);
        if (stages & COPY_OUT) add_command(TIMELINE_D2H, s)->bytes = array_bytes / nchunks;
    }
    return run_timeline();
}

static double model_spins(double kernel_us, unsigned n, unsigned streams, double share) {
    for (unsigned i = 0; i < n; i++) {
        struct timeline_command *c = add_command(TIMELINE_KERNEL, i % streams);
        c->seconds = kernel_seconds(kernel_us), c->device_share = share;
    }
    return run_timeline();
}

static double model_copies(double bytes, unsigned n, unsigned streams, bool both_directions) {
    for (unsigned i = 0; i < n; i++)
        add_command(both_directions && i % 2 ? TIMELINE_D2H : TIMELINE_H2D, i % streams)->bytes =
            bytes;
    return run_timeline();
}

static unsigned parse_stages(const char *text) {
    return !strcmp(text, "in+k+out") ? COPY_IN | KERNELS | COPY_OUT
           : !strcmp(text, "in+k")   ? COPY_IN | KERNELS
                                     : COPY_IN | COPY_OUT;
}

/* Modelled microseconds of a row; < 0: it is an input, or of what the timeline does not have. */
static double model_us(const char *name) {
    unsigned a, b, c;
    char stage_text[16], single_row[64];
    if (sscanf(name, "work %u, parts %u, streams %u, %15s", &a, &b, &c, stage_text) == 4)
        return model_pipeline(a, b, c, parse_stages(stage_text));
    if (sscanf(name, "in host %u", &a) == 1 || sscanf(name, "out host %u", &a) == 1)
        return model_copies(a, 1, 1, false);
    if (sscanf(name, "20 copies of %u, streams %u", &a, &b) == 2)
        return model_copies(a, 20, b, false);
    if (!strcmp(name, "two in")) return model_copies(array_bytes, 2, 2, false);
    if (!strcmp(name, "both ways")) return model_copies(array_bytes, 2, 2, true);
    if (sscanf(name, "spin %u, %u in %u", &a, &b, &c) == 3 && b > 1) {
        snprintf(single_row, sizeof single_row, "spin %u, 1 in 1", a);
        return model_spins(measured_us(single_row), b, c, 1.0 / 132 / 32);
    }
    if (!strcmp(name, "full spin, 2 in 2"))
        return model_spins(measured_us("full spin, 1 in 1"), 2, 2, 1);
    return -1;
}

/* ---- what is printed ---- */

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static bool starts_with(const char *name, const char *prefix) {
    return !strncmp(name, prefix, strlen(prefix));
}

/* Rows of a kind: how many, the median of the errors without sign, the worst with it. */
static void print_kind(const char *kind, const char *text) {
    double errors[MAX_ROWS], worst = 0;
    const char *worst_row = "";
    unsigned n = 0;
    for (unsigned i = 0; i < nrows; i++) {
        double m = starts_with(rows[i].name, kind) ? model_us(rows[i].name) : -1;
        if (m < 0) continue;
        double error = m / rows[i].us - 1;
        errors[n++] = fabs(error);
        if (fabs(error) > fabs(worst)) worst = error, worst_row = rows[i].name;
    }
    qsort(errors, n, sizeof *errors, by_value);
    if (n)
        printf("| %s | %u | %.1f %% | %+.1f %% (%s) |\n", text, n, 100 * errors[n / 2], 100 * worst,
               worst_row);
}

static void print_row(const char *name) {
    double m = model_us(name), t = measured_us(name);
    printf("| %s | %.4g | %.4g | %+.1f %% |\n", name, t, m, 100 * (m / t - 1));
}

int main(int argc, char **argv) {
    static const char *const shown_rows[] = {"in host 67108864",
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
            if (model_us(rows[i].name) >= 0) print_row(rows[i].name);
        return 0;
    }
    printf("| row | measured, us | modelled | error |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < sizeof shown_rows / sizeof *shown_rows; i++) print_row(shown_rows[i]);
    printf("\n| rows | n | median error | worst |\n|---|---|---|---|\n");
    print_kind("work", "parts in streams");
    print_kind("in host", "one copy in"), print_kind("out host", "one copy out");
    print_kind("20 copies", "20 copies"), print_kind("spin", "small kernels beside each other");
    return 0;
}

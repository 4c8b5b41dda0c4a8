/* gpu_prebuild.c — grader gpu-build [CC]: compiles everything that `grader gpu-report` needs into
 * the cache, for a machine without a compiler; with a compute capability such as 80, also for such
 * an older GPU. `make gpu-carry` calls it. */
#include "grader/cli/commands.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/speed_gpu.h"
#include "grader/cli/vendor.h"

#include <stdio.h>
#include <stdlib.h>

struct prebuild_counts {
    unsigned built_count, failed_count;
    struct status_count exercises;
};

/* Computes register counts for every architecture of the device table, because the time model will
 * need those of the other machine's GPU. */
static void compile_registers_for_devices(const struct build *b) {
    unsigned archs[16], n = 0;
    for (unsigned i = 0; device_at(i); i++) {
        unsigned arch = device_at(i)->cc_major * 10 + device_at(i)->cc_minor, k = 0;
        while (k < n && archs[k] != arch) k++;
        if (k < n || arch < 75 || n == 16) continue;
        struct ptxas out;
        ptxas_finish(ptxas_start(b, archs[n++] = arch), &out);
        ptxas_free(&out);
    }
}

static void record_build(struct prebuild_counts *c, const struct exercise *ex, const char *version,
                         bool ok, struct build *b, const struct err *e) {
    char item[200];
    snprintf(item, sizeof item, "%s, %s", ex->name, version);
    status_count_show(&c->exercises, item);
    if (ok) compile_registers_for_devices(b), c->built_count++;
    else fprintf(stderr, "grader: %s, %s: %s\n", book_id(ex), version, e->text), c->failed_count++;
    build_free(b);
}

static void prebuild_starter(struct prebuild_counts *c, const struct exercise *ex) {
    struct build b = {0};
    struct buf source = {0};
    struct err e = {0};
    char name[128];
    grade_safe_file_name(ex, "", name, sizeof name);
    bool ok = book_original_starter(ex, &source, &e) &&
              build_run_portable(&(struct build_source){name, source.data, source.size, ex->sm_90a},
                                 &b, &e) &&
              b.ok;
    record_build(c, ex, "starter file", ok, &b, &e);
    buf_free(&source);
}

static void prebuild_library(struct prebuild_counts *c, const struct exercise *ex, const char *path,
                             const char *name) {
    struct build b = {0};
    struct err e = {0};
    bool ok = vendor_build(ex, path, &b, &e);
    record_build(c, ex, name, ok, &b, &e);
}

static void prebuild_exercise(struct prebuild_counts *c, const struct exercise *ex) {
    char **steps = book_ladder_steps(ex), path[VENDOR_MAX_PATH];
    for (unsigned i = 0; i == 0 || (steps && steps[i - 1]); i++) {
        struct build b = {0};
        struct err e = {0};
        const char *step = i ? steps[i - 1] : NULL;
        bool ok = speed_gpu_build(ex, step, &b, &e);
        record_build(c, ex, step ? step : "model solution", ok, &b, &e);
    }
    book_free_list(steps);
    prebuild_starter(c, ex);
    if (vendor_practice_path(ex, path)) prebuild_library(c, ex, path, "in practice");
    if (vendor_cub_path(ex, path)) prebuild_library(c, ex, path, "CUB");
}

int cmd_gpu_build(const struct options *o) {
    struct err e = {0};
    unsigned cc = o->noperands == 1 ? (unsigned)strtoul(o->operands[0], NULL, 10) : 90;
    if (o->noperands > 1 || cc < 75 || cc > 90) {
        err_set(&e, ERR_INPUT,
                "usage: grader gpu-build [CC]; CC is a compute capability from 75 to 90");
        return cli_report_error(&e);
    }
    build_add_target(cc);
    struct prebuild_counts c = {0};
    status_count_begin(&c.exercises, "exercises", book_count());
    for (; c.exercises.done < book_count(); c.exercises.done++)
        prebuild_exercise(&c, book_at(c.exercises.done));
    status_clear();
    printf("%u files compiled and ready to carry, %u failed.\n", c.built_count, c.failed_count);
    return c.failed_count ? EXIT_FAILED : EXIT_PASSED;
}

/* gpu_carry.c — grader gpu-build [CC]: compiles all that `grader gpu-report` will want, so that it
 * finds it where there is no compiler; with a compute capability such as 80, also for a GPU of that
 * age. `make gpu-carry` runs it. */
#include "grader/cli/commands.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/speed_gpu.h"
#include "grader/cli/vendor.h"

#include <stdio.h>
#include <stdlib.h>

struct carry {
    unsigned built, failed;
};

/* Registers for every architecture of the device table: the model wants those of the GPU that will
 * be there. */
static void registers(const struct build *b) {
    unsigned done[16], n = 0;
    for (unsigned i = 0; device_at(i); i++) {
        unsigned arch = device_at(i)->cc_major * 10 + device_at(i)->cc_minor, k = 0;
        while (k < n && done[k] != arch) k++;
        if (k < n || arch < 75 || n == 16) continue;
        struct ptxas out;
        ptxas_finish(ptxas_start(b, done[n++] = arch), &out);
        ptxas_free(&out);
    }
}

static void note(struct carry *c, const struct exercise *ex, const char *what, bool ok,
                 struct build *b, const struct err *e) {
    progress_show((void *)ex->name, what);
    if (ok) registers(b), c->built++;
    else fprintf(stderr, "grader: %s, %s: %s\n", book_id(ex), what, e->text), c->failed++;
    build_free(b);
}

static void carry_skeleton(struct carry *c, const struct exercise *ex) {
    struct build b = {0};
    struct buf source = {0};
    struct err e = {0};
    char name[128];
    grade_safe_file_name(ex, "", name, sizeof name);
    bool ok = book_original_starter(ex, &source, &e) &&
              build_run_portable(&(struct build_source){name, source.data, source.size, ex->sm_90a},
                                 &b, &e) &&
              b.ok;
    note(c, ex, "skeleton", ok, &b, &e);
    buf_free(&source);
}

static void carry_library(struct carry *c, const struct exercise *ex, const char *path,
                          const char *name) {
    struct build b = {0};
    struct err e = {0};
    bool ok = vendor_build(ex, path, &b, &e);
    note(c, ex, name, ok, &b, &e);
}

static void carry(struct carry *c, const struct exercise *ex) {
    char **steps = book_ladder_steps(ex), path[VENDOR_PATH];
    for (unsigned i = 0; i == 0 || (steps && steps[i - 1]); i++) {
        struct build b = {0};
        struct err e = {0};
        const char *step = i ? steps[i - 1] : NULL;
        bool ok = speed_gpu_build(ex, step, &b, &e);
        note(c, ex, step ? step : "model answer", ok, &b, &e);
    }
    book_free_list(steps);
    carry_skeleton(c, ex);
    if (vendor_practice(ex, path)) carry_library(c, ex, path, "in practice");
    if (vendor_file(ex, path)) carry_library(c, ex, path, "CUB");
}

int cmd_gpu_build(const struct options *o) {
    struct err e = {0};
    unsigned cc = o->nnames == 1 ? (unsigned)strtoul(o->names[0], NULL, 10) : 90;
    if (o->nnames > 1 || cc < 75 || cc > 90) {
        err_set(&e, ERR_INPUT,
                "usage: grader gpu-build [CC], where CC is a compute capability from 75 to 90");
        return cli_complain(&e);
    }
    build_add_target(cc);
    struct carry c = {0};
    for (unsigned i = 0; i < book_count(); i++) carry(&c, book_at(i));
    progress_clear();
    printf("%u files are compiled and can be carried along, %u are not.\n", c.built, c.failed);
    return c.failed ? EXIT_FAILED : EXIT_PASSED;
}

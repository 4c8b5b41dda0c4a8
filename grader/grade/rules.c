/* rules.c — rules that all gradings share: the budgets of a case, the device on which counters are
 * taken, safe file names, and what a result keeps of ptxas' output. */
#include "common/file.h"
#include "common/text.h"
#include "grader/grade/grading_ctx.h"

#include <stdio.h>
#include <string.h>

/* The instruction budgets decide. The time limits are longer than any budget takes on an idle core,
 * even with the slowest instruction: an atomic of 32 lanes on one word, 0.3 us. */
const struct case_plan grade_plan_correctness = {
    .rounds = 2, .sanitize = true, .max_instructions = 50000000, .timeout_seconds = 30};
const struct case_plan grade_plan_technique = {
    .rounds = 1, .timing = true, .max_instructions = 100000000, .timeout_seconds = 60};
const struct case_plan grade_plan_counted = {.rounds = 1,
                                             .sanitize = true,
                                             .timing = true,
                                             .max_instructions = 100000000,
                                             .timeout_seconds = 60};
/* The budget must allow 1024 warps that each execute 100 000 instructions of a matrix product. */
const struct case_plan grade_plan_timed = {.rounds = 1,
                                           .timing = true,
                                           .max_instructions = 100000000,
                                           .timeout_seconds = 60,
                                           .sample_warps = 1024};

const struct case_plan grade_plan_full_grid = {.rounds = 1,
                                               .watch = true,
                                               .timing = true,
                                               .max_instructions = 400000000,
                                               .timeout_seconds = 600};

struct case_plan grade_known_size_plan(const struct exercise *ex, const struct case_plan *plan) {
    struct case_plan p = *plan;
    if (ex->known_size_rounds) p.rounds = ex->known_size_rounds;
    return p;
}

const struct case_plan *grade_reference_plan(const struct exercise *ex) {
    return ex->devices > 1 ? &grade_plan_full_grid : &grade_plan_timed;
}

void grade_safe_file_name(const struct exercise *ex, const char *path, char *out, size_t size) {
    const char *base = path_basename(path);
    bool plain =
        base[0] != '-' && base[0] != '.' && text_ends_with(base, ".cu") && strlen(base) < 64;
    for (const char *p = base; plain && *p; p++)
        plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                strchr("._-+", *p);
    if (plain) snprintf(out, size, "%s", base);
    else snprintf(out, size, "%s.cu", ex->name);
}

const struct gpu_device *grade_device(void) { return device_find("h200"); }

void result_fill_kernels(struct result *r, const struct ptxas *p) {
    r->kernels = arena_array(&r->arena, struct kernel_result, p->nkernels);
    r->nkernels = 0;
    for (unsigned i = 0; i < p->nkernels; i++) {
        struct buf name = {0};
        buf_puts(&name, p->kernels[i].name);
        text_demangle(&name);
        r->kernels[r->nkernels++] =
            (struct kernel_result){grade_clean_name(&r->arena, buf_str(&name)),
                                   p->kernels[i].registers, p->kernels[i].spill_bytes};
        buf_free(&name);
    }
}

/* model_solution.c — counts the instructions of the model solution in a case: for the budget at the
 * timed size, and for the message to a submission that used up its own. */
#include "grader/grade/grading_ctx.h"
#include "common/file.h"
#include "grader/book/book.h"

static bool build_model_solution(struct grading_ctx *g, struct build *b, struct err *e) {
    struct buf source = {0};
    char name[128];
    const char *path = book_solution_file(g->ex, NULL);
    grade_safe_file_name(g->ex, path, name, sizeof name);
    bool ok =
        file_read(path, SOURCE_LIMIT, &source, e) &&
        build_run(&(struct build_source){name, source.data, source.size, g->ex->sm_90a}, b, e);
    buf_free(&source);
    return ok;
}

static uint64_t run_model_solution(struct grading_ctx *g, const struct build *b,
                                   const struct ex_case *c, const struct case_plan *plan) {
    struct err e = {0};
    struct ptxas p = {0};
    struct case_run run;
    uint64_t n = 0;
    const struct gpu_device *d = grade_device();
    ptxas_finish(ptxas_start(b, d->cc_major * 10 + d->cc_minor), &p);
    struct session_options so = {
        .device = d, .seed = g->o->seed, .workers = g->o->workers, .ptxas_result = &p};
    struct session *s = session_open(g->ex, b, &so, &e);
    if (s) {
        session_case(s, c, plan, &run);
        if (run.verdict == V_AC) n = run.launch_stats.counters.inst_executed;
        session_case_free(&run);
    }
    session_close(s);
    ptxas_free(&p);
    return n;
}

uint64_t grade_model_instructions(struct grading_ctx *g, const struct ex_case *c, unsigned index) {
    struct case_plan plan = c == &g->ex->timed_case ? grade_plan_timed : grade_plan_technique;
    struct build b;
    struct err e = {0};
    if (!book_has_solutions() || !build_model_solution(g, &b, &e)) return 0;
    plan.index = index;
    uint64_t n = b.ok ? run_model_solution(g, &b, c, &plan) : 0;
    build_free(&b);
    return n;
}

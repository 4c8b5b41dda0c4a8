/* workbench_jobs.c — what the grading process of `grader serve` does for each job: it grades,
 * judges an answer of a quiz, sweeps parameters, or runs a program of the playground. */
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/cli/quiz.h"
#include "grader/cli/tune.h"
#include "grader/cli/workbench.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void put_failure(const struct workbench_output *out, const struct err *e) {
    workbench_put_event(out, "failure", json_pack("{s:s}", "message", e->text));
}

static void on_step(void *user, const char *step) {
    workbench_put_event(user, "step", json_pack("{s:s}", "step", step));
}

/* Progress holds results of one device, the one that the server was started with. */
static void grade(const struct workbench_output *out) {
    const struct gpu_device *d = out->job->device;
    const struct exercise *ex = book_at(out->job->index);
    struct grade_options go = options_to_grade_options(out->o, d);
    struct workbench_output progress = *out;
    struct result r;
    struct err e = {0};
    go.progress = on_step, go.user = &progress, go.reuse = options_reuse(out->o);
    if (!grade_file(ex, book_student_file(ex), &go, &r, &e)) {
        put_failure(out, &e);
        return;
    }
    if (d == out->o->devices[0]) progress_record(&r, d);
    workbench_put_event(out, "result", workbench_result_json(d, &r));
    result_free(&r);
}

/* ---- a quiz ---- */

static json_t *judgement_json(const char *chapter, const struct quiz_question *q, unsigned number,
                              const char *answer, struct err *e) {
    double expected = q->answer;
    bool is_correct;
    char text[64];
    if (!quiz_judge(q, answer, expected, &is_correct, e)) return NULL; /* of the wrong form */
    if (q->is_counted && (!quiz_measure(chapter, q, &expected, e) ||
                          !quiz_judge(q, answer, expected, &is_correct, e)))
        return NULL;
    if (q->correct_choice) snprintf(text, sizeof text, "%c", q->correct_choice);
    else snprintf(text, sizeof text, "%.6g", expected);
    return json_pack("{s:i, s:b, s:s, s:s, s:b, s:s, s:s, s:s}", "question", (int)number,
                     "is_correct", (int)is_correct, "expected", text, "explanation", q->explanation,
                     "is_counted", (int)q->is_counted, "counter", q->counter, "denominator",
                     q->denominator, "file", q->file);
}

static void judge(const struct workbench_output *out) {
    const char *chapter = book_at(out->job->index)->chapter;
    struct quiz quiz = {0};
    struct err e = {0};
    unsigned number = 0;
    int used = 0;
    json_t *o = NULL;
    sscanf(out->job->argument, "%u %n", &number, &used);
    if (quiz_open(chapter, &quiz, &e)) {
        if (number < 1 || number > quiz.n) err_set(&e, ERR_INPUT, "there is no such question");
        else
            o = judgement_json(chapter, &quiz.questions[number - 1], number,
                               out->job->argument + used, &e);
    }
    if (!o) o = json_pack("{s:i, s:s}", "question", (int)number, "error", e.text);
    workbench_put_event(out, "answer", o);
    quiz_free(&quiz);
}

/* ---- a sweep ---- */

static void on_row(void *user, const struct tune_page *p, const struct tune_row *row,
                   const char *reason) {
    char label[TUNE_MAX_LABEL];
    tune_label(p->space, row->combination, label);
    workbench_put_event(user, "row",
                        json_pack("{s:s, s:s, s:f, s:s, s:i, s:i, s:b, s:s}", "label", label,
                                  "verdict", row->verdict, "us", row->us, "reason", reason, "index",
                                  (int)row->combination, "total", (int)p->space->ncombinations,
                                  "is_current", (int)(row->combination == p->space->current),
                                  "device", p->devices[0]));
}

static void sweep(const struct workbench_output *out) {
    struct options o = *out->o;
    const char *operand = book_id(book_at(out->job->index));
    struct workbench_output rows = *out;
    struct err e = {0};
    o.operands = &operand, o.noperands = 1;
    o.devices[0] = out->job->device, o.ndevices = 1;
    if (tune_sweep(&o, on_row, &rows, &e)) workbench_put_event(out, "swept", json_object());
    else put_failure(out, &e);
}

/* ---- the playground ---- */

static void play(const struct workbench_output *out) {
    struct err e = {0};
    json_t *o = workbench_play_json(out->job->argument, out->job->device->name, &e);
    if (o) workbench_put_event(out, "played", o);
    else put_failure(out, &e);
}

void workbench_run_job(const struct workbench_output *out) {
    static void (*const run[])(const struct workbench_output *) = {[WORKBENCH_GRADE] = grade,
                                                                   [WORKBENCH_QUIZ] = judge,
                                                                   [WORKBENCH_TUNE] = sweep,
                                                                   [WORKBENCH_PLAY] = play};
    run[out->job->kind](out);
}

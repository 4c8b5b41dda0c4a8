/* cmd_quiz.c — grader quiz CHAPTER: the chapter's questions (quiz.h). On a terminal it asks one
 * after another; with --answers it judges those; else it only shows them. What is counted, the
 * simulated GPU counts when the question is asked. Status 0 where all answers were right, 1 where
 * one was not. */
#include "common/text.h"
#include "common/where.h"
#include "grader/cli/commands.h"
#include "grader/cli/quiz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 200 };

static void say_question(const struct quiz_question *q, unsigned i, unsigned n, struct buf *out) {
    struct report_style style = cli_style_for(1);
    buf_printf(out, "Question %u of %u: ", i + 1, n);
    report_markdown(q->text + strcspn(q->text, " ") + 1, &style, out);
    buf_puts(out, "\n");
}

static void say_result(const struct quiz_question *q, bool right, double figure, struct buf *out) {
    buf_puts(out, right ? "Right: " : "No: ");
    if (q->choice) buf_printf(out, "it is %c.\n", q->choice);
    else
        buf_printf(out, "it is %.6g%s.\n", figure,
                   q->counted ? ", counted by the simulated GPU" : "");
    struct report_style style = cli_style_for(1);
    report_markdown(q->why, &style, out);
    if (q->counted)
        buf_printf(out, "(%s%s%s in %s)\n", q->counter, q->over[0] ? " / " : "", q->over, q->file);
    buf_puts(out, "\n");
}

static bool figure_of(const char *chapter, const struct quiz_question *q, double *figure,
                      struct err *e) {
    *figure = q->answer;
    return !q->counted || quiz_count(chapter, q, figure, e);
}

static void say_sum(unsigned right, unsigned n, struct buf *out) {
    buf_printf(out, "%u of %u right.\n", right, n);
}

/* ---- answers from the command line ---- */

/* The i-th of "2,b,0.5"; false past the last one. */
static bool given(const char *answers, unsigned i, char *out, size_t size) {
    for (; i && (answers = strchr(answers, ',')); i--) answers++;
    if (!answers) return false;
    size_t n = strcspn(answers, ",");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), answers);
    return true;
}

static unsigned count_given(const char *answers) {
    unsigned n = 1;
    for (; (answers = strchr(answers, ',')); answers++) n++;
    return n;
}

static bool judge_all(const char *chapter, const struct quiz *quiz, const char *answers,
                      struct buf *out, unsigned *right, struct err *e) {
    unsigned have = count_given(answers);
    if (have != quiz->n)
        return err_set(e, ERR_INPUT, "--answers has %u answers, and %s %u questions", have, chapter,
                       quiz->n);
    for (unsigned i = 0; i < quiz->n; i++) {
        const struct quiz_question *q = &quiz->questions[i];
        char text[LINE];
        double figure;
        bool ok = false;
        struct err wrong = {0};
        given(answers, i, text, sizeof text);
        if (!figure_of(chapter, q, &figure, e)) return false;
        if (!quiz_judge(q, text, figure, &ok, &wrong))
            return err_set(e, ERR_INPUT, "question %u: %s", i + 1, wrong.text);
        say_question(q, i, quiz->n, out);
        say_result(q, ok, figure, out);
        *right += ok;
    }
    say_sum(*right, quiz->n, out);
    return true;
}

/* ---- a terminal ---- */

/* Asks until there is an answer that fits; false at the end of the input. */
static bool ask(const struct quiz_question *q, double figure, bool *right) {
    char text[LINE];
    for (;;) {
        struct err e = {0};
        fputs("> ", stdout), fflush(stdout);
        if (!fgets(text, sizeof text, stdin)) return false;
        text[strcspn(text, "\n")] = 0;
        if (quiz_judge(q, text, figure, right, &e)) return true;
        printf("%s; Ctrl-D ends.\n", e.text);
    }
}

static bool ask_all(const char *chapter, const struct quiz *quiz, unsigned *right, struct err *e) {
    for (unsigned i = 0; i < quiz->n; i++) {
        const struct quiz_question *q = &quiz->questions[i];
        struct buf out = {0};
        double figure;
        bool ok = false;
        say_question(q, i, quiz->n, &out);
        fputs(buf_str(&out), stdout), fflush(stdout);
        buf_clear(&out);
        bool counted = figure_of(chapter, q, &figure, e), answered = counted && ask(q, figure, &ok);
        if (answered) say_result(q, ok, figure, &out);
        else if (counted) buf_puts(&out, "\n");
        *right += ok;
        if (i + 1 == quiz->n || !answered) say_sum(*right, quiz->n, &out);
        fputs(buf_str(&out), stdout);
        buf_free(&out);
        if (!answered) return counted;
    }
    return true;
}

static void show_all(const char *chapter, const struct quiz *quiz, struct buf *out) {
    for (unsigned i = 0; i < quiz->n; i++) say_question(&quiz->questions[i], i, quiz->n, out);
    buf_printf(out, "Answer them: %s quiz %s --answers 1,b,…\n", paths_command("grader"), chapter);
}

/* ---- the command ---- */

static const char *chapter_named(const struct options *o, struct err *e) {
    if (o->nnames != 1)
        return err_set(e, ERR_INPUT, "quiz takes one chapter, such as 04 (see: grader list)"), NULL;
    const struct exercise **found = book_find(o->names[0], e);
    const char *chapter = found ? found[0]->chapter : NULL;
    free(found);
    return chapter;
}

int cmd_quiz(const struct options *o) {
    struct err e = {0};
    struct quiz quiz = {0};
    struct buf out = {0};
    unsigned right = 0;
    bool judged = true;
    const char *chapter = chapter_named(o, &e);
    bool ok = chapter && quiz_open(chapter, &quiz, &e);
    if (ok && o->answers) ok = judge_all(chapter, &quiz, o->answers, &out, &right, &e);
    else if (ok && isatty(0) && isatty(1) && !o->output) ok = ask_all(chapter, &quiz, &right, &e);
    else if (ok) show_all(chapter, &quiz, &out), judged = false;
    ok = ok && cli_deliver(o, &out, &e);
    int status = !judged || right == quiz.n ? EXIT_PASSED : EXIT_FAILED;
    quiz_free(&quiz), buf_free(&out);
    return ok ? status : cli_complain(&e);
}

/* cmd_quiz.c — grader quiz CHAPTER: the chapter's questions (quiz.h). On a terminal it asks one
 * after another; with --answers it judges those; else it only shows them. For a counted answer it
 * runs the question's program on the simulated GPU. Exit status 0: all answers were right; 1: one
 * was wrong. */
#include "common/text.h"
#include "common/paths.h"
#include "grader/cli/commands.h"
#include "grader/cli/quiz_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ANSWER = 200 };

static void put_question(const struct quiz_question *q, unsigned i, unsigned n, struct buf *out) {
    struct report_style style = cli_style_for(1);
    buf_printf(out, "Question %u of %u: ", i + 1, n);
    report_markdown(q->text + strcspn(q->text, " ") + 1, &style, out);
    buf_puts(out, "\n");
}

static void put_result(const struct quiz_question *q, bool is_correct, double expected,
                       struct buf *out) {
    buf_puts(out, is_correct ? "Right: " : "No: ");
    if (q->correct_choice) buf_printf(out, "it is %c.\n", q->correct_choice);
    else
        buf_printf(out, "it is %.6g%s.\n", expected,
                   q->is_counted ? ", counted by the simulated GPU" : "");
    struct report_style style = cli_style_for(1);
    report_markdown(q->explanation, &style, out);
    if (q->is_counted)
        buf_printf(out, "(%s%s%s in %s)\n", q->counter, q->denominator[0] ? " / " : "",
                   q->denominator, q->file);
    buf_puts(out, "\n");
}

static bool expected_value(const char *chapter, const struct quiz_question *q, double *expected,
                           struct err *e) {
    *expected = q->answer;
    return !q->is_counted || quiz_measure(chapter, q, expected, e);
}

static void put_total(unsigned correct_count, unsigned n, struct buf *out) {
    buf_printf(out, "%u of %u right.\n", correct_count, n);
}

/* ---- answers from the command line ---- */

/* Copies the i-th answer of "2,b,0.5"; false past the last one. */
static bool nth_answer(const char *answers, unsigned i, char *out, size_t size) {
    for (; i && (answers = strchr(answers, ',')); i--) answers++;
    if (!answers) return false;
    size_t n = strcspn(answers, ",");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), answers);
    return true;
}

static unsigned count_answers(const char *answers) {
    unsigned n = 1;
    for (; (answers = strchr(answers, ',')); answers++) n++;
    return n;
}

static bool judge_answers(const char *chapter, const struct quiz *quiz, const char *answers,
                          struct buf *out, unsigned *correct_count, struct err *e) {
    unsigned answer_count = count_answers(answers);
    if (answer_count != quiz->n)
        return err_set(e, ERR_INPUT, "--answers has %u answers, but %s has %u questions",
                       answer_count, chapter, quiz->n);
    for (unsigned i = 0; i < quiz->n; i++) {
        const struct quiz_question *q = &quiz->questions[i];
        char text[MAX_ANSWER];
        double expected;
        bool ok = false;
        struct err answer_error = {0};
        nth_answer(answers, i, text, sizeof text);
        if (!expected_value(chapter, q, &expected, e)) return false;
        if (!quiz_judge(q, text, expected, &ok, &answer_error))
            return err_set(e, ERR_INPUT, "question %u: %s", i + 1, answer_error.text);
        put_question(q, i, quiz->n, out);
        put_result(q, ok, expected, out);
        *correct_count += ok;
    }
    put_total(*correct_count, quiz->n, out);
    return true;
}

/* ---- a terminal ---- */

/* Prompts until the answer has the right form; false at the end of the input. */
static bool prompt(const struct quiz_question *q, double expected, bool *is_correct) {
    char text[MAX_ANSWER];
    for (;;) {
        struct err e = {0};
        fputs("> ", stdout), fflush(stdout);
        if (!fgets(text, sizeof text, stdin)) return false;
        text[strcspn(text, "\n")] = 0;
        if (quiz_judge(q, text, expected, is_correct, &e)) return true;
        printf("%s (Ctrl-D quits)\n", e.text);
    }
}

static bool prompt_all(const char *chapter, const struct quiz *quiz, unsigned *correct_count,
                       struct err *e) {
    for (unsigned i = 0; i < quiz->n; i++) {
        const struct quiz_question *q = &quiz->questions[i];
        struct buf out = {0};
        double expected;
        bool ok = false;
        put_question(q, i, quiz->n, &out);
        fputs(buf_str(&out), stdout), fflush(stdout);
        buf_clear(&out);
        bool has_expected = expected_value(chapter, q, &expected, e),
             is_answered = has_expected && prompt(q, expected, &ok);
        if (is_answered) put_result(q, ok, expected, &out);
        else if (has_expected) buf_puts(&out, "\n");
        *correct_count += ok;
        if (i + 1 == quiz->n || !is_answered) put_total(*correct_count, quiz->n, &out);
        fputs(buf_str(&out), stdout);
        buf_free(&out);
        if (!is_answered) return has_expected;
    }
    return true;
}

static void put_all_questions(const char *chapter, const struct quiz *quiz, struct buf *out) {
    for (unsigned i = 0; i < quiz->n; i++) put_question(&quiz->questions[i], i, quiz->n, out);
    buf_printf(out, "Answer with: %s quiz %s --answers 1,b,…\n", paths_command("grader"), chapter);
}

/* ---- export for an LMS ---- */

/* Collects the chapters of the exercises, each once; returns their number. */
static unsigned list_chapters(const struct exercise *const *exercises,
                              struct quiz_chapter *chapters) {
    unsigned n = 0;
    for (; *exercises; exercises++) {
        const char *name = exercises[0]->chapter;
        if (!quiz_exists(name) || (n && !strcmp(chapters[n - 1].name, name))) continue;
        struct buf title = {0};
        buf_printf(&title, "%.2s · ", name);
        book_chapter_title(*exercises, &title);
        chapters[n++] = (struct quiz_chapter){.name = name, .title = title.data};
    }
    return n;
}

static bool export_chapters(const struct options *o, struct quiz_chapter *chapters, unsigned n,
                            struct buf *out, struct err *e) {
    for (unsigned i = 0; i < n; i++)
        if (!quiz_open(chapters[i].name, &chapters[i].quiz, e)) return false;
    if (!strcmp(o->export_format, "qti")) return quiz_export_qti(chapters, n, out, e);
    return quiz_export_gift(chapters, n, out), true;
}

/* The file holds answers that `grader verify` has compared with the simulated GPU. */
static bool write_export(const struct options *o, struct err *e) {
    bool is_known = !strcmp(o->export_format, "gift") || !strcmp(o->export_format, "qti");
    if (!is_known)
        return err_set(e, ERR_INPUT, "--export '%.40s' is unknown; choose gift or qti",
                       o->export_format);
    if (!o->output) return err_set(e, ERR_INPUT, "quiz --export needs --output F");
    const struct exercise **list = cli_select_exercises(o, e);
    if (!list) return false;
    struct quiz_chapter *chapters = xcalloc(book_count(), sizeof *chapters);
    struct buf out = {0};
    unsigned n = list_chapters(list, chapters);
    bool ok = export_chapters(o, chapters, n, &out, e) && cli_write_output(o, &out, e);
    for (unsigned i = 0; i < n; i++) quiz_free(&chapters[i].quiz), free((char *)chapters[i].title);
    free(chapters), free(list), buf_free(&out);
    return ok;
}

/* ---- the command ---- */

static const char *find_chapter(const struct options *o, struct err *e) {
    if (o->noperands != 1)
        return err_set(e, ERR_INPUT, "quiz takes one chapter, such as 04 (see: grader list)"), NULL;
    const struct exercise **found = book_find(o->operands[0], e);
    const char *chapter = found ? found[0]->chapter : NULL;
    free(found);
    return chapter;
}

int cmd_quiz(const struct options *o) {
    struct err e = {0};
    struct quiz quiz = {0};
    struct buf out = {0};
    unsigned correct_count = 0;
    bool is_judged = true;
    if (o->export_format) return write_export(o, &e) ? EXIT_PASSED : cli_report_error(&e);
    const char *chapter = find_chapter(o, &e);
    bool ok = chapter && quiz_open(chapter, &quiz, &e);
    if (ok && o->answers) ok = judge_answers(chapter, &quiz, o->answers, &out, &correct_count, &e);
    else if (ok && isatty(0) && isatty(1) && !o->output)
        ok = prompt_all(chapter, &quiz, &correct_count, &e);
    else if (ok) put_all_questions(chapter, &quiz, &out), is_judged = false;
    ok = ok && cli_write_output(o, &out, &e);
    int status = !is_judged || correct_count == quiz.n ? EXIT_PASSED : EXIT_FAILED;
    quiz_free(&quiz), buf_free(&out);
    return ok ? status : cli_report_error(&e);
}

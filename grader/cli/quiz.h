/* quiz.h — a chapter's questions, which students answer before they read the lesson:
 * chapters/NN-slug/quiz.md. `grader quiz` asks them, `grader verify` checks the page.
 *
 * The page is Markdown. "## N. Title" begins a question; its text follows, with the choices, if it
 * has any, as lines "- a. …". A comment, which no page shows, ends it:
 *
 *     <!--quiz
 *     answer: 8
 *     within: 0.5
 *     counted: global_load_sectors / global_load_requests of every_second in quiz/strides.cu
 *     why: Any text, to the end of the comment.
 *     -->
 *
 * `answer` is a number (also a fraction, 1/12, or a percentage, 62.5%) or a letter. `within` is the
 * tolerance of a number, 0 by default. `counted` makes the simulated GPU check the answer: it names
 * a counter, or a quotient of two, as in `simgpu run --counters json`, of one kernel or of all
 * launches, in a program beside the page. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

enum { QUIZ_MIN_QUESTIONS = 3, QUIZ_MAX_QUESTIONS = 8, QUIZ_MAX_NAME = 96 };

struct quiz_question {
    char *text, *explanation;
    char correct_choice;      /* the right letter; 0 = the answer is a number */
    unsigned nchoices;        /* letters a, b, … */
    double answer, tolerance; /* if the answer is a number */
    bool is_counted;          /* the page has `counted`; its parts follow, "" = absent */
    char counter[QUIZ_MAX_NAME], denominator[QUIZ_MAX_NAME], kernel[QUIZ_MAX_NAME],
        file[QUIZ_MAX_NAME];
};

struct quiz {
    struct quiz_question *questions;
    unsigned n, capacity;
};

/* Parses a page; errors name the question. The caller frees `q` in any case. */
bool quiz_parse(const char *text, struct quiz *q, struct err *e);
void quiz_free(struct quiz *q);
/* Parses the page of a chapter; ERR_INPUT if it has none. */
bool quiz_open(const char *chapter, struct quiz *q, struct err *e);
bool quiz_exists(const char *chapter);

/* Judges what a student typed. `expected`: the right number. Returns false with an error that
 * describes the required form, if the text has another. */
bool quiz_judge(const struct quiz_question *q, const char *answer_text, double expected,
                bool *is_correct, struct err *e);
bool quiz_parse_number(const char *text, double *out);

/* Builds a program of the chapter ("quiz/x.cu") if needed, runs it on the simulated GPU and appends
 * the output of `simgpu run --counters json`. It draws the program's pictures into the folder
 * `pictures`; NULL = none. */
bool quiz_run(const char *chapter, const char *file, const char *pictures, struct buf *json,
              struct err *e);
/* Builds the question's program and runs it on the simulated GPU. `*expected`: what it counts. */
bool quiz_measure(const char *chapter, const struct quiz_question *q, double *expected,
                  struct err *e);
/* Takes the question's number from the output of `simgpu run --counters json`. */
bool quiz_read_counter(const char *json, const struct quiz_question *q, double *expected,
                       struct err *e);
/* Appends a line for each problem of a chapter's page, such as an answer that differs from the
 * simulated GPU's count. */
void quiz_check(const char *chapter, struct buf *problems);

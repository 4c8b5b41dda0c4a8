/* quiz.h — a chapter's questions, to be answered before the lesson is read:
 * chapters/NN-slug/quiz.md.
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
 * `answer` is a number (also a fraction, 1/12, or a percentage, 62.5%) or a letter; `within` what a
 * number may differ by (0); `counted` names what the simulator is to count: a counter or one over
 * another, as `simgpu run --counters json` calls them, of one kernel or of all launches, in a
 * program beside the page. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

enum { QUIZ_MIN_QUESTIONS = 3, QUIZ_MAX_QUESTIONS = 6, QUIZ_MAX_NAME = 96 };

struct quiz_question {
    char *text, *explanation;
    char correct_choice;      /* the right letter; 0: a number is asked */
    unsigned nchoices;        /* letters a, b, … */
    double answer, tolerance; /* of a number */
    bool is_measured;
    char counter[QUIZ_MAX_NAME], denominator[QUIZ_MAX_NAME], kernel[QUIZ_MAX_NAME],
        file[QUIZ_MAX_NAME]; /* "" where there is none */
};

struct quiz {
    struct quiz_question *questions;
    unsigned n, capacity;
};

/* Reads a page; errors name the question. `q` is to be freed in any case. */
bool quiz_parse(const char *text, struct quiz *q, struct err *e);
void quiz_free(struct quiz *q);
/* The page of a chapter; ERR_INPUT where it has none. */
bool quiz_open(const char *chapter, struct quiz *q, struct err *e);
bool quiz_exists(const char *chapter);

/* What somebody typed: an error says what the question wants instead. `figure`: the right number.
 */
bool quiz_judge(const struct quiz_question *q, const char *answer_text, double expected,
                bool *is_correct, struct err *e);
bool quiz_parse_number(const char *text, double *out);

/* Builds a program of the chapter ("quiz/x.cu") where it is not yet and runs it on the simulated
 * GPU: what `simgpu run --counters json` writes is appended. What its lines want drawn goes into
 * the folder `pictures`, if one is given. */
bool quiz_run(const char *chapter, const char *file, const char *pictures, struct buf *json,
              struct err *e);
/* Builds the question's program and runs it on the simulated GPU; the figure that it counts. */
bool quiz_measure(const char *chapter, const struct quiz_question *q, double *expected,
                  struct err *e);
/* The figure out of what `simgpu run --counters json` wrote. */
bool quiz_read_counter(const char *json, const struct quiz_question *q, double *expected,
                       struct err *e);
/* Appends a line for everything that is wrong with a chapter's page, the stated answers against the
 * simulator's among it. */
void quiz_check(const char *chapter, struct buf *problems);

/* quiz_export.h — a chapter's questions for a learning management system: GIFT for Moodle, a
 * package of QTI 1.2 for Canvas and others. Both contain the answers, so they are for teachers. */
#pragma once
#include "grader/cli/quiz.h"

enum quiz_export_format { QUIZ_GIFT, QUIZ_QTI };

struct quiz_chapter {
    const char *name;  /* "02-coalescing" */
    const char *title; /* of the lesson */
    struct quiz quiz;
};

/* Appends the questions as GIFT, a category for each chapter. */
void quiz_export_gift(const struct quiz_chapter *chapters, unsigned n, struct buf *out);
/* Appends a zip file with a QTI assessment for each chapter and a manifest. */
bool quiz_export_qti(const struct quiz_chapter *chapters, unsigned n, struct buf *out,
                     struct err *e);

/* Appends the Markdown of a question as HTML: paragraphs, code, emphasis. */
void quiz_html(const char *markdown, size_t size, struct buf *out);
/* Returns the tolerance that an export allows. An LMS takes decimals only, so 1/6 also accepts
 * 0.167. */
double quiz_export_tolerance(const struct quiz_question *q);

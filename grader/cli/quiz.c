/* quiz.c — parses a page of questions and judges answers (quiz.h). */
#include "grader/cli/quiz.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/book.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAGE_BYTES = 1 << 18 };
static const char comment_open[] = "<!--quiz\n", comment_close[] = "-->";

/* ---- answers ---- */

bool quiz_parse_number(const char *text, double *out) {
    char *end;
    double v = strtod(text, &end), denominator = 1;
    if (end == text) return false;
    if (*end == '/') {
        const char *denominator_text = end + 1;
        denominator = strtod(denominator_text, &end);
        if (end == denominator_text || denominator == 0) return false;
    }
    if (*end == '%') denominator *= 100, end++;
    end += strspn(end, " \t\r\n");
    *out = v / denominator;
    return !*end && isfinite(*out);
}

/* Returns the letter of a choice, in lower case; 0 if the text is no single valid letter. */
static char parse_choice(const char *text, unsigned choices) {
    char c = (char)(text[0] | 32);
    bool is_single = text[0] && !text[1 + strspn(text + 1, ".) \t\r\n")];
    return is_single && c >= 'a' && c < (char)('a' + choices) ? c : 0;
}

bool quiz_judge(const struct quiz_question *q, const char *answer_text, double expected,
                bool *is_correct, struct err *e) {
    double v;
    answer_text += strspn(answer_text, " \t");
    if (q->correct_choice) {
        char c = parse_choice(answer_text, q->nchoices);
        if (!c)
            return err_set(e, ERR_INPUT, "the answer must be a letter from a to %c",
                           'a' + (int)q->nchoices - 1);
        *is_correct = c == q->correct_choice;
        return true;
    }
    if (!quiz_parse_number(answer_text, &v))
        return err_set(e, ERR_INPUT,
                       "the answer must be a number, such as 12, 0.5, 1/12 or 62.5%%");
    *is_correct = fabs(v - expected) <= q->tolerance + 1e-9 * fabs(expected);
    return true;
}

/* ---- the page ---- */

static char *copy_trimmed(const char *from, const char *end) {
    while (from < end && strchr(" \n", *from)) from++;
    while (end > from && strchr(" \n", end[-1])) end--;
    char *s = xmalloc((size_t)(end - from) + 1);
    memcpy(s, from, (size_t)(end - from));
    s[end - from] = 0;
    return s;
}

/* Parses "COUNTER [/ COUNTER] [of KERNEL] in FILE". */
static bool parse_measurement(struct quiz_question *q, const char *value) {
    char rest[256] = "", more;
    q->is_counted = true;
    int n = sscanf(value, "%95s in %95s %c", q->counter, q->file, &more);
    if (n == 2) return true;
    if (sscanf(value, "%95s / %95s %255[^\n]", q->counter, q->denominator, rest) != 3) {
        q->denominator[0] = 0;
        if (sscanf(value, "%95s %255[^\n]", q->counter, rest) != 2) return false;
    }
    if (sscanf(rest, "in %95s %c", q->file, &more) == 1) return true;
    return sscanf(rest, "of %95s in %95s %c", q->kernel, q->file, &more) == 2;
}

static bool parse_field(struct quiz_question *q, const char *key, const char *value) {
    if (!strcmp(key, "answer")) {
        q->correct_choice = parse_choice(value, 26);
        return q->correct_choice || quiz_parse_number(value, &q->answer);
    }
    if (!strcmp(key, "within")) return quiz_parse_number(value, &q->tolerance) && q->tolerance >= 0;
    return !strcmp(key, "counted") && parse_measurement(q, value);
}

static void count_choices(struct quiz_question *q) {
    char line[8];
    for (q->nchoices = 0; q->nchoices < 26; q->nchoices++) {
        snprintf(line, sizeof line, "\n- %c. ", 'a' + (int)q->nchoices);
        if (!strstr(q->text, line)) return;
    }
}

/* Parses the comment's lines. The last field is `why`, which extends to the end. */
static bool parse_fields(struct quiz_question *q, const char *from, const char *end,
                         const char *title, struct err *e) {
    bool has_answer = false;
    while (from < end) {
        const char *stop = memchr(from, '\n', (size_t)(end - from)),
                   *colon = memchr(from, ':', (size_t)(end - from));
        char key[16], value[300];
        if (!stop) stop = end;
        if (!colon || colon > stop || colon - from >= (long)sizeof key ||
            stop - colon >= (long)sizeof value)
            return err_set(e, ERR_INPUT, "%s: `%.*s` is not a line `key: value`", title,
                           (int)(stop - from), from);
        snprintf(key, sizeof key, "%.*s", (int)(colon - from), from);
        if (!strcmp(key, "why"))
            return q->explanation = copy_trimmed(colon + 1, end),
                   has_answer || err_set(e, ERR_INPUT, "%s: no answer", title);
        snprintf(value, sizeof value, "%.*s", (int)(stop - colon - 1), colon + 1);
        if (!parse_field(q, key, value + strspn(value, " ")))
            return err_set(e, ERR_INPUT, "%s: `%s:%.200s` is invalid", title, key, value);
        has_answer |= !strcmp(key, "answer");
        from = stop + 1;
    }
    return err_set(e, ERR_INPUT, "%s: no `why:`", title);
}

static bool validate_question(const struct quiz_question *q, const char *title, struct err *e) {
    if (!q->explanation || !*q->explanation)
        return err_set(e, ERR_INPUT, "%s: `why:` is empty", title);
    if (!q->correct_choice)
        return !q->nchoices ||
               err_set(e, ERR_INPUT, "%s: it has choices, but the answer is a number", title);
    if (q->is_counted)
        return err_set(e, ERR_INPUT, "%s: a counted answer must be a number, not a letter", title);
    return (q->nchoices >= 2 && q->correct_choice < (char)('a' + q->nchoices)) ||
           err_set(e, ERR_INPUT, "%s: the answer is `%c`, but it has %u choices (- a. …)", title,
                   q->correct_choice, q->nchoices);
}

/* Parses one question, from its heading to the next heading. */
static bool parse_question(struct quiz *quiz, const char *from, const char *end, struct err *e) {
    char title[80];
    const char *comment = strstr(from, comment_open),
               *close = comment ? strstr(comment, comment_close) : NULL;
    snprintf(title, sizeof title, "%.*s", (int)strcspn(from + 3, "\n"), from + 3);
    if (!close || close >= end)
        return err_set(e, ERR_INPUT, "%s: no comment `<!--quiz … -->`", title);
    GROW(quiz->questions, quiz->n + 1, quiz->capacity, 8);
    struct quiz_question *q = &quiz->questions[quiz->n++];
    *q = (struct quiz_question){.text = copy_trimmed(from + 3, comment)};
    count_choices(q);
    const char *rest = close + strlen(comment_close);
    if (rest + strspn(rest, " \n") < end)
        return err_set(e, ERR_INPUT, "%s: there is text after its comment", title);
    return parse_fields(q, comment + strlen(comment_open), close, title, e) &&
           validate_question(q, title, e);
}

bool quiz_parse(const char *text, struct quiz *q, struct err *e) {
    *q = (struct quiz){0};
    const char *at = strstr(text, "\n## ");
    for (; at; at = strstr(at + 1, "\n## ")) {
        const char *next = strstr(at + 1, "\n## ");
        char number[16];
        snprintf(number, sizeof number, "\n## %u. ", q->n + 1);
        if (!text_starts_with(at, number))
            return err_set(e, ERR_INPUT, "question %u must begin with a line `%s…`", q->n + 1,
                           number + 1);
        if (!parse_question(q, at + 1, next ? next : at + strlen(at), e)) return false;
    }
    return (q->n >= QUIZ_MIN_QUESTIONS && q->n <= QUIZ_MAX_QUESTIONS) ||
           err_set(e, ERR_INPUT, "%u questions; a page has %d to %d", q->n, QUIZ_MIN_QUESTIONS,
                   QUIZ_MAX_QUESTIONS);
}

void quiz_free(struct quiz *q) {
    for (unsigned i = 0; i < q->n; i++)
        free(q->questions[i].text), free(q->questions[i].explanation);
    free(q->questions);
    *q = (struct quiz){0};
}

static const char *page_path(const char *chapter) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3800s/chapters/%.100s/quiz.md", book_root(), chapter);
    return path;
}

bool quiz_exists(const char *chapter) { return file_exists(page_path(chapter)); }

bool quiz_open(const char *chapter, struct quiz *q, struct err *e) {
    struct buf text = {0};
    struct err parse_error = {0};
    *q = (struct quiz){0};
    if (!quiz_exists(chapter)) return err_set(e, ERR_INPUT, "%s has no questions", chapter);
    bool ok = file_read(page_path(chapter), MAX_PAGE_BYTES, &text, e) &&
              quiz_parse(buf_str(&text), q, &parse_error);
    buf_free(&text);
    return ok || err_set(e, ERR_INPUT, "chapters/%s/quiz.md: %s", chapter, parse_error.text);
}

void quiz_check(const char *chapter, struct buf *problems) {
    struct quiz q;
    struct err e = {0};
    if (!quiz_open(chapter, &q, &e)) buf_printf(problems, "%s\n", e.text);
    for (unsigned i = 0; i < q.n && !e.kind; i++) {
        const struct quiz_question *question = &q.questions[i];
        struct err error = {0};
        double expected = question->answer;
        if (question->is_counted && !quiz_measure(chapter, question, &expected, &error))
            buf_printf(problems, "question %u: %s\n", i + 1, error.text);
        else if (fabs(expected - question->answer) > question->tolerance + 1e-9 * fabs(expected))
            buf_printf(problems,
                       "question %u: its answer is %.10g; the simulated GPU counts %.10g\n", i + 1,
                       question->answer, expected);
    }
    quiz_free(&q);
}

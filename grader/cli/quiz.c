/* quiz.c — see quiz.h: reading a page of questions, judging answers. */
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

enum { PAGE_LIMIT = 1 << 18 };
static const char opening[] = "<!--quiz\n", closing[] = "-->";

/* ---- answers ---- */

bool quiz_number(const char *text, double *out) {
    char *end;
    double v = strtod(text, &end), under = 1;
    if (end == text) return false;
    if (*end == '/') {
        const char *second = end + 1;
        under = strtod(second, &end);
        if (end == second || under == 0) return false;
    }
    if (*end == '%') under *= 100, end++;
    end += strspn(end, " \t\r\n");
    *out = v / under;
    return !*end && isfinite(*out);
}

/* A letter alone, of either case. */
static char letter(const char *text, unsigned choices) {
    char c = (char)(text[0] | 32);
    bool alone = text[0] && !text[1 + strspn(text + 1, ".) \t\r\n")];
    return alone && c >= 'a' && c < (char)('a' + choices) ? c : 0;
}

bool quiz_judge(const struct quiz_question *q, const char *given, double figure, bool *right,
                struct err *e) {
    double v;
    given += strspn(given, " \t");
    if (q->choice) {
        char c = letter(given, q->choices);
        if (!c)
            return err_set(e, ERR_INPUT, "the answer is a letter from a to %c",
                           'a' + (int)q->choices - 1);
        *right = c == q->choice;
        return true;
    }
    if (!quiz_number(given, &v))
        return err_set(e, ERR_INPUT, "the answer is a number, such as 12, 0.5, 1/12 or 62.5%%");
    *right = fabs(v - figure) <= q->within + 1e-9 * fabs(figure);
    return true;
}

/* ---- the page ---- */

static char *copy(const char *from, const char *end) {
    while (from < end && strchr(" \n", *from)) from++;
    while (end > from && strchr(" \n", end[-1])) end--;
    char *s = xmalloc((size_t)(end - from) + 1);
    memcpy(s, from, (size_t)(end - from));
    s[end - from] = 0;
    return s;
}

/* "A", "A / B", with " of KERNEL", then " in FILE". */
static bool parse_counted(struct quiz_question *q, const char *value) {
    char rest[256] = "", more;
    q->counted = true;
    int n = sscanf(value, "%95s in %95s %c", q->counter, q->file, &more);
    if (n == 2) return true;
    if (sscanf(value, "%95s / %95s %255[^\n]", q->counter, q->over, rest) != 3) {
        q->over[0] = 0;
        if (sscanf(value, "%95s %255[^\n]", q->counter, rest) != 2) return false;
    }
    if (sscanf(rest, "in %95s %c", q->file, &more) == 1) return true;
    return sscanf(rest, "of %95s in %95s %c", q->kernel, q->file, &more) == 2;
}

static bool parse_field(struct quiz_question *q, const char *key, const char *value) {
    if (!strcmp(key, "answer")) {
        q->choice = letter(value, 26);
        return q->choice || quiz_number(value, &q->answer);
    }
    if (!strcmp(key, "within")) return quiz_number(value, &q->within) && q->within >= 0;
    return !strcmp(key, "counted") && parse_counted(q, value);
}

static void count_choices(struct quiz_question *q) {
    char line[8];
    for (q->choices = 0; q->choices < 26; q->choices++) {
        snprintf(line, sizeof line, "\n- %c. ", 'a' + (int)q->choices);
        if (!strstr(q->text, line)) return;
    }
}

/* The comment's lines up to `why`, which is the last one. */
static bool parse_fields(struct quiz_question *q, const char *from, const char *end,
                         const char *title, struct err *e) {
    bool answered = false;
    while (from < end) {
        const char *stop = memchr(from, '\n', (size_t)(end - from)),
                   *colon = memchr(from, ':', (size_t)(end - from));
        char key[16], value[300];
        if (!stop) stop = end;
        if (!colon || colon > stop || colon - from >= (long)sizeof key ||
            stop - colon >= (long)sizeof value)
            return err_set(e, ERR_INPUT, "%s: `%.*s` is no line `key: value`", title,
                           (int)(stop - from), from);
        snprintf(key, sizeof key, "%.*s", (int)(colon - from), from);
        if (!strcmp(key, "why"))
            return q->why = copy(colon + 1, end),
                   answered || err_set(e, ERR_INPUT, "%s: no answer", title);
        snprintf(value, sizeof value, "%.*s", (int)(stop - colon - 1), colon + 1);
        if (!parse_field(q, key, value + strspn(value, " ")))
            return err_set(e, ERR_INPUT, "%s: `%s:%.200s` is not understood", title, key, value);
        answered |= !strcmp(key, "answer");
        from = stop + 1;
    }
    return err_set(e, ERR_INPUT, "%s: no `why:`", title);
}

static bool is_whole(const struct quiz_question *q, const char *title, struct err *e) {
    if (!q->why || !*q->why) return err_set(e, ERR_INPUT, "%s: `why:` is empty", title);
    if (!q->choice)
        return !q->choices ||
               err_set(e, ERR_INPUT, "%s: has choices, and a number as its answer", title);
    if (q->counted)
        return err_set(e, ERR_INPUT, "%s: what is counted is a number, and the answer a letter",
                       title);
    return (q->choices >= 2 && q->choice < (char)('a' + q->choices)) ||
           err_set(e, ERR_INPUT, "%s: the answer is `%c`, and it has %u choices (- a. …)", title,
                   q->choice, q->choices);
}

/* One question, from its heading to where the next one begins. */
static bool parse_question(struct quiz *quiz, const char *from, const char *end, struct err *e) {
    char title[80];
    const char *comment = strstr(from, opening), *close = comment ? strstr(comment, closing) : NULL;
    snprintf(title, sizeof title, "%.*s", (int)strcspn(from + 3, "\n"), from + 3);
    if (!close || close >= end)
        return err_set(e, ERR_INPUT, "%s: no comment `<!--quiz … -->`", title);
    GROW(quiz->questions, quiz->n + 1, quiz->room, 8);
    struct quiz_question *q = &quiz->questions[quiz->n++];
    *q = (struct quiz_question){.text = copy(from + 3, comment)};
    count_choices(q);
    const char *rest = close + strlen(closing);
    if (rest + strspn(rest, " \n") < end)
        return err_set(e, ERR_INPUT, "%s: there is text behind its comment", title);
    return parse_fields(q, comment + strlen(opening), close, title, e) && is_whole(q, title, e);
}

bool quiz_parse(const char *text, struct quiz *q, struct err *e) {
    *q = (struct quiz){0};
    const char *at = strstr(text, "\n## ");
    for (; at; at = strstr(at + 1, "\n## ")) {
        const char *next = strstr(at + 1, "\n## ");
        char number[16];
        snprintf(number, sizeof number, "\n## %u. ", q->n + 1);
        if (!text_starts_with(at, number))
            return err_set(e, ERR_INPUT, "question %u begins with no line `%s…`", q->n + 1,
                           number + 1);
        if (!parse_question(q, at + 1, next ? next : at + strlen(at), e)) return false;
    }
    return (q->n >= QUIZ_FEWEST && q->n <= QUIZ_MOST) ||
           err_set(e, ERR_INPUT, "%u questions instead of %d to %d", q->n, QUIZ_FEWEST, QUIZ_MOST);
}

void quiz_free(struct quiz *q) {
    for (unsigned i = 0; i < q->n; i++) free(q->questions[i].text), free(q->questions[i].why);
    free(q->questions);
    *q = (struct quiz){0};
}

static const char *page(const char *chapter) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3800s/chapters/%.100s/quiz.md", book_root(), chapter);
    return path;
}

bool quiz_exists(const char *chapter) { return file_exists(page(chapter)); }

bool quiz_open(const char *chapter, struct quiz *q, struct err *e) {
    struct buf text = {0};
    struct err inner = {0};
    *q = (struct quiz){0};
    if (!quiz_exists(chapter)) return err_set(e, ERR_INPUT, "%s has no questions", chapter);
    bool ok =
        file_read(page(chapter), PAGE_LIMIT, &text, e) && quiz_parse(buf_str(&text), q, &inner);
    buf_free(&text);
    return ok || err_set(e, ERR_INPUT, "chapters/%s/quiz.md: %s", chapter, inner.text);
}

void quiz_check(const char *chapter, struct buf *problems) {
    struct quiz q;
    struct err e = {0};
    if (!quiz_open(chapter, &q, &e)) buf_printf(problems, "%s\n", e.text);
    for (unsigned i = 0; i < q.n && !e.kind; i++) {
        const struct quiz_question *one = &q.questions[i];
        struct err failed = {0};
        double figure = one->answer;
        if (one->counted && !quiz_count(chapter, one, &figure, &failed))
            buf_printf(problems, "question %u: %s\n", i + 1, failed.text);
        else if (fabs(figure - one->answer) > one->within + 1e-9 * fabs(figure))
            buf_printf(problems, "question %u: its answer is %.10g, counted is %.10g\n", i + 1,
                       one->answer, figure);
    }
    quiz_free(&q);
}

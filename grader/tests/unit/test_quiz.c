/* test_quiz.c — tests quiz pages: what the parser accepts, what it refuses, how answers are
 * judged; the book's own pages against the simulator; and the command, run as a program. */
#include "common/file.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/cli/quiz.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_HEADER "# Predict\n\nText.\n\n"
#define NUMBER(n)                                                                       \
    "## " n ". Number\n\nHow many?\n\n<!--quiz\nanswer: 1/8\nwithin: 0.01\nwhy: So it " \
    "is.\nSecond line.\n-->\n\n"
#define CHOICE(n)                                                                      \
    "## " n ". Choice\n\nWhich?\n\n- a. this\n- b. that\n\n<!--quiz\nanswer: b\nwhy: " \
    "That.\n-->\n\n"
#define COUNTED(n, what) \
    "## " n ". Counted\n\nHow many?\n\n<!--quiz\nanswer: 3\ncounted: " what "\nwhy: Yes.\n-->\n\n"

static struct quiz parsed(const char *text) {
    struct quiz q;
    struct err e = {0};
    ck_assert_msg(quiz_parse(text, &q, &e), "%s", e.text);
    return q;
}

START_TEST(a_quiz_page_is_parsed) {
    struct quiz q =
        parsed(PAGE_HEADER NUMBER("1") CHOICE("2") COUNTED("3", "a / b of kernel in quiz/x.cu")
                   COUNTED("4", "theoretical_occupancy of k in quiz/y.cu")
                       COUNTED("5", "barriers in quiz/z.cu"));
    ck_assert_uint_eq(q.n, 5);
    ck_assert_double_eq(q.questions[0].answer, 0.125);
    ck_assert_double_eq(q.questions[0].tolerance, 0.01);
    ck_assert_str_eq(q.questions[0].text, "1. Number\n\nHow many?");
    ck_assert_str_eq(q.questions[0].explanation, "So it is.\nSecond line.");
    ck_assert_int_eq(q.questions[1].correct_choice, 'b');
    ck_assert_uint_eq(q.questions[1].nchoices, 2);
    const struct quiz_question *counted = &q.questions[2];
    ck_assert(counted->is_counted);
    ck_assert_str_eq(counted->counter, "a");
    ck_assert_str_eq(counted->denominator, "b");
    ck_assert_str_eq(counted->kernel, "kernel");
    ck_assert_str_eq(counted->file, "quiz/x.cu");
    counted = &q.questions[3];
    ck_assert_str_eq(counted->denominator, "");
    ck_assert_str_eq(counted->kernel, "k");
    ck_assert_str_eq(counted->file, "quiz/y.cu");
    counted = &q.questions[4];
    ck_assert_str_eq(counted->counter, "barriers");
    ck_assert_str_eq(counted->denominator, "");
    ck_assert_str_eq(counted->kernel, "");
    quiz_free(&q);
}
END_TEST

/* {a page, its error} */
static const char *const refused[][2] = {
    {PAGE_HEADER NUMBER("1") NUMBER("2"), "2 questions; a page has 3 to 8"},
    {PAGE_HEADER NUMBER("1") NUMBER("3") NUMBER("4"), "question 2 must begin with a line `## 2. "},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\nText.\n", "3. X: no comment"},
    {PAGE_HEADER "## 1. X\n\nText.\n\n" NUMBER("2") NUMBER("3"), "1. X: no comment"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\n<!--quiz\nanswer: 1\n-->\n",
     "3. X: no `why:`"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\n<!--quiz\nanswer: 1\nwhy: \n-->\n",
     "3. X: `why:` is empty"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\n<!--quiz\nwhy: a\n-->\n", "3. X: no answer"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\n<!--quiz\nanswer: maybe\nwhy: a\n-->\n",
     "3. X: `answer: maybe`"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\n<!--quiz\nanswer: b\nwhy: a\n-->\n",
     "has 0 choices"},
    {PAGE_HEADER NUMBER("1")
         NUMBER("2") "## 3. X\n\n- a. x\n- b. y\n\n<!--quiz\nanswer: c\nwhy: a\n-->\n",
     "has 2 choices"},
    {PAGE_HEADER NUMBER("1")
         NUMBER("2") "## 3. X\n\n- a. x\n- b. y\n\n<!--quiz\nanswer: 2\nwhy: a\n-->\n",
     "has choices"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") COUNTED("3", "barriers"),
     "`counted: barriers` is invalid"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") "## 3. X\n\n<!--quiz\nspoiler: 2\nwhy: a\n-->\n",
     "`spoiler: 2` is invalid"},
    {PAGE_HEADER NUMBER("1") NUMBER("2") NUMBER("3") "The answer was 1/8.\n",
     "there is text after its comment"},
};
enum { REFUSED = sizeof refused / sizeof *refused };

START_TEST(an_invalid_quiz_page_is_rejected_with_the_reason) {
    struct quiz q;
    struct err e = {0};
    ck_assert(!quiz_parse(refused[_i][0], &q, &e));
    ck_assert_msg(strstr(e.text, refused[_i][1]) != NULL, "%s", e.text);
    quiz_free(&q);
}
END_TEST

static bool is_judged_correct(const struct quiz_question *q, const char *answer_text,
                              double expected) {
    struct err e = {0};
    bool is_correct = false;
    ck_assert_msg(quiz_judge(q, answer_text, expected, &is_correct, &e), "%s", e.text);
    return is_correct;
}

START_TEST(numeric_and_letter_answers_are_judged) {
    struct quiz q =
        parsed(PAGE_HEADER NUMBER("1") CHOICE("2") COUNTED("3", "barriers in quiz/z.cu"));
    const struct quiz_question *number = &q.questions[0], *choice = &q.questions[1],
                               *exact = &q.questions[2];
    ck_assert(is_judged_correct(number, "0.125", 0.125) &&
              is_judged_correct(number, "1/8", 0.125) &&
              is_judged_correct(number, " 12.5% ", 0.125));
    ck_assert(is_judged_correct(number, "0.134", 0.125) &&
              !is_judged_correct(number, "0.136", 0.125));
    ck_assert(is_judged_correct(exact, "3", 3) && !is_judged_correct(exact, "3.001", 3) &&
              is_judged_correct(exact, "33e-1", 3.3));
    ck_assert(is_judged_correct(choice, "b", 0) && is_judged_correct(choice, "B.", 0) &&
              !is_judged_correct(choice, "a", 0));
    quiz_free(&q);
}
END_TEST

START_TEST(an_invalid_answer_is_reported_and_not_judged) {
    struct quiz q = parsed(PAGE_HEADER NUMBER("1") CHOICE("2") NUMBER("3"));
    static const char *const numbers[] = {"", "b", "1/0", "8 sectors", "nan", "inf", "1/"},
                             *const letters[] = {"", "c", "8", "ab"};
    bool is_correct;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct err e = {0};
        ck_assert_msg(!quiz_judge(&q.questions[0], numbers[i], 1, &is_correct, &e), "'%s'",
                      numbers[i]);
        ck_assert_ptr_nonnull(strstr(e.text, "must be a number"));
    }
    for (unsigned i = 0; i < sizeof letters / sizeof *letters; i++) {
        struct err e = {0};
        ck_assert_msg(!quiz_judge(&q.questions[1], letters[i], 1, &is_correct, &e), "'%s'",
                      letters[i]);
        ck_assert_str_eq(e.text, "the answer must be a letter from a to b");
    }
    quiz_free(&q);
}
END_TEST

#define LAUNCH(kernel, loads, requests)                                    \
    "{\"kernel\": \"" kernel                                               \
    "\", \"theoretical_occupancy\": 0.5, \"counters\": {\"loads\": " loads \
    ", \"requests\": " requests "}}"
static const char json[] =
    "{\"launches\": [" LAUNCH("one", "8", "2") "," LAUNCH("two", "30", "0") "]}";

/* Returns what a question with "counted: COUNTED in quiz/x.cu" finds in `json`. *error: why it
 * finds nothing, valid until the next call; NULL = it does. */
static double counter_value(const char *counted, const char **error) {
    char page[2000];
    static struct err e;
    double out = -1;
    snprintf(page, sizeof page, PAGE_HEADER NUMBER("1") NUMBER("2") COUNTED("3", "%s in quiz/x.cu"),
             counted);
    struct quiz q = parsed(page);
    e = (struct err){0};
    bool ok = quiz_read_counter(json, &q.questions[2], &out, &e);
    *error = ok ? NULL : e.text;
    quiz_free(&q);
    return out;
}

START_TEST(expected_values_come_from_the_counters_of_a_run) {
    const char *error;
    ck_assert_double_eq(counter_value("loads", &error), 38);
    ck_assert_double_eq(counter_value("loads of two", &error), 30);
    ck_assert_double_eq(counter_value("loads / requests of one", &error), 4);
    ck_assert_double_eq(counter_value("theoretical_occupancy of one", &error), 0.5);
    ck_assert_ptr_null(error);
    counter_value("stores", &error);
    ck_assert_ptr_nonnull(strstr(error, "`stores` is not a counter"));
    counter_value("loads of three", &error);
    ck_assert_ptr_nonnull(strstr(error, "launches no kernel three"));
    counter_value("loads / requests of two", &error);
    ck_assert_ptr_nonnull(strstr(error, "can't be a denominator"));
}
END_TEST

/* ---- the book's pages ---- */

static unsigned chapters(const char *out[100]) {
    unsigned n = 0;
    for (unsigned i = 0; i < book_count(); i++)
        if (!n || strcmp(out[n - 1], book_at(i)->chapter)) out[n++] = book_at(i)->chapter;
    return n;
}

/* Two `grader verify` of one chapter build and run the same program. */
START_TEST(processes_take_turns_with_a_program) {
    enum { PROCESSES = 4 };
    char cache[PATH_MAX];
    pid_t pids[PROCESSES];
    struct err e = {0};
    ck_assert_msg(book_open(&e) && paths_cache_dir(cache, &e), "%s", e.text);
    ck_assert_int_eq(shell("rm -f %s/quiz/02-coalescing/quiz-sectors.cu.run", cache), 0);
    for (int i = 0; i < PROCESSES; i++) {
        struct buf output = {0};
        if ((pids[i] = fork()) == 0)
            _exit(!quiz_run("02-coalescing", "quiz/sectors.cu", NULL, &output, &e));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/* Tagged "long": `make check` makes the same check by `grader verify --quick`. */
START_TEST(every_stated_answer_matches_the_simulator) {
    const char *list[100];
    unsigned seen = 0;
    struct err e = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
    for (unsigned i = 0, n = chapters(list); i < n; i++) {
        struct buf problems = {0};
        if (!quiz_exists(list[i])) continue;
        quiz_check(list[i], &problems);
        ck_assert_msg(!problems.size, "%s: %s", list[i], buf_str(&problems));
        seen++;
    }
    ck_assert_uint_ge(seen, 10);
}
END_TEST

START_TEST(questions_are_shown_without_their_answers) {
    struct err e = {0};
    struct buf out = {0};
    ck_assert_int_eq(
        shell("%s/grader quiz 04 </dev/null >/tmp/wb-quiz.%d 2>&1", build_folder(), getpid()), 0);
    char path[64];
    snprintf(path, sizeof path, "/tmp/wb-quiz.%d", getpid());
    ck_assert_msg(file_read(path, 1 << 16, &out, &e), "%s", e.text);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "Question 1 of 5"));
    ck_assert_ptr_null(strstr(buf_str(&out), "answer:"));
    ck_assert_ptr_null(strstr(buf_str(&out), "gcd(34, 32)")); /* from an explanation */
    buf_free(&out), unlink(path);
}
END_TEST

START_TEST(answers_decide_the_exit_status) {
    const char *b = build_folder();
    ck_assert_int_eq(shell("%s/grader quiz 04 --answers 2,32,2,0,c >/dev/null", b), 0);
    ck_assert_int_eq(
        shell("%s/grader quiz bank-conflicts --answers 1,32,2,0,c | grep -q '4 of 5 right'", b), 0);
    ck_assert_int_eq(shell("%s/grader quiz 04 --answers 1,32,2,0,c >/dev/null", b), 1);
    ck_assert_int_eq(shell("%s/grader quiz 04 --answers 2,32 2>&1 | "
                           "grep -q '2 answers, but 04-bank-conflicts has 5'",
                           b),
                     0);
    ck_assert_int_eq(shell("%s/grader quiz 04 --answers 2,32,x,0,c 2>&1 | grep -q 'question 3: the "
                           "answer must be a number'",
                           b),
                     0);
    ck_assert_int_eq(shell("%s/grader quiz 2>/dev/null", b), 2);
    ck_assert_int_eq(shell("%s/grader quiz no-such 2>/dev/null", b), 2);
}
END_TEST

/* quiz_export.py parses both files with rules of its own and compares them with the pages. */
START_TEST(exports_hold_every_question_answer_and_feedback) {
    const char *b = build_folder();
    int id = getpid();
    ck_assert_int_eq(shell("%s/grader quiz --export gift --output /tmp/wb-quiz.%d.gift && "
                           "%s/grader quiz --export qti --output /tmp/wb-quiz.%d.zip",
                           b, id, b, id),
                     0);
    ck_assert_int_eq(shell("python3 grader/tests/class/quiz_export.py /tmp/wb-quiz.%d.gift "
                           "/tmp/wb-quiz.%d.zip",
                           id, id),
                     0);
    shell("rm -f /tmp/wb-quiz.%d.*", id);
}
END_TEST

START_TEST(an_export_of_one_chapter_holds_that_chapter_only) {
    const char *b = build_folder();
    int id = getpid();
    ck_assert_int_eq(shell("cd /tmp && %s/grader quiz 02 --export qti --output wb-quiz.%d.one && "
                           "python3 -I -c 'import zipfile, sys; print(zipfile.ZipFile(sys.argv[1])"
                           ".namelist())' wb-quiz.%d.one | "
                           "grep -qxF \"['imsmanifest.xml', '02-coalescing.xml']\"",
                           b, id, id),
                     0);
    shell("rm -f /tmp/wb-quiz.%d.one", id);
}
END_TEST

START_TEST(an_export_needs_a_known_format_and_an_output) {
    const char *b = build_folder();
    ck_assert_int_eq(shell("%s/grader quiz 02 --export moodle --output /tmp/x 2>&1 | grep -q "
                           "\"'moodle' is unknown; choose gift or qti\"",
                           b),
                     0);
    ck_assert_int_eq(shell("%s/grader quiz 02 --export gift 2>/dev/null", b), 2);
}
END_TEST

UNIT_SUITE(quiz) {
    Suite *s = suite_create("quiz");
    TCase *t = tcase_create("pages"), *book = tcase_create("the book's pages"),
          *programs = tcase_create("programs");
    tcase_add_test(t, a_quiz_page_is_parsed);
    tcase_add_loop_test(t, an_invalid_quiz_page_is_rejected_with_the_reason, 0, REFUSED);
    tcase_add_test(t, numeric_and_letter_answers_are_judged);
    tcase_add_test(t, an_invalid_answer_is_reported_and_not_judged);
    tcase_add_test(t, expected_values_come_from_the_counters_of_a_run);
    tcase_set_timeout(programs, 300); /* builds a program for each chapter */
    tcase_set_tags(programs, "long");
    tcase_add_test(programs, every_stated_answer_matches_the_simulator);
    tcase_add_test(book, processes_take_turns_with_a_program);
    tcase_add_test(book, questions_are_shown_without_their_answers);
    tcase_add_test(book, answers_decide_the_exit_status);
    tcase_add_test(book, exports_hold_every_question_answer_and_feedback);
    tcase_add_test(book, an_export_of_one_chapter_holds_that_chapter_only);
    tcase_add_test(book, an_export_needs_a_known_format_and_an_output);
    suite_add_tcase(s, t);
    suite_add_tcase(s, book);
    suite_add_tcase(s, programs);
    return s;
}

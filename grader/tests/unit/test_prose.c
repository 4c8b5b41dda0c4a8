/* test_prose.c — tests the check of figures in the book's prose (grader/tests/timing/prose.py):
 * on the book's own pages, and on a small book written here, in which one figure after another
 * is wrong. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/wb-prose-XXXXXX";
static const char check[] = "grader/tests/timing/prose.py", page[] = "chapters/01-x/README.md",
                  task[] = "chapters/01-x/one.md";
static struct buf output_file;

static bool has_python(void) { return shell("command -v python3 >/dev/null") == 0; }

static void write_text(const char *name, const char *text) {
    char path[400];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(file_write(path, text, strlen(text), &e), "%s", e.text);
}

/* One exercise, `one`: 20 µs on an H100, 50 before, 12 and 48 as modelled; 640 loads before; 3 µs
 * for what `other` lists. */
static void make_book(void) {
    char root[4000];
    ck_assert(getcwd(root, sizeof root) && mkdtemp(folder));
    ck_assert(!shell("cd %s && mkdir -p chapters/01-x solutions/01-x docs/results/h100 && ln -s "
                     "%s/grader grader",
                     folder, root));
    write_text(
        "docs/results/h100/report.json",
        "{\"device\": {\"roofline\": {\"bytes_per_second\": 2e12}}, \"exercises\": [{\"exercise\": "
        "\"01-x/one\", "
        "\"libraries\": {}, "
        "\"times\": {\"\": {\"measured_us\": 20}, \"1-slow\": {\"measured_us\": 50}}}]}");
    write_text("docs/results/h100/other.tsv", "what\tus\nring of 2\t3.0\n");
    write_text("docs/results/counted.tsv",
               "exercise\tversion\twhat\tfigure\none\tsolution\tshared_read_requests_total\t6.5\n");
    write_text("docs/results/limits.tsv",
               "exercise\tmetric\tlimit\none\tshared_read_requests_total\t0."
               "25\none\tblocks\t8\none\tread_amplification\t1.125\n");
    write_text("docs/sources.md", "# Sources\n\n### guide\nA guide.\n");
    write_text("solutions/01-x/one-ladder.md",
               "| counter | 1-slow | solution |\n|---|---|---|\n| `global_load_threads` | 640 | 64 "
               "|\n\nTimes, modelled for 7, in µs:\n\n"
               "| device | 1-slow | solution |\n|---|---|---|\n| h100 | 48 | 12 |\n");
}
static void remove_book(void) {
    ck_assert(!shell("rm -r %s", folder));
    buf_free(&output_file);
}

/* Checks that the lesson's findings, or the task's, are these, without the closing line; the
 * other text is empty. */
static const char *check_page_text(const char *name, const char *text) {
    char path[400];
    struct err e = {0};
    write_text(page, ""), write_text(task, ""), write_text(name, text);
    int status = shell("cd %s && python3 %s >said", folder, check);
    snprintf(path, sizeof path, "%s/said", folder);
    buf_clear(&output_file);
    ck_assert_msg(file_read(path, 1 << 16, &output_file, &e), "%s", e.text);
    char *end = strstr(buf_str(&output_file), " figures in ");
    ck_assert_ptr_nonnull(end);
    while (end > output_file.data && end[-1] != '\n') end--;
    *end = 0;
    ck_assert_int_eq(status, end > output_file.data);
    return output_file.data;
}

START_TEST(numbers_that_match_their_source_pass) {
    static const char *const right[] = {
        "It takes 20 µs.\n<!--fig 20 µs: h100 one/solution-->\n",
        "It is 2.5 times\nas fast.\n<!--fig 2.5 times: h100 one/1 / h100 one/solution-->\n",
        "It takes 20.5 µs.\n<!--fig 20.5: h100 one/solution-->\n", /* measured: 3 % */
        "Of 640 loads a tenth is left, about 45 µs of them.\n<!--fig 640 loads: count "
        "one/1[global_load_threads];\n"
        "tenth: count one/solution[global_load_threads] / count one/1[global_load_threads]; 45 µs: "
        "sim:h100 "
        "one/1-slow-->\n",
        "- A ring: 3 µs, at 2 TB/s.\n<!--fig 3 µs: h100 other[ring of 2]; 2 TB/s: h100 "
        "peak[bytes_per_second] / "
        "1e12-->\n- 48 KB.\n"
        "<!--fig 48 KB: source guide-->\n",
        "`shared_read_requests_total` 6.5, and 4 KB in 7 µs.\n<!--fig 6.5: ran "
        "one/solution[shared_read_requests_total]; 4 KB: "
        "1024 * 4 / 1024; 7 "
        "µs: once h100-->\n",
        "These are 64 · 8 = 512 bytes, (1 + 2) · 32 = 96.\n",
        "A tile of 32 × 32 words, CC 9.0, `20 µs`, 7 lanes, 99 sectors.\n\n    1.5 µs\n\n```\n1.5 "
        "µs\n```\n",
        "<!--counted lesson/x.cu-->\n| kernel | `loads` |\n|---|---|\n| `k` | 2.5 |\n",
        "| kernel | loads |\n|---|---|\n| `k` | 2.5 |\n<!--fig 2.5: h100 one/1 / 20-->\n\nAs 2.5 "
        "above.\n<!--fig 2.5: "
        "here[k][loads]-->\n",
    };
    if (!has_python()) SKIP("no python3");
    make_book();
    for (unsigned i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_str_eq(check_page_text(page, right[i]), "");
    remove_book();
}
END_TEST

START_TEST(a_wrong_number_is_reported) {
    static const struct {
        const char *page, *wrong;
    } wrong[] = {
        {"It takes 21 µs.\n<!--fig 21 µs: h100 one/solution-->\n",
         ":1: says 21 µs, and it is 20 (h100 one/solution)\n"},
        {"It takes 21 µs.\n<!--fig 20 µs: h100 one/solution-->\n",
         ":1: the text does not say 20 µs\nchapters/01-x/README.md:1: no source for 21 µs.\n"},
        {"Of 641 loads.\n<!--fig 641: count one/1[global_load_threads]-->\n",
         ":1: says 641, and it is 640 (count one/1[global_load_threads])\n"},
        {"About a\nfifth.\n<!--fig fifth: h100 one/solution / h100 one/1-->\n",
         ":1: says fifth, and it is 0.4 (h100 one/solution / h100 one/1)\n"},
        {"One.\n\nThese are 64 · 8 = 513 bytes.\n", ":3: says 64 · 8 = 513, and it is 512\n"},
        {"- At 2.5 times\n- the\n<!--fig 2.5: h100 one/1 / 20-->\n",
         ":2: the text does not say 2.5\nchapters/01-x/README.md:1: no source for 2.5 times\n"},
        {"It is 16 KB.\n<!--fig 16 KB: source gude-->\n",
         ":1: 16 KB: gude is not in docs/sources.md\n"},
        {"It is 16 KB.\n<!--fig 16 KB: h100 one/2-->\n",
         ":1: h100 one has no 2: ['1-slow', 'solution']\n"},
        {"It is 16 KB.\n<!--fig 16 KB: import os-->\n", ":1: what is import os?\n"},
        {"| a | b |\n|---|---|\n| c | 5 % |\n", ":1: no source for 5 % |\n"},
    };
    char expected[400];
    if (!has_python()) SKIP("no python3");
    make_book();
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(expected, sizeof expected, "%s%s", page, wrong[i].wrong);
        ck_assert_str_eq(check_page_text(page, wrong[i].page), expected);
    }
    remove_book();
}
END_TEST

#define LIMITS(cells) "| check | figure | limit |\n|---|---|---|\n" cells "\n"

START_TEST(limits_in_a_task_match_its_tests) {
    if (!has_python()) SKIP("no python3");
    make_book();
    ck_assert_str_eq(
        check_page_text(task,
                        LIMITS("| goal: few | `shared_read_requests_total` per product; `blocks` | "
                               "1/4; at least 8 |\n"
                               "| | `read_amplification` | 1.125 times the packed ideal |")),
        "");
    ck_assert_str_eq(
        check_page_text(task,
                        LIMITS("| goal: few | `shared_read_requests_total` per product | 0.26 |")),
        "chapters/01-x/one.md:1: limit 0.26 of shared_read_requests_total, and they are [0.25]\n");
    ck_assert_str_eq(
        check_page_text(task,
                        LIMITS("| goal: few | `shared_read_requests_total` per product | 1.125 |")),
        "chapters/01-x/one.md:1: limit 1.125 of shared_read_requests_total, and they are [0.25]\n");
    remove_book();
}
END_TEST

START_TEST(every_number_of_the_book_has_a_source) {
    if (!has_python()) SKIP("no python3");
    ck_assert_int_eq(shell("python3 %s", check), 0);
}
END_TEST

UNIT_SUITE(prose) {
    Suite *s = suite_create("prose");
    TCase *t = tcase_create("figures");
    tcase_add_test(t, numbers_that_match_their_source_pass);
    tcase_add_test(t, a_wrong_number_is_reported);
    tcase_add_test(t, limits_in_a_task_match_its_tests);
    tcase_add_test(t, every_number_of_the_book_has_a_source);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    return s;
}

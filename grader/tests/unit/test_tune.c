/* test_tune.c — tests grader tune: what a file declares, which combinations it allows, how the
 * text is rewritten, what is kept. */
#include "grader/cli/tune.h"
#include "grader/tests/unit/markup.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "#define DEPTH 8 // not DEPTH 99\n"
                           "// TILE = 7 is a comment\n"
                           "constexpr int TILE = 32, THREADS = 256; // tune: TILE 16 32 64\n"
                           "// tune: THREADS 128 256 512 if TILE<64\n"
                           "// tune: DEPTH 4 8 if THREADS * DEPTH <= 1024 || !(TILE != 16)\n"
                           "__global__ void k(int *TILES) { TILES[0] = TILE + (DEPTH == 8); }\n";

static struct tune_space read_space(const char *source) {
    struct buf b = {0};
    struct tune_space s;
    struct err e = {0};
    buf_puts(&b, source);
    ck_assert_msg(tune_space_read(&b, &s, &e), "%s", e.text);
    buf_free(&b);
    return s;
}

/* By hand: TILE 16 allows 3 x 2 (the second condition holds by its right half); TILE 32 allows 128
 * with 4 and 8, 256 with 4; 64 none. */
START_TEST(conditions_choose_among_the_combinations) {
    static const long expected[][3] = {{16, 128, 4}, {16, 128, 8}, {16, 256, 4},
                                       {16, 256, 8}, {16, 512, 4}, {16, 512, 8},
                                       {32, 128, 4}, {32, 128, 8}, {32, 256, 4}};
    struct tune_space s = read_space(text);
    char label[TUNE_MAX_LABEL];
    ck_assert_uint_eq(s.n, 3);
    ck_assert_uint_eq(s.ncombinations, 9);
    for (unsigned i = 0; i < 9; i++)
        for (unsigned k = 0; k < 3; k++) ck_assert_int_eq(s.combinations[i][k], expected[i][k]);
    ck_assert_uint_eq(s.current, 9); /* 32, 256, 8 is none of them */
    tune_label(&s, 7, label);
    ck_assert_str_eq(label, "TILE=32 THREADS=128 DEPTH=8");
    tune_space_free(&s);
}
END_TEST

START_TEST(only_the_constants_are_rewritten) {
    struct tune_space s = read_space(text);
    struct buf source = {0}, out = {0};
    buf_puts(&source, text);
    tune_rewrite(&source, &s, 0, &out);
    ck_assert_str_eq(buf_str(&out),
                     "#define DEPTH 4 // not DEPTH 99\n"
                     "// TILE = 7 is a comment\n"
                     "constexpr int TILE = 16, THREADS = 128; // tune: TILE 16 32 64\n"
                     "// tune: THREADS 128 256 512 if TILE<64\n"
                     "// tune: DEPTH 4 8 if THREADS * DEPTH <= 1024 || !(TILE != 16)\n"
                     "__global__ void k(int *TILES) { TILES[0] = TILE + (DEPTH == 8); }\n");
    tune_space_free(&s);
    buf_free(&source), buf_free(&out);
}
END_TEST

START_TEST(invalid_declarations_are_reported) {
    static const char *const wrong[][2] = {
        {"int x;\n", "declares no parameter"},
        {"// tune: A 1 2\n", "no whole-number constant of that name"},
        {"constexpr int A = B * 2;\n// tune: A 1 2\n", "no whole-number constant of that name"},
        {"constexpr int A = 1;\n// tune: A\n", "no values"},
        {"constexpr int A = 1;\n// tune: A 1 x\n", "whole numbers, not 'x'"},
        {"constexpr int A = 1;\n// tune: A 1 2\n// tune: A 3\n", "twice"},
        {"constexpr int A = 1;\n// tune: A 1 2 if B > 1\n", "unknown parameter at 'B > 1'"},
        {"constexpr int A = 1;\n// tune: A 1 2 if A / (A - A)\n", "division by 0"},
        {"constexpr int A = 1;\n// tune: A 1 2 if (A\n", "missing ) at"},
        {"constexpr int A = 1;\n// tune: A 1 2 if A = 1\n", "missing operator at"},
        {"constexpr int A = 1;\n// tune: A 1 2 if A > 2\n", "no combination"}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct buf b = {0};
        struct tune_space s;
        struct err e = {0};
        buf_puts(&b, wrong[i][0]);
        ck_assert(!tune_space_read(&b, &s, &e));
        ck_assert_msg(strstr(e.text, wrong[i][1]), "%s\n%s", wrong[i][0], e.text);
        buf_free(&b);
    }
}
END_TEST

/* The second line is cut short, as by a kill while it was written. */
START_TEST(completed_rows_are_restored) {
    char path[] = "/tmp/tune-state-XXXXXX";
    struct tune_row rows[3] = {{.combination = 0}, {.combination = 1}, {.combination = 2}},
                    row = {.verdict = "right",
                           .speed_kind = "modelled",
                           .us = 12.5,
                           .counters = {.global_load_sectors = 77}};
    struct err e = {0};
    close(mkstemp(path));
    ck_assert(tune_state_append(path, 2, &row, &e));
    FILE *f = fopen(path, "ae");
    fputs("\n1 right modelled 3.5 1 2", f), fclose(f);
    ck_assert(tune_state_append(path, 0, &row, &e));
    tune_state_read(path, rows, 3);
    ck_assert(rows[0].done && !rows[1].done && rows[2].done);
    ck_assert_uint_eq(rows[2].combination, 2);
    ck_assert_str_eq(rows[2].verdict, "right");
    ck_assert_double_eq(rows[2].us, 12.5);
    ck_assert_uint_eq(rows[2].counters.global_load_sectors, 77);
    unlink(path);
}
END_TEST

/* Of two devices, with another best each; the page parses, names both, and says what the counters
 * change. */
START_TEST(the_best_differs_by_device) {
    struct tune_space s = read_space("constexpr int A = 1; // tune: A 1 2 4\n");
    struct tune_row rows[6];
    static const double us[6] = {30, 20, 0, 5, 6, 7};
    static const char *const devices[] = {"one", "<two>"};
    struct tune_page p = {"id", "file.cu", &s, rows, devices, 2};
    struct buf out = {0};
    for (unsigned i = 0; i < 6; i++) {
        rows[i] =
            (struct tune_row){.combination = i % 3, .device = i / 3, .done = true, .us = us[i]};
        strcpy(rows[i].verdict, us[i] > 0 ? "right" : "WA");
        rows[i].counters.global_load_sectors = i % 3 ? 4096 : 32768;
    }
    ck_assert_ptr_eq(tune_best(&p, 0), &rows[1]);
    ck_assert_ptr_eq(tune_best(&p, 1), &rows[3]);
    tune_write_page(&p, &out);
    ck_assert_msg(!markup_fault(buf_str(&out), 0), "%s", markup_fault(buf_str(&out), 0));
    ck_assert(strstr(buf_str(&out), "&lt;two&gt;"));
    ck_assert(strstr(buf_str(&out), "32 768 -&gt; 4096"));
    ck_assert(strstr(buf_str(&out), "current</td>"));
    tune_space_free(&s);
    buf_free(&out);
}
END_TEST

/* transpose's model solution with 8 and with 64 rows at once; the second requires blocks of 2048
 * threads. The first run does both, the second finds both done; the page shows them. */
START_TEST(an_interrupted_sweep_resumes) {
    char folder[] = "/tmp/tune-XXXXXX";
    ck_assert(mkdtemp(folder) != NULL);
    ck_assert_int_eq(
        shell(
            "sed 's|^// tune:.*|// tune: ROWS_AT_ONCE 8 64|' solutions/02-coalescing/transpose.cu "
            ">%s/transpose.cu",
            folder),
        0);
    ck_assert_int_eq(
        shell("echo '// %s: no state is known of this text' >>%s/transpose.cu", folder, folder), 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(
            shell("%s/grader tune transpose --file %s/transpose.cu --output %s/page.html >%s/out%u",
                  build_folder(), folder, folder, folder, i),
            0);
    ck_assert_int_eq(shell("grep -q 'ROWS_AT_ONCE=8 .*right.*modelled' %s/out0", folder), 0);
    ck_assert_int_eq(
        shell("grep -A1 'ROWS_AT_ONCE=64 .*RTE' %s/out0 | grep -q 'the launch failed'", folder), 0);
    ck_assert_int_eq(
        shell("grep -q '^h200: best is ROWS_AT_ONCE=8, .* your current values' %s/out0", folder),
        0);
    ck_assert_int_eq(
        shell("grep -q '2 combinations; continuing' %s/out1 && ! grep -q 'continuing' %s/out0",
              folder, folder),
        0);
    ck_assert_int_eq(
        shell("test \"$(grep best %s/out0)\" = \"$(grep best %s/out1)\"", folder, folder), 0);
    ck_assert_int_eq(shell("grep -q '<td>RTE</td>' %s/page.html && rm -r %s", folder, folder), 0);
}
END_TEST

UNIT_SUITE(tune) {
    Suite *s = suite_create("tune");
    TCase *t = tcase_create("tune");
    tcase_add_test(t, conditions_choose_among_the_combinations);
    tcase_add_test(t, only_the_constants_are_rewritten);
    tcase_add_test(t, invalid_declarations_are_reported);
    tcase_add_test(t, completed_rows_are_restored);
    tcase_add_test(t, the_best_differs_by_device);
    suite_add_tcase(s, t);
    t = tcase_create("sweep");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, an_interrupted_sweep_resumes);
    suite_add_tcase(s, t);
    return s;
}

/* test_doc_commands.c — holds the commands that README, guides and lessons print to what the
 * programs accept: the command is known, and so is each option. */
#include "grader/tests/unit/shell.h"
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/tests/unit/unit.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buf commands, grader_options, run_options;
static unsigned nchecked;

static void read_help(const char *command, struct buf *out) {
    char text[8192], path[4300], line[4400];
    snprintf(path, sizeof path, "%s/tests/help", build_folder());
    snprintf(line, sizeof line, "%s/%s >%s 2>&1", build_folder(), command, path);
    shell("%s", line);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    ck_assert_uint_gt(n, 0);
    fclose(f);
    buf_add(out, text, n);
}

static void set_up(void) {
    buf_puts(&commands, " ");
    cli_append_commands(&commands);
    buf_puts(&commands, " help ");
    options_append_names(&grader_options);
    buf_puts(&grader_options, " --count-modelled-speed ");
    read_help("simgpu run --help", &run_options);
}

static bool has_word(const struct buf *words, const char *word, size_t n) {
    for (const char *at = buf_str(words); (at = memmem(at, strlen(at), word, n)); at++)
        if (isspace((unsigned char)at[-1 + (at == buf_str(words))]) || at == buf_str(words))
            if (!isalnum((unsigned char)at[n]) && at[n] != '-') return true;
    return false;
}

static size_t word_size(const char *at) { return strspn(at, "abcdefghijklmnopqrstuvwxyz-"); }

/* The arguments up to the end of the code, a comment or another command. */
static void check_options(const char *file, const char *at, const struct buf *options) {
    size_t n = strcspn(at, "`\n#|;&>");
    for (const char *end = at + n; at < end; at++) {
        if (strncmp(at, " --", 3) || !islower((unsigned char)at[3])) continue;
        ck_assert_msg(has_word(options, at + 1, word_size(at + 1)), "%s: no option %.*s", file,
                      (int)word_size(at + 1), at + 1);
        nchecked++;
    }
}

/* In code, a program's name follows a backtick, a slash, or four spaces at a line's start. */
static bool is_in_code(const char *text, const char *at) {
    return at > text && (at[-1] == '`' || (at - text >= 6 && !memcmp(at - 6, "build/", 6)) ||
                         (at - text >= 5 && !memcmp(at - 5, "\n    ", 5)));
}

static void check_file(const char *file) {
    struct buf b = {0};
    struct err e = {0};
    ck_assert_msg(file_read(file, 4 << 20, &b, &e), "%s", e.text);
    const char *text = buf_str(&b);
    for (const char *at = text; (at = strstr(at, "grader ")); at += 7) {
        size_t n = word_size(at + 7);
        if (!is_in_code(text, at) || !n || at[7] == '-') continue;
        ck_assert_msg(has_word(&commands, at + 7, n), "%s: no command `grader %.*s`", file, (int)n,
                      at + 7);
        check_options(file, at + 7 + n, &grader_options);
        nchecked++;
    }
    for (const char *at = text; (at = strstr(at, "simgpu run ")); at += 11)
        if (is_in_code(text, at)) check_options(file, at + 10, &run_options);
    buf_free(&b);
}

START_TEST(every_printed_command_and_option_exists) {
    static const char *const patterns[] = {"README.md", "docs/*.md", "chapters/*/*.md",
                                           "solutions/*/*.md"};
    glob_t found = {0};
    for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++)
        ck_assert_int_eq(glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) check_file(found.gl_pathv[i]);
    globfree(&found);
    ck_assert_uint_gt(nchecked, 100);
}
END_TEST

UNIT_SUITE(doc_commands) {
    Suite *s = suite_create("doc_commands");
    TCase *t = tcase_create("doc_commands");
    tcase_add_unchecked_fixture(t, set_up, NULL);
    tcase_add_test(t, every_printed_command_and_option_exists);
    suite_add_tcase(s, t);
    return s;
}

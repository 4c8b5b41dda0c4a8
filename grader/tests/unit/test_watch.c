/* test_watch.c — tests `grader watch` on a terminal: what one screen of 80 x 24 holds, keys, and a
 * change of the terminal's size. Elsewhere it prints reports. */
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 40000, MAX_OUTPUT_BYTES = 1 << 18 };

static char folder[64], output[MAX_OUTPUT_BYTES];
static size_t output_size;
static int terminal;
static pid_t watcher;

static void write_submission(const char *command) {
    ck_assert_int_eq(shell("TREE=$PWD && cd %s/work/chapters/02-coalescing && %s", folder, command),
                     0);
}

static void start_watch(void) {
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    char command[400];
    snprintf(command, sizeof command,
             "cd %s/work && XDG_STATE_HOME=%s/state TERM=xterm exec %s/grader watch transpose",
             folder, folder, build_folder());
    watcher = forkpty(&terminal, NULL, NULL, &size);
    ck_assert_int_ge(watcher, 0);
    if (watcher) return;
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

static void open_fn(void) {
    strcpy(folder, "/tmp/warpbook-watch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(shell("cd %s && XDG_STATE_HOME=%s/state %s/grader begin work >log", folder,
                           folder, build_folder()),
                     0);
    write_submission("cp transpose.cu delivered && echo error >transpose.cu");
    start_watch();
}

static void close_fn(void) {
    if (watcher > 0) kill(watcher, SIGTERM);
    shell("rm -rf %s", folder);
}

/* Returns what the program drew since it last cleared the screen, without escape sequences and
 * without the line being overwritten at the bottom. */
static const char *screen(void) {
    static char text[MAX_OUTPUT_BYTES];
    const char *from = output, *next;
    size_t n = 0;
    while ((next = strstr(from, "\033[2J\033[H"))) from = next + 7;
    for (; *from && *from != '\r' + (from[1] == '\n'); from++) {
        if (*from == '\033') from += 1 + strcspn(from + 1, "mKHJ");
        else if (*from != '\r') text[n++] = *from;
        else if (from[1] != '\n') break;
    }
    text[n] = 0;
    return text;
}

/* Reads until the screen holds the text. */
static void await(const char *needle) {
    struct pollfd p = {.fd = terminal, .events = POLLIN};
    while (!strstr(screen(), needle)) {
        int ready = poll(&p, 1, PATIENCE_MS);
        ssize_t n = ready > 0
                        ? read(terminal, output + output_size, MAX_OUTPUT_BYTES - 1 - output_size)
                        : 0;
        ck_assert_msg(n > 0, "never showed '%s', but:\n%s", needle, screen());
        output_size += (size_t)n;
        output[output_size] = 0;
    }
}

/* Of as many exercises as the book has. */
static void await_count(void) {
    char count[32];
    glob_t found;
    ck_assert_int_eq(glob("chapters/*/*_test.c", 0, NULL, &found), 0);
    snprintf(count, sizeof count, "(1 of %zu done)", found.gl_pathc);
    globfree(&found);
    await(count);
}

static void check_fits(unsigned rows, unsigned columns) {
    unsigned row_count = 1, width = 0;
    for (const char *at = screen(); *at; at++) {
        if (((unsigned char)*at & 0xc0) != 0x80) width++;
        if (*at == '\n') row_count += 1 + (width - 1) / (columns + 1), width = 0;
    }
    ck_assert_msg(row_count <= rows, "%u rows on a screen of %u:\n%s", row_count, rows, screen());
}

START_TEST(a_screen_holds_verdict_change_finding_and_next_step) {
    await("q quit");
    ck_assert_ptr_nonnull(strstr(screen(), "02-coalescing/transpose  CE"));
    ck_assert_ptr_nonnull(strstr(screen(), "transpose.cu:1: error"));
    await("next: f shows all messages of the compiler");
    write_submission("cp $TREE/solutions/02-coalescing/transpose.cu new && mv new transpose.cu");
    await("+100.0 points since the last save");
    await_count();
    write_submission("{ cat delivered; echo '// edited'; } >new && mv new transpose.cu");
    await("-100.0 points since the last save");
    ck_assert_ptr_nonnull(strstr(screen(), "transpose  PART (partial)"));
    ck_assert_ptr_nonnull(strstr(screen(), "transpose.cu:7: goal not reached"));
    await("next: p shows the cost of each line");
    check_fits(24, 80);
}
END_TEST

START_TEST(a_smaller_terminal_gets_a_smaller_screen) {
    await("q quit");
    struct winsize size = {.ws_row = 11, .ws_col = 50};
    write_submission("seq 40 | sed 's/.*/error&/' >transpose.cu");
    await("the same score");
    size_t drawn = output_size;
    ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
    memset(output, 0, drawn), output_size = 0;
    await("n next exercise");
    check_fits(11, 50);
}
END_TEST

START_TEST(keys_show_hints_and_quit) {
    int status;
    await("q quit");
    ck_assert_int_eq(write(terminal, "h", 1), 1);
    await("Hint 1 of 3");
    ck_assert_int_eq(write(terminal, "h", 1), 1);
    await("Hint 2 of 3");
    await("h shows the next one.");
    check_fits(24, 80);
    ck_assert_int_eq(write(terminal, "q", 1), 1);
    ck_assert_int_eq(waitpid(watcher, &status, 0), watcher);
    watcher = 0;
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

START_TEST(the_solution_comes_after_a_question) {
    await("q quit");
    ck_assert_int_eq(write(terminal, "s", 1), 1);
    await("Show the model solution?");
    ck_assert_int_eq(write(terminal, "nh", 2), 2);
    await("Hint 1 of 3");
    ck_assert_ptr_null(strstr(output, "// transpose: the model solution"));
    ck_assert_int_eq(write(terminal, "sy", 2), 2);
    await("// transpose: the model solution");
}
END_TEST

/* The beginner's path has transpose_padded after transpose; the book has vector_loads. */
START_TEST(n_goes_where_the_screen_says) {
    ck_assert_int_eq(shell("cd %s/work && XDG_STATE_HOME=%s/state %s/grader list --path beginner "
                           ">../log",
                           folder, folder, build_folder()),
                     0);
    write_submission("cp $TREE/solutions/02-coalescing/transpose.cu new && mv new transpose.cu");
    await("next: n goes to transpose_padded");
    ck_assert_int_eq(write(terminal, "n", 1), 1);
    await("04-bank-conflicts/transpose_padded  ");
}
END_TEST

START_TEST(a_log_has_full_reports_and_no_escapes) {
    ck_assert_int_eq(
        shell("cd %s/work && export XDG_STATE_HOME=%s/state && { %s/grader watch transpose >../log "
              "2>&1 </dev/null & p=$!; for i in $(seq 400); do grep -q ^watching ../log && break; "
              "sleep 0.1; done; kill $p; } && grep -q '^02-coalescing/transpose  CE' ../log && "
              "grep -q '^  Transpose with' ../log && ! grep -q \"$(printf '\\033')\" ../log",
              folder, folder, build_folder()),
        0);
}
END_TEST

UNIT_SUITE(watch) {
    Suite *suite = suite_create("watch");
    TCase *t = tcase_create("terminal");
    tcase_add_checked_fixture(t, open_fn, close_fn);
    tcase_add_test(t, a_screen_holds_verdict_change_finding_and_next_step);
    tcase_add_test(t, a_smaller_terminal_gets_a_smaller_screen);
    tcase_add_test(t, keys_show_hints_and_quit);
    tcase_add_test(t, the_solution_comes_after_a_question);
    tcase_add_test(t, n_goes_where_the_screen_says);
    tcase_add_test(t, a_log_has_full_reports_and_no_escapes);
    suite_add_tcase(suite, t);
    return suite;
}

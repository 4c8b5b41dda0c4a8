/* main.c — the grader's command line: parses the options, checks what the command needs and calls
 * its function, cmd_NAME. commands.h lists the commands; each has a file of its own. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/user_limits.h"
#include "grader/grade/provenance.h"
#include "grader/jail/jail.h"

#include <archive.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned needs;
    int (*run)(const struct options *);
} commands[] = {
#define X(name, needs) {#name, needs, cmd_##name},
    COMMANDS(X)
#undef X
};

/* Selects a folder for the temporary files of Check, which runs an exercise's tests: without one it
 * would exit. It reads only TEMP. */
static bool select_temporary_folder(struct err *e) {
    const char *const folders[] = {getenv("TEMP"), getenv("TMPDIR"), "/tmp", "/dev/shm",
                                   "/var/tmp"};
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[PATH_MAX];
        int fd =
            folders[i] && folders[i][0] && path_join(path, sizeof path, folders[i], "grader.XXXXXX")
                ? mkstemp(path)
                : -1;
        bool usable = fd >= 0 && write(fd, "x", 1) == 1;
        if (fd >= 0) close(fd), unlink(path);
        if (usable) return setenv("TEMP", folders[i], 1) == 0;
    }
    return err_set(
        e, ERR_SYSTEM,
        "no folder for temporary files: /tmp, /dev/shm and /var/tmp are full or can't be "
        "written; set TMPDIR to one with a free MiB");
}

static bool check_requirements(const struct options *o, unsigned needs, struct err *e) {
    if (needs & NEED_TREE && paths_is_installed())
        return err_set(e, ERR_INPUT,
                       "`grader %s` needs the source tree of the book; run build/grader there",
                       o->command);
    if (needs & NEED_SOLUTIONS && !cli_has_solutions(o, e)) return false;
    if (needs & NEED_WORKSPACE && !o->file && !paths_require_workspace(e)) return false;
    return !(needs & NEED_JAIL) ||
           (cli_lift_limits(e) && select_temporary_folder(e) && jail_probe(e));
}

static int dispatch(const struct options *o, unsigned needs, int (*run)(const struct options *)) {
    struct err e = {0};
    if ((o->machine_code || o->empty_caches) && run != cmd_run) {
        err_set(&e, ERR_INPUT, "%s applies only to `grader run`",
                o->machine_code ? "--machine-code" : "--empty-caches");
        return cli_report_error(&e);
    }
    if (o->no_jail) jail_disable();
    if (!book_open(&e)) return cli_report_error(&e);
    if (needs & NEED_JAIL) jail_handle_interrupts();
    if (!check_requirements(o, needs, &e)) return cli_report_error(&e);
    return run(o);
}

/* Returns true if the user typed this command: gpu-report for gpu_report. */
static bool is_command_name(const char *name, const char *argument) {
    while (*name && (*name == *argument || (*name == '_' && *argument == '-'))) name++, argument++;
    return !*name && !*argument;
}

/* Prints everything that results depend on, and the libraries that parse submissions. */
static int print_version(void) {
    struct err e = {0};
    const char *verified_nvcc;
    if (!book_open(&e)) return cli_report_error(&e);
    printf("grader %s\nbook   %u exercises\nnvcc   %s", grade_build_digest(), book_count(),
           grade_nvcc_version());
    if (!grade_is_nvcc_verified(&verified_nvcc))
        printf(" (the book was verified with %s)", verified_nvcc);
    printf("\nplace  %s\nSQLite %s, %s\n", paths_book_dir(), sqlite3_libversion(),
           archive_version_string());
    return EXIT_PASSED;
}

static int refuse_command(const char *command) {
    struct err e = {0};
    struct buf names = {0};
    char nearest[64];
    cli_append_commands(&names);
    bool is_near = text_nearest(command, buf_str(&names), nearest, sizeof nearest);
    err_set(&e, ERR_INPUT, "unknown command '%.60s'%s%s%s (see: grader --help)", command,
            is_near ? "; did you mean `grader " : "", is_near ? nearest : "", is_near ? "`?" : "");
    buf_free(&names);
    return cli_report_error(&e);
}

/* An exercise's tests are Check suites, too: variables that select or log the tests of a caller
 * would leave out tests, and accept what they would find. */
static void clear_check_variables(void) {
    static const char *const names[] = {"CK_INCLUDE_TAGS", "CK_EXCLUDE_TAGS", "CK_LOG_FILE_NAME",
                                        "CK_XML_LOG_FILE_NAME", "CK_TAP_LOG_FILE_NAME"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

int main(int argc, char **argv) {
    struct options o;
    struct err e = {0};
    signal(SIGPIPE, SIG_IGN);
    clear_check_variables();
    if (!options_parse(&o, argc, argv, &e)) {
        cli_report_error(&e);
        if (argc < 2) fputs("\n", stderr), fputs(options_usage(), stderr);
        else if (e.kind == ERR_INPUT) fputs("        (see: grader --help)\n", stderr);
        return e.kind == ERR_INPUT ? EXIT_USAGE : EXIT_INTERNAL_ERROR;
    }
    if (o.version) return print_version();
    if (o.help || !strcmp(o.command, "help")) return fputs(options_usage(), stdout), EXIT_PASSED;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (is_command_name(commands[i].name, o.command))
            return dispatch(&o, commands[i].needs, commands[i].run);
    return refuse_command(o.command);
}

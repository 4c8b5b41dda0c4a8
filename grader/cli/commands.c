/* commands.c — what commands share: selecting exercises, the status line, output, exit status_line.
 */
#include "common/file.h"
#include "common/text.h"
#include "grader/cli/commands.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

int cli_report_error(const struct err *e) {
    status_clear();
    fprintf(stderr, "grader: %s\n", e->text);
    return e->kind == ERR_INPUT ? EXIT_USAGE : EXIT_INTERNAL_ERROR;
}

const struct exercise **cli_select_exercises(const struct options *o, struct err *e) {
    const struct exercise **list = xcalloc(book_count() + 1, sizeof *list);
    for (unsigned i = 0, n = 0; i < (o->noperands ? o->noperands : book_count()); i++) {
        const struct exercise **found = o->noperands ? book_find(o->operands[i], e) : NULL;
        if (o->noperands && !found) return free(list), NULL;
        for (unsigned k = 0; k == 0 || (found && found[k]); k++) {
            const struct exercise *ex = found ? found[k] : book_at(i);
            bool is_duplicate = false;
            for (unsigned j = 0; j < n; j++) is_duplicate |= list[j] == ex;
            if (!is_duplicate) list[n++] = ex;
        }
        free(found);
    }
    if (!list[0]) err_set(e, ERR_INPUT, "there are no exercises in chapters/");
    return list[0] ? list : (free(list), NULL);
}

const struct exercise *cli_select_exercise(const struct options *o, struct err *e) {
    if (o->noperands != 1)
        return err_set(e, ERR_INPUT, "%s takes one exercise (see: grader list)", o->command), NULL;
    const struct exercise **found = book_find(o->operands[0], e),
                          *exercise = found ? found[0] : NULL;
    if (exercise && found[1])
        err_set(e, ERR_INPUT, "'%.100s' is a chapter; name one of its exercises, such as %s",
                o->operands[0], found[0]->name),
            exercise = NULL;
    free(found);
    return exercise;
}

/* Returns a terminal's width; 0 if `fd` is no terminal or reports less than 40 columns. */
static unsigned terminal_columns(int fd) {
    struct winsize w;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40 ? w.ws_col : 0;
}

struct report_style cli_style_for(int fd) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool is_dumb = terminal && !strcmp(terminal, "dumb");
    unsigned columns = terminal_columns(fd);
    return (struct report_style){.colour = isatty(fd) && !is_dumb && !(no_color && *no_color),
                                 .width = columns ? columns : 100};
}

void status_truncate(const char *text, unsigned columns, struct buf *out) {
    size_t n = 0, end = 0;
    for (unsigned width = 0; text[n]; n++) {
        if (((unsigned char)text[n] & 0xc0) == 0x80) continue;
        if (width++ == columns) break;
        if (width == columns) end = n;
    }
    if (!text[n]) buf_puts(out, text);
    else buf_add(out, text, end), buf_puts(out, "…");
}

/* Prints a status line every 20 seconds where standard error is no terminal, so that a log
 * distinguishes a long run from a hang. */
static void status_log(const char *text) {
    enum { LOG_INTERVAL_SECONDS = 20 };
    static time_t last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!last) last = now.tv_sec;
    if (now.tv_sec - last < LOG_INTERVAL_SECONDS) return;
    fprintf(stderr, "grader: %s\n", text);
    last = now.tv_sec;
}

/* The status line on a terminal. From STATUS_DELAY_SECONDS on, a thread adds how long the step has
 * taken, so that a long step doesn't look like a hang. */
enum { STATUS_DELAY_SECONDS = 2 };
static struct {
    pthread_mutex_t lock;
    bool is_shown, has_thread;
    char text[512];
    struct timespec since;
} status_line = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Cuts the text to the terminal's width, because a wrapped line can't be overwritten. */
static void status_write(long seconds) {
    char suffix[32] = "";
    unsigned columns = terminal_columns(2);
    struct buf line = {0};
    if (seconds >= STATUS_DELAY_SECONDS) snprintf(suffix, sizeof suffix, ", %ld s", seconds);
    columns = (columns ? columns : 80) - 1 - (unsigned)strlen(suffix);
    buf_puts(&line, "\r\033[K");
    status_truncate(status_line.text, columns < 512 ? columns : 512, &line);
    buf_puts(&line, suffix);
    ssize_t ignored = write(2, line.data, line.size);
    (void)ignored;
    buf_free(&line);
}

static void *status_tick(void *unused) {
    for (;;) {
        struct timespec now;
        sleep(1);
        pthread_mutex_lock(&status_line.lock);
        clock_gettime(CLOCK_MONOTONIC, &now);
        long seconds = now.tv_sec - status_line.since.tv_sec;
        if (status_line.is_shown && seconds >= STATUS_DELAY_SECONDS) status_write(seconds);
        pthread_mutex_unlock(&status_line.lock);
    }
    return unused;
}

/* Signals go to the main thread. */
static void status_start_thread(void) {
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&thread, NULL, status_tick, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    status_line.has_thread = true;
}

void status_print(const char *text) {
    if (!isatty(2)) {
        status_log(text);
        return;
    }
    pthread_mutex_lock(&status_line.lock);
    snprintf(status_line.text, sizeof status_line.text, "%s", text);
    clock_gettime(CLOCK_MONOTONIC, &status_line.since);
    status_line.is_shown = true;
    status_write(0);
    pthread_mutex_unlock(&status_line.lock);
    if (!status_line.has_thread) status_start_thread();
}

void status_show(void *user, const char *step) {
    char text[256];
    snprintf(text, sizeof text, "%.100s: %.100s", (const char *)user, step);
    status_print(text);
}

void status_clear(void) {
    pthread_mutex_lock(&status_line.lock);
    if (status_line.is_shown) fputs("\r\033[K", stderr);
    status_line.is_shown = false;
    pthread_mutex_unlock(&status_line.lock);
}

bool cli_write_output(const struct options *o, const struct buf *text, struct err *e) {
    if (o->output) return file_write_output(o->output, buf_str(text), text->size, e);
    if (o->captured_output) return buf_add(o->captured_output, buf_str(text), text->size), true;
    status_clear();
    size_t n = fwrite(buf_str(text), 1, text->size, stdout);
    return (n == text->size && fflush(stdout) == 0) ||
           err_set(e, ERR_SYSTEM, "standard output: %s", strerror(errno));
}

int cli_exit_status(const struct result *results, unsigned n) {
    int status = EXIT_PASSED;
    for (unsigned i = 0; i < n; i++) {
        if (results[i].verdict == V_IE) return EXIT_INTERNAL_ERROR;
        if (results[i].verdict != V_AC) status = EXIT_FAILED;
    }
    return status;
}

bool cli_has_solutions(const struct options *o, struct err *e) {
    return book_has_solutions() ||
           err_set(e, ERR_INPUT,
                   "%s needs the model solutions, which this release leaves out; use the full tree",
                   o->command);
}

const char *cli_student_file(const struct options *o, const struct exercise *ex) {
    return o->file ? o->file : book_student_file(ex);
}

void cli_append_commands(struct buf *out) {
    static const char *const names[] = {
#define X(name, needs) #name,
        COMMANDS(X)
#undef X
    };
    struct buf text = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        buf_printf(&text, "%s%s", i ? " " : "", names[i]);
    text_replace(&text, "_", "-"); /* gpu-report for gpu_report */
    buf_puts(out, buf_str(&text));
    buf_free(&text);
}

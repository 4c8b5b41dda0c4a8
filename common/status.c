/* status.c — see status.h. A thread adds how long the step has taken, so that a long step doesn't
 * look like a hang. */
#include "common/status.h"
#include "common/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned status_terminal_columns(int fd) {
    struct winsize w;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40 ? w.ws_col : 0;
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

enum { STATUS_DELAY_SECONDS = 2, LOG_INTERVAL_SECONDS = 60 };
static struct {
    pthread_mutex_t lock;
    bool is_shown, has_thread;
    char text[512];
    double since, logged_at; /* start of the step; the last line of a log, or the first step */
} status_line = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Cuts the text to the terminal's width, because a wrapped line can't be overwritten. */
static void status_write(long seconds) {
    char suffix[32] = "";
    unsigned columns = status_terminal_columns(2);
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

static void status_log(double now) {
    if (now - status_line.logged_at < LOG_INTERVAL_SECONDS) return;
    fprintf(stderr, "%s: %s, %.0f s\n", program_invocation_short_name, status_line.text,
            now - status_line.since);
    status_line.logged_at = now;
}

static void *status_tick(void *unused) {
    for (;;) {
        sleep(1);
        pthread_mutex_lock(&status_line.lock);
        double now = clock_seconds(), seconds = now - status_line.since;
        if (status_line.is_shown && !isatty(2)) status_log(now);
        else if (status_line.is_shown && seconds >= STATUS_DELAY_SECONDS)
            status_write((long)seconds);
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

void status_print_since(const char *text, double start_seconds) {
    pthread_mutex_lock(&status_line.lock);
    snprintf(status_line.text, sizeof status_line.text, "%s", text);
    status_line.since = start_seconds;
    if (!status_line.logged_at) status_line.logged_at = start_seconds;
    status_line.is_shown = true;
    if (isatty(2)) status_write((long)(clock_seconds() - start_seconds));
    pthread_mutex_unlock(&status_line.lock);
    if (!status_line.has_thread) status_start_thread();
}

void status_print(const char *text) { status_print_since(text, clock_seconds()); }

void status_show(void *user, const char *step) {
    char text[256];
    snprintf(text, sizeof text, "%.100s: %.100s", (const char *)user, step);
    status_print(text);
}

void status_clear(void) {
    pthread_mutex_lock(&status_line.lock);
    if (status_line.is_shown && isatty(2)) fputs("\r\033[K", stderr);
    status_line.is_shown = false;
    pthread_mutex_unlock(&status_line.lock);
}

/* ---- counted work ---- */

static void put_time_left(double seconds, struct buf *out) {
    if (seconds >= 90) buf_printf(out, ", about %.0f min left", seconds / 60);
    else buf_printf(out, ", about %.0f s left", seconds);
}

void status_put_count(const struct status_count *c, double seconds, struct buf *out) {
    buf_printf(out, "%llu of %llu %s", (unsigned long long)c->done, (unsigned long long)c->total,
               c->unit);
    if (!c->done || c->done > c->total || seconds <= 0) return;
    double per_second = (double)c->done / seconds;
    if (per_second >= 1) buf_printf(out, ", %.1f a second", per_second);
    else buf_printf(out, ", %.1f a minute", 60 * per_second);
    put_time_left((double)(c->total - c->done) / per_second, out);
}

void status_count_begin(struct status_count *c, const char *unit, unsigned total) {
    *c = (struct status_count){.unit = unit, .total = total, .start_seconds = clock_seconds()};
}

void status_count_show(const struct status_count *c, const char *item) {
    struct buf text = {0};
    status_put_count(c, clock_seconds() - c->start_seconds, &text);
    if (item[0]) buf_printf(&text, ": %.100s", item);
    status_print(buf_str(&text));
    buf_free(&text);
}

void status_count_next(void *count, const char *path) {
    struct status_count *c = count;
    const char *slash = strrchr(path, '/');
    c->done++;
    status_count_show(c, slash ? slash + 1 : path);
}

/* cmd_watch.c — grader watch: grades the exercise at every save. It polls the file a few times a
 * second, because network file systems don't send file events. A new time or size makes it read the
 * content; it grades only if the content has changed.
 *
 * On a terminal it shows as much of a brief report as the screen holds, so that the verdict stays
 * visible; f shows the full report.
 *
 * Keys: n next exercise · f full report · p profile · s solution · h hint · l list · c grade again
 * · r reset, after a question · ? keys · q quit. */
#include "common/file.h"
#include "common/hash.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

enum { POLL_INTERVAL_MS = 300 };

struct watch {
    const struct options *o;
    const struct exercise *ex;
    struct stat last_stat;
    char content_digest[HASH_HEX_SIZE]; /* of the graded content; "" = grade in any case */
    struct buf report;                  /* the last full report */
    bool confirms_reset;                /* the next key answers whether to reset */
};

static struct termios cooked;
static volatile sig_atomic_t interrupted;
static void on_interrupt(int s) { (void)s, interrupted = 1; }

static void set_raw_mode(bool on) {
    if (!isatty(0)) return;
    struct termios raw = cooked;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0, raw.c_cc[VTIME] = 0;
    tcsetattr(0, TCSANOW, on ? &raw : &cooked);
}

/* Runs another command with the same options for this exercise; returns its exit status. */
static int run_command(const struct watch *w, int (*command)(const struct options *),
                       const char *name) {
    char id[160];
    snprintf(id, sizeof id, "%s", book_id(w->ex));
    const char *names[] = {id};
    struct options o = *w->o;
    o.command = name, o.operands = names, o.noperands = 1;
    return command(&o);
}

static bool has_changed(struct watch *w) {
    struct stat current;
    const char *path = cli_student_file(w->o, w->ex);
    if (stat(path, &current) < 0) return false; /* an editor may be replacing it */
    bool is_same_stat = current.st_mtim.tv_sec == w->last_stat.st_mtim.tv_sec &&
                        current.st_mtim.tv_nsec == w->last_stat.st_mtim.tv_nsec &&
                        current.st_size == w->last_stat.st_size &&
                        current.st_ino == w->last_stat.st_ino;
    if (is_same_stat && w->content_digest[0]) return false;
    struct buf text = {0};
    struct err e = {0};
    struct hash h;
    char digest[HASH_HEX_SIZE];
    bool is_read = file_read(path, SOURCE_LIMIT, &text, &e);
    hash_init(&h);
    hash_update(&h, text.data, text.size);
    hash_final_hex(&h, digest);
    buf_free(&text);
    if (!is_read) return false;
    w->last_stat = current;
    bool is_different = strcmp(digest, w->content_digest) != 0;
    strcpy(w->content_digest, digest);
    return is_different;
}

/* Returns the terminal's height; 0 = standard output is no terminal. */
static unsigned screen_rows(void) {
    struct winsize w = {0};
    return isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 ? w.ws_row : 0;
}

/* Prints as much of the brief report as fits above the footer. */
static void show_report(const struct watch *w, const struct buf *brief, unsigned rows) {
    enum { FOOTER_ROWS = 3 }; /* count of hidden lines, file, cursor */
    struct buf visible = {0};
    struct report_style style = cli_style_for(1);
    unsigned hidden_lines = report_fit_rows(
        buf_str(brief), rows > FOOTER_ROWS + 5 ? rows - FOOTER_ROWS : 5, &style, &visible);
    fputs(rows ? buf_str(&visible) : buf_str(&w->report), stdout);
    if (rows && hidden_lines)
        printf("… %u more line%s; f shows the full report\n", hidden_lines,
               hidden_lines == 1 ? "" : "s");
    buf_free(&visible);
}

static void grade_now(struct watch *w) {
    struct options o = *w->o;
    struct buf brief = {0};
    struct err e = {0};
    char id[160];
    int status;
    snprintf(id, sizeof id, "%s", book_id(w->ex));
    const char *names[] = {id};
    o.command = "run", o.operands = names, o.noperands = 1, o.brief_report = &brief;
    if (isatty(1)) fputs("\033[2J\033[H", stdout), fflush(stdout);
    buf_clear(&w->report);
    if (cli_run(&o, &w->report, &status, &e)) show_report(w, &brief, screen_rows());
    else cli_report_error(&e);
    printf("watching %s%s\n", cli_student_file(w->o, w->ex), isatty(0) ? "   ? for keys" : "");
    fflush(stdout);
    buf_free(&brief);
}

static bool is_passed(const struct exercise *ex) {
    struct progress p;
    progress_load(ex, &p);
    return !strcmp(p.verdict, "AC");
}

/* Returns the next exercise after `from` that is not accepted, cyclically; if all are, the next. */
static const struct exercise *next_unsolved(const struct exercise *from) {
    unsigned n = book_count(), at = 0;
    while (at < n && book_at(at) != from) at++;
    for (unsigned i = 1; i <= n; i++)
        if (!is_passed(book_at((at + i) % n))) return book_at((at + i) % n);
    return book_at((at + 1) % n);
}

static void select_exercise(struct watch *w, const struct exercise *ex) {
    w->ex = ex;
    w->content_digest[0] = 0;
}

static void print_line(const char *text) {
    puts(text);
    fflush(stdout);
}

/* Returns false to quit. */
static bool handle_key(struct watch *w, char c) {
    struct options all_options = *w->o;
    all_options.noperands = 0;
    if (w->confirms_reset) {
        w->confirms_reset = false;
        if (c == 'y') run_command(w, cmd_reset, "reset");
        return true;
    }
    switch (c) {
    case 'n': select_exercise(w, next_unsolved(w->ex)); return true;
    case 'f': print_line(buf_str(&w->report)); return true;
    case 'h': run_command(w, cmd_hint, "hint"); return true;
    case 'l': cmd_list(&all_options); return true;
    case 'c': w->content_digest[0] = 0; return true;
    case 'p': run_command(w, cmd_profile, "profile"); return true;
    case 's': run_command(w, cmd_solution, "solution"); return true;
    case 'r':
        w->confirms_reset = true,
        print_line("Restore the starter file? A backup keeps your version. y or n");
        return true;
    case '?':
        print_line(
            "n next  f full  p profile  h hint  s solution  l list  c again  r reset  q quit");
        return true;
    case 'q': return false;
    default: return true;
    }
}

static bool wait_for_key(struct watch *w) {
    struct pollfd p = {.fd = isatty(0) ? 0 : -1, .events = POLLIN};
    char c;
    if (poll(&p, 1, POLL_INTERVAL_MS) <= 0) return true;
    if (read(0, &c, 1) != 1) return false;
    return handle_key(w, c);
}

int cmd_watch(const struct options *o) {
    struct err e = {0};
    struct watch w = {.o = o};
    if (o->noperands) w.ex = cli_select_exercise(o, &e);
    else if (book_count()) w.ex = is_passed(book_at(0)) ? next_unsolved(book_at(0)) : book_at(0);
    if (!w.ex && e.kind == ERR_NONE) err_set(&e, ERR_INPUT, "there are no exercises in chapters/");
    if (!w.ex) return cli_report_error(&e);
    if (o->output || o->format != FORMAT_TEXT)
        return err_set(&e, ERR_INPUT, "watch writes to the terminal only"), cli_report_error(&e);
    if (isatty(0)) tcgetattr(0, &cooked);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    set_raw_mode(true);
    while (!interrupted) {
        if (has_changed(&w)) grade_now(&w);
        if (!wait_for_key(&w)) break;
    }
    set_raw_mode(false);
    buf_free(&w.report);
    puts("");
    return EXIT_PASSED;
}

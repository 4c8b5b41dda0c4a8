/* cmd_watch.c — grader watch: grades the exercise whenever the content of its file has changed.
 *
 * On a terminal it shows one screen: a page (a brief report, or what a key requested) as far as it
 * fits, below it the score's change since the last save, the next step and the keys. It draws again
 * when the terminal's size changes. Elsewhere it prints full reports, one after another.
 *
 * Keys: n next exercise · f full report · p profile · s solution · h hint · l list · c grade again
 * · r reset · space rest of the page · ? keys · q quit. */
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/cli/source_watch.h"
#include "grader/jail/jail.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { POLL_INTERVAL_MS = 300 };

struct watch {
    const struct options *o;
    const struct exercise *ex;
    struct source_watch file;      /* an empty digest: grade in any case */
    struct buf report;             /* the last full report */
    struct buf page;               /* what the screen shows, from page_start on */
    size_t page_start, shown_size; /* of the part on the screen */
    struct winsize drawn_size;     /* of the terminal when the screen was drawn */
    char change[64];               /* "+12.0 points since the last save", or "" */
    char asked;                    /* the key whose question the next key answers; 0 = none */
};

static struct termios cooked;
static volatile sig_atomic_t interrupted, is_grading;

static void set_raw_mode(bool on) {
    if (!isatty(0)) return;
    struct termios raw = cooked;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0, raw.c_cc[VTIME] = 0;
    tcsetattr(0, TCSANOW, on ? &raw : &cooked);
}

/* A grading ends at once; otherwise the loop ends. */
static void on_interrupt(int number) {
    interrupted = 1;
    if (is_grading) set_raw_mode(false), jail_end_by_signal(number);
}

/* ---- the next exercise ---- */

static bool is_passed(const struct exercise *ex) {
    struct progress p;
    progress_load(ex, &p);
    return !strcmp(p.verdict, "AC");
}

/* Returns the next exercise after `from` that is not accepted, cyclically; NULL = all are. If
 * `path` is not NULL, only its exercises count; `from` need not be one. */
static const struct exercise *next_in(const struct book_path_row *path,
                                      const struct exercise *from) {
    const struct exercise *first = NULL;
    const struct book_path_row *row = path;
    bool is_behind = false; /* of `from` */
    for (unsigned i = 0; path ? (row = book_path_next(row)) != NULL : i < book_count(); i++) {
        if (path && row->kind != BOOK_PATH_STEP) continue;
        const struct exercise *ex = path ? book_path_exercise(row) : book_at(i);
        if (ex == from) is_behind = true;
        else if (!is_passed(ex) && is_behind) return ex;
        else if (!is_passed(ex) && !first) first = ex;
    }
    return first;
}

/* Returns the exercise that the key n selects: the next one of the followed path, then of the
 * book. */
static const struct exercise *next_unsolved(const struct exercise *from) {
    const struct book_path_row *path = progress_followed_path();
    const struct exercise *next = path ? next_in(path, from) : NULL;
    if (!next) next = next_in(NULL, from);
    return next ? next : from;
}

/* ---- the screen ---- */

/* Returns the terminal's size; 0 rows = standard output is no terminal. */
static struct winsize screen_size(void) {
    struct winsize size = {0};
    if (!isatty(1) || ioctl(1, TIOCGWINSZ, &size) != 0) return (struct winsize){0};
    return size;
}

static bool has_resized(const struct watch *w) {
    struct winsize now = screen_size();
    return now.ws_row != w->drawn_size.ws_row || now.ws_col != w->drawn_size.ws_col;
}

/* Appends the key to press next, by the last verdict. */
static void put_next_step(const struct watch *w, struct buf *out) {
    struct progress p;
    const struct exercise *first;
    progress_load(w->ex, &p);
    if (!p.verdict[0] || w->o->file) return; /* progress is that of the student's own file */
    buf_puts(out, "next: ");
    if (!strcmp(p.verdict, "PART")) buf_puts(out, "p shows the cost of each line");
    else if (!strcmp(p.verdict, "CE")) buf_puts(out, "f shows all messages of the compiler");
    else if (strcmp(p.verdict, "AC") != 0) buf_puts(out, "h shows a hint");
    else {
        unsigned done = progress_count_passed(&first);
        const struct exercise *next = next_unsolved(w->ex);
        if (next != w->ex) buf_printf(out, "n goes to %s ", next->name);
        buf_printf(out, "(%u of %u done)", done, book_count());
    }
}

/* Appends the lines below the page: the change of the score and what is hidden; the next step; the
 * keys. */
static void put_footer(const struct watch *w, unsigned hidden_lines, unsigned columns,
                       struct buf *out) {
    struct buf line = {0};
    buf_puts(&line, w->change);
    if (hidden_lines)
        buf_printf(&line, "%sspace shows %u more line%s", w->change[0] ? "; " : "", hidden_lines,
                   hidden_lines == 1 ? "" : "s");
    status_truncate(buf_str(&line), columns - 1, out);
    buf_clear(&line), buf_puts(out, "\n");
    put_next_step(w, &line);
    status_truncate(buf_str(&line), columns - 1, out);
    buf_puts(out, "\n");
    if (isatty(0))
        status_truncate("h hint  p profile  s solution  n next exercise  f full  ? keys  q quit",
                        columns - 1, out);
    buf_puts(out, "\n");
    buf_free(&line);
}

/* Draws the page from page_start on. The last row stays free for the status line. */
static void draw(struct watch *w) {
    enum { FOOTER_ROWS = 4, MIN_ROWS = 5 };
    struct report_style style = cli_style_for(1);
    struct buf visible = {0}, footer = {0};
    w->drawn_size = screen_size();
    unsigned rows = w->drawn_size.ws_row;
    const char *text = buf_str(&w->page) + w->page_start;
    unsigned hidden_lines = report_fit_rows(
        text, rows > FOOTER_ROWS + MIN_ROWS ? rows - FOOTER_ROWS : MIN_ROWS, &style, &visible);
    put_footer(w, hidden_lines, style.width, &footer);
    printf("\033[2J\033[H%s%s%s%s", buf_str(&visible), report_style_escape(&style, TEXT_STYLE_DIM),
           buf_str(&footer), report_style_escape(&style, TEXT_STYLE_NONE));
    fflush(stdout);
    w->shown_size = visible.size;
    buf_free(&visible), buf_free(&footer);
}

/* Shows a text as the page; where standard output is no terminal, prints it. */
static void show(struct watch *w, const char *text) {
    if (!screen_size().ws_row) {
        fputs(text, stdout), fflush(stdout);
        return;
    }
    buf_clear(&w->page), buf_puts(&w->page, text);
    w->page_start = 0;
    draw(w);
}

/* Shows the rest of the page; after its end, the beginning. */
static void show_rest(struct watch *w) {
    w->page_start += w->shown_size;
    if (w->page_start >= w->page.size) w->page_start = 0;
    draw(w);
}

/* Shows what another command prints with the same options for this exercise. An error, which is on
 * standard error, stays below the page. */
static void show_command(struct watch *w, int (*command)(const struct options *), const char *name,
                         bool for_exercise) {
    char id[160];
    struct buf output = {0};
    snprintf(id, sizeof id, "%s", book_id(w->ex));
    const char *names[] = {id};
    struct options o = *w->o;
    o.command = name, o.operands = names, o.noperands = for_exercise, o.captured_output = &output;
    command(&o);
    if (output.size) show(w, buf_str(&output));
    buf_free(&output);
}

/* Sets `change` to how the score differs from the last run before this one. */
static void compare_scores(struct watch *w, double score_before) {
    struct progress p;
    progress_load(w->ex, &p);
    double difference = p.score - score_before;
    if (difference == 0)
        snprintf(w->change, sizeof w->change, "the same score as at the last save");
    else snprintf(w->change, sizeof w->change, "%+.1f points since the last save", difference);
}

static void grade_now(struct watch *w) {
    struct options o = *w->o;
    struct buf brief = {0};
    struct err e = {0};
    struct progress before;
    char id[160];
    int status;
    snprintf(id, sizeof id, "%s", book_id(w->ex));
    const char *names[] = {id};
    o.command = "run", o.operands = names, o.noperands = 1, o.brief_report = &brief;
    progress_load(w->ex, &before);
    buf_clear(&w->report);
    w->change[0] = 0;
    is_grading = 1;
    bool has_report = cli_run(&o, &w->report, &status, &e);
    is_grading = 0;
    if (!has_report) cli_report_error(&e);
    else {
        if (before.verdict[0] && !o.file && status != EXIT_INTERNAL_ERROR)
            compare_scores(w, before.score);
        show(w, buf_str(screen_size().ws_row ? &brief : &w->report));
    }
    if (!screen_size().ws_row)
        printf("%s%swatching %s\n", w->change, w->change[0] ? "; " : "",
               cli_student_file(w->o, w->ex));
    fflush(stdout);
    buf_free(&brief);
}

static void select_exercise(struct watch *w, const struct exercise *ex) {
    w->ex = ex;
    w->file.digest[0] = 0;
}

static const char keys_help[] = "h  hint: the next one\n"
                                "p  profile: the cost of each line\n"
                                "s  solution: the model solution\n"
                                "n  next exercise that is not accepted\n"
                                "f  full report\n"
                                "l  list of exercises\n"
                                "c  grade again\n"
                                "r  reset: restore the starter file\n"
                                "   space: the rest of the page\n"
                                "q  quit\n";

static bool ask(struct watch *w, char key, const char *question) {
    w->asked = key;
    fputs(question, stdout);
    return fflush(stdout), true;
}

static bool answer(struct watch *w, char c) {
    char key = w->asked;
    w->asked = 0;
    if (c != 'y') draw(w);
    else if (key == 's') show_command(w, cmd_solution, "solution", true);
    else show_command(w, cmd_reset, "reset", true);
    return true;
}

/* Returns false to quit. */
static bool handle_key(struct watch *w, char c) {
    if (w->asked) return answer(w, c);
    switch (c) {
    case 'n': select_exercise(w, next_unsolved(w->ex)); return true;
    case 'f': show(w, buf_str(&w->report)); return true;
    case 'h': show_command(w, cmd_hint, "hint", true); return true;
    case 'l': show_command(w, cmd_list, "list", false); return true;
    case 'c': w->file.digest[0] = 0; return true;
    case 'p': show_command(w, cmd_profile, "profile", true); return true;
    case 's': return ask(w, c, "Show the model solution? Your own version teaches more. y or n");
    case 'r': return ask(w, c, "Restore the starter file? A backup keeps your version. y or n");
    case ' ': show_rest(w); return true;
    case '?': show(w, keys_help); return true;
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
    else if (book_count()) w.ex = next_unsolved(NULL) ? next_unsolved(NULL) : book_at(0);
    if (!w.ex && e.kind == ERR_NONE) err_set(&e, ERR_INPUT, "there are no exercises in chapters/");
    if (!w.ex) return cli_report_error(&e);
    if (o->output || o->format != FORMAT_TEXT)
        return err_set(&e, ERR_INPUT, "watch writes to the terminal only"), cli_report_error(&e);
    if (isatty(0)) tcgetattr(0, &cooked);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    set_raw_mode(true);
    while (!interrupted) {
        if (source_watch_has_changed(&w.file, cli_student_file(o, w.ex))) grade_now(&w);
        if (w.page.size && has_resized(&w)) draw(&w);
        if (!wait_for_key(&w)) break;
    }
    set_raw_mode(false);
    buf_free(&w.report), buf_free(&w.page);
    puts("");
    return EXIT_PASSED;
}

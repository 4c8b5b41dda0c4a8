/* commands.c — what commands share: selecting exercises, output, exit status. */
#include "common/file.h"
#include "common/text.h"
#include "grader/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct report_style cli_style_for(int fd) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool is_dumb = terminal && !strcmp(terminal, "dumb");
    unsigned columns = status_terminal_columns(fd);
    return (struct report_style){.colour = isatty(fd) && !is_dumb && !(no_color && *no_color),
                                 .width = columns ? columns : 100};
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

/* ladder_check.c — compares the counters in a ladder's table with counted ones (ladder_check.h). */
#include "grader/cli/ladder_check.h"
#include "grader/server/launch_stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Copies cell `n` of a table's line without the blanks and backquotes around it; false past the
 * last one. */
static bool parse_cell(const char *line, unsigned n, char *out, size_t size) {
    const char *end = line + strcspn(line, "\n"), *p = line;
    for (unsigned i = 0; i <= n; i++) {
        p = memchr(p, '|', (size_t)(end - p));
        if (!p || !memchr(p + 1, '|', (size_t)(end - p - 1))) return false;
        p++;
    }
    const char *stop = memchr(p, '|', (size_t)(end - p));
    while (p < stop && strchr(" `", *p)) p++;
    while (stop > p && strchr(" `", stop[-1])) stop--;
    size_t length = (size_t)(stop - p) < size ? (size_t)(stop - p) : size - 1;
    memcpy(out, p, length);
    out[length] = 0;
    return true;
}

static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static bool find_column(const char *header, const char *step, unsigned *column) {
    char name[64];
    for (*column = 1; parse_cell(header, *column, name, sizeof name); ++*column)
        if (!strcmp(name, step)) return true;
    return false;
}

static void check_counter(const char *key, const char *value, const struct sim_counters *c,
                          struct buf *problems) {
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        if (strcmp(sim_counter_name(i), key)) continue;
        uint64_t counted = sim_counter_get(c, i), published = strtoull(value, NULL, 10);
        if (counted != published || value[strspn(value, "0123456789")])
            buf_printf(problems, "its ladder publishes %s = %s; the grader counts %" PRIu64 "\n",
                       key, value, counted);
        return;
    }
    buf_printf(problems, "its ladder publishes `%s`, which is not a counter\n", key);
}

bool ladder_counters_agree(const char *ladder, const char *step, const struct sim_counters *c,
                           struct buf *problems) {
    static const char header_prefix[] = "| counter |";
    size_t before = problems->size;
    unsigned column;
    const char *line = strncmp(ladder, header_prefix, sizeof header_prefix - 1)
                           ? strstr(ladder, "\n| counter |")
                           : ladder;
    if (line && *line == '\n') line++;
    if (!line || !find_column(line, step, &column)) {
        buf_printf(problems, "its ladder publishes no counters for %s\n", step);
        return false;
    }
    char key[64], value[64];
    for (line = next_line(next_line(line)); *line == '|'; line = next_line(line))
        if (parse_cell(line, 0, key, sizeof key) && parse_cell(line, column, value, sizeof value))
            check_counter(key, value, c, problems);
    return problems->size == before;
}

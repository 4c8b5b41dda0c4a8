/* published.c — see published.h. */
#include "grader/cli/published.h"
#include "grader/server/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Cell `n` of a table's line, without the blanks and backquotes around it; false past the last one.
 */
static bool cell(const char *line, unsigned n, char *out, size_t size) {
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

static bool column_of(const char *head, const char *step, unsigned *column) {
    char name[64];
    for (*column = 1; cell(head, *column, name, sizeof name); ++*column)
        if (!strcmp(name, step)) return true;
    return false;
}

static void compare(const char *key, const char *value, const struct sim_counters *c,
                    struct buf *why) {
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        if (strcmp(sim_counter_name(i), key)) continue;
        uint64_t counted = sim_counter_get(c, i), published = strtoull(value, NULL, 10);
        if (counted != published || value[strspn(value, "0123456789")])
            buf_printf(why, "its ladder publishes %s = %s, counted are %" PRIu64 "\n", key, value,
                       counted);
        return;
    }
    buf_printf(why, "its ladder publishes `%s`, which is no counter\n", key);
}

bool published_agrees(const char *ladder, const char *step, const struct sim_counters *c,
                      struct buf *why) {
    static const char mark[] = "| counter |";
    size_t before = why->size;
    unsigned column;
    const char *line =
        strncmp(ladder, mark, sizeof mark - 1) ? strstr(ladder, "\n| counter |") : ladder;
    if (line && *line == '\n') line++;
    if (!line || !column_of(line, step, &column)) {
        buf_printf(why, "its ladder publishes no counters for %s\n", step);
        return false;
    }
    char key[64], value[64];
    for (line = next_line(next_line(line)); *line == '|'; line = next_line(line))
        if (cell(line, 0, key, sizeof key) && cell(line, column, value, sizeof value))
            compare(key, value, c, why);
    return why->size == before;
}

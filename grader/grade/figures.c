/* figures.c — see figures.h. */
#include "grader/grade/figures.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/where.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { FIGURES_LIMIT = 4 << 20 };
static const char head[] = "warpbook-figures 1\n", last[] = "\nend ";

static bool path_of(char path[PATH_MAX]) {
    return path_join(path, PATH_MAX, where_book(), "chapters/figures.txt");
}

bool figures_there(void) {
    char path[PATH_MAX];
    return path_of(path) && file_exists(path);
}

/* Kept once read: reports ask for several lines. */
static const char *text_of(struct err *e) {
    static struct buf kept;
    static bool good;
    char path[PATH_MAX];
    if (good) return buf_str(&kept);
    buf_clear(&kept);
    good = path_of(path) && file_read(path, FIGURES_LIMIT, &kept, e) && figures_check(&kept, e);
    return good ? buf_str(&kept) : NULL;
}

bool figures_check(const struct buf *text, struct err *e) {
    char digest[HASH_HEX];
    const char *s = buf_str(text), *end = strstr(s, last), *from = strstr(s, head);
    if (end) hash_plain(s, (size_t)(end + 1 - s), digest);
    if (end && from && from < end && !strncmp(end + sizeof last - 1, digest, HASH_HEX - 1))
        return true;
    return err_set(
        e, ERR_SYSTEM,
        "chapters/figures.txt is damaged, or of another version: unpack the release again");
}

void figures_seal(struct buf *text) {
    char digest[HASH_HEX];
    hash_plain(buf_str(text), text->size, digest);
    buf_printf(text, "end %s\n", digest);
}

/* The rest of the next line that begins with `start` and a space; `at` moves past it. */
static const char *line_with(const char **at, const char *start) {
    size_t n = strlen(start);
    for (const char *l = *at; *l; l += strcspn(l, "\n"), l += *l == '\n')
        if (!strncmp(l, start, n) && l[n] == ' ') return *at = l + strcspn(l, "\n"), l + n + 1;
    return NULL;
}

bool figures_find_times(const char *text, const char *exercise, const char *device,
                        const char *version, double times[2]) {
    char start[256];
    snprintf(start, sizeof start, "times %s %s %s", exercise, device, version);
    const char *found = line_with(&text, start);
    return found && sscanf(found, "%la %la", &times[0], &times[1]) == 2;
}

void figures_find_limits(const char *text, const char *exercise, struct buf *out) {
    char start[256];
    snprintf(start, sizeof start, "limit %s", exercise);
    for (const char *l; (l = line_with(&text, start));)
        buf_printf(out, "%.*s\n", (int)strcspn(l, "\n"), l);
}

bool figures_has(const char *text, const char *exercise) {
    char start[256];
    snprintf(start, sizeof start, "times %s", exercise);
    return line_with(&text, start);
}

bool figures_ready(const char *exercise, struct err *e) {
    const char *text = text_of(e);
    if (!text) return false;
    return figures_has(text, exercise) ||
           err_set(e, ERR_SYSTEM,
                   "this release has no answer to %s, and chapters/figures.txt no figures of it",
                   exercise);
}

bool figures_times(const char *exercise, const char *device, const char *version, double times[2],
                   struct err *e) {
    const char *text = text_of(e);
    return text && figures_find_times(text, exercise, device, version, times);
}

bool figures_limits(const char *exercise, struct buf *out, struct err *e) {
    const char *text = text_of(e);
    if (text) figures_find_limits(text, exercise, out);
    return text;
}

const char *figures_nvcc(void) {
    static char version[32];
    struct err ignored = {0};
    const char *text = text_of(&ignored), *found = text ? line_with(&text, "nvcc") : NULL;
    if (found) snprintf(version, sizeof version, "%.*s", (int)strcspn(found, "\n"), found);
    return version;
}

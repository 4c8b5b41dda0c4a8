/* progress.c — see progress.h. One small file an exercise; one that can't be read counts as none. */
#include "grader/cli/progress.h"
#include "common/file.h"
#include "grader/book/book.h"

#include <limits.h>
#include <stdio.h>

static void path_of(const struct exercise *ex, bool make, char *out, size_t size) {
    struct err e = {0};
    snprintf(out, size, "%s/progress/%s", book_build(), ex->chapter);
    if (make) dir_make(out, &e);
    snprintf(out, size, "%s/progress/%s/%s", book_build(), ex->chapter, ex->name);
}

void progress_load(const struct exercise *ex, struct progress *p) {
    char path[PATH_MAX + 256];
    struct buf text = {0};
    struct err e = {0};
    *p = (struct progress){0};
    path_of(ex, false, path, sizeof path);
    bool ok = file_exists(path) && file_read(path, 4096, &text, &e) &&
              sscanf(text.data, "%15s %lf %u", p->verdict, &p->score, &p->hints) == 3;
    if (!ok) *p = (struct progress){0};
    if (p->verdict[0] == '-') p->verdict[0] = 0;
    buf_free(&text);
}

void progress_save(const struct exercise *ex, const struct progress *p) {
    char path[PATH_MAX + 256];
    struct buf text = {0};
    struct err e = {0};
    path_of(ex, true, path, sizeof path);
    buf_printf(&text, "%s %.1f %u\n", p->verdict[0] ? p->verdict : "-", p->score, p->hints);
    file_write(path, text.data, text.size, &e);
    buf_free(&text);
}

void progress_note(const struct result *r) {
    struct progress p;
    if (r->verdict == V_IE) return;
    progress_load(r->ex, &p);
    snprintf(p.verdict, sizeof p.verdict, "%s", verdict_code(r->verdict));
    p.score = r->score;
    progress_save(r->ex, &p);
}

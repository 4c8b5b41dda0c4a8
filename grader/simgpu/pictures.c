/* pictures.c — `simgpu run --pictures FOLDER`: what a warp's lanes ask for, drawn where the source
 * asks for it. A line that ends in
 *
 *     // picture: NAME load
 *
 * (or store, or atomic) gives the costliest access of that kind to FOLDER/NAME.svg; lines with the
 * same name stand below each other, in the order of the source. The same run draws the same bytes.
 */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/page/page.h"
#include "grader/simgpu/simgpu.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_LIMIT = 1 << 20, NAME = 41, LINE = 67, PANELS = 8 };
static const char mark[] = "// picture: ";

struct wish {
    char name[NAME], line[LINE];
    const char *file;
    unsigned number;
    enum sim_access_kind kind;
};
struct wishes {
    struct wish *list;
    unsigned n, room;
};

static bool kind_of(const char *word, enum sim_access_kind *kind) {
    static const char *const words[] = {"load", "store", "atomic"};
    for (unsigned i = 0; i < 3; i++)
        if (!strcmp(word, words[i])) return *kind = (enum sim_access_kind)i, true;
    return false;
}

/* The source without the mark and the blanks around it. */
static void take_line(struct wish *w, const char *line, const char *end) {
    while (line < end && strchr(" \t", *line)) line++;
    while (end > line && strchr(" \t", end[-1])) end--;
    snprintf(w->line, sizeof w->line, "%.*s", (int)(end - line), line);
}

static bool take_wish(struct wishes *all, const char *file, unsigned number, const char *line,
                      const char *at, struct err *e) {
    struct wish w = {.file = path_base(file), .number = number};
    char word[8];
    if (sscanf(at + strlen(mark), "%40[a-z0-9-] %7[a-z]", w.name, word) != 2 ||
        !kind_of(word, &w.kind))
        return err_set(e, ERR_INPUT,
                       "%s:%u: after `%s` come a name (a-z, 0-9, -) and load, store or atomic",
                       w.file, number, mark);
    take_line(&w, line, at);
    GROW(all->list, all->n + 1, all->room, 8);
    all->list[all->n++] = w;
    return true;
}

static bool read_wishes(struct wishes *all, const char *path, struct err *e) {
    struct buf text = {0};
    struct err ignored = {0};
    bool ok = true;
    unsigned number = 1;
    if (!strstr(path, "/include/") && file_read(path, SOURCE_LIMIT, &text, &ignored))
        for (char *line = text.data, *next; ok && line; line = next, number++) {
            next = strchr(line, '\n');
            if (next) *next++ = 0;
            const char *at = strstr(line, mark);
            if (at) ok = take_wish(all, path, number, line, at, e);
        }
    buf_free(&text);
    return ok;
}

static const struct launch_stats_access *access_of(const struct launch_stats *t,
                                                   const struct wish *w) {
    for (unsigned i = 0; i < t->naccesses; i++) {
        const struct launch_stats_access *a = &t->accesses[i];
        if (a->line == w->number && a->kind == w->kind && !strcmp(a->file, w->file)) return a;
    }
    return NULL;
}

static bool write_picture(const struct page_panel *panels, unsigned n, const char *folder,
                          const char *name, struct err *e) {
    char path[PATH_MAX], file[NAME + 4];
    struct buf out = {0};
    snprintf(file, sizeof file, "%s.svg", name);
    page_picture(panels, n, &out);
    bool ok = path_join(path, sizeof path, folder, file) &&
              file_deliver(path, buf_str(&out), out.size, e);
    buf_free(&out);
    return ok;
}

/* All wishes of the name of the first one. */
static bool draw(const struct launch_stats *t, const struct wishes *all, const struct wish *first,
                 const char *folder, struct err *e) {
    struct sim_access at[PANELS];
    struct buf name[PANELS] = {0};
    struct page_panel panels[PANELS];
    unsigned n = 0;
    bool ok = true;
    for (const struct wish *w = first; ok && w < all->list + all->n; w++) {
        if (strcmp(w->name, first->name) != 0) continue;
        const struct launch_stats_access *a = access_of(t, w);
        if (!a)
            ok = err_set(e, ERR_INPUT, "%s:%u: no launch did what is to be drawn there", w->file,
                         w->number);
        else if (n == PANELS)
            ok = err_set(e, ERR_INPUT, "%s: more than %d accesses in one picture", w->name, PANELS);
        else {
            at[n] = simgpu_access(a);
            buf_puts(&name[n], a->kernel), text_demangle(&name[n]);
            panels[n] = (struct page_panel){&at[n], buf_str(&name[n]), w->line};
            n++;
        }
    }
    ok = ok && write_picture(panels, n, folder, first->name, e);
    for (unsigned i = 0; i < n; i++) buf_free(&name[i]);
    return ok;
}

static bool drawn(const struct wishes *all, const struct wish *w) {
    for (const struct wish *x = all->list; x < w; x++)
        if (!strcmp(x->name, w->name)) return true;
    return false;
}

bool simgpu_page_pictures(const struct simgpu_page *p, const char *folder, struct err *e) {
    struct wishes all = {0};
    const char *path;
    bool ok = true;
    for (unsigned i = 0; ok && (path = simgpu_page_source(p, i)); i++)
        ok = read_wishes(&all, path, e);
    if (ok && !all.n)
        ok = err_set(e, ERR_INPUT,
                     "no line of a launched kernel's file asks for a picture: %sNAME load", mark);
    for (const struct wish *w = all.list; ok && w < all.list + all.n; w++)
        if (!drawn(&all, w)) ok = draw(simgpu_page_tally(p), &all, w, folder, e);
    free(all.list);
    return ok;
}

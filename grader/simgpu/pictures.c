/* pictures.c — `simgpu run --pictures FOLDER`: draws the access patterns of marked source lines.
 * run.c calls it. For a line that ends in
 *
 *     // picture: NAME load
 *
 * (or store, or atomic) the costliest access of that kind is drawn in FOLDER/NAME.svg. Lines with
 * the same name share a picture, in the order of the source. Equal runs write equal bytes. */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/page/page.h"
#include "grader/simgpu/simgpu.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOURCE_LIMIT = 1 << 20,
    NAME_BYTES = 41,
    LINE_COLUMNS = 64,
    LINE_BYTES = 68,
    MAX_PANELS = 8
};
static const char marker[] = "// picture: ";

struct picture_request {
    char name[NAME_BYTES], line[LINE_BYTES];
    const char *file;
    unsigned line_number;
    enum sim_access_kind kind;
};
struct picture_requests {
    struct picture_request *items;
    unsigned n, capacity;
};

static bool parse_access_kind(const char *word, enum sim_access_kind *kind) {
    static const char *const names[] = {"load", "store", "atomic"};
    for (unsigned i = 0; i < 3; i++)
        if (!strcmp(word, names[i])) return *kind = (enum sim_access_kind)i, true;
    return false;
}

/* Stores the source line without the marker, a comment before it, and the blanks around it. An
 * ellipsis ends a line that is wider than the picture. */
static void set_source_line(struct picture_request *w, const char *line, const char *end) {
    while (line < end && strchr(" \t", *line)) line++;
    for (const char *at = line; at + 3 < end; at++)
        if (at > line && !strncmp(at, "// ", 3)) end = at;
    while (end > line && strchr(" \t", end[-1])) end--;
    bool fits = end - line <= LINE_COLUMNS;
    snprintf(w->line, sizeof w->line, "%.*s%s", fits ? (int)(end - line) : LINE_COLUMNS - 1, line,
             fits ? "" : "…");
}

static bool parse_request(struct picture_requests *requests, const char *file, unsigned line_number,
                          const char *line, const char *at, struct err *e) {
    struct picture_request w = {.file = path_basename(file), .line_number = line_number};
    char word[8];
    if (sscanf(at + strlen(marker), "%40[a-z0-9-] %7[a-z]", w.name, word) != 2 ||
        !parse_access_kind(word, &w.kind))
        return err_set(e, ERR_INPUT,
                       "%s:%u: expected a name (a-z, 0-9, -) and load, store or atomic after `%s`",
                       w.file, line_number, marker);
    set_source_line(&w, line, at);
    GROW(requests->items, requests->n + 1, requests->capacity, 8);
    requests->items[requests->n++] = w;
    return true;
}

static bool parse_source(struct picture_requests *requests, const char *path, struct err *e) {
    struct buf text = {0};
    struct err ignored = {0};
    bool ok = true;
    unsigned line_number = 1;
    if (!strstr(path, "/include/") && file_read(path, SOURCE_LIMIT, &text, &ignored))
        for (char *line = text.data, *next; ok && line; line = next, line_number++) {
            next = strchr(line, '\n');
            if (next) *next++ = 0;
            const char *at = strstr(line, marker);
            if (at) ok = parse_request(requests, path, line_number, line, at, e);
        }
    buf_free(&text);
    return ok;
}

static const struct launch_stats_access *find_access(const struct launch_stats *t,
                                                     const struct picture_request *w) {
    for (unsigned i = 0; i < t->naccesses; i++) {
        const struct launch_stats_access *a = &t->accesses[i];
        if (a->line == w->line_number && a->kind == w->kind && !strcmp(a->file, w->file)) return a;
    }
    return NULL;
}

static bool write_picture(const struct page_panel *panels, unsigned n, const char *folder,
                          const char *name, struct err *e) {
    char path[PATH_MAX], file[NAME_BYTES + 4];
    struct buf out = {0};
    snprintf(file, sizeof file, "%s.svg", name);
    page_picture(panels, n, &out);
    bool ok = path_join(path, sizeof path, folder, file) &&
              file_write_output(path, buf_str(&out), out.size, e);
    buf_free(&out);
    return ok;
}

/* Draws all requests that have the same name as `first` into one picture. */
static bool draw_picture(const struct launch_stats *t, const struct picture_requests *requests,
                         const struct picture_request *first, const char *folder, struct err *e) {
    struct sim_access at[MAX_PANELS];
    struct buf name[MAX_PANELS] = {0};
    struct page_panel panels[MAX_PANELS];
    unsigned n = 0;
    bool ok = true;
    for (const struct picture_request *w = first; ok && w < requests->items + requests->n; w++) {
        if (strcmp(w->name, first->name) != 0) continue;
        const struct launch_stats_access *a = find_access(t, w);
        if (!a)
            ok = err_set(e, ERR_INPUT, "%s:%u: no launch made the requested access on this line",
                         w->file, w->line_number);
        else if (n == MAX_PANELS)
            ok = err_set(e, ERR_INPUT, "%s: more than %d accesses in one picture", w->name,
                         MAX_PANELS);
        else {
            at[n] = simgpu_to_sim_access(a);
            buf_puts(&name[n], a->kernel), text_demangle(&name[n]);
            panels[n] = (struct page_panel){&at[n], buf_str(&name[n]), w->line};
            n++;
        }
    }
    ok = ok && write_picture(panels, n, folder, first->name, e);
    for (unsigned i = 0; i < n; i++) buf_free(&name[i]);
    return ok;
}

static bool is_drawn(const struct picture_requests *requests, const struct picture_request *w) {
    for (const struct picture_request *x = requests->items; x < w; x++)
        if (!strcmp(x->name, w->name)) return true;
    return false;
}

bool simgpu_page_pictures(const struct simgpu_page *p, const char *folder, struct err *e) {
    struct picture_requests requests = {0};
    const char *path;
    bool ok = true;
    for (unsigned i = 0; ok && (path = simgpu_page_source(p, i)); i++)
        ok = parse_source(&requests, path, e);
    if (ok && !requests.n)
        ok = err_set(e, ERR_INPUT,
                     "no source line of a launched kernel requests a picture: add %sNAME load",
                     marker);
    for (const struct picture_request *w = requests.items; ok && w < requests.items + requests.n;
         w++)
        if (!is_drawn(&requests, w))
            ok = draw_picture(simgpu_page_stats(p), &requests, w, folder, e);
    free(requests.items);
    return ok;
}

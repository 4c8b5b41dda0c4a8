/* site.h — the book as static pages, which makesite writes: lessons, tasks, ladders and guides,
 * with links between them and a search. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

struct site_page {
    char *source, *path, *title;       /* source: docs/counters.md; path: docs-counters.html */
    struct buf markdown, search_words; /* search_words: separated by spaces, sorted */
    const struct exercise *ex;         /* for a task or a ladder */
    const char *chapter;               /* NULL for a guide */
    enum { SITE_GUIDE, SITE_LESSON, SITE_TASK, SITE_LADDER, SITE_PATH } kind;
};
struct site {
    struct site_page *pages;
    unsigned n, capacity;
};

bool site_collect(struct site *s, struct err *e);
void site_free(struct site *s);
/* Returns the page that a name in the text of `from` refers to: `docs/counters.md`, `report.md` in
 * the same folder, or the exercise `transpose`; NULL = none. */
const struct site_page *site_find_page(const struct site *s, const struct site_page *from,
                                       const char *name);

/* markdown.c: appends a page's Markdown as HTML, with links to the pages that it names. Hints are
 * collapsed. */
void site_markdown(const struct site *s, const struct site_page *p, struct buf *out);
/* search.c: the words of a page; the search box with the index, and its script. */
void site_index_words(struct site_page *p);
void site_search_box(const struct site *s, struct buf *out);
const char *site_search_script(void);

/* site.h — the book as static pages: lessons, tasks, ladders, guides; cross-linked, with search. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

struct site_page {
    char *source, *path, *title;       /* docs/counters.md; docs-counters.html */
    struct buf markdown, search_words; /* words: what it can be found by */
    const struct exercise *ex;         /* of a task or a ladder */
    const char *chapter;               /* NULL: a guide */
    enum { SITE_GUIDE, SITE_LESSON, SITE_TASK, SITE_LADDER } kind;
};
struct site {
    struct site_page *pages;
    unsigned n, capacity;
};

bool site_collect(struct site *s, struct err *e);
void site_free(struct site *s);
/* The page that a name in a text of `from` means: `docs/counters.md`, `report.md` beside it,
 * `transpose`; NULL: none. */
const struct site_page *site_find_page(const struct site *s, const struct site_page *from,
                                       const char *name);

/* markdown.c: GitHub's Markdown as HTML, with links to other pages where their names stand. Hints
 * are folded up. */
void site_markdown(const struct site *s, const struct site_page *p, struct buf *out);
/* search.c */
void site_index_words(struct site_page *p);
void site_search_box(const struct site *s, struct buf *out);
const char *site_search_script(void);

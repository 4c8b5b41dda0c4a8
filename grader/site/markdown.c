/* markdown.c — converts Markdown to HTML with cmark-gfm for makesite. A code span that names
 * another page becomes a link, and links to .md files lead to their pages. Pictures are embedded.
 * cmark drops raw HTML. */
#include "grader/site/site.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/page/page.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PICTURE_BYTES = 1 << 20 };

static void link_code_span(const struct site *s, const struct site_page *p, cmark_node *node) {
    const struct site_page *to = site_find_page(s, p, cmark_node_get_literal(node));
    if (!to || to == p || cmark_node_get_type(cmark_node_parent(node)) == CMARK_NODE_LINK) return;
    cmark_node *link = cmark_node_new(CMARK_NODE_LINK), *code = cmark_node_new(CMARK_NODE_CODE);
    cmark_node_set_url(link, to->path);
    cmark_node_set_literal(code, cmark_node_get_literal(node));
    cmark_node_append_child(link, code);
    cmark_node_replace(node, link);
    cmark_node_free(node);
}

static void rewrite_link(const struct site *s, const struct site_page *p, cmark_node *node) {
    const char *url = cmark_node_get_url(node);
    const struct site_page *to = site_find_page(s, p, url);
    struct buf target_url = {0};
    if (!to) return;
    buf_puts(&target_url, to->path), buf_puts(&target_url, url + strcspn(url, "#"));
    cmark_node_set_url(node, buf_str(&target_url));
    buf_free(&target_url);
}

/* Appends a heading's anchor as GitHub makes it: lower case, hyphens for spaces, no punctuation. */
static void slug(cmark_node *heading, struct buf *out) {
    for (cmark_node *part = cmark_node_first_child(heading); part; part = cmark_node_next(part)) {
        const char *text = cmark_node_get_literal(part);
        for (; text && *text; text++) {
            if (isalnum((unsigned char)*text))
                buf_add(out, (char[]){(char)tolower((unsigned char)*text)}, 1);
            else if (*text == ' ') buf_add(out, (char[]){'-'}, 1);
            else if (*text == '-' || *text == '_' || (unsigned char)*text > 127)
                buf_add(out, (char[]){*text}, 1);
        }
    }
}

static void add_heading_anchor(cmark_node *heading) {
    struct buf id = {0}, html = {0};
    slug(heading, &id);
    buf_puts(&html, "<a id=\""), html_escape(buf_str(&id), id.size, &html),
        buf_puts(&html, "\"></a>");
    cmark_node *anchor = cmark_node_new(CMARK_NODE_CUSTOM_INLINE);
    if (id.size && cmark_node_set_on_enter(anchor, buf_str(&html)) &&
        cmark_node_prepend_child(heading, anchor))
        anchor = NULL;
    if (anchor) cmark_node_free(anchor);
    buf_free(&id), buf_free(&html);
}

/* Appends a picture's SVG for embedding, because a page must load no other file. It drops the
 * picture's own style, since the page has the same one. */
static bool extract_svg_body(const char *svg, struct buf *out) {
    const char *view_box = strstr(svg, " viewBox=\""),
               *end = view_box ? strchr(view_box + 10, '"') : NULL,
               *style = end ? strstr(end, "</style>") : NULL;
    if (!style) return false;
    buf_printf(out, "<svg%.*s role=\"img\">", (int)(end + 1 - view_box), view_box);
    buf_puts(out, style + strlen("</style>"));
    return true;
}

static void inline_picture(const struct site_page *p, cmark_node *image) {
    char path[PATH_MAX];
    struct buf svg = {0}, html = {0};
    struct err ignored = {0};
    const char *name = cmark_node_get_url(image), *slash = strrchr(p->source, '/');
    int folder_length = slash ? (int)(slash - p->source) : 0;
    snprintf(path, sizeof path, "%.2000s/%.*s/%.500s", book_root(), folder_length, p->source, name);
    bool ok = text_ends_with(name, ".svg") && !strstr(name, "..") &&
              file_read(path, MAX_PICTURE_BYTES, &svg, &ignored) &&
              extract_svg_body(buf_str(&svg), &html);
    cmark_node *drawing = ok ? cmark_node_new(CMARK_NODE_CUSTOM_INLINE) : NULL;
    if (drawing && cmark_node_set_on_enter(drawing, buf_str(&html)) &&
        cmark_node_replace(image, drawing))
        cmark_node_free(image);
    buf_free(&svg), buf_free(&html);
}

static void rewrite_nodes(const struct site *s, const struct site_page *p, cmark_node *root) {
    cmark_iter *i = cmark_iter_new(root);
    cmark_node **found = NULL;
    size_t n = 0, capacity = 0;
    for (cmark_event_type e; (e = cmark_iter_next(i)) != CMARK_EVENT_DONE;) {
        cmark_node_type t = cmark_node_get_type(cmark_iter_get_node(i));
        bool required = t == CMARK_NODE_CODE || t == CMARK_NODE_LINK || t == CMARK_NODE_IMAGE ||
                        t == CMARK_NODE_HEADING;
        if (e != CMARK_EVENT_ENTER || !required) continue;
        if (n == capacity)
            found =
                xrealloc(found, (capacity = capacity ? 2 * capacity : 64) * sizeof(cmark_node *));
        found[n++] = cmark_iter_get_node(i);
    }
    cmark_iter_free(i);
    for (size_t k = 0; k < n; k++) {
        cmark_node_type t = cmark_node_get_type(found[k]);
        if (t == CMARK_NODE_IMAGE) inline_picture(p, found[k]);
        else if (t == CMARK_NODE_LINK) rewrite_link(s, p, found[k]);
        else if (t == CMARK_NODE_HEADING) add_heading_anchor(found[k]);
        else link_code_span(s, p, found[k]);
    }
    free(found);
}

static void render(const struct site *s, const struct site_page *p, const char *text, size_t size,
                   struct buf *out) {
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    cmark_syntax_extension *table = cmark_find_syntax_extension("table");
    if (table) cmark_parser_attach_syntax_extension(parser, table);
    cmark_parser_feed(parser, text, size);
    cmark_node *root = cmark_parser_finish(parser);
    rewrite_nodes(s, p, root);
    char *html =
        cmark_render_html(root, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser));
    struct buf page = {0};
    buf_puts(&page, html);
    /* Wide code and tables scroll, also by keyboard. */
    text_replace(&page, "<pre><code", "<pre tabindex=\"0\"><code");
    text_replace(&page, "<table>", "<table tabindex=\"0\">");
    text_replace(&page, "<!-- raw HTML omitted -->\n", ""); /* comments, which ended lists */
    buf_add(out, buf_str(&page), page.size);
    buf_free(&page);
    free(html);
    cmark_node_free(root);
    cmark_parser_free(parser);
}

void site_markdown(const struct site *s, const struct site_page *p, struct buf *out) {
    static const char hint[] = "\n## Hint ";
    const char *text = buf_str(&p->markdown), *at = strstr(text, hint);
    render(s, p, text, at ? (size_t)(at - text) : strlen(text), out);
    for (; at;) {
        const char *title = at + 4, *body = title + strcspn(title, "\n"),
                   *next = strstr(body, "\n## ");
        buf_puts(out, "<details><summary>"), html_escape(title, (size_t)(body - title), out),
            buf_puts(out, "</summary>\n");
        render(s, p, body, next ? (size_t)(next - body) : strlen(body), out);
        buf_puts(out, "</details>\n");
        bool more = next && !strncmp(next, hint, sizeof hint - 1);
        if (next && !more) render(s, p, next, strlen(next), out);
        at = more ? next : NULL;
    }
}

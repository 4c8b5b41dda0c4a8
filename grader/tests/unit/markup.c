/* markup.c — implements markup.h. */
#include "grader/tests/unit/markup.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_NAME = 32 };
static char fault[400];

static const char *set_fault(const char *message, const char *at) {
    snprintf(fault, sizeof fault, "%s: %.120s", message, at);
    return fault;
}

static int is_void(const char *name) {
    static const char *const list[] = {"meta", "br", "hr", "input", "img", "link"};
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(name, list[i])) return 1;
    return 0;
}

static const char *read_name(const char *p, char name[MAX_NAME]) {
    unsigned n = 0;
    while ((isalnum((unsigned char)*p) || *p == '-' || *p == ':') && n + 1 < MAX_NAME)
        name[n++] = *p++;
    name[n] = 0;
    return p;
}

/* src, url, data and the like would be fetched; a style that is no class would need another policy.
 */
static const char *check_attribute(const char *name, const char *value, size_t size,
                                   const char *element, int links) {
    static const char *const banned[] = {"src",    "srcset", "style",      "data",
                                         "poster", "action", "background", "xlink:href"};
    for (unsigned i = 0; i < sizeof banned / sizeof *banned; i++)
        if (!strcmp(name, banned[i])) return set_fault("an attribute that no page has", name);
    if (!strncmp(name, "on", 2)) return set_fault("a handler", name);
    int far = size > 4 && (!strncmp(value, "http", 4) || !strncmp(value, "//", 2) ||
                           !strncmp(value, "java", 4));
    if (!strcmp(name, "href") &&
        (strcmp(element, "a") || (far && (!links || !strncmp(value, "java", 4)))))
        return set_fault("a reference to elsewhere", value);
    return memchr(value, '<', size) ? set_fault("a < in an attribute", value) : NULL;
}

/* From behind the element's name to behind its >. */
static const char *attributes(const char *p, const char *element, int links, int *closed) {
    char name[MAX_NAME];
    *closed = 0;
    for (;;) {
        while (isspace((unsigned char)*p)) p++;
        if (*p == '>') return p + 1;
        if (p[0] == '/' && p[1] == '>') return *closed = 1, p + 2;
        const char *at = p;
        p = read_name(p, name);
        if (p == at) return set_fault("no attribute", at), NULL;
        if (*p != '=') continue;
        if (*++p != '"') return set_fault("an attribute without quotes", at), NULL;
        const char *end = strchr(p + 1, '"');
        if (!end || check_attribute(name, p + 1, (size_t)(end - p - 1), element, links))
            return NULL;
        p = end + 1;
    }
}

static const char *one_tag(const char *p, char stack[MAX_DEPTH][MAX_NAME], unsigned *depth,
                           int links) {
    char name[MAX_NAME];
    int closing = *p == '/', closed;
    const char *at = p;
    p = read_name(p + closing, name);
    if (!name[0]) return set_fault("a < that begins nothing", at), NULL;
    p = attributes(p, name, links, &closed);
    if (!p || closed || (!closing && is_void(name))) return p;
    if (!closing && *depth == MAX_DEPTH) return set_fault("too deep", at), NULL;
    if (!closing) strcpy(stack[(*depth)++], name);
    else if (!*depth || strcmp(stack[--*depth], name))
        return set_fault("closed out of order", at), NULL;
    const char *raw = !closing && !strcmp(name, "style")    ? "</style>"
                      : !closing && !strcmp(name, "script") ? "</script>"
                                                            : NULL;
    return raw ? strstr(p, raw) : p;
}

const char *markup_fault(const char *page, int links) {
    static const char doctype[] = "<!doctype html>\n";
    char stack[MAX_DEPTH][MAX_NAME];
    unsigned depth = 0;
    *fault = 0;
    if (strncmp(page, doctype, sizeof doctype - 1)) return set_fault("no doctype", page);
    if (strstr(page, "url(") || strstr(page, "@import"))
        return set_fault("a style that asks for something", "url(, @import");
    for (const char *p = page + sizeof doctype - 1; (p = strchr(p, '<'));) {
        p = one_tag(p + 1, stack, &depth, links);
        if (!p) return *fault ? fault : set_fault("an element without an end", page);
    }
    return depth ? set_fault("not closed", stack[depth - 1]) : NULL;
}

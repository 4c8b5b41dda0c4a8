/* test_doc_links.c — tests that links in the documents, lessons, tasks and ladders resolve: the
 * file exists, and a heading has the anchor. It also tests the form of the glossary's entries. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <ctype.h>
#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Appends the anchor that GitHub and `make site` give a heading: lower case, hyphens for blanks, no
 * punctuation. */
static void append_anchor(const char *heading, size_t size, struct buf *out) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)heading[i];
        char lower = c == ' ' ? '-' : (char)tolower(c);
        if (isalnum(c) || c == ' ' || c == '-' || c == '_' || c >= 128) buf_add(out, &lower, 1);
    }
}

static bool has_anchor(const char *text, const char *anchor) {
    struct buf found = {0};
    bool has = false;
    for (const char *line = text; line && !has; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t hashes = strspn(line, "#"), size = strcspn(line, "\n");
        if (!hashes || line[hashes] != ' ') continue;
        buf_clear(&found);
        append_anchor(line + hashes + 1, size - hashes - 1, &found);
        has = !strcmp(buf_str(&found), anchor);
    }
    buf_free(&found);
    return has;
}

/* Overwrites fenced blocks, indented lines and code spans by blanks: they hold no links. */
static void blank_code(char *text) {
    bool in_fence = false;
    for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        bool is_fence = !strncmp(line, "```", 3), in_span = false;
        in_fence ^= is_fence;
        bool is_code = is_fence || in_fence || !strncmp(line, "    ", 4);
        for (char *c = line; c < end; c++) {
            in_span ^= *c == '`';
            if (is_code || in_span) *c = ' ';
        }
    }
}

/* Returns true if `make site` has a page for the file, or puts it into the page as a picture. */
static bool is_on_site(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".md") || !strcmp(dot, ".svg"));
}

/* Appends a line to `problems` if `target`, a link in the file `from`, doesn't resolve, in the tree
 * or on the site. */
static void check_target(const char *from, const char *target, struct buf *problems) {
    char path[512];
    struct buf text = {0};
    struct err e = {0};
    if (strstr(target, "://") || !strncmp(target, "mailto:", 7)) return;
    const char *slash = strrchr(from, '/');
    int folder = slash ? (int)(slash - from) + 1 : 0, name = (int)strcspn(target, "#");
    if (name) snprintf(path, sizeof path, "%.*s%.*s", folder, from, name, target);
    else snprintf(path, sizeof path, "%s", from);
    const char *anchor = target[name] ? target + name + 1 : NULL;
    if (access(path, R_OK)) buf_printf(problems, "%s: %s: no such file\n", from, target);
    else if (!is_on_site(path)) buf_printf(problems, "%s: %s: no page\n", from, target);
    else if (anchor &&
             (!file_read(path, 1 << 21, &text, &e) || !has_anchor(buf_str(&text), anchor)))
        buf_printf(problems, "%s: %s: no such heading\n", from, target);
    buf_free(&text);
}

/* Checks `[text](target)` and `[name]: target`; returns the number of links. */
static unsigned check_links(const char *from, char *text, struct buf *problems) {
    regex_t link;
    regmatch_t m[4];
    unsigned n = 0;
    char target[512];
    ck_assert_int_eq(regcomp(&link,
                             "\\]\\(([^()[:space:]]+)\\)|(^|\n)\\[[^]\n]+\\]: ([^[:space:]]+)",
                             REG_EXTENDED),
                     0);
    blank_code(text);
    for (const char *at = text; !regexec(&link, at, 4, m, 0); at += m[0].rm_eo, n++) {
        const regmatch_t *t = m[1].rm_so >= 0 ? &m[1] : &m[3];
        snprintf(target, sizeof target, "%.*s", (int)(t->rm_eo - t->rm_so), at + t->rm_so);
        check_target(from, target, problems);
    }
    regfree(&link);
    return n;
}

START_TEST(links_resolve) {
    static const char *const patterns[] = {
        "*.md", "docs/*.md", "docs/*/*.md", "chapters/*/*.md", "solutions/*/*.md", "grader/*/*.md"};
    struct buf problems = {0}, text = {0};
    struct err e = {0};
    unsigned n = 0;
    for (unsigned p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        glob_t found;
        ck_assert_msg(!glob(patterns[p], 0, NULL, &found), "%s: no file", patterns[p]);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            buf_clear(&text);
            ck_assert_msg(file_read(found.gl_pathv[i], 1 << 21, &text, &e), "%s", e.text);
            buf_str(&text);
            n += check_links(found.gl_pathv[i], text.data, &problems);
        }
        globfree(&found);
    }
    ck_assert_msg(!problems.size, "%s", buf_str(&problems));
    ck_assert_uint_gt(n, 400);
    buf_free(&text), buf_free(&problems);
}
END_TEST

START_TEST(dead_links_are_reported) {
    char text[] = "[a](glossary.md#warp) [b](glossary.md#wrap) [c](gone.md) `[d](code.md)`\n"
                  "[h](../chapters/02-coalescing/transpose.cu)\n"
                  "    [e](code.md)\n[f]: https://example.org\n[g]: sources.md#ptx-isa\n";
    struct buf problems = {0};
    ck_assert_uint_eq(check_links("docs/simgpu.md", text, &problems), 6);
    ck_assert_str_eq(buf_str(&problems), "docs/simgpu.md: glossary.md#wrap: no such heading\n"
                                         "docs/simgpu.md: gone.md: no such file\n"
                                         "docs/simgpu.md: ../chapters/02-coalescing/"
                                         "transpose.cu: no page\n");
    buf_free(&problems);
}
END_TEST

/* ---- the glossary ---- */

/* Checks that an entry has at most two lines and a source in italics, which may be two lines.
 * Every [name] in the source is defined at the end of the page. */
static void check_entry(const char *page, const char *entry, struct buf *problems) {
    int size = (int)strcspn(entry, "\n"), name_size;
    const char *source = strstr(entry, "\\\n*"), *end = strstr(entry, "\n\n");
    unsigned lines = 0;
    char definition[128];
    if (!source || source > end) {
        buf_printf(problems, "%.*s: no source\n", size, entry);
        return;
    }
    for (const char *c = entry + size; c < source; c++) lines += *c == '\n';
    if (lines > 2) buf_printf(problems, "%.*s: %u lines\n", size, entry, lines);
    for (const char *c = source; c < end && (c = strchr(c, '[')) && c < end; c += name_size) {
        name_size = (int)strcspn(c, "]") + 1;
        if (c[name_size] == '[') continue; /* [text][name]: the name follows */
        snprintf(definition, sizeof definition, "\n%.*s: ", name_size, c);
        if (!strstr(page, definition))
            buf_printf(problems, "%.*s: %.*s is not defined\n", size, entry, name_size, c);
    }
}

START_TEST(glossary_entries_are_short_and_name_their_source) {
    struct buf page = {0}, problems = {0};
    struct err e = {0};
    unsigned n = 0;
    ck_assert_msg(file_read("docs/glossary.md", 1 << 20, &page, &e), "%s", e.text);
    for (const char *at = buf_str(&page); (at = strstr(at, "\n### ")); n++)
        at += 5, check_entry(buf_str(&page), at, &problems);
    ck_assert_msg(!problems.size, "%s", buf_str(&problems));
    ck_assert_uint_gt(n, 150);
    buf_free(&page), buf_free(&problems);
}
END_TEST

UNIT_SUITE(doc_links) {
    Suite *s = suite_create("doc_links");
    TCase *t = tcase_create("links");
    tcase_add_test(t, links_resolve);
    tcase_add_test(t, dead_links_are_reported);
    tcase_add_test(t, glossary_entries_are_short_and_name_their_source);
    suite_add_tcase(s, t);
    return s;
}

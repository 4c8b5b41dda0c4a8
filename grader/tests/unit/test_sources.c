/* test_sources.c — tests the lessons' citations: each short name is in docs/sources.md, and each
 * entry there is cited. A citation is a link to docs/sources.md#NAME, an entry the heading "###
 * NAME". */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 64 };
static const char link[] = "docs/sources.md#";

static struct buf list, cited; /* the entries' text; all lessons, tasks and questions */

static void append(const char *path, struct buf *out) {
    struct err e = {0};
    ck_assert_msg(file_read(path, 1 << 20, out, &e), "%s", e.text);
}

static void read_all(void) {
    glob_t found;
    append("docs/sources.md", &list);
    ck_assert_int_eq(glob("chapters/*/*.md", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) append(found.gl_pathv[i], &cited);
    globfree(&found);
}
static void free_all(void) { buf_free(&list), buf_free(&cited); }

/* Reads the name that starts at `at`; returns false if there is none. */
static bool name_at(const char *at, char *name) {
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (!n || n >= NAME) return false;
    memcpy(name, at, n);
    return name[n] = 0, true;
}

/* Appends a line for each citation without an entry; returns how many citations there are. */
static unsigned check_cited(const char *entries, const char *lessons, struct buf *problems) {
    char name[NAME], heading[NAME + 8];
    unsigned n = 0;
    for (const char *at = lessons; (at = strstr(at, link)); n++) {
        at += sizeof link - 1;
        bool named = name_at(at, name);
        snprintf(heading, sizeof heading, "\n### %s\n", named ? name : "?");
        if (!named || !strstr(entries, heading))
            buf_printf(problems, "cited, but not in docs/sources.md: %.40s\n", named ? name : at);
    }
    return n;
}

/* Appends a line for each entry without a citation; returns how many entries there are. */
static unsigned check_listed(const char *entries, const char *lessons, struct buf *problems) {
    char name[NAME], end[NAME + 32];
    unsigned n = 0;
    for (const char *at = entries; (at = strstr(at, "\n### ")); n++) {
        at += 5;
        bool named = name_at(at, name);
        snprintf(end, sizeof end, "%s%s)", link, named ? name : "?");
        if (!named || !strstr(lessons, end))
            buf_printf(problems, "in docs/sources.md, but never cited: %.40s\n", name);
    }
    return n;
}

START_TEST(each_name_cited_is_listed) {
    struct buf problems = {0};
    unsigned n = check_cited(buf_str(&list), buf_str(&cited), &problems);
    ck_assert_msg(!problems.size, "%s", buf_str(&problems));
    ck_assert_uint_ge(n, 20);
}
END_TEST

START_TEST(each_name_listed_is_cited) {
    struct buf problems = {0};
    unsigned n = check_listed(buf_str(&list), buf_str(&cited), &problems);
    ck_assert_msg(!problems.size, "%s", buf_str(&problems));
    ck_assert_uint_ge(n, 20);
}
END_TEST

START_TEST(unlisted_and_uncited_sources_are_reported) {
    struct buf problems = {0};
    check_cited("\n### one\nText.\n",
                "[one](../../docs/sources.md#one), [two](../../docs/sources.md#two)", &problems);
    ck_assert_str_eq(buf_str(&problems), "cited, but not in docs/sources.md: two\n");
    buf_clear(&problems);
    check_listed("\n### one\nText.\n\n### one-more\n", "[one](../../docs/sources.md#one)",
                 &problems);
    ck_assert_str_eq(buf_str(&problems), "in docs/sources.md, but never cited: one-more\n");
    buf_free(&problems);
}
END_TEST

START_TEST(every_cited_source_can_be_found) {
    ck_assert_ptr_null(strstr(buf_str(&cited), "design notes"));
    ck_assert_ptr_null(strstr(buf_str(&cited), "Published results"));
}
END_TEST

UNIT_SUITE(sources) {
    Suite *s = suite_create("sources");
    TCase *t = tcase_create("docs/sources.md");
    tcase_add_checked_fixture(t, read_all, free_all);
    tcase_add_test(t, each_name_cited_is_listed);
    tcase_add_test(t, each_name_listed_is_cited);
    tcase_add_test(t, unlisted_and_uncited_sources_are_reported);
    tcase_add_test(t, every_cited_source_can_be_found);
    suite_add_tcase(s, t);
    return s;
}

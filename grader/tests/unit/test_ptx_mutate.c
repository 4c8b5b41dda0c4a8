/* test_ptx_mutate.c — tests damaged PTX: truncated, with changed bytes, with lines doubled or
 * dropped. Each text must give a consistent module or an error that names a line (see
 * invariants.h); the sanitizers catch the rest. The damage is the same in each run. */
#include "common/file.h"
#include "grader/tests/ptx/invariants.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>

static const char *const paths[] = {"grader/tests/ptx/features.ptx", "grader/tests/ptx/coop.ptx"};
enum { CUTS = 150, CHANGES = 400, PATHS = sizeof paths / sizeof *paths };

static uint64_t state;

static uint64_t draw(uint64_t below) { /* xorshift64* */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1du >> 16) % below;
}

static void read_text(int i, struct buf *text) {
    struct err e = {0};
    ck_assert_msg(file_read(paths[i], 1 << 20, text, &e), "%s", e.text);
    state = 0x9e3779b97f4a7c15u + (uint64_t)i;
}

/* Copies the text without slack, so that the sanitizers detect a read past the end. */
static void check(const char *text, size_t n, const char *mutation, unsigned round) {
    char *exact = xmalloc(n);
    memcpy(exact, text, n);
    ck_assert_msg(ptx_text_holds(exact, n), "%s %u", mutation, round);
    free(exact);
}

START_TEST(truncated_ptx_is_rejected_safely) {
    struct buf text = {0};
    read_text(_i, &text);
    for (unsigned i = 0; i < CUTS; i++) check(text.data, draw(text.size), "cut", i);
    buf_free(&text);
}
END_TEST

static void change(char *text, size_t n) {
    static const char interesting[] = "{}()[];:,.%$@!|<>=+-_0f\"/*\n\0\xff";
    for (unsigned k = 1 + (unsigned)draw(4); k--;)
        text[draw(n)] = interesting[draw(sizeof interesting)];
}

START_TEST(mutated_ptx_is_parsed_safely) {
    struct buf text = {0};
    read_text(_i, &text);
    char *copy = xmalloc(text.size);
    for (unsigned i = 0; i < CHANGES; i++) {
        memcpy(copy, text.data, text.size);
        change(copy, text.size);
        check(copy, text.size, "change", i);
    }
    free(copy);
    buf_free(&text);
}
END_TEST

/* Moves a piece of the text; that breaks scopes and order more than single bytes do. */
START_TEST(ptx_with_moved_pieces_is_parsed_safely) {
    struct buf text = {0}, moved = {0};
    read_text(_i, &text);
    for (unsigned i = 0; i < CHANGES / 2; i++) {
        size_t from = draw(text.size), n = draw(text.size - from < 400 ? text.size - from : 400),
               to = draw(text.size);
        buf_clear(&moved);
        buf_add(&moved, text.data, to);
        buf_add(&moved, text.data + from, n);
        buf_add(&moved, text.data + to, text.size - to);
        check(moved.data, moved.size, "move", i);
    }
    buf_free(&moved);
    buf_free(&text);
}
END_TEST

START_TEST(unmodified_ptx_is_parsed) {
    struct buf text = {0};
    struct arena a = {0};
    struct err e = {0};
    read_text(_i, &text);
    const struct ptx_module *m = ptx_parse(&a, text.data, text.size, &e);
    ck_assert_msg(m && module_holds(m), "%s", e.text);
    arena_free(&a);
    buf_free(&text);
}
END_TEST

UNIT_SUITE(ptx_mutate) {
    Suite *s = suite_create("ptx_mutate");
    TCase *c = tcase_create("damage");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, unmodified_ptx_is_parsed, 0, PATHS);
    tcase_add_loop_test(c, truncated_ptx_is_rejected_safely, 0, PATHS);
    tcase_add_loop_test(c, mutated_ptx_is_parsed_safely, 0, PATHS);
    tcase_add_loop_test(c, ptx_with_moved_pieces_is_parsed_safely, 0, PATHS);
    suite_add_tcase(s, c);
    return s;
}

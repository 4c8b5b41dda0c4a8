/* test_similarity.c — tests the search for common passages: how tokens are classified, what
 * winnowing guarantees, that renaming hides nothing, that the book's own text is ignored, and
 * that pages escape what they show. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/class/page.h"
#include "grader/class/similarity.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_tokens(const char *a, const char *b) {
    struct similarity_token *x = NULL, *y = NULL;
    unsigned nx = 0, ny = 0, capacity_x = 0, capacity_y = 0;
    similarity_tokenize(a, strlen(a), &x, &nx, &capacity_x),
        similarity_tokenize(b, strlen(b), &y, &ny, &capacity_y);
    bool same = nx == ny;
    for (unsigned i = 0; i < nx && same; i++) same = x[i].code == y[i].code;
    free(x), free(y);
    return same;
}

START_TEST(tokens_ignore_names_comments_and_layout) {
    ck_assert(same_tokens("int i = 3; // three\n", "int  other\n=\n0x7fu /* seven */ ;"));
    ck_assert(same_tokens("#include <a.h>\n  # define X 3 \\\n  4\nx", "y"));
    ck_assert(same_tokens("f(\"a\\\"b\", 'c')", "g(\"\", '\\n')"));
    ck_assert(!same_tokens("a << b", "a < b") && !same_tokens("int i", "float i") &&
              !same_tokens("threadIdx.x", "name.x"));
    ck_assert(same_tokens("\"never ended", "\"\n") && same_tokens("/* never ended", "") &&
              same_tokens("", ""));
}
END_TEST

/* `n` statements of 12 tokens, each with signs of its own (six of eight, by a generator), so that
 * no run of tokens comes twice. */
static void make(struct buf *out, unsigned from, unsigned n, const char *name) {
    for (unsigned i = from; i < from + n; i++) {
        uint32_t v = i * 2654435761u;
        buf_printf(out, "%s", name);
        for (unsigned k = 0; k < 5; k++)
            v = v * 1664525 + 1013904223, buf_printf(out, " %c %s", "+-*/%&|^"[v >> 29], name);
        buf_puts(out, ";\n");
    }
}

static struct similarity_class none = {0};
static const struct similarity_options all = {
    .min_share = 0, .min_common = 1, .max_class_share = 1};

START_TEST(passages_of_the_guaranteed_length_are_found) {
    /* GRAM + WINDOW - 1 = 21 tokens; a statement has 12, two of them and a half of the next are
     * enough. */
    struct similarity_class c = none;
    struct buf a = {0}, b = {0};
    c.ex = book_at(0);
    make(&a, 0, 10, "one"), make(&a, 30, 3, "one");
    make(&b, 50, 10, "two"), make(&b, 30, 3, "two");
    similarity_add_text(&c, "ann", "a.cu", a.data, a.size),
        similarity_add_text(&c, "bob", "b.cu", b.data, b.size);
    similarity_find_pairs(&c, &all);
    ck_assert_uint_eq(c.npairs, 1);
    struct similarity_passage list[SIMILARITY_MAX_PASSAGES];
    ck_assert_uint_eq(similarity_find_passages(&c, &c.pairs[0], list), 1);
    ck_assert(c.texts[0].tokens[list[0].a].line <= 11 &&
              c.texts[0].tokens[list[0].a + list[0].n - 1].line == 13);
    ck_assert_uint_ge(list[0].n, 36);
    similarity_free(&c), buf_free(&a), buf_free(&b);
}
END_TEST

static void add_file(struct similarity_class *c, const char *student, const char *path) {
    struct buf text = {0};
    struct err e = {0};
    ck_assert_msg(file_read(path, 1 << 20, &text, &e), "%s", e.text);
    similarity_add_text(c, student, "x.cu", text.data, text.size);
    buf_free(&text);
}

START_TEST(text_of_the_book_is_ignored) {
    struct err e = {0};
    ck_assert(book_open(&e));
    const struct exercise **list = book_find("transpose", &e);
    struct similarity_class c = {.ex = list[0]};
    similarity_load_book(&c);
    add_file(&c, "ann", "solutions/02-coalescing/transpose.cu"),
        add_file(&c, "bob", "solutions/02-coalescing/transpose.cu");
    ck_assert_uint_eq(c.texts[0].nfingerprints, 0);
    similarity_find_pairs(&c, &all);
    ck_assert_uint_eq(c.npairs, 0);
    similarity_free(&c), free(list);
}
END_TEST

/* sgemm's model solution unchanged, with other names and no comments, and a file that shares
 * nothing with it; the starter file must not count as a copy. */
START_TEST(copies_of_the_book_are_reported) {
    struct err e = {0};
    char at[4096], path[4200];
    ck_assert(book_open(&e));
    const struct exercise **list = book_find("sgemm", &e);
    struct similarity_class c = {.ex = list[0]};
    snprintf(at, sizeof at, "%s/tests/similar-book", build_folder());
    ck_assert_int_eq(
        shell(
            "rm -rf %s && mkdir -p %s && sed 's@//.*@@; s/\\bkernel\\b/q/g; s/\\bacc\\b/sum_of/g' "
            "solutions/09-capstone/sgemm.cu >%s/sgemm.cu",
            at, at, at),
        0);
    snprintf(path, sizeof path, "%s/sgemm.cu", at);
    similarity_load_book(&c);
    add_file(&c, "ann", "solutions/09-capstone/sgemm.cu"), add_file(&c, "bob", path);
    add_file(&c, "eve", "chapters/09-capstone/sgemm.cu"),
        add_file(&c, "joe", "solutions/07-fusion/softmax.cu");
    ck_assert_str_eq(c.versions[c.texts[0].book_version].name, "model solution");
    ck_assert(c.texts[0].book_share == 1);
    ck_assert_str_eq(c.versions[c.texts[1].book_version].name, "model solution");
    ck_assert(c.texts[1].book_share > 0.9);
    ck_assert(c.texts[2].book_share < 0.1 && c.texts[3].book_share < 0.1);
    similarity_free(&c), free(list);
}
END_TEST

START_TEST(widespread_passages_are_ignored) {
    struct similarity_class c = {.ex = book_at(0)};
    struct buf common_part = {0};
    make(&common_part, 0, 12, "x");
    for (unsigned i = 0; i < 12; i++) {
        struct buf source = {0};
        char student[8];
        snprintf(student, sizeof student, "s%u", i);
        buf_add(&source, common_part.data, common_part.size),
            make(&source, i < 2 ? 40 : 60 + 20 * i, 8, student);
        similarity_add_text(&c, student, "x.cu", source.data, source.size);
        buf_free(&source);
    }
    similarity_find_pairs(&c, &similarity_defaults);
    ck_assert_uint_eq(c.npairs, 1); /* the two that share what nobody else has */
    ck_assert(c.pairs[0].a == 0 && c.pairs[0].b == 1);
    similarity_free(&c), buf_free(&common_part);
}
END_TEST

START_TEST(pages_escape_what_they_show) {
    char at[4096];
    snprintf(at, sizeof at, "%s/tests/similar-unit", build_folder());
    ck_assert_int_eq(shell("rm -rf %s && mkdir -p '%s/in/<b>ann' %s/in/bob", at, at, at), 0);
    struct buf one = {0};
    make(&one, 0, 12, "c<script>d");
    char path[4200];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/in/bob/transpose.cu", at);
    ck_assert(file_write(path, one.data, one.size, &e));
    ck_assert_int_eq(shell("cd %s && cp in/bob/transpose.cu 'in/<b>ann/'", at), 0);
    buf_free(&one);
    ck_assert_int_eq(shell("cd %s && %s/grader similar in --exercise transpose --output out >said",
                           at, build_folder()),
                     0);
    ck_assert_int_eq(shell("cd %s/out && grep -q 'c&lt;script&gt;' pair-0001.html && ! grep -q "
                           "'<script' *.html && ! "
                           "grep -q '<b>' *.html",
                           at),
                     0);
    ck_assert_int_eq(shell("cd %s/out && grep -q \"default-src 'none'; style-src 'sha256-\" "
                           "pair-0001.html index.html",
                           at),
                     0);
    ck_assert_int_eq(
        shell("cd %s/out && [ $(wc -l <info.csv) = 3 ] && [ -s sources/transpose/bob.cu ] && [ -s "
              "boilerplate/transpose/skeleton.cu ]",
              at),
        0);
}
END_TEST

/* ann has the text of bob of an earlier year, and the one of a public solution with another name,
 * which is also in an archive. Pairs among the others are not of interest. */
START_TEST(earlier_years_and_public_solutions_are_compared) {
    static const char *const paths[] = {"now/ann/transpose.cu", "old/bob/transpose.cu",
                                        "old/eve/transpose.cu", "public/x/src/my_kernel.cu"};
    char at[4096], path[4200];
    struct err e = {0};
    snprintf(at, sizeof at, "%s/tests/similar-against", build_folder());
    ck_assert_int_eq(shell("rm -rf %s && mkdir -p %s/now/ann %s/old/bob %s/old/eve %s/public/x/src",
                           at, at, at, at, at),
                     0);
    struct buf text = {0};
    make(&text, 0, 12, "x");
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(path, sizeof path, "%s/%s", at, paths[i]);
        ck_assert(file_write(path, text.data, text.size, &e));
    }
    buf_free(&text);
    ck_assert_int_eq(
        shell("cd %s && PATH=%s:$PATH && tar cf public/y.tar -C public x && echo '// other' "
              ">public/z.cu && grader intake old --exercise transpose --store old.db >said && "
              "grader similar now --exercise transpose --against old.db --against public --output "
              "out >said && cut -d, -f4,5 out/pairs.csv | sort >pairs",
              at, build_folder()),
        0);
    snprintf(path, sizeof path, "%s/pairs", at);
    ck_assert(file_read(path, 4096, &text, &e));
    ck_assert_str_eq(buf_str(&text), "\"ann\",\"old.db: bob\"\n\"ann\",\"old.db: eve\"\n"
                                     "\"ann\",\"public: x/src/my_kernel.cu\"\n"
                                     "\"ann\",\"public: y.tar/x/src/my_kernel.cu\"\n"
                                     "first,second\n");
    ck_assert_int_eq(shell("cd %s && ! %s/grader similar now --against nowhere 2>said && grep -q "
                           "'nowhere: No such file.*takes a store or a folder' said",
                           at, build_folder()),
                     0);
    buf_free(&text);
}
END_TEST

UNIT_SUITE(similarity) {
    Suite *s = suite_create("similarity");
    TCase *t = tcase_create("similar");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, tokens_ignore_names_comments_and_layout);
    tcase_add_test(t, passages_of_the_guaranteed_length_are_found);
    tcase_add_test(t, text_of_the_book_is_ignored);
    tcase_add_test(t, copies_of_the_book_are_reported);
    tcase_add_test(t, widespread_passages_are_ignored);
    tcase_add_test(t, pages_escape_what_they_show);
    tcase_add_test(t, earlier_years_and_public_solutions_are_compared);
    suite_add_tcase(s, t);
    return s;
}

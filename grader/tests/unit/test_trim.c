/* test_trim.c — tests which declarations of a header stay in front of a source, by hand. The suite
 * `host_header` compares what nvcc makes of them. */
#include "grader/trim/trim.h"
#include "common/buf.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const char header_start[] = "# 0 \"warpbook-source.cu\"\n# 1 \"/usr/include/a.h\" 1\n";
static const char source_start[] = "# 0 \"one.cu\"\n# 1 \"/host.macros\" 1\n\n# 1 \"one.cu\"\n";

/* Appends what is left of a header in front of a source. */
static bool trim(const char *header, const char *source, struct buf *out) {
    struct buf h = {0}, s = {0};
    buf_printf(&h, "%s%s\n", header_start, header);
    buf_printf(&s, "%s%s\n", source_start, source);
    bool ok = trim_headers(h.data, h.size, s.data, s.size, out);
    buf_free(&h), buf_free(&s);
    return ok;
}

/* Returns true if the header's declaration of `mark` is in front of the source. */
static bool is_present(const char *header, const char *mark, const char *source) {
    struct buf out = {0};
    ck_assert(trim(header, source, &out));
    char *own = strstr(buf_str(&out), "# 1 \"one.cu\"\n");
    ck_assert_msg(own && !strncmp(buf_str(&out), "# 0 \"one.cu\"\n", 13), "%s", buf_str(&out));
    *own = 0;
    bool found = strstr(buf_str(&out), mark);
    buf_free(&out);
    return found;
}

/* Declarations that stay only if the source names `name`. */
static const struct {
    const char *header, *name;
} removable[] = {
    {"extern int mark(int);", "mark"},
    {"extern \"C\" int mark(int *p, ...) noexcept (true) __attribute__((nonnull(1)));", "mark"},
    {"extern \"C\" {\nint mark(int);\n}", "mark"},
    {"namespace a { inline namespace b {\nvoid mark();\n} }", "mark"},
    {"static inline int mark(void) { if (1) { return ';'; } return 1; }", "mark"},
    {"static __inline__ __attribute__((device)) float mark(float x) { return x; }", "mark"},
    {"template<class T, int N = (3 > 2)> T mark(T (&a)[N]) { return a[0]; }", "mark"},
    {"template<class T>\nconstexpr typename a<T, (1 < 2)>::type\nmark(T x) { return {x}; }",
     "mark"},
    {"template<> inline int mark<int>(int x) { return x; }", "mark"},
    {"struct mark { int x; mark(int) : x{1} {} bool operator==(mark) const; };", "mark"},
    {"struct __attribute__((aligned(8))) mark final : public base<int> { };", "mark"},
    {"template<class T> struct mark;", "mark"},
    {"template<class T> struct mark<T *, void> : other { enum { value = 1 }; };", "mark"},
    {"template<class T> mark(T) -> mark<T>;", "mark"},
    {"template<class T> inline mark<T>::~mark() { }", "mark"},
    {"enum other { mark_a = 1, mark_b };", "mark_b"},
    {"enum class mark : unsigned char { };", "mark"},
    {"typedef struct tag { int x; } mark;", "mark"},
    {"typedef struct tag { int x; } mark;", "tag"},
    {"typedef int (*mark)(int);", "mark"},
    {"namespace std { using ::mark; }", "mark"},
    {"using mark = decltype(nullptr);", "mark"},
    {"template<class T> using mark = typename T::type;", "mark"},
    {"inline constexpr int mark = 3;", "mark"},
    {"template<class T> constexpr bool mark = a<T>::value;", "mark"},
    {"extern const int mark[4];", "mark"},
    {"extern int mark(\n# 7 \"/usr/include/b.h\" 2\nint);", "mark"},
};

START_TEST(an_unnamed_declaration_goes_and_a_named_one_stays) {
    const char *header = removable[_i].header, *name = removable[_i].name;
    char source[100];
    ck_assert_msg(!is_present(header, "mark", "int remarkable, marks;"), "%s", header);
    snprintf(source, sizeof source, "int x = sizeof(%s);", name);
    ck_assert_msg(is_present(header, "mark", source), "%s", header);
    snprintf(source, sizeof source, "// \"%s\"", name);
    ck_assert_msg(is_present(header, "mark", source), "%s", header);
}
END_TEST

/* Declarations that C++ finds without their name, or that have an effect. */
static const char *const required[] = {
    "mark operator+(mark, mark);",
    "template<class T> bool operator()(mark) { return 1; }",
    "struct a; a::operator mark() const;",
    "constexpr int operator\"\"_mark(const char *, size_t);",
    "int mark(int x) { return x; }",
    "template<> int mark<int>(int x) { return x; }",
    "template class mark<int>;",
    "static mark object;",
    "int mark = 3;",
    "extern int mark = 3;",
    "static int (*mark)(int);",
    "extern int (mark)(int);",
    "extern int other, mark;",
    "struct { int mark; } object;",
    "static inline void __attribute__((constructor)) mark() { }",
    "static inline __attribute__((global)) void mark() { }",
    "using namespace mark;",
    "namespace a = mark;",
    "struct other { int x; } mark;",
    "inline void f() {\n#pragma mark\n}",
    "#pragma GCC visibility push(mark)",
    "__asm__(\"mark\");",
    "inline int (mark)(int x) { return x; }",
};

START_TEST(a_declaration_with_another_effect_stays) {
    ck_assert_msg(is_present(required[_i], "mark", "int x;"), "%s", required[_i]);
}
END_TEST

START_TEST(names_of_needed_declarations_are_needed) {
    static const char header[] = "struct first { };\n"
                                 "typedef struct first second;\n"
                                 "inline int third(second *x) { return 1; }\n"
                                 "inline int fourth() { return third(0); }\n"
                                 "inline int fifth() { return fourth(); }\n";
    ck_assert(is_present(header, "struct first { }", "int x = fourth();"));
    ck_assert(!is_present(header, "fifth", "int x = fourth();"));
    ck_assert(!is_present(header, "first", "int x;"));
}
END_TEST

START_TEST(names_that_the_compilers_look_up_stay) {
    static const char header[] =
        "template<class T> auto begin(T &x) { return x.begin(); }\n"
        "struct dim3 { dim3(int); };\n"
        "extern \"C\" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block);\n";
    ck_assert(is_present(header, "begin", "int x;"));
    ck_assert(is_present(header, "struct dim3", "int x;"));
}
END_TEST

START_TEST(lines_keep_their_numbers) {
    struct buf out = {0};
    ck_assert(trim("int a(\nint);\n#pragma x\n\nint b(\n# 9 \"/b.h\"\nint);", "int y;", &out));
    ck_assert_str_eq(buf_str(&out), "# 0 \"one.cu\"\n# 1 \"/usr/include/a.h\" 1\n\n\n#pragma x\n\n"
                                    "\n# 9 \"/b.h\"\n\n# 1 \"one.cu\"\nint y;\n");
    buf_free(&out);
}
END_TEST

START_TEST(other_forms_are_refused) {
    static const char text[] = "# 0 \"one.cu\"\n# 1 \"one.cu\"\nint x;\n", no_name[] = "int x;\n";
    struct buf out = {0};
    ck_assert(!trim("int a;", "int \\u0061;", &out));
    ck_assert(!trim_headers(text, sizeof text - 1, no_name, sizeof no_name - 1, &out));
    ck_assert(!trim_headers("", 0, text, sizeof text - 1, &out));
    ck_assert(!trim_headers(text, sizeof text - 1, "", 0, &out));
    ck_assert_uint_eq(out.size, 0);
    ck_assert(trim_headers(text, sizeof text - 1, text, sizeof text - 1, &out));
    buf_free(&out);
}
END_TEST

/* A toolkit could grow; the table of names must not. */
START_TEST(a_header_with_too_many_names_is_refused) {
    struct buf header = {0}, out = {0};
    for (unsigned i = 0; i < 70000; i++) buf_printf(&header, "int f%u(int);\n", i);
    ck_assert(!trim(buf_str(&header), "int x;", &out));
    buf_free(&header), buf_free(&out);
}
END_TEST

START_TEST(hostile_headers_end) {
    static const char *const texts[] = {"(((", "template<", "struct a { \"",   "'\\", "operator",
                                        "}}}", "a<b<",      "namespace a { (", "# ",  "extern \"C"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf out = {0};
        ck_assert(trim(texts[i], "int x;", &out));
        ck_assert_msg(strstr(buf_str(&out), texts[i]), "%s", texts[i]);
        buf_free(&out);
    }
}
END_TEST

static bool own_part(const char *text, const char **expected) {
    static const char header[] =
        "# 1 \"/a.h\"\nint a();\n# 3\nstruct b { int c;\n};\nint d(); int e();\n";
    struct buf out = {0};
    bool ok = trim_own_part(header, sizeof header - 1, text, strlen(text), &out);
    if (ok) ck_assert_str_eq(buf_str(&out), *expected);
    buf_free(&out);
    return ok;
}

START_TEST(host_code_is_joined_only_to_a_header_that_it_came_from) {
    const char *own = "# 12 \"one.cu\"\nint x;\n# 1 \"one.cu\"\n";
    char text[200];
    static const char *const parts[] = {"", "int a();\n", "# 1 \"/a.h\"\nstruct b {\nint c; };",
                                        "int d();\n# 9\nint e();"};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(text, sizeof text, "# 1 \"one.cu\"\n%s\n%s", parts[i], own);
        ck_assert_msg(own_part(text, &own), "%s", parts[i]);
    }
    static const char *const others[] = {"int f();", "inline int a();", "int d();int a();",
                                         "# 1 \"/a.h\"\nint a(); int a();",
                                         "struct b { int c; int"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, "# 1 \"one.cu\"\n%s\n%s", others[i], own);
        ck_assert_msg(!own_part(text, &own), "%s", others[i]);
    }
    ck_assert(!own_part("# 1 \"one.cu\"\nint a();\n", &own) && !own_part("int x;\n", &own));
}
END_TEST

UNIT_SUITE(trim) {
    Suite *s = suite_create("trim");
    TCase *t = tcase_create("declarations");
    tcase_add_loop_test(t, an_unnamed_declaration_goes_and_a_named_one_stays, 0,
                        sizeof removable / sizeof *removable);
    tcase_add_loop_test(t, a_declaration_with_another_effect_stays, 0,
                        sizeof required / sizeof *required);
    tcase_add_test(t, names_of_needed_declarations_are_needed);
    tcase_add_test(t, names_that_the_compilers_look_up_stay);
    tcase_add_test(t, lines_keep_their_numbers);
    tcase_add_test(t, other_forms_are_refused);
    tcase_add_test(t, a_header_with_too_many_names_is_refused);
    tcase_add_test(t, hostile_headers_end);
    tcase_add_test(t, host_code_is_joined_only_to_a_header_that_it_came_from);
    suite_add_tcase(s, t);
    return s;
}

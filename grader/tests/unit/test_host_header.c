/* test_host_header.c — tests that the precompiled header and the trimmed ones are used, and change
 * neither the code nor the messages of a build. */
#include "grader/grade/host_header.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/build.h"
#include "grader/grade/grade.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Warns, and calls the runtime from two lines. The comment keeps the objects of earlier runs out of
 * the test; it changes no code. */
static const char source[] = "%s // %ld %ld %d\n"
                             "__global__ void set(int *n, int value) { *n = value; }\n"
                             "extern \"C\" [[unknown::attribute]] void entry(int *n) {\n"
                             "    set<<<1, 1>>>(n, 7);\n"
                             "    cudaMemsetAsync(n + 1, 7, 4);\n"
                             "}\n";

static void build_text(bool with_header, const struct build_source *text, struct build *b) {
    struct err e = {0};
    build_use_shortcuts(with_header);
    bool ok = build_run(text, b, &e);
    build_use_shortcuts(true);
    ck_assert_msg(ok && b->ok && !b->cached, "%s%s", e.text, buf_str(&b->messages));
}

static void build_one(bool with_header, const char *first_line, struct build *b) {
    char text[sizeof source + 2000];
    snprintf(text, sizeof text, source, first_line, (long)time(NULL), (long)getpid(), with_header);
    build_text(with_header, &(struct build_source){"one.cu", text, strlen(text), false}, b);
}

/* Reads what a command with binutils writes about one.so, the object. */
static void inspect(const struct build *b, const char *command, struct buf *out) {
    struct err e = {0};
    ck_assert_msg(file_write("one.so", b->object.data, b->object.size, &e), "%s", e.text);
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(file_read("out", 1 << 24, out, &e), "%s", e.text);
}

static void check_same(const struct build *a, const struct build *b, const char *command) {
    struct buf x = {0}, y = {0};
    inspect(a, command, &x), inspect(b, command, &y);
    ck_assert_msg(x.size && x.size == y.size && !memcmp(x.data, y.data, x.size), "%s", command);
    buf_free(&x), buf_free(&y);
}

static void check_output(const struct build *b, const char *command) {
    struct buf ignored = {0};
    inspect(b, command, &ignored);
    buf_free(&ignored);
}

/* The linker numbers the names of other libraries in the order in which it finds them, so what code
 * refers to is compared by name. */
static const char code_command[] = "objdump -d -j .text --no-addresses --no-show-raw-insn one.so | "
                                   "sed 's/[ ,]0x[0-9a-f]*(%rip)//; s/\\(call\\|jmp\\) .*</\\1 </' "
                                   ">out";
static const char data_command[] = "objcopy -O binary --set-section-flags .rodata=alloc "
                                   "--only-section=.rodata one.so out";
static const char libraries_command[] = "readelf -d one.so | grep NEEDED >out";

static bool names_header(const struct build *b) {
    static const char name[] = "host-header";
    return memmem(b->object.data, b->object.size, name, sizeof name - 1) != NULL;
}

static void check_same_build(const struct build *without, const struct build *with) {
    check_same(without, with, code_command);
    check_same(without, with, data_command);
    check_same(without, with, libraries_command);
    ck_assert_str_eq(buf_str(&with->messages), buf_str(&without->messages));
    ck_assert_str_eq(buf_str(&with->ptx), buf_str(&without->ptx));
}

/* Returns false where there is no header: it needs namespaces. */
static bool open_book_with_header(void) {
    struct build b;
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    if (jail_current_tier() != JAIL_NAMESPACES) return false;
    build_one(true, "#include <stdint.h>", &b); /* with an empty cache, the second makes it */
    build_free(&b);
    return true;
}

/* What the language and nvcc look up without a name in the source: begin() and end(), get(),
 * operators, conversions, device launches, the host's and the device's printf(). The macro's
 * expansion is a system header's text. */
static const char lookups[] =
    "#include <math.h>\n#include <stdio.h>\n"
    "struct list { int a[3]; };\n"
    "__host__ __device__ int *begin(list &l) { return l.a; }\n"
    "__host__ __device__ int *end(list &l) { return l.a + 3; }\n"
    "enum class flags { none, one };\n"
    "__global__ void inner(float2 *p) { p->x = atomicAdd(&p->y, rsqrtf(p->x)) + __shfl_sync(~0u, "
    "p->x, 3); }\n"
    "__global__ void outer(list l, float2 *p, double d) {\n"
    "    for (int &i : l) printf(\"%d %f\\n\", i, cospi(d));\n"
    "    auto [x, y] = *p;\n"
    "    float4 v = make_float4(x, y, NAN, INFINITY);\n"
    "    *p = make_float2(fmaxf(v.x, v.z) + warpSize, max(v.y, v.w));\n"
    "}\n"
    "extern \"C\" int more(list l, float2 *p) {\n"
    "    int sum = 0, *n = new int(3);\n"
    "    for (int i : l) sum += abs(i) + (int)sqrt((double)i);\n"
    "    try { outer<<<16, {32, 1, 1}>>>(l, p, *n); } catch (...) { throw; }\n"
    "    static int once = printf(\"%p\\n\", (void *)NULL);\n"
    "    delete n;\n"
    "    return sum + once + (flags::one == flags::none);\n"
    "}\n";

START_TEST(code_and_messages_are_those_without_it) {
    struct build without, with;
    if (!open_book_with_header()) SKIP("the header needs namespaces");
    build_one(false, lookups, &without);
    build_one(true, lookups, &with);
    ck_assert(!names_header(&without));
    ck_assert(names_header(&with));
    check_same_build(&without, &with);
    build_free(&without), build_free(&with);
}
END_TEST

/* Builds a model solution with another comment at its end, which moves no line. */
static void build_solution(const struct exercise *ex, const char *text, bool with_header,
                           struct build *b) {
    struct buf changed = {0};
    char name[128];
    grade_safe_file_name(ex, book_solution_file(ex, NULL), name, sizeof name);
    buf_printf(&changed, "%s// %ld %ld %d\n", text, (long)time(NULL), (long)getpid(), with_header);
    build_text(with_header, &(struct build_source){name, changed.data, changed.size, ex->sm_90a},
               b);
    buf_free(&changed);
}

START_TEST(each_model_solution_gives_the_same_code) {
    if (!open_book_with_header()) SKIP("the header needs namespaces");
    for (unsigned i = 0; i < book_count(); i++) {
        const struct exercise *ex = book_at(i);
        struct buf text = {0};
        struct build without, with;
        struct err e = {0};
        ck_assert_msg(file_read(book_solution_file(ex, NULL), 1 << 20, &text, &e), "%s", e.text);
        build_solution(ex, buf_str(&text), false, &without);
        build_solution(ex, buf_str(&text), true, &with);
        check_same_build(&without, &with);
        build_free(&without), build_free(&with);
        buf_free(&text);
    }
}
END_TEST

/* More of libstdc++ and libm than the small library has, which stands for libstdc++. */
START_TEST(other_libraries_are_linked) {
    struct build b;
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    build_one(true,
              "#include <cmath>\n#include <string>\n"
              "extern \"C\" double f(int n) { return std::to_string(n).size() + lgamma(n); }",
              &b);
    check_output(&b, "nm -D one.so >out && grep -q ' U lgamma@' out");
    check_output(&b, "readelf -d one.so >out && grep -q 'libm.so' out");
    build_free(&b);
}
END_TEST

/* cudafe++ writes a declaration of cuda_runtime.h differently if <vector> uses it. */
START_TEST(other_headers_may_change_the_start) {
    struct build b;
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    build_one(true, "#include <vector>", &b);
    ck_assert(!names_header(&b));
    build_free(&b);
}
END_TEST

static void enter_folder(void) {
    char folder[] = "/tmp/host-header-XXXXXX";
    ck_assert(mkdtemp(folder) && chdir(folder) == 0);
}
static void remove_folder(void) { ck_assert_int_eq(system("rm -rf \"$PWD\""), 0); }

UNIT_SUITE(host_header) {
    Suite *s = suite_create("host_header");
    TCase *t = tcase_create("header");
    tcase_add_checked_fixture(t, enter_folder, remove_folder);
    tcase_add_test(t, other_libraries_are_linked);
    tcase_add_test(t, other_headers_may_change_the_start);
    suite_add_tcase(s, t);
    t = tcase_create("book");
    tcase_add_checked_fixture(t, enter_folder, remove_folder);
    tcase_set_tags(t, "long");
    tcase_set_timeout(t, 1200);
    tcase_add_test(t, code_and_messages_are_those_without_it);
    tcase_add_test(t, each_model_solution_gives_the_same_code);
    suite_add_tcase(s, t);
    return s;
}

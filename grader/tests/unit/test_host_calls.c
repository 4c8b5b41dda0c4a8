/* test_host_calls.c — tests the messages about host calls that fail: each mistake of
 * grader/tests/hosted/mistakes.cu names the call, its source line, CUDA's error and the likely
 * cause, however the host code was compiled; and the reader of line tables (runtime/line_table.c),
 * which must stay inside damaged ones. */
#include "grader/tests/unit/kept_program.h"
#include "grader/tests/unit/shell.h"
#include "common/file.h"
#include "grader/runtime/line_table.h"
#include "grader/tests/unit/unit.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SOURCE "grader/tests/hosted/mistakes.cu"
static char work[4200];

static void make_folder(void) {
    snprintf(work, sizeof work, "%s/tests/host_calls", build_folder());
    ck_assert_int_eq(shell("mkdir -p %s", work), 0);
}

static void build_program(const char *name, const char *options) {
    char arguments[512], output[sizeof work + 16];
    snprintf(arguments, sizeof arguments, "%s " SOURCE, options);
    snprintf(output, sizeof output, "%s/%s", work, name);
    ck_assert_int_eq(build_kept_program(".", arguments, SOURCE, output), 0);
}

/* The output of `simgpu run PROGRAM MISTAKE`, standard error included. */
static void run_mistake(const char *program, const char *mistake, struct buf *out) {
    char path[4300];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/out", work);
    shell("%s/simgpu run %s/%s %s >%s 2>&1", build_folder(), work, program, mistake, path);
    ck_assert(file_read(path, 1 << 20, out, &e));
}

/* ---- the list in the source ---- */

struct mistake {
    char name[64], fragments[512];
    unsigned line;
};

static struct mistake mistakes[128];
static int nmistakes;

/* Also called where no test runs yet, to count them. */
static void read_mistakes(void) {
    char text[1024];
    FILE *f = fopen(SOURCE, "r");
    nmistakes = 0;
    if (!f) return; /* set_up fails then */
    for (unsigned line = 1; fgets(text, sizeof text, f); line++) {
        struct mistake *m = &mistakes[nmistakes];
        if (sscanf(text, " MISTAKE(%63[a-z_],", m->name) != 1) continue;
        m->line = line++;
        if (fgets(text, sizeof text, f) && sscanf(text, " // %511[^\n]", m->fragments) == 1)
            nmistakes++;
    }
    fclose(f);
}

static void set_up(void) {
    make_folder();
    read_mistakes();
    ck_assert_int_ge(nmistakes, 60);
    build_program("plain", "");
}

static void check_text(const struct mistake *m, const char *text, bool may_lack_line) {
    char at[640], fragments[512], *rest = fragments;
    snprintf(fragments, sizeof fragments, "%s", m->fragments);
    bool lacks_line = may_lack_line && !strstr(text, "mistakes.cu:"),
         has_own_line = *fragments != '*' &&
                        !lacks_line; /* Else the message is about a line of device code. */
    if (*rest == '*') rest++;
    char *first = strsep(&rest, "|");
    first[strcspn(first, "|")] = 0;
    for (size_t n = strlen(first); rest && n && first[n - 1] == ' ';) first[--n] = 0;
    snprintf(at, sizeof at, "mistakes.cu:%u: %s", m->line, first);
    ck_assert_msg(strstr(text, has_own_line ? at : first), "%s: no `%s` in:\n%s", m->name, at,
                  text);
    while (rest) {
        char *fragment = strsep(&rest, "|") + 1;
        if (rest) fragment[strlen(fragment) - 1] = 0;
        ck_assert_msg(strstr(text, fragment), "%s: no `%s` in:\n%s", m->name, fragment, text);
    }
}

START_TEST(a_failed_call_names_its_line_the_error_and_the_likely_cause) {
    struct buf out = {0};
    run_mistake("plain", mistakes[_i].name, &out);
    check_text(&mistakes[_i], buf_str(&out), false);
    buf_free(&out);
}
END_TEST

/* Both versions of line tables, a complete one, an address that is not relocated. Optimized code
 * inlines the templates of CUDA: no line then, but never a wrong one. */
START_TEST(lines_are_found_however_the_host_code_was_compiled) {
    static const char *const options[] = {"-O3", "-O2 -Xcompiler -gdwarf-4", "-Xcompiler -gdwarf-4",
                                          "-g", "-Xcompiler -no-pie"};
    char name[16];
    snprintf(name, sizeof name, "other%d", _i);
    build_program(name, options[_i]);
    for (int i = 0; i < nmistakes; i += 4) {
        struct buf out = {0};
        run_mistake(name, mistakes[i].name, &out);
        check_text(&mistakes[i], buf_str(&out), _i < 2);
        buf_free(&out);
    }
}
END_TEST

START_TEST(a_failure_that_a_successful_program_asked_about_is_its_own_affair) {
    static const char program[] =
        "#include <cstdio>\nint main(int argc, char **) { cudaMemset((void *)1, 0, 1); "
        "cudaSetDevice(9); cudaGetLastError(); return argc > 1; }";
    char path[4300];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/asked.cu", work);
    ck_assert_msg(file_write(path, program, sizeof program - 1, &e), "%s", e.text);
    ck_assert_int_eq(build_kept_program(work, "asked.cu", "asked.cu", "asked"), 0);
    for (int status = 0; status < 2; status++) {
        struct buf out = {0};
        run_mistake("asked", status ? "fail" : "", &out);
        ck_assert_int_eq(strstr(buf_str(&out), "asked.cu:2: cudaSetDevice failed") != NULL, status);
        buf_free(&out);
    }
}
END_TEST

/* ---- damaged line tables ---- */

static const uint8_t *find_section(const struct buf *b, const char *name, size_t *size) {
    const Elf64_Ehdr *e = (const void *)b->data;
    const Elf64_Shdr *s = (const void *)(b->data + e->e_shoff);
    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (strcmp(b->data + s[e->e_shstrndx].sh_offset + s[i].sh_name, name)) continue;
        *size = s[i].sh_size;
        return (const uint8_t *)b->data + s[i].sh_offset;
    }
    return *size = 0, NULL;
}

/* A copy whose last byte precedes a page without access. */
static struct line_section guard(const uint8_t *from, size_t size) {
    size_t pages = (size + 4095) / 4096 + 1;
    uint8_t *p =
        mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + (pages - 1) * 4096, 4096, PROT_NONE);
    return (struct line_section){memcpy(p + (pages - 1) * 4096 - size, from, size), size};
}

START_TEST(damaged_line_tables_are_read_within_their_bounds) {
    char path[4300];
    struct buf b = {0};
    struct err e = {0};
    struct line_sections s = {0};
    struct line_position at;
    size_t size;
    snprintf(path, sizeof path, "%s/plain", work);
    ck_assert(file_read(path, 64 << 20, &b, &e));
    const uint8_t *bytes = find_section(&b, ".debug_line", &size);
    s.line = guard(bytes, size);
    bytes = find_section(&b, ".debug_line_str", &size);
    s.line_strings = guard(bytes, size);
    srandom(1);
    uint8_t *line = (uint8_t *)s.line.data;
    for (int round = 0; round < 20000; round++) {
        size_t where = (size_t)random() % (round % 2 ? s.line.size : 400);
        uint8_t old = line[where];
        line[where] = (uint8_t)random();
        wb_line_table_find(&s, 0, (uint64_t)random() % 65536, &at);
        if (round % 5) line[where] = old;
    }
    buf_free(&b);
}
END_TEST

UNIT_SUITE(host_calls) {
    Suite *s = suite_create("host_calls");
    TCase *t = tcase_create("messages");
    tcase_add_unchecked_fixture(t, set_up, NULL);
    tcase_set_timeout(t, 300);
    read_mistakes();
    tcase_add_loop_test(t, a_failed_call_names_its_line_the_error_and_the_likely_cause, 0,
                        nmistakes);
    tcase_add_loop_test(t, lines_are_found_however_the_host_code_was_compiled, 0, 5);
    tcase_add_test(t, a_failure_that_a_successful_program_asked_about_is_its_own_affair);
    tcase_add_test(t, damaged_line_tables_are_read_within_their_bounds);
    suite_add_tcase(s, t);
    return s;
}

/* test_mistakes.c — tests that the simulator reports the mistakes that the lessons warn of. Each
 * grader/tests/mistakes/NN-slug/NAME.cu is a pair of programs: with MISTAKE defined it makes the
 * mistake, without it doesn't. Comments at its top:
 *   // the mistake, in a sentence
 *   // lesson: FILE, HEADING                  where the book warns of it
 *   // expect: TEXT                           in the report, which names the line that ends in
 *                                             `// reported`, if there is one
 *   // missed: REASON                         instead of `expect`: a known gap
 * The pairs of a chapter are compiled as one program, each in two namespaces, because headers take
 * most of nvcc's time. docs/results/mistakes.md lists the pairs. */
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/grow.h"
#include "grader/tests/unit/listed_page.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char folder[] = "grader/tests/mistakes", page[] = "docs/results/mistakes.md";
enum { TEXT = 400, MAX_SOURCE = 1 << 20 };

struct mistake_pair {
    char path[TEXT], chapter[64], name[64];
    char what[TEXT], file[TEXT], heading[TEXT], expected[TEXT], gap[TEXT];
    unsigned line; /* that is reported, 0 if none is marked */
};
static struct mistake_pair *pairs;
static unsigned npairs, capacity;

static void take_comment(const char *line, struct mistake_pair *m) {
    if (sscanf(line, "// lesson: %399[^,], %399[^\n]", m->file, m->heading) == 2) return;
    if (sscanf(line, "// expect: %399[^\n]", m->expected) == 1) return;
    if (sscanf(line, "// missed: %399[^\n]", m->gap) == 1) return;
    if (!m->what[0]) sscanf(line, "// %399[^\n]", m->what);
}

static void read_pair(const char *path, struct mistake_pair *m) {
    struct buf source = {0};
    struct err e = {0};
    *m = (struct mistake_pair){0};
    if (!file_read(path, MAX_SOURCE, &source, &e)) die("%s", e.text);
    snprintf(m->path, sizeof m->path, "%s", path);
    sscanf(path + sizeof folder, "%63[^/]/%63[^.]", m->chapter, m->name);
    const char *line = buf_str(&source);
    bool is_top = true;
    for (unsigned i = 1; *line; i++) {
        size_t n = strcspn(line, "\n");
        if ((is_top = is_top && !strncmp(line, "//", 2))) take_comment(line, m);
        if (n > 11 && !strncmp(line + n - 11, "// reported", 11)) m->line = i;
        line += n + (line[n] != 0);
    }
    buf_free(&source);
}

static void find_pairs(void) {
    char pattern[TEXT];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/*/*.cu", folder);
    if (glob(pattern, 0, NULL, &g)) die("%s: run the tests from the root of the tree", pattern);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        GROW(pairs, npairs + 1, capacity, 64);
        read_pair(g.gl_pathv[i], &pairs[npairs++]);
    }
    globfree(&g);
}

/* Appends the source's lines that begin with #include. */
static void hoist_includes(const struct mistake_pair *m, struct buf *out) {
    struct buf source = {0};
    const char *line = contents(m->path, &source);
    for (; *line; line += strcspn(line, "\n"), line += *line != 0)
        if (!strncmp(line, "#include", 8))
            buf_printf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
    buf_free(&source);
}

static bool is_of_chapter(const struct mistake_pair *m, const char *chapter) {
    return !strcmp(m->chapter, chapter);
}

/* Appends a program whose first argument names one of the chapter's programs: right_NAME or
 * mistake_NAME; or `right`, all correct ones (grader/tests/gpu/sanitizer.py). Headers come first,
 * outside of any namespace; their guards make the programs' own #include empty. */
static void write_chapter(const char *chapter, struct buf *out) {
    for (unsigned i = 0; i < npairs; i++)
        if (is_of_chapter(&pairs[i], chapter)) hoist_includes(&pairs[i], out);
    buf_puts(out, "#include <cstring>\n");
    for (unsigned wrong = 0; wrong < 2; wrong++) {
        if (wrong) buf_puts(out, "#define MISTAKE\n");
        for (unsigned i = 0; i < npairs; i++)
            if (is_of_chapter(&pairs[i], chapter))
                buf_printf(out, "namespace %s%s {\n#include \"%s\"\n}\n",
                           wrong ? "mistake_" : "right_", pairs[i].name, pairs[i].path);
    }
    buf_puts(out, "int main(int, char **argv) {\n    int all = 0;\n");
    for (unsigned i = 0; i < 2 * npairs; i++)
        if (is_of_chapter(&pairs[i / 2], chapter))
            buf_printf(out, "    if (!strcmp(argv[1], \"%s%s\")) return %s%s::main();\n",
                       i % 2 ? "mistake_" : "right_", pairs[i / 2].name,
                       i % 2 ? "mistake_" : "right_", pairs[i / 2].name);
    for (unsigned i = 0; i < npairs; i++)
        if (is_of_chapter(&pairs[i], chapter))
            buf_printf(out, "    if (!strcmp(argv[1], \"right\")) all |= right_%s::main();\n",
                       pairs[i].name);
    buf_puts(out, "    return strcmp(argv[1], \"right\") ? 3 : all;\n}\n");
}

static int64_t changed(const char *path) {
    struct stat st;
    return stat(path, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static bool is_current(const char *program, const char *chapter) {
    char inputs[2][4200];
    snprintf(inputs[0], sizeof inputs[0], "%s/lib/libwbcudart.a", build_folder());
    snprintf(inputs[1], sizeof inputs[1], "%s/mistake.h", folder);
    for (int i = 0; i < 2; i++)
        if (changed(inputs[i]) > changed(program)) return false;
    for (unsigned i = 0; i < npairs; i++)
        if (is_of_chapter(&pairs[i], chapter) && changed(pairs[i].path) > changed(program))
            return false;
    return true;
}

/* Writes the chapter's source into `program`.cu and compiles it, if the source or an input has
 * changed. */
static void build(const char *chapter, const char *program) {
    char path[4300];
    struct buf source = {0}, old = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s.cu", program);
    write_chapter(chapter, &source);
    bool is_same =
        file_read(path, MAX_SOURCE, &old, &e) && !strcmp(buf_str(&old), buf_str(&source));
    if (!is_same || !is_current(program, chapter)) {
        ck_assert_msg(file_write(path, source.data, source.size, &e), "%s", e.text);
        remove(program);
        ck_assert_msg(!shell("%s/simgpu nvcc -std=c++17 -gencode arch=compute_90a,code=compute_90a "
                             "-I. -I%s/%s %s -o %s",
                             build_folder(), folder, chapter, path, program),
                      "%s does not build", path);
    }
    buf_free(&source);
    buf_free(&old);
}

static void prepare(const struct mistake_pair *m, char *program, size_t size) {
    struct err e = {0};
    snprintf(program, size, "%s/tests/mistakes", build_folder());
    ck_assert_msg(dir_create(program, &e), "%s", e.text);
    snprintf(program, size, "%s/tests/mistakes/%s", build_folder(), m->chapter);
    build(m->chapter, program);
}

/* Runs one of the pair; returns its exit status, and what it and simgpu printed. */
static int run(const struct mistake_pair *m, const char *program, const char *kind, struct buf *out,
               struct buf *err) {
    char path[4400];
    int status = shell("%s/simgpu run %s %s%s >%s.out 2>%s.err", build_folder(), program, kind,
                       m->name, program, program);
    snprintf(path, sizeof path, "%s.out", program);
    contents(path, out);
    snprintf(path, sizeof path, "%s.err", program);
    contents(path, err);
    return status;
}

START_TEST(correct_programs_are_not_reported) {
    const struct mistake_pair *m = &pairs[_i];
    char program[4200];
    struct buf out = {0}, err = {0};
    prepare(m, program, sizeof program);
    int status = run(m, program, "right_", &out, &err);
    ck_assert_msg(status == 0 && !err.size, "%s, without its mistake: status %d\n%s%s", m->path,
                  status, buf_str(&out), buf_str(&err));
    buf_free(&out);
    buf_free(&err);
}
END_TEST

/* Returns true if the text has the number of the marked line behind `prefix`. */
static bool has_number(const struct mistake_pair *m, const char *text, const char *prefix) {
    char place[160];
    size_t n = (size_t)snprintf(place, sizeof place, "%s%u", prefix, m->line);
    while ((text = strstr(text, place)) && isdigit((unsigned char)text[n])) text += n;
    return text != NULL;
}

/* Returns true if the report's line names the marked line of the source: as its place, or as the
 * other end of a race. */
static bool names_line(const struct mistake_pair *m, const char *line) {
    char file[128];
    snprintf(file, sizeof file, "%s.cu:", m->name);
    return !m->line || has_number(m, line, file) || has_number(m, line, " in line ");
}

static bool is_reported(const struct mistake_pair *m, const char *report) {
    char line[4096];
    for (; *report; report += strcspn(report, "\n"), report += *report != 0) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(report, "\n"), report);
        if (strstr(line, m->expected) && names_line(m, line)) return true;
    }
    return false;
}

START_TEST(mistakes_are_reported) {
    const struct mistake_pair *m = &pairs[_i];
    char program[4200];
    struct buf out = {0}, err = {0};
    prepare(m, program, sizeof program);
    int status = run(m, program, "mistake_", &out, &err);
    if (m->gap[0])
        ck_assert_msg(!err.size, "%s: reported now; replace its `missed` by an `expect`:\n%s",
                      m->path, buf_str(&err));
    else
        ck_assert_msg(is_reported(m, buf_str(&err)),
                      "%s: expected \"%s\" in line %u; status %d\n%s%s", m->path, m->expected,
                      m->line, status, buf_str(&out), buf_str(&err));
    buf_free(&out);
    buf_free(&err);
}
END_TEST

/* Returns true if the text has a heading that reads so. */
static bool has_heading(const char *text, const char *heading) {
    for (; (text = strstr(text, heading)); text++) {
        const char *line = text, *end = text + strlen(heading);
        while (line[-1] == '#' || line[-1] == ' ') line--;
        if (line < text && *line == '#' && *end == '\n') return true;
    }
    return false;
}

START_TEST(each_pair_names_its_lesson) {
    const struct mistake_pair *m = &pairs[_i];
    struct buf text = {0};
    ck_assert_msg(m->what[0] && m->file[0] && !m->expected[0] == !!m->gap[0],
                  "%s: the first lines must be a sentence, `// lesson: FILE, HEADING`, and "
                  "`// expect: TEXT` or `// missed: REASON`",
                  m->path);
    ck_assert_msg(has_heading(contents(m->file, &text), m->heading),
                  "%s: %s has no heading \"%s\"; name the one where the book warns of this",
                  m->path, m->file, m->heading);
    buf_free(&text);
}
END_TEST

static void count_chapter(const char *chapter, struct buf *out) {
    unsigned n = 0, missed = 0;
    for (unsigned i = 0; i < npairs; i++) {
        n += is_of_chapter(&pairs[i], chapter);
        missed += is_of_chapter(&pairs[i], chapter) && pairs[i].gap[0];
    }
    buf_printf(out, "| %s | %u | %u | %u |\n", chapter, n, n - missed, missed);
}

static bool is_first_of_chapter(unsigned i) {
    return !i || strcmp(pairs[i - 1].chapter, pairs[i].chapter);
}

static const char introduction[] =
    "# Mistakes that the lessons warn of\n\n"
    "Each row is a pair of programs in `grader/tests/mistakes`: one makes the mistake, the other\n"
    "differs by what the first one omits. The suite `mistakes` fails unless `simgpu run` reports\n"
    "the first, in the right line, and says nothing of the second: no false alarm is known. A "
    "known\n"
    "gap is a mistake that it doesn't report. The suite writes this page to\n"
    "`build/tests/mistakes.md`, and compares.\n\n"
    "| chapter | pairs | reported | known gaps |\n|---|---|---|---|\n";

static void write_page(struct buf *out) {
    unsigned missed = 0;
    for (unsigned i = 0; i < npairs; i++) missed += pairs[i].gap[0] != 0;
    buf_puts(out, introduction);
    for (unsigned i = 0; i < npairs; i++)
        if (is_first_of_chapter(i)) count_chapter(pairs[i].chapter, out);
    buf_printf(out, "| all | %u | %u | %u |\n", npairs, npairs - missed, missed);
    for (unsigned i = 0; i < npairs; i++) {
        const struct mistake_pair *m = &pairs[i];
        if (is_first_of_chapter(i))
            buf_printf(out, "\n## %s\n\n| program | mistake | report |\n|---|---|---|\n",
                       m->chapter);
        buf_printf(out, "| `%s` | %s | %s%s |\n", m->name, m->what, m->gap[0] ? "none: " : "",
                   m->gap[0] ? m->gap : m->expected);
    }
}

START_TEST(the_page_lists_the_pairs) {
    struct buf now = {0};
    write_page(&now);
    check_listed_page(page, &now);
    buf_free(&now);
}
END_TEST

UNIT_SUITE(mistakes) {
    Suite *suite = suite_create("mistakes");
    TCase *sources = tcase_create("sources"), *runs = tcase_create("runs");
    find_pairs();
    tcase_add_test(sources, the_page_lists_the_pairs);
    suite_add_tcase(suite, sources);
    tcase_set_timeout(runs, 300);
    tcase_set_tags(runs, "long");
    tcase_add_loop_test(runs, each_pair_names_its_lesson, 0, (int)npairs);
    tcase_add_loop_test(runs, correct_programs_are_not_reported, 0, (int)npairs);
    tcase_add_loop_test(runs, mistakes_are_reported, 0, (int)npairs);
    suite_add_tcase(suite, runs);
    return suite;
}

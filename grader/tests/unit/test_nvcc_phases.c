/* test_nvcc_phases.c — tests that running nvcc's steps with both passes at once gives nvcc's own
 * files and messages, whatever module ID the script expects. */
#include "grader/grade/nvcc_phases.h"
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/grade/host_header.h"
#include "grader/tests/unit/unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An inlined atomicAdd() has a name with the module ID in the PTX. */
static const char source[] = "__global__ void count(int *n) { atomicAdd(n, 1); }\n"
                             "extern \"C\" void entry(int *n) { count<<<1, 32>>>(n); }\n";

static const char options[] = "-shared -Xcompiler -fPIC -cudart none -lineinfo -keep -gencode "
                              "arch=compute_90,code=compute_90";
static const char *script = nvcc_phases_script;

/* Runs a command of the shell in an emptied folder of the fixed path, so that module IDs agree.
 * Returns the exit status. */
static int run_nvcc(const char *text, const char *nvcc, bool phases, const char *guess) {
    struct err e = {0};
    ck_assert_int_eq(system("rm -rf phases.tmp && mkdir phases.tmp"), 0);
    ck_assert_msg(file_write("phases.tmp/one.cu", text, strlen(text), &e), "%s", e.text);
    setenv("SCRIPT", script, 1), setenv("GUESS", guess, 1), setenv("NVCC", nvcc, 1);
    const char *command = phases ? "sh -c \"$SCRIPT\" sh \"$GUESS\" \"$NVCC\"" : "\"$NVCC\"";
    struct buf line = {0};
    buf_printf(&line, "cd phases.tmp && %s %s one.cu -o out.so >messages 2>&1", command, options);
    int status = system(buf_str(&line));
    buf_free(&line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_output(const char *name, struct buf *out) {
    char path[PATH_MAX];
    struct err e = {0};
    snprintf(path, sizeof path, "phases.tmp/%s", name);
    buf_clear(out);
    ck_assert_msg(file_read(path, 1 << 24, out, &e), "%s", e.text);
}

static void find_nvcc(char nvcc[PATH_MAX + 16]) {
    char cuda[PATH_MAX];
    struct err e = {0};
    ck_assert_msg(paths_cuda_toolkit(cuda, &e), "%s", e.text);
    snprintf(nvcc, PATH_MAX + 16, "%s/bin/nvcc", cuda);
}

static const char *const outputs[] = {"one.ptx", "out.so", "one.fatbin", "messages"};
enum { NOUTPUTS = sizeof outputs / sizeof *outputs };

static void check_same_outputs(const struct buf expected[NOUTPUTS], const char *guess) {
    struct buf got = {0};
    for (unsigned i = 0; i < NOUTPUTS; i++) {
        read_output(outputs[i], &got);
        ck_assert_msg(got.size == expected[i].size &&
                          !memcmp(buf_str(&got), buf_str(&expected[i]), got.size),
                      "%s differs from nvcc's with the expected module ID '%s'", outputs[i], guess);
    }
    buf_free(&got);
}

/* _i: with no expected ID, a wrong one, the right one. */
START_TEST(outputs_are_nvccs_for_every_expected_module_id) {
    char nvcc[PATH_MAX + 16];
    struct buf expected[NOUTPUTS] = {{0}}, id = {0};
    find_nvcc(nvcc);
    ck_assert_int_eq(run_nvcc(source, nvcc, false, ""), 0);
    for (unsigned i = 0; i < NOUTPUTS; i++) read_output(outputs[i], &expected[i]);
    read_output("one.module_id", &id);
    ck_assert(nvcc_phases_is_module_id(buf_str(&id), id.size));
    const char *guesses[] = {"", "_another_id", buf_str(&id)};
    ck_assert_int_eq(run_nvcc(source, nvcc, true, guesses[_i]), 0);
    check_same_outputs(expected, guesses[_i]);
    for (unsigned i = 0; i < NOUTPUTS; i++) buf_free(&expected[i]);
    buf_free(&id);
}
END_TEST

START_TEST(errors_of_the_host_pass_are_printed_once) {
    char nvcc[PATH_MAX + 16];
    struct buf messages = {0};
    find_nvcc(nvcc);
    ck_assert_int_ne(run_nvcc("int f() { return undeclared; }\n", nvcc, true, "_id"), 0);
    read_output("messages", &messages);
    const char *first = strstr(buf_str(&messages), "\"undeclared\" is undefined");
    ck_assert_msg(first && !strstr(first + 1, "\"undeclared\" is undefined"), "%s",
                  buf_str(&messages));
    buf_free(&messages);
}
END_TEST

/* Returns a script whose paths of the sandbox are in the current folder and in the build. */
static char *with_own_paths(const char *text) {
    struct buf out = {0};
    char folder[PATH_MAX], own[PATH_MAX + 16], trim[PATH_MAX];
    ck_assert(getcwd(folder, sizeof folder));
    snprintf(own, sizeof own, "%s/hh/", folder);
    buf_puts(&out, text);
    text_replace(&out, "/host-header/", own);
    text_replace(&out, "/lib-warpbook/trim_headers", paths_component("trim_headers", trim));
    return out.data;
}

/* Makes what host_header.c keeps in the cache, as files with a digest behind them. */
static void make_headers(const char *nvcc) {
    static const char command[] =
        "rm -rf hh phases.tmp && mkdir hh phases.tmp && cd phases.tmp && "
        "printf '\\n\\n\\n\\n\\n\\nint end_of_headers;\\n' >warpbook-source.cu && "
        "sh -c \"$SCRIPT\" sh '' \"$NVCC\" %s warpbook-source.cu -o out.so && "
        "for f in steps.list:steps host-header:text host-header.gch: libstdc++.so: host.ii: "
        "host.macros: device.ii: device.macros:; do "
        "to=${f#*:}; { cat ${f%%:*} && printf %%064d 0; } >../hh/${to:-${f%%:}} || exit; done";
    struct buf line = {0};
    char *whole = host_header_script(), *own = with_own_paths(whole);
    setenv("SCRIPT", own, 1), setenv("NVCC", nvcc, 1);
    buf_printf(&line, command, options);
    ck_assert_int_eq(system(buf_str(&line)), 0);
    buf_free(&line);
    free(whole), free(own);
}

/* The headers' declarations that the source names suffice. After any message, here that of an
 * unused variable, the device pass reads all of them. */
START_TEST(passes_read_what_the_source_names) {
    static const char *const texts[] = {
        source,
        "__global__ void k() { int unused; }\nextern \"C\" void entry() { k<<<1, 1>>>(); }\n"};
    char nvcc[PATH_MAX + 16];
    find_nvcc(nvcc);
    make_headers(nvcc);
    char *own = with_own_paths(nvcc_phases_script);
    for (unsigned i = 0; i < 2; i++) {
        struct buf expected = {0}, got = {0}, id = {0};
        ck_assert_int_eq(run_nvcc(texts[i], nvcc, false, ""), 0);
        read_output("one.ptx", &expected), read_output("one.module_id", &id);
        script = own;
        ck_assert_int_eq(run_nvcc(texts[i], nvcc, true, buf_str(&id)), 0);
        script = nvcc_phases_script;
        read_output("one.ptx", &got);
        ck_assert_str_eq(buf_str(&got), buf_str(&expected));
        ck_assert_int_eq(file_exists("phases.tmp/device.short"), i == 0);
        ck_assert(file_exists("phases.tmp/host.short")); /* which has no message */
        read_output("messages", &got);
        ck_assert_int_eq(strstr(buf_str(&got), "never referenced") != NULL, i == 1);
        buf_free(&expected), buf_free(&got), buf_free(&id);
    }
    free(own);
}
END_TEST

START_TEST(unknown_steps_are_left_to_nvcc) {
    static const char fake[] =
        "#!/bin/sh\n"
        "for a; do case $a in --dryrun) echo '#$ rm one.cu' >&2; exit;; esac; done\n"
        "echo \"nvcc ran\"\n";
    struct err e = {0};
    struct buf messages = {0};
    ck_assert_msg(file_write("phases-nvcc.tmp", fake, sizeof fake - 1, &e), "%s", e.text);
    ck_assert_int_eq(chmod("phases-nvcc.tmp", 0755), 0);
    ck_assert_int_eq(run_nvcc(source, "../phases-nvcc.tmp", true, "_id"), 0);
    read_output("messages", &messages);
    ck_assert_str_eq(buf_str(&messages), "nvcc ran\n");
    ck_assert(file_exists("phases.tmp/one.cu"));
    buf_free(&messages);
}
END_TEST

static void signatures_of(const char *text, char out[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    nvcc_phases_hash_signatures(&h, text, strlen(text));
    hash_final_hex(&h, out);
}

START_TEST(signatures_ignore_bodies_and_comments) {
    char a[HASH_HEX_SIZE], b[HASH_HEX_SIZE], c[HASH_HEX_SIZE];
    signatures_of("void f(int a) {\n  g(1);\n}\n", a);
    signatures_of("// a call: g(2)\nvoid f(int a) {\n  g(2);\n}", b);
    signatures_of("void f(int b) {\n  g(1);\n}\n", c);
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
    ck_assert(!nvcc_phases_is_module_id("", 0) && !nvcc_phases_is_module_id("a;b", 3));
}
END_TEST

static void enter_folder(void) {
    char folder[] = "/tmp/nvcc-phases-XXXXXX";
    ck_assert(mkdtemp(folder) && chdir(folder) == 0);
}
static void remove_folder(void) { ck_assert_int_eq(system("rm -rf \"$PWD\""), 0); }

UNIT_SUITE(nvcc_phases) {
    Suite *s = suite_create("nvcc_phases");
    TCase *t = tcase_create("phases");
    tcase_add_checked_fixture(t, enter_folder, remove_folder);
    tcase_add_loop_test(t, outputs_are_nvccs_for_every_expected_module_id, 1, 2);
    tcase_add_test(t, errors_of_the_host_pass_are_printed_once);
    tcase_add_test(t, passes_read_what_the_source_names);
    tcase_add_test(t, unknown_steps_are_left_to_nvcc);
    tcase_add_test(t, signatures_ignore_bodies_and_comments);
    suite_add_tcase(s, t);
    t = tcase_create("expected IDs");
    tcase_add_checked_fixture(t, enter_folder, remove_folder);
    tcase_set_tags(t, "long");
    tcase_add_loop_test(t, outputs_are_nvccs_for_every_expected_module_id, 0, 3);
    suite_add_tcase(s, t);
    return s;
}

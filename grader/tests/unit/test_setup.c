/* test_setup.c — tests grader/setup.sh on other systems: libraries in separate folders, and
 * distributions recognized by the tools in PATH. Each run names a KIND that checks for little,
 * so that nothing is installed or fetched. Also tests the settings for editors. */
#include "common/buf.h"
#include "common/file.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char work[4200];

static void make_work(void) {
    snprintf(work, sizeof work, "%s/tests/setup", build_folder());
    ck_assert_int_eq(shell("rm -rf '%s' && mkdir -p '%s/bin'", work, work), 0);
}

/* Makes a PATH with the tools that setup.sh calls, and one package manager, which it must not
 * call. */
static void make_path(const char *manager) {
    make_work();
    ck_assert_int_eq(
        shell(
            "for p in sh gcc g++ sed tr sort cat mkdir ls dirname grep rm cp id getconf sleep; do "
            "ln -s $(command -v $p) '%s/bin/'; done",
            work),
        0);
    ck_assert_int_eq(
        shell("printf '#!/bin/sh\ntouch %s/called\n' >'%s/bin/%s' && chmod +x '%s/bin/%s'", work,
              work, manager, work, manager),
        0);
}

/* Returns standard output and error of setup.sh for one kind, run with the assignments of
 * `environment`. */
static char *run_setup(const char *environment, const char *kind, int status) {
    static struct buf output;
    struct err e;
    char path[4300];
    snprintf(path, sizeof path, "%s/said", work);
    ck_assert_int_eq(
        shell("%s sh grader/setup.sh '%s/build' %s >'%s' 2>&1", environment, work, kind, path),
        status);
    buf_free(&output);
    ck_assert_msg(file_read(path, 1 << 20, &output, &e), "%s", e.text);
    return (char *)buf_str(&output);
}

/* The header of the one library of the kind `site` can't be found, since the compiler has no
 * search path. */
static char *run_setup_for_family(const char *manager) {
    char environment[4400];
    make_path(manager);
    snprintf(environment, sizeof environment, "PATH='%s/bin' CC='gcc -nostdinc' PKG_CONFIG=none",
             work);
    return run_setup(environment, "site", 1);
}

START_TEST(missing_packages_print_the_install_command_of_the_system) {
    static const struct {
        const char *manager, *command;
        bool renews; /* renews its lists without an option */
    } families[] = {{"dnf", "dnf install cmark-gfm-devel\n", true},
                    {"pacman", "pacman -S --needed cmark-gfm\n", false}};
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++) {
        char *output = run_setup_for_family(families[i].manager);
        ck_assert_msg(strstr(output, families[i].command) != NULL, "%s", output);
        ck_assert_msg(strstr(output, "missing here: cmark-gfm (cmark-gfm-core-extensions.h)") !=
                          NULL,
                      "%s", output);
        ck_assert_msg(!strstr(output, "apt-get"), "%s", output);
        ck_assert_msg(!strstr(output, "pacman -Syu)") == families[i].renews, "%s", output);
        ck_assert_int_ne(shell("test -e '%s/called'", work), 0);
    }
}
END_TEST

START_TEST(unpackaged_tools_are_reported) {
    char *output = run_setup_for_family("apk");
    ck_assert_msg(strstr(output, "we know no apk package for cmark-gfm") != NULL, "%s", output);
    ck_assert_msg(!strstr(output, "to install it"), "%s", output);
}
END_TEST

/* libcmark-gfm installed without root: neither header nor library is on the compiler's search
 * path. */
START_TEST(a_library_in_a_user_folder_is_found) {
    char environment[9000];
    make_work();
    ck_assert_int_eq(
        shell("cd '%s' && mkdir own && touch own/cmark-gfm-core-extensions.h own/x.c && "
              "gcc -shared -fPIC own/x.c -o own/libown.so",
              work),
        0);
    ck_assert_int_eq(
        shell("cat >'%s/pc' <<'END'\n#!/bin/sh\ncase $1 in --exists) test $2 = libcmark-gfm ;;\n"
              "--cflags-only-I) echo -I%s/own ;;\n--libs) echo -L%s/own -lown ;; esac\nEND\n"
              "chmod +x '%s/pc'",
              work, work, work, work),
        0);
    snprintf(environment, sizeof environment, "CC='gcc -nostdinc' PKG_CONFIG='%s/pc'", work);
    ck_assert_str_eq(run_setup(environment, "site", 0), "");
    ck_assert_int_eq(
        shell("test \"$(cat '%s/build/deps/cmark-gfm')\" = '-L%s/own -Wl,-rpath,%s/own -lown'",
              work, work, work),
        0);
    ck_assert_int_eq(shell("grep -qxF -e '-I%s/own' '%s/build/deps/headers'", work, work), 0);
}
END_TEST

/* Debian has libpq's header in a folder of its own, and a new root has no pkg-config. */
START_TEST(without_pkg_config_the_header_of_libpq_is_found) {
    if (access("/usr/include/postgresql/libpq-fe.h", R_OK)) SKIP("no libpq-dev of Debian");
    make_work();
    ck_assert_str_eq(run_setup("PKG_CONFIG=none", "store", 0), "");
    ck_assert_int_eq(shell("grep -qxF -e -I/usr/include/postgresql '%s/build/deps/headers'", work),
                     0);
}
END_TEST

START_TEST(each_need_names_a_package_of_each_family_or_a_dash) {
    ck_assert_int_eq(shell("grep -vE '^(#|$|[a-z]+: )' grader/packages.txt | awk 'NF != 8 { print; "
                           "bad = 1 } END { exit bad }'"),
                     0);
    for (unsigned i = 0; i < 5; i++) {
        static const char *const families[] = {"apt", "dnf", "pacman", "zypper", "apk"};
        ck_assert_int_eq(
            shell("n=$(sh grader/setup.sh names %s build | wc -l); test $n -ge 16", families[i]),
            0);
    }
    ck_assert_int_eq(
        shell("sh grader/setup.sh names apt build site | grep -qx libcmark-gfm-extensions-dev"), 0);
    ck_assert_int_eq(shell("test \"$(sh grader/setup.sh names apt editor)\" = libjs-codemirror && "
                           "test -z \"$(sh grader/setup.sh names dnf editor)\" && test \"$(sh "
                           "grader/setup.sh names apt store)\" = libpq-dev"),
                     0);
    ck_assert_int_eq(shell("test \"$(sh grader/setup.sh names apt pages | tr '\\n' ' ')\" = "
                           "'chromium-headless-shell nginx-light '"),
                     0);
    ck_assert_int_eq(shell("sh grader/setup.sh names brew build 2>/dev/null"), 1);
}
END_TEST

/* A path with a quote in it; a file that is compiled twice; a line that compiles nothing; CUDA of
 * the tree. */
START_TEST(commands_for_editors_are_json_and_the_last_of_a_file_counts) {
    char path[4300];
    json_error_t e;
    make_work();
    ck_assert_int_eq(
        shell("root=$PWD; cd '%s' && mkdir -p 'a\"b/build/deps' 'a\"b/chapters/1' 'a\"b/solutions' "
              "'a\"b/grader' && "
              "cd 'a\"b' && echo -I/own >build/deps/headers && touch chapters/1/k.cu && "
              "printf 'echo done\n%%s\n%%s\n' 'gcc -DISA=v2 @build/deps/headers -c x/y.c -o "
              "build/y2.o' "
              "'gcc -DISA=v4 @build/deps/headers -c x/y.c -o build/y4.o' | "
              "sh \"$root/grader/editor/compile_commands.sh\" build >../out.json",
              work),
        0);
    snprintf(path, sizeof path, "%s/out.json", work);
    json_t *all = json_load_file(path, 0, &e);
    ck_assert_msg(all != NULL, "%s", e.text);
    ck_assert_uint_eq(json_array_size(all), 2);
    json_t *c = json_array_get(all, 0), *cuda = json_array_get(all, 1);
    ck_assert_str_eq(json_string_value(json_object_get(c, "file")), "x/y.c");
    ck_assert_str_eq(json_string_value(json_object_get(c, "command")),
                     "gcc -DISA=v4 -I/own  -c x/y.c -o build/y4.o");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(c, "directory")), "/a\"b"));
    ck_assert_str_eq(json_string_value(json_object_get(cuda, "file")), "chapters/1/k.cu");
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(cuda, "command")), " --cuda-path=build/cuda "));
    json_decref(all);
}
END_TEST

/* Pip has no index, as without a network, and no package manager is on PATH. A toolkit may bring
 * its own disassembler. */
START_TEST(without_a_network_setup_names_what_is_missing) {
    char environment[4500];
    make_path("none");
    ck_assert_int_eq(
        shell("for p in find make cmp ar git awk tail mv ln chmod cut head ld as python3; do "
              "ln -sf $(command -v $p) '%s/bin/'; done && "
              "ln -sf /usr/bin/gcc /usr/bin/g++ '%s/bin/' && " /* a wrapper needs its PATH */
              "printf '#!/bin/sh\nexec %s/cuda/bin/nvcc \"$@\"\n' >'%s/bin/nvcc' && "
              "chmod +x '%s/bin/nvcc'",
              work, work, build_folder(), work, work),
        0);
    snprintf(environment, sizeof environment, "PIP_NO_INDEX=1 PATH='%s/bin'", work);
    char *output = run_setup(environment, "build", 0);
    ck_assert_msg(strstr(output, "setup: nvcc ") != NULL, "%s", output);
    if (shell("test -x '%s/build/cuda/bin/nvdisasm'", work) == 0) return;
    ck_assert_msg(strstr(output, "could not fetch it (see ") != NULL, "%s", output);
    ck_assert_msg(strstr(output, "no nvdisasm, so --machine-code is unavailable") != NULL, "%s",
                  output);
}
END_TEST

UNIT_SUITE(setup) {
    Suite *s = suite_create("setup");
    TCase *t = tcase_create("setup");
    tcase_add_test(t, missing_packages_print_the_install_command_of_the_system);
    tcase_add_test(t, unpackaged_tools_are_reported);
    tcase_add_test(t, a_library_in_a_user_folder_is_found);
    tcase_add_test(t, commands_for_editors_are_json_and_the_last_of_a_file_counts);
    tcase_add_test(t, without_pkg_config_the_header_of_libpq_is_found);
    tcase_add_test(t, each_need_names_a_package_of_each_family_or_a_dash);
    suite_add_tcase(s, t);
    TCase *network = tcase_create("network"); /* it compiles */
    tcase_set_tags(network, "long");
    tcase_set_timeout(network, 120);
    tcase_add_test(network, without_a_network_setup_names_what_is_missing);
    suite_add_tcase(s, network);
    return s;
}

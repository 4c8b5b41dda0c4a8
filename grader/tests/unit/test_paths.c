/* test_paths.c — tests how the programs of this build find their files and a student's folder:
 * in a source tree, and from a copy that looks installed. `make check-install` tries an
 * installation as another user. */
#include "common/buf.h"
#include "common/file.h"
#include "common/paths.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void open_fn(void) {
    strcpy(folder, "/tmp/warpbook-where-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void close_fn(void) { shell("rm -rf %s", folder); }

/* Returns a shell's status for a command in the test's folder, with separate state and cache; $G
 * is this build's grader, $T the tree. */
static int run(const char *command) {
    return shell("export T=$PWD && cd %s && export G=%s/grader XDG_STATE_HOME=%s/state "
                 "XDG_CACHE_HOME=%s/cache && %s",
                 folder, build_folder(), folder, folder, command);
}

START_TEST(a_marker_has_sixteen_hex_digits) {
    char id[PATHS_ID_SIZE];
    ck_assert(paths_marker_id("warpbook 1 0123456789abcdef\nmore", id));
    ck_assert_str_eq(id, "0123456789abcdef");
    static const char *const none[] = {"",
                                       "warpbook 1 \n",
                                       "warpbook 1 0123456789abcde\n",
                                       "warpbook 1 0123456789abcdef0\n",
                                       "warpbook 1 ../../../../etc/x\n",
                                       "warpbook 2 0123456789abcdef\n",
                                       "warpbook 1 0123456789abcdef"};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(!paths_marker_id(none[i], id), "%s", none[i]);
}
END_TEST

START_TEST(begin_keeps_edited_files_and_adds_missing_ones) {
    ck_assert_int_eq(run("$G begin work >1 && test -f work/chapters/02-coalescing/transpose.cu"),
                     0);
    ck_assert_int_eq(run("! test -f work/chapters/02-coalescing/transpose_test.c"), 0);
    ck_assert_int_eq(run("echo mine >work/chapters/02-coalescing/transpose.cu && "
                         "rm work/chapters/02-coalescing/quiz.md && $G begin work >2"),
                     0);
    ck_assert_int_eq(run("grep -q 'files: 1 added, 0 updated, 1 kept' 2"), 0);
    ck_assert_int_eq(run("echo mine | cmp - work/chapters/02-coalescing/transpose.cu"), 0);
    ck_assert_int_eq(run("test -s work/chapters/02-coalescing/quiz.md"), 0);
}
END_TEST

/* The digest in the mark is that of the old lesson, which the student has not edited: `old` and
 * its SHA-256, by sha256sum. */
START_TEST(begin_updates_unedited_files) {
    ck_assert_int_eq(
        run("$G begin work >1 && cd work && f=chapters/00-roofline/README.md && echo old >$f && "
            "sed -i \"s,^.* $f,$(sha256sum $f | cut -c1-64) $f,\" .warpbook && $G begin . >2 && "
            "grep -q 'files: 0 added, 1 updated, 0 kept' 2 && ! grep -qx old $f"),
        0);
    ck_assert_int_eq(
        run("cd work && f=chapters/00-roofline/README.md && echo own >$f && "
            "sed -i \"s,^.* $f,$(echo old | sha256sum | cut -c1-64) $f,\" .warpbook && "
            "$G begin . >2 && grep -qx own $f && grep -qx \"  $f\" 2"),
        0);
}
END_TEST

START_TEST(begin_rejects_nonempty_folders_and_files) {
    ck_assert_int_eq(run("mkdir full && touch full/x && $G begin full 2>1"), 2);
    ck_assert_int_eq(run("grep -q 'full is not empty' 1 && ! test -e full/.warpbook"), 0);
    ck_assert_int_ne(run("$G begin full/x 2>1"), 0);
    ck_assert_int_eq(run("$G begin 2>1"), 2);
    ck_assert_int_eq(run("mkdir bad && echo 'warpbook 1 x' >bad/.warpbook && $G begin bad 2>1"), 2);
    ck_assert_int_eq(run("grep -q 'is damaged' 1"), 0);
}
END_TEST

/* --all repeats the hints that were shown, and reveals no new one. */
START_TEST(all_shows_only_hints_seen_so_far) {
    ck_assert_int_eq(
        run("$G begin a >1 && cd a && $G hint transpose >../1 && $G hint transpose --all >../2"),
        0);
    ck_assert_int_eq(
        run("grep -q '^Hint 1 of 3' 2 && ! grep -q '^Hint 2' 2 && grep -q 'shows the next' 1"), 0);
    ck_assert_int_eq(run("cd a && $G list transpose | grep -q '1 hint'"), 0);
    ck_assert_int_eq(run("cd a && $G hint transpose >../1 && $G hint transpose --all >../2"), 0);
    ck_assert_int_eq(run("test $(grep -c '^Hint [12] of 3' 2) = 2"), 0);
}
END_TEST

/* Two folders have separate histories, which move with them. */
START_TEST(each_folder_keeps_its_own_history) {
    ck_assert_int_eq(run("$G begin a >1 && $G begin b >1 && cd a && $G hint transpose >../1"), 0);
    ck_assert_int_eq(run("mv a c && cd c && $G list transpose | grep -q '1 hint'"), 0);
    ck_assert_int_eq(run("cd b && ! $G list transpose | grep -q hint"), 0);
    ck_assert_int_eq(
        run("test $(ls state/warpbook | wc -l) = 1 && test $(stat -c %a state/warpbook) = 700"), 0);
}
END_TEST

/* An installation has bin/, and share/warpbook with the file that marks it; nothing else counts
 * as one. */
static void install(void) {
    ck_assert_int_eq(run("mkdir -p p/bin p/share/warpbook/grader && cp $G p/bin && "
                         "cp -r $T/chapters p/share/warpbook && cp -r $T/grader/editor "
                         "p/share/warpbook/grader && "
                         "echo warpbook 1 >p/share/warpbook/installed"),
                     0);
}

START_TEST(an_installed_grader_works_only_in_user_folders) {
    install();
    ck_assert_int_eq(run("p/bin/grader list 2>1"), 2);
    ck_assert_int_eq(run("grep -q 'grader begin DIR' 1 && ! grep -q build/ 1"), 0);
    ck_assert_int_eq(
        run("p/bin/grader begin w >1 && cd w/chapters && ../../p/bin/grader list >../../1"), 0);
    ck_assert_int_eq(run("p/bin/grader verify transpose 2>1"), 2);
    ck_assert_int_eq(run("grep -q 'needs the source tree' 1"), 0);
}
END_TEST

START_TEST(an_installed_grader_rejects_a_world_writable_cache) {
    install();
    ck_assert_int_eq(run("mkdir -p cache/warpbook && chmod 775 cache/warpbook && "
                         "p/bin/grader quiz 02 --answers 8,5,4,12,c 2>1"),
                     2);
    ck_assert_int_eq(run("grep -q 'only you can write to' 1"), 0);
    ck_assert_int_eq(run("rm -r cache/warpbook && mkdir t && ln -s ../t cache/warpbook && "
                         "p/bin/grader quiz 02 --answers 8,5,4,12,c 2>1"),
                     2);
}
END_TEST

/* The packages that a container or a package names must be those that setup looks for, listed in
 * grader/packages.txt. */
START_TEST(packages_are_named_in_one_list) {
    ck_assert_int_eq(
        run("cd $T/grader && grep -h 'apt-get install' template/Dockerfile template/warpbook.def "
            "template/container.sh | sed 's/.*apt-get install//' | tr ' ' '\\n' | grep -E "
            "'^[a-z][a-z0-9.+-]*$' "
            ">$OLDPWD/named; sed -n 's/^host_compiler=//p' deb.sh >>$OLDPWD/named && test $(wc -l "
            "<$OLDPWD/named) -ge "
            "2 && "
            "while read -r p; do grep -qw -- \"$p\" packages.txt || exit 9; done <$OLDPWD/named"),
        0);
    ck_assert_int_eq(
        run("cd $T/grader/template && i=$(sed -n 's/^From: //p' warpbook.def) && test -n \"$i\" && "
            "test $(grep -c \"^FROM $i\" Dockerfile) = $(grep -c '^FROM' Dockerfile) && "
            "for s in build install; do grep -q \"container.sh $s\" Dockerfile && grep -q "
            "\"container.sh $s\" "
            "warpbook.def || exit 9; done"),
        0);
}
END_TEST

/* Makes t/, a source tree of what a package takes, with an assignment. */
static void make_source_tree(void) {
    ck_assert_int_eq(run("mkdir -p t/build t/common t/solutions t/grader/template && "
                         "cp $G t/build && cp $T/LICENSE $T/Makefile t && cp -r $T/chapters t && "
                         "cp -r $T/grader/template/gradescope t/grader/template && "
                         "printf 'name = \"x\"\n[[exercise]]\nname = \"transpose\"\n' >a.toml"),
                     0);
}

/* A package without a file of the book would fail only at Gradescope. */
START_TEST(a_package_leaves_out_links_and_nothing_else) {
    make_source_tree();
    ck_assert_int_eq(
        run("mkdir -p t/common/1/2/3/4/5/6/7 && touch t/common/1/2/3/4/5/6/7/deep.c && "
            "ln -s /etc t/common/link && "
            "t/build/grader gradescope a.toml --output a.zip >1 2>&1"),
        0);
    ck_assert_int_eq(run("python3 -m zipfile -l a.zip >2 && "
                         "grep -q warpbook/common/1/2/3/4/5/6/7/deep.c 2 && ! grep -q link 2"),
                     0);
    ck_assert_int_ne(run("mkdir t/common/1/2/3/4/5/6/7/8 && "
                         "t/build/grader gradescope a.toml --output b.zip 2>3"),
                     0);
    ck_assert_int_eq(run("grep -q '7/8: more than 8 folders deep' 3 && ! test -e b.zip"), 0);
}
END_TEST

UNIT_SUITE(paths) {
    Suite *suite = suite_create("paths");
    TCase *t = tcase_create("where");
    tcase_add_checked_fixture(t, open_fn, close_fn);
    tcase_add_test(t, a_marker_has_sixteen_hex_digits);
    tcase_add_test(t, begin_keeps_edited_files_and_adds_missing_ones);
    tcase_add_test(t, begin_updates_unedited_files);
    tcase_add_test(t, begin_rejects_nonempty_folders_and_files);
    tcase_add_test(t, each_folder_keeps_its_own_history);
    tcase_add_test(t, all_shows_only_hints_seen_so_far);
    tcase_add_test(t, an_installed_grader_works_only_in_user_folders);
    tcase_add_test(t, packages_are_named_in_one_list);
    tcase_add_test(t, an_installed_grader_rejects_a_world_writable_cache);
    tcase_add_test(t, a_package_leaves_out_links_and_nothing_else);
    suite_add_tcase(suite, t);
    return suite;
}

/* test_file.c — tests that writing a report (common/file.h) replaces only regular files. */
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/wb-file-XXXXXX";
static void make_folder(void) { ck_assert(mkdtemp(folder)); }
static void remove_folder(void) {
    struct err e = {0};
    dir_remove(folder, &e);
}

static const char *in_folder(const char *name) {
    static char path[2][PATH_MAX];
    static unsigned turn;
    turn ^= 1;
    ck_assert(path_join(path[turn], sizeof path[turn], folder, name));
    return path[turn];
}

static mode_t kind_of(const char *name) {
    struct stat st;
    ck_assert_int_eq(lstat(in_folder(name), &st), 0);
    return st.st_mode & S_IFMT;
}

START_TEST(writing_to_a_pipe_does_not_replace_it) {
    struct err e = {0};
    char actual[8] = "";
    ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
    int fd = open(in_folder("pipe"), O_RDWR);
    ck_assert(!file_write(in_folder("pipe"), "text", 4, &e));
    ck_assert_int_eq(e.kind, ERR_INPUT);
    ck_assert_msg(file_write_output(in_folder("pipe"), "text", 4, &e), "%s", e.text);
    ck_assert_int_eq(read(fd, actual, sizeof actual), 4);
    ck_assert_str_eq(actual, "text");
    ck_assert_int_eq(kind_of("pipe"), S_IFIFO);
    close(fd);
}
END_TEST

START_TEST(writing_follows_a_link_without_replacing_it) {
    struct err e = {0};
    struct buf b = {0};
    ck_assert(file_write(in_folder("file"), "old", 3, &e));
    ck_assert_int_eq(symlink("file", in_folder("link")), 0);
    ck_assert(!file_write(in_folder("link"), "new", 3, &e));
    ck_assert(file_write_output(in_folder("link"), "new", 3, &e));
    ck_assert_int_eq(kind_of("link"), S_IFLNK);
    ck_assert(file_read(in_folder("file"), 10, &b, &e));
    ck_assert_str_eq(buf_str(&b), "new");
    buf_free(&b);
}
END_TEST

START_TEST(writing_to_a_folder_fails) {
    struct err e = {0};
    ck_assert_int_eq(mkdir(in_folder("sub"), 0700), 0);
    ck_assert(!file_write_output(in_folder("sub"), "new", 3, &e));
    ck_assert_int_eq(kind_of("sub"), S_IFDIR);
}
END_TEST

START_TEST(temporary_files_are_in_TMPDIR_if_it_is_absolute) {
    char path[PATH_TEMPORARY_BYTES];
    setenv("TMPDIR", "/var/tmp", 1), path_temporary(path, "pages");
    ck_assert_str_eq(path, "/var/tmp/warpbook-pages.XXXXXX");
    setenv("TMPDIR", "here", 1), path_temporary(path, "pages");
    ck_assert_str_eq(path, "/tmp/warpbook-pages.XXXXXX");
    unsetenv("TMPDIR"), path_temporary(path, "pages");
    ck_assert_str_eq(path, "/tmp/warpbook-pages.XXXXXX");
}
END_TEST

UNIT_SUITE(file) {
    Suite *s = suite_create("file");
    TCase *t = tcase_create("writing");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, writing_to_a_pipe_does_not_replace_it);
    tcase_add_test(t, writing_follows_a_link_without_replacing_it);
    tcase_add_test(t, writing_to_a_folder_fails);
    tcase_add_test(t, temporary_files_are_in_TMPDIR_if_it_is_absolute);
    suite_add_tcase(s, t);
    return s;
}

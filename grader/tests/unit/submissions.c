/* submissions.c — see submissions.h. */
#include "grader/tests/unit/submissions.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/store_fixture.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

char submissions_folder[4096];

void submissions_make(const char *name) {
    struct err e = {0};
    ck_assert(book_open(&e));
    store_fixture_reset();
    snprintf(submissions_folder, sizeof submissions_folder, "%s/tests/%s", build_folder(), name);
    ck_assert_int_eq(shell("rm -rf %s && mkdir -p %s/c", submissions_folder, submissions_folder),
                     0);
}

static void write_at(const char *folder, const char *path, const char *text) {
    char full_path[5000], *slash;
    struct err e = {0};
    snprintf(full_path, sizeof full_path, "%s%s/%s", submissions_folder, folder, path);
    slash = strrchr(full_path, '/');
    *slash = 0;
    ck_assert_msg(dir_create(full_path, &e), "%s", e.text);
    *slash = '/';
    ck_assert_msg(file_write(full_path, text, strlen(text), &e), "%s", e.text);
}

void submissions_write(const char *path, const char *text) { write_at("/c", path, text); }

void submissions_write_roster(const char *name, const char *text) { write_at("", name, text); }

void submissions_intake(const char *arguments, int status, struct buf *out) {
    char path[5000];
    struct err e = {0};
    buf_clear(out);
    int actual =
        shell("cd %s && LC_ALL=C %s/grader intake %s --format csv --output rows.csv 2>said",
              submissions_folder, store_fixture_folder(), arguments);
    snprintf(path, sizeof path, "%s/said", submissions_folder);
    if (actual != status) file_read(path, 1 << 20, out, &e);
    ck_assert_msg(actual == status, "status %d: %s", actual, buf_str(out));
    snprintf(path, sizeof path, "%s/%s", submissions_folder, status == 2 ? "said" : "rows.csv");
    ck_assert_msg(file_read(path, 8 << 20, out, &e), "%s", e.text);
}

void submissions_has(const struct buf *rows, const char *row) {
    ck_assert_msg(strstr(buf_str(rows), row), "no %s in\n%s", row, buf_str(rows));
}

void submissions_lacks(const struct buf *rows, const char *row) {
    ck_assert_msg(!strstr(buf_str(rows), row), "%s in\n%s", row, buf_str(rows));
}

/* listed_page.c — implements listed_page.h. */
#include "grader/tests/unit/listed_page.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CONTENTS = 1 << 24 };

const char *contents(const char *path, struct buf *out) {
    struct err e = {0};
    ck_assert_msg(file_read(path, MAX_CONTENTS, out, &e), "%s", e.text);
    return buf_str(out);
}

void check_listed_page(const char *page, const struct buf *text) {
    char path[4200];
    struct err e = {0};
    struct buf committed = {0};
    snprintf(path, sizeof path, "%s/tests%s", build_folder(), strrchr(page, '/'));
    ck_assert_msg(file_write(path, text->data, text->size, &e), "%s", e.text);
    ck_assert_msg(!strcmp(contents(page, &committed), buf_str(text)), "to renew it: cp %s %s", path,
                  page);
    buf_free(&committed);
}

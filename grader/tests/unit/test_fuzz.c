/* test_fuzz.c — runs the fuzzers' targets on the corpus in the tree, so that fixed faults stay
 * fixed. */
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

typedef int fuzz_fn(const uint8_t *data, size_t size);
#define FUZZ_TARGET(name) fuzz_fn fuzz_##name;
#include "grader/tests/fuzz/targets.def"
#undef FUZZ_TARGET

static const struct {
    const char *name;
    fuzz_fn *run;
} targets[] = {
#define FUZZ_TARGET(name) {#name, fuzz_##name},
#include "grader/tests/fuzz/targets.def"
#undef FUZZ_TARGET
};

static unsigned run_corpus(const char *folder, fuzz_fn *run) {
    unsigned files = 0;
    DIR *d = opendir(folder);
    ck_assert_msg(d != NULL, "no folder %s", folder);
    for (struct dirent *entry; (entry = readdir(d));) {
        char path[512];
        struct buf bytes = {0};
        struct err e = {0};
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
        ck_assert_msg(file_read(path, 1 << 20, &bytes, &e), "%s", e.text);
        run((const uint8_t *)bytes.data, bytes.size);
        buf_free(&bytes);
        files++;
    }
    closedir(d);
    return files;
}

START_TEST(the_fuzz_corpus_passes) {
    char folder[256];
    snprintf(folder, sizeof folder, "grader/tests/fuzz/corpus/%s", targets[_i].name);
    ck_assert_uint_gt(run_corpus(folder, targets[_i].run), 2);
}
END_TEST

UNIT_SUITE(fuzz) {
    Suite *s = suite_create("fuzz");
    TCase *t = tcase_create("corpus");
    tcase_add_loop_test(t, the_fuzz_corpus_passes, 0, sizeof targets / sizeof *targets);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    return s;
}

/* main.c — runs every unit suite, or the one that CK_RUN_SUITE names, and prints what was
 * skipped; Check prints the last line. CK_EXCLUDE_TAGS=long leaves out the cases tagged `long`. */
#include "grader/tests/unit/unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const struct unit_suite *const __start_unit_suites[], *const __stop_unit_suites[];

/* Tests run in processes of their own: what they skip is kept where all of them can write. */
enum { MAX_SKIPS = 256 };
static struct skips {
    unsigned n;
    char text[MAX_SKIPS][200];
} * skips;

void unit_skip(const char *test, const char *format, ...) {
    unsigned i = __atomic_fetch_add(&skips->n, 1, __ATOMIC_RELAXED);
    if (i >= MAX_SKIPS) return;
    va_list ap;
    va_start(ap, format);
    int n = snprintf(skips->text[i], sizeof *skips->text, "%s: ", test);
    vsnprintf(skips->text[i] + n, sizeof *skips->text - (size_t)n, format, ap);
    va_end(ap);
}

static void list_skips(void) {
    for (unsigned i = 0; i < skips->n && i < MAX_SKIPS; i++)
        printf("skipped: %s\n", skips->text[i]);
    if (skips->n) printf("%u skipped\n", skips->n);
}

static bool is_suite(const char *name) {
    for (const struct unit_suite *const *s = __start_unit_suites; s < __stop_unit_suites; s++)
        if (!strcmp((*s)->name, name)) return true;
    return false;
}

static int unknown_suite(const char *name) {
    fprintf(stderr, "unit: there is no suite '%s'; there are:", name);
    for (const struct unit_suite *const *s = __start_unit_suites; s < __stop_unit_suites; s++)
        fprintf(stderr, " %s", (*s)->name);
    fputc('\n', stderr);
    return 2;
}

int main(void) {
    const char *only = getenv("CK_RUN_SUITE");
    if (only && !is_suite(only)) return unknown_suite(only);
    skips = mmap(NULL, sizeof *skips, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skips == MAP_FAILED) return perror("unit"), EXIT_FAILURE;
    SRunner *runner = srunner_create(NULL);
    for (const struct unit_suite *const *s = __start_unit_suites; s < __stop_unit_suites; s++)
        srunner_add_suite(runner, (*s)->create());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    list_skips();
    bool none = !ran && !getenv("CK_EXCLUDE_TAGS");
    if (none) fprintf(stderr, "unit: no test of that name\n");
    return failed || none ? EXIT_FAILURE : EXIT_SUCCESS;
}

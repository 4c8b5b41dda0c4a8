/* test_runtime_calls.c — tests that our library has every function that the toolkit's
 * cuda_runtime_api.h declares, implemented or reported as unsupported: a program that calls one
 * links, and gets an error at run time. */
#include "grader/tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NAMES = 2000 };
struct names {
    char *name[MAX_NAMES];
    int n;
};

static void read_names(const char *command, struct names *out) {
    char line[256];
    FILE *f = popen(command, "r");
    ck_assert(f != NULL);
    while (fgets(line, sizeof line, f) && out->n < MAX_NAMES) {
        line[strcspn(line, "\n")] = 0;
        out->name[out->n++] = strdup(line);
    }
    ck_assert_msg(pclose(f) == 0, "%s", command);
}

static bool has(const struct names *all, const char *name) {
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->name[i], name)) return true;
    return false;
}

static void clear_names(struct names *all) {
    for (int i = 0; i < all->n; i++) free(all->name[i]);
    free(all);
}

/* Returns the build folder, derived from the test program's path. */
static void find_build(char *b, size_t size) {
    ssize_t n = readlink("/proc/self/exe", b, size - 1);
    ck_assert_int_gt(n, 0);
    b[n] = 0;
    for (int i = 0; i < 2; i++) *strrchr(b, '/') = 0;
}

static void check_header(const char *header, const char *pattern, const char *library,
                         const char *list) {
    struct names *declared = calloc(1, sizeof *declared), *defined = calloc(1, sizeof *defined);
    char b[4096], command[9000];
    find_build(b, sizeof b);
    snprintf(command, sizeof command,
             "echo '#include <%s>' | gcc -E -P -isystem %s/cuda/include -x c - | tr '\n' ' ' | "
             "grep -o '%s' | grep -o 'cu[A-Za-z_0-9]* *(' | tr -d ' (' | sort -u",
             header, b, pattern);
    read_names(command, declared);
    snprintf(command, sizeof command,
             "nm --defined-only %s/lib/%s 2>/dev/null | awk '$2 == \"T\" { print $3 }'", b,
             library);
    read_names(command, defined);
    ck_assert_int_gt(declared->n, 20);
    for (int i = 0; i < declared->n; i++)
        ck_assert_msg(has(defined, declared->name[i]), "%s is neither done nor in %s",
                      declared->name[i], list);
    clear_names(declared);
    clear_names(defined);
}

START_TEST(every_runtime_function_is_exported_or_listed_as_unsupported) {
    check_header("cuda_runtime_api.h", "extern[^;]*;", "libwbcudart.a", "unsupported.def");
}
END_TEST

START_TEST(every_driver_function_is_exported_or_listed_as_unsupported) {
    char b[4096], command[5000];
    find_build(b, sizeof b);
    snprintf(command, sizeof command, "grep -q 'define CUDA_VERSION 13000' %s/cuda/include/cuda.h",
             b);
    if (system(command)) return; /* the list is of that toolkit */
    check_header("cuda.h", "CUresult *cu[A-Z][A-Za-z_0-9]* *(", "libwbcudart.a",
                 "driver_unsupported.def");
}
END_TEST

START_TEST(every_cublas_function_is_exported_or_listed_as_unsupported) {
    char b[4096], command[5000];
    find_build(b, sizeof b);
    snprintf(command, sizeof command,
             "grep -q 'define CUBLAS_VER_MAJOR 13$' %s/cuda/include/cublas_api.h", b);
    if (system(command)) return; /* the list is of that toolkit */
    check_header("cublas_v2.h", "[;}] *cublasStatus_t *cublas[A-Z][A-Za-z_0-9]* *(",
                 "libwbcublas.a", "grader/cublas/unsupported.def");
}
END_TEST

START_TEST(every_cusparse_function_is_exported_or_listed_as_unsupported) {
    char b[4096], command[5000];
    find_build(b, sizeof b);
    snprintf(command, sizeof command,
             "cd %s/cuda/include && grep -q 'define CUSPARSE_VER_MAJOR 12$' cusparse.h && "
             "grep -q 'define CUSPARSE_VER_MINOR 6$' cusparse.h",
             b);
    if (system(command)) return; /* the list is of that toolkit */
    check_header("cusparse.h", "cusparseStatus_t *cusparse[A-Z][A-Za-z_0-9]* *(", "libwbcusparse.a",
                 "grader/cusparse/unsupported.def");
}
END_TEST

START_TEST(every_cufft_function_is_exported_or_listed_as_unsupported) {
    char b[4096], command[5000];
    find_build(b, sizeof b);
    snprintf(command, sizeof command,
             "grep -q 'define CUFFT_VERSION 12000$' %s/cuda/include/cufft.h", b);
    if (system(command)) return; /* the list is of that toolkit */
    check_header("cufftXt.h",
                 "cufftResult *\\(__attribute__[^;]*))) *\\)\\?cufft[A-Z][A-Za-z_0-9]* *(",
                 "libwbcufft.a", "grader/cufft/unsupported.def");
}
END_TEST

START_TEST(every_curand_function_is_exported_or_listed_as_unsupported) {
    check_header("curand.h", "curandStatus_t *curand[A-Z][A-Za-z_0-9]* *(", "libwbcurand.a",
                 "grader/curand/unsupported.def");
}
END_TEST

/* The driver's files define which functions a program can request by name; entry_points.def
 * lists the omitted ones. */
START_TEST(entry_points_match_the_driver_functions) {
    static struct names defined, listed;
    read_names(
        "grep -oh '^CUresult cu[A-Za-z0-9]*' grader/runtime/driver*.c grader/runtime/tensor_map.c "
        "grader/runtime/entry_point.c | cut -d' ' -f2 | grep -v '^cuCtxCreate$' | sort -u",
        &defined);
    read_names("sed -n 's/^ENTRY(\\([A-Za-z0-9]*\\))$/\\1/p' grader/runtime/entry_points.def",
               &listed);
    ck_assert_int_gt(defined.n, 60);
    ck_assert_int_eq(defined.n, listed.n);
    for (int i = 0; i < defined.n; i++)
        ck_assert_msg(has(&listed, defined.name[i]), "%s is not in entry_points.def",
                      defined.name[i]);
}
END_TEST

UNIT_SUITE(runtime_calls) {
    Suite *suite = suite_create("runtime_calls");
    TCase *tc = tcase_create("header");
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, every_runtime_function_is_exported_or_listed_as_unsupported);
    tcase_add_test(tc, every_driver_function_is_exported_or_listed_as_unsupported);
    tcase_add_test(tc, every_cublas_function_is_exported_or_listed_as_unsupported);
    tcase_add_test(tc, every_cusparse_function_is_exported_or_listed_as_unsupported);
    tcase_add_test(tc, every_cufft_function_is_exported_or_listed_as_unsupported);
    tcase_add_test(tc, every_curand_function_is_exported_or_listed_as_unsupported);
    tcase_add_test(tc, entry_points_match_the_driver_functions);
    suite_add_tcase(suite, tc);
    return suite;
}

/* test_vendor.c — tests how the time of the vendor's routine is measured, with a fake driver and
 * a fake cuBLAS (fakecublas.c), which checks its arguments and takes a time known in advance;
 * and which compiled device code is found without a compiler. */
#include "common/file.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/ptxas.h"
#include "grader/book/book.h"
#include "grader/jail/jail.h"
#include "grader/server/backend_gpu.h"
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/fake_cuda.h"
#include "grader/tests/unit/unit.h"
#include "grader/cli/vendor.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double routine_time(const char *name, const struct ex_case timed, const char **routine,
                           struct err *e) {
    const struct ex_arg args[] = {{.role = strcmp(name, "sgemm") ? EX_OUT : EX_INOUT}};
    struct exercise ex = {.name = name, .timed_case = timed, .args = args, .nargs = 1};
    struct backend *b = backend_gpu_open(&(struct gpu_options){.pool_bytes = 64 << 20}, e);
    ck_assert_msg(b != NULL, "%s", e->text);
    double seconds = vendor_time(b, &ex, routine, e);
    b->ops->close(b);
    return seconds;
}

static void no_violations(void) {
    const char *(*violations)(void);
    void *library = dlopen(getenv("WARPBOOK_LIBCUDA"), RTLD_NOW);
    *(void **)&violations = dlsym(library, "fakecuda_violations");
    ck_assert_str_eq(violations(), "");
    dlclose(library);
}

/* All dimensions differ, so that a wrong leading dimension is refused. 2 m n k FLOP at 10^12 a
 * second, and m k more if the product is added to C. Of 21 calls four are twice as fast, which a
 * median does not show. */
START_TEST(cublas_routines_are_timed_by_their_median) {
    const char *routine;
    struct err e = {0};
    fake_cuda_use("WARPBOOK_LIBCUBLAS");
    double seconds =
        routine_time("matmul_tiled", (struct ex_case){.dim = {512, 128, 384}}, &routine, &e);
    ck_assert_str_eq(routine, "cublasSgemm");
    ck_assert_msg(fabs(seconds - 2.0 * 512 * 128 * 384 * 1e-12) < 1e-8, "%g: %s", seconds, e.text);
    seconds = routine_time("transpose", (struct ex_case){.dim = {640, 256}}, &routine, &e);
    ck_assert_str_eq(routine, "cublasSgeam");
    ck_assert_msg(fabs(seconds - 8.0 * 640 * 256 / 16e9) < 1e-8, "%g: %s", seconds, e.text);
    seconds = routine_time("sgemm", (struct ex_case){.dim = {512, 128, 384}}, &routine, &e);
    ck_assert_msg(fabs(seconds - (2.0 * 512 * 128 * 384 + 512 * 384) * 1e-12) < 1e-8, "%g: %s",
                  seconds, e.text);
    no_violations();
}
END_TEST

START_TEST(a_missing_routine_or_library_is_reported) {
    const char *routine;
    struct err e = {0};
    fake_cuda_use("WARPBOOK_LIBCUBLAS");
    ck_assert(routine_time("histogram", (struct ex_case){.dim = {100}}, &routine, &e) == 0 &&
              e.kind == ERR_INPUT);
    setenv("WARPBOOK_LIBCUBLAS", "/nowhere/libcublas.so", 1);
    e = (struct err){0};
    ck_assert(routine_time("transpose", (struct ex_case){.dim = {64, 32}}, &routine, &e) == 0 &&
              e.kind == ERR_SYSTEM);
    ck_assert_str_eq(e.text, "cuBLAS is not installed on this machine");
}
END_TEST

/* With a compiler, the code is compiled once; a machine without one then finds that code, and no
 * other. */
START_TEST(prebuilt_code_is_found_without_a_compiler) {
    struct err e = {0};
    struct build b, again;
    static const char source[] = "__global__ void carried() {}\n",
                      other[] = "__global__ void unknown() {}\n";
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    ck_assert_msg(
        build_run_portable(&(struct build_source){"carried.cu", source, sizeof source - 1, false},
                           &b, &e) &&
            b.ok,
        "%s", e.text);
    build_ignore_compiler(true);
    bool found = build_run(&(struct build_source){"carried.cu", source, sizeof source - 1, false},
                           &again, &e);
    ck_assert_msg(found && again.ok && again.object.size == b.object.size, "%s", e.text);
    build_free(&again);
    ck_assert(!build_run(&(struct build_source){"other.cu", other, sizeof other - 1, false}, &again,
                         &e) &&
              strstr(e.text, "gpu-carry"));
    build_ignore_compiler(false);
    build_free(&b);
}
END_TEST

/* Code for compute capability 9.0 must have register counts on every GPU: for older ones ptxas
 * compiles for an older target, and for those that the toolkit no longer supports, for its
 * oldest one. */
START_TEST(register_counts_exist_for_every_device) {
    struct err e = {0};
    struct build b;
    static const char source[] =
        "extern \"C\" __global__ void twelve(float *p) {\n"
        "    float v[12];\n"
        "    for (int i = 0; i < 12; i++) v[i] = p[i * 32 + threadIdx.x];\n"
        "    __syncthreads();\n"
        "    for (int i = 0; i < 12; i++) p[i * 32 + threadIdx.x] = v[11 - i];\n"
        "}\n";
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    ck_assert_msg(
        build_run(&(struct build_source){"twelve.cu", source, sizeof source - 1, false}, &b, &e) &&
            b.ok,
        "%s", e.text);
    static const unsigned archs[] = {61, 75, 80, 86, 89, 90};
    for (unsigned i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct ptxas p;
        ptxas_finish(ptxas_start(&b, archs[i]), &p);
        ck_assert_msg(p.nkernels == 1 && !strcmp(p.kernels[0].name, "twelve"), "sm_%u: %u kernels",
                      archs[i], p.nkernels);
        ck_assert_uint_ge(p.kernels[0].registers, 14); /* twelve values and an address */
        ptxas_free(&p);
    }
    build_free(&b);
}
END_TEST

/* Only sm_90a has wgmma. Code that uses it is refused for every other GPU, with a message that
 * names the instruction. */
#define PRODUCT                                                                                   \
    "__global__ void product(float *p, unsigned long long d) {\n"                                 \
    "    float s[4] = {};\n"                                                                      \
    "    asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, " \
    "%5, 1, 1, 1, 0, "                                                                            \
    "0;\"\n"                                                                                      \
    "                 : \"+f\"(s[0]), \"+f\"(s[1]), \"+f\"(s[2]), \"+f\"(s[3]) : \"l\"(d), "      \
    "\"l\"(d));\n"                                                                                \
    "    p[threadIdx.x] = s[0];\n"                                                                \
    "}\n"

static void check_refused(const struct build *b, unsigned arch, bool refused) {
    struct ptxas p;
    ptxas_finish(ptxas_start(b, arch), &p);
    ck_assert_msg(p.refused == refused && !p.failed, "sm_%u: %s", arch, buf_str(&p.text));
    ck_assert_msg(!refused || strstr(buf_str(&p.text), "wgmma"), "sm_%u: %s", arch,
                  buf_str(&p.text));
    ptxas_free(&p);
}

static void check_target(const struct build_source *s, const char *target, struct build *b) {
    struct err e = {0};
    ck_assert_msg(build_run(s, b, &e) && b->ok, "%s %s", e.text, buf_str(&b->messages));
    ck_assert_msg(strstr(buf_str(&b->ptx), target), "no %s", target);
}

START_TEST(sm_90a_code_is_rejected_for_other_targets) {
    struct err e = {0};
    struct build b;
    struct build_source s = {"product.cu", PRODUCT, sizeof PRODUCT - 1, true};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    check_target(&s, ".target sm_90a\n", &b);
    check_refused(&b, 90, false), check_refused(&b, 80, true), check_refused(&b, 75, true);
    build_free(&b);
    build_add_target(90); /* an H100 is present: machine code, too */
    check_target(&s, ".target sm_90a\n", &b);
    ck_assert_ptr_nonnull(memmem(b.object.data, b.object.size, "sm_90a", 6));
    build_free(&b);
    s.sm_90a = false;
    ck_assert(build_run(&s, &b, &e) && !b.ok);
    ck_assert_msg(strstr(buf_str(&b.messages), "wgmma"), "%s", buf_str(&b.messages));
    build_free(&b);
    build_add_target(0);
}
END_TEST

/* The next run of the same grader on the same GPU uses the times that a report has measured; no
 * other run does. */
START_TEST(a_report_resumes_from_its_parts) {
    char folder[] = "/tmp/warpbook-report-XXXXXX", path[64];
    struct err e = {0};
    ck_assert_msg(book_open(&e) && mkdtemp(folder), "%s", e.text);
    snprintf(path, sizeof path, "%s/parts", folder);
    ck_assert_msg(dir_create(path, &e), "%s", e.text);
    struct gpu_report r = {.folder = folder, .key = "this grader"},
                      other = {.folder = folder, .key = "another"};
    const struct exercise *ex = book_at(0);
    json_t *part = gpu_part_read(&r, ex);
    ck_assert_uint_eq(json_object_size(json_object_get(part, "times")), 0);
    json_object_set_new(json_object_get(part, "times"), "1-global",
                        json_pack("{s:f}", "measured_us", 12.5));
    gpu_part_add_failure(part, "time of the rest", "no time");
    ck_assert_msg(gpu_part_write(&r, ex, part, &e), "%s", e.text);
    json_decref(part);
    part = gpu_part_read(&r, ex);
    json_t *row = json_object_get(json_object_get(part, "times"), "1-global");
    ck_assert(json_real_value(json_object_get(row, "measured_us")) == 12.5);
    ck_assert_str_eq(
        json_string_value(json_object_get(json_object_get(part, "not_done"), "time of the rest")),
        "no time");
    json_decref(part);
    part = gpu_part_read(&other, ex);
    ck_assert_uint_eq(json_object_size(json_object_get(part, "times")), 0);
    json_decref(part);
}
END_TEST

/* The tables use the glossary's terms, whatever the keys of report.json are. */
START_TEST(versions_of_a_report_have_titles) {
    ck_assert_str_eq(gpu_version_title(""), "model solution");
    ck_assert_str_eq(gpu_version_title("skeleton"), "starter file");
    ck_assert_str_eq(gpu_version_title("2-tile"), "2-tile");
}
END_TEST

/* transpose has only cuBLAS to compare its model solution with, and there is no GPU; window_sum
 * has nothing. */
START_TEST(the_solution_is_compared_with_the_libraries) {
    const char *at = build_folder();
    ck_assert_int_eq(
        shell("%s/grader vendor transpose --seed 1 --output /tmp/warpbook_vendor.txt", at), 0);
    ck_assert_int_eq(
        shell("grep -qE '^  model solution +AC +[0-9.]+ +1.00 +1 ' /tmp/warpbook_vendor.txt"), 0);
    ck_assert_int_eq(shell("grep -qE '^  cublasSgeam +[0-9]{2}[.][0-9]+ +[01][.][0-9]{2}$' "
                           "/tmp/warpbook_vendor.txt"),
                     0);
    ck_assert_int_eq(
        shell(
            "grep -q 'only machine code' /tmp/warpbook_vendor.txt && rm /tmp/warpbook_vendor.txt"),
        0);
    ck_assert_int_eq(shell("%s/grader vendor window_sum | grep -q 'no library version'", at), 0);
    ck_assert_int_eq(
        shell("%s/grader vendor transpose --file README.md 2>&1 | grep -q 'grader run'", at), 0);
}
END_TEST

UNIT_SUITE(vendor) {
    Suite *s = suite_create("vendor");
    TCase *c = tcase_create("libraries");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, cublas_routines_are_timed_by_their_median);
    tcase_add_test(c, a_missing_routine_or_library_is_reported);
    tcase_add_test(c, prebuilt_code_is_found_without_a_compiler);
    tcase_add_test(c, register_counts_exist_for_every_device);
    tcase_add_test(c, sm_90a_code_is_rejected_for_other_targets);
    tcase_add_test(c, a_report_resumes_from_its_parts);
    tcase_add_test(c, versions_of_a_report_have_titles);
    tcase_add_test(c, the_solution_is_compared_with_the_libraries);
    suite_add_tcase(s, c);
    return s;
}

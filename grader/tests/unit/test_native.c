/* test_native.c — tests native code (sim/native) by build/simgpu: that it changes no result, that
 * gcc runs in a sandbox, and what is left when it ends early or can't run. `make check-native`
 * compares native code with the interpreter on the whole corpus. */
#include "grader/tests/unit/kept_program.h"
#include "grader/tests/unit/shell.h"
#include "common/file.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char build[4096], work[4200];
static const char *const programs[] = {"native_loops", "native_tiles"};
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs };

/* Makes WORK/NAME from the text of a .cu file. */
static void build_source(const char *name, const char *source) {
    char path[sizeof work + 32], file[32];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s.cu", work, name);
    ck_assert_msg(file_write(path, source, strlen(source), &e), "%s", e.text);
    snprintf(file, sizeof file, "%s.cu", name);
    ck_assert_int_eq(build_kept_program(work, file, file, name), 0);
}

/* A number that no earlier run had. */
static unsigned fresh_number(void) { return (unsigned)time(NULL) * 4099 + (unsigned)getpid(); }

/* Makes WORK/fresh: two kernels that no earlier run has compiled. */
static void make_fresh_program(void) {
    char source[700];
    snprintf(source, sizeof source,
             "#include <cstdio>\n"
             "__global__ void fill(int *p, int n) {\n"
             "    for (int i = threadIdx.x; i < n; i += 32) p[i] = i * %uu + p[i];\n"
             "}\n"
             "__global__ void sum(int *p, int n) {\n"
             "    int s = 0;\n"
             "    for (int i = threadIdx.x; i < n; i += 32) s += p[i] ^ %uu;\n"
             "    atomicAdd(p, s);\n"
             "}\n"
             "int main() { int *p, r; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096);\n"
             "    fill<<<1, 32>>>(p, 1024); sum<<<1, 32>>>(p, 1024);\n"
             "    cudaMemcpy(&r, p, 4, cudaMemcpyDefault); printf(\"%%d\\n\", r); }\n",
             fresh_number(), fresh_number());
    build_source("fresh", source);
}

static void make_programs(void) {
    snprintf(build, sizeof build, "%s", build_folder());
    snprintf(work, sizeof work, "%s/tests/native", build);
    ck_assert_int_eq(shell("mkdir -p %s", work), 0);
    make_fresh_program();
    for (unsigned i = 0; i < PROGRAM_COUNT; i++) {
        char source[128], output[sizeof work + 128];
        snprintf(source, sizeof source, "grader/tests/programs/%s.cu", programs[i]);
        snprintf(output, sizeof output, "%s/%s", work, programs[i]);
        ck_assert_int_eq(build_kept_program(".", source, source, output), 0);
    }
}

/* Also with the time model, whose launches trace some of the blocks. */
START_TEST(native_code_gives_the_same_counters) {
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(shell("%s/simgpu run %s --time --counters json --counters-file "
                               "%s/native%d %s/%s >/dev/null 2>%s/err",
                               build, i ? "--native" : "--no-native", work, i, work, programs[_i],
                               work),
                         0);
    ck_assert_int_eq(shell("cmp %s/native0 %s/native1", work, work), 0);
    ck_assert_int_eq(shell("! grep -q 'no native code' %s/err", work), 0);
}
END_TEST

/* A store of the value that is already there is no race, so the race detector needs the values that
 * native code stores. */
START_TEST(native_code_gives_the_same_findings) {
    static const char source[] = "grader/tests/torture/race_rows.cu";
    char output[sizeof work + 16];
    snprintf(output, sizeof output, "%s/race_rows", work);
    ck_assert_int_eq(build_kept_program(".", source, source, output), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(shell("%s/simgpu run %s %s/race_rows >%s/races%d 2>&1; test $? -lt 126",
                               build, i ? "--native" : "--no-native", work, work, i),
                         0);
    ck_assert_int_eq(shell("cmp %s/races0 %s/races1", work, work), 0);
    ck_assert_int_eq(shell("grep -q 'kernel `most`.*written by several' %s/races1", work), 0);
}
END_TEST

/* Once, though the program has two kernels; without --native, never. */
START_TEST(without_a_sandbox_the_interpreter_runs) {
    static const char *const options[] = {"--native", "", "--no-native"};
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(shell("env WARPBOOK_JAIL_TIER=none %s/simgpu run %s %s/fresh "
                               "2>%s/err >%s/out%u",
                               build, options[i], work, work, work, i),
                         0);
        ck_assert_int_eq(
            shell("test $(grep -c 'no native code: no sandbox works' %s/err) = %d", work, i == 0),
            0);
        ck_assert_int_eq(shell("cmp %s/out0 %s/out%u", work, work, i), 0);
    }
}
END_TEST

/* The generated code is kept in TMPDIR whenever gcc is about to run. */
START_TEST(only_long_kernels_are_compiled) {
    static const char *const options[] = {"", "--native"};
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(shell("rm -rf %s/kept_code && mkdir %s/kept_code && SIMGPU_KEEP_NATIVE=1 "
                               "TMPDIR=%s/kept_code %s/simgpu run %s %s/fresh >/dev/null && "
                               "test $(ls %s/kept_code | wc -l) = %u",
                               work, work, work, build, options[i], work, work, 2 * i),
                         0);
}
END_TEST

/* Selections by a comparison leave control flow in a loop over the lanes if gcc moves what only one
 * of two ways needs; divisions did so among other operations. */
START_TEST(loops_over_lanes_are_vector_code) {
    static const char source[] =
        "__device__ float size(float x, float y) { x = fabsf(x), y = fabsf(y);\n"
        "    float v = x > y ? x : y, w = x > y ? y : x, t = w / v; t = v * sqrtf(1.f + t * t);\n"
        "    return v == 0.f || v > 3e38f || w > 3e38f ? v + w : t; }\n"
        "__global__ void sizes(float *p) { unsigned i = threadIdx.x;\n"
        "    float x = p[i], y = p[i + 32], z = p[i + 64], s = fabsf(size(x, y) - size(y, z));\n"
        "    p[i] = (s < 1e-3f) + (fabsf(size(z, x) * size(x * y, z) - s) < 1e-3f) +\n"
        "           fabsf(size(x / z, y) - size(x + z, y - z) * size(s, z)); }\n"
        "__global__ void shares(int *p, int m, int k) { int i = threadIdx.x, n = p[i], q = n / m;\n"
        "    int r = (int)((long long)n * k >> 32) + n * m, t = k > -1 ? (r >> k) + (r >> 31) : "
        "r;\n"
        "    if (q == t) return; p[i] = q * t; }\n"
        "int main() { float *p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096);\n"
        "    sizes<<<1, 32>>>(p); shares<<<1, 32>>>((int *)p, 7, 3);\n"
        "    return cudaDeviceSynchronize(); }\n// %u\n";
    char text[sizeof source + 32];
    snprintf(text, sizeof text, source, fresh_number());
    build_source("sizes", text);
    ck_assert_int_eq(
        shell("cd %s && rm -rf kept_code && mkdir kept_code && rm -rf %s/cache/native && "
              "SIMGPU_KEEP_NATIVE=1 TMPDIR=$PWD/kept_code %s/simgpu run --native ./sizes && "
              "for k in kept_code/*; do cd $k && gcc $(cat options) -fopt-info-vec-missed "
              "kernel.c -o o.so 2>log; test -e o.so || echo failed; "
              "grep \"couldn't vectorize loop\" log | cut -d: -f2 | "
              "while read n; do sed -n ${n}p kernel.c | grep ivdep; done; cd ../..; done | "
              "wc -l | grep -qx 0",
              work, build, build),
        0);
}
END_TEST

/* Where no sandbox works, native code can only be that of the run before. */
START_TEST(native_objects_are_kept) {
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(shell("%s %s/simgpu run --native %s/fresh 2>%s/err >/dev/null",
                               i ? "WARPBOOK_JAIL_TIER=none" : "", build, work, work),
                         0);
        ck_assert_int_eq(shell("grep -q 'no native code' %s/err", work), 1);
    }
}
END_TEST

/* The assembler includes a file; it finds that of the system, and not that of this user. */
START_TEST(gcc_runs_in_a_sandbox) {
    static const char command[] =
        "printf 'asm(\".incbin \\\"%s\\\"\");' >%s/incbin.c && sleep 20 | %s/simgpu compile-native "
        "/usr/bin/gcc -shared -fPIC -x c 3<&0 <%s/incbin.c >%s/incbin.so; s=$?; test $s = %d";
    char mine[sizeof work + 8];
    snprintf(mine, sizeof mine, "%s/secret", work);
    ck_assert_int_eq(shell("echo secret >%s", mine), 0);
    ck_assert_int_eq(shell(command, "/usr/include/stdio.h", work, build, work, work, 0), 0);
    ck_assert_int_eq(shell(command, mine, work, build, work, work, 1), 0);
    ck_assert_int_eq(shell("grep -q 'gcc failed' %s/incbin.so", work), 0);
}
END_TEST

/* A killed run ends gcc, and leaves no process and no file. The kernel's 300 loads keep gcc busy
 * for some seconds. */
START_TEST(a_killed_run_leaves_nothing_of_its_compiler) {
    static const char *const tiers[] = {"", "WARPBOOK_JAIL_TIER=T2"};
    char source[1024];
    snprintf(source, sizeof source,
             "#define A s += p[i] * %du; i += s & 7;\n#define B A A A A A A A A A A\n"
             "__global__ void loads(unsigned *p) { unsigned s = 0, i = threadIdx.x;\n"
             "    for (int k = 0; k < 9; k++) { B B B B B B B B B B } p[i] = s; }\n"
             "int main() { unsigned *p; cudaMalloc(&p, 1 << 20); cudaMemset(p, 0, 1 << 20);\n"
             "    loads<<<1, 32>>>(p); return cudaDeviceSynchronize(); }\n",
             fresh_number());
    build_source("killed", source);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(
            shell("rm -rf %s/tmp && mkdir -p %s/tmp && cd %s && { %s TMPDIR=%s/tmp exec %s/simgpu "
                  "run --native ./killed 2>/dev/null & } && p=$! && h= && n=0 && "
                  "while [ -z \"$h\" ] && [ $n -lt 400 ]; do "
                  "h=$(pgrep -P $p -f compile-native) || sleep 0.05; n=$((n + 1)); done && "
                  "[ \"$h\" ] && sleep 0.7 && kill -0 $h && kill -9 $p && n=0 && "
                  "while kill -0 $h 2>/dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); "
                  "done; ! kill -0 $h 2>/dev/null && sleep 0.3 && [ -z \"$(ls %s/tmp)\" ]",
                  work, work, work, tiers[i], work, build, work),
            0);
}
END_TEST

/* The kernel runs twice, so the first launch's end may still be the interpreter's. */
START_TEST(native_code_takes_over_during_launches) {
    ck_assert_int_eq(shell("SIMGPU_NATIVE=background %s/simgpu run --counters json --counters-file "
                           "%s/took %s/native_loops >%s/took.out && "
                           "%s/simgpu run --no-native --counters json --counters-file %s/plain "
                           "%s/native_loops >%s/plain.out && cmp %s/took %s/plain && "
                           "cmp %s/took.out %s/plain.out",
                           build, work, work, work, build, work, work, work, work, work, work,
                           work),
                     0);
}
END_TEST

/* 5000 steps of at least two instructions each. The interpreter starts at once. */
START_TEST(native_code_of_a_long_kernel_is_not_made) {
    build_source("long", "#define A x = x * 3 ^ y; y = y + x;\n#define B A A A A A A A A A A\n"
                         "#define C B B B B B B B B B B\n#define D C C C C C C C C C C\n"
                         "__global__ void steps(unsigned *p) { unsigned x = p[0], y = p[1];\n"
                         "    D D D D D p[0] = x; }\n"
                         "int main() { unsigned *p; cudaMalloc(&p, 8); cudaMemset(p, 1, 8);\n"
                         "    steps<<<1, 1>>>(p); return cudaDeviceSynchronize(); }\n");
    ck_assert_int_eq(shell("timeout 20 %s/simgpu run --native %s/long 2>%s/err", build, work, work),
                     0);
    ck_assert_int_eq(
        shell("grep -q 'no native code: kernel .* operations.*interpreter' %s/err", work), 0);
}
END_TEST

UNIT_SUITE(native) {
    Suite *suite = suite_create("native");
    TCase *tc = tcase_create("programs");
    tcase_add_unchecked_fixture(tc, make_programs, NULL);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, native_code_gives_the_same_counters, 0, PROGRAM_COUNT);
    tcase_add_test(tc, native_code_gives_the_same_findings);
    tcase_add_test(tc, without_a_sandbox_the_interpreter_runs);
    tcase_add_test(tc, only_long_kernels_are_compiled);
    tcase_add_test(tc, loops_over_lanes_are_vector_code);
    tcase_add_test(tc, native_objects_are_kept);
    tcase_add_test(tc, gcc_runs_in_a_sandbox);
    tcase_add_test(tc, a_killed_run_leaves_nothing_of_its_compiler);
    tcase_add_test(tc, native_code_takes_over_during_launches);
    tcase_add_test(tc, native_code_of_a_long_kernel_is_not_made);
    suite_add_tcase(suite, tc);
    return suite;
}

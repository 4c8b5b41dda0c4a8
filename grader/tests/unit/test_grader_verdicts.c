/* test_grader_verdicts.c — provokes every verdict with a submission for an exercise defined
 * here; nvcc, sandbox, host process, record and replay are real. The table has each submission,
 * its verdict and what the student reads. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/session.h"
#include "grader/jail/jail.h"
#include "grader/class/grade_many.h"
#include "grader/tests/plus_one.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the exercise: out[i] = in[i] + 1 ---- */

static const struct ex_arg args[] = PLUS_ONE_ARGS();
START_TEST(coalesced) {
    ex_require_at_most("global_load_sectors_per_request", 4, "a warp reads 128 bytes");
}
END_TEST
static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, right, 0, 3);
    tcase_add_test(goals, coalesced);
    (void)guards;
}
static const struct exercise plus_one = {
    .name = "plus_one",
    .chapter = "99-test",
    .title = "adds one",
    .args = args,
    .nargs = 3,
    .cases = cases,
    .ncases = 3,
    .technique_case = {.dim = {1024}},
    .timed_case = {.dim = {1 << 16}},
    .reference = reference,
    .points = {.correctness = 40, .technique = 30, .speed = 30},
    .tests = tests};

/* ---- submissions ---- */

#define KERNEL(body)                                                                         \
    "__global__ void k(int *out, const int *in, int n) { int i = blockIdx.x * blockDim.x + " \
    "threadIdx.x; " body " }\n"
#define ENTRY(body) "extern \"C\" void plus_one(int *out, const int *in, int n) { " body " }\n"
#define LAUNCH      "if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);"
#define GOOD        KERNEL("if (i < n) out[i] = in[i] + 1;")

static const struct submission {
    const char *source;
    enum verdict verdict;
    const char *expected_text;
} submissions[] = {
    {GOOD ENTRY(LAUNCH), V_AC, ""},
    {KERNEL("if (i < n) { int j = (i % 32) * (n / 32) + i / 32; if (n % 32) j = i; out[j] = in[j] "
            "+ 1; }") ENTRY(LAUNCH),
     V_PART, ""},
    {KERNEL("if (i < n) out[i] = in[i] + (i != 32);") ENTRY(LAUNCH), V_WA,
     "1 of 33 elements of `out` are wrong"},
    /* As many blocks as the device holds wait for each other: what they spend at that is no endless
       loop. */
    {"#include <cooperative_groups.h>\n" KERNEL(
         "auto g = cooperative_groups::this_grid(); g.sync(); if (i < n) out[i] = "
         "in[i] + 1; g.sync();")
         ENTRY("void *a[] = {&out, &in, &n}; cudaLaunchCooperativeKernel((void *)k, 528, 512, a, "
               "0, 0);"),
     V_AC, ""},
    {ENTRY(""), V_WA, "launched no kernel"},
    {"\n" ENTRY("// TODO: the launch\n"), V_WA, "plus_one.cu:2 still says // TODO: the launch"},
    {KERNEL("if (i < n) out[i] = in[i] + 1") ENTRY(LAUNCH), V_CE, "expected a \";\""},
    {GOOD "void plus_one(int *out, const int *in, int n) { " LAUNCH "}", V_CE, "extern \"C\""},
    {"extern \"C\" void helper(); " ENTRY("helper();"), V_CE, "helper"},
    {KERNEL("if (i <= n) out[i] = in[i] + 1;") ENTRY(LAUNCH), V_RTE,
     "0 bytes past the end of `in`"},
    {KERNEL("if (i < n) out[i] += in[i] + 1;") ENTRY(LAUNCH), V_RTE, "uninitialized read"},
    {KERNEL("__shared__ int s[8][32]; int t = threadIdx.x; s[t / 32][t % 32] = i < n ? in[i] : 0; "
            "if (i < n) out[i] = "
            "s[(t / 32 + 1) % 8][t % 32];") ENTRY(LAUNCH),
     V_RTE,
     "writes `s[1][0]` in shared memory, which thread (0,0,0) read in line 1, with no barrier "
     "between"},
    {GOOD ENTRY("if (n) k<<<1, 2048>>>(out, in, n);"), V_RTE,
     "plus_one.cu:2: the launch failed: cudaErrorInvalidConfiguration (invalid configuration "
     "argument): kernel `k`: a block of (2048,1,1) = 2048 threads"},
    {GOOD ENTRY("if (n) k<<<(n + 255) / 256, 256>>>(nullptr, in, n);"), V_RTE, "null pointer"},
    {GOOD ENTRY(
         "void *p; if (!n) return; for (int i = 0; i < 256; i++) cudaMalloc(&p, 1 << 30); k<<<1, "
         "n>>>((int *)p, in, n);"),
     V_MLE, "cudaMalloc failed: cudaErrorMemoryAllocation"},
    {"#include <vector>\n" GOOD ENTRY("std::vector<char> v(n ? 1l << 40 : 1); " LAUNCH), V_MLE,
     "512 MiB"},
    {GOOD ENTRY("static int host[4096]; if (n) k<<<(n + 255) / 256, 256>>>(host, in, n);"), V_RTE,
     "host pointer"},
    {"\n" ENTRY("for (int i = 0; i < n; i++) out[i] = in[i] + 1;"), V_RTE,
     "plus_one.cu:2: the host code crashed: Segmentation fault"},
    {GOOD
     "int depth(int n) { volatile int room[1000] = {n}; return depth(n + 1) + room[9]; }\n" ENTRY(
         "if (n) k<<<1, depth(n)>>>(out, in, n);"),
     V_RTE, "plus_one.cu:2: the host code crashed: Segmentation fault"},
    {GOOD ENTRY("k<<<1024 / n, 1024>>>(out, in, n);"), V_RTE,
     "plus_one.cu:2: the host code crashed: Floating point exception: an integer was divided by 0"},
    /* As Thrust does, which throws. */
    {"#include <cstdlib>\n" GOOD ENTRY(
         "int first; if (n && cudaMemcpy(&first, in, 4, cudaMemcpyDeviceToHost)) abort();"),
     V_RTE, "plus_one.cu:3: cudaMemcpy failed: cudaErrorNotPermitted"},
    {"#include <vector>\n" ENTRY("std::vector<int> v(n + 1); cudaMemcpy(v.data(), in, 4 * n, "
                                 "cudaMemcpyDeviceToHost); for (int i = 0; i < n; i++) v[i]++;"
                                 "cudaMemcpy(out, v.data(), 4 * n, cudaMemcpyHostToDevice);"),
     V_RTE, "plus_one.cu:2: cudaMemcpy failed: cudaErrorNotPermitted"},
    {"#include <unistd.h>\n" ENTRY("_exit(0);"), V_RTE, "exit status 0"},
    {"__device__ int calls;\n__global__ void next() { calls = 1; }\n" KERNEL(
         "if (i < n) out[i] = in[i] + 1 + calls;") ENTRY(LAUNCH " next<<<1, 1>>>();"),
     V_WA,
     "The first call was correct, the second one was not. It found device variables as the first "
     "call left them.\n"},
    {"__device__ int ticket;\n__global__ void reset() { ticket = 0; }\n" KERNEL(
         "__shared__ int mine; if (!threadIdx.x) mine = atomicAdd(&ticket, 1); __syncthreads(); "
         "if (i < n) out[i] = in[i] + 1 + mine - blockIdx.x;")
         ENTRY("reset<<<1, 1>>>(); if (n) k<<<(n + 15) / 16, 16>>>(out, in, n);"),
     V_WA,
     "The first call was correct, the second one was not. In it, blocks that see each other's "
     "writes ran in reverse order"},
    {KERNEL("__shared__ volatile int s[16256]; s[threadIdx.x] = i < n ? in[i] : 0; if (i < n) "
            "out[i] = s[threadIdx.x] "
            "+ 1;") ENTRY(LAUNCH),
     V_CE, "ptxas rejects"},
    {"__constant__ int one;\n" KERNEL("if (i < n) out[i] = in[i] + one;")
         ENTRY("cudaMemcpyToSymbol(one, in, 4); " LAUNCH),
     V_RTE,
     "plus_one.cu:3: cudaMemcpyToSymbol failed: cudaErrorInvalidValue (invalid argument): the kind "
     "is cudaMemcpyHostToDevice, but the destination is a variable on the device and the source "
     "is"},
    {"__global__ void k(int *out, cudaTextureObject_t t, int n) { int i = threadIdx.x; if (i < n) "
     "out[i] = "
     "tex1Dfetch<int>(t, i) + 1; }\n" ENTRY(
         "cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = (void "
         "*)in;"
         "r.res.linear.desc = cudaCreateChannelDesc<int>(); r.res.linear.sizeInBytes = 4 * n; "
         "cudaTextureDesc d = {};"
         "cudaTextureObject_t t = 0; cudaCreateTextureObject(&t, &r, &d, nullptr); if (n) k<<<1, "
         "64>>>(out, t, n);"),
     V_RTE, "plus_one.cu:2: cudaCreateTextureObject failed: cudaErrorNotSupported"},
    /* Such a store would not be counted. */
    {KERNEL("if (i < n) cudaGraphSetConditional((cudaGraphConditionalHandle)(out + i), in[i] + 1);")
         ENTRY(LAUNCH),
     V_RTE, "a handle that cudaGraphConditionalHandleCreate did not return"},
    {GOOD ENTRY(
         "cudaGraph_t g; cudaGraphConditionalHandle h; if (!n) return; cudaGraphCreate(&g, 0); "
         "cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); " LAUNCH),
     V_AC, ""},
    /* Two kernels in two streams: nothing orders them, or an event does. */
    {"__global__ void copy(int *out, const int *in, int n) { int i = blockIdx.x * blockDim.x + "
     "threadIdx.x; if (i < n) "
     "out[i] = in[i]; }\n__global__ void add(int *out, int n) { int i = blockIdx.x * blockDim.x + "
     "threadIdx.x; if (i < "
     "n) "
     "out[i] += 1; }\n" ENTRY(
         "static cudaStream_t s[2]; for (int i = 0; !s[1] && i < 2; i++) cudaStreamCreate(&s[i]);"
         "if (!n) return; copy<<<(n + 255) / 256, 256, 0, s[0]>>>(out, in, n); "
         "add<<<(n + 255) / 256, 256, 0, s[1]>>>(out, n);"),
     V_RTE, "kernel `add` in stream 2 writes element 0 of `out`"},
    {"__global__ void copy(int *out, const int *in, int n) { int i = blockIdx.x * blockDim.x + "
     "threadIdx.x; if (i < n) "
     "out[i] = in[i]; }\n__global__ void add(int *out, int n) { int i = blockIdx.x * blockDim.x + "
     "threadIdx.x; if (i < "
     "n) "
     "out[i] += 1; }\n" ENTRY(
         "static cudaStream_t s[2]; static cudaEvent_t e; for (int i = 0; !s[1] && i < 2; i++) "
         "cudaStreamCreate(&s[i]); if (!e) cudaEventCreate(&e); if (!n) return; "
         "copy<<<(n + 255) / 256, 256, 0, s[0]>>>(out, in, n); cudaEventRecord(e, s[0]); "
         "cudaStreamWaitEvent(s[1], e); add<<<(n + 255) / 256, 256, 0, s[1]>>>(out, n);"),
     V_AC, ""},
    {KERNEL("while (n) ; out[i] = 0;") ENTRY("if (n) k<<<1, 32>>>(out, in, n);"), V_TLE,
     "runs an endless loop that reads no memory"},
    /* A million rounds of five instructions or more: 50 million are enough for each launch, and not
       for twelve. */
    {"__global__ void wait(int n) { for (volatile int i = 0; i < n; i = i + 1) ; }\n" GOOD ENTRY(
         LAUNCH " if (n == 33) for (int i = 0; i < 12; i++) wait<<<1, 32>>>(1000000);"),
     V_TLE, "budget"},
    {KERNEL("int s = 0; for (volatile int j = 0; j < 10000; j = j + 1) s += j; if (i < n) out[i] = "
            "in[i] + 1 + (s == 7);") ENTRY("if (n) k<<<2000, 256>>>(out, in, n);"),
     V_TLE, "than the launch's budget, most of them in line 1"},
    {GOOD ENTRY("if (n) for (volatile int i = 0;; i = 0) ;"), V_TLE,
     "plus_one.cu:2: the host code did not return"},
    {"#include <stdio.h>\n" GOOD ENTRY(
         "for (int i = 0; i < 1000000; i++) puts(\"flood\"); fflush(stdout); " LAUNCH),
     V_OLE, "1 MiB"},
    {"#include <sys/socket.h>\n" GOOD ENTRY("socket(AF_INET, SOCK_STREAM, 0); " LAUNCH), V_SEC,
     "sandbox stopped it"},
    {"#include \"/etc/passwd\"\n" GOOD ENTRY(LAUNCH), V_CE, "/etc/passwd: No such file"},
    {"extern \"C\" { __asm__(\".section .data\\n.incbin \\\"/etc/passwd\\\"\\n.text\"); }\n" GOOD
         ENTRY(LAUNCH),
     V_CE, "/etc/passwd"},
};
enum { N = sizeof submissions / sizeof *submissions };

static void put_all_messages(const struct result *r, struct buf *out) {
    buf_printf(out, "%s\n%s\n", verdict_code(r->verdict), r->message);
    for (unsigned i = 0; i < r->ncases; i++)
        buf_printf(out, "%s: %s\n", r->cases[i].name, r->cases[i].message);
}

static void grade_all(struct result *results) {
    static struct buf sources[N];
    struct grade_item items[N];
    struct grade_options o = {.device = device_find("h200"), .seed = "verdicts", .no_speed = true};
    struct err e = {0};
    for (unsigned i = 0; i < N; i++) {
        buf_clear(&sources[i]);
        buf_puts(&sources[i], submissions[i].source);
        items[i] =
            (struct grade_item){.ex = &plus_one, .name = "plus_one.cu", .source = &sources[i]};
    }
    ck_assert_msg(class_grade_many(items, N, 0, &o, results, &e), "%s", e.text);
}

START_TEST(every_verdict_can_be_reached) {
    static struct result results[N];
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    grade_all(results);
    struct buf problems = {0};
    for (unsigned i = 0; i < N; i++) {
        struct buf text = {0};
        put_all_messages(&results[i], &text);
        bool ok = results[i].verdict == submissions[i].verdict &&
                  strstr(buf_str(&text), submissions[i].expected_text) &&
                  !strstr(buf_str(&text),
                          "or crashed"); /* no program of these was too much for a compiler */
        if (!ok)
            buf_printf(&problems, "\n%s: expected %s, \"%s\", got %.600s", submissions[i].source,
                       verdict_code(submissions[i].verdict), submissions[i].expected_text,
                       buf_str(&text));
        if (submissions[i].verdict != V_AC && submissions[i].verdict != V_PART &&
            results[i].score != 0)
            buf_puts(&problems, "\na score for a wrong submission");
        buf_free(&text);
        result_free(&results[i]);
    }
    ck_assert_msg(problems.size == 0, "%s", buf_str(&problems));
}
END_TEST

/* Ten million iterations take longer than the 10 ms of this plan; the budget of a grading is not
 * used up. */
START_TEST(a_stalled_machine_is_not_a_time_limit_fault) {
    static const char source[] =
        KERNEL("for (volatile int j = 0; j < 10000000; j = j + 1) ;") ENTRY(LAUNCH);
    struct case_plan plan = {
        .rounds = 1, .timeout_seconds = _i ? 10e-3 : 60, .max_instructions = _i ? 0 : 1000000};
    struct session_options o = {.device = device_find("h200"), .seed = "clock", .workers = 1};
    struct ptxas registers = {0};
    struct build b;
    struct case_run run;
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    ck_assert_msg(
        build_run(&(struct build_source){"plus_one.cu", source, strlen(source), false}, &b, &e) &&
            b.ok,
        "%s", e.text);
    ptxas_finish(ptxas_start(&b, 90), &registers);
    o.ptxas_result = &registers;
    struct session *s = session_open(&plus_one, &b, &o, &e);
    ck_assert_msg(s != NULL, "%s", e.text);
    session_case(s, &cases[1], &plan, &run);
    ck_assert_int_eq(run.verdict, V_TLE);
    ck_assert_msg(run.host_too_slow == _i, "%s", buf_str(&run.message));
    ck_assert_msg(!strstr(buf_str(&run.message), "machine was too slow") == !_i, "%s",
                  buf_str(&run.message));
    session_case_free(&run);
    session_close(s);
    ptxas_free(&registers);
    build_free(&b);
}
END_TEST

/* Wrong whenever the first element is odd, which a state left by a first call can't change: with
 * about a quarter of all seeds, the first call's inputs are even and the second call's are odd. */
START_TEST(other_inputs_are_not_taken_for_a_second_call) {
    static const char source[] =
        KERNEL("if (i < n) out[i] = in[i] + 1 + (in[0] & 1);") ENTRY(LAUNCH);
    static const char *const seeds[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct case_plan plan = {.rounds = 2, .timeout_seconds = 60, .max_instructions = 1000000};
    struct ptxas registers = {0};
    struct build b;
    struct err e = {0};
    unsigned other_inputs = 0;
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    ck_assert_msg(
        build_run(&(struct build_source){"plus_one.cu", source, strlen(source), false}, &b, &e) &&
            b.ok,
        "%s", e.text);
    ptxas_finish(ptxas_start(&b, 90), &registers);
    for (unsigned i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct session_options o = {.device = device_find("h200"),
                                    .seed = seeds[i],
                                    .workers = 1,
                                    .ptxas_result = &registers};
        struct case_run run;
        struct session *s = session_open(&plus_one, &b, &o, &e);
        ck_assert_msg(s != NULL, "%s", e.text);
        session_case(s, &cases[1], &plan, &run);
        const char *text = buf_str(&run.message);
        ck_assert_msg(!strstr(text, "The first call was correct"), "%s", text);
        other_inputs += strstr(text, "One set of random inputs gave a correct result") != NULL;
        session_case_free(&run);
        session_close(s);
    }
    ck_assert_uint_ge(other_inputs, 1);
    ptxas_free(&registers);
    build_free(&b);
}
END_TEST

/* The order that docs/instructor-guide.md states, weakest first; each pair both ways round. */
START_TEST(the_worse_verdict_wins) {
    static const enum verdict order[] = {V_AC,  V_PART, V_UNSTABLE, V_FLAG, V_WA,  V_RTE,
                                         V_MLE, V_TLE,  V_OLE,      V_CE,   V_SEC, V_IE};
    ck_assert_uint_eq(sizeof order / sizeof *order, V_COUNT);
    for (unsigned i = 0; i < V_COUNT; i++)
        for (unsigned k = i; k < V_COUNT; k++) {
            ck_assert_int_eq(verdict_join(order[i], order[k]), order[k]);
            ck_assert_int_eq(verdict_join(order[k], order[i]), order[k]);
        }
}
END_TEST

/* Neither a fault of the grader nor a doubt scores zero. */
START_TEST(internal_errors_and_flags_have_no_score) {
    for (int v = 0; v < V_COUNT; v++)
        ck_assert_int_eq(verdict_has_score(v),
                         strcmp(verdict_code(v), "IE") && strcmp(verdict_code(v), "FLAG"));
}
END_TEST

/* With faults in several cases, the result's verdict is the one later in the list. */
START_TEST(the_worst_of_several_faults_is_reported) {
    static struct buf source;
    struct grade_options o = {.device = device_find("h200"), .seed = "verdicts", .no_speed = true};
    struct result r;
    struct err e = {0};
    struct grade_item item = {.ex = &plus_one, .name = "plus_one.cu", .source = &source};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    buf_puts(&source,
             KERNEL("if (n == 33) { if (i < n) out[i] = 0; } else if (i <= n) out[i] = in[i] + 1;")
                 ENTRY(LAUNCH));
    ck_assert(class_grade_many(&item, 1, 1, &o, &r, &e));
    ck_assert_uint_eq(r.ncases, 3);
    ck_assert_int_eq(r.cases[1].verdict, V_WA);
    ck_assert_int_eq(r.cases[2].verdict, V_RTE);
    ck_assert_int_eq(r.verdict, V_RTE);
    ck_assert(r.score == 0);
    result_free(&r);
    buf_free(&source);
}
END_TEST

/* Blocks of 96 threads: 21 of them are 63 of the 64 warps that an SM of the H200 holds, 10 are
 * 30 of the T4's 32. The goal is reached on the first and not on the second, which must not
 * change the points. */
START_TEST(full) {
    ex_require_at_least("theoretical_occupancy", 0.97, "the warps of an SM are there");
}
END_TEST
static void full_tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, right, 0, 3);
    tcase_add_test(goals, full);
    (void)guards;
}

START_TEST(technique_goals_do_not_depend_on_the_device) {
    static const char *const devices[] = {"h200", "t4", "rtx4090", "mx330"};
    struct exercise ex = plus_one;
    struct buf source = {0};
    struct err e = {0};
    ex.tests = full_tests;
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    buf_puts(&source, GOOD ENTRY("if (n) k<<<(n + 95) / 96, 96>>>(out, in, n);"));
    for (unsigned i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct grade_options o = {.device = device_find(devices[i]), .seed = "any device"};
        struct grade_item item = {.ex = &ex, .name = "plus_one.cu", .source = &source};
        struct result r;
        ck_assert_msg(class_grade_many(&item, 1, 1, &o, &r, &e), "%s", e.text);
        ck_assert_msg(r.verdict == V_AC, "%s: %s", devices[i], verdict_code(r.verdict));
        ck_assert_double_eq_tol(r.technique[0].value, 63 / 64.0, 1e-9);
        if (!strcmp(devices[i], "t4"))
            ck_assert_double_eq_tol(r.occupancy, 30 / 32.0, 1e-9); /* reported, not judged */
        result_free(&r);
    }
    buf_free(&source);
}
END_TEST

/* The model solution of an exercise whose speed is 40 of 100 points, changed to fail on any GPU
 * but the default one. If the total left speed out, the rest would give full marks. */
START_TEST(code_that_does_not_run_on_the_device_asked_for_has_no_speed) {
    struct buf solution = {0}, source = {0};
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    const struct exercise **found = book_find("transpose", &e), *ex = found ? *found : NULL;
    ck_assert_msg(ex && file_read(book_solution_file(ex, NULL), 1 << 20, &solution, &e), "%s",
                  e.text);
    buf_puts(&source, "#define transpose anywhere\n");
    buf_puts(&source, buf_str(&solution));
    buf_puts(&source,
             "\n#undef transpose\n#include <stdlib.h>\n"
             "extern \"C\" void transpose(float *out, const float *in, int rows, int cols) {\n"
             "    int major = 0;\n"
             "    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);\n"
             "    if (major != 9) abort();\n"
             "    anywhere(out, in, rows, cols);\n}\n");
    struct grade_options o = {
        .device = device_find("a4000"), .seed = "elsewhere", .count_modelled = true};
    struct grade_item item = {.ex = ex, .name = "transpose.cu", .source = &source};
    struct result r;
    ck_assert_msg(class_grade_many(&item, 1, 1, &o, &r, &e), "%s", e.text);
    ck_assert_str_eq(verdict_code(r.verdict), "PART");
    ck_assert(r.speed.disqualified);
    ck_assert_double_eq_tol(r.score, 60, 1e-9);
    ck_assert_ptr_nonnull(strstr(r.speed.note, "it does not run on this device"));
    result_free(&r);
    buf_free(&solution), buf_free(&source), free(found);
}
END_TEST

/* An instruction that compute capability 8.0 introduced. The test requests it twice, because the
 * second result comes from the cache. */
START_TEST(code_that_is_too_new_for_the_device_has_no_speed) {
    struct buf source = {0};
    struct err e = {0};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    const struct exercise **found = book_find("transpose", &e), *ex = found ? *found : NULL;
    ck_assert_msg(ex && file_read(book_solution_file(ex, NULL), 1 << 20, &source, &e), "%s",
                  e.text);
    buf_printf(
        &source,
        "// %d %ld\n__global__ void newer(unsigned *p) { *p = __reduce_add_sync(~0u, *p); }\n",
        getpid(), (long)time(NULL));
    for (int i = 0; i < 2; i++) {
        struct grade_options o = {
            .device = device_find("t4"), .seed = "too new", .count_modelled = true};
        struct grade_item item = {.ex = ex, .name = "transpose.cu", .source = &source};
        struct result r;
        ck_assert_msg(class_grade_many(&item, 1, 1, &o, &r, &e), "%s", e.text);
        ck_assert(r.speed.disqualified && !r.speed.valid);
        ck_assert_msg(strstr(r.speed.note, "it does not run on this device: ptxas rejects"), "%s",
                      r.speed.note);
        result_free(&r);
    }
    buf_free(&source), free(found);
}
END_TEST

UNIT_SUITE(grader_verdicts) {
    Suite *s = suite_create("grader_verdicts");
    TCase *t = tcase_create("verdicts");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, every_verdict_can_be_reached);
    tcase_add_test(t, other_inputs_are_not_taken_for_a_second_call);
    tcase_add_loop_test(t, a_stalled_machine_is_not_a_time_limit_fault, 0, 2);
    tcase_add_test(t, the_worse_verdict_wins);
    tcase_add_test(t, internal_errors_and_flags_have_no_score);
    tcase_add_test(t, the_worst_of_several_faults_is_reported);
    tcase_add_test(t, code_that_does_not_run_on_the_device_asked_for_has_no_speed);
    tcase_add_test(t, code_that_is_too_new_for_the_device_has_no_speed);
    tcase_add_test(t, technique_goals_do_not_depend_on_the_device);
    suite_add_tcase(s, t);
    return s;
}

/* test_simgpu.c — tests the command line of build/simgpu: objects and linking, exit statuses,
 * options, the counters' JSON. */
#include "grader/tests/unit/kept_program.h"
#include "grader/tests/unit/shell.h"
#include "common/file.h"
#include "grader/tests/unit/markup.h"
#include "grader/tests/unit/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOSTED "grader/tests/hosted"
static char build[4096], work[4200];

static void find_build(void) {
    snprintf(build, sizeof build, "%s", build_folder());
    snprintf(work, sizeof work, "%s/tests/simgpu", build);
    ck_assert_int_eq(shell("mkdir -p %s", work), 0);
}

/* Two files compiled separately, one of them with an option for nvcc only, then linked. */
static void make_program(void) {
    char main_object[sizeof work + 16], other_object[sizeof work + 16], objects[3 * sizeof work],
        arguments[4 * sizeof work];
    find_build();
    snprintf(main_object, sizeof main_object, "%s/main.o", work);
    snprintf(other_object, sizeof other_object, "%s/other.o", work);
    snprintf(objects, sizeof objects, "%s %s", main_object, other_object);
    snprintf(arguments, sizeof arguments, "-cudart static %s -lcudart", objects);
    ck_assert_int_eq(build_kept_program(HOSTED, "-c main_part.cu", "main_part.cu", main_object), 0);
    ck_assert_int_eq(
        build_kept_program(HOSTED, "-O3 --compile other_part.cu", "other_part.cu", other_object),
        0);
    ck_assert_int_eq(build_kept_program(work, arguments, objects, "two"), 0);
}

START_TEST(the_exit_status_of_the_program_is_returned) {
    ck_assert_int_eq(shell("%s/simgpu run true", build), 0);
    ck_assert_int_eq(shell("%s/simgpu run sh -c 'exit 7'", build), 7);
    ck_assert_int_eq(shell("%s/simgpu run sh -c 'kill -9 $$'", build), 137);
    ck_assert_int_eq(shell("%s/simgpu run /nowhere 2>/dev/null", build), 127);
    ck_assert_int_eq(shell("%s/simgpu run /dev/null 2>/dev/null", build), 126);
    ck_assert_int_eq(shell("test \"$(%s/simgpu run -- %s/two 1 2)\" = 189", build, work),
                     0); /* 63 * 3 */
}
END_TEST

static void write_source(const char *file, const char *source) {
    char path[sizeof work + 32];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", work, file);
    ck_assert_msg(file_write(path, source, strlen(source), &e), "%s", e.text);
}

/* Makes WORK/NAME from the text of a .cu file. */
static void build_source(const char *name, const char *source) {
    char file[32];
    snprintf(file, sizeof file, "%s.cu", name);
    write_source(file, source);
    ck_assert_int_eq(build_kept_program(work, file, file, name), 0);
}

START_TEST(a_finding_sets_the_exit_status_on_request) {
    build_source("clean", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return "
                          "cudaDeviceSynchronize(); }\n");
    build_source("racy", "__global__ void k(int *p) { *p = threadIdx.x; }\n"
                         "int main() { int *p; cudaMalloc(&p, 4); k<<<1, 64>>>(p); "
                         "return cudaDeviceSynchronize(); }\n");
    static const struct {
        const char *options, *program;
        int status;
    } runs[] = {{"", "racy", 0},
                {"--error-exitcode 9", "racy", 9},
                {"--error-exitcode 9", "clean", 0},
                {"--error-exitcode 9 --no-sanitize", "racy", 0},
                {"--error-exitcode 9 --no-sanitize --leaks", "racy", 9}};
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++)
        ck_assert_int_eq(shell("%s/simgpu run %s %s/%s 2>/dev/null", build, runs[i].options, work,
                               runs[i].program),
                         runs[i].status);
    ck_assert_int_eq(
        shell("%s/simgpu run --error-exitcode 9 sh -c '%s/racy; exit 5' 2>/dev/null", build, work),
        5);
}
END_TEST

/* Ctrl-C ends the program; the launch that it waited for would take minutes more. `timeout` sends
 * it to the process group as a terminal does, exits with 124, and with 137 if it had to kill. A log
 * of 3 s has no status line. */
START_TEST(an_interrupt_ends_a_launch) {
    static const char source[] =
        "__global__ void spin(volatile int *p) { for (int i = 0; i < 1 << 30; i++) *p += i; }\n"
        "int main() { int *p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); spin<<<4096, 256>>>(p);\n"
        "    return cudaDeviceSynchronize(); }\n";
    build_source("spin", source);
    ck_assert_int_eq(
        shell("timeout -s INT -k 8 3 env --default-signal=INT %s/simgpu run --workers 1 %s/spin "
              "2>%s/log",
              build, work, work),
        124);
    ck_assert_int_ne(shell("grep 'of 4096 blocks' %s/log", work), 0);
}
END_TEST

/* `script` gives the run a terminal. A launch of 3 s has a status line, which is cleared before the
 * program prints; a short one has none. */
START_TEST(a_long_launch_shows_its_progress_on_a_terminal) {
    build_source("turn", "#include <cstdio>\n"
                         "__global__ void turn(int *p, int n) { unsigned x = threadIdx.x;\n"
                         "    for (int i = 0; i < n; i++) x = x * 3 + (x >> 7);\n"
                         "    if (x == 12345) *p = 1; }\n"
                         "int main(int argc, char **) { int *p; cudaMalloc(&p, 4);\n"
                         "    turn<<<60000, 256>>>(p, argc > 1 ? 10000 : 1);\n"
                         "    printf(\"end %d\\n\", cudaDeviceSynchronize() != cudaSuccess); }\n");
    ck_assert_int_eq(
        shell("script -qec '%s/simgpu run --workers 1 --timeout 3 %s/turn long' /dev/null "
              "</dev/null | tr '\\r' '\\n' >%s/out",
              build, work, work),
        0);
    ck_assert_int_eq(shell("grep -Eq '[0-9]+ of 60000 blocks, [0-9.]+ a (second|minute), about "
                           "[0-9]+ (s|min) left: kernel turn' %s/out",
                           work),
                     0);
    /* No line has both a status and another text: the simulator's report or the program's. */
    ck_assert_int_ne(shell("grep 'of 60000 blocks' %s/out | grep -E 'end 1|simgpu:'", work), 0);
    ck_assert_int_eq(shell("grep -q '^end 1' %s/out", work), 0);
    ck_assert_int_ne(shell("script -qec '%s/simgpu run %s/turn' /dev/null </dev/null | "
                           "grep blocks",
                           build, work),
                     0);
}
END_TEST

START_TEST(invalid_command_lines_are_rejected) {
    static const char *const bad[] = {"",
                                      "flash",
                                      "run",
                                      "run --counters",
                                      "run --counters xml true",
                                      "run --device none true",
                                      "run --workers 0 true",
                                      "run --bogus 1 true",
                                      "run --timeout soon true",
                                      "run --sample true",
                                      "run --sample --time --schedule hostile true",
                                      "run --sample --time --memory-model hardware true",
                                      "run --sample --time --native true",
                                      "devices all"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = shell("%s/simgpu %s >/dev/null 2>%s/err", build, bad[i], work);
        ck_assert_msg(status == 2, "simgpu %s: %d", bad[i], status);
        ck_assert_int_eq(shell("test -s %s/err", work), 0);
    }
    ck_assert_int_eq(
        shell("%s/simgpu run --counters json --counters-file /nowhere/c true 2>/dev/null", build),
        3);
}
END_TEST

/* Help is no error, and a misspelt word gets the right one. */
START_TEST(help_is_printed_and_the_nearest_word_suggested) {
    static const char *const help[] = {"grader --help",     "grader -h",
                                       "grader run --help", "grader export -h",
                                       "grader help",       "simgpu --help",
                                       "simgpu -h",         "simgpu run --help",
                                       "simgpu run -h",     "simgpu devices --help",
                                       "simgpu disasm -h",  "simgpu coverage --help"};
    static const char *const misspelt[][2] = {
        {"grader rnu", "`grader run`"},
        {"grader solutoin transpose", "`grader solution`"},
        {"grader run --fiel x", "--file?"},
        {"grader run --no-modeled-speed", "--no-modelled-speed?"},
        {"simgpu dsiasm x", "`simgpu disasm`"},
        {"simgpu run --cuonters text true", "--counters?"}};
    for (unsigned i = 0; i < sizeof help / sizeof *help; i++)
        ck_assert_msg(
            !shell("%s/%s >%s/help 2>%s/err && grep -q usage: %s/help && test ! -s %s/err", build,
                   help[i], work, work, work, work),
            "%s", help[i]);
    for (unsigned i = 0; i < sizeof misspelt / sizeof *misspelt; i++) {
        ck_assert_int_eq(shell("%s/%s >/dev/null 2>%s/err", build, misspelt[i][0], work), 2);
        ck_assert_msg(!shell("grep -qF 'did you mean %s' %s/err", misspelt[i][1], work), "%s",
                      misspelt[i][0]);
    }
    ck_assert_int_eq(shell("%s/grader xyzzyx >/dev/null 2>%s/err", build, work), 2);
    ck_assert_int_ne(shell("grep -q 'did you mean' %s/err", work), 0);
}
END_TEST

/* The bash script is executed; of zsh's the syntax and words are checked, by zsh if it is there. */
START_TEST(the_manual_page_lists_the_options_of_run) {
    ck_assert_int_eq(
        shell("%s/simgpu run --help | grep -o '^  --[a-z-]*' | cut -c5- | sort >%s/help && "
              "grep -o '^\\.It Fl .-[a-z-]*' grader/simgpu/simgpu.1 | sed 's/.*[\\]--*//' | "
              "sort >%s/man && test -s %s/man && cmp %s/help %s/man",
              build, work, work, work, work, work),
        0);
}
END_TEST

START_TEST(completion_offers_commands_options_and_exercises) {
    static const char *const cases[][3] = {{"pro", "1", "profile"},
                                           {"run --no-j", "2", "--no-jail"},
                                           {"run transpose_p", "2", "transpose_padded"}};
    ck_assert_int_eq(shell("%s/grader completion bash >%s/c.bash", build, work), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(shell("bash -c 'source %s/c.bash; COMP_WORDS=(grader %s); COMP_CWORD=%s; "
                               "_grader; test \"${COMPREPLY[0]}\" = %s'",
                               work, cases[i][0], cases[i][1], cases[i][2]),
                         0);
    ck_assert_int_eq(shell("%s/grader completion zsh >%s/_grader && grep -q '^#compdef grader' "
                           "%s/_grader && grep -q 'compadd -- .*profile' %s/_grader && grep -q "
                           "'compadd -- .*--no-jail' %s/_grader",
                           build, work, work, work, work),
                     0);
    ck_assert_int_eq(shell("! command -v zsh >/dev/null || zsh -n %s/_grader", work), 0);
    ck_assert_int_eq(shell("%s/grader completion fish 2>/dev/null", build), 2);
}
END_TEST

START_TEST(a_program_without_a_server_sees_no_device) {
    ck_assert_int_eq(shell("%s/two >/dev/null 2>%s/err", work, work), 100); /* cudaErrorNoDevice */
    ck_assert_int_eq(shell("grep -q 'simgpu run' %s/err", work), 0);
}
END_TEST

/* Any program runs; for one with device code and another CUDA runtime, simgpu reports what is
 * missing. */
START_TEST(a_foreign_cuda_runtime_is_reported) {
    ck_assert_int_eq(shell("test -z \"$(%s/simgpu run true 2>&1)\"", build), 0);
    ck_assert_int_eq(
        shell("cp /bin/true %s/foreign && printf '.nv_fatbin\\0' >>%s/foreign", work, work), 0);
    ck_assert_int_eq(shell("%s/simgpu run %s/foreign 2>%s/err", build, work, work), 0);
    ck_assert_int_eq(shell("grep -q 'another CUDA runtime.*simgpu nvcc' %s/err", work), 0);
}
END_TEST

/* Options for machine code alone, as in many Makefiles, one with PTX too, and a language for all
 * files: simgpu runs the PTX. */
START_TEST(programs_built_for_sass_only_run_their_ptx) {
    static const char *const forms[] = {
        "-gencode arch=compute_90a,code=sm_90a coded.cu",
        "--generate-code=arch=compute_80,code=[sm_80,sm_86] coded.cu",
        "-x cu -arch=sm_90 coded.cu second.cc",
        "-gencode arch=compute_80,code=\\\"sm_80\\\" -gencode=arch=compute_80,code=compute_80 "
        "coded.cu"};
    write_source("coded.cu",
                 "#include <cstdio>\n__global__ void k(int *p) { *p = 189; }\n"
                 "int main() { int *p, h = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p);\n"
                 "cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); printf(\"%d\\n\", h); }");
    ck_assert_int_eq(shell("echo '__device__ int second;' >%s/second.cc", work), 0);
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        char name[16];
        snprintf(name, sizeof name, "form%u", i);
        ck_assert_int_eq(build_kept_program(work, forms[i], "coded.cu second.cc", name), 0);
        ck_assert_int_eq(shell("cd %s && test \"$(%s/simgpu run ./%s)\" = 189", work, build, name),
                         0);
    }
}
END_TEST

/* A script that runs the program twice shares one connection: each run starts with a fresh
 * device. */
START_TEST(consecutive_programs_get_a_fresh_device) {
    ck_assert_int_eq(
        shell("%s/simgpu run sh -c '%s/two && %s/two x' >%s/out", build, work, work, work), 0);
    ck_assert_int_eq(shell("test \"$(tr '\\n' ' ' <%s/out)\" = '63 126 '", work), 0);
}
END_TEST

/* The page parses, loads nothing from elsewhere, and shows both kernels, of which 64 threads
 * store to neighbouring words. */
START_TEST(the_report_page_is_valid_and_self_contained) {
    char path[4300];
    struct buf page = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/page.html", work);
    ck_assert_int_eq(shell("%s/simgpu run --report %s %s/two >/dev/null", build, path, work), 0);
    ck_assert(file_read(path, 1 << 22, &page, &e));
    ck_assert_msg(!markup_fault(buf_str(&page), 0), "%s", markup_fault(buf_str(&page), 0));
    ck_assert(strstr(buf_str(&page), "2 launches on NVIDIA H200"));
    ck_assert(strstr(buf_str(&page), "store of 4 bytes: 4 sectors"));
    ck_assert(strstr(buf_str(&page), "class=\"box\""));
    buf_free(&page);
}
END_TEST

/* Lanes 0 to 31 store to neighbouring words in 4 sectors, or 8 floats apart in 32. A line with a
 * `picture` comment is drawn, the picture parses, and a second run draws the same. */
static const char picture_source[] =
    "__global__ void k(float *p, int n) {\n    p[n * threadIdx.x] = 1; // picture: %s\n}\n"
    "int main() {\n    float *p;\n    cudaMalloc(&p, 4096);\n    k<<<1, 32>>>(p, 1);\n    k<<<1, "
    "32>>>(p, 8);\n"
    "    return cudaDeviceSynchronize();\n}\n";

/* The program is compiled once: simgpu reads the comment when it runs. */
static int draw(const char *directive, const char *folder) {
    char compiled[1024], marked[1024];
    snprintf(compiled, sizeof compiled, picture_source, "apart store");
    snprintf(marked, sizeof marked, picture_source, directive);
    build_source("drawn", compiled);
    write_source("drawn.cu", marked);
    int status = shell("cd %s && mkdir -p %s && %s/simgpu run --pictures %s ./drawn 2>err", work,
                       folder, build, folder);
    write_source("drawn.cu", compiled);
    return status;
}

START_TEST(pictures_are_deterministic) {
    char path[4300];
    struct buf svg = {0};
    struct err e = {0};
    unsigned boxes = 0;
    ck_assert_int_eq(draw("apart store", "a"), 0);
    ck_assert_int_eq(draw("apart store", "b"), 0);
    ck_assert_int_eq(shell("cmp %s/a/apart.svg %s/b/apart.svg", work, work), 0);
    snprintf(path, sizeof path, "%s/a/apart.svg", work);
    ck_assert(file_read(path, 1 << 20, &svg, &e));
    for (const char *p = buf_str(&svg); (p = strstr(p, "class=\"box\"")); p++) boxes++;
    ck_assert_uint_eq(boxes, 32);
    ck_assert_ptr_nonnull(strstr(buf_str(&svg), ">p[n * threadIdx.x] = 1;<"));
    ck_assert_ptr_nonnull(strstr(buf_str(&svg), "store of 4 bytes per lane, 32 lanes: 32 sectors"));
    ck_assert_ptr_nonnull(strstr(buf_str(&svg), "prefers-color-scheme:dark"));
    ck_assert_ptr_null(strstr(buf_str(&svg), "href"));
    buf_free(&svg);
}
END_TEST

/* A comment is no part of the caption, and a line that is wider than the picture ends in "…". */
START_TEST(captions_fit_their_picture) {
    ck_assert_int_eq(shell("mkdir -p %s/a", work), 0);
    build_source("captioned",
                 "__global__ void k(float *a_rather_long_name, int n) {\n"
                 "    a_rather_long_name[n * threadIdx.x] = a_rather_long_name[n * threadIdx.x + "
                 "1]; // a comment // picture: wide store\n}\n"
                 "int main() { float *p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); k<<<1, "
                 "32>>>(p, 1);\nreturn cudaDeviceSynchronize(); }\n");
    ck_assert_int_eq(shell("cd %s && %s/simgpu run --pictures a ./captioned", work, build), 0);
    /* 63 columns and the ellipsis */
    ck_assert_int_eq(
        shell("grep -qF '>a_rather_long_name[n * threadIdx.x] = a_rather_long_name[n * th…<' "
              "%s/a/wide.svg",
              work),
        0);
}
END_TEST

START_TEST(invalid_picture_directives_are_reported) {
    static const char *const directives[][2] = {
        {"apart load", "drawn.cu:2: no launch made the requested access"},
        {"apart", "drawn.cu:2: expected a name (a-z, 0-9, -)"},
        {"../up store", "drawn.cu:2: expected a name (a-z, 0-9, -)"}};
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(draw(directives[i][0], "a"), 3);
        ck_assert_int_eq(shell("grep -qF '%s' %s/err", directives[i][1], work), 0);
    }
    ck_assert_int_eq(
        shell("%s/simgpu run --pictures %s/a %s/two >/dev/null 2>%s/err", build, work, work, work),
        3);
    ck_assert_int_eq(shell("grep -q 'requests a picture' %s/err", work), 0);
}
END_TEST

static json_int_t counter(const json_t *o, const char *name) {
    return json_integer_value(json_object_get(json_object_get(o, "counters"), name));
}

/* Lines add up to the launch, whose figures follow from the source: 64 threads store 4 bytes each.
 */
START_TEST(json_counters_sum_over_lines) {
    char path[4300];
    json_error_t error;
    snprintf(path, sizeof path, "%s/counters.json", work);
    ck_assert_int_eq(shell("%s/simgpu run --counters json --counters-file %s %s/two >/dev/null",
                           build, path, work),
                     0);
    json_t *all = json_load_file(path, 0, &error), *launches = json_object_get(all, "launches"),
           *line;
    ck_assert_msg(all != NULL, "%s", error.text);
    ck_assert_str_eq(json_string_value(json_object_get(all, "device")), "h200");
    ck_assert_uint_eq(json_array_size(launches), 2);
    json_t *start = json_array_get(launches, 0);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(start, "grid"), 0)), 2);
    ck_assert_int_eq(counter(start, "global_store_threads"), 64);
    ck_assert_int_eq(counter(start, "global_store_sectors"), 8);
    ck_assert_int_eq(counter(json_array_get(launches, 1), "global_load_threads"), 64);
    json_int_t sum = 0, stores = 0;
    size_t i;
    json_array_foreach(json_object_get(start, "lines"), i, line) {
        sum += counter(line, "inst_executed");
        stores += counter(line, "global_store_threads");
        if (counter(line, "global_store_threads"))
            ck_assert_int_eq(json_integer_value(json_object_get(line, "line")), 6);
    }
    ck_assert_int_eq(sum, counter(start, "inst_executed"));
    ck_assert_int_eq(stores, 64);
    json_decref(all);
}
END_TEST

START_TEST(text_counters_name_their_lines) {
    ck_assert_int_eq(
        shell("%s/simgpu run --workers 1 --no-sanitize --counters text %s/two 2>%s/err >/dev/null",
              build, work, work),
        0);
    ck_assert_int_eq(
        shell("grep -Eq 'global_store_threads +64$' %s/err && grep -q 'main_part.cu:6 ' %s/err",
              work, work),
        0);
    ck_assert_msg(shell("grep -q '^kernel ' %s/err && ! grep -q '^kernel _Z' %s/err", work, work) ==
                      0,
                  "a mangled name");
}
END_TEST

/* By arithmetic: 16384 blocks of 64 threads store 4 bytes each, 1048576 stores in 131072 sectors.
 * The small launch stays complete: 32 words of it have the value, as the program counts. */
START_TEST(a_sample_counts_the_whole_launch) {
    build_source("fill",
                 "#include <cstdio>\n"
                 "__global__ void fill(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 7; }\n"
                 "int main() { static int h[1 << 20]; int *p, n = 0; cudaMalloc(&p, sizeof h);\n"
                 "    cudaMemset(p, 0, sizeof h); fill<<<1, 32>>>(p);\n"
                 "    cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);\n"
                 "    for (int i = 0; i < 32; i++) n += h[i] == 7;\n"
                 "    fill<<<16384, 64>>>(p); fill<<<16384, 64>>>(p);\n"
                 "    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);\n"
                 "    int all = 0; for (int i = 0; i < 1 << 20; i++) all += h[i] == 7;\n"
                 "    printf(\"%d %d\\n\", n, all < 65536); }\n");
    ck_assert_int_eq(shell("test \"$(%s/simgpu run --sample --time --counters json --counters-file "
                           "%s/sample %s/fill 2>%s/err)\" = '32 1'",
                           build, work, work, work),
                     0);
    ck_assert_int_eq(
        shell("test $(grep -c 'results are not computed' %s/err) = 1 && grep -q 'us modelled' "
              "%s/err && test $(grep -o '\"sampled\"' %s/sample | wc -l) = 2",
              work, work, work),
        0);
    char path[4300];
    json_error_t error;
    snprintf(path, sizeof path, "%s/sample", work);
    json_t *all = json_load_file(path, 0, &error), *launches = json_object_get(all, "launches");
    ck_assert_int_eq(counter(json_array_get(launches, 0), "global_store_threads"), 32);
    ck_assert_int_eq(counter(json_array_get(launches, 1), "global_store_threads"), 1048576);
    ck_assert_int_eq(counter(json_array_get(launches, 2), "global_store_sectors"), 131072);
    json_decref(all);
}
END_TEST

/* CMake links a program without a CUDA file by the C++ compiler; the toolchain file has it link our
 * runtime and cuBLAS. */
START_TEST(a_cmake_project_without_cuda_files_links_our_libraries) {
    static const char list[] =
        "cmake_minimum_required(VERSION 3.18)\nproject(host CXX)\nfind_package(CUDAToolkit "
        "REQUIRED)\nadd_executable(host host.cpp)\ntarget_link_libraries(host CUDA::cudart "
        "CUDA::cuda_driver CUDA::cublas)\n";
    static const char source[] =
        "#include <cublas_v2.h>\n#include <cuda.h>\nint main() { void *p; cublasHandle_t h;\n"
        "    return cudaMalloc(&p, 4) || cuMemFree((CUdeviceptr)p) || cublasCreate(&h); }\n";
    char path[sizeof work + 64];
    struct err e = {0};
    if (shell("command -v cmake >/dev/null")) return;
    ck_assert_int_eq(shell("rm -rf %s/cmake && mkdir %s/cmake", work, work), 0);
    snprintf(path, sizeof path, "%s/cmake/CMakeLists.txt", work);
    ck_assert_msg(file_write(path, list, strlen(list), &e), "%s", e.text);
    snprintf(path, sizeof path, "%s/cmake/host.cpp", work);
    ck_assert_msg(file_write(path, source, strlen(source), &e), "%s", e.text);
    ck_assert_int_eq(
        shell("export SIMGPU=%s/simgpu; cmake -S %s/cmake -B %s/cmake/build "
              "-DCUDAToolkit_ROOT=%s/cuda "
              "-DCMAKE_TOOLCHAIN_FILE=$PWD/grader/template/ci/simgpu.cmake >%s/cmake/log 2>&1 "
              "&& cmake --build %s/cmake/build >>%s/cmake/log 2>&1",
              build, work, work, build, work, work, work),
        0);
    ck_assert_int_eq(shell("%s/simgpu run %s/cmake/build/host", build, work), 0);
}
END_TEST

UNIT_SUITE(simgpu) {
    Suite *suite = suite_create("simgpu");
    TCase *tc = tcase_create("command line");
    tcase_add_unchecked_fixture(tc, make_program, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_exit_status_of_the_program_is_returned);
    tcase_add_test(tc, a_finding_sets_the_exit_status_on_request);
    tcase_add_test(tc, an_interrupt_ends_a_launch);
    tcase_add_test(tc, a_long_launch_shows_its_progress_on_a_terminal);
    tcase_add_test(tc, invalid_command_lines_are_rejected);
    tcase_add_test(tc, help_is_printed_and_the_nearest_word_suggested);
    tcase_add_test(tc, the_manual_page_lists_the_options_of_run);
    tcase_add_test(tc, completion_offers_commands_options_and_exercises);
    tcase_add_test(tc, a_program_without_a_server_sees_no_device);
    tcase_add_test(tc, a_foreign_cuda_runtime_is_reported);
    tcase_add_test(tc, a_cmake_project_without_cuda_files_links_our_libraries);
    tcase_add_test(tc, programs_built_for_sass_only_run_their_ptx);
    tcase_add_test(tc, consecutive_programs_get_a_fresh_device);
    tcase_add_test(tc, json_counters_sum_over_lines);
    tcase_add_test(tc, the_report_page_is_valid_and_self_contained);
    tcase_add_test(tc, pictures_are_deterministic);
    tcase_add_test(tc, captions_fit_their_picture);
    tcase_add_test(tc, invalid_picture_directives_are_reported);
    tcase_add_test(tc, text_counters_name_their_lines);
    tcase_add_test(tc, a_sample_counts_the_whole_launch);
    suite_add_tcase(suite, tc);
    return suite;
}

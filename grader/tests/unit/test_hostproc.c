/* test_hostproc.c — tests the host process, an object made of tests/hosted/entries.cu and the
 * simulated GPU together, without the sandbox: arguments arrive unchanged, recordings replay with
 * other data, and an entry cannot end any process but its own. The prefix WB_ is the workbook's;
 * libwbcudart.a is its CUDA runtime, which the object is linked with. */
#include "common/file.h"
#include "grader/server/server.h"
#include "grader/tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char object[4300], hostproc[4200];
static struct server *server;
static pid_t host;
static uint64_t in, out; /* device addresses */
enum { N = 40 };
enum { CLIENT_SOCKET = 100, CLIENT_WINDOW = 101 }; /* descriptors, above all that are open */

static void find_paths(char *build_dir, size_t size) {
    ssize_t n = readlink("/proc/self/exe", build_dir, size - 1);
    ck_assert_int_gt(n, 0);
    build_dir[n] = 0;
    for (int i = 0; i < 2; i++) *strrchr(build_dir, '/') = 0;
    snprintf(hostproc, sizeof hostproc, "%s/libexec/hostproc", build_dir);
    snprintf(object, sizeof object, "%s/tests/entries.so", build_dir);
}

/* Returns the time of the last change; 0 if there is no such file. */
static double modification_time(const char *path) {
    struct stat st;
    return stat(path, &st) ? 0 : (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
}

/* Unchecked fixture: once for all tests. */
static void build_object(void) {
    char build_dir[4096], library[4200], command[16384];
    static const char source[] = "grader/tests/hosted/entries.cu";
    find_paths(build_dir, sizeof build_dir);
    snprintf(library, sizeof library, "%s/lib/libwbcudart.a", build_dir);
    if (modification_time(object) > modification_time(source) &&
        modification_time(object) > modification_time(library))
        return;
    snprintf(command, sizeof command,
             "%s/cuda/bin/nvcc -shared -Xcompiler -fPIC -cudart none -lineinfo -gencode "
             "arch=compute_90,code=compute_90 "
             "%s %s -o %s",
             build_dir, source, library, object);
    ck_assert_int_eq(system(command), 0);
}

static void pass_descriptor(const char *variable, int fd, int to) {
    char text[16];
    snprintf(text, sizeof text, "%d", to);
    setenv(variable, text, 1);
    dup2(fd, to);
}

static void start_server_and_host(const char *path) {
    struct err e = {0};
    struct sim_options o = {.device = device_find("h200"), .sanitize = true, .workers = 1};
    struct server_options so = {.grading = true, .max_messages = 10000};
    struct backend *b = backend_sim_open(&o, &e);
    ck_assert_msg(b != NULL, "%s", e.text);
    server = server_open(b, &so, &e);
    ck_assert_msg(server != NULL, "%s", e.text);
    host = fork();
    if (host == 0) {
        pass_descriptor(WB_ENV_SOCKET, server_client_socket(server), CLIENT_SOCKET);
        pass_descriptor(WB_ENV_WINDOW, server_client_window(server), CLIENT_WINDOW);
        int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, STDERR_FILENO);
        execl(hostproc, hostproc, path, NULL);
        _exit(99);
    }
    server_close_client_end(server);
}

static void start_with_entries(void) {
    struct server_outcome o;
    struct err e = {0};
    start_server_and_host(object);
    ck_assert_msg(server_wait_ready(server, server_now() + 20, SERVER_WATCH_NOTHING, &o), "%s",
                  o.text);
    ck_assert_int_eq(o.error, 0);
    struct server_buffer buffers[] = {{.name = "in", .bytes = N * sizeof(double)},
                                      {.name = "out", .bytes = N * sizeof(double)}};
    ck_assert_msg(server_buffers(server, buffers, 2, &e), "%s", e.text);
    in = server_buffer_address(server, 0);
    out = server_buffer_address(server, 1);
}

/* Waits for the host process, which must exit by itself after the server has closed; returns -1
 * if it didn't. */
static int wait_for_host(void) {
    int status = -1;
    for (int i = 0; i < 500; i++) {
        if (waitpid(host, &status, WNOHANG) == host) return status;
        usleep(10000);
    }
    kill(host, SIGKILL);
    waitpid(host, &status, 0);
    return -1;
}

static bool record(const char *entry, double seconds, struct recording **r,
                   struct server_outcome *o) {
    struct wb_arg args[] = {{.type = WB_PTR, .value = in},
                            {.type = WB_PTR, .value = out},
                            {.type = WB_I32, .value = N}};
    return server_record(server, entry, args, 3, server_now() + seconds, SERVER_WATCH_NOTHING, r,
                         o);
}

static void finish(struct recording *r) {
    recording_free(r);
    server_close(server);
}

static uint64_t bits(const void *p, size_t n) {
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}
#define ARG(tag, c_type, c_value) \
    { .type = tag, .value = bits(&(c_type){c_value}, sizeof(c_type)) }

START_TEST(arguments_of_every_type_reach_the_entry) {
    struct wb_arg args[] = {{.type = WB_PTR},
                            ARG(WB_I8, int8_t, -100),
                            ARG(WB_U8, uint8_t, 200),
                            ARG(WB_I16, int16_t, -30000),
                            ARG(WB_U16, uint16_t, 60000),
                            ARG(WB_I32, int32_t, -2000000000),
                            ARG(WB_U32, uint32_t, 4000000000u),
                            ARG(WB_I64, int64_t, -(1ll << 50)),
                            ARG(WB_U64, uint64_t, 1ull << 52),
                            ARG(WB_F32, float, 0.25f),
                            ARG(WB_F64, double, -1e300)};
    /* Twice each argument, and the number of calls since the device was reset. */
    static const double expected[] = {
        -200, 400,    -60000, 120000, -4e9, 8e9, -2251799813685248.0, 9007199254740992.0,
        0.5,  -2e300, 1};
    struct server_outcome o;
    struct recording *r;
    struct err e = {0};
    double actual[11];
    start_with_entries();
    args[0].value = out;
    ck_assert(server_record(server, "all_types", args, 11, server_now() + 10, SERVER_WATCH_NOTHING,
                            &r, &o));
    for (int replay = 0; replay < 2; replay++) { /* `calls` of entries.cu is 0 again each time */
        ck_assert_msg(server_restart(server, &e), "%s", e.text);
        ck_assert_msg(server_replay(server, r, 10, server_now() + 10, &o, &e), "%s", e.text);
        ck_assert_int_eq(o.fault, 0);
        ck_assert(server_read(server, out, actual, sizeof actual));
        for (int i = 0; i < 11; i++) ck_assert_double_eq(actual[i], expected[i]);
    }
    finish(r);
    ck_assert_int_eq(wait_for_host(), 0);
}
END_TEST

START_TEST(replays_use_fresh_inputs) {
    struct server_outcome o;
    struct recording *r;
    struct err e = {0};
    start_with_entries();
    ck_assert(record("temporaries", 10, &r, &o));
    ck_assert_int_eq(o.error, 0);
    ck_assert_uint_eq(recording_launches(r), 1);
    for (int seed = 1; seed < 4; seed++) {
        double values[N], actual[N];
        for (int i = 0; i < N; i++) values[i] = i * seed + 0.5;
        ck_assert(server_restart(server, &e) && server_write(server, in, values, sizeof values));
        ck_assert_msg(server_replay(server, r, 10, server_now() + 10, &o, &e), "%s", e.text);
        ck_assert(server_read(server, out, actual, sizeof actual));
        for (int i = 0; i < N; i++) ck_assert_double_eq(actual[i], 2 * (i * seed + 0.5));
    }
    ck_assert_double_gt(o.seconds, 0);
    finish(r);
    ck_assert_int_eq(wait_for_host(), 0);
}
END_TEST

START_TEST(reading_device_memory_while_recording_is_rejected) {
    struct server_outcome o;
    struct recording *r;
    start_with_entries();
    ck_assert(record("reads_back", 10, &r, &o));
    ck_assert_int_eq(o.error, WB_cudaErrorNotPermitted);
    /* The entry launches only if the copy returned an error and left its destination unchanged. */
    ck_assert_uint_eq(recording_launches(r), 1);
    finish(r);
    wait_for_host();
}
END_TEST

START_TEST(an_invalid_launch_is_recorded_as_an_error) {
    struct server_outcome o;
    struct recording *r;
    start_with_entries();
    ck_assert(record("too_many_threads", 10, &r, &o));
    ck_assert_int_eq(o.error, WB_cudaErrorInvalidConfiguration);
    ck_assert_str_eq(o.call_name, "launch");
    ck_assert_uint_eq(recording_launches(r), 0);
    finish(r);
    wait_for_host();
}
END_TEST

START_TEST(a_kernel_fault_is_reported_by_the_replay) {
    struct server_outcome o;
    struct recording *r;
    struct err e = {0};
    start_with_entries();
    ck_assert(record("out_of_bounds", 10, &r, &o));
    ck_assert(server_restart(server, &e));
    ck_assert(server_replay(server, r, 10, server_now() + 10, &o, &e));
    ck_assert_int_eq(o.fault, WB_cudaErrorIllegalAddress);
    finish(r);
    wait_for_host();
}
END_TEST

START_TEST(a_missing_entry_lists_the_available_ones) {
    struct server_outcome o;
    struct recording *r;
    start_with_entries();
    ck_assert(!record("mangled", 10, &r, &o));
    ck_assert_int_eq(o.end_reason, SERVER_CALL_FAILED);
    ck_assert_int_eq(o.call_state, WB_NO_ENTRY);
    ck_assert_ptr_nonnull(strstr(o.text, "no function `mangled`"));
    ck_assert_ptr_nonnull(strstr(o.text, "temporaries"));
    ck_assert_ptr_nonnull(strstr(o.text, "_Z7mangledPdi"));
    ck_assert_ptr_nonnull(strstr(o.text, "extern \"C\""));
    ck_assert_ptr_null(strstr(o.text, "cudaMalloc"));
    ck_assert(record("temporaries", 10, &r, &o)); /* the host process still answers */
    finish(r);
    wait_for_host();
}
END_TEST

START_TEST(an_unloadable_object_is_reported) {
    struct server_outcome o;
    start_server_and_host("/dev/null");
    ck_assert(!server_wait_ready(server, server_now() + 10, SERVER_WATCH_NOTHING, &o));
    ck_assert_int_eq(o.end_reason, SERVER_CALL_FAILED);
    ck_assert_int_eq(o.call_state, WB_NO_OBJECT);
    ck_assert_str_ne(o.text, "");
    finish(NULL);
    ck_assert_int_eq(wait_for_host(), 0);
}
END_TEST

static const struct {
    const char *entry;
    enum server_end_reason end;
    double seconds;
    int signal; /* that ends the host process; 0 = none */
} ends[] = {{"crashes", SERVER_CLOSED, 10, SIGSEGV},
            {"exits", SERVER_CLOSED, 10, 0},
            {"hangs", SERVER_DEADLINE, 0.2, SIGKILL}};

START_TEST(a_call_ends_although_its_entry_never_returns) {
    struct server_outcome o;
    struct recording *r;
    start_with_entries();
    ck_assert(!record(ends[_i].entry, ends[_i].seconds, &r, &o));
    ck_assert_ptr_null(r);
    ck_assert_int_eq(o.end_reason, ends[_i].end);
    finish(r);
    if (ends[_i].end == SERVER_DEADLINE) kill(host, SIGKILL); /* as the sandbox does */
    int status = wait_for_host();
    ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, ends[_i].signal);
}
END_TEST

UNIT_SUITE(hostproc) {
    Suite *suite = suite_create("hostproc");
    TCase *tc = tcase_create("entries");
    tcase_add_unchecked_fixture(tc, build_object, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, arguments_of_every_type_reach_the_entry);
    tcase_add_test(tc, replays_use_fresh_inputs);
    tcase_add_test(tc, reading_device_memory_while_recording_is_rejected);
    tcase_add_test(tc, an_invalid_launch_is_recorded_as_an_error);
    tcase_add_test(tc, a_kernel_fault_is_reported_by_the_replay);
    tcase_add_test(tc, a_missing_entry_lists_the_available_ones);
    tcase_add_test(tc, an_unloadable_object_is_reported);
    tcase_add_loop_test(tc, a_call_ends_although_its_entry_never_returns, 0, 3);
    suite_add_tcase(suite, tc);
    return suite;
}

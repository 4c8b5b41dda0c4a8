/* error.c — cudaGetLastError and related calls. Each thread has its own last error; errors that
 * poison the context are sticky. */
#include "grader/runtime/line_table.h"
#include "grader/runtime/runtime.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int last_error;

static bool is_sticky_error(int error) {
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError: return true;
    }
    return false;
}

/* ---- messages of failed calls ---- */

/* This thread's current call: the reason for its failure, if the runtime refuses it; its name, if
 * the program called another function; and the calling instruction, if the call stack doesn't lead
 * there. */
static _Thread_local struct {
    char reason[320];
    const char *name;
    const void *call_site;
} current_call;

int wb_refuse(int error, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(current_call.reason, sizeof current_call.reason, format, ap);
    va_end(ap);
    return error;
}

bool wb_has_refusal(void) { return current_call.reason[0]; }

void wb_set_call_site(const void *return_address) { current_call.call_site = return_address; }

const char *wb_begin_call(const char *name) {
    const char *outer = current_call.name;
    if (!outer) current_call.name = name;
    return outer;
}
void wb_end_call(const char *outer) { current_call.name = outer; }

struct failure {
    int error;
    const char *call, *reason;
    struct line_position at; /* line 0 = unknown */
};

static void describe_failure(int error, const char *call, struct failure *f) {
    *f = (struct failure){.error = error,
                          .call = current_call.name ? current_call.name : call,
                          .reason = current_call.reason};
    if (!wb_find_source_line(current_call.call_site, &f->at)) f->at.line = 0;
}

/* Prints a failure in one line on standard error. */
static int format_failure(const struct failure *f, char *out, size_t size) {
    char at[300] = "";
    if (f->at.line) snprintf(at, sizeof at, "%s:%u: ", f->at.file, f->at.line);
    return snprintf(out, size, "%s%s failed: %s (%s)%s%s", at, f->call,
                    cudaGetErrorName((cudaError_t)f->error),
                    cudaGetErrorString((cudaError_t)f->error), *f->reason ? ": " : "", f->reason);
}

/* Tail: call, file and reason, each with its zero byte. */
static void send_failure(const struct failure *f) {
    char tail[1024];
    size_t n = 0;
    const char *const texts[] = {f->call, f->at.line ? f->at.file : "", f->reason};
    for (unsigned i = 0; i < 3; i++) n += (size_t)snprintf(tail + n, 340, "%.330s", texts[i]) + 1;
    struct wb_req_api_error q = {.error = (uint32_t)f->error, .line = f->at.line};
    wb_request_tail(api_error, &q, NULL, tail, n, NULL, 0);
}

/* ---- failures of a program that nobody grades ----
 *
 * If the device refuses a call, the server prints the reason at once, and the runtime names the
 * line. A call that the runtime refuses would fail silently if the program ignores what it returns.
 * The program may also be testing for the failure. So the first such failure is printed at the
 * program's end, if the program never asked for the last error or says of itself that it failed. */

enum { MAX_PRINTED_FAILURES = 20 };
static struct {
    char text[1024];
    unsigned count;
    bool is_checked; /* The program has queried the last error and received one. */
} runtime_failures;

static void print_runtime_failures(int status, void *unused) {
    (void)unused;
    unsigned others = runtime_failures.count - 1;
    if (!runtime_failures.count || (!status && runtime_failures.is_checked)) return;
    fprintf(stderr, "warpbook: %s", runtime_failures.text);
    if (!runtime_failures.is_checked)
        fprintf(stderr, "; the program never called cudaGetLastError()");
    if (others) fprintf(stderr, "; %u more call%s failed", others, others == 1 ? "" : "s");
    fprintf(stderr, "\n");
}

static void record_runtime_failure(int error, const char *call) {
    static bool registered;
    struct failure f;
    wb_lock();
    if (!registered) registered = !on_exit(print_runtime_failures, NULL);
    if (!runtime_failures.count++) {
        describe_failure(error, call, &f);
        format_failure(&f, runtime_failures.text, sizeof runtime_failures.text);
    }
    wb_unlock();
}

static void print_device_failure(int error, const char *call) {
    static _Atomic unsigned printed;
    char text[1024];
    struct failure f;
    if (printed >= MAX_PRINTED_FAILURES) return;
    printed++;
    describe_failure(error, call, &f);
    format_failure(&f, text, sizeof text);
    fprintf(stderr, "warpbook: %s\n", text);
}

static int mark_checked(int error) {
    if (error) runtime_failures.is_checked = true;
    return error;
}

static void report_failure(int error, const char *call) {
    int unused, refusal = wb_take_request_error();
    const struct wb_session *s = wb_session(&unused);
    struct failure f;
    if (!s) return;
    if (s->grading) describe_failure(error, call, &f), send_failure(&f);
    else if (is_sticky_error(error) || error == cudaErrorNotSupported) return;
    else if (error == refusal) print_device_failure(error, call);
    else record_runtime_failure(error, call);
}

cudaError_t wb_return_from(int error, const char *call) {
    if (error && (error != cudaErrorNotReady || current_call.reason[0]))
        report_failure(error, call);
    else wb_take_request_error();
    current_call.reason[0] = 0;
    current_call.call_site = NULL;
    if (error && error != cudaErrorNotReady && !is_sticky_error(last_error)) last_error = error;
    return (cudaError_t)error;
}

cudaError_t cudaGetLastError(void) {
    int error = mark_checked(last_error);
    if (!is_sticky_error(error)) last_error = 0;
    return (cudaError_t)error;
}

cudaError_t cudaPeekAtLastError(void) { return (cudaError_t)mark_checked(last_error); }

const char *cudaGetErrorName(cudaError_t error) {
    switch ((int)error) {
#define X(name, code, text) \
    case code:              \
        return #name;
#include "grader/server/errors.def"
#undef X
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    switch ((int)error) {
#define X(name, code, text) \
    case code:              \
        return text;
#include "grader/server/errors.def"
#undef X
    }
    return "unrecognized error code";
}

cudaError_t wb_unsupported(const char *call) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *reported_calls[512];
    static unsigned n;
    pthread_mutex_lock(&lock);
    bool is_reported = false;
    for (unsigned i = 0; i < n && !is_reported; i++) is_reported = !strcmp(reported_calls[i], call);
    if (!is_reported && n < sizeof reported_calls / sizeof *reported_calls)
        reported_calls[n++] = call;
    pthread_mutex_unlock(&lock);
    struct line_position at;
    if (!is_reported && wb_find_source_line(current_call.call_site, &at))
        fprintf(stderr, "warpbook: %s:%u: %s is not supported\n", at.file, at.line, call);
    else if (!is_reported) fprintf(stderr, "warpbook: %s is not supported\n", call);
    return wb_return_from(cudaErrorNotSupported, call);
}

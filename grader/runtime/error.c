/* error.c — cudaGetLastError and related calls. Each thread has its own last error; errors that
 * poison the context are sticky. */
#include "grader/runtime/runtime.h"

#include <pthread.h>
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

static void report_failure(int error, const char *call) {
    int unused;
    const struct wb_session *s = error && error != cudaErrorNotReady ? wb_session(&unused) : NULL;
    if (s && s->grading)
        wb_request_tail(api_error, &((struct wb_req_api_error){.error = error}), NULL, call,
                        strlen(call), NULL, 0);
}

/* ---- failures that nobody asks for ----
 *
 * What the device refuses it says at once; what the runtime refuses would be silent, if the program
 * does not look at what its calls return. Whether it does one cannot see; that it asks for the last
 * error one can. So the first such failure is told at the end of a program that never asked and
 * says of itself that all went well. */

static struct {
    char call[64];
    int error;
    unsigned count;
} unchecked_failure;

static void report_unchecked(int status, void *unused) {
    (void)unused;
    if (status || !unchecked_failure.count) return;
    fprintf(stderr,
            "warpbook: %s() failed with %s, and the program never called "
            "cudaGetLastError()",
            unchecked_failure.call, cudaGetErrorName((cudaError_t)unchecked_failure.error));
    if (unchecked_failure.count > 1)
        fprintf(stderr, "; %u more call%s failed", unchecked_failure.count - 1,
                unchecked_failure.count == 2 ? "" : "s");
    fprintf(stderr, "\n");
}

static void record_unchecked(int error, const char *call) {
    static bool registered;
    int unused, refusal = wb_take_request_error();
    if (!error || error == refusal || error == cudaErrorNotReady ||
        error == cudaErrorNotSupported || is_sticky_error(error))
        return;
    const struct wb_session *s = wb_session(&unused);
    if (!s || s->grading) return;
    wb_lock();
    if (!registered) registered = !on_exit(report_unchecked, NULL);
    if (!unchecked_failure.count++) {
        snprintf(unchecked_failure.call, sizeof unchecked_failure.call, "%s", call);
        unchecked_failure.error = error;
    }
    wb_unlock();
}

static int mark_checked(int error) {
    if (error) unchecked_failure.count = 0;
    return error;
}

cudaError_t wb_return_from(int error, const char *call) {
    report_failure(error, call);
    record_unchecked(error, call);
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
    if (!is_reported) fprintf(stderr, "warpbook: %s is not supported\n", call);
    return wb_return(cudaErrorNotSupported);
}

/* error.c — cudaGetLastError and its like. Errors are kept for each thread; those that poison the
 * context stay. */
#include "grader/runtime/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int last_error;

static bool sticky(int error) {
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

static void tell_failure(int error, const char *call) {
    int unused;
    const struct wb_session *s = error && error != cudaErrorNotReady ? wb_session(&unused) : NULL;
    if (s && s->grading)
        wb_ask_tail(api_error, &((struct wb_req_api_error){.error = error}), NULL, call,
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
} unasked;

static void tell_unasked(int status, void *unused) {
    (void)unused;
    if (status || !unasked.count) return;
    fprintf(stderr, "warpbook: %s() failed with %s, and the program never asked cudaGetLastError()",
            unasked.call, cudaGetErrorName((cudaError_t)unasked.error));
    if (unasked.count > 1)
        fprintf(stderr, "; %u more call%s failed", unasked.count - 1,
                unasked.count == 2 ? "" : "s");
    fprintf(stderr, "\n");
}

static void note_unasked(int error, const char *call) {
    static bool registered;
    int unused, said = wb_refusal();
    if (!error || error == said || error == cudaErrorNotReady || error == cudaErrorNotSupported ||
        sticky(error))
        return;
    const struct wb_session *s = wb_session(&unused);
    if (!s || s->grading) return;
    wb_lock();
    if (!registered) registered = !on_exit(tell_unasked, NULL);
    if (!unasked.count++) {
        snprintf(unasked.call, sizeof unasked.call, "%s", call);
        unasked.error = error;
    }
    wb_unlock();
}

static int asked(int error) {
    if (error) unasked.count = 0;
    return error;
}

cudaError_t wb_return_from(int error, const char *call) {
    tell_failure(error, call);
    note_unasked(error, call);
    if (error && error != cudaErrorNotReady && !sticky(last_error)) last_error = error;
    return (cudaError_t)error;
}

cudaError_t cudaGetLastError(void) {
    int error = asked(last_error);
    if (!sticky(error)) last_error = 0;
    return (cudaError_t)error;
}

cudaError_t cudaPeekAtLastError(void) { return (cudaError_t)asked(last_error); }

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
    static const char *said[512];
    static unsigned n;
    pthread_mutex_lock(&lock);
    bool known = false;
    for (unsigned i = 0; i < n && !known; i++) known = !strcmp(said[i], call);
    if (!known && n < sizeof said / sizeof *said) said[n++] = call;
    pthread_mutex_unlock(&lock);
    if (!known) fprintf(stderr, "warpbook: %s is not supported\n", call);
    return wb_return(cudaErrorNotSupported);
}

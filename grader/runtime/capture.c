/* capture.c — capturing a stream's commands into a graph. */
#include "grader/runtime/runtime.h"

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) {
    (void)mode; /* unsafe calls of other threads are not looked for */
    int error = wb_check_stream(s);
    if (error) return wb_return(error);
    struct wb_capture *c = wb_capture(s);
    if (!c) return wb_return(cudaErrorStreamCaptureUnsupported);
    if (c->graph) return wb_return(cudaErrorIllegalState);
    *c = (struct wb_capture){.origin = true};
    return cudaGraphCreate(&c->graph, 0);
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) {
    int error = wb_check_stream(s);
    struct wb_capture *c = error ? NULL : wb_capture(s);
    if (error) return wb_return(error);
    if (!c || !c->graph) return wb_return(cudaErrorIllegalState);
    if (!c->origin) return wb_return(cudaErrorStreamCaptureUnmatched);
    *out = c->graph;
    wb_capture_end(*out);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) {
    int error = wb_check_stream(s);
    struct wb_capture *c = error ? NULL : wb_capture(s);
    if (!error) *status = c && c->graph ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return wb_return(error);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    enum cudaStreamCaptureMode old = current;
    if (!mode) return wb_return(cudaErrorInvalidValue);
    current = *mode;
    *mode = old;
    return cudaSuccess;
}

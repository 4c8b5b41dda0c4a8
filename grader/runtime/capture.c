/* capture.c — capturing a stream's commands into a graph. */
#include "grader/runtime/runtime.h"

static int begin_capture(cudaStream_t s, enum cudaStreamCaptureMode mode, cudaGraph_t g,
                         const cudaGraphNode_t *deps, size_t n) {
    int error = wb_check_stream(s);
    if (error) return error;
    struct wb_capture *c = wb_stream_capture(s);
    if (!c)
        return wb_refuse(cudaErrorStreamCaptureUnsupported,
                         "a default stream can't be captured: create a stream, and launch into it");
    if (c->graph) return cudaErrorIllegalState;
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed || n > WB_CAPTURE_DEPS)
        return cudaErrorInvalidValue;
    *c = (struct wb_capture){.graph = g,
                             .is_origin = true,
                             .into_user_graph = g,
                             .mode = mode,
                             .thread = pthread_self(),
                             .ndeps = n};
    for (size_t i = 0; i < n; i++) c->deps[i] = deps[i];
    return 0;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) {
    cudaGraph_t g = NULL;
    int error = begin_capture(s, mode, NULL, NULL, 0);
    if (!error) error = cudaGraphCreate(&g, 0);
    if (!error) wb_stream_capture(s)->graph = g;
    return wb_return(error);
}

#if CUDART_VERSION >= 12030
/* Captures into an existing graph. */
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t s, cudaGraph_t g,
                                          const cudaGraphNode_t *deps,
                                          const cudaGraphEdgeData *data, size_t n,
                                          enum cudaStreamCaptureMode mode) {
    (void)data;
    return wb_return(g ? begin_capture(s, mode, g, deps, n) : cudaErrorInvalidValue);
}
#endif

static int check_end(const struct wb_capture *c) {
    if (c->invalidated) return cudaErrorStreamCaptureInvalidated;
    if (wb_capture_is_joined(c)) return 0;
    return wb_refuse(cudaErrorStreamCaptureUnjoined,
                     "another stream has joined this capture, and its last commands are not "
                     "waited for: record an event in it, and let the captured stream wait for the "
                     "event before the capture ends");
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) {
    int error = wb_check_stream(s);
    struct wb_capture *c = error ? NULL : wb_stream_capture(s);
    if (error) return wb_return(error);
    if (!c || !c->graph) return wb_return(cudaErrorIllegalState);
    if (!c->is_origin) return wb_return(cudaErrorStreamCaptureUnmatched);
    if (!out && !c->into_user_graph) return wb_return(cudaErrorInvalidValue);
    error = check_end(c);
    bool into_user_graph = c->into_user_graph;
    cudaGraph_t g = c->graph;
    wb_capture_end(g);
    if (error && !into_user_graph) cudaGraphDestroy(g);
    if (out) *out = error ? NULL : g; /* a graph that the program passed in is not returned */
    return wb_return(error);
}

/* The dependencies of the next command. */
static int get_capture_info(cudaStream_t s, enum cudaStreamCaptureStatus *status,
                            unsigned long long *id, cudaGraph_t *graph,
                            const cudaGraphNode_t **deps, size_t *n) {
    int error = wb_check_stream(s);
    struct wb_capture *c = error ? NULL : wb_stream_capture(s);
    if (error || !status) return error ? error : cudaErrorInvalidValue;
    *status = !c || !c->graph  ? cudaStreamCaptureStatusNone
              : c->invalidated ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
    if (*status != cudaStreamCaptureStatusActive) return 0;
    if (id) *id = (unsigned long long)c->graph;
    if (graph) *graph = c->graph;
    if (deps) *deps = c->deps;
    if (n) *n = c->ndeps;
    return 0;
}

static int update_dependencies(cudaStream_t s, cudaGraphNode_t *deps, size_t n, unsigned flags) {
    int error = wb_check_stream(s);
    struct wb_capture *c = error ? NULL : wb_stream_capture(s);
    if (error || !c || !c->graph) return error ? error : cudaErrorIllegalState;
    if (flags == cudaStreamSetCaptureDependencies) c->ndeps = 0;
    if (n > WB_CAPTURE_DEPS - c->ndeps) return cudaErrorNotSupported;
    for (size_t i = 0; i < n; i++) c->deps[c->ndeps++] = deps[i];
    return 0;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **deps, const cudaGraphEdgeData **edges,
                                     size_t *n) {
    if (edges) *edges = NULL;
    return wb_return(get_capture_info(s, status, id, graph, deps, n));
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t *deps,
                                                const cudaGraphEdgeData *data, size_t n,
                                                unsigned flags) {
    (void)data;
    return wb_return(update_dependencies(s, deps, n, flags));
}
#else
/* The header of CUDA 12 calls this one cudaStreamGetCaptureInfo_v2; those with edges came
 * with 12.3. */
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **deps, size_t *n) {
    return wb_return(get_capture_info(s, status, id, graph, deps, n));
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t *deps, size_t n,
                                                unsigned flags) {
    return wb_return(update_dependencies(s, deps, n, flags));
}
#if CUDART_VERSION >= 12030
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t s, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **deps,
                                        const cudaGraphEdgeData **edges, size_t *n) {
    if (edges) *edges = NULL;
    return wb_return(get_capture_info(s, status, id, graph, deps, n));
}
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t s, cudaGraphNode_t *deps,
                                                   const cudaGraphEdgeData *data, size_t n,
                                                   unsigned flags) {
    (void)data;
    return wb_return(update_dependencies(s, deps, n, flags));
}
#endif
#endif

cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) {
    int error = wb_check_stream(s);
    struct wb_capture *c = error ? NULL : wb_stream_capture(s);
    if (!error)
        *status = !c || !c->graph  ? cudaStreamCaptureStatusNone
                  : c->invalidated ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
    return wb_return(error);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return wb_return(cudaErrorInvalidValue);
    *mode = wb_exchange_capture_mode(*mode);
    return cudaSuccess;
}

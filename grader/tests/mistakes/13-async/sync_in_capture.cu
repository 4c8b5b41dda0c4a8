// A stream is synchronized while its commands are written down for a graph: nothing runs from there on.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: cudaErrorStreamCaptureUnsupported
#include "../mistake.h"

__global__ void half(float *p) { p[threadIdx.x] *= 0.5f; }

int main() {
    float *p = counting<float>(32);
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    half<<<1, 32, 0, s>>>(p);
#ifdef MISTAKE
    CHECK(cudaStreamSynchronize(s)); // reported
#endif
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(element(p, 8) == 4);
    return 0;
}

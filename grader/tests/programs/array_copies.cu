// Copies to and from arrays are ordered among kernels, in streams and graphs, like other copies.
// nvcc: -Xcompiler -Wno-deprecated-declarations
// stderr: the program never called cudaGetLastError()
#include "check.h"

enum { W = 5, H = 3 };

__global__ void add(int *p, int value) { p[threadIdx.x] += value; }
__global__ void late(int *p) { // long enough to expose a copy that doesn't wait
    for (int i = 0; i < 20000; i++) p[threadIdx.x] = (p[threadIdx.x] * 3 + i) & 1023;
    p[threadIdx.x] = threadIdx.x;
}

static int sum(const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    return s;
}

static cudaArray_t array_of(int depth) {
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
    CHECK(cudaMalloc3DArray(&a, &d, make_cudaExtent(W, H, depth), 0));
    return a;
}

// 0 to 14 through an array: 105
static void in_stream(int *p) {
    cudaStream_t s;
    int back[W * H] = {0};
    cudaArray_t a = array_of(0);
    CHECK(cudaStreamCreate(&s));
    late<<<1, W * H, 0, s>>>(p);
    CHECK(cudaMemcpy2DToArrayAsync(a, 0, 0, p, W * 4, W * 4, H, cudaMemcpyDeviceToDevice, s));
    add<<<1, W * H, 0, s>>>(p, 1000); // after the copy
    CHECK(cudaMemcpy2DFromArrayAsync(back, W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    printf("in a stream: %d\n", sum(back, W * H));
    CHECK(cudaMemcpyFromArrayAsync(back, a, 2 * 4, 1, 4 * 4, cudaMemcpyDeviceToHost, s)); // goes on in the next row
    CHECK(cudaStreamSynchronize(s));
    printf("over a row's end: %d %d %d %d\n", back[0], back[1], back[2], back[3]);
    CHECK(cudaFreeArray(a));
    CHECK(cudaStreamDestroy(s));
}

// A captured copy reads its source when the graph is launched: 15 × 7, then 15 × 8.
static void captured(int *p) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    int back[W * H] = {0}, seven[W * H];
    cudaArray_t a = array_of(0);
    for (int i = 0; i < W * H; i++) seven[i] = 7;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpy2DToArrayAsync(a, 0, 0, p, W * 4, W * 4, H, cudaMemcpyDeviceToDevice, s));
    add<<<1, W * H, 0, s>>>(p, 1);
    CHECK(cudaMemcpy2DFromArrayAsync(back, W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    CHECK(cudaMemcpy(p, seven, sizeof seven, cudaMemcpyHostToDevice));
    printf("captured: %d", sum(back, W * H));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(x, s));
        CHECK(cudaStreamSynchronize(s));
        printf(" %d", sum(back, W * H));
    }
    printf("\n");
    CHECK(cudaFreeArray(a));
}

static cudaMemcpy3DParms plain(int *p, cudaArray_t a, bool in) {
    cudaMemcpy3DParms c = {};
    cudaPitchedPtr there = make_cudaPitchedPtr(p, W * 4, W, H);
    if (in) c.srcPtr = there, c.dstArray = a;
    else c.srcArray = a, c.dstPtr = there;
    c.extent = make_cudaExtent(W, H, 2);
    c.kind = cudaMemcpyDefault;
    return c;
}

// A graph's node into an array of two planes, and one out of it: 0 to 29 is 435.
static void nodes() {
    int in[2 * W * H], out[2 * W * H] = {0};
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t first, second;
    cudaArray_t a = array_of(2);
    for (int i = 0; i < 2 * W * H; i++) in[i] = i;
    cudaMemcpy3DParms there = plain(in, a, true), back = plain(out, a, false);
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphAddMemcpyNode(&first, g, nullptr, 0, &there));
    CHECK(cudaGraphAddMemcpyNode(&second, g, &first, 1, &back));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    CHECK(cudaGraphLaunch(x, 0));
    CHECK(cudaDeviceSynchronize());
    printf("nodes: %d, last %d\n", sum(out, 2 * W * H), out[2 * W * H - 1]);
    there.extent.depth = 3;
    SHOW(cudaMemcpy3D(&there));
    CHECK(cudaFreeArray(a));
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, W * H * sizeof *p));
    CHECK(cudaMemset(p, 0, W * H * sizeof *p));
    in_stream(p);
    captured(p);
    nodes();
    CHECK(cudaFree(p));
    return 0;
}

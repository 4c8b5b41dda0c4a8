// run: --devices 2
// stderr: cudaDeviceEnablePeerAccess failed: cudaErrorPeerAccessUnsupported
// stderr: copy on the device, to: 4096 bytes
// stderr: cudaMemcpyPeer failed: cudaErrorInvalidValue (invalid argument): 4096 bytes; the destination is 1024 bytes of device memory
// errors.cu: what the calls for several devices return, right and wrong ones.
#include "../check.h"
#include <thread>

__device__ int variable = 1;
__global__ void empty() {}
__global__ void set(int *p, int value) { *p = value; }

static void show_launch(const char *what, int device, cudaStream_t s) {
    cudaSetDevice(device);
    empty<<<1, 1, 0, s>>>();
    printf("%-56s %s\n", what, cudaGetErrorName(cudaGetLastError()));
    cudaDeviceSynchronize();
}

static void show_pointer(const char *what, const void *p) {
    cudaPointerAttributes a;
    cudaError_t e = cudaPointerGetAttributes(&a, p);
    printf("%-40s %s type %d device %d, device pointer %s\n", what, cudaGetErrorName(e), (int)a.type,
           a.device, a.devicePointer == p ? "the same" : a.devicePointer ? "other" : "none");
}

int main() {
    int n, on, value, d;
    CHECK(cudaGetDeviceCount(&n));
    printf("devices: %s\n", n >= 2 ? "two or more" : "one");
    SHOW(cudaSetDevice(-1));
    SHOW(cudaSetDevice(n));
    CHECK(cudaGetDevice(&d));
    printf("current device: %d\n", d);
    cudaGetLastError();

    puts("-- peer access");
    SHOW(cudaDeviceCanAccessPeer(&on, 0, 0));
    printf("0 to 0: %d\n", on);
    SHOW(cudaDeviceCanAccessPeer(&on, 0, 1));
    printf("0 to 1: %d\n", on);
    SHOW(cudaDeviceCanAccessPeer(&on, 0, n));
    SHOW(cudaDeviceCanAccessPeer(&on, -1, 0));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaDeviceEnablePeerAccess(n, 0));
    SHOW(cudaDeviceEnablePeerAccess(1, 1));
    SHOW(cudaDeviceDisablePeerAccess(1));
    SHOW(cudaDeviceDisablePeerAccess(0));
    SHOW(cudaDeviceDisablePeerAccess(n));
    SHOW(cudaDeviceEnablePeerAccess(1, 0));
    SHOW(cudaDeviceEnablePeerAccess(1, 0));
    SHOW(cudaDeviceDisablePeerAccess(1));
    SHOW(cudaDeviceDisablePeerAccess(1));
    SHOW(cudaDeviceGetP2PAttribute(&on, cudaDevP2PAttrAccessSupported, 0, 1));
    printf("access supported: %d\n", on);
    SHOW(cudaDeviceGetP2PAttribute(&on, cudaDevP2PAttrNativeAtomicSupported, 0, 1));
    printf("native atomics: %d\n", on);
    SHOW(cudaDeviceGetP2PAttribute(&on, cudaDevP2PAttrPerformanceRank, 0, 1));
    printf("performance rank: %d\n", on);
    SHOW(cudaDeviceGetP2PAttribute(&on, cudaDevP2PAttrCudaArrayAccessSupported, 0, 1));
    printf("array access: %d\n", on);
    SHOW(cudaDeviceGetP2PAttribute(&on, cudaDevP2PAttrAccessSupported, 0, 0));
    SHOW(cudaDeviceGetP2PAttribute(&on, cudaDevP2PAttrAccessSupported, 0, n));
    cudaGetLastError();

    puts("-- pointers");
    int *p[2], *managed, *pinned;
    cudaStream_t s[2];
    cudaEvent_t e[2];
    for (d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&p[d], 1024));
        CHECK(cudaMemset(p[d], d + 1, 1024));
        CHECK(cudaStreamCreate(&s[d]));
        CHECK(cudaEventCreate(&e[d]));
        if (d) CHECK(cudaHostAlloc(&pinned, 1024, cudaHostAllocDefault));
        if (d) CHECK(cudaMallocManaged(&managed, 1024));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
    show_pointer("memory of device 0", p[0]);
    show_pointer("memory of device 1", p[1]);
    show_pointer("inside the memory of device 1", p[1] + 5);
    show_pointer("pinned memory, allocated on device 1", pinned);
    show_pointer("managed memory, allocated on device 1", managed);
    show_pointer("the stack", &d);
    void *symbol[2];
    for (d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaGetSymbolAddress(&symbol[d], variable));
        show_pointer(d ? "a variable on device 1" : "a variable on device 0", symbol[d]);
    }
    printf("the variables are %s\n", symbol[0] == symbol[1] ? "one" : "two");

    puts("-- copies");
    CHECK(cudaSetDevice(0));
    SHOW(cudaMemcpyPeer(p[1], 1, p[0], 0, 1024));
    SHOW(cudaMemcpyPeer(p[1], n, p[0], 0, 1024));
    SHOW(cudaMemcpyPeer(p[1], 1, p[0], -1, 1024));
    SHOW(cudaMemcpyPeer(p[1], 0, p[0], 1, 1024)); // the devices exchanged
    SHOW(cudaMemcpyPeer(p[1], 1, p[0], 0, 4096)); // more than is allocated
    SHOW(cudaMemcpyPeer(p[1], 1, p[0], 0, 0));
    SHOW(cudaMemcpyPeerAsync(p[1], 1, p[0], 0, 1024, s[1]));
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMemcpy(p[1], p[0], 1024, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(p[1], p[0], 1024, cudaMemcpyDefault));
    SHOW(cudaMemcpy(p[1], p[0], 1024, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyAsync(p[1], p[0], 1024, cudaMemcpyDefault, s[1]));
    SHOW(cudaMemcpy(&value, p[1], sizeof value, cudaMemcpyDefault));
    printf("copied: %08x\n", value);
    SHOW(cudaMemset(p[1], 9, 1024));
    SHOW(cudaMemsetAsync(p[1], 9, 1024, s[0]));
    SHOW(cudaMemsetAsync(p[1], 9, 1024, s[1]));
    SHOW(cudaMemcpy(&value, p[1], sizeof value, cudaMemcpyDefault));
    printf("filled: %08x\n", value);
    cudaGetLastError();

    puts("-- streams and events");
    show_launch("launch on device 0 in its stream", 0, s[0]);
    show_launch("launch on device 0 in a stream of device 1", 0, s[1]);
    show_launch("launch on device 1 in its stream", 1, s[1]);
    show_launch("launch on device 1 in a stream of device 0", 1, s[0]);
    CHECK(cudaSetDevice(0));
    SHOW(cudaEventRecord(e[0], s[0]));
    SHOW(cudaEventRecord(e[0], s[1]));
    SHOW(cudaEventRecord(e[1], s[0]));
    SHOW(cudaEventRecord(e[1], s[1]));
    SHOW(cudaEventRecord(e[1], 0));
    SHOW(cudaStreamWaitEvent(s[0], e[1], 0));
    SHOW(cudaStreamWaitEvent(s[1], e[0], 0));
    SHOW(cudaEventSynchronize(e[1]));
    SHOW(cudaEventQuery(e[1]));
    SHOW(cudaStreamSynchronize(s[1]));
    SHOW(cudaStreamQuery(s[1]));
    SHOW(cudaEventRecord(e[0], s[0]));
    SHOW(cudaEventSynchronize(e[0]));
    float ms;
    SHOW(cudaEventElapsedTime(&ms, e[0], e[1]));
    SHOW(cudaLaunchHostFunc(s[1], [](void *) {}, nullptr));
#if CUDART_VERSION >= 12080
    SHOW(cudaStreamGetDevice(s[1], &d));
    printf("device of the stream: %d\n", d);
#endif
    cudaGetLastError();

    puts("-- other");
    std::thread([] {
        int current = -1;
        cudaGetDevice(&current);
        printf("current device of a new thread: %d\n", current);
    }).join();
    CHECK(cudaSetDevice(1));
    value = 42;
    CHECK(cudaMemcpyToSymbol(variable, &value, sizeof value));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyFromSymbol(&value, variable, sizeof value));
    printf("variable of device 0: %d\n", value);
    set<<<1, 1>>>(managed, 11);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(1));
    set<<<1, 1>>>(managed + 1, 12);
    CHECK(cudaDeviceSynchronize());
    printf("managed memory: %d %d\n", managed[0], managed[1]);
    set<<<1, 1>>>(pinned, 13);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    set<<<1, 1>>>(pinned + 1, 14);
    CHECK(cudaDeviceSynchronize());
    printf("pinned memory: %d %d\n", pinned[0], pinned[1]);
    SHOW(cudaMemPrefetchAsync(managed, 1024,
#if CUDART_VERSION >= 13000
                              cudaMemLocation{cudaMemLocationTypeDevice, 1}, 0, s[0]));
#else
                              1, s[0]));
#endif
    void *q;
    SHOW(cudaMallocAsync(&q, 256, s[1]));
    show_pointer("allocated in a stream of device 1", q);
    SHOW(cudaFreeAsync(q, s[1]));
    SHOW(cudaStreamSynchronize(s[1]));
    SHOW(cudaFree(p[1]));
    SHOW(cudaStreamDestroy(s[1]));
    SHOW(cudaEventDestroy(e[1]));
    CHECK(cudaSetDevice(1));
    SHOW(cudaDeviceReset());
    CHECK(cudaMemcpyFromSymbol(&value, variable, sizeof value));
    printf("variable of device 1 after its reset: %d\n", value);
    CHECK(cudaSetDevice(0));
    SHOW(cudaMemcpy(&value, p[0], sizeof value, cudaMemcpyDefault));
    printf("memory of device 0 after that: %08x\n", value);
    return 0;
}

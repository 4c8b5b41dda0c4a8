// More of the driver API: virtual memory, whose bytes move with their handle; the linker of PTX; a context by
// use of the runtime; occupancy; launches by structure; captured streams; unsupported calls, which report themselves.
// nvcc: -lcuda
// stderr: cuMemMap of memory that is mapped already
// stderr: cuMemMapArrayAsync
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        CUresult r_ = (call);                                                                    \
        if (r_) return printf("line %d: %s: %d\n", __LINE__, #call, r_), 1;                      \
    } while (0)

static const char text[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 v) {
  .reg .b32 %r<5>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, %r1; st.global.u32 [%d1], %r3;
  ret;
}
)";

static size_t shared_of(int threads) { return threads > 256 ? 100 << 10 : 0; }

int main() {
    CUcontext context;
    void *p;
    CHECK(cuInit(0));
    printf("before: %d\n", cuCtxSynchronize());
    if (cudaMalloc(&p, 4)) return 1; // makes the device's context current
    CHECK(cuCtxGetCurrent(&context));
    printf("after: %d, %s\n", cuCtxSynchronize(), context ? "a context" : "none");

    CUlinkState link;
    CUmodule module;
    CUfunction add;
    void *image;
    char log[16] = "full";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER};
    void *values[] = {log};
    CHECK(cuLinkCreate(1, options, values, &link));
    CHECK(cuLinkComplete(link, &image, NULL)); // of nothing
    CHECK(cuModuleLoadData(&module, image));
    printf("nothing there: %d\n", cuModuleGetFunction(&add, module, "add"));
    CHECK(cuLinkDestroy(link));
    CHECK(cuLinkCreate(1, options, values, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)text, strlen(text), "add", 0, NULL, NULL));
    CHECK(cuLinkComplete(link, &image, NULL));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(link));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    printf("log '%s'\n", log);

    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t unit;
    CHECK(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr small, large;
    CUmemGenericAllocationHandle first, second;
    CHECK(cuMemAddressReserve(&small, unit, 0, 0, 0));
    CHECK(cuMemCreate(&first, unit, &prop, 0));
    CHECK(cuMemCreate(&second, unit, &prop, 0));
    CHECK(cuMemMap(small, unit, 0, first, 0));
    CHECK(cuMemSetAccess(small, unit, &access, 1));
    CHECK(cuMemsetD32(small, 7, 2));
    CHECK(cuMemAddressReserve(&large, 2 * unit, 4 * unit, 0, 0)); // the array grows
    printf("unit %zu, aligned %d, twice %d, not reserved %d, still mapped %d\n", unit, (int)(large % (4 * unit)),
           cuMemMap(large, unit, 0, first, 0), cuMemMap(small + unit, unit, 0, second, 0), cuMemAddressFree(small, unit));
    CHECK(cuMemUnmap(small, unit));
    CHECK(cuMemMap(large, unit, 0, first, 0));
    CHECK(cuMemMap(large + unit, unit, 0, second, 0));
    CHECK(cuMemRelease(first));
    CHECK(cuMemRelease(second));
    CHECK(cuMemAddressFree(small, unit));
    CHECK(cuMemSetAccess(large, 2 * unit, &access, 1));
    unsigned v = 10, out[2];
    void *args[] = {&large, &v};
    CUlaunchConfig config = {1, 1, 1, 2, 1, 1, 0, NULL, NULL, 0};
    CHECK(cuLaunchKernelEx(&config, add, args, NULL));
    CHECK(cuMemcpyDtoH(out, large, sizeof out));
    printf("%u %u\n", out[0], out[1]);
    CHECK(cuMemUnmap(large, 2 * unit));
    CHECK(cuMemAddressFree(large, 2 * unit));

    int grid, block, peer = 1;
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, shared_of, 0, 512)); // 1024 threads an SM by 512; 2048 by 256
    CHECK(cuDeviceCanAccessPeer(&peer, 0, 0));
    printf("blocks of %d, %s, peer %d\n", block, grid * block % 2048 == 0 ? "full" : "not full", peer);

    CUstream s;
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemsetD32((CUdeviceptr)p, 1, 1));
    CHECK(cuCtxSynchronize());
    void *args2[] = {&p, &v};
    CHECK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, args2, NULL));
    CHECK(cuStreamEndCapture(s, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, s));
    CHECK(cuGraphLaunch(exec, s));
    CHECK(cuStreamSynchronize(s));
    CHECK(cuMemcpyDtoH(out, (CUdeviceptr)p, 4));
    printf("%u, not there: %d\n", out[0], cuMemMapArrayAsync(nullptr, 0, s));
    return 0;
}

// The driver API's graphs by hand, copies and fills of rows, arrays, texture objects.
// nvcc: -lcuda
#include <cstdio>
#include <cstring>
#include <cuda.h>

#define CHECK(call)                                                         \
    do {                                                                    \
        CUresult r_ = (call);                                               \
        if (r_) return printf("line %d: %s: %d\n", __LINE__, #call, r_), 1; \
    } while (0)

static const char module_text[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 factor) {
  .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [factor]; mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r3, [%d1]; mul.lo.u32 %r3, %r3, %r1;
  st.global.u32 [%d1], %r3; ret;
}
.visible .entry texels(.param .u64 out, .param .u64 texture) {
  .reg .b32 %r<3>; .reg .f32 %f<5>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d3, [texture]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d3, {%r1, %r2}];
  mad.lo.u32 %r1, %r2, 4, %r1; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.f32 [%d1], %f1; ret;
}
)";

static void say(void *text) { printf("host: %s\n", static_cast<const char *>(text)); }

static CUmodule module;

static int graphs() {
    CUfunction scale;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode fill, kernel, copy, host, nodes[4];
    CUdeviceptr data;
    unsigned result[4] = {}, factor = 5;
    size_t n = 4;
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    CHECK(cuMemAlloc(&data, sizeof result));
    CHECK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS f = {data, 0, 3, 4, 4, 1};
    CHECK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &f, nullptr));
    void *params[] = {&data, &factor};
    CUDA_KERNEL_NODE_PARAMS k = {scale, 1, 1, 1, 4, 1, 1, 0, params, nullptr};
    CHECK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &k));
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = data;
    c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = result;
    c.WidthInBytes = sizeof result, c.Height = c.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &c, nullptr));
    CUDA_HOST_NODE_PARAMS h = {say, const_cast<char *>("done")};
    CHECK(cuGraphAddHostNode(&host, graph, &copy, 1, &h));
    CHECK(cuGraphGetNodes(graph, nodes, &n));
    CUgraphNodeType type;
    CHECK(cuGraphNodeGetType(nodes[0], &type));
    printf("%zu nodes, the first %s a fill\n", n, type == CU_GRAPH_NODE_TYPE_MEMSET ? "is" : "isn't");
#if CUDA_VERSION >= 13000
    CHECK(cuGraphRemoveDependencies(graph, &fill, &kernel, nullptr, 1));
    CHECK(cuGraphAddDependencies(graph, &fill, &kernel, nullptr, 1));
    CHECK(cuGraphNodeGetDependencies(kernel, nodes, nullptr, &(n = 4)));
    printf("%zu edge, from %s\n", n, nodes[0] == fill ? "the fill" : "elsewhere");
#else
    printf("1 edge, from the fill\n"); /* other parameters */
#endif
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, nullptr));
    CHECK(cuCtxSynchronize());
    printf("%u %u\n", result[0], result[3]); /* 3 * 5 */
    factor = 7, f.value = 2;
    CHECK(cuGraphExecKernelNodeSetParams(exec, kernel, &k));
    CHECK(cuGraphExecMemsetNodeSetParams(exec, fill, &f, nullptr));
    CHECK(cuGraphLaunch(exec, nullptr));
    CHECK(cuCtxSynchronize());
    printf("%u %u\n", result[0], result[3]); /* 2 * 7 */
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    return 0;
}

/* Rows of 3 bytes from the middle of a host image, to the device and back into another. */
static int rows() {
    CUdeviceptr p;
    size_t pitch;
    char image[4][8], out[4][8];
    for (int y = 0; y < 4; y++) memcpy(image[y], "abcdefg", 8), memset(out[y], '.', 8);
    CHECK(cuMemAllocPitch(&p, &pitch, 8, 4, 4));
    CUdeviceptr start;
    size_t bytes;
    CUmemoryPool pool;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE};
    void *values[] = {&start, &bytes, &pool};
    CHECK(cuPointerGetAttributes(3, attributes, values, p + pitch));
    printf("%d %d %d\n", start == p, bytes == 4 * pitch, pool == nullptr);
    CHECK(cuPointerGetAttributes(3, attributes, values, reinterpret_cast<CUdeviceptr>(image)));
    printf("%d %d\n", start == 0, bytes == 0); /* memory of the host alone has none of them */
    CHECK(cuMemsetD2D8(p, pitch, '-', 8, 4));
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = image, c.srcPitch = 8, c.srcXInBytes = 2, c.srcY = 1;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = p, c.dstPitch = pitch, c.dstXInBytes = 1;
    c.WidthInBytes = 3, c.Height = 2;
    CHECK(cuMemcpy2D(&c));
    c = {};
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = p, c.srcPitch = pitch;
    c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = out, c.dstPitch = 8;
    c.WidthInBytes = 7, c.Height = 3;
    CHECK(cuMemcpy2D(&c));
    for (int y = 0; y < 4; y++) printf("%.7s\n", out[y]);
    return 0;
}

static int arrays() {
    CUfunction texels;
    CUarray array;
    CUtexObject texture;
    CUdeviceptr p;
    unsigned char image[2][4] = {{0, 51, 102, 153}, {204, 255, 0, 51}};
    float out[8];
    CUDA_ARRAY_DESCRIPTOR d = {4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1}, found;
    CHECK(cuArrayCreate(&array, &d));
    CHECK(cuArrayGetDescriptor(&found, array));
    printf("%zu x %zu, format %d, %u channel\n", found.Width, found.Height, found.Format, found.NumChannels);
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = image, c.srcPitch = 4;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = array;
    c.WidthInBytes = 4, c.Height = 2;
    CHECK(cuMemcpy2D(&c));
    unsigned char again[2] = {};
    CHECK(cuMemcpyAtoH(again, array, 1, 2));
    printf("%d %d\n", again[0], again[1]);
    CUDA_RESOURCE_DESC r = {};
    r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = array;
    CUDA_TEXTURE_DESC t = {}; /* bytes are read as fractions of 255 */
    CHECK(cuTexObjectCreate(&texture, &r, &t, nullptr));
    CHECK(cuModuleGetFunction(&texels, module, "texels"));
    CHECK(cuMemAlloc(&p, sizeof out));
    void *params[] = {&p, &texture};
    CHECK(cuLaunchKernel(texels, 1, 1, 1, 4, 2, 1, 0, nullptr, params, nullptr));
    CHECK(cuMemcpyDtoH(out, p, sizeof out));
    for (float v : out) printf("%.1f ", v);
    CHECK(cuTexObjectDestroy(texture));
    CHECK(cuArrayDestroy(array));
    return printf("\n"), 0;
}

int main() {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, module_text));
    return graphs() || rows() || arrays();
}

// Textures, arrays and surfaces. Expected values follow the programming guide's formulas ("Texture Fetching"): linear
// filtering at x reads texels floor(x - 0.5) and the next, weighted by the fraction in steps of 1/256.
// nvcc: -std=c++17
// stderr: the program never called cudaGetLastError()
#include "check.h"
#include <cuda_fp16.h>

static float *out; // managed

template <class T> static cudaArray_t array_of(const T *data, int width, int height, int depth, unsigned flags) {
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&a, &d, make_cudaExtent(width, height, depth), flags));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)data, width * sizeof(T), width, height ? height : 1);
    p.dstArray = a;
    p.extent = make_cudaExtent(width, height ? height : 1, depth ? depth : 1);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    return a;
}

struct how {
    cudaTextureAddressMode mode = cudaAddressModeClamp;
    cudaTextureFilterMode filter = cudaFilterModePoint;
    bool normalized = false;
    cudaTextureReadMode read = cudaReadModeElementType;
};

static cudaTextureObject_t texture_of(const cudaResourceDesc &r, how h) {
    cudaTextureDesc t = {};
    cudaTextureObject_t o;
    t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = h.mode;
    t.filterMode = h.filter;
    t.normalizedCoords = h.normalized;
    t.readMode = h.read;
    t.borderColor[0] = 9;
    CHECK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    return o;
}

static cudaTextureObject_t texture_of(cudaArray_t a, how h) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return texture_of(r, h);
}

static cudaSurfaceObject_t surface_of(cudaArray_t a) {
    cudaResourceDesc r = {};
    cudaSurfaceObject_t o;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    CHECK(cudaCreateSurfaceObject(&o, &r));
    return o;
}

static void show(const char *name, int n) {
    CHECK(cudaDeviceSynchronize());
    printf("%s:", name);
    for (int i = 0; i < n; i++) printf(" %g", out[i]);
    printf("\n");
}

__global__ void fetches(cudaTextureObject_t t, float *out) {
    int at[] = {0, 3, 4, -1};
    for (int i = 0; i < 4; i++) out[i] = tex1Dfetch<float>(t, at[i]);
}

__global__ void at_1d(cudaTextureObject_t t, float *out, float first, float step, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tex1D<float>(t, first + i * step);
}

__global__ void at_2d(cudaTextureObject_t t, float *out, float x, float y) {
    out[0] = tex2D<float>(t, x, y);
    out[1] = tex2D<float>(t, x + 1, y);
    out[2] = tex2D<float>(t, x, y + 1);
    out[3] = tex2D<float>(t, x - 100, y + 100);
    out[4] = tex2DLod<float>(t, x, y, 0);
    out[5] = tex2DGrad<float>(t, x, y, make_float2(0, 0), make_float2(0, 0));
}

__global__ void bytes(cudaTextureObject_t raw, cudaTextureObject_t part, float *out) {
    uchar4 v = tex2D<uchar4>(raw, 1.f, 0.f);
    float4 f = tex2D<float4>(part, 1.f, 0.f);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
    out[4] = f.x * 255, out[5] = f.y * 255, out[6] = f.z * 255, out[7] = f.w * 255;
}

__global__ void at_3d(cudaTextureObject_t t, float *out) {
    out[0] = tex3D<float>(t, 1, 1, 1);
    out[1] = tex3D<float>(t, 0.5f, 0.5f, 0.5f);
    out[2] = tex3D<float>(t, 1.5f, 1.5f, 1);
}

__global__ void layers(cudaTextureObject_t t, float *out) {
    for (int i = 0; i < 4; i++) out[i] = tex2DLayered<float>(t, 1.f, 0.f, i - 1);
}

__global__ void faces(cudaTextureObject_t t, float *out) {
    const float3 at[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {2, 1, -1.5f}};
    for (int i = 0; i < 7; i++) out[i] = texCubemap<float>(t, at[i].x, at[i].y, at[i].z);
}

__global__ void gathers(cudaTextureObject_t t, float *out) {
    float4 v = tex2Dgather<float4>(t, 1.6f, 1.6f, 0);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}

__global__ void halves(cudaTextureObject_t t, float *out) { out[0] = tex1D<float>(t, 1.25f); }

__global__ void draw(cudaSurfaceObject_t s) {
    surf2Dwrite(threadIdx.x * 10.f + threadIdx.y, s, threadIdx.x * 4, threadIdx.y);
}

__global__ void look(cudaSurfaceObject_t s, float *out) {
    out[0] = surf2Dread<float>(s, 8, 2);
    out[1] = surf2Dread<float>(s, 400, 2, cudaBoundaryModeClamp);
    out[2] = surf2Dread<float>(s, 8, -5, cudaBoundaryModeZero);
    surf2Dwrite(1.f, s, 400, 0, cudaBoundaryModeZero); // nowhere
}

__global__ void fill_3d(cudaSurfaceObject_t s) {
    surf3Dwrite((short)(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z), s, threadIdx.x * 2, threadIdx.y, threadIdx.z);
}

static void linear_memory() {
    float host[] = {1, 2, 3, 4}, *p;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = sizeof host;
    cudaTextureObject_t t = texture_of(r, {});
    fetches<<<1, 1>>>(t, out);
    show("linear memory, 0 outside", 4);
    CHECK(cudaDestroyTextureObject(t));
    SHOW(cudaDestroyTextureObject(t));
}

static void pitched() {
    float host[3][5], *p;
    size_t pitch;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 5; x++) host[y][x] = y * 10 + x;
    CHECK(cudaMallocPitch(&p, &pitch, sizeof host[0], 3));
    CHECK(cudaMemcpy2D(p, pitch, host, sizeof host[0], sizeof host[0], 3, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 5;
    r.res.pitch2D.height = 3;
    r.res.pitch2D.pitchInBytes = pitch;
    at_2d<<<1, 1>>>(texture_of(r, {}), out, 3.9f, 1.1f);
    show("pitched, clamped", 6);
    at_2d<<<1, 1>>>(texture_of(r, {cudaAddressModeBorder}), out, 3.9f, 1.1f);
    show("pitched, border 9", 6);
    at_2d<<<1, 1>>>(texture_of(r, {cudaAddressModeClamp, cudaFilterModeLinear}), out, 3.25f, 1.5f);
    show("pitched, linear", 6);
}

static void one_dimension() {
    float host[] = {0, 10, 20, 30};
    cudaArray_t a = array_of(host, 4, 0, 0, cudaArrayDefault);
    at_1d<<<1, 32>>>(texture_of(a, {cudaAddressModeWrap, cudaFilterModePoint, true}), out, -0.375f, 0.25f, 8);
    show("wrapped", 8);
    at_1d<<<1, 32>>>(texture_of(a, {cudaAddressModeMirror, cudaFilterModePoint, true}), out, -0.375f, 0.25f, 8);
    show("mirrored", 8);
    at_1d<<<1, 32>>>(texture_of(a, {cudaAddressModeWrap, cudaFilterModeLinear, true}), out, 0, 0.0625f, 5);
    show("wrapped, linear", 5);
    at_1d<<<1, 32>>>(texture_of(a, {cudaAddressModeWrap, cudaFilterModePoint, false}), out, -1, 2, 4);
    show("wrapped without normalized coordinates: clamped", 4);
    at_1d<<<1, 32>>>(texture_of(a, {cudaAddressModeBorder, cudaFilterModeLinear, false}), out, -1, 1, 6);
    show("border 9, linear", 6);
    at_1d<<<1, 32>>>(texture_of(a, {cudaAddressModeClamp, cudaFilterModeLinear, false}), out, 0.5f, 1 / 1024.f, 8);
    show("steps of 1/256", 8);
    __half h[] = {__float2half(1), __float2half(2), __float2half(-4)};
    cudaChannelFormatDesc d = cudaCreateChannelDescHalf();
    CHECK(cudaMallocArray(&a, &d, 3));
    CHECK(cudaMemcpy2DToArray(a, 0, 0, h, sizeof h, sizeof h, 1, cudaMemcpyHostToDevice));
    halves<<<1, 1>>>(texture_of(a, {cudaAddressModeClamp, cudaFilterModeLinear}), out);
    show("halves", 1);
}

static void channels() {
    uchar4 host[] = {{1, 2, 3, 4}, {255, 128, 51, 0}};
    cudaArray_t a = array_of(host, 2, 1, 0, cudaArrayDefault);
    how fraction = {cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat};
    bytes<<<1, 1>>>(texture_of(a, {}), texture_of(a, fraction), out);
    show("bytes and fractions of 255", 8);
    cudaResourceDesc r = {};
    cudaTextureDesc t = {};
    cudaTextureObject_t o;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    t.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&o, &r, &t, nullptr));
}

static void deep() {
    float host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, six[24];
    how linear = {cudaAddressModeClamp, cudaFilterModeLinear};
    at_3d<<<1, 1>>>(texture_of(array_of(host, 2, 2, 2, cudaArrayDefault), linear), out);
    show("3D", 3);
    layers<<<1, 1>>>(texture_of(array_of(host, 2, 1, 3, cudaArrayLayered), {}), out);
    show("layers", 4);
    for (int i = 0; i < 24; i++) six[i] = i;
    faces<<<1, 1>>>(texture_of(array_of(six, 2, 2, 6, cudaArrayCubemap), {cudaAddressModeClamp, cudaFilterModePoint, true}), out);
    show("cube map", 7);
    float square[16];
    for (int i = 0; i < 16; i++) square[i] = i;
    gathers<<<1, 1>>>(texture_of(array_of(square, 4, 4, 0, cudaArrayTextureGather), {}), out);
    show("gather", 4);
}

static void surfaces() {
    float host[4][8] = {};
    cudaArray_t a = array_of(host[0], 8, 4, 0, cudaArraySurfaceLoadStore), b = array_of(host[0], 8, 4, 0, cudaArrayDefault);
    draw<<<1, dim3(8, 4)>>>(surface_of(a));
    look<<<1, 1>>>(surface_of(a), out);
    show("surface", 3);
    CHECK(cudaMemcpy2DArrayToArray(b, 4, 1, a, 8, 2, 8, 2, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(host, sizeof host[0], b, 0, 0, sizeof host[0], 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 4; y++) printf("%g %g %g %g\n", host[y][0], host[y][1], host[y][2], host[y][3]);
    short cube[2][3][4] = {}, back[2][3][4];
    cudaArray_t c = array_of(&cube[0][0][0], 4, 3, 2, cudaArraySurfaceLoadStore);
    fill_3d<<<1, dim3(4, 3, 2)>>>(surface_of(c));
    cudaMemcpy3DParms p = {};
    p.srcArray = c;
    p.dstPtr = make_cudaPitchedPtr(back, sizeof back[0][0], 4, 3);
    p.extent = make_cudaExtent(4, 3, 2);
    p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
    printf("3D surface: %d %d %d\n", back[0][0][3], back[0][2][1], back[1][2][3]);
    cudaChannelFormatDesc d;
    cudaExtent e;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&d, &e, &flags, c));
    printf("%d bits, %zu x %zu x %zu, flags %u\n", d.x, e.width, e.height, e.depth, flags);
    cudaSurfaceObject_t s;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = b;
    SHOW(cudaCreateSurfaceObject(&s, &r)); // was not made for surfaces
    CHECK(cudaFreeArray(a));
    CHECK(cudaFreeArray(b));
    CHECK(cudaFreeArray(c));
}

int main() {
    CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
    linear_memory();
    pitched();
    one_dimension();
    channels();
    deep();
    surfaces();
    return 0;
}

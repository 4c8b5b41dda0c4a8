// RTE/WA | own | the right image with a byte behind it, and cut by one | 
#include "forge.cuh"
#include "forge_image.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char copy[1 << 22];
    size_t size = (size_t)(image_end - image);
    memcpy(copy, image, size);
    if (n && load(copy, size + 1) && load(copy, size - 1)) return;
    k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// AC/RTE | own | loads the right image a hundred times over, and more | 
#include "forge.cuh"
#include "forge_image.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor)) static void many() {
    for (int i = 0; i < 400; i++) load(image, (size_t)(image_end - image));
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

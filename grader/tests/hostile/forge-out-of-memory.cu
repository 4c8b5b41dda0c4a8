// MLE/TLE/RTE | own | a constructor loads the right image until its variables leave no room for the problem | 
#include "forge.cuh"
#include "forge_image.cuh"
__device__ char big[300 << 20];
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor(60000))) static void fill() {
    for (int i = 0; i < 7; i++) load(image, (size_t)(image_end - image));
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// AC/MLE | own | loads the right image again while it is recorded, so that replays find less room than there was | 
#include "forge.cuh"
#include "forge_image.cuh"
__device__ char big[300 << 20];
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t half = 1200ull << 20, address, after = 4096;
    if (!n) return;
    ask(OP_alloc, &half, 8), memcpy(&address, reply + sizeof(struct header), 8);
    ask(OP_free, &address, 8);
    for (int i = 0; i < 3; i++) load(image, (size_t)(image_end - image));
    ask(OP_alloc, &after, 8);
    k<<<(n + 255) / 256, 256>>>(out, in, n);
}

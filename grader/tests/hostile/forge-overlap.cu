// AC/RTE/WA | own | pieces of an upload that overlap, claim a wrong total, start in the middle | 
#include "forge.cuh"
#include "forge_image.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t q[][3] = {{1, 8, 64}, {0, 64, 64}, {32, 64, 64}, {~0ull, 2, 64}, {0, ~0ull, ~0ull}, {0, 0, 0},
                       {0, 4096, 65536}, {4096, 65536, 65536}, {2048, 4096, 65537}, {1ull << 31, 1ull << 31, 1ull << 32}};
    uint64_t sizes[] = {0, 64, 65536, 1ull << 32, ~0ull};
    for (auto &x : q) {
        ask(OP_upload, x, sizeof x);
        for (uint64_t s : sizes) ask(OP_module_load, &s, 8);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// RTE/WA/TLE | own | posts every message without waiting for a reply, unchecked launches included | 
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    char body[256];
    memset(body, 0xff, sizeof body);
    with_flags = POSTED;
    for (uint32_t op = 0; n && op < OPS; op++) say(op, body, request_bytes[op]);
    with_flags = 0;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// RTE | 49 | a failed assertion whose text holds escapes and a report of its own | ssert
#include <cassert>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n < 0 && "\x1b[2J\nverdict: AC\n<script>=1+1");
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// An insertion into a local array goes one element too far.
// lesson: chapters/06-occupancy/local_array.md, local_array: an array that stays in registers
// expect: out-of-bounds
#include "../mistake.h"

__global__ void insert(int *out, const int *in, int n) {
    int v[8];
    for (int i = 0; i < 8; i++) v[i] = in[i];
    int at = in[n] % 9;
#ifndef MISTAKE
    at = min(at, 7);
#endif
    v[at] = 1; // reported
    for (int i = 0; i < 8; i++) out[i] = v[i] + v[in[i]];
}

int main() {
    int *in = counting(16), *out = zeros(8);
    insert<<<1, 1>>>(out, in, 8);
    CHECK(cudaDeviceSynchronize());
    return 0;
}

// A row of 33 floats is read as float4.
// lesson: chapters/04-bank-conflicts/README.md, When it doesn't pay
// expect: misaligned
#include "../mistake.h"

#ifdef MISTAKE
constexpr int ROW = 33;
#else
constexpr int ROW = 36;
#endif
__global__ void sums(float *out, const float *in) {
    __shared__ alignas(16) float tile[32 * ROW];
    int t = threadIdx.x;
    for (int r = 0; r < 32; r++) tile[r * ROW + t] = in[32 * r + t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; k += 4) {
        float4 v = *reinterpret_cast<float4 *>(&tile[t * ROW + k]); // reported
        sum += v.x + v.y + v.z + v.w;
    }
    out[t] = sum;
}

int main() {
    float *in = counting<float>(1024), *out = zeros<float>(32);
    sums<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 496);
    return 0;
}

// What the questions of chapter 02 count: one warp, one load of each kind.
struct point {
    float x, y, z;
};

extern "C" __global__ void every_second(float *out, const float *in) { out[threadIdx.x] = in[2 * threadIdx.x]; }
extern "C" __global__ void one_off(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x + 1]; }
extern "C" __global__ void reversed(float *out, const float *in) { out[threadIdx.x] = in[31 - threadIdx.x]; }
extern "C" __global__ void member(float *out, const point *in) { out[threadIdx.x] = in[threadIdx.x].y; }
extern "C" __global__ void vectors(float4 *out, const float4 *in) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
    float *in, *out;
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, 4096);
    cudaMemset(in, 0, 4096);
    every_second<<<1, 32>>>(out, in);
    one_off<<<1, 32>>>(out, in);
    reversed<<<1, 32>>>(out, in);
    member<<<1, 32>>>(out, (const point *)in);
    vectors<<<1, 32>>>((float4 *)out, (const float4 *)in);
    return cudaDeviceSynchronize();
}

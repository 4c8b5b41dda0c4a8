// What the questions of chapter 09 count: one warp reads 16 bytes a lane from shared memory.
__shared__ float4 s[64];

static __device__ void fill() {
    for (int i = threadIdx.x; i < 64; i += 32) s[i] = make_float4(i, i, i, i);
    __syncthreads();
}

extern "C" __global__ void all_different(float4 *out, int one) {
    fill();
    out[threadIdx.x] = s[threadIdx.x * one];
}

extern "C" __global__ void pairs(float4 *out, int one) {
    fill();
    out[threadIdx.x] = s[threadIdx.x / 2 * one];
}

int main() {
    float4 *out;
    cudaMalloc(&out, 4096);
    all_different<<<1, 32>>>(out, 1);
    pairs<<<1, 32>>>(out, 1);
    return cudaDeviceSynchronize();
}

// What the questions of chapter 04 count: one warp, one read of shared memory. The strides come as arguments, so that the compiler
// leaves the reads as they are.
extern "C" __global__ void stride(float *out, int words) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 32 * words; i += 32) s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * words];
}

extern "C" __global__ void column(float *out, int width) { // of a tile of 32 rows
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 32 * width; i += 32) s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * width + 5];
}

extern "C" __global__ void padded_by_two(float *out, int width) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 32 * width; i += 32) s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * width + 5];
}

extern "C" __global__ void doubles(double *out) {
    __shared__ double s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

int main() {
    float *out;
    cudaMalloc(&out, 4096);
    stride<<<1, 32, 4096>>>(out, 2);
    column<<<1, 32, 8192>>>(out, 32);
    padded_by_two<<<1, 32, 8192>>>(out, 34);
    doubles<<<1, 32>>>((double *)out);
    return cudaDeviceSynchronize();
}

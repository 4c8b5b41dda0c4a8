// What lesson 05 shows: 1024 floats into one sum, and the end of a tree in shared memory.
extern "C" __global__ void every_lane(float *sum, const float *in) {
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(sum, x); // picture: atomics atomic
}

extern "C" __global__ void one_lane(float *sum, const float *in) {
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, x); // picture: atomics atomic
}

extern "C" __global__ void end_of_a_tree(float *sum, const float *in) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32)
        for (int d = 32; d > 0; d /= 2) {
            float v = s[t] + s[t + d];
            __syncwarp();                  // all lanes have read
            s[t] = v;
            __syncwarp();                  // all lanes have written
        }
    if (t == 0) *sum = s[0];
}

int main() {
    float *in, *sum;
    cudaMalloc(&in, 1024 * sizeof *in);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(in, 0, 1024 * sizeof *in);
    cudaMemset(sum, 0, sizeof *sum);
    every_lane<<<4, 256>>>(sum, in);
    one_lane<<<4, 256>>>(sum, in);
    end_of_a_tree<<<1, 64>>>(sum, in);
    return cudaDeviceSynchronize();
}

// out = in turned over, n x n, through a tile whose columns lie in one bank, or are padded.
template <int PITCH> __device__ void turn(const float *in, float *out, int n) {
    __shared__ float tile[32][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = in[(blockIdx.y * 32 + y + k) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) out[(blockIdx.x * 32 + y + k) * n + blockIdx.y * 32 + x] = tile[x][y + k];
}

extern "C" __global__ void transpose(const float *in, float *out, int n) { turn<32>(in, out, n); }
extern "C" __global__ void transpose_padded(const float *in, float *out, int n) { turn<33>(in, out, n); }

// What lesson 04 shows: the lanes of a warp read a column of a square, whose rows have 32 words, or 33.
extern "C" __global__ void rows_of_32(int *out, const int *in, int column) {
    __shared__ int tile[32][32];
    int lane = threadIdx.x;
    for (int r = 0; r < 32; r++) tile[r][lane] = in[32 * r + lane];
    __syncthreads();
    out[lane] = tile[lane][column]; // picture: banks load
}

extern "C" __global__ void rows_of_33(int *out, const int *in, int column) {
    __shared__ int tile[32][33];
    int lane = threadIdx.x;
    for (int r = 0; r < 32; r++) tile[r][lane] = in[32 * r + lane];
    __syncthreads();
    out[lane] = tile[lane][column]; // picture: banks load
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 32 * 32 * sizeof *in);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(in, 0, 32 * 32 * sizeof *in);
    rows_of_32<<<1, 32>>>(out, in, 5);
    rows_of_33<<<1, 32>>>(out, in, 5);
    return cudaDeviceSynchronize();
}

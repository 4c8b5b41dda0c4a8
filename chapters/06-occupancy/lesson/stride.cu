// What lesson 06 shows of launch geometry: a factor for each column of a matrix, computed for each element, or once by a
// thread that stays in its column.
constexpr int COLS = 64;

__device__ float factor(int column) { // a Newton iteration for the root of column + 1: a set-up worth saving
    float r = 1;
#pragma unroll 1
    for (int k = 0; k < 20; k++) r = 0.5f * (r + (column + 1) / r);
    return r;
}

extern "C" __global__ void a_thread_an_element(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor(i % COLS);
}

extern "C" __global__ void grid_stride_loop(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float f = factor(i % COLS); // stride is a multiple of COLS, so the thread stays in its column
    for (; i < n; i += stride) x[i] *= f;
}

extern "C" __global__ void a_stretch_a_thread(float *x, int n) {
    int each = n / (gridDim.x * blockDim.x) / COLS * COLS, first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int column = 0; column < COLS; column++) {
        float f = factor(column);
        for (int i = first + column; i < first + each; i += COLS) x[i] *= f;
    }
}

int main() {
    enum { N = 1 << 18 };
    float *x;
    cudaMalloc(&x, N * sizeof *x);
    cudaMemset(x, 0, N * sizeof *x);
    a_thread_an_element<<<N / 256, 256>>>(x, N);
    grid_stride_loop<<<16, 256>>>(x, N);
    a_stretch_a_thread<<<16, 256>>>(x, N);
    return cudaDeviceSynchronize();
}

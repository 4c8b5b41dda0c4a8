// What lesson 02 shows: an image that is made brighter, and sums over structures. `make pictures` draws the lines that say so.
struct particle {
    float x, y, vx, vy, m, other[11];
};

extern "C" __global__ void rows_along_x(float *out, const float *image, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
    float v = image[row * columns + column]; // picture: sectors load
    out[row * columns + column] = 1.5f * v;
}

extern "C" __global__ void columns_along_x(float *out, const float *image, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float v = image[row * columns + column]; // picture: sectors load
    out[row * columns + column] = 1.5f * v;
}

extern "C" __global__ void from_the_next_column(float *out, const float *image, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float v = image[row * columns + column + 1]; // picture: sectors load
    out[row * columns + column] = 1.5f * v;
}

extern "C" __global__ void of_structures(float *out, const struct particle *p, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += p[i].x;
    out[threadIdx.x] = sum;
}

extern "C" __global__ void of_arrays(float *out, const float *x, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i];
    out[threadIdx.x] = sum;
}

int main() {
    enum { SIDE = 256, N = SIDE * SIDE };
    float *image, *out;
    cudaMalloc(&image, (N + 1) * sizeof *image);
    cudaMalloc(&out, N * sizeof *out);
    cudaMemset(image, 0, (N + 1) * sizeof *image);
    rows_along_x<<<dim3(SIDE / 128, SIDE), 128>>>(out, image, SIDE);
    columns_along_x<<<dim3(SIDE / 128, SIDE), 128>>>(out, image, SIDE);
    from_the_next_column<<<dim3(SIDE / 128, SIDE), 128>>>(out, image, SIDE);
    of_structures<<<1, 128>>>(out, (const struct particle *)image, 1024);
    of_arrays<<<1, 128>>>(out, image, 1024);
    return cudaDeviceSynchronize();
}

// AC | - | pitched memory and two-dimensional copies on the device | 
__global__ void add(char *t, size_t pitch, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ((int *)(t + i / width * pitch))[i % width] += 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    char *t;
    size_t pitch;
    int width = 64, rows = n / width, rest = n - rows * width;
    if (!n || cudaMallocPitch(&t, &pitch, width * 4, rows + 1)) return;
    if (rows) cudaMemcpy2D(t, pitch, in, width * 4, width * 4, rows, cudaMemcpyDeviceToDevice);
    if (rest) cudaMemcpy(t + rows * pitch, in + rows * width, rest * 4, cudaMemcpyDeviceToDevice);
    add<<<(n + 255) / 256, 256>>>(t, pitch, width, n);
    if (rows) cudaMemcpy2D(out, width * 4, t, pitch, width * 4, rows, cudaMemcpyDeviceToDevice);
    if (rest) cudaMemcpy(out + rows * width, t + rows * pitch, rest * 4, cudaMemcpyDeviceToDevice);
    cudaFree(t);
}

// What lesson 06 shows of index arithmetic: the products of all elements of a with all of b, as a matrix.
constexpr unsigned COLS = 1000;

extern "C" __global__ void wide(float *out, const float *a, const float *b, long long cols, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i / cols] * b[i % cols]; // indices of 64 bits
}

extern "C" __global__ void narrow(float *out, const float *a, const float *b, unsigned cols, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i / cols] * b[i % cols]; // indices of 32 bits
}

extern "C" __global__ void known(float *out, const float *a, const float *b, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i / COLS] * b[i % COLS]; // a divisor that the compiler knows
}

extern "C" __global__ void row_a_block(float *out, const float *a, const float *b, unsigned cols) {
    float factor = a[blockIdx.x], *row = out + blockIdx.x * cols;
    for (unsigned col = threadIdx.x; col < cols; col += blockDim.x) row[col] = factor * b[col]; // no quotient
}

int main() {
    enum { ROWS = 8192, N = ROWS * COLS };
    float *out, *a, *b;
    cudaMalloc(&out, N * sizeof *out);
    cudaMalloc(&a, ROWS * sizeof *a);
    cudaMalloc(&b, COLS * sizeof *b);
    cudaMemset(a, 0, ROWS * sizeof *a);
    cudaMemset(b, 0, COLS * sizeof *b);
    wide<<<N / 256, 256>>>(out, a, b, COLS, N);
    narrow<<<N / 256, 256>>>(out, a, b, COLS, N);
    known<<<N / 256, 256>>>(out, a, b, N);
    row_a_block<<<ROWS, 250>>>(out, a, b, COLS);
    return cudaDeviceSynchronize();
}

// expect: PART
// A lane a row, whose values and columns come by bulk copies of the 16 bytes around.

constexpr int THREADS = 256;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
template <class T> __device__ T get(const T *p) {
    __shared__ __align__(16) int slot[THREADS][4];
    __shared__ unsigned long long arrived[THREADS];
    unsigned bar = shared_address(&arrived[threadIdx.x]), to = shared_address(slot[threadIdx.x]);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                 ::"r"(to), "l"((size_t)p & ~(size_t)15), "r"(bar) : "memory");
    asm volatile("{ .reg .pred done; again%=: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra again%=; }" ::"r"(bar)
                 : "memory");
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar) : "memory");
    int word = *(volatile int *)(slot[threadIdx.x] + ((size_t)p & 15) / 4);
    return *reinterpret_cast<T *>(&word);
}

__global__ void multiply(float *__restrict__ y, const int *__restrict__ offsets, const int *__restrict__ columns,
                         const float *__restrict__ values, const float *__restrict__ x, int rows, int nonzeros) {
    int r = blockIdx.x * THREADS + threadIdx.x, whole = nonzeros / 4 * 4; // the last 16 bytes may be another buffer's
    if (r >= rows) return;
    float sum = 0.0f;
    for (int i = offsets[r]; i < offsets[r + 1]; i++)
        sum += i < whole ? get(values + i) * x[get(columns + i)] : values[i] * x[columns[i]];
    y[r] = sum;
}

extern "C" void spmv(float *y, const int *offsets, const int *columns, const float *values, const float *x, int rows, int cols,
                     int nonzeros) {
    if (rows > 0) multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(y, offsets, columns, values, x, rows, nonzeros);
}

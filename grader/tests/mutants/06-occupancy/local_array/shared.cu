// expect: PART
// The array moved to shared memory.

constexpr int WIDTH = 7, THREADS = 256;

__global__ void median(int *__restrict__ out, const int *__restrict__ in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __shared__ int column[WIDTH][THREADS];
    int t = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < WIDTH; k++) {
        int value = in[min(max(i + k - WIDTH / 2, 0), n - 1)];
        int place = k;
        while (place > 0 && column[place - 1][t] > value) {
            column[place][t] = column[place - 1][t];
            place--;
        }
        column[place][t] = value;
    }
    out[i] = column[WIDTH / 2][t];
}

extern "C" void local_array(int *out, const int *in, int n) {
    if (n == 0) return;
    median<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n);
}

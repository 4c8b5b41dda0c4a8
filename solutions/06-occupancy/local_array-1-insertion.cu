// Step 1: insertion into an array whose indices depend on the data: it lives in local memory.

constexpr int WIDTH = 7;

__global__ void median(int *__restrict__ out, const int *__restrict__ in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v[WIDTH];
#pragma unroll 1
    for (int k = 0; k < WIDTH; k++) {
        int value = in[min(max(i + k - WIDTH / 2, 0), n - 1)];
        int place = k;
        while (place > 0 && v[place - 1] > value) {
            v[place] = v[place - 1];
            place--;
        }
        v[place] = value;
    }
    out[i] = v[WIDTH / 2];
}

extern "C" void local_array(int *out, const int *in, int n) {
    if (n == 0) return;
    const int threads = 256;
    median<<<(n + threads - 1) / threads, threads>>>(out, in, n);
}

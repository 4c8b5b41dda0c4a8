// local_array: a median filter: out[i] is the median of in[i-3] ... in[i+3]; at the ends, the first or last
// element is repeated.

constexpr int WIDTH = 7;

__global__ void median(int *__restrict__ out, const int *__restrict__ in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v[WIDTH];
    // TODO: v is indexed by variables that only the data decide. Where can such an array be kept, and where
    // not?
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

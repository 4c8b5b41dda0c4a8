// expect: PART
// A thread has several walks, one after another: it waits after each of them.

constexpr int THREADS = 128;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    int position = start[i], count = 0;
    unsigned state = seed[i];
    while (position > 0 && position < width) {
        state = state * 1664525u + 1013904223u;
        position += state >> 31 ? 1 : -1;
        count++;
    }
    steps[i] = position > 0 ? count : -count;
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    if (n > 0) walk<<<min((n + THREADS - 1) / THREADS, 1056), THREADS>>>(steps, start, seed, n, width);
}

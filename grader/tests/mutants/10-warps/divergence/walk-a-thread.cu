// expect: PART
// A walk a thread.

constexpr int THREADS = 128;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    int position = start[i], count = 0;
    unsigned state = seed[i];
    while (position > 0 && position < width) {
        state = state * 1664525u + 1013904223u;
        position += state >> 31 ? 1 : -1;
        count++;
    }
    steps[i] = position > 0 ? count : -count;
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    if (n > 0) walk<<<(n + THREADS - 1) / THREADS, THREADS>>>(steps, start, seed, n, width);
}

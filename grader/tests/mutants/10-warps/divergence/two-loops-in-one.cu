// expect: PART
// One loop for steps and walks: the branch back to the step is still the loop in a loop, and lanes part there.

constexpr int THREADS = 128;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    int position = start[i], count = 0;
    unsigned state = seed[i];
    while (true) {
        state = state * 1664525u + 1013904223u;
        position += state >> 31 ? 1 : -1;
        count++;
        if (position > 0 && position < width) continue;
        steps[i] = position > 0 ? count : -count;
        i += gridDim.x * THREADS;
        if (i >= n) return;
        position = start[i], state = seed[i], count = 0;
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    if (n > 0) walk<<<min((n + THREADS - 1) / THREADS, 1056), THREADS>>>(steps, start, seed, n, width);
}

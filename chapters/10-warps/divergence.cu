// divergence: walks between two walls: steps[i] is the number of steps of walk i until it leaves at the right wall, or minus
// that number if it leaves at the left one.

constexpr int THREADS = 128;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    int position = start[i], count = 0;
    unsigned state = seed[i];
    // TODO: a warp repeats this loop until its longest walk has left. How many of its lanes still walk by then?
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

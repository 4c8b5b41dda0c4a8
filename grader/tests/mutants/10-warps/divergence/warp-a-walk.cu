// expect: PART
// A warp takes 32 steps of one walk at once: no lane is idle, but a step takes more instructions.

constexpr int THREADS = 128, WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffff;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    int lane = threadIdx.x % 32, warp = blockIdx.x * WARPS + threadIdx.x / 32, warps = gridDim.x * WARPS;
    unsigned a = 1, c = 0, up_to = ALL >> (31 - lane); // after l + 1 steps, a state s is a s + c
    for (int k = 0; k <= lane; k++) a *= 1664525u, c = c * 1664525u + 1013904223u;
    for (int first = warp * 32; first < n; first += warps * 32) {
        int i = first + lane, position = i < n ? start[i] : 0, result = 0;
        unsigned state = i < n ? seed[i] : 0;
        for (int w = 0; w < min(32, n - first); w++) {
            int here = __shfl_sync(ALL, position, w), before = -1 - lane, count = 0;
            unsigned s = __shfl_sync(ALL, state, w);
            while (true) {
                unsigned mine = a * s + c;
                unsigned votes = __ballot_sync(ALL, (int)mine < 0);
                int there = here + 2 * __popc(votes & up_to) + before;
                unsigned out = __ballot_sync(ALL, there <= 0 || there >= width);
                if (out) {
                    int k = __ffs(out) - 1;
                    count += k + 1;
                    if (__shfl_sync(ALL, there, k) <= 0) count = -count;
                    break;
                }
                here += 2 * __popc(votes) - 32, count += 32;
                s = __shfl_sync(ALL, mine, 31);
            }
            if (lane == w) result = count;
        }
        if (i < n) steps[i] = result;
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    if (n > 0) walk<<<min((n + THREADS - 1) / THREADS, 4224), THREADS>>>(steps, start, seed, n, width);
}

// What lesson 11 shows: maxima up to each element, by 256 threads and by 32 lanes; how far the last mark is; the rank of a key among
// its equals. One warp or block each, so that counts can be worked out by hand.
#define ALL 0xffffffffu

enum { THREADS = 256 };

extern "C" __global__ void by_threads(int *out, const int *in) {
    __shared__ int most[2][THREADS];
    int t = threadIdx.x, from = 0;
    most[0][t] = in[t];
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2, from ^= 1) { // eight rounds of 256 threads
        int here = most[from][t];
        most[from ^ 1][t] = t < distance ? here : max(here, most[from][t - distance]);
        __syncthreads();
    }
    out[t] = most[from][t];
}

extern "C" __global__ void by_lanes(int *out, const int *in) {
    __shared__ int of_warp[THREADS / 32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, most = in[t];
    for (int distance = 1; distance < 32; distance *= 2) { // five rounds of 32 lanes
        int other = __shfl_up_sync(ALL, most, distance);   // all come to the shuffle
        if (lane >= distance) most = max(most, other);     // some take part
    }
    if (lane == 31) of_warp[warp] = most;
    __syncthreads();
    for (int before = 0; before < warp; before++) most = max(most, of_warp[before]);
    out[t] = most;
}

extern "C" __global__ void walks(int *far, const int *marks) {
    int i = threadIdx.x, at = i;
    while (at > 0 && !marks[at]) at--; // back to the last mark
    far[i] = i - at;
}

extern "C" __global__ void looks(int *far, const int *marks) {
    int lane = threadIdx.x;
    unsigned votes = __ballot_sync(ALL, marks[lane]);      // where marks are
    unsigned up_to = votes & ~0u >> (31 - lane);           // those up to this lane
    far[lane] = up_to ? lane - (31 - __clz(up_to)) : lane; // the last of them
}

extern "C" __global__ void counts_before(int *rank, const int *in) {
    __shared__ int key[32];
    int lane = threadIdx.x, seen = 0;
    key[lane] = in[lane];
    __syncwarp();
    for (int k = 0; k < lane; k++) // up to 31 turns
        seen += key[k] == key[lane];
    rank[lane] = seen;
}

extern "C" __global__ void matches(int *rank, const int *in) {
    int lane = threadIdx.x;
    unsigned peers = __match_any_sync(ALL, in[lane]); // who has my key
    rank[lane] = __popc(peers & ((1u << lane) - 1));  // of them, those in lanes before
}

// Each block hands its neighbour a number: whether it is there, and what it is, in one word.
extern "C" __global__ void hands_on(int *got, volatile unsigned long long *word) {
    unsigned long long there;
    word[blockIdx.x] = 1ull << 32 | blockIdx.x * 10; // one store: flag and number
    if (blockIdx.x == 0) return;
    do there = word[blockIdx.x - 1]; // one load sees both, or neither
    while (!there);
    got[blockIdx.x] = (unsigned)there;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, THREADS * sizeof *in);
    cudaMalloc(&out, THREADS * sizeof *out);
    cudaMemset(in, 0, THREADS * sizeof *in);
    by_threads<<<1, THREADS>>>(out, in);
    by_lanes<<<1, THREADS>>>(out, in);
    walks<<<1, 32>>>(out, in);
    looks<<<1, 32>>>(out, in);
    counts_before<<<1, 32>>>(out, in);
    matches<<<1, 32>>>(out, in);
    hands_on<<<8, 1>>>(out, (volatile unsigned long long *)in);
    return cudaDeviceSynchronize();
}

// What lesson 10 shows: the first negative number of each 32; the last lane of a lane's segment; sums of eight neighbours.
#define ALL 0xffffffffu

extern "C" __global__ void one_looks(int *first, const float *in) {
    __shared__ int bad[32];
    int lane = threadIdx.x;
    bad[lane] = in[32 * blockIdx.x + lane] < 0;
    __syncthreads();
    if (lane == 0) {                                     // one thread, up to 32 iterations
        int k = 0;
        while (k < 32 && !bad[k]) k++;
        first[blockIdx.x] = k;
    }
}

extern "C" __global__ void all_vote(int *first, const float *in) {
    int lane = threadIdx.x;
    unsigned votes = __ballot_sync(ALL, in[32 * blockIdx.x + lane] < 0); // 32 lanes at once
    if (lane == 0) first[blockIdx.x] = votes ? __ffs(votes) - 1 : 32;
}

extern "C" __global__ void last_of_segment(int *out, const float *in) {
    int lane = threadIdx.x;
    bool begins = in[lane] < 0;
    unsigned later = __ballot_sync(ALL, begins) & ~1u << lane;   // where segments begin behind this lane
    int last = later ? __ffs(later) - 2 : 31;
    out[lane] = last;
}

extern "C" __global__ void every_lane(int *sums, const int *in) {
    int lane = threadIdx.x;
    atomicAdd(&sums[8 * (lane / 8)], in[lane]); // picture: leaders atomic
}

extern "C" __global__ void a_lane_of_eight(int *sums, const int *in) {
    int lane = threadIdx.x, v = in[lane];
    for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(ALL, v, d, 8);
    if (lane % 8 == 0) atomicAdd(&sums[lane], v); // picture: leaders atomic
}

int main() {
    enum { BLOCKS = 64 };
    float *in;
    int *out;
    cudaMalloc(&in, 32 * BLOCKS * sizeof *in);
    cudaMalloc(&out, 32 * BLOCKS * sizeof *out);
    cudaMemset(in, 0, 32 * BLOCKS * sizeof *in);
    cudaMemset(out, 0, 32 * BLOCKS * sizeof *out);
    one_looks<<<BLOCKS, 32>>>(out, in);
    all_vote<<<BLOCKS, 32>>>(out, in);
    last_of_segment<<<1, 32>>>(out, in);
    every_lane<<<1, 32>>>(out, (const int *)in);
    a_lane_of_eight<<<1, 32>>>(out, (const int *)in);
    return cudaDeviceSynchronize();
}

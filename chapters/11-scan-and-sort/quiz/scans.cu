// What the questions of chapter 11 count.
constexpr unsigned ALL = 0xffffffff;

// 128 numbers, four neighbours a lane: out has the sums up to each.
extern "C" __global__ void four_a_lane(uint4 *out, const uint4 *in) {
    uint4 x = in[threadIdx.x];
    unsigned sum = x.x + x.y + x.z + x.w, up_to = sum;
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, up_to, distance);
        if (threadIdx.x >= distance) up_to += other;
    }
    unsigned a = up_to - sum + x.x, b = a + x.y, c = b + x.z;
    out[threadIdx.x] = {a, b, c, up_to};
}

// The third round of a tree over 256 numbers: sums of 4 become sums of 8.
extern "C" __global__ void third_round(unsigned *out, const unsigned *in) {
    __shared__ unsigned sum[256];
    for (int k = 0; k < 8; k++) sum[32 * k + threadIdx.x] = in[32 * k + threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = sum[8 * threadIdx.x + 7];
}

// Who has the same digit of four bits, by votes.
extern "C" __global__ void same_digit(unsigned *out, const unsigned *in) {
    unsigned digit = in[threadIdx.x] & 15, peers = ALL;
    for (int b = 0; b < 4; b++) {
        unsigned votes = __ballot_sync(ALL, digit >> b & 1);
        peers &= digit >> b & 1 ? votes : ~votes;
    }
    out[threadIdx.x] = peers;
}

// 16 digits, two keys of each; each digit has 64 bytes of its own.
extern "C" __global__ void scatter(unsigned *out) { out[threadIdx.x % 16 * 16 + threadIdx.x / 16] = threadIdx.x; }

int main() {
    unsigned *p;
    cudaMalloc(&p, 8192);
    cudaMemset(p, 0, 8192);
    four_a_lane<<<1, 32>>>((uint4 *)p + 64, (uint4 *)p);
    third_round<<<1, 32>>>(p + 512, p);
    same_digit<<<1, 32>>>(p + 1024, p);
    scatter<<<1, 32>>>(p + 1536);
    return cudaDeviceSynchronize();
}

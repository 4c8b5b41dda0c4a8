// What lesson 13 shows of bulk copies: the sum of each 8 KB of an array, which a block of 128 has in shared memory first.
#include <cuda/barrier>
#include <cuda/ptx>

constexpr int WORDS = 2048, BLOCKS = 16, THREADS = 128;

__device__ void add_up(int *out, const int *words) {
    int sum = 0;
    for (int i = threadIdx.x; i < WORDS; i += THREADS) sum += words[i];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out + blockIdx.x, sum);
}

extern "C" __global__ void by_lanes(int *out, const int *in) {
    __shared__ __align__(16) int words[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += THREADS) words[i] = in[blockIdx.x * WORDS + i];
    __syncthreads();
    add_up(out, words);
}

extern "C" __global__ void in_bulk(int *out, const int *in) {
    __shared__ __align__(16) int words[WORDS];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    if (threadIdx.x == 0) {
        init(&full, 1);                                            // one thread will arrive
        cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    }
    __syncthreads();                                               // there is an mbarrier
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(words, in + blockIdx.x * WORDS, cuda::aligned_size_t<16>(sizeof words), full);
        (void)cuda::device::barrier_arrive_tx(full, 1, sizeof words); // it arrives, and says how many bytes will
    }
    full.wait_parity(false);                                       // all: until its first phase has ended
    add_up(out, words);
}

int main() {
    int *in, *out;
    cudaMalloc(&in, BLOCKS * WORDS * sizeof *in), cudaMalloc(&out, BLOCKS * sizeof *out);
    cudaMemset(in, 0, BLOCKS * WORDS * sizeof *in), cudaMemset(out, 0, BLOCKS * sizeof *out);
    by_lanes<<<BLOCKS, THREADS>>>(out, in);
    in_bulk<<<BLOCKS, THREADS>>>(out, in);
    return cudaDeviceSynchronize();
}

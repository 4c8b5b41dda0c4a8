// latency.cu — cycles of strong accesses, atomics and fences, one after another by one thread, alone
// on the device. For each SM in turn; prints mean, least and most. latency-*.tsv has GPUs' figures.
//
//   nvcc -O3 -arch=sm_90 latency.cu -o latency; ./latency >latency-NAME.tsv
#include <cstdio>
#include <cuda_runtime.h>

enum { ROUNDS = 64, MAX_SMS = 512 };
enum operation {
    ATOMIC_ADD_0,
    ATOMIC_ADD,
    COMPARE_AND_SWAP,
    EXCHANGE,
    LOAD_VOLATILE,
    LOAD_RELAXED,
    LOAD_ACQUIRE,
    STORE_RELEASE,
    ATOMIC_ACQ_REL,
    FENCE,
    FENCE_BLOCK,
    STORE_FENCE,
    STORES_FENCE,
    REDUCTION_FENCE,
    LOAD_FENCE,
    STORE_FENCE_SYSTEM
};

// Each address depends on the result before, which is even.
template <int OP> __device__ unsigned operate(unsigned *p, unsigned v, int round) {
    unsigned *q = p + (v & 1);
    if (OP == ATOMIC_ADD_0) v = atomicAdd(q, 0);
    if (OP == ATOMIC_ADD) v = atomicAdd(q, 2);
    if (OP == COMPARE_AND_SWAP) v = atomicCAS(q, 1, 1);
    if (OP == EXCHANGE) v = atomicExch(q, 2);
    if (OP == LOAD_VOLATILE || OP == LOAD_FENCE) v = *(volatile unsigned *)q;
    if (OP == LOAD_RELAXED) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(q) : "memory");
    if (OP == LOAD_ACQUIRE) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(q) : "memory");
    if (OP == STORE_RELEASE) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(q), "r"(round * 2) : "memory");
    if (OP == ATOMIC_ACQ_REL)
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 2;" : "=r"(v) : "l"(q) : "memory");
    if (OP == STORE_FENCE || OP == STORE_FENCE_SYSTEM) *(volatile unsigned *)q = round * 2;
    for (int k = 0; OP == STORES_FENCE && k < 8; k++) ((volatile unsigned *)p)[1024 * k + round] = round * 2;
    if (OP == REDUCTION_FENCE) atomicAdd(q, 2);
    if (OP == FENCE || OP == STORE_FENCE || OP == STORES_FENCE || OP == REDUCTION_FENCE || OP == LOAD_FENCE) __threadfence();
    if (OP == FENCE_BLOCK) __threadfence_block();
    if (OP == STORE_FENCE_SYSTEM) __threadfence_system();
    return v;
}

template <int OP> __global__ void chain(unsigned *p, unsigned active_block, long long *cycles) {
    if (blockIdx.x != active_block || threadIdx.x) return;
    unsigned v = 0;
    long long start = clock64();
#pragma unroll 1
    for (int i = 0; i < ROUNDS; i++) v = operate<OP>(p, v, i);
    cycles[active_block] = clock64() - start;
    if (v == 12345) *p = 0;
}

static unsigned *words;
static long long *cycles;
static int sms;

template <int OP> static void measure(const char *name) {
    static long long host[MAX_SMS];
    double sum = 0, low = 1e30, high = 0;
    for (int b = 0; b < sms; b++) cudaMemset(words, 0, 4096), chain<OP><<<sms, 32>>>(words, b, cycles);
    cudaMemcpy(host, cycles, sms * sizeof *host, cudaMemcpyDeviceToHost);
    for (int b = 0; b < sms; b++) {
        double c = (double)host[b] / ROUNDS;
        sum += c, low = c < low ? c : low, high = c > high ? c : high;
    }
    printf("%s\t%.1f\t%.1f\t%.1f\n", name, sum / sms, low, high);
}

int main() {
    cudaDeviceProp d;
    if (cudaGetDeviceProperties(&d, 0) || cudaMalloc(&words, 1 << 20) || cudaMalloc(&cycles, MAX_SMS * sizeof *cycles))
        return fprintf(stderr, "latency: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
    sms = d.multiProcessorCount < MAX_SMS ? d.multiProcessorCount : MAX_SMS;
    measure<ATOMIC_ADD_0>("atomicAdd 0"), measure<ATOMIC_ADD>("atomicAdd 2");
    measure<COMPARE_AND_SWAP>("atomicCAS"), measure<EXCHANGE>("atomicExch");
    measure<LOAD_VOLATILE>("volatile load"), measure<LOAD_RELAXED>("ld.relaxed"), measure<LOAD_ACQUIRE>("ld.acquire");
    measure<STORE_RELEASE>("st.release"), measure<ATOMIC_ACQ_REL>("atom.acq_rel");
    measure<FENCE>("fence"), measure<FENCE_BLOCK>("fence of the block");
    measure<STORE_FENCE>("store, fence"), measure<STORES_FENCE>("8 stores, fence"), measure<REDUCTION_FENCE>("reduction, fence");
    measure<LOAD_FENCE>("load, fence"), measure<STORE_FENCE_SYSTEM>("store, fence of the system");
    return cudaGetLastError() != cudaSuccess;
}

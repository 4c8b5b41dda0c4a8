// bulk_rows: the model answer. A warp has a ring of stages of a part of a row each. One lane asks for bulk copies into it, waits for
// their mbarriers, and asks for bulk copies out of it: no number passes a register.

constexpr int STAGES = 4, PIECE = 16384; // bytes
constexpr int BLOCKS_PER_SM = 3;

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__device__ void init(unsigned long long *bar) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(bar)) : "memory"); }

__device__ void wait(unsigned long long *bar, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(place(bar)), "r"(parity)
                 : "memory");
}

// `bytes` are to come to the mbarrier, and this is their only arrival.
__device__ void ask(void *to, const void *from, unsigned bytes, unsigned long long *bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)), "l"(from), "r"(bytes), "r"(place(bar))
                 : "memory");
}

__device__ void give(void *to, const void *from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to), "r"(place(from)), "r"(bytes) : "memory");
}
// All but the last groups have been read from shared memory.
template <int LEFT> __device__ void given() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory"); }

__global__ void gather(float *out, const float *table, const int *index, int n, int cols) {
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ unsigned long long bar[STAGES];
    if (threadIdx.x != 0) return;
    for (int s = 0; s < STAGES; s++) init(&bar[s]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    size_t row = (size_t)cols * sizeof(float);
    int pieces = (int)((row + PIECE - 1) / PIECE), count = 0;
    // The block's pieces: of rows blockIdx.x, blockIdx.x + gridDim.x, ...
    auto begin = [&](int p, int stage) {
        int r = blockIdx.x + p / pieces * gridDim.x;
        size_t at = (size_t)(p % pieces) * PIECE;
        ask(memory + stage * PIECE, reinterpret_cast<const char *>(table) + index[r] * row + at, (unsigned)min(row - at, (size_t)PIECE), &bar[stage]);
    };
    count = (n - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x * pieces;
    for (int p = 0; p < STAGES - 1 && p < count; p++) begin(p, p);
    for (int p = 0; p < count; p++) {
        int s = p % STAGES;
        wait(&bar[s], p / STAGES & 1);
        int r = blockIdx.x + p / pieces * gridDim.x;
        size_t at = (size_t)(p % pieces) * PIECE;
        give(reinterpret_cast<char *>(out) + r * row + at, memory + s * PIECE, (unsigned)min(row - at, (size_t)PIECE));
        if (p + STAGES - 1 < count) {
            given<1>(); // the piece before this one has left its stage
            begin(p + STAGES - 1, (p + STAGES - 1) % STAGES);
        }
    }
    given<0>();
}

extern "C" void bulk_rows(float *out, const float *table, const int *index, int n, int rows, int cols) {
    if (n == 0 || cols == 0) return;
    cudaFuncSetAttribute(gather, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * PIECE);
    gather<<<n < 132 * BLOCKS_PER_SM ? n : 132 * BLOCKS_PER_SM, 32, STAGES * PIECE>>>(out, table, index, n, cols);
}

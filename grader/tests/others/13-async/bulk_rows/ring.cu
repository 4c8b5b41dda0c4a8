// Bulk copies with a ring of twelve pieces: one block of one thread on each SM.

constexpr unsigned STAGES = 12, PIECE = 16384; // bytes of a row per piece
constexpr int SMS = 132;                       // more blocks than there are SMs wait, fewer leave some idle

// Returns the 32-bit shared-memory address that these instructions take.
__device__ void init(unsigned bar) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory"); }

// Waits until the phase of that parity has ended.
__device__ void wait(unsigned bar, unsigned parity) {
    asm volatile("{\n.reg .pred ended;\nagain: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n@!ended bra again;\n}" ::"r"(bar), "r"(parity)
                 : "memory");
}

// Announces that many bytes to the mbarrier; this is also the one arrival that completes its phase.
__device__ void ask(unsigned to, const void *from, unsigned bytes, unsigned bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}

__device__ void give(void *to, unsigned from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all bulk copies out of shared memory except the last LEFT have read their source.
template <int LEFT> __device__ void given() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory"); }

// A block's position: pieces of row blockIdx.x, then of row blockIdx.x + gridDim.x, ... Counters, because divisions are slow.
struct cursor {
    int row;
    unsigned at, place, bar, parity; // byte of the row; slot of the ring; parity of the slot's mbarrier
    unsigned ring, last;
    __device__ void next(unsigned bytes) {
        at += PIECE, place += PIECE, bar += 8;
        if (at >= bytes) at = 0, row += gridDim.x;
        if (place == last) place = ring, bar -= 8 * STAGES, parity ^= 1;
    }
};

__global__ void gather(char *out, const char *table, const int *index, int n, unsigned bytes) {
    extern __shared__ __align__(128) char memory[];
    __shared__ unsigned long long bar[STAGES];
    unsigned ring = (unsigned)__cvta_generic_to_shared(memory), bars = (unsigned)__cvta_generic_to_shared(bar);
    for (unsigned s = 0; s < STAGES; s++) init(bars + 8 * s);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); // makes them visible to the copy engine (async proxy)
    cursor in = {(int)blockIdx.x, 0, ring, bars, 0, ring, ring + STAGES * PIECE}, back = in;
    auto begin = [&] {
        if (in.row >= n) return;
        ask(in.place, table + (size_t)index[in.row] * bytes + in.at, min(bytes - in.at, PIECE), in.bar);
        in.next(bytes);
    };
    for (unsigned p = 0; p < STAGES - 1; p++) begin();
    while (back.row < n) {
        wait(back.bar, back.parity);
        give(out + (size_t)back.row * bytes + back.at, back.place, min(bytes - back.at, PIECE));
        back.next(bytes);
        given<1>(); // the previous piece has left its slot ...
        begin();    // ... which is the next one's
    }
    given<0>(); // shared memory must stay allocated until the copies have read it
}

extern "C" void bulk_rows(float *out, const float *table, const int *index, int n, int rows, int cols) {
    if (n == 0 || cols == 0) return;
    cudaFuncSetAttribute(gather, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * PIECE);
    gather<<<n < SMS ? n : SMS, 1, STAGES * PIECE>>>(reinterpret_cast<char *>(out), reinterpret_cast<const char *>(table), index, n, cols * (unsigned)sizeof(float));
}

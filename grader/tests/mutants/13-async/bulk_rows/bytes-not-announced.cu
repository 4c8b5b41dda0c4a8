// expect: TLE
// All of a piece is announced, also where a row ends before.

constexpr unsigned PIECE = 16384; // bytes of a row per copy

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__global__ void gather(char *out, const char *table, const int *index, unsigned bytes) {
    __shared__ __align__(128) char piece[PIECE];
    __shared__ unsigned long long bar;
    const char *from = table + (size_t)index[blockIdx.x] * bytes;
    char *to = out + (size_t)blockIdx.x * bytes;
    unsigned parity = 0; // parity of the awaited phase
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); // makes it visible to the copy engine (async proxy)
    for (unsigned at = 0; at < bytes; at += PIECE, parity ^= 1) {
        unsigned size = min(bytes - at, PIECE);
        // Announces that many bytes; this is also the one arrival that completes the phase.
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&bar)), "r"(PIECE) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(piece)), "l"(from + at), "r"(size),
                     "r"(place(&bar))
                     : "memory");
        asm volatile("{\n.reg .pred ended;\nagain: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n@!ended bra again;\n}" ::"r"(place(&bar)),
                     "r"(parity)
                     : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + at), "r"(place(piece)), "r"(size) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory"); // all threads have read `piece`
    }
}

extern "C" void bulk_rows(float *out, const float *table, const int *index, int n, int rows, int cols) {
    if (n > 0 && cols > 0)
        gather<<<n, 1>>>(reinterpret_cast<char *>(out), reinterpret_cast<const char *>(table), index, cols * (unsigned)sizeof(float));
}

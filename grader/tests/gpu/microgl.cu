// microgl: one access to global memory a kernel, over patterns, widths and masks. Two blocks of three warps.
#include "patterns.cuh"

static const int blocks = 2, threads = 96, everyone = blocks * threads;
static const size_t memory = 8300 * sizeof(float4); // the furthest element of the widest type
static char *in, *out;
static int *places;
static unsigned mask;

__device__ static int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class T> __global__ void gld(T *to, const T *from, const int *places, unsigned mask) {
    if (takes_part(mask)) to[me()] = from[places[me()]];
}
template <class T> __global__ void gst(T *to, const int *places, unsigned mask) {
    if (takes_part(mask)) to[places[me()]] = made<T>::from(3);
}

// The numbers are those of the figures' kernel names. ONE's address is one that the compiler can see, BLOCK's one a
// block.
enum { ADD_1, ADD, ADD_USED, ADD_FLOAT, ADD_64, CAS, EXCH, MAX, ONE, ONE_USED, BLOCK, ADD_DOUBLE, ONE_FLOAT, INC };
template <int OP> __device__ int apply(int *out, int at, int v) {
    switch (OP) {
    case ADD_1: return atomicAdd(out + at, 1);
    case ADD: case ADD_USED: return atomicAdd(out + at, v);
    case ADD_FLOAT: atomicAdd(reinterpret_cast<float *>(out) + at, 1.0f); return 0;
    case ADD_64: atomicAdd(reinterpret_cast<unsigned long long *>(out) + at, 1ull); return 0;
    case ADD_DOUBLE: atomicAdd(reinterpret_cast<double *>(out) + at, 1.0); return 0;
    case CAS: return atomicCAS(out + at, 0, v);
    case EXCH: return atomicExch(out + at, v);
    case MAX: return atomicMax(out + at, v);
    case ONE: case ONE_USED: return atomicAdd(out, 1);
    case ONE_FLOAT: atomicAdd(reinterpret_cast<float *>(out), 1.0f); return 0;
    case BLOCK: return atomicAdd(out + blockIdx.x, v);
    default: return atomicInc(reinterpret_cast<unsigned *>(out) + at, 1000u);
    }
}
template <int OP> __global__ void gat(int *out, int *results, const int *places, unsigned mask) {
    constexpr bool used = OP == ADD_USED || OP == CAS || OP == EXCH || OP == ONE_USED;
    if (!takes_part(mask)) return;
    int result = apply<OP>(out, places[me()], threadIdx.x % 32 + 1);
    if (used) results[me()] = result > 1000000;
}

template <class T> static void load() {
    gld<<<blocks, threads>>>(reinterpret_cast<T *>(out), reinterpret_cast<const T *>(in), places, mask);
    settle("gld");
}
template <class T> static void store() {
    gst<<<blocks, threads>>>(reinterpret_cast<T *>(out), places, mask);
    settle("gst");
}
template <class... T> static void loads() { (load<T>(), ...); }
template <class... T> static void stores() { (store<T>(), ...); }
template <int... OP> static void atomics() {
    auto one = [](auto kernel) {
        must(cudaMemset(out, 0, memory), "zeros");
        kernel<<<blocks, threads>>>(reinterpret_cast<int *>(out), reinterpret_cast<int *>(in), places, mask);
        settle("gat");
    };
    (one(gat<OP>), ...);
}

static std::vector<int> shuffled() {
    std::vector<int> all(everyone);
    std::iota(all.begin(), all.end(), 0);
    for (int i = everyone - 1; i > 0; i--) std::swap(all[i], all[draw() % (i + 1)]);
    return all;
}

int main() {
    const std::vector<int> anywhere = drawn(everyone, 8192), order = shuffled();
    const pattern all[] = {
        steps("linear", 1), steps("plus 1", 1, 1), steps("plus 3", 1, 3), steps("plus 7", 1, 7),
        steps("stride 2", 2), steps("stride 3", 3), steps("stride 5", 5), steps("stride 8", 8),
        steps("stride 32", 32), steps("reverse", -1, 191), steps("one", 0, 9), groups("one a warp", 32, 1),
        groups("half warps", 16, 64), wraps("two", 2, 100), wraps("four", 4, 1), lists("anywhere", anywhere.data()),
        lists("shuffled", order.data()), flips("flipped", 5),
    };
    const int count = sizeof all / sizeof *all;
    const unsigned masks[] = {0xffffffff, 0x12481248, 0x80000000};
    const unsigned with_atomics = 1 << 0 | 1 << 4 | 1 << 8 | 1 << 10 | 1 << 11 | 1 << 14 | 1 << 15;
    in = zeroed<char>(memory), out = zeroed<char>(memory), places = zeroed<int>(everyone * sizeof(int));
    for (int m = 0; m < 3; m++)
        for (int p = 0; p < count; p++) {
            if (m > 0 && p % 4 != m) continue; // few lanes: a quarter of the patterns
            mask = masks[m];
            place(places, all[p], everyone);
            loads<byte, float, float2, float4>();
            stores<byte, float, float2, float4>();
            if (m == 0 && p % 3 == 0) loads<short>(), stores<double>();
            if (m == 0 && with_atomics >> p & 1)
                atomics<ADD_1, ADD, ADD_USED, ADD_FLOAT, ADD_64, CAS, EXCH, MAX, ADD_DOUBLE, INC>();
            if (p < 3) atomics<ONE, ONE_USED, BLOCK, ONE_FLOAT>();
        }
}

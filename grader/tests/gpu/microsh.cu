// microsh: one access to shared memory a kernel, over patterns, widths and masks. One warp.
#include "patterns.cuh"

static const int lanes = 32, elements = 1024;
static int *places;
static char *out;

// Every element is written first, lane beside lane: 32 stores of each kernel's counters.
template <class T, class VALUE> __device__ void fill(T *shared, VALUE value) {
    for (int row = 0; row < elements; row += lanes) shared[row + threadIdx.x] = value(row + threadIdx.x);
    __syncthreads();
}

template <class T> __global__ void sld(T *out, const int *places, unsigned mask) {
    __shared__ T shared[elements];
    fill(shared, made<T>::from);
    if (takes_part(mask)) out[threadIdx.x] = shared[places[threadIdx.x]];
}
template <class T> __global__ void sst(T *out, const int *places, unsigned mask) {
    __shared__ T shared[elements];
    fill(shared, made<T>::from);
    if (takes_part(mask)) {
        int at = places[threadIdx.x];
        shared[at] = made<T>::from(at + 7);
    }
    __syncthreads();
    out[threadIdx.x] = shared[threadIdx.x];
}

// The numbers are those of the figures' kernel names.
enum { ADD_1, ADD, ADD_USED, ADD_FLOAT, ADD_64, MAX, CAS, EXCH };
template <int OP> struct target { using type = int; };
template <> struct target<ADD_FLOAT> { using type = float; };
template <> struct target<ADD_64> { using type = unsigned long long; };
template <int OP> using element = typename target<OP>::type;
template <int OP> __device__ int apply(element<OP> *at, int v) {
    if constexpr (OP == ADD_1) return atomicAdd(at, 1);
    else if constexpr (OP == MAX) return atomicMax(at, v);
    else if constexpr (OP == CAS) return atomicCAS(at, 0, v);
    else if constexpr (OP == EXCH) return atomicExch(at, v);
    else return int(atomicAdd(at, element<OP>(v)));
}
template <int OP> __global__ void sat(int *out, const int *places, unsigned mask) {
    constexpr bool used = OP == ADD_USED || OP == CAS || OP == EXCH;
    __shared__ element<OP> shared[elements];
    fill(shared, [](int) { return element<OP>(0); });
    int result = 0, at = places[threadIdx.x];
    if (takes_part(mask)) {
        int old = apply<OP>(shared + at, 3 * threadIdx.x + 1);
        if (used) result = old;
    }
    __syncthreads();
    out[threadIdx.x] = int(shared[threadIdx.x]);
    if (used) out[lanes + threadIdx.x] = result >= 0;
}

template <int MATRICES, bool TRANSPOSED> __device__ void ldmatrix(unsigned (&r)[4], unsigned row) {
    if constexpr (MATRICES == 1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(row));
    else if constexpr (MATRICES == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(row));
    else if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row));
}
template <int MATRICES, bool TRANSPOSED> __global__ void ldsm(unsigned *out, const int *rows) {
    __shared__ __align__(16) unsigned shared[4 * elements];
    unsigned r[4] = {};
    for (unsigned at = threadIdx.x; at < 4 * elements; at += lanes) shared[at] = at;
    __syncthreads();
    ldmatrix<MATRICES, TRANSPOSED>(r, unsigned(__cvta_generic_to_shared(shared)) + rows[threadIdx.x]);
    out[threadIdx.x] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

template <class T> static void load(unsigned mask) {
    sld<<<1, lanes>>>(reinterpret_cast<T *>(out), places, mask);
    settle("sld");
}
template <class T> static void store(unsigned mask) {
    sst<<<1, lanes>>>(reinterpret_cast<T *>(out), places, mask);
    settle("sst");
}
template <int OP> static void atomic(unsigned mask) {
    sat<OP><<<1, lanes>>>(reinterpret_cast<int *>(out), places, mask);
    settle("sat");
}
template <int MATRICES, bool TRANSPOSED = false> static void matrices() {
    ldsm<MATRICES, TRANSPOSED><<<1, lanes>>>(reinterpret_cast<unsigned *>(out), places);
    settle("ldsm");
}

static const unsigned whole_warp = ~0u, first_half = 0xffff, even = 0x55555555, two = 0x00010001;

// Few lanes: a third of the patterns each.
static void loads_and_stores(const std::vector<pattern> &all) {
    const unsigned masks[] = {whole_warp, first_half, even, two};
    for (int m = 0; m < 4; m++)
        for (int p = 0; p < (int)all.size(); p++) {
            if (m > 0 && p % 3 != m - 1) continue;
            place(places, all[p], lanes);
            load<float>(masks[m]), load<float2>(masks[m]), load<float4>(masks[m]);
            if (m > 0) continue;
            store<float>(whole_warp), store<float2>(whole_warp), store<float4>(whole_warp);
            if (p < 10) load<byte>(whole_warp), store<short>(whole_warp);
        }
}
static void atomics(const pattern &p) {
    place(places, p, lanes);
    atomic<ADD_1>(whole_warp), atomic<ADD>(whole_warp), atomic<ADD_USED>(whole_warp), atomic<ADD_FLOAT>(whole_warp);
    atomic<ADD_64>(whole_warp), atomic<MAX>(whole_warp), atomic<CAS>(whole_warp), atomic<EXCH>(whole_warp);
    atomic<ADD_1>(even), atomic<ADD_USED>(first_half);
}

int main() {
    std::vector<int> near(lanes), far(lanes), thrice(lanes);
    for (int l = 0; l < lanes; l++) {
        near[l] = draw() % 64, far[l] = draw() % elements;
        thrice[l] = l / 8 * 8 + 3 * l % 8;
    }
    const std::vector<pattern> all = {
        steps("linear", 1), steps("stride 2", 2), steps("stride 3", 3), steps("stride 4", 4), steps("stride 5", 5),
        steps("stride 8", 8), steps("stride 16", 16), steps("stride 17", 17), steps("stride 32", 32),
        steps("one", 0, 5), groups("pairs", 2, 1), groups("fours", 4, 1), wraps("two", 2, 1), wraps("four", 4, 1),
        steps("reverse", -1, 31), flips("swapped", 1), wraps("sixteen", 16, 1), wraps("two by 16", 2, 16),
        wraps("two by 32", 2, 32), lists("near", near.data()), lists("far", far.data()),
        sums("eights by 9", {9, 8, no_wrap}, {1, 1, 8}), sums("two rows", {32, 1, 2}, {1, 2, no_wrap}),
        sums("columns", {4, 1, 8}, {1, 8, no_wrap}), lists("thrice", thrice.data()), wraps("sixteen by 2", 16, 2),
        groups("pairs by 16", 2, 16), sums("pairs twice", {2, 4, no_wrap}, {1, 1, 2}), groups("pairs by 8", 2, 8),
        sums("pairs by 8 twice", {32, 4, no_wrap}, {8, 1, 2}),
    };
    places = zeroed<int>(lanes * sizeof(int)), out = zeroed<char>(4096);
    loads_and_stores(all);
    for (int p : {0, 1, 8, 9, 10, 12, 13, 19}) atomics(all[p]);
    for (int pitch : {16, 32, 48, 64, 80, 128, 144, 256}) {
        place(places, steps("rows", pitch), lanes);
        matrices<1>(), matrices<2>(), matrices<4>(), matrices<4, true>();
    }
}

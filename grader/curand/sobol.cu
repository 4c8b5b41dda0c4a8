/* sobol.cu — Sobol's quasirandom sequences: dimension by dimension, each element from its position.
 *
 * Element n of a dimension is the sum modulo 2 of the direction vectors that the Gray code of n
 * selects. From n to n + 2^k the Gray code changes in bit k - 1 and in one higher bit, so a thread
 * steps through the output by the number of threads, a power of two. The scrambled sequences are
 * the plain ones with a random number added, modulo 2, in each dimension; NVIDIA's scramble the
 * vectors, too. */
#include "grader/curand/generator.cuh"
#include <cstring>

/* ---- tables ---- */

/* Calls add(polynomial, initial numbers) for each dimension but the first. */
template <typename Add> static void for_each_dimension(Add add) {
#define SOBOL(polynomial, ...)                                 \
    {                                                          \
        static const unsigned short initial[] = {__VA_ARGS__}; \
        add(polynomial, initial);                              \
    }
#include "grader/curand/sobol.def"
}

/* Vector i is m[i] shifted to the top, with Sobol's recurrence for m after the initial numbers. */
template <typename Bits>
static void fill_vectors(Bits *v, unsigned polynomial, const unsigned short *initial) {
    const int width = sobol_table<Bits>::WIDTH;
    int degree = 31 - __builtin_clz(polynomial);
    for (int i = 0; i < width; i++) {
        if (i < degree) {
            v[i] = (Bits)initial[i] << (width - 1 - i);
            continue;
        }
        v[i] = v[i - degree] ^ (v[i - degree] >> degree);
        for (int k = 1; k < degree; k++)
            if (polynomial >> (degree - k) & 1) v[i] ^= v[i - k];
    }
}

template <typename Bits> static sobol_table<Bits> *make_table() {
    sobol_table<Bits> *t = new sobol_table<Bits>();
    unsigned dimension = 0;
    unsigned long long state = 1;
    for (int i = 0; i < t->WIDTH; i++) t->vectors[0][i] = (Bits)1 << (t->WIDTH - 1 - i);
    for_each_dimension([&](unsigned polynomial, const unsigned short *initial) {
        fill_vectors(t->vectors[++dimension], polynomial, initial);
    });
    for (Bits &c : t->constants) { /* splitmix64 */
        unsigned long long x = state += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9, x = (x ^ x >> 27) * 0x94d049bb133111eb;
        c = (Bits)(x ^ x >> 31);
    }
    return t;
}

template <typename Bits> sobol_table<Bits> *sobol_find_table() {
    static sobol_table<Bits> *table = make_table<Bits>();
    return table;
}
template sobol_table<unsigned> *sobol_find_table<unsigned>();
template sobol_table<unsigned long long> *sobol_find_table<unsigned long long>();

bool sobol_is_wide(const curandGenerator_st *g) {
    return g->type == CURAND_RNG_QUASI_SOBOL64 || g->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}
static bool is_scrambled(const curandGenerator_st *g) {
    return g->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 ||
           g->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

template <typename Bits> static curandStatus_t copy_table(curandGenerator_st *g) {
    const sobol_table<Bits> *t = sobol_find_table<Bits>();
    static const Bits zeros[MAX_DIMENSIONS] = {};
    if ((!g->states && cudaMalloc(&g->states, sizeof t->vectors) != cudaSuccess) ||
        (!g->constants && cudaMalloc(&g->constants, sizeof t->constants) != cudaSuccess))
        return CURAND_STATUS_ALLOCATION_FAILED;
    const Bits *constants = is_scrambled(g) ? t->constants : zeros;
    if (cudaMemcpy(g->states, t->vectors, sizeof t->vectors, cudaMemcpyHostToDevice) ||
        cudaMemcpy(g->constants, constants, sizeof t->constants, cudaMemcpyHostToDevice))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t sobol_seed(curandGenerator_st *g) {
    g->position = g->offset;
    return sobol_is_wide(g) ? copy_table<unsigned long long>(g) : copy_table<unsigned>(g);
}

/* ---- generation ---- */

enum { THREADS = 256, LOG2_BLOCKS_MAX = 6 };

template <output_kind K, typename Bits>
__global__ void curand_sobol(const Bits *vectors, const Bits *constants, unsigned log2_threads,
                             unsigned long long position, output o) {
    unsigned dimension = blockIdx.y;
    size_t count = o.count / gridDim.y, i = blockIdx.x * THREADS + threadIdx.x;
    const Bits *v = vectors + dimension * sobol_table<Bits>::WIDTH;
    typename distribution<K>::type *out = (typename distribution<K>::type *)o.p;
    Bits n = (Bits)(position + i), x = constants[dimension];
    for (Bits gray = n ^ n >> 1, b = 0; gray; gray >>= 1, b++)
        if (gray & 1) x ^= v[b];
    for (; i < count; i += (size_t)1 << log2_threads) {
        out[dimension * count + i] = distribution<K>::map(x, o);
        int higher = __ffsll((long long)~(unsigned long long)(n >> log2_threads)) - 1;
        unsigned bit = log2_threads + higher;
        x ^= v[log2_threads - 1] ^ (bit < sobol_table<Bits>::WIDTH ? v[bit] : 0);
        n += (Bits)1 << log2_threads;
    }
}

template <output_kind K, typename Bits>
static curandStatus_t launch_sobol(curandGenerator_st *g, const output *o) {
    size_t count = o->count / g->dimensions;
    unsigned log2_blocks = 0;
    while (log2_blocks < LOG2_BLOCKS_MAX && ((size_t)THREADS << log2_blocks) < count) log2_blocks++;
    curandStatus_t status = launch(g, dim3(1u << log2_blocks, g->dimensions), THREADS,
                                   curand_sobol<K, Bits>, (const Bits *)g->states,
                                   (const Bits *)g->constants, 8 + log2_blocks, g->position, *o);
    g->position += count;
    return status;
}
template <output_kind K>
static curandStatus_t launch_kind(curandGenerator_st *g, const output *o) {
    return sobol_is_wide(g) ? launch_sobol<K, unsigned long long>(g, o)
                            : launch_sobol<K, unsigned>(g, o);
}

curandStatus_t sobol_generate(curandGenerator_st *g, const output *o) {
    if (o->count % g->dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (sobol_is_wide(g) != (o->kind == LONG_BITS) && (o->kind == BITS || o->kind == LONG_BITS))
        return CURAND_STATUS_TYPE_ERROR;
    if (o->kind == LONG_BITS) return launch_sobol<LONG_BITS, unsigned long long>(g, o);
    FOR_KIND(o->kind, launch_kind, g, o)
}

/* generator.cuh — the generators of our cuRAND's host interface.
 *
 * NVIDIA's library contains only machine code, so `simgpu nvcc` replaces it by this one, whose
 * calls launch kernels of their own (as in grader/cublas/handle.cuh). They draw from the generators of
 * curand_kernel.h, the header for device code, in the order that the documentation of the host
 * interface gives.
 *
 * A pseudorandom generator is an array of states, one for each of `thread_count` subsequences. An
 * element of the output belongs to one of them; its thread draws it and keeps its state for the
 * next call. A quasirandom element depends only on its dimension and its position.
 *
 * A host generator computes on the device, too, into a buffer that is then copied: the numbers are
 * the same. */
#pragma once
/* The functions of curand_kernel.h run on the host, too: it makes the states. */
#define QUALIFIERS static __forceinline__ __host__ __device__
#include <curand_globals.h>
#include <curand_kernel.h>

enum output_kind {
    BITS,
    LONG_BITS,
    UNIFORM,
    UNIFORM_DOUBLE,
    NORMAL,
    NORMAL_DOUBLE,
    LOG_NORMAL,
    LOG_NORMAL_DOUBLE,
    POISSON,
};

struct curandGenerator_st {
    curandRngType_t type;
    curandOrdering_t ordering;
    unsigned long long seed, offset;
    unsigned dimensions;
    cudaStream_t stream;
    bool is_host;

    bool is_seeded;              /* the fields below hold what the settings above demand */
    unsigned long long position; /* of the next element: since the offset, if pseudorandom */
    void *states, *constants;    /* on the device */

    curandDiscreteDistribution_t poisson; /* of the last call, for its lambda; can be NULL */
    double lambda;
};

/* What a call generates. Only the normal and Poisson distributions have parameters. */
struct output {
    output_kind kind;
    void *p;
    size_t count;
    double mean, deviation;               /* the mean is Poisson's lambda */
    curandDiscreteDistribution_t poisson; /* at the beginning of poisson_tables */
    double min_search_lambda;             /* of the generator */
};

/* A Poisson distribution, on the device. Sequences use the histogram, and round normal numbers
 * above MIN_GAUSS_LAMBDA. Other generators use it for small lambda; else they search the cumulative
 * probabilities, which keeps the order of the numbers. 64-bit numbers are rounded, too. */
struct poisson_tables {
    curandDiscreteDistribution_st distribution; /* what programs see: a pointer to it */
    curandDistributionM2Shift_st m2;
    curandHistogramM2_st histogram;
    curandDistributionShift_st cumulative;
};
inline __device__ poisson_tables *tables_of(const output &o) { return (poisson_tables *)o.poisson; }

/* The element of a distribution that 32 or 64 random bits give, by inversion. */
template <output_kind> struct distribution;
template <> struct distribution<BITS> {
    using type = unsigned;
    template <typename Bits> static __device__ type map(Bits x, const output &) { return x; }
};
template <> struct distribution<LONG_BITS> {
    using type = unsigned long long;
    template <typename Bits> static __device__ type map(Bits x, const output &) { return x; }
};
template <> struct distribution<UNIFORM> {
    using type = float;
    template <typename Bits> static __device__ type map(Bits x, const output &) {
        return _curand_uniform(x);
    }
};
template <> struct distribution<UNIFORM_DOUBLE> {
    using type = double;
    template <typename Bits> static __device__ type map(Bits x, const output &) {
        return _curand_uniform_double(x);
    }
};
template <> struct distribution<NORMAL> {
    using type = float;
    static __device__ type scale(float x, const output &o) {
        return (float)o.mean + (float)o.deviation * x;
    }
    template <typename Bits> static __device__ type map(Bits x, const output &o) {
        return scale(_curand_normal_icdf(x), o);
    }
};
template <> struct distribution<NORMAL_DOUBLE> {
    using type = double;
    static __device__ type scale(double x, const output &o) { return o.mean + o.deviation * x; }
    template <typename Bits> static __device__ type map(Bits x, const output &o) {
        return scale(_curand_normal_icdf_double(x), o);
    }
};
template <> struct distribution<LOG_NORMAL> {
    using type = float;
    static __device__ type scale(float x, const output &o) {
        return expf(distribution<NORMAL>::scale(x, o));
    }
    template <typename Bits> static __device__ type map(Bits x, const output &o) {
        return scale(_curand_normal_icdf(x), o);
    }
};
template <> struct distribution<LOG_NORMAL_DOUBLE> {
    using type = double;
    static __device__ type scale(double x, const output &o) {
        return exp(distribution<NORMAL_DOUBLE>::scale(x, o));
    }
    template <typename Bits> static __device__ type map(Bits x, const output &o) {
        return scale(_curand_normal_icdf_double(x), o);
    }
};
template <> struct distribution<POISSON> {
    using type = unsigned;
    template <typename Bits> static __device__ type map(Bits x, const output &o) {
        if (sizeof x == 8 && o.mean > MIN_GAUSS_LAMBDA)
            return _curand_poisson_from_normal(x, o.mean);
        if (o.mean < o.min_search_lambda) return _curand_M2_double(x, &tables_of(o)->m2);
        return _curand_binary_search_double(x, &tables_of(o)->cumulative);
    }
};

/* Calls METHOD<kind>(…) of an output's kind. */
#define FOR_KIND(kind, METHOD, ...)                                    \
    switch (kind) {                                                    \
    case BITS: return METHOD<BITS>(__VA_ARGS__);                       \
    case UNIFORM: return METHOD<UNIFORM>(__VA_ARGS__);                 \
    case UNIFORM_DOUBLE: return METHOD<UNIFORM_DOUBLE>(__VA_ARGS__);   \
    case NORMAL: return METHOD<NORMAL>(__VA_ARGS__);                   \
    case NORMAL_DOUBLE: return METHOD<NORMAL_DOUBLE>(__VA_ARGS__);     \
    case LOG_NORMAL: return METHOD<LOG_NORMAL>(__VA_ARGS__);           \
    case LOG_NORMAL_DOUBLE: return METHOD<LOG_NORMAL_DOUBLE>(__VA_ARGS__); \
    case POISSON: return METHOD<POISSON>(__VA_ARGS__);                 \
    default: return CURAND_STATUS_TYPE_ERROR;                          \
    }

template <typename... Parameters, typename... Arguments>
curandStatus_t launch(const curandGenerator_st *g, dim3 grid, unsigned block,
                      void (*kernel)(Parameters...), Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.stream = g->stream;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) == cudaSuccess
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_LAUNCH_FAILURE;
}

/* Each kind of generator: makes its states for the settings, and generates from the position on. */
curandStatus_t sequences_seed(curandGenerator_st *g);
curandStatus_t sequences_generate(curandGenerator_st *g, const output *o);
curandStatus_t mtgp32_seed(curandGenerator_st *g);
curandStatus_t mtgp32_generate(curandGenerator_st *g, const output *o);
bool sobol_is_wide(const curandGenerator_st *g);
curandStatus_t sobol_seed(curandGenerator_st *g);
curandStatus_t sobol_generate(curandGenerator_st *g, const output *o);

/* Sobol's direction vectors and our scramble, on the host. */
enum { MAX_DIMENSIONS = 512 };
template <typename Bits> struct sobol_table {
    enum { WIDTH = 8 * sizeof(Bits) };
    Bits vectors[MAX_DIMENSIONS][WIDTH], constants[MAX_DIMENSIONS];
};
template <typename Bits> sobol_table<Bits> *sobol_find_table();

/* Makes the table of a Poisson distribution on the device. */
curandStatus_t poisson_create(double lambda, curandDiscreteDistribution_t *out);

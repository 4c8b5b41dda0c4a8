/* calls.cu — cuRAND's host calls: generators, their settings, generation. */
#include "grader/curand/generator.cuh"
#include <new>

extern "C" int wb_unsupported(const char *call);

static bool is_quasirandom(curandRngType_t type) { return type >= CURAND_RNG_QUASI_DEFAULT; }

static bool is_sequenced(curandRngType_t type) {
    return type == CURAND_RNG_PSEUDO_XORWOW || type == CURAND_RNG_PSEUDO_MRG32K3A ||
           type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
}

static curandStatus_t seed(curandGenerator_st *g) {
    if (g->is_seeded) return CURAND_STATUS_SUCCESS;
    curandStatus_t status = is_quasirandom(g->type) ? sobol_seed(g)
                            : is_sequenced(g->type) ? sequences_seed(g)
                                                    : mtgp32_seed(g);
    g->is_seeded = status == CURAND_STATUS_SUCCESS;
    return status;
}

static curandStatus_t generate_on_device(curandGenerator_st *g, const output *o) {
    curandStatus_t status = seed(g);
    if (status != CURAND_STATUS_SUCCESS || !o->count) return status;
    if (is_quasirandom(g->type)) return sobol_generate(g, o);
    if (o->kind == LONG_BITS) return CURAND_STATUS_TYPE_ERROR;
    return is_sequenced(g->type) ? sequences_generate(g, o) : mtgp32_generate(g, o);
}

/* Generates into a buffer on the device and copies it to the host. */
static curandStatus_t generate_for_host(curandGenerator_st *g, const output *o, size_t bytes) {
    output on_device = *o;
    if (cudaMalloc(&on_device.p, bytes ? bytes : 1) != cudaSuccess)
        return CURAND_STATUS_ALLOCATION_FAILED;
    curandStatus_t status = generate_on_device(g, &on_device);
    if (status == CURAND_STATUS_SUCCESS &&
        (cudaMemcpyAsync(o->p, on_device.p, bytes, cudaMemcpyDeviceToHost, g->stream) ||
         cudaStreamSynchronize(g->stream)))
        status = CURAND_STATUS_LAUNCH_FAILURE;
    cudaFree(on_device.p);
    return status;
}

static curandStatus_t generate(curandGenerator_st *g, output o, size_t size) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    o.min_search_lambda = g->type == CURAND_RNG_PSEUDO_MTGP32 ? MTGP32_M2_BINARY_DIVIDE
                          : sobol_is_wide(g)                  ? 0
                                                              : SOBOL_M2_BINARY_DIVIDE;
    return g->is_host ? generate_for_host(g, &o, o.count * size) : generate_on_device(g, &o);
}

static curandStatus_t create(curandGenerator_t *out, curandRngType_t type, bool is_host) {
    if (type == CURAND_RNG_PSEUDO_DEFAULT) type = CURAND_RNG_PSEUDO_XORWOW;
    if (type == CURAND_RNG_QUASI_DEFAULT) type = CURAND_RNG_QUASI_SOBOL32;
    if (type == CURAND_RNG_PSEUDO_MT19937) wb_unsupported("curandCreateGenerator (MT19937)");
    bool is_sobol = type >= CURAND_RNG_QUASI_SOBOL32 && type <= CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
    if (!is_sequenced(type) && type != CURAND_RNG_PSEUDO_MTGP32 && !is_sobol)
        return CURAND_STATUS_TYPE_ERROR;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices)
        return CURAND_STATUS_INITIALIZATION_FAILED;
    curandGenerator_st *g = new (std::nothrow) curandGenerator_st();
    if (!g) return CURAND_STATUS_ALLOCATION_FAILED;
    g->type = type, g->is_host = is_host, g->dimensions = 1;
    g->ordering = is_quasirandom(type) ? CURAND_ORDERING_QUASI_DEFAULT
                                       : CURAND_ORDERING_PSEUDO_DEFAULT;
    *out = g;
    return CURAND_STATUS_SUCCESS;
}

extern "C" {

/* ---- generators ---- */

curandStatus_t curandCreateGenerator(curandGenerator_t *g, curandRngType_t type) {
    return create(g, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *g, curandRngType_t type) {
    return create(g, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    cudaFree(g->states), cudaFree(g->constants), cudaFree(g->poisson);
    delete g;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int *version) {
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
    if (!value) return CURAND_STATUS_OUT_OF_RANGE;
    switch (type) {
    case MAJOR_VERSION: *value = CURAND_VER_MAJOR; return CURAND_STATUS_SUCCESS;
    case MINOR_VERSION: *value = CURAND_VER_MINOR; return CURAND_STATUS_SUCCESS;
    case PATCH_LEVEL: *value = CURAND_VER_PATCH; return CURAND_STATUS_SUCCESS;
    default: return CURAND_STATUS_OUT_OF_RANGE;
    }
}

/* ---- settings: each restarts the sequence, except for a seed that is the same as before ---- */

curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t stream) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    g->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    if (is_quasirandom(g->type)) return CURAND_STATUS_TYPE_ERROR;
    g->is_seeded &= g->seed == seed, g->seed = seed;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    if (g->type == CURAND_RNG_PSEUDO_MTGP32) return CURAND_STATUS_TYPE_ERROR;
    g->offset = offset, g->is_seeded = false;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t order) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    bool is_quasi = order == CURAND_ORDERING_QUASI_DEFAULT;
    bool is_pseudo =
        order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
    if ((!is_quasi && !is_pseudo) || is_quasi != is_quasirandom(g->type)) return CURAND_STATUS_OUT_OF_RANGE;
    if ((order == CURAND_ORDERING_PSEUDO_SEEDED && g->type != CURAND_RNG_PSEUDO_XORWOW) ||
        (order == CURAND_ORDERING_PSEUDO_DYNAMIC && g->is_host))
        return CURAND_STATUS_OUT_OF_RANGE;
    g->ordering = order, g->is_seeded = false;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t g, unsigned dimensions) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    if (!is_quasirandom(g->type)) return CURAND_STATUS_TYPE_ERROR;
    if (!dimensions || dimensions > MAX_DIMENSIONS) return CURAND_STATUS_OUT_OF_RANGE;
    g->dimensions = dimensions, g->is_seeded = false;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t g) {
    return g ? seed(g) : CURAND_STATUS_NOT_INITIALIZED;
}

/* ---- generation ---- */

curandStatus_t curandGenerate(curandGenerator_t g, unsigned *out, size_t n) {
    return generate(g, {BITS, out, n}, sizeof *out);
}
curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long *out, size_t n) {
    return generate(g, {LONG_BITS, out, n}, sizeof *out);
}
curandStatus_t curandGenerateUniform(curandGenerator_t g, float *out, size_t n) {
    return generate(g, {UNIFORM, out, n}, sizeof *out);
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double *out, size_t n) {
    return generate(g, {UNIFORM_DOUBLE, out, n}, sizeof *out);
}
curandStatus_t curandGenerateNormal(curandGenerator_t g, float *out, size_t n, float mean,
                                    float deviation) {
    return generate(g, {NORMAL, out, n, mean, deviation}, sizeof *out);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double *out, size_t n, double mean,
                                          double deviation) {
    return generate(g, {NORMAL_DOUBLE, out, n, mean, deviation}, sizeof *out);
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float *out, size_t n, float mean,
                                       float deviation) {
    return generate(g, {LOG_NORMAL, out, n, mean, deviation}, sizeof *out);
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double *out, size_t n,
                                             double mean, double deviation) {
    return generate(g, {LOG_NORMAL_DOUBLE, out, n, mean, deviation}, sizeof *out);
}
curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned *out, size_t n, double lambda) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    if (lambda != g->lambda || !g->poisson) {
        curandDestroyDistribution(g->poisson);
        g->poisson = nullptr, g->lambda = lambda;
        curandStatus_t status = curandCreatePoissonDistribution(lambda, &g->poisson);
        if (status != CURAND_STATUS_SUCCESS) return status;
    }
    return generate(g, {POISSON, out, n, lambda, 0, g->poisson}, sizeof *out);
}

/* ---- tables ---- */

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t **vectors,
                                           curandDirectionVectorSet_t set) {
    if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 &&
        set != CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    *vectors = sobol_find_table<unsigned>()->vectors;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t **vectors,
                                           curandDirectionVectorSet_t set) {
    if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 &&
        set != CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    *vectors = sobol_find_table<unsigned long long>()->vectors;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants32(unsigned **constants) {
    *constants = sobol_find_table<unsigned>()->constants;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants64(unsigned long long **constants) {
    *constants = sobol_find_table<unsigned long long>()->constants;
    return CURAND_STATUS_SUCCESS;
}
}

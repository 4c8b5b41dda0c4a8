// nvcc: -std=c++17 -lcurand
// cuRAND's host interface: digests of the numbers of each generator and distribution in successive
// calls, at offsets, for seeds, orderings and dimensions. The expected digests are those of NVIDIA's
// library of CUDA 13.0 on an H100.
#include <curand.h>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

enum kind { BITS, BITS64, UNIFORM, UNIFORM64, NORMAL, NORMAL64, LOG, LOG64, POISSON3, POISSON64 };
static const int sizes[] = {4, 8, 4, 8, 4, 8, 4, 8, 4, 4};
static void *device;
static std::vector<unsigned char> host(800000);
static bool is_host;

static unsigned long long digest(size_t n) {
    unsigned long long h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) h = (h ^ host[i]) * 0x100000001b3;
    return h;
}

static curandStatus_t generate(curandGenerator_t g, kind k, void *p, size_t n) {
    switch (k) {
    case BITS: return curandGenerate(g, (unsigned *)p, n);
    case BITS64: return curandGenerateLongLong(g, (unsigned long long *)p, n);
    case UNIFORM: return curandGenerateUniform(g, (float *)p, n);
    case UNIFORM64: return curandGenerateUniformDouble(g, (double *)p, n);
    case NORMAL: return curandGenerateNormal(g, (float *)p, n, 1.5f, 2.25f);
    case NORMAL64: return curandGenerateNormalDouble(g, (double *)p, n, 1.5, 2.25);
    case LOG: return curandGenerateLogNormal(g, (float *)p, n, 0.5f, 0.75f);
    case LOG64: return curandGenerateLogNormalDouble(g, (double *)p, n, 0.5, 0.75);
    default: return curandGeneratePoisson(g, (unsigned *)p, n, k == POISSON3 ? 3.5 : 64);
    }
}
static void show(curandGenerator_t g, kind k, size_t n) {
    curandStatus_t s = generate(g, k, is_host ? host.data() : device, n);
    if (s != CURAND_STATUS_SUCCESS) {
        printf(" %zu: status %d", n, (int)s);
        return;
    }
    if (!is_host) cudaMemcpy(host.data(), device, n * sizes[k], cudaMemcpyDeviceToHost);
    printf(" %zu: %016llx", n, digest(n * sizes[k]));
}

static curandGenerator_t make(int type, int order = 0) {
    curandGenerator_t g = nullptr;
    if (is_host) curandCreateGeneratorHost(&g, (curandRngType_t)type);
    else curandCreateGenerator(&g, (curandRngType_t)type);
    if (type < 200) curandSetPseudoRandomGeneratorSeed(g, 1234);
    if (order) curandSetGeneratorOrdering(g, (curandOrdering_t)order);
    return g;
}
static void end(curandGenerator_t g) {
    printf("\n");
    curandDestroyGenerator(g);
}

static void successive_calls(int type, int order) {
    for (kind k : {BITS, UNIFORM, UNIFORM64, NORMAL, NORMAL64, POISSON3, POISSON64}) {
        if (order && k != BITS && k != NORMAL) continue;
        curandGenerator_t g = make(type, order);
        printf("generator %d, order %d, kind %d:", type, order, k);
        for (size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 10, 4096, 100, 5000, 12, 9999}) show(g, k, n);
        end(g);
    }
}
static void mixed_calls(int type) {
    curandGenerator_t g = make(type);
    printf("generator %d, mixed:", type);
    show(g, BITS, 5), show(g, NORMAL, 6), show(g, UNIFORM64, 7), show(g, BITS, 5000);
    show(g, NORMAL64, 4098), show(g, UNIFORM, 3), show(g, POISSON3, 10), show(g, BITS, 9);
    if (type < 200) curandSetPseudoRandomGeneratorSeed(g, 1234); /* the same: no restart */
    show(g, BITS, 9);
    curandSetGeneratorOffset(g, 0);
    show(g, BITS, 9);
    end(g);
}
static void offsets(int type) {
    for (unsigned long long offset : {3ull, 1ull << 33})
        for (kind k : {BITS, NORMAL, BITS64}) {
            if ((k == BITS64) != (type == CURAND_RNG_QUASI_SOBOL64)) continue;
            curandGenerator_t g = make(type);
            printf("generator %d, offset %llu, kind %d:", type, offset, k);
            if (curandSetGeneratorOffset(g, offset) == CURAND_STATUS_SUCCESS) show(g, k, 20000);
            end(g);
        }
}
static void seeds(int type) {
    for (unsigned long long seed : {0ull, ~0ull}) {
        curandGenerator_t g = make(type);
        printf("generator %d, seed %llx:", type, seed);
        curandSetPseudoRandomGeneratorSeed(g, seed);
        show(g, BITS, 100000);
        end(g);
    }
}
static void dimensions(int type) {
    for (unsigned d : {2u, 3u, 7u})
        for (unsigned long long offset : {0, 5})
            for (int k = BITS; k <= POISSON3; k++) {
                curandGenerator_t g = make(type);
                printf("generator %d, %u dimensions, offset %llu, kind %d:", type, d, offset, k);
                curandSetQuasiRandomGeneratorDimensions(g, d), curandSetGeneratorOffset(g, offset);
                if (!offset || k <= NORMAL) show(g, (kind)k, d * 100), show(g, (kind)k, d * 7);
                end(g);
            }
}

int main() {
    cudaMalloc(&device, host.size());
    for (int type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MTGP32}) {
        successive_calls(type, 0), successive_calls(type, CURAND_ORDERING_PSEUDO_LEGACY), mixed_calls(type);
        offsets(type), seeds(type);
    }
    successive_calls(CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_SEEDED);
    successive_calls(CURAND_RNG_QUASI_SOBOL32, 0), mixed_calls(CURAND_RNG_QUASI_SOBOL32);
    for (int type : {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SOBOL64}) offsets(type), dimensions(type);
    is_host = true;
    for (int type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MTGP32}) seeds(type);
    return 0;
}

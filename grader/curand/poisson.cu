/* poisson.cu — Poisson distributions as tables for Marsaglia, Tsang and Wang's method of the square
 * histogram ("Fast Generation of Discrete Random Variables", 2004).
 *
 * A histogram of n outcomes becomes n columns of width 1 / n. Column j holds outcome j up to V[j]
 * and outcome K[j] above. Outcomes with less than 1 / n take the rest of their column from the last
 * outcome with more. Columns are filled in ascending order, in several rounds, because an outcome
 * that has given becomes a taker itself. This order, and as many outcomes as have a probability
 * above zero in f64, are cuRAND's: its results depend on them. */
#include "grader/curand/generator.cuh"
#include <cmath>
#include <vector>

struct histogram {
    unsigned shift; /* outcome 0's value */
    std::vector<double> v;
    std::vector<unsigned> k;
    std::vector<double> cumulative;
};

static double probability(double lambda, unsigned value) {
    return exp(value * log(lambda) - lambda - lgamma(value + 1.0));
}

/* The probabilities of the values from `shift` on, without those that are zero. */
static std::vector<double> find_probabilities(double lambda, unsigned *shift) {
    std::vector<double> p;
    *shift = 0;
    while (probability(lambda, *shift) == 0) ++*shift;
    for (unsigned value = *shift;; value++) {
        double next = probability(lambda, value);
        if (next == 0) return p;
        p.push_back(next);
    }
}

static histogram make_histogram(double lambda) {
    histogram h;
    std::vector<double> p = find_probabilities(lambda, &h.shift);
    int n = (int)p.size(), giver = n - 1;
    double width = 1.0 / n, sum = 0;
    for (double x : p) h.cumulative.push_back(sum += x);
    std::vector<bool> is_filled(n);
    for (int j = 0; j < n; j++) h.v.push_back((j + 1) * width), h.k.push_back((unsigned)j);
    auto find_giver = [&] {
        while (giver >= 0 && (p[giver] <= width || is_filled[giver])) giver--;
    };
    find_giver();
    for (bool has_changed = true; has_changed && giver >= 0;) {
        has_changed = false;
        for (int j = 0; j < n && giver >= 0; j++) {
            if (is_filled[j] || p[j] >= width) continue;
            h.v[j] = j * width + p[j], h.k[j] = (unsigned)giver;
            p[giver] -= width - p[j];
            is_filled[j] = has_changed = true;
            find_giver();
        }
    }
    return h;
}

template <typename T> static bool copy(T *to, const std::vector<T> &from) {
    return cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice) ==
           cudaSuccess;
}

static curandStatus_t create(double lambda, const histogram &h,
                             curandDiscreteDistribution_t *out) {
    size_t n = h.v.size();
    poisson_tables *device = nullptr, t = {};
    if (cudaMalloc(&device, sizeof *device + n * (2 * sizeof(double) + sizeof(unsigned))))
        return CURAND_STATUS_ALLOCATION_FAILED;
    double *v = (double *)(device + 1), *cumulative = v + n;
    unsigned *k = (unsigned *)(cumulative + n);
    t.distribution.M2 = &device->m2;
    t.distribution.method = lambda > MIN_GAUSS_LAMBDA ? CURAND_DISCRETE_GAUSS : CURAND_M2;
    t.distribution.mean = lambda, t.distribution.stddev = sqrt(lambda);
    t.m2.histogram = &device->histogram, t.m2.shift = h.shift, t.m2.length = (unsigned)n;
    t.histogram.V = v, t.histogram.K = k;
    t.cumulative.probability = cumulative;
    t.cumulative.shift = h.shift, t.cumulative.length = (unsigned)n;
    bool ok = !cudaMemcpy(device, &t, sizeof t, cudaMemcpyHostToDevice) && copy(v, h.v) &&
              copy(k, h.k) && copy(cumulative, h.cumulative);
    *out = &device->distribution;
    return ok ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

extern "C" {
curandStatus_t curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t *out) {
    if (!(lambda > 0) || lambda > MAX_LAMBDA) return CURAND_STATUS_OUT_OF_RANGE;
    if (!out) return CURAND_STATUS_NOT_INITIALIZED;
    return create(lambda, make_histogram(lambda), out);
}
curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
    if (!distribution) return CURAND_STATUS_NOT_INITIALIZED;
    return cudaFree(distribution) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                 : CURAND_STATUS_INTERNAL_ERROR;
}
}

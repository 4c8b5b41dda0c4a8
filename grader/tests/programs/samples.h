// samples.h — what programs in the manner of public samples share: device arrays of a vector,
// numbers, verdicts.
#pragma once
#include "check.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#define OK(what, condition) printf("%s: %s\n", what, (condition) ? "ok" : "WRONG")

// The same numbers in each run.
static inline unsigned rnd() {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

template <class T> struct Dev {
    T *p;
    size_t n;
    Dev(size_t count) : n(count) { CHECK(cudaMalloc(&p, n * sizeof(T))); }
    Dev(const std::vector<T> &v) : Dev(v.size()) {
        CHECK(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Dev() { cudaFree(p); }
    operator T *() { return p; }
    std::vector<T> get() {
        std::vector<T> v(n);
        CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
};

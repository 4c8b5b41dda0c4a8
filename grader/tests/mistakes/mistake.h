// mistake.h — device memory in one line, for the pairs of programs in the folders beside it.
#pragma once
#include "../programs/check.h"

#include <initializer_list>
#include <vector>

// Device memory of n elements, all zero, for every stream.
template <class T = int> T *zeros(size_t n) {
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof *p));
    CHECK(cudaMemset(p, 0, n * sizeof *p));
    CHECK(cudaDeviceSynchronize());
    return p;
}

// Device memory of n elements: 0, 1, 2, …
template <class T = int> T *counting(size_t n) {
    std::vector<T> host(n);
    for (size_t i = 0; i < n; i++) host[i] = (T)(float)i;
    T *p = zeros<T>(n);
    CHECK(cudaMemcpy(p, host.data(), n * sizeof *p, cudaMemcpyHostToDevice));
    return p;
}

// Element i of device memory.
template <class T> T element(const T *p, size_t i = 0) {
    T value;
    CHECK(cudaMemcpy(&value, p + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// Ends the program if a result is wrong.
#define EXPECT(condition)                                          \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #condition); \
            exit(2);                                               \
        }                                                          \
    } while (0)

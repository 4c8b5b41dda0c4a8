// patterns.cuh: the addresses of the micro kernels: which element each thread wants, and which threads want one.
#pragma once
#include "driver.cuh"
#include <algorithm>
#include <numeric>

// A pattern is data: for thread t the sum of two terms t / group % wrap * step, and plus, then flip's bits turned.
struct term {
    int step, group, wrap;
    int of(int t) const { return t / group % wrap * step; }
};
struct pattern {
    const char *name;
    term first, second;
    int plus, flip;
    const int *listed; // instead of all that
    int of(int t) const { return listed ? listed[t] : (first.of(t) + second.of(t) + plus) ^ flip; }
};
static const int no_wrap = INT_MAX;
static const term nothing = {0, 1, 1};
static pattern steps(const char *name, int step, int plus = 0) {
    return {name, {step, 1, no_wrap}, nothing, plus, 0, nullptr};
}
static pattern groups(const char *name, int group, int step) {
    return {name, {step, group, no_wrap}, nothing, 0, 0, nullptr};
}
static pattern wraps(const char *name, int wrap, int step) { return {name, {step, 1, wrap}, nothing, 0, 0, nullptr}; }
static pattern flips(const char *name, int flip) { return {name, {1, 1, no_wrap}, nothing, 0, flip, nullptr}; }
static pattern sums(const char *name, term a, term b) { return {name, a, b, 0, 0, nullptr}; }
static pattern lists(const char *name, const int *at) { return {name, nothing, nothing, 0, 0, at}; }

static std::vector<int> drawn(int count, uint32_t below) {
    std::vector<int> all(count);
    for (int &at : all) at = draw() % below;
    return all;
}

// The pattern on the device, for `threads` threads.
static void place(int *device, const pattern &p, int threads) {
    std::vector<int> all(threads);
    for (int t = 0; t < threads; t++) all[t] = p.of(t);
    must(cudaMemcpy(device, all.data(), threads * sizeof(int), cudaMemcpyHostToDevice), p.name);
}

template <class T> static T *zeroed(size_t bytes) {
    T *device = nullptr;
    must(cudaMalloc(&device, bytes), "memory");
    must(cudaMemset(device, 0, bytes), "zeros");
    return device;
}

__device__ inline bool takes_part(unsigned mask) { return mask >> (threadIdx.x % 32) & 1; }

// Any value of a type, so that every byte of it has to be written.
template <class T> struct made {
    __device__ static T from(int n) { return T(n); }
};
template <> struct made<float2> {
    __device__ static float2 from(int n) { return {float(n), float(n + 1)}; }
};
template <> struct made<float4> {
    __device__ static float4 from(int n) { return {float(n), float(n + 1), float(n + 2), float(n + 3)}; }
};

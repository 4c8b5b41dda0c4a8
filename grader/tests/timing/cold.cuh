// cold.cuh — how the programs of this folder take a time: by events, the median of some calls, in µs. Before each call L2 is filled with other
// data, if `cold`. One call more comes first and is not counted.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class F> static float cold_median(F f, int calls = 21, bool cold = true) {
    constexpr size_t BYTES = 256u << 20; // several times an L2
    static char *area;
    static cudaEvent_t start, stop;
    if (!area && (cudaMalloc(&area, BYTES) || cudaEventCreate(&start) || cudaEventCreate(&stop))) {
        fprintf(stderr, "no room to empty L2 with: %s\n", cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
    std::vector<float> us;
    for (int i = 0; i <= calls; i++) {
        float ms;
        if (cold) cudaMemsetAsync(area, i, BYTES);
        cudaEventRecord(start), f(), cudaEventRecord(stop), cudaEventSynchronize(stop), cudaEventElapsedTime(&ms, start, stop);
        if (i) us.push_back(ms * 1e3f);
    }
    std::sort(us.begin(), us.end());
    return us[calls / 2];
}

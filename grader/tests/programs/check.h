// check.h — what every CUDA program has: a macro that ends it at the first error.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t error_ = (call);                                                    \
        if (error_ != cudaSuccess) {                                                    \
            printf("line %d: %s: %s (%s)\n", __LINE__, #call, cudaGetErrorName(error_), \
                   cudaGetErrorString(error_));                                         \
            exit(EXIT_FAILURE);                                                         \
        }                                                                               \
    } while (0)

// Prints an error's name instead.
#define SHOW(call) printf("%-56s %s\n", #call, cudaGetErrorName(call))

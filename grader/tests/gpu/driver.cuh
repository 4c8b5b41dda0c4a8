// driver.cuh: what the programs of truth.py share: inputs that are the same on every machine, launches that must work.
#pragma once
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>
// The versions are included into namespaces: what they include themselves has to be here before.
#include <cfloat>
#include <cmath>
#include <cooperative_groups.h>
#include <cstring>
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using byte = unsigned char;
using u64 = unsigned long long;

static void must(cudaError_t e, const char *what) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
}

// What a launch did is complained of where it was made.
static void settle(const char *what) {
    must(cudaGetLastError(), what);
    must(cudaDeviceSynchronize(), what);
}

// Knuth's MMIX generator, 31 bits a draw. One sequence feeds all the buffers of a program, in their order.
static uint32_t draw() {
    static uint64_t state = 88172645463325252;
    state = 6364136223846793005u * state + 1442695040888963407u;
    return state >> 33;
}

// The draws of exercises.def: element i of a buffer.
static int zero(size_t) { return 0; }
struct real {
    double low, high;
    real(double l, double h) : low(l), high(h) {}
    double operator()(size_t) const { return low + (high - low) * (draw() / 2147483648.0); }
};
struct whole {
    int low, high;
    whole(int l, int h) : low(l), high(h) {}
    int operator()(size_t) const { return low + int(draw() % (uint32_t)(high - low + 1)); }
};
// Nine bytes in ten are one value, so that the lanes of a warp meet in one bin.
struct skewed {
    int operator()(size_t i) const { return whole(0, 255)(i) < 230 ? 200 : whole(0, 255)(i); }
};
// Small numbers, and one in twenty at an end of int's range.
struct extremes {
    int operator()(size_t i) const {
        if (whole(0, 19)(i)) return whole(-20, 20)(i);
        return whole(0, 1)(i) ? INT_MAX : INT_MIN;
    }
};
// Each number stays for 1 to `most` elements; then comes the next, up to `last`.
struct stretches {
    int most, last, number, left;
    stretches(int m, int l) : most(m), last(l), number(-1), left(0) {}
    int operator()(size_t) {
        if (left-- == 0) left = whole(0, most - 1)(0), number += number < last;
        return number;
    }
};
// Four of the keys below `keys`, and after 128 elements four others.
struct few {
    int keys, active[4];
    few(int k) : keys(k) {}
    int operator()(size_t i) {
        for (int k = 0; i % 128 == 0 && k < 4; k++) active[k] = whole(0, keys - 1)(0);
        return active[whole(0, 3)(0)];
    }
};
// Sixteen floats a particle, of which the fifth is divided by.
struct particle {
    double operator()(size_t i) const { return i % 16 == 4 ? real(1, 2)(i) : real(-1, 1)(i); }
};

// Coordinates in 256ths between -1 and 1; four a point, of which 64 in a row differ by a few units.
struct coordinate {
    double operator()(size_t i) const { return whole(-256, 255)(i) / 256.0; }
};
struct alike {
    int middle[4];
    double operator()(size_t i) {
        if (i / 4 % 64 == 0) middle[i % 4] = whole(-252, 252)(i);
        return (middle[i % 4] + whole(-3, 3)(i)) / 256.0;
    }
};
// Sorted 64-bit numbers: 32 bits of a key, which grows by random steps up to twice the average, above 31 bits of value.
struct ascending {
    uint64_t key = 0, average;
    ascending(size_t n) : average(0xffffffffu / n) {}
    uint64_t operator()(size_t) { return (key += draw() % (2 * average)) << 32 | draw(); }
};

// Where each row of a sparse matrix begins: one of 256 is 128 times as long as the others.
struct row_starts {
    int rows, all;
    row_starts(int r, int n) : rows(r), all(n) {}
    double before(size_t row) const { return row + 127.0 * ((row + 178) / 256); }
    int operator()(size_t row) const { return int(before(row) / before(rows) * all); }
};
// The columns of its elements: stretches of up to 32 near the diagonal, with up to two columns between neighbours.
struct near_diagonal {
    int cols, all, column, left;
    near_diagonal(int c, int n) : cols(c), all(n), column(0), left(0) {}
    int operator()(size_t i) {
        if (left-- == 0) left = whole(7, 31)(i), column = int(i * cols / all) + whole(0, 1023)(i);
        return (column += whole(1, 3)(i)) % cols;
    }
};

// Device memory, or page-locked memory of the host, with what every version is to find in it.
class stage {
    struct image {
        void *device;
        std::vector<char> bytes;
    };
    std::vector<image> images;

  public:
    template <class T, class DRAW> T *buffer(size_t count, DRAW next, bool pinned = false) {
        std::vector<char> bytes(count * sizeof(T));
        T *host = reinterpret_cast<T *>(bytes.data()), *device = nullptr;
        for (size_t i = 0; i < count; i++) host[i] = T(next(i));
        must(pinned ? cudaMallocHost(&device, bytes.size()) : cudaMalloc(&device, bytes.size()), "a buffer");
        images.push_back({device, std::move(bytes)});
        reset(images.back());
        return device;
    }
    template <class CALL> void version(const char *label, CALL call) {
        for (const image &i : images) reset(i);
        call();
        settle(label);
    }

  private:
    static void reset(const image &i) {
        must(cudaMemcpy(i.device, i.bytes.data(), i.bytes.size(), cudaMemcpyDefault), "an input");
    }
};

// prose.cu — times that pages quote in sentences and no other program here takes: what docs/measuring.md says of taking a time, and
// alias_trap (chapter 01) with few signals. Prints a table: what, µs.
//
//   nvcc -O3 -std=c++17 -arch=native -I. grader/tests/timing/prose.cu -o prose; ./prose > docs/results/NAME/prose.tsv
//
// Run from the top of the tree, on a GPU that nobody else uses.
#include "grader/tests/timing/cold.cuh"
#include <chrono>
#include <string>

namespace plain {
#define alias_trap alias_trap_plain
#include "solutions/01-restrict/alias_trap-1-unqualified.cu"
#undef alias_trap
}
namespace best {
#define alias_trap alias_trap_best
#include "solutions/01-restrict/alias_trap.cu"
#undef alias_trap
}

static __global__ void empty() {}

static __global__ void scale(float *out, const float *in, float a, int n) { // docs/measuring.md's kernel
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * in[i];
}

static void say(const std::string &what, double us) {
    if (cudaError_t e = cudaDeviceSynchronize()) fprintf(stderr, "%s: %s\n", what.c_str(), cudaGetErrorString(e)), exit(1);
    printf("%s\t%.2f\n", what.c_str(), us);
}

// Between two events, warm.
template <class F> static float once(F f) {
    static cudaEvent_t start, stop;
    float ms = 0;
    if (!start) cudaEventCreate(&start), cudaEventCreate(&stop);
    cudaEventRecord(start), f(), cudaEventRecord(stop), cudaEventSynchronize(stop), cudaEventElapsedTime(&ms, start, stop);
    return ms * 1e3f;
}

// Median of the host's clock around f, before which the device has nothing to do.
template <class F> static double on_the_host(F f) {
    std::vector<double> us;
    for (int i = 0; i < 21; i++) {
        cudaDeviceSynchronize();
        auto start = std::chrono::steady_clock::now();
        f();
        us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(us.begin(), us.end());
    return us[10];
}

int main() {
    const int n = 1 << 24, signals = 65536, length = 64;
    float *in, *out;
    if (cudaMalloc(&in, n * sizeof *in) || cudaMalloc(&out, n * sizeof *out)) return fprintf(stderr, "no memory\n"), 1;
    cudaMemset(in, 0, n * sizeof *in);
    auto launch = [=](int m) { scale<<<(m + 255) / 256, 256>>>(out, in, 2.0f, m); };
    printf("what\tus\n");
    say("first launch", once([=] { launch(n); }));
    std::vector<float> warm;
    for (int i = 0; i < 21; i++) warm.push_back(once([=] { launch(n); }));
    std::sort(warm.begin(), warm.end());
    say("2^24 warm, least", warm[0]), say("2^24 warm, median", warm[10]), say("2^24 warm, most", warm[20]);
    say("2^24 cold", cold_median([=] { launch(n); }));
    say("host around a launch", on_the_host([=] { launch(n); }));
    say("host around a launch and a wait", on_the_host([=] { launch(n), cudaDeviceSynchronize(); }));
    say("2^22 warm", cold_median([=] { launch(1 << 22); }, 21, false));
    say("2^22 cold", cold_median([=] { launch(1 << 22); }));
    say("an empty kernel between events", cold_median([=] { empty<<<1, 32>>>(); }, 21, false));
    say("2^21, one launch", cold_median([=] { launch(1 << 21); }, 21, false));
    say("2^21, each of 200 launches", cold_median([=] { for (int i = 0; i < 200; i++) launch(1 << 21); }, 21, false) / 200);
    say("alias_trap 65536: 1-unqualified", cold_median([=] { plain::alias_trap_plain(out, in, out + signals, signals, length); }));
    say("alias_trap 65536: solution", cold_median([=] { best::alias_trap_best(out, in, out + signals, signals, length); }));
    return 0;
}

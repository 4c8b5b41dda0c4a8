// AC | - | templates, lambdas, the standard library | 
#include <algorithm>
#include <functional>
#include <string>
template <int add> __global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + add;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    std::function<int(int)> blocks = [](int m) { return std::max(1, (m + 255) / 256); };
    if (n) k<1><<<blocks(n), 256>>>(out, in, n);
}

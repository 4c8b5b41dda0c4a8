// AC | - | exceptions thrown and caught on the host | 
#include <stdexcept>
#include <string>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    try {
        if (n < 300) throw std::runtime_error(std::to_string(n));
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    } catch (const std::exception &e) {
        int m = std::stoi(e.what());
        if (m) k<<<(m + 31) / 32, 32>>>(out, in, m);
    }
}

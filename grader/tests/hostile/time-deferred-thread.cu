// WA/RTE* | 2 | a thread launches the work after the entry has returned | launched no kernel
#include <thread>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    std::thread([=] { usleep(200000); if (n) k<<<(n + 255) / 256, 256>>>(out, in, n); }).detach();
}

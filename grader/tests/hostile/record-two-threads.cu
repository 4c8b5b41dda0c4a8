// WA/RTE/AC | own | two threads issue commands for the same recording at once | 
#include <thread>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    std::thread t([=] { for (int i = 0; n && i < 50; i++) k<<<1, 32>>>(out, in, n < 32 ? n : 32); });
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    t.join();
}

// AC | own | a thread that keeps spinning after the entry has returned | 
#include <thread>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static bool once;
    if (!once) std::thread([] { for (volatile long i = 0;; i = i + 1) ; }).detach();
    once = true;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

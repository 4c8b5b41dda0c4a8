// WA/RTE/AC | own | changes the shared window while the server copies from it | 
#include <thread>
#include <vector>
#include <sys/mman.h>
#include <string.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static unsigned char *w = (unsigned char *)mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    static bool once;
    if (!once) std::thread([] { for (unsigned i = 0;; i++) memset(w, (int)i, 1 << 20); }).detach();
    once = true;
    int *t;
    std::vector<int> v(1 << 18);
    cudaMalloc(&t, 1 << 20);
    for (int i = 0; i < 20; i++) cudaMemcpy(t, v.data(), 1 << 20, cudaMemcpyHostToDevice);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// AC | - | four threads, each with a stream and a quarter of the work, joined | 
#include <thread>
#include <vector>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    std::vector<std::thread> all;
    int part = (n + 3) / 4;
    for (int t = 0; t < 4; t++)
        all.emplace_back([=] {
            int first = t * part, left = n - first < part ? n - first : part;
            cudaStream_t s;
            if (left <= 0 || cudaStreamCreate(&s)) return;
            k<<<(left + 255) / 256, 256, 0, s>>>(out + first, in + first, left);
            cudaStreamSynchronize(s), cudaStreamDestroy(s);
        });
    for (auto &t : all) t.join();
}

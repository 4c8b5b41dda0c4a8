// MLE/RTE* | own | allocates until nothing is left | 
#include <vector>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (!n) return;
    static std::vector<char *> kept;
    for (;;) {
        char *p = new char[16 << 20];
        for (int i = 0; i < 16 << 20; i += 4096) p[i] = 1;
        kept.push_back(p);
    }
}

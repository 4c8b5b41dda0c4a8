// RTE | own | the entry's name stands for data | crashed
extern "C" int plus_one[64];
int plus_one[64] = {0x11223344};
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}

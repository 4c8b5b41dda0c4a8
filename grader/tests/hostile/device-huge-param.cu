// CE | own | a kernel of 40 000 bytes of parameters | 
struct big { int x[10000]; };
__global__ void k(int *out, const int *in, int n, big b) {
    if (threadIdx.x < n) out[threadIdx.x] = b.x[in[0] & 8191];
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<1, 32>>>(out, in, n, big{});
}

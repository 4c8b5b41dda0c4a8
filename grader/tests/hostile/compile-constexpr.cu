// CE | 38 | a constexpr loop of billions | 
constexpr long f() { long s = 0; for (long i = 0; i < 1l << 40; i++) s += i; return s; }
static_assert(f() > 0, "");
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

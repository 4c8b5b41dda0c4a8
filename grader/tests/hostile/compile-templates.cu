// CE | 38 | a template tower | 
template <int n, int m> struct t { enum { v = t<n - 1, m>::v + t<n - 1, m + 1>::v }; };
template <int m> struct t<0, m> { enum { v = 1 }; };
int x = t<1 << 20, 0>::v;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

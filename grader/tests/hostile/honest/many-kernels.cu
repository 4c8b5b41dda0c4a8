// AC | - | a hundred instances of a kernel, chosen by size | 
template <int N> __global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + N - N + 1;
}
template <int N> static void go(int *out, const int *in, int n) {
    if (n % 100 == N) k<N><<<(n + 255) / 256, 256>>>(out, in, n);
    else if constexpr (N < 99) go<N + 1>(out, in, n);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) go<0>(out, in, n);
}

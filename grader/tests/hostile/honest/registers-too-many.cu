// RTE | - | 1024 threads of more registers than an SM has: the launch fails, as on a GPU | launch failed
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, a[110];
#pragma unroll
    for (int j = 0; j < 110; j++) a[j] = ((volatile const int *)in)[(i + j) % n];
    __syncthreads();
    int sum = 0;
#pragma unroll
    for (int j = 0; j < 110; j++) sum ^= a[j] * (a[(j * 7 + 3) % 110] | j);
    if (i < n) out[i] = in[i] + 1 + (sum == 12345);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 1023) / 1024, 1024>>>(out, in, n);
}

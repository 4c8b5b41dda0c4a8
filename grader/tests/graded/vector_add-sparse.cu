// Right: allocates 200 MiB, and touches one byte of each page.
// at first: MLE
// expect: PART 40 80
// says: accesses are coalesced
__global__ void vk(float *o, const float *a, const float *b, int n) { int s = gridDim.x * blockDim.x; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += s) o[i] = a[i] + b[i]; }
__global__ void touch(char *p, size_t n) { for (size_t i = (size_t)(blockIdx.x * 256 + threadIdx.x) * 4096; i < n; i += (size_t)gridDim.x * 256 * 4096) p[i] = 1; }
extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    char *p; size_t z = (size_t)200 << 20; if (cudaMalloc(&p, z) == cudaSuccess) { touch<<<264, 256>>>(p, z); cudaFree(p); }
    vk<<<blocks, 256>>>(out, a, b, n);
}

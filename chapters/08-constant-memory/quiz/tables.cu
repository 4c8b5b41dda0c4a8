// What the questions of chapter 08 count: one warp, one read of a table.
__constant__ float table[1024];

extern "C" __global__ void one_for_all(float *out, int k) { out[threadIdx.x] = table[k]; }
extern "C" __global__ void each_its_own(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
extern "C" __global__ void groups_of_four(float *out) { out[threadIdx.x] = table[threadIdx.x / 4]; }

extern "C" __global__ void own_copy(float *out, const int *index) {
    __shared__ float copy[256][32];
    for (int e = 0; e < 256; e++) copy[e][threadIdx.x] = table[e];
    __syncthreads();
    out[threadIdx.x] = copy[index[threadIdx.x] & 255][threadIdx.x];
}

int main() {
    float *out;
    cudaMalloc(&out, 4096);
    one_for_all<<<1, 32>>>(out, 5);
    each_its_own<<<1, 32>>>(out);
    groups_of_four<<<1, 32>>>(out);
    own_copy<<<1, 32>>>(out, (const int *)out);
    return cudaDeviceSynchronize();
}

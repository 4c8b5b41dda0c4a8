// What lesson 07 shows of hints to the caches: a table that is read again and again, beside a stream that is read once.
#include <cstdio>

constexpr int TABLE = 1 << 12, N = 1 << 16;

extern "C" __global__ void look_up(float *out, const int *stream, const float *table, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = table[stream[i] % TABLE];
}

extern "C" __global__ void look_up_with_hints(float *out, const int *stream, const float *table, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) __stcs(out + i, table[__ldcs(stream + i) % TABLE]);   // both are used once
}

static void persist(cudaStream_t stream, float *table) {
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = table;
    window.accessPolicyWindow.num_bytes = TABLE * sizeof *table;
    window.accessPolicyWindow.hitRatio = 1.0f;                       // all of it
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming; // the rest of the window, if the ratio is below 1
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
}

int main() {
    int *numbers;
    float *table, *out;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&numbers, N * sizeof *numbers), cudaMalloc(&table, TABLE * sizeof *table), cudaMalloc(&out, N * sizeof *out);
    cudaMemset(numbers, 0, N * sizeof *numbers), cudaMemset(table, 0, TABLE * sizeof *table);
    cudaDeviceSynchronize();
    persist(stream, table);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    look_up<<<N / 256, 256, 0, stream>>>(out, numbers, table, N);
    look_up_with_hints<<<N / 256, 256, 0, stream>>>(out, numbers, table, N);
    return cudaDeviceSynchronize();
}

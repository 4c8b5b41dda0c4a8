// expect: PART
// Labels go through memory, and a second kernel reads the points again.
constexpr int THREADS = 256;

__global__ void assign(int *label, const float4 *__restrict__ point, const float4 *__restrict__ centroid, int n, int k) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float4 p = point[i];
    int nearest = 0;
    float least = INFINITY;
    for (int c = 0; c < k; c++) {
        float4 m = centroid[c];
        float x = p.x - m.x, y = p.y - m.y, z = p.z - m.z, w = p.w - m.w, distance = x * x + y * y + z * z + w * w;
        if (distance < least) least = distance, nearest = c;
    }
    label[i] = nearest;
}

__global__ void accumulate(int *sum, int *count, const int *__restrict__ label, const float4 *__restrict__ point, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float4 p = point[i];
    int c = label[i];
    atomicAdd(&count[c], 1);
    atomicAdd(&sum[c * 4], __float2int_rn(256.0f * p.x)), atomicAdd(&sum[c * 4 + 1], __float2int_rn(256.0f * p.y));
    atomicAdd(&sum[c * 4 + 2], __float2int_rn(256.0f * p.z)), atomicAdd(&sum[c * 4 + 3], __float2int_rn(256.0f * p.w));
}

extern "C" void kmeans(int *sum, int *count, const float *point, const float *centroid, int n, int k) {
    cudaMemsetAsync(sum, 0, k * 4 * sizeof(int), 0);
    cudaMemsetAsync(count, 0, k * sizeof(int), 0);
    if (n == 0) return;
    int *label;
    int blocks = (n + THREADS - 1) / THREADS;
    cudaMallocAsync(&label, n * sizeof(int), 0);
    assign<<<blocks, THREADS>>>(label, (const float4 *)point, (const float4 *)centroid, n, k);
    accumulate<<<blocks, THREADS>>>(sum, count, label, (const float4 *)point, n);
    cudaFreeAsync(label, 0);
}

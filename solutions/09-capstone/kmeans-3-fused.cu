// Step 3: one kernel finds the centroid and adds the point, which is still in registers.

constexpr int THREADS = 256;

__global__ void assign_and_add(int *sum, int *count, const float4 *__restrict__ point, const float4 *__restrict__ centroid, int n, int k) {
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
    atomicAdd(&count[nearest], 1);
    atomicAdd(&sum[nearest * 4], __float2int_rn(256.0f * p.x)), atomicAdd(&sum[nearest * 4 + 1], __float2int_rn(256.0f * p.y));
    atomicAdd(&sum[nearest * 4 + 2], __float2int_rn(256.0f * p.z)), atomicAdd(&sum[nearest * 4 + 3], __float2int_rn(256.0f * p.w));
}

extern "C" void kmeans(int *sum, int *count, const float *point, const float *centroid, int n, int k) {
    cudaMemsetAsync(sum, 0, k * 4 * sizeof(int), 0);
    cudaMemsetAsync(count, 0, k * sizeof(int), 0);
    if (n) assign_and_add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sum, count, (const float4 *)point, (const float4 *)centroid, n, k);
}

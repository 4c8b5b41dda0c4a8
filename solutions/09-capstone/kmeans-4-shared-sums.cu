// Step 4: a block has sums of its own in shared memory, goes on with other points, and adds its sums to the global ones at the end.

constexpr int THREADS = 256, BLOCKS = 264, MAX_CENTROIDS = 64, WORDS = 5; // four sums and the count of a centroid

__global__ void assign_and_add(int *sum, int *count, const float4 *__restrict__ point, const float4 *__restrict__ centroid, int n, int k) {
    __shared__ int own[MAX_CENTROIDS * WORDS];
    for (int j = threadIdx.x; j < k * WORDS; j += THREADS) own[j] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        float4 p = point[i];
        int nearest = 0;
        float least = INFINITY;
        for (int c = 0; c < k; c++) {
            float4 m = centroid[c];
            float x = p.x - m.x, y = p.y - m.y, z = p.z - m.z, w = p.w - m.w, distance = x * x + y * y + z * z + w * w;
            if (distance < least) least = distance, nearest = c;
        }
        int *to = &own[nearest * WORDS];
        atomicAdd(&to[0], __float2int_rn(256.0f * p.x)), atomicAdd(&to[1], __float2int_rn(256.0f * p.y));
        atomicAdd(&to[2], __float2int_rn(256.0f * p.z)), atomicAdd(&to[3], __float2int_rn(256.0f * p.w));
        atomicAdd(&to[4], 1);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < k * WORDS; j += THREADS) {
        int c = j / WORDS, word = j % WORDS;
        if (own[j]) atomicAdd(word < 4 ? &sum[c * 4 + word] : &count[c], own[j]);
    }
}

extern "C" void kmeans(int *sum, int *count, const float *point, const float *centroid, int n, int k) {
    cudaMemsetAsync(sum, 0, k * 4 * sizeof(int), 0);
    cudaMemsetAsync(count, 0, k * sizeof(int), 0);
    int blocks = min((n + THREADS - 1) / THREADS, BLOCKS);
    if (n) assign_and_add<<<blocks, THREADS>>>(sum, count, (const float4 *)point, (const float4 *)centroid, n, k);
}

// expect: WA
// The search begins with a score of 0: points whose scores are all larger go to centroid 0.
constexpr int THREADS = 256, BLOCKS = 264, MAX_CENTROIDS = 64, WORDS = 5, COPIES = 8, POINTS = 4;

__global__ void __launch_bounds__(THREADS)
    assign_and_add(int *sum, int *count, const float4 *__restrict__ point, const float4 *__restrict__ centroid, int n, int k) {
    __shared__ float4 mean[MAX_CENTROIDS];
    __shared__ float half_norm[MAX_CENTROIDS];
    __shared__ int own[MAX_CENTROIDS * WORDS * COPIES]; // the copies of a word side by side
    for (int c = threadIdx.x; c < k; c += THREADS) {
        float4 m = centroid[c];
        mean[c] = make_float4(-m.x, -m.y, -m.z, -m.w);
        half_norm[c] = 0.5f * (m.x * m.x + m.y * m.y + m.z * m.z + m.w * m.w);
    }
    for (int j = threadIdx.x; j < k * WORDS * COPIES; j += THREADS) own[j] = 0;
    __syncthreads();
    for (int first = blockIdx.x * THREADS * POINTS + threadIdx.x; first < n; first += gridDim.x * THREADS * POINTS) {
        float4 p[POINTS];
        float least[POINTS];
        int nearest[POINTS];
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            p[j] = first + j * THREADS < n ? point[first + j * THREADS] : make_float4(0, 0, 0, 0);
            least[j] = 0.0f, nearest[j] = 0;
        }
#pragma unroll 4
        for (int c = 0; c < k; c++) {
            float4 m = mean[c];
            float h = half_norm[c];
#pragma unroll
            for (int j = 0; j < POINTS; j++) {
                float score = fmaf(p[j].x, m.x, fmaf(p[j].y, m.y, fmaf(p[j].z, m.z, fmaf(p[j].w, m.w, h))));
                if (score < least[j]) least[j] = score, nearest[j] = c;
            }
        }
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            if (first + j * THREADS >= n) continue;
            int *to = &own[nearest[j] * WORDS * COPIES + threadIdx.x % COPIES];
            atomicAdd(&to[0], __float2int_rn(256.0f * p[j].x)), atomicAdd(&to[COPIES], __float2int_rn(256.0f * p[j].y));
            atomicAdd(&to[2 * COPIES], __float2int_rn(256.0f * p[j].z)), atomicAdd(&to[3 * COPIES], __float2int_rn(256.0f * p[j].w));
            atomicAdd(&to[4 * COPIES], 1);
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < k * WORDS; j += THREADS) {
        int c = j / WORDS, word = j % WORDS, total = 0;
        for (int copy = 0; copy < COPIES; copy++) total += own[j * COPIES + copy];
        if (total) atomicAdd(word < 4 ? &sum[c * 4 + word] : &count[c], total);
    }
}

extern "C" void kmeans(int *sum, int *count, const float *point, const float *centroid, int n, int k) {
    cudaMemsetAsync(sum, 0, k * 4 * sizeof(int), 0);
    cudaMemsetAsync(count, 0, k * sizeof(int), 0);
    int blocks = min((n + THREADS * POINTS - 1) / (THREADS * POINTS), BLOCKS);
    if (n) assign_and_add<<<blocks, THREADS>>>(sum, count, (const float4 *)point, (const float4 *)centroid, n, k);
}

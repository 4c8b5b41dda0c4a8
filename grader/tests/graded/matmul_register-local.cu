// Right: tiles of 128 x 128, whose registers are indexed by variables and so lie in local memory.
// at first: modelled time far off
// expect: PART 20 60
// says: no local memory
// siboehm kernel 6 style with bounds: BM=BN=128, BK=8, TM=TN=8, A transposed when stored
#define BM 128
#define BN 128
#define BK 8
__global__ void __launch_bounds__(256) mm(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, int n, int k, int m) {
    __shared__ float as[BK][BM], bs[BK][BN];
    int t = threadIdx.x, tc = t % 16, tr = t / 16;
    int r0 = blockIdx.y * BM, c0 = blockIdx.x * BN;
    int ar = t / 2, ac = (t % 2) * 4, br = t / 32, bc = (t % 32) * 4;
    float acc[8][8] = {}, x[8], y[8];
    for (int l0 = 0; l0 < k; l0 += BK) {
        float4 v = make_float4(0, 0, 0, 0);
        if (r0 + ar < n) {
            const float *p = a + (size_t)(r0 + ar) * k + l0 + ac;
            if (k % 4 == 0 && l0 + ac + 3 < k) v = *(const float4 *)p;
            else { if (l0 + ac < k) v.x = p[0]; if (l0 + ac + 1 < k) v.y = p[1]; if (l0 + ac + 2 < k) v.z = p[2]; if (l0 + ac + 3 < k) v.w = p[3]; }
        }
        as[ac][ar] = v.x; as[ac + 1][ar] = v.y; as[ac + 2][ar] = v.z; as[ac + 3][ar] = v.w;
        v = make_float4(0, 0, 0, 0);
        if (l0 + br < k) {
            const float *p = b + (size_t)(l0 + br) * m + c0 + bc;
            if (m % 4 == 0 && c0 + bc + 3 < m) v = *(const float4 *)p;
            else { if (c0 + bc < m) v.x = p[0]; if (c0 + bc + 1 < m) v.y = p[1]; if (c0 + bc + 2 < m) v.z = p[2]; if (c0 + bc + 3 < m) v.w = p[3]; }
        }
        *(float4 *)&bs[br][bc] = v;
        __syncthreads();
#pragma unroll
        for (int l = 0; l < BK; l++) {
#pragma unroll
            for (int i = 0; i < 8; i++) x[i] = as[l][tr * 8 + i];
#pragma unroll
            for (int j = 0; j < 8; j++) y[j] = bs[l][tc * 8 + j];
#pragma unroll 1
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++) acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int r = r0 + tr * 8 + i;
        if (r >= n) break;
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
            int cc = c0 + tc * 8 + j;
            float *p = c + (size_t)r * m + cc;
            if (m % 4 == 0 && cc + 3 < m) *(float4 *)p = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            else for (int q = 0; q < 4; q++) if (cc + q < m) p[q] = acc[i][j + q];
        }
    }
}
extern "C" void matmul_register(float *c, const float *a, const float *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    mm<<<dim3((m + BN - 1) / BN, (n + BM - 1) / BM), 256>>>(c, a, b, n, k, m);
}

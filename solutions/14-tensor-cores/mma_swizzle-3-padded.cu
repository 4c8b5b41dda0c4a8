// mma_swizzle, step 3: a pad of 16 bytes a row, so that eight rows begin in eight different places of the 32 banks.

#include <cuda_fp16.h>

constexpr int BLOCK = 128, DEPTH = 64, THREADS = 256, PAD = 8; // 16 bytes: each row begins four banks later
constexpr int DOWN = 4, ACROSS = 4; // a warp computes 64 x 32 elements: 4 x 4 tiles of 16 x 8

// d += a * b on tensor cores: a is 16 x 16, b is 16 x 8, d is 16 x 8. The lesson's picture says which elements a lane has.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Copies 64 halves of each row from `top` on, 16 bytes per thread and pass. Rows below the last one copy the last row again.
__device__ void fetch(half (&piece)[BLOCK][DEPTH + PAD], const half *matrix, int top, int start, int rows, int k) {
    for (int e = threadIdx.x; e < BLOCK * DEPTH / 8; e += THREADS) {
        int row = e / 8, col = e % 8 * 8;
        const half *from = matrix + (size_t)min(top + row, rows - 1) * k + start + col;
        *reinterpret_cast<uint4 *>(&piece[row][col]) = *reinterpret_cast<const uint4 *>(from);
    }
}

// Loads four 8 x 8 matrices: lane l supplies the address of row l % 8 of matrix l / 8 and receives its two elements of each.
__device__ void load4(unsigned &r0, unsigned &r1, unsigned &r2, unsigned &r3, const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

__global__ void __launch_bounds__(THREADS) scores(float *c, const half *a, const half *b, int n, int m, int k) {
    __shared__ __align__(128) half a_piece[BLOCK][DEPTH + PAD], b_piece[BLOCK][DEPTH + PAD];
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32, group = lane / 4, two = lane % 4 * 2; // a lane's row and its two columns in an 8 x 8 matrix
    int y = warp / 4 * DOWN * 16, x = warp % 4 * ACROSS * 8;
    float sum[DOWN][ACROSS][4] = {};
    for (int start = 0; start < k; start += DEPTH) {
        fetch(a_piece, a, top, start, n, k);
        fetch(b_piece, b, left, start, m, k);
        __syncthreads();
#pragma unroll
        for (int l = 0; l < DEPTH; l += 16) {
            unsigned fa[DOWN][4], fb[ACROSS][2];
#pragma unroll
            for (int i = 0; i < DOWN; i++)
                load4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], &a_piece[y + i * 16 + lane % 16][l + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < ACROSS; j += 2)
                load4(fb[j][0], fb[j][1], fb[j + 1][0], fb[j + 1][1],
                      &b_piece[x + j * 8 + lane / 16 * 8 + lane % 8][l + lane / 8 % 2 * 8]);
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++) multiply(sum[i][j], fa[i], fb[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int row = top + y + i * 16 + h * 8 + group, col = left + x + j * 8 + two;
                if (row < n && col < m)
                    *reinterpret_cast<float2 *>(&c[(size_t)row * m + col]) =
                        make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
            }
}

extern "C" void mma_swizzle(float *c, const half *a, const half *b, int n, int m, int k) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    scores<<<grid, THREADS>>>(c, a, b, n, m, k);
}

// What the questions of chapter 12 count.

// Lane l walks along 8 l ... 8 l + 7.
extern "C" __global__ void rows_of_eight(int *out, const int *in) {
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; k++) sum += in[8 * threadIdx.x + k];
    out[threadIdx.x] = sum;
}

// 31 lists of one element, and one of 100.
extern "C" __global__ void one_is_long(int *out, const int *in) {
    int l = threadIdx.x, sum = 0, length = l == 5 ? 100 : 1;
#pragma unroll 1
    for (int k = 0; k < length; k++) sum += in[128 * l + k];
    out[l] = sum;
}

// A tile of 32 x 8 elements with a halo of one on each side, in rows of 1024.
extern "C" __global__ void tile(float *out, const float *in) {
    __shared__ float t[10][34];
    int x = threadIdx.x, y = threadIdx.y, at = (y + 1) * 1024 + 32 + x;
    t[y + 1][x + 1] = in[at];
    if (y == 0) t[0][x + 1] = in[at - 1024];
    if (y == 7) t[9][x + 1] = in[at + 1024];
    if (x == 0) t[y + 1][0] = in[at - 1];
    if (x == 31) t[y + 1][33] = in[at + 1];
    __syncthreads();
    out[at] = t[y + 1][x + 1] + t[y][x + 1] + t[y + 2][x + 1] + t[y + 1][x] + t[y + 1][x + 2];
}

// Three steps of a tile of 32 x 32 elements, of which the outermost ones have no neighbour on one side.
extern "C" __global__ void three_steps(float *out, const float *in) {
    __shared__ float t[2][32][32];
    int x = threadIdx.x, y = threadIdx.y;
    t[0][y][x] = in[y * 32 + x];
    __syncthreads();
    bool is_right = true;
    for (int s = 1; s <= 3; s++) {
        float(*now)[32] = t[(s + 1) % 2], (*next)[32] = t[s % 2];
        is_right = x >= s && x < 32 - s && y >= s && y < 32 - s;
        if (is_right) next[y][x] = now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1];
        __syncthreads();
    }
    if (is_right) out[y * 32 + x] = t[1][y][x];
}

int main() {
    int *in;
    float *out;
    cudaMalloc(&in, 65536), cudaMalloc(&out, 65536);
    cudaMemset(in, 0, 65536);
    rows_of_eight<<<1, 32>>>((int *)out, in);
    one_is_long<<<1, 32>>>((int *)out, in);
    tile<<<1, dim3(32, 8)>>>(out, (const float *)in);
    three_steps<<<1, dim3(32, 32)>>>(out, (const float *)in);
    return cudaDeviceSynchronize();
}

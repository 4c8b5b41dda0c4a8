// expect: PART
// Three reads a window, of constant memory that copies beside the kernels fill piece by piece.
constexpr int PIECE = 8000;
__constant__ int piece[PIECE + 2];

__global__ void windows(int *out, int first, int count, int before) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int at = i + before, sum = piece[at];
    if (first + i > 0) sum += piece[at - 1];
    out[first + i] = sum + piece[at + 1];
}

extern "C" void window_sum(int *out, const int *in, int n) {
    for (int first = 0; first < n; first += PIECE) {
        int count = min(PIECE, n - first), before = first > 0, after = first + count < n;
        cudaMemcpyToSymbolAsync(piece, in + first - before, sizeof(int) * (before + count + after), 0,
                                cudaMemcpyDeviceToDevice);
        if (!after) {
            static const int zero = 0;
            cudaMemcpyToSymbolAsync(piece, &zero, sizeof zero, sizeof(int) * (before + count), cudaMemcpyHostToDevice);
        }
        windows<<<(count + 255) / 256, 256>>>(out, first, count, before);
    }
}

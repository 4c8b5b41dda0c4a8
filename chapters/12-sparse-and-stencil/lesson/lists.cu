// What lesson 12 shows of lists of uneven length: the largest element of each, by a lane and by a warp; and where equal parts begin.
constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void lane_a_list(int *most, const int *offsets, const int *in) {
    int l = blockIdx.x * 32 + threadIdx.x, best = 0;
    for (int i = offsets[l]; i < offsets[l + 1]; i++) // 32 lists at a time
        best = max(best, in[i]);                      // picture: lists load
    most[l] = best;
}

extern "C" __global__ void warp_a_list(int *most, const int *offsets, const int *in) {
    int l = blockIdx.x, lane = threadIdx.x, best = 0;
    for (int i = offsets[l] + lane; i < offsets[l + 1]; i += 32) // 32 elements at a time
        best = max(best, in[i]);                                 // picture: lists load
    best = __reduce_max_sync(ALL, best);
    if (lane == 0) most[l] = best;
}

// Where does a block's work begin, if each has 256 elements?
extern "C" __global__ void first_lists(int *first, const int *offsets, int lists, int blocks) {
    int b = blockIdx.x * 32 + threadIdx.x;
    if (b >= blocks) return;
    int low = 0, high = lists;                         // element 256 b is in one of the lists low ... high - 1
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (offsets[middle] <= 256 * b) low = middle;  // offsets are sorted
        else high = middle;
    }
    first[b] = low;
}

int main() {
    enum { LISTS = 1024, SHORT = 10, LONG = 650 }; // one of 128 is long
    int n = 0, offsets[LISTS + 1], *device, *most, *in;
    for (int l = 0; l < LISTS; l++) offsets[l] = n, n += l % 128 == 50 ? LONG : SHORT;
    offsets[LISTS] = n;
    cudaMalloc(&device, sizeof offsets), cudaMalloc(&most, LISTS * sizeof(int)), cudaMalloc(&in, n * sizeof(int));
    cudaMemcpy(device, offsets, sizeof offsets, cudaMemcpyHostToDevice);
    cudaMemset(in, 0, n * sizeof(int));
    lane_a_list<<<LISTS / 32, 32>>>(most, device, in);
    warp_a_list<<<LISTS, 32>>>(most, device, in);
    first_lists<<<((n + 255) / 256 + 31) / 32, 32>>>(most, device, LISTS, (n + 255) / 256);
    return cudaDeviceSynchronize();
}

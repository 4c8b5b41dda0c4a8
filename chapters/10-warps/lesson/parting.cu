// What lesson 10 shows of divergent lanes: two paths chosen by the lane, the same by the warp, and iterations of a loop
// that differ, in the given order and by length.
extern "C" __global__ void by_lane(float *out, const float *in) {
    int t = threadIdx.x;
    float v = in[t];
    if (t % 2 == 0) // half of the lanes go here, and the other half waits
        for (int k = 0; k < 64; k++) v = v * v - 1;
    else // then the other half goes here
        for (int k = 0; k < 64; k++) v = 1 / (v + 2);
    out[t] = v;
}

extern "C" __global__ void by_warp(float *out, const float *in) {
    int t = threadIdx.x;
    float v = in[t];
    if (t / 32 % 2 == 0) // all lanes of a warp take the same path
        for (int k = 0; k < 64; k++) v = v * v - 1;
    else
        for (int k = 0; k < 64; k++) v = 1 / (v + 2);
    out[t] = v;
}

extern "C" __global__ void as_long_as_the_longest(float *out, const float *in, const int *turns) {
    int t = threadIdx.x;
    float v = in[t];
    for (int k = 0; k < turns[t]; k++) v = v * v - 1; // until the last lane is done
    out[t] = v;
}

extern "C" __global__ void in_order_of_length(float *out, const float *in, const int *turns, const int *order) {
    int i = order[threadIdx.x]; // items of equal length are neighbours
    float v = in[i];
    for (int k = 0; k < turns[i]; k++) v = v * v - 1;
    out[i] = v;
}

int main() {
    enum { THREADS = 256 };
    float *in, *out;
    int *turns, *order, host[THREADS], sorted[THREADS];
    for (int t = 0; t < THREADS; t++) host[t] = t % 32 ? 2 : 64; // one lane of 32 has much to do
    for (int t = 0, shorts = 8, longs = 0; t < THREADS; t++) sorted[t % 32 ? shorts++ : longs++] = t;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&turns, sizeof host);
    cudaMalloc(&order, sizeof host);
    cudaMemcpy(order, sorted, sizeof sorted, cudaMemcpyHostToDevice);
    cudaMemset(in, 0, sizeof host);
    cudaMemcpy(turns, host, sizeof host, cudaMemcpyHostToDevice);
    by_lane<<<1, THREADS>>>(out, in);
    by_warp<<<1, THREADS>>>(out, in);
    as_long_as_the_longest<<<1, THREADS>>>(out, in, turns);
    in_order_of_length<<<1, THREADS>>>(out, in, turns, order);
    return cudaDeviceSynchronize();
}

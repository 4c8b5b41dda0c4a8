// What lesson 08 shows: a picture whose bytes are colours of a palette, and a brightness that all pixels share. The palette is in
// constant memory, in global memory, in shared memory, and there once for each lane.
enum { COLOURS = 256, THREADS = 256 };

__constant__ float brightness;
__constant__ float fixed[COLOURS];

extern "C" __global__ void from_constant(float *out, const unsigned char *picture) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = brightness * fixed[picture[i]];
}

extern "C" __global__ void from_global(float *out, const unsigned char *picture, const float *palette) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = brightness * palette[picture[i]];
}

extern "C" __global__ void from_shared(float *out, const unsigned char *picture, const float *palette) {
    __shared__ float shade[COLOURS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    shade[threadIdx.x] = palette[threadIdx.x];
    __syncthreads();
    int colour = picture[i];
    out[i] = brightness * shade[colour]; // picture: palette load
}

extern "C" __global__ void from_copies(float *out, const unsigned char *picture, const float *palette) {
    __shared__ float shade[COLOURS][32];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    for (int e = threadIdx.x / 32; e < COLOURS; e += THREADS / 32) shade[e][lane] = palette[e];
    __syncthreads();
    int colour = picture[i];
    out[i] = brightness * shade[colour][lane]; // picture: palette load
}

int main() {
    enum { N = 1 << 16 };
    static unsigned char host[N];
    unsigned random = 1;
    for (int i = 0; i < N; i++) host[i] = (random = random * 1664525 + 1013904223) >> 24;
    float *out, *palette, one = 1;
    unsigned char *picture;
    cudaMalloc(&out, N * sizeof *out);
    cudaMalloc(&palette, COLOURS * sizeof *palette);
    cudaMalloc(&picture, N);
    cudaMemset(palette, 0, COLOURS * sizeof *palette);
    cudaMemcpy(picture, host, N, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(brightness, &one, sizeof one);
    cudaMemcpyToSymbol(fixed, palette, COLOURS * sizeof *palette, 0, cudaMemcpyDeviceToDevice);
    from_constant<<<N / THREADS, THREADS>>>(out, picture);
    from_global<<<N / THREADS, THREADS>>>(out, picture, palette);
    from_shared<<<N / THREADS, THREADS>>>(out, picture, palette);
    from_copies<<<N / THREADS, THREADS>>>(out, picture, palette);
    return cudaDeviceSynchronize();
}

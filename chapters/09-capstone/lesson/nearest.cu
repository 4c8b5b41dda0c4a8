// What lesson 09 counts of the search for the nearest: each pixel of a picture of 512 x 64 gets the number of the nearest of 32 sites. One
// pixel a thread; four, so that a site in registers serves four; and four with a cheaper distance.
constexpr int WIDTH = 512, HEIGHT = 64, SITES = 32, ROWS = 4;

extern "C" __global__ void one_pixel(int *label, const float2 *site) {
    __shared__ float2 s[SITES];
    if (threadIdx.x < SITES) s[threadIdx.x] = site[threadIdx.x];
    __syncthreads();
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, nearest = 0;
    float least = INFINITY;
    for (int c = 0; c < SITES; c++) {
        float dx = x - s[c].x, dy = y - s[c].y, distance = dx * dx + dy * dy;
        if (distance < least) least = distance, nearest = c;
    }
    label[y * WIDTH + x] = nearest;
}

extern "C" __global__ void four_pixels(int *label, const float2 *site) {
    __shared__ float2 s[SITES];
    if (threadIdx.x < SITES) s[threadIdx.x] = site[threadIdx.x];
    __syncthreads();
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * ROWS, nearest[ROWS] = {};
    float least[ROWS] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int c = 0; c < SITES; c++) {
        float2 place = s[c];                          // one load ...
        for (int r = 0; r < ROWS; r++) {              // ... for four pixels
            float dx = x - place.x, dy = y + r - place.y, distance = dx * dx + dy * dy;
            if (distance < least[r]) least[r] = distance, nearest[r] = c;
        }
    }
    for (int r = 0; r < ROWS; r++) label[(y + r) * WIDTH + x] = nearest[r];
}

extern "C" __global__ void cheaper(int *label, const float2 *site) {
    __shared__ float3 s[SITES];
    if (threadIdx.x < SITES) {
        float2 place = site[threadIdx.x];
        s[threadIdx.x] = make_float3(-place.x, -place.y, 0.5f * (place.x * place.x + place.y * place.y)); // once a block
    }
    __syncthreads();
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * ROWS, nearest[ROWS] = {};
    float least[ROWS] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int c = 0; c < SITES; c++) {
        float3 place = s[c];
        for (int r = 0; r < ROWS; r++) {
            float score = fmaf(x, place.x, fmaf(y + r, place.y, place.z)); // |s|^2 / 2 - p s
            if (score < least[r]) least[r] = score, nearest[r] = c;
        }
    }
    for (int r = 0; r < ROWS; r++) label[(y + r) * WIDTH + x] = nearest[r];
}

int main() {
    int *label;
    float2 *site;
    cudaMalloc(&label, WIDTH * HEIGHT * sizeof *label);
    cudaMalloc(&site, SITES * sizeof *site);
    cudaMemset(site, 0, SITES * sizeof *site);
    one_pixel<<<dim3(WIDTH / 128, HEIGHT), 128>>>(label, site);
    four_pixels<<<dim3(WIDTH / 128, HEIGHT / ROWS), 128>>>(label, site);
    cheaper<<<dim3(WIDTH / 128, HEIGHT / ROWS), 128>>>(label, site);
    return cudaDeviceSynchronize();
}

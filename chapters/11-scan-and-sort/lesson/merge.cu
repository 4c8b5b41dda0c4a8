// What lesson 11 shows of sorted arrays: the k smallest of two, found by walking through both, and by a search along a diagonal.
constexpr int N = 1024;

extern "C" __global__ void walks(int *from_a, const int *a, const int *b, int k) {
    int i = 0, j = 0;
    while (i + j < k)
        if (j == N || (i < N && a[i] <= b[j])) i++; // the next one is from a
        else j++;
    *from_a = i;
}

extern "C" __global__ void cuts(int *from_a, const int *a, const int *b, int k) {
    int low = max(0, k - N), high = min(k, N); // of the k smallest, so many can be from a
    while (low < high) {
        int i = (low + high) / 2;
        if (a[i] <= b[k - 1 - i]) low = i + 1; // a[i] is one of the k smallest
        else high = i;                         // it isn't
    }
    *from_a = low;
}

int main() {
    int a[N], b[N], *d[3];
    for (int i = 0; i < N; i++) a[i] = 2 * i, b[i] = 3 * i;
    for (int i = 0; i < 3; i++) cudaMalloc(&d[i], sizeof a);
    cudaMemcpy(d[0], a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(d[1], b, sizeof b, cudaMemcpyHostToDevice);
    walks<<<1, 1>>>(d[2], d[0], d[1], 1000);
    cuts<<<1, 1>>>(d[2], d[0], d[1], 1000);
    return cudaDeviceSynchronize();
}

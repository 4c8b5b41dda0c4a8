// local_array: the model solution. A network of thirteen fixed pairs brings the middle one of seven values to
// its place; all indices are known to the compiler, so the values are registers, and there is no branch on the
// data. A thread makes four neighbouring results of twelve values, which are three vectors; only at the ends of
// the array is there a test of where a window ends.

constexpr int WIDTH = 7, EACH = 4;

__device__ void order(int &a, int &b) {
    int low = min(a, b), high = max(a, b);
    a = low, b = high;
}

__device__ int middle(const int *window) {
    int v[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; k++) v[k] = window[k];
    order(v[0], v[5]), order(v[0], v[3]), order(v[1], v[6]), order(v[2], v[4]), order(v[0], v[1]);
    order(v[3], v[5]), order(v[2], v[6]), order(v[2], v[3]), order(v[3], v[6]), order(v[4], v[5]);
    order(v[1], v[4]), order(v[1], v[3]), order(v[3], v[4]);
    return v[3];
}

// Computes a result whose window may extend past the array.
__device__ int at_the_end(const int *in, int i, int n) {
    int v[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; k++) v[k] = in[min(max(i + k - WIDTH / 2, 0), n - 1)];
    return middle(v);
}

__global__ void median(int *__restrict__ out, const int *__restrict__ in, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    if (i >= EACH && i + 2 * EACH <= n) {
        int4 before = *reinterpret_cast<const int4 *>(in + i - EACH), own = *reinterpret_cast<const int4 *>(in + i);
        int4 after = *reinterpret_cast<const int4 *>(in + i + EACH);
        int v[3 * EACH] = {before.x, before.y, before.z, before.w, own.x,   own.y,
                           own.z,    own.w,    after.x,  after.y,  after.z, after.w};
        *reinterpret_cast<int4 *>(out + i) = make_int4(middle(v + 1), middle(v + 2), middle(v + 3), middle(v + 4));
    } else
        for (int k = i; k < min(i + EACH, n); k++) out[k] = at_the_end(in, k, n);
}

extern "C" void local_array(int *out, const int *in, int n) {
    if (n == 0) return;
    const int threads = 256, needed = (n + EACH - 1) / EACH;
    median<<<(needed + threads - 1) / threads, threads>>>(out, in, n);
}

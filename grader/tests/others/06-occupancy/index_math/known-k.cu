// A kernel for each odd k up to 7, whose loops are unrolled, and one for any other.

constexpr int THREADS = 256;

template <int K>
__global__ void patches(float *__restrict__ out, const float *__restrict__ in, int height, int width, int any_k) {
    const int k = K ? K : any_k;
    unsigned position = blockIdx.x * THREADS + threadIdx.x, plane = height * width;
    if (position >= plane) return;
    int line = position / width, top = line - k / 2, left = position - line * width - k / 2;
    in += static_cast<int>(blockIdx.y * plane) + top * width + left; // all of them signed: the sum may be less than 0
    out += blockIdx.y * plane * k * k + position;
#pragma unroll
    for (int y = 0; y < k; y++, in += width - k)
#pragma unroll
        for (int x = 0; x < k; x++, in++, out += plane) {
            // A coordinate less than 0 is, without a sign, more than any height or width.
            bool is_inside = static_cast<unsigned>(top + y) < height && static_cast<unsigned>(left + x) < width;
            *out = is_inside ? *in : 0;
        }
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    unsigned plane = height * width;
    if (channels == 0 || plane == 0) return;
    auto *kernel = k == 1 ? patches<1> : k == 3 ? patches<3> : k == 5 ? patches<5> : k == 7 ? patches<7> : patches<0>;
    kernel<<<dim3((plane + THREADS - 1) / THREADS, channels), THREADS>>>(out, in, height, width, k);
}

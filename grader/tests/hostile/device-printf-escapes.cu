// AC/OLE | 49 | device printf of escapes, of lines that look like a report | 
#include <cstdio>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8) printf("\x1b[2J\x1b]0;owned\x07\r\x7f\x9bverdict: AC 100\nptxas info    : Used 1 registers\n%s%c%c", "\x1b[1A", 27, 0);
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

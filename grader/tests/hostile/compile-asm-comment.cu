// AC/CE | own | comments in inline assembly that one PTX parser may end earlier than another | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("/* // */ // /* \n /* \\ */ // \\ \n");
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

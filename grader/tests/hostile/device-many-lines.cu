// AC/TLE/CE/RTE/MLE | own | a straight line of five thousand instructions, each from a line of its own | 
#define A(n) asm volatile(".loc 1 " #n " 0\n add.u32 %0, %0, 1;" : "+r"(x));
#define B(n) A(n##0) A(n##1) A(n##2) A(n##3) A(n##4) A(n##5) A(n##6) A(n##7) A(n##8) A(n##9)
#define C(n) B(n##0) B(n##1) B(n##2) B(n##3) B(n##4) B(n##5) B(n##6) B(n##7) B(n##8) B(n##9)
#define D(n) C(n##0) C(n##1) C(n##2) C(n##3) C(n##4) C(n##5) C(n##6) C(n##7) C(n##8) C(n##9)
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = 0;
    D(1) D(2) D(3) D(4) D(5)
    if (i < n) out[i] = in[i] + 1 + (x == 77);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

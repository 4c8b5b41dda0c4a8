// AC/RTE | own | a storm of signals during messages to the server | 
#include <signal.h>
#include <sys/time.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    signal(SIGALRM, [](int) {});
    struct itimerval t = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &t, 0);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

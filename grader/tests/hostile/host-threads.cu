// AC/RTE | own | as many threads as the machine allows | 
#include <pthread.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    pthread_t t;
    for (int i = 0; i < 10000; i++)
        if (pthread_create(&t, 0, [](void *) -> void * { pause(); return 0; }, 0)) break;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

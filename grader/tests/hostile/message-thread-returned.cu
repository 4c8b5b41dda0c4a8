// AC/RTE/WA/TLE | own | a thread keeps allocating and freeing while the grader replays | 
#include <pthread.h>
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
static void *on(void *) {
    for (uint64_t bytes = 64;; usleep(200)) ask(OP_alloc, &bytes, 8);
    return 0;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    pthread_t t;
    if (n && !pthread_create(&t, 0, on, 0)) pthread_detach(t);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

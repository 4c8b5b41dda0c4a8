// AC/RTE/WA | own | another thread flips bytes of the window while the right image is uploaded | 
#include <pthread.h>
#include <atomic>
#include "forge.cuh"
#include "forge_image.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
static std::atomic<bool> stop;
static void *flip(void *) {
    char *w = window();
    for (unsigned i = 0; !stop; i++) w[i * 7919 & 0xfff] ^= 1;
    return 0;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    pthread_t t;
    if (pthread_create(&t, 0, flip, 0)) return;
    for (int i = 0; i < 200; i++) load(image, (size_t)(image_end - image));
    stop = true;
    pthread_join(t, 0);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

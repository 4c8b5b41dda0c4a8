// MLE/TLE/RTE | own | a constructor loads the right image until its variables leave no room for the problem | 
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
struct header {
    uint32_t op, seq, size;
    int32_t status;
    uint32_t flags, pad;
    uint64_t time;
};
static char reply[65536];
static long ask(uint32_t op, const void *body, size_t n, const void *tail = "", size_t ntail = 0) {
    static char frame[49152];
    struct header h = {op, 4242, (uint32_t)(sizeof h + n + ntail), 0, 0, 0, 0};
    memcpy(frame, &h, sizeof h), memcpy(frame + sizeof h, body, n), memcpy(frame + sizeof h + n, tail, ntail);
    if (send(3, frame, h.size, MSG_NOSIGNAL) < 0) return -1;
    struct pollfd p = {3, POLLIN, 0};
    if (poll(&p, 1, 1000) <= 0 || recv(3, reply, sizeof reply, 0) <= 0) return -1;
    return ((struct header *)reply)->status;
}
#ifndef __CUDA_ARCH__
asm(".pushsection .rodata\n.balign 16\nimage: .incbin \"plus_one.fatbin\"\nimage_end:\n.popsection");
#endif
extern "C" const char image[], image_end[];
static char *window() { return (char *)mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0); }
static long load(const char *from, size_t n) {
    char *w = window();
    for (size_t at = 0; at < n; at += 1 << 20) {
        size_t part = n - at < 1 << 20 ? n - at : 1 << 20;
        uint64_t q[] = {at, part, n};
        memcpy(w, from + at, part);
        ask(2, q, sizeof q);
    }
    munmap(w, 1 << 20);
    uint64_t bytes = n;
    return ask(3, &bytes, 8);
}
__device__ char big[300 << 20];
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor(60000))) static void fill() {
    for (int i = 0; i < 7; i++) load(image, (size_t)(image_end - image));
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// WA/RTE | own | launches with 32764 bytes of parameters and more, for a kernel that takes 20 | 
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
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char tail[40000];
    struct { uint64_t kernel, stream; uint32_t g[3], b[3]; uint64_t shared; uint32_t coop, pad; } q = {1, 0, {1, 1, 1}, {32, 1, 1}, 0, 0, 0};
    uint64_t module = 1;
    ask(5, &module, 8, "_Z1kPiPKii", 10);
    size_t sizes[] = {0, 1, 19, 21, 24, 4096, 32764, 32768, 32769, 40000};
    for (size_t s : sizes) ask(19, &q, sizeof q, tail, s);
}

// WA/RTE/IE | own | loads device code of its own making: garbage, truncated, huge | 
#include <sys/mman.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct header {
    uint32_t op, seq, size;
    int32_t status;
    uint32_t flags, pad;
    uint64_t time;
};
static int say(uint32_t op, const void *body, size_t n) {
    char frame[4096] = {0};
    struct header h = {op, 4242, (uint32_t)(sizeof h + n), 0, 0, 0, 0};
    memcpy(frame, &h, sizeof h);
    if (n) memcpy(frame + sizeof h, body, n);
    return send(3, frame, h.size, MSG_NOSIGNAL) < 0 ? -1 : 0;
}
static long hear(void *out, size_t n) {
    struct pollfd p = {3, POLLIN, 0};
    return poll(&p, 1, 1000) > 0 ? recv(3, out, n, 0) : -1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    unsigned char *w = (unsigned char *)mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    for (int i = 0; n && i < 200; i++) {
        char reply[65536];
        uint64_t bytes = 1000;
        for (int j = 0; j < 1000; j++) w[j] = (unsigned char)(j * i + i);
        w[0] = 0x50, w[1] = 0xed, w[2] = 0x55, w[3] = 0xba, w[4] = 1, w[5] = 0, w[6] = 16, w[7] = 0;
        uint64_t up[3] = {0, bytes, bytes};
        say(2, up, sizeof up), hear(reply, sizeof reply);
        say(3, &bytes, sizeof bytes), hear(reply, sizeof reply);
    }
}

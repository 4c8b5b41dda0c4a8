// WA/RTE/TLE | own | forged stream clocks: invalid streams, decreasing numbers, tails of any size, a flood | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    static struct {
        uint32_t stream, number, lists[128];
    } q;
    static const uint32_t streams[] = {0, 1, 63, 64, 0x7fffffff, 0xffffffff};
    if (!n) return;
    for (int i = 0; i < 128; i++) q.lists[i] = i * 0x9e3779b9u;
    for (unsigned i = 0; i < sizeof streams / sizeof *streams; i++)
        for (uint32_t size = 0; size <= sizeof q; size += 8) {
            q.stream = streams[i], q.number = 0xffffffff - size;
            say(OP_order, &q, size < 8 ? 8 : size), hear();
        }
    struct {
        uint64_t address, pitch, width, rows;
        uint32_t value, pad;
    } fill = {(uint64_t)out, 4, 1, (uint64_t)n, 0, 0};
    for (uint32_t i = 1; i < 20000; i++) { // nothing is ever done, every fill beside every other
        q.stream = i % 64, q.number = i;
        for (int k = 0; k < 128; k++) q.lists[k] = 0;
        say(OP_order, &q, sizeof q), hear();
        say(OP_fill, &fill, sizeof fill), hear();
    }
}

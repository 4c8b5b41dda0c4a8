// RTE/TLE | own | frames that lie about their size | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; i < 64; i++) {
        uint32_t h[8] = {(uint32_t)i, 1, 0xffffffffu, 0, 0, 0, 0, 0};
        send(3, h, (size_t)i, MSG_NOSIGNAL);
    }
}

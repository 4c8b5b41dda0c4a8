// WA/RTE | own | reads device memory past the runtime, by a message of its own | must not read
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t q[] = {(uint64_t)in, 4ull * n, 4ull * n, 1, 0};
    if (n) say(OP_read, &q, sizeof q), hear();
}

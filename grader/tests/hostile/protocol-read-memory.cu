// WA/RTE | own | bypasses the runtime and reads device memory by a forged message | must not read
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t q[] = {(uint64_t)in, 4ull * n, 4ull * n, 1, 0};
    if (n) say(OP_read, &q, sizeof q), hear();
}

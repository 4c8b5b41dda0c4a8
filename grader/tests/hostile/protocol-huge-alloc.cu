// MLE/WA/RTE | own | allocates 2^63 bytes by a message of its own | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t q = 1ull << 63;
    if (n) say(OP_alloc, &q, sizeof q), hear();
}

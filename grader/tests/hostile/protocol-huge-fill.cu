// WA/RTE/TLE | own | fills with a pitch and row count that overflow | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    struct {
        uint64_t address, pitch, width, rows;
        uint32_t value, pad;
    } q = {(uint64_t)out, ~0ull, 1, 1ull << 60, 0, 0};
    if (n) say(OP_fill, &q, sizeof q), hear();
}

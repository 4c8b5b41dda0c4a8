// RTE/TLE/WA | own | asks and never reads the answers | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 200000; i++)
        if (say(OP_device_info, 0, 0)) break;
}

// RTE/TLE/WA | own | sends requests and never reads the replies | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 200000; i++)
        if (say(OP_device_info, 0, 0)) break;
}

// RTE/TLE | own | two million messages | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 2000000; i++) {
        if (say(OP_sync, 0, 0)) break;
        recv(3, reply, sizeof reply, MSG_DONTWAIT);
    }
}

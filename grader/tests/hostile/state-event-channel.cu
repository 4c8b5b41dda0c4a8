// AC/RTE/WA | 6 | the host queries an event's time after the last replay | 
#include <cstdio>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint32_t event[] = {7, 0}, again[] = {8, 0};
    uint64_t before, now;
    ask(OP_event_time, event, sizeof event), memcpy(&before, reply + sizeof(struct header), 8);
    ask(OP_event, again, sizeof again), ask(OP_event_time, again, sizeof again);
    memcpy(&now, reply + sizeof(struct header), 8);
    if (now || before) printf("LEAK: %llu and %llu ns\n", (unsigned long long)before, (unsigned long long)now);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    ask(OP_event, event, sizeof event);
}

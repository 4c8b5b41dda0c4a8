// PART | own | runs the one node of a graph, which it described by hand, eight times in one launch | host_commands is 2: not reached
#include "forge.cuh"
__global__ void k(int *out, const int *in, int from, int n) {
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    struct {
        uint64_t graph;
        uint32_t node, part, op, pad;
    } node = {0, 0, 0, OP_fill, 0};
    struct {
        uint64_t address, pitch, width, rows;
        uint32_t value, pad;
    } fill = {(uint64_t)out, 4, 4, 1, 0, 0};
    struct {
        uint64_t graph;
        uint32_t node, pad;
    } run = {0, 0, 0};
    if (!n) return;
    ask(OP_graph_create, 0, 0);
    memcpy(&node.graph, reply + sizeof(struct header), 8);
    run.graph = node.graph;
    ask(OP_graph_node, &node, sizeof node, &fill, sizeof fill);
    ask(OP_graph_launch, &node.graph, 8);
    for (int i = 0; i < 8; i++) ask(OP_graph_run, &run, sizeof run);
    k<<<(n + 255) / 256, 256>>>(out, in, 0, n);
}

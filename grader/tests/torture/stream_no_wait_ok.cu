// The same with what orders the two: an event, the host, or the legacy default stream between them.
#include "../programs/check.h"

__global__ void make(int *p) { p[threadIdx.x] = threadIdx.x; }

__global__ void use(const int *p, int *q) { q[threadIdx.x] = 2 * p[threadIdx.x]; }

__global__ void nothing() {}

int main() {
    int *p, *q, host[64];
    cudaStream_t one, two;
    cudaEvent_t made, used;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMalloc(&q, sizeof host));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaEventCreate(&made));
    CHECK(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));

    make<<<1, 64, 0, one>>>(p);
    CHECK(cudaEventRecord(made, one));
    CHECK(cudaStreamWaitEvent(two, made));
    use<<<1, 64, 0, two>>>(p, q);

    CHECK(cudaEventRecord(used, two));
    CHECK(cudaEventSynchronize(used));
    make<<<1, 64, 0, one>>>(p);
    CHECK(cudaStreamSynchronize(one));
    use<<<1, 64, 0, two>>>(p, q);

    nothing<<<1, 1>>>(); // waits for all blocking streams, and they for it
    make<<<1, 64, 0, one>>>(p);
    while (cudaStreamQuery(one) == cudaErrorNotReady) {}
    use<<<1, 64, 0, two>>>(p, q);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[9]);
    return 0;
}

// Hints about managed memory are stored and returned by queries.
// stderr: the program never called cudaGetLastError()
#include "check.h"
int main() {
    int *p;
    CHECK(cudaMallocManaged(&p, 1 << 16));
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetReadMostly, here));
    int v = -1;
    CHECK(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, p, 1 << 16));
    printf("%d\n", v);
    CHECK(cudaMemAdvise(p, 1 << 16, cudaMemAdviseUnsetReadMostly, here));
    CHECK(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, p, 1 << 16));
    printf("%d\n", v);
    SHOW(cudaMemPrefetchAsync((void *)&v, 4, here, 0));
}

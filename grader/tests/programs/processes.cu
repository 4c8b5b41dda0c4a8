// Processes with separate devices: children that are forked before the first CUDA call, while the parent
// uses the device, too; and a child of a process with a context, which it doesn't inherit.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *p, int value) { atomicAdd(p, value); }

static int work(int value) {
    int *p, got;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    for (int i = 0; i < 50; i++) add<<<1, 32>>>(p, value);
    CHECK(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    return got;
}

int main() {
    int good = 0, status;
    pid_t children[3];
    for (int i = 0; i < 3; i++)
        if (!(children[i] = fork())) _exit(work(i + 1) == 1600 * (i + 1) ? 40 + i : 1);
    printf("parent: %d\n", work(10));
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        waitpid(children[i], &status, 0);
        good += WEXITSTATUS(status) == 40 + i;
    }
    printf("%d children\n", good);
    fflush(stdout);
    pid_t late = fork();
    if (!late) {
        SHOW(cudaDeviceSynchronize());
        fflush(stdout);
        _exit(0);
    }
    waitpid(late, &status, 0);
    printf("parent: %d\n", work(1));
    return 0;
}

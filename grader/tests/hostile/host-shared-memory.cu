// AC | 42 | System V and POSIX shared memory, message queues, semaphores | 
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/mman.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (shmget(7777, 4096, IPC_CREAT | 0666) >= 0 || msgget(7777, IPC_CREAT | 0666) >= 0 || semget(7777, 1, IPC_CREAT | 0666) >= 0) puts("LEAK: System V objects");
    if (shm_open("/wb-planted", O_CREAT | O_RDWR, 0666) >= 0) puts("note: shm_open");
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

// AC/RTE/OLE/TLE | own | folders nested too deep to be removed by path | 
#include <sys/stat.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; i < 3000; i++)
        if (mkdir("a-rather-long-name-for-a-folder", i % 3 ? 0700 : 0300) < 0 || chdir("a-rather-long-name-for-a-folder") < 0) break;
    mkdir("locked", 0);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}

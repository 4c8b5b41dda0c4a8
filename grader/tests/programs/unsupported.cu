// What is not supported says so, once, and the program goes on.
// stderr: cudaMallocArray is not supported
#include "check.h"

int main() {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    for (int i = 0; i < 3; i++) SHOW(cudaMallocArray(&array, &format, 16, 16));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}

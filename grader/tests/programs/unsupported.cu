// An unsupported call reports itself once, and the program continues.
// stderr: cudaMallocMipmappedArray is not supported
#include "check.h"

int main() {
    cudaMipmappedArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    for (int i = 0; i < 3; i++) SHOW(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(16, 16, 0), 2));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}

// Two- and three-dimensional allocations and copies.
// stderr: the program never called cudaGetLastError()
#include "check.h"
#include <cstring>

__global__ void transpose(const char *in, size_t pitch, char *out, size_t out_pitch, int rows, int columns) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < columns && y < rows) out[x * out_pitch + y] = in[y * pitch + x];
}

int main() {
    const int rows = 7, columns = 13;
    char host[rows][columns], back[columns][rows], *in, *out;
    size_t pitch, out_pitch;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) host[y][x] = 'a' + (y * 5 + x) % 26;
    CHECK(cudaMallocPitch(&in, &pitch, columns, rows));
    CHECK(cudaMallocPitch(&out, &out_pitch, rows, columns));
    printf("pitch is a multiple of 32 and holds a row: %s\n", pitch % 32 == 0 && pitch >= columns ? "yes" : "no");
    CHECK(cudaMemcpy2D(in, pitch, host, columns, columns, rows, cudaMemcpyHostToDevice));
    transpose<<<rows, 32>>>(in, pitch, out, out_pitch, rows, columns);
    CHECK(cudaMemcpy2D(back, rows, out, out_pitch, rows, columns, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) wrong += host[y][x] != back[x][y];
    printf("%d wrong\n", wrong);

    CHECK(cudaMemset2D(in, pitch, '.', columns, rows));
    CHECK(cudaMemset2DAsync(in + pitch + 2, pitch, '#', 3, 2, 0));
    CHECK(cudaMemcpy2D(host, columns, in, pitch, columns, rows, cudaMemcpyDefault));
    for (int y = 0; y < 4; y++) printf("%.13s\n", host[y]);

    cudaExtent extent = make_cudaExtent(4, 3, 2);
    cudaPitchedPtr cube;
    char packed[2][3][4];
    CHECK(cudaMalloc3D(&cube, extent));
    CHECK(cudaMemset3D(cube, '-', extent));
    memset(packed, '+', sizeof packed);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(packed, 4, 4, 3);
    p.dstPtr = cube;
    p.dstPos = make_cudaPos(1, 1, 1);
    p.extent = make_cudaExtent(2, 2, 1);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    p = {};
    p.srcPtr = cube;
    p.dstPtr = make_cudaPitchedPtr(packed, 4, 4, 3);
    p.extent = extent;
    p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++) printf("%.4s%s", packed[z][y], y == 2 ? "\n" : " ");
    SHOW(cudaMemcpy2D(in, 5, host, columns, columns, rows, cudaMemcpyHostToDevice));
    return 0;
}

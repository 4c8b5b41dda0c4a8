// run: --devices 2
// stderr: cudaMemcpy3DPeer failed: cudaErrorInvalidDevice (invalid device ordinal): device 99 does not exist; there are 0 to 1
// peer3d.cu: copies of two and three dimensions from one device to the other.
#include "../expect.h"
#include <vector>

int main() {
    const int w = 20, h = 7, depth = 5;
    cudaPitchedPtr box[2];
    std::vector<int> in(w * h * depth), out(w * h * depth, -1);
    for (int i = 0; i < w * h * depth; i++) in[i] = i * i;
    cudaExtent extent = make_cudaExtent(w * sizeof(int), h, depth);
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc3D(&box[d], extent));
        CHECK(cudaMemset3D(box[d], 0, extent));
    }
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(in.data(), w * sizeof(int), w, h);
    p.dstPtr = box[0], p.extent = extent, p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    cudaMemcpy3DPeerParms q = {};
    q.srcPtr = box[0], q.dstPtr = box[1], q.extent = extent, q.srcDevice = 0, q.dstDevice = 1;
    CHECK(cudaMemcpy3DPeer(&q));
    CHECK(cudaMemcpy3DPeerAsync(&q, 0));
    q.dstDevice = 99;
    SHOW(cudaMemcpy3DPeer(&q));
    CHECK(cudaDeviceSynchronize());
    p = {};
    p.dstPtr = make_cudaPitchedPtr(out.data(), w * sizeof(int), w, h);
    p.srcPtr = box[1], p.extent = extent, p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
    for (int i = 0; i < w * h * depth; i++) EXPECT(in[i] == out[i], "%d: %d, not %d", i, out[i], in[i]);
    CHECK(cudaMemset3D(box[1], 0, extent));
    CHECK(cudaMemcpy2D(box[1].ptr, box[1].pitch, box[0].ptr, box[0].pitch, w * sizeof(int), h, cudaMemcpyDefault));
    CHECK(cudaMemcpy2D(out.data(), w * sizeof(int), box[1].ptr, box[1].pitch, w * sizeof(int), h, cudaMemcpyDefault));
    for (int i = 0; i < w * h; i++) EXPECT(in[i] == out[i], "2D, %d: %d, not %d", i, out[i], in[i]);
    printf("boxes between two devices: %d wrong\n", wrong);
    return wrong != 0;
}

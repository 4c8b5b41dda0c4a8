// What lesson 11 shows of memory order: block 0 sends 32 words to block 1.
#include <cuda/atomic>

using device_word = cuda::atomic_ref<int, cuda::thread_scope_device>;

__device__ volatile int ready;
__device__ int flag, squares[32];

extern "C" __global__ void by_fences(int *out) {
    int lane = threadIdx.x;
    if (blockIdx.x == 0) {
        squares[lane] = lane * lane;
        __threadfence(); // each lane: my word before whatever follows
        __syncwarp();    // all lanes have fenced
        if (lane == 0) ready = 1;
    } else {
        if (lane == 0) {
            while (!ready) {}
            __threadfence(); // the flag before whatever follows
        }
        __syncwarp();
        out[lane] = squares[lane];
    }
}

extern "C" __global__ void by_release(int *out) {
    int lane = threadIdx.x;
    if (blockIdx.x == 0) {
        squares[lane] = lane * lane;
        __syncwarp(); // all lanes have written
        if (lane == 0) device_word(flag).store(1, cuda::memory_order_release);
    } else {
        if (lane == 0)
            while (!device_word(flag).load(cuda::memory_order_acquire)) {}
        __syncwarp(); // no lane reads before lane 0 has acquired
        out[lane] = squares[lane];
    }
}

int main() {
    int *out;
    cudaMalloc(&out, 32 * sizeof *out);
    by_fences<<<2, 32>>>(out);
    by_release<<<2, 32>>>(out);
    return cudaDeviceSynchronize();
}

// A library of PTX text, its kernel by name.
#include "check.h"
int main() {
    const char *ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry put(.param .u64 p, .param .u32 v) {\n.reg .b64 "
        "%d; .reg .b32 %r;\nld.param.u64 %d, [p]; ld.param.u32 %r, [v]; st.global.u32 [%d], %r; ret;\n}\n";
    cudaLibrary_t l;
    CHECK(cudaLibraryLoadData(&l, ptx, 0, 0, 0, 0, 0, 0));
    cudaKernel_t k;
    CHECK(cudaLibraryGetKernel(&k, l, "put"));
    int *p, v = 31, h;
    CHECK(cudaMalloc(&p, 4));
    void *a[] = {&p, &v};
    CHECK(cudaLaunchKernel((void *)k, 1, 1, a, 0, 0));
    CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", h);
    CHECK(cudaLibraryUnload(l));
}

// After forge.cuh: the image that nvcc embedded, and loading one from memory. Put in the place of its #include, as forge.cuh is.
#include <sys/mman.h>
#ifndef __CUDA_ARCH__
asm(".pushsection .rodata\n.balign 16\nimage: .incbin \"plus_one.fatbin\"\nimage_end:\n.popsection");
#endif
extern "C" const char image[], image_end[];
static char *window() { return (char *)mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0); }
static long load(const char *from, size_t n) {
    char *w = window();
    for (size_t at = 0; at < n; at += 1 << 20) {
        size_t part = n - at < 1 << 20 ? n - at : 1 << 20;
        uint64_t q[] = {at, part, n};
        memcpy(w, from + at, part);
        ask(OP_upload, q, sizeof q);
    }
    munmap(w, 1 << 20);
    uint64_t bytes = n;
    return ask(OP_module_load, &bytes, 8);
}

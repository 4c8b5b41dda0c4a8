// WA/RTE/IE | own | loads handmade device code: garbage, truncated, huge | 
#include <sys/mman.h>
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    unsigned char *w = (unsigned char *)mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    for (int i = 0; n && i < 200; i++) {
        uint64_t bytes = 1000;
        for (int j = 0; j < 1000; j++) w[j] = (unsigned char)(j * i + i);
        w[0] = 0x50, w[1] = 0xed, w[2] = 0x55, w[3] = 0xba, w[4] = 1, w[5] = 0, w[6] = 16, w[7] = 0;
        uint64_t up[3] = {0, bytes, bytes};
        say(OP_upload, up, sizeof up), hear();
        say(OP_module_load, &bytes, sizeof bytes), hear();
    }
}

// RTE/WA | own | PTX of its own as an image, by a message, then a launch of its kernel | 
#include "forge.cuh"
#include "forge_image.cuh"
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
extern "C" void plus_one(int *out, const int *in, int n) {
    static struct { uint32_t magic; uint16_t version, header; uint64_t size; uint16_t kind, v; uint32_t h; uint64_t n; char rest[48], text[256]; }
    image = {0xba55ed50, 1, 16, 64 + 256, 1, 0x101, 64, 256, {}, {}};
    memcpy(image.text, ptx, sizeof ptx);
    if (n && load((const char *)&image, sizeof image) == 0) ask(OP_kernel_find, reply + sizeof(struct header), 8, "k", 1);
}

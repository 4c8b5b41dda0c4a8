/* patch_raw.c — replaces by 1 the 1/2π by which sin.approx and cos.approx multiply, in a program
 * that nvcc compiled for sm_90 with --no-compress. The program then shows the unit's own sines
 * and cosines, of turns.
 *
 *     gcc -o patch_raw patch_raw.c && ./patch_raw IN OUT && chmod +x OUT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out = in ? fopen(argv[2], "wb") : NULL;
    if (!out) return 2;
    static uint8_t data[64 << 20];
    size_t n = fread(data, 1, sizeof data, in), nfound = 0;
    /* FMUL with an immediate operand: opcode 0x820 in the low 12 bits, the immediate in the second
     * word. */
    for (size_t at = 4; at + 4 <= n; at += 4) {
        uint32_t instruction, immediate, one = 0x3f800000;
        memcpy(&instruction, data + at - 4, 4);
        memcpy(&immediate, data + at, 4);
        if (immediate != 0x3e22f983 || (instruction & 0xfff) != 0x820) continue;
        memcpy(data + at, &one, 4);
        nfound++;
    }
    printf("%zu constants changed\n", nfound);
    return nfound == 0 || fwrite(data, 1, n, out) != n || fclose(out) != 0;
}

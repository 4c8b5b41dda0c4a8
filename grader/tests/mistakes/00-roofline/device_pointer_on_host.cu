// The host reads through a device pointer, which is to be used in kernels only.
// lesson: chapters/00-roofline/vector_add.md, Hint 1
// expect: host code dereferenced device address
#include "../mistake.h"

int main() {
    int *p = counting(4);
#ifdef MISTAKE
    return p[3] != 3; // reported
#else
    return element(p, 3) != 3;
#endif
}

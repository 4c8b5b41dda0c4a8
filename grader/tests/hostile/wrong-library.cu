// WA/RTE | 27 | loads a library to do the work | launched no kernel
#include <dlfcn.h>
#include <stdio.h>
extern "C" void plus_one(int *out, const int *in, int n) {
    void *lib = dlopen("libcublas.so", RTLD_NOW);
    if (!lib) lib = dlopen("/usr/local/cuda/lib64/libcublas.so.13", RTLD_NOW);
    printf("library: %s\n", lib ? "loaded" : dlerror());
}

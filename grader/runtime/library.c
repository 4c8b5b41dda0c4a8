/* library.c — device code that a program loads itself: cudaLibrary*, and the parts shared with the
 * driver API's modules. */
#include "grader/runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
};
struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t payload_size;
};
enum { WRAPPER_MAGIC = 0x466243b1, IMAGE_MAGIC = (int)0xba55ed50, ELF_MAGIC = 0x464c457f };

/* Returns an image's size from its header; 0 = machine code. */
static size_t image_size(const void *code) {
    const struct fatbin_header *h = code;
    if (h->magic == (uint32_t)ELF_MAGIC) return 0;
    return h->magic == (uint32_t)IMAGE_MAGIC ? h->header_size + h->payload_size : strlen(code) + 1;
}

int wb_library_load(struct wb_module **out, const void *code) {
    int error;
    if (!out || !code) return cudaErrorInvalidValue;
    if (((const struct fatbin_wrapper *)code)->magic == WRAPPER_MAGIC)
        code = ((const struct fatbin_wrapper *)code)->data;
    size_t size = image_size(code);
    if (!size) {
        fprintf(stderr, "warpbook: the module holds only machine code, but the simulated device "
                        "runs PTX: compile it with "
                        "nvcc -ptx or NVRTC's --gpu-architecture=compute_90\n");
        return cudaErrorNoKernelImageForDevice;
    }
    void *copy = malloc(size);
    if (!copy) return cudaErrorMemoryAllocation;
    memcpy(copy, code, size);
    *out = wb_module_new(copy, size, &error);
    return error;
}

int wb_library_load_file(struct wb_module **out, const char *path) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f) return cudaErrorFileNotFound;
    char *text = NULL;
    size_t size = 0, n;
    do {
        char *resized = realloc(text, size + (1 << 16) + 1);
        if (!resized) break;
        text = resized;
        n = fread(text + size, 1, 1 << 16, f);
        size += n;
        text[size] = 0;
    } while (n);
    fclose(f);
    int error = text && size > sizeof(struct fatbin_header) ? wb_library_load(out, text)
                                                            : cudaErrorInvalidKernelImage;
    free(text);
    return error;
}

int wb_library_unload(struct wb_module *m) {
    int error = m ? wb_sync() : cudaErrorInvalidResourceHandle;
    if (!error) wb_module_unload(m);
    return error;
}

int wb_library_get_kernel(struct wb_function **out, struct wb_module *m, const char *name) {
    int error;
    if (!out || !m || !name) return cudaErrorInvalidValue;
    char *name_copy = strdup(name);
    *out = name_copy ? wb_function_new(m, name_copy, &error) : NULL;
    return name_copy ? error : cudaErrorMemoryAllocation;
}

int wb_library_get_variable(struct wb_module *m, const char *name, uint64_t *address,
                            uint64_t *bytes) {
    return m && name ? wb_module_get_variable(m, name, address, bytes) : cudaErrorInvalidValue;
}

#if CUDART_VERSION >= 12080
cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, enum cudaJitOption *jit,
                                void **jit_values, unsigned njit, enum cudaLibraryOption *options,
                                void **values, unsigned n) {
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    return wb_return(wb_library_load((struct wb_module **)out, code));
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path, enum cudaJitOption *jit,
                                    void **jit_values, unsigned njit,
                                    enum cudaLibraryOption *options, void **values, unsigned n) {
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    return wb_return(out ? wb_library_load_file((struct wb_module **)out, path)
                         : cudaErrorInvalidValue);
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    return wb_return(wb_library_unload((struct wb_module *)library));
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name) {
    return wb_return(
        wb_library_get_kernel((struct wb_function **)out, (struct wb_module *)library, name));
}
cudaError_t cudaLibraryGetGlobal(void **out, size_t *size, cudaLibrary_t library,
                                 const char *name) {
    uint64_t address = 0, bytes = 0;
    int error = wb_library_get_variable((struct wb_module *)library, name, &address, &bytes);
    if (!error && out) *out = (void *)address;
    if (!error && size) *size = bytes;
    return wb_return(error);
}
#endif

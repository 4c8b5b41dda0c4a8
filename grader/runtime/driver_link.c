/* driver_link.c — the driver API's linker for a single PTX input. The simulated device runs PTX, so
 * linking returns the input unchanged. */
#include "grader/runtime/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    char *image;
    size_t bytes;
};

/* The logs are empty and the link takes no time. */
static void clear_log(CUjit_option option, void *value) {
    if (option == CU_JIT_INFO_LOG_BUFFER || option == CU_JIT_ERROR_LOG_BUFFER) *(char *)value = 0;
    if (option == CU_JIT_WALL_TIME) *(float *)value = 0;
}

static int create_link(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
    if (!out || (n && (!options || !values))) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < n; i++)
        if (values[i])
            clear_log(options[i], options[i] == CU_JIT_WALL_TIME ? (void *)&values[i] : values[i]);
    *out = calloc(1, sizeof **out);
    return *out ? 0 : cudaErrorMemoryAllocation;
}

static int add_input(CUlinkState s, CUjitInputType type, const void *data, size_t bytes) {
    if (!s || !data || !bytes) return cudaErrorInvalidValue;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        return wb_unsupported("cuLinkAddData of an input that is neither PTX nor a fat binary");
    if (s->image) return wb_unsupported("cuLinkAddData of a second input");
    s->image = malloc(bytes + 1);
    if (!s->image) return cudaErrorMemoryAllocation;
    memcpy(s->image, data, bytes);
    s->image[bytes] = 0;
    s->bytes = bytes;
    return 0;
}

static int add_input_file(CUlinkState s, CUjitInputType type, const char *path) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    char *text = NULL;
    size_t size = 0;
    if (!f) return cudaErrorFileNotFound;
    FILE *to = open_memstream(&text, &size);
    for (int c; to && (c = getc(f)) != EOF;) putc(c, to);
    fclose(f);
    int error = to && !fclose(to) ? add_input(s, type, text, size) : cudaErrorMemoryAllocation;
    free(text);
    return error;
}

/* Linking no inputs gives an empty module. */
static int complete_link(CUlinkState s, void **out, size_t *bytes) {
    static const char empty_ptx[] = ".version 8.0\n.target sm_50\n.address_size 64\n";
    if (!s || !out) return cudaErrorInvalidValue;
    int error = s->image ? 0 : add_input(s, CU_JIT_INPUT_PTX, empty_ptx, sizeof empty_ptx - 1);
    if (error) return error;
    *out = s->image;
    if (bytes) *bytes = s->bytes;
    return 0;
}

CUresult cuLinkCreate(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
    return WITH_CONTEXT(create_link(n, options, values, out));
}
CUresult cuLinkAddData(CUlinkState s, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned n, CUjit_option *options, void **values) {
    (void)name, (void)n, (void)options, (void)values;
    return WITH_CONTEXT(add_input(s, type, data, bytes));
}
CUresult cuLinkAddFile(CUlinkState s, CUjitInputType type, const char *path, unsigned n,
                       CUjit_option *options, void **values) {
    (void)n, (void)options, (void)values;
    return WITH_CONTEXT(add_input_file(s, type, path));
}
CUresult cuLinkComplete(CUlinkState s, void **out, size_t *bytes) {
    return WITH_CONTEXT(complete_link(s, out, bytes));
}
CUresult cuLinkDestroy(CUlinkState s) {
    if (!s) return CUDA_ERROR_INVALID_VALUE;
    free(s->image);
    free(s);
    return CUDA_SUCCESS;
}

/* entry_point.c — looks up driver calls by name. Programs call cuTensorMapEncodeTiled this way
 * without linking the driver. */
#include "grader/runtime/driver.h"

#include <string.h>

/* The names as programs say them, not as the header renames them (cuMemAlloc_v2): a macro's own
 * argument stays as it is. */
#define ENTRY(name) #name,
static const char *const names[] = {
#include "grader/runtime/entry_points.def"
};
#undef ENTRY

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs may still look them up */
#define ENTRY(name) (void (*)(void)) name,
static void (*const entries[])(void) = {
#include "grader/runtime/entry_points.def"
};
#undef ENTRY

static void *find_entry_point(const char *symbol) {
    void *out = NULL;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!strcmp(names[i], symbol)) memcpy(&out, &entries[i], sizeof out);
    return out;
}

static int get_entry_point(const char *symbol, void **out,
                           enum cudaDriverEntryPointQueryResult *status) {
    if (!symbol || !*symbol || !out) return cudaErrorInvalidValue;
    *out = find_entry_point(symbol);
    if (status) *status = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return 0;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status) {
    (void)flags;
    return wb_return(get_entry_point(symbol, out, status));
}
#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
    (void)version, (void)flags; /* each call has one form */
    return wb_return(get_entry_point(symbol, out, status));
}
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **out, unsigned version,
                                                  unsigned long long flags,
                                                  enum cudaDriverEntryPointQueryResult *status);
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **out, unsigned version,
                                                  unsigned long long flags,
                                                  enum cudaDriverEntryPointQueryResult *status) {
    return cudaGetDriverEntryPointByVersion(symbol, out, version, flags, status);
}
#endif

CUresult cuGetProcAddress(const char *symbol, void **out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status) {
    enum cudaDriverEntryPointQueryResult query_result;
    (void)version, (void)flags;
    if (get_entry_point(symbol, out, &query_result)) return CUDA_ERROR_INVALID_VALUE;
    if (status) *status = *out ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

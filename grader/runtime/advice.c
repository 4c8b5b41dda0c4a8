/* advice.c — hints about managed memory. They change nothing here, where it never moves; they are
 * kept, to be asked for. */
#include "grader/runtime/runtime.h"

#include <string.h>

enum { NOWHERE = -2 /* cudaInvalidDeviceId */ };

static int check(const void *p, size_t n) {
    return wb_is_managed(p) && wb_range_holds(p, n, n, 1) ? 0 : cudaErrorInvalidValue;
}

static int check_place(struct cudaMemLocation where) {
    bool host = where.type != cudaMemLocationTypeDevice && where.type != cudaMemLocationTypeInvalid;
    return host || (where.type == cudaMemLocationTypeDevice && where.id <= 0)
               ? 0
               : cudaErrorInvalidDevice;
}

/* The host is -1, the device 0. */
static int number_of(struct cudaMemLocation where) {
    return where.type == cudaMemLocationTypeDevice ? where.id : -1;
}

static int prefetch(const void *p, size_t n, struct cudaMemLocation to, cudaStream_t s) {
    int error = wb_check_stream(s);
    if (!error) error = check(p, n);
    if (!error) error = check_place(to);
    if (!error) wb_range_advise(p, WB_ADVICE_PREFETCHED, number_of(to));
    return error;
}

static int advise(const void *p, size_t n, enum cudaMemoryAdvise advice,
                  struct cudaMemLocation where) {
    int error = check(p, n), place = number_of(where);
    if (error) return error;
    switch ((int)advice) {
    case cudaMemAdviseSetReadMostly: wb_range_advise(p, WB_ADVICE_READ_MOSTLY, 1); return 0;
    case cudaMemAdviseUnsetReadMostly: wb_range_advise(p, WB_ADVICE_READ_MOSTLY, 0); return 0;
    case cudaMemAdviseUnsetPreferredLocation:
        wb_range_advise(p, WB_ADVICE_PREFERRED, NOWHERE);
        return 0;
    case cudaMemAdviseSetPreferredLocation:
        if (!(error = check_place(where))) wb_range_advise(p, WB_ADVICE_PREFERRED, place);
        return error;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
        if (!(error = check_place(where)))
            wb_range_advise(p, WB_ADVICE_ACCESSED,
                            advice == cudaMemAdviseSetAccessedBy ? place : NOWHERE);
        return error;
    }
    return cudaErrorInvalidValue;
}

static int ask(void *data, size_t size, enum cudaMemRangeAttribute a, const void *p, size_t n) {
    int error = check(p, n);
    struct wb_range r;
    if (error || !data || size % 4 || !size || !wb_range_find(p, &r)) return cudaErrorInvalidValue;
    int *out = data;
    switch ((int)a) {
    case cudaMemRangeAttributeReadMostly: *out = r.advice[WB_ADVICE_READ_MOSTLY]; return 0;
    case cudaMemRangeAttributePreferredLocation: *out = r.advice[WB_ADVICE_PREFERRED]; return 0;
    case cudaMemRangeAttributeLastPrefetchLocation: *out = r.advice[WB_ADVICE_PREFETCHED]; return 0;
    case cudaMemRangeAttributeAccessedBy:
        for (size_t i = 0; i < size / 4; i++) out[i] = i ? NOWHERE : r.advice[WB_ADVICE_ACCESSED];
        return 0;
    }
    return wb_unsupported("cudaMemRangeGetAttribute of this kind");
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, enum cudaMemRangeAttribute a,
                                     const void *p, size_t n) {
    return wb_return(ask(data, size, a, p, n));
}
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, enum cudaMemRangeAttribute *a,
                                      size_t count, const void *p, size_t n) {
    int error = data && sizes && a && count ? 0 : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < count; i++) error = ask(data[i], sizes[i], a[i], p, n);
    return wb_return(error);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                 cudaStream_t s) {
    return wb_return(flags ? cudaErrorInvalidValue : prefetch(p, n, to, s));
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation where) {
    return wb_return(advise(p, n, advice, where));
}
#else
static struct cudaMemLocation place_of(int device) {
    return (struct cudaMemLocation){
        device < 0 ? (enum cudaMemLocationType)2 : cudaMemLocationTypeDevice, device};
}
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t s) {
    return wb_return(prefetch(p, n, place_of(device), s));
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice, int device) {
    return wb_return(advise(p, n, advice, place_of(device)));
}
#endif

/* ---- several copies in one call ---- */

#if CUDART_VERSION >= 12080
static int copy_batch(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                      const size_t *first, size_t n, cudaStream_t s) {
    if (!to || !from || !bytes || !count || !first || !n || n > count || first[0])
        return cudaErrorInvalidValue;
    int error = wb_check_stream(s);
    for (size_t i = 0; !error && i < count; i++) {
        struct wb_command c = {.kind = WB_COPY,
                               .copy = {(void *)to[i], from[i], bytes[i], bytes[i], bytes[i], 1}};
        c.copy.kind = cudaMemcpyDefault;
        c.copy.async = true;
        error = wb_issue(s, &c);
    }
    return error;
}
#endif

#if CUDART_VERSION >= 13000
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *first, size_t n, cudaStream_t s) {
    return wb_return(attributes ? copy_batch(to, from, bytes, count, first, n, s)
                                : cudaErrorInvalidValue);
}
#elif CUDART_VERSION >= 12080
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *bytes, size_t count,
                                 struct cudaMemcpyAttributes *attributes, size_t *first, size_t n,
                                 size_t *failed, cudaStream_t s) {
    if (failed) *failed = SIZE_MAX;
    return wb_return(attributes
                         ? copy_batch(to, (const void *const *)from, bytes, count, first, n, s)
                         : cudaErrorInvalidValue);
}
#endif

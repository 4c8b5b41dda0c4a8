/* advice.c — cudaMemAdvise and prefetches of managed memory. They have no effect, because managed
 * memory never moves here; they are stored so that a program can query them. */
#include "grader/runtime/runtime.h"

#include <string.h>

enum { LOCATION_NONE = -2 /* cudaInvalidDeviceId */ };

static int check_managed_range(const void *p, size_t n) {
    return wb_is_managed(p) && wb_range_contains(p, n, n, 1) ? 0 : cudaErrorInvalidValue;
}

static int check_location(struct cudaMemLocation location) {
    bool is_host =
        location.type != cudaMemLocationTypeDevice && location.type != cudaMemLocationTypeInvalid;
    return is_host || (location.type == cudaMemLocationTypeDevice &&
                       (location.id < 0 || !wb_check_device_number(location.id)))
               ? 0
               : cudaErrorInvalidDevice;
}

/* The host is -1, a device its number. */
static int location_id(struct cudaMemLocation location) {
    return location.type == cudaMemLocationTypeDevice ? location.id : -1;
}

static int prefetch(const void *p, size_t n, struct cudaMemLocation to, cudaStream_t s) {
    int error = wb_check_stream(s);
    if (!error) error = check_managed_range(p, n);
    if (!error) error = check_location(to);
    if (!error) wb_range_set_advice(p, WB_ADVICE_LAST_PREFETCH, location_id(to));
    return error;
}

static int advise(const void *p, size_t n, enum cudaMemoryAdvise advice,
                  struct cudaMemLocation location) {
    int error = check_managed_range(p, n), id = location_id(location);
    if (error) return error;
    switch ((int)advice) {
    case cudaMemAdviseSetReadMostly: wb_range_set_advice(p, WB_ADVICE_READ_MOSTLY, 1); return 0;
    case cudaMemAdviseUnsetReadMostly: wb_range_set_advice(p, WB_ADVICE_READ_MOSTLY, 0); return 0;
    case cudaMemAdviseUnsetPreferredLocation:
        wb_range_set_advice(p, WB_ADVICE_PREFERRED_LOCATION, LOCATION_NONE);
        return 0;
    case cudaMemAdviseSetPreferredLocation:
        if (!(error = check_location(location)))
            wb_range_set_advice(p, WB_ADVICE_PREFERRED_LOCATION, id);
        return error;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
        if (!(error = check_location(location)))
            wb_range_set_advice(p, WB_ADVICE_ACCESSED_BY,
                                advice == cudaMemAdviseSetAccessedBy ? id : LOCATION_NONE);
        return error;
    }
    return cudaErrorInvalidValue;
}

static int get_range_attribute(void *data, size_t size, enum cudaMemRangeAttribute a, const void *p,
                               size_t n) {
    int error = check_managed_range(p, n);
    struct wb_range r;
    if (error || !data || size % 4 || !size || !wb_range_find(p, &r)) return cudaErrorInvalidValue;
    int *out = data;
    switch ((int)a) {
    case cudaMemRangeAttributeReadMostly: *out = r.advice[WB_ADVICE_READ_MOSTLY]; return 0;
    case cudaMemRangeAttributePreferredLocation:
        *out = r.advice[WB_ADVICE_PREFERRED_LOCATION];
        return 0;
    case cudaMemRangeAttributeLastPrefetchLocation:
        *out = r.advice[WB_ADVICE_LAST_PREFETCH];
        return 0;
    case cudaMemRangeAttributeAccessedBy:
        for (size_t i = 0; i < size / 4; i++)
            out[i] = i ? LOCATION_NONE : r.advice[WB_ADVICE_ACCESSED_BY];
        return 0;
    }
    return wb_unsupported("cudaMemRangeGetAttribute of this kind");
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, enum cudaMemRangeAttribute a,
                                     const void *p, size_t n) {
    return wb_return(get_range_attribute(data, size, a, p, n));
}
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, enum cudaMemRangeAttribute *a,
                                      size_t count, const void *p, size_t n) {
    int error = data && sizes && a && count ? 0 : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < count; i++)
        error = get_range_attribute(data[i], sizes[i], a[i], p, n);
    return wb_return(error);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                 cudaStream_t s) {
    return wb_return(flags ? cudaErrorInvalidValue : prefetch(p, n, to, s));
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
    return wb_return(advise(p, n, advice, location));
}
#else
static struct cudaMemLocation device_location(int device) {
    return (struct cudaMemLocation){
        device < 0 ? (enum cudaMemLocationType)2 : cudaMemLocationTypeDevice, device};
}
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t s) {
    return wb_return(prefetch(p, n, device_location(device), s));
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice, int device) {
    return wb_return(advise(p, n, advice, device_location(device)));
}
#endif

/* ---- several copies in one call ---- */

#if CUDART_VERSION >= 12080
static int copy_batch(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                      const size_t *attr_indices, size_t n, cudaStream_t s) {
    if (!to || !from || !bytes || !count || !attr_indices || !n || n > count || attr_indices[0])
        return cudaErrorInvalidValue;
    int error = wb_check_stream(s);
    for (size_t i = 0; !error && i < count; i++) {
        struct wb_command c = {.kind = WB_COPY,
                               .copy = {(void *)to[i], from[i], bytes[i], bytes[i], bytes[i], 1}};
        c.copy.kind = cudaMemcpyDefault;
        c.copy.async = true;
        error = wb_issue_command(s, &c);
    }
    return error;
}
#endif

#if CUDART_VERSION >= 13000
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *attr_indices, size_t n, cudaStream_t s) {
    return wb_return(attributes ? copy_batch(to, from, bytes, count, attr_indices, n, s)
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

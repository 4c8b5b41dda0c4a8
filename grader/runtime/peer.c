/* peer.c — access from one device to another: peer access, and copies between devices. All devices
 * share one range of addresses, so a pointer says which device its memory belongs to. */
#include "grader/runtime/runtime.h"

#include <string.h>

static unsigned link_between_devices(void) {
    int error;
    const struct wb_session *s = wb_session(&error);
    return s ? s->link : WB_LINK_NONE;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    if (wb_check_device_number(device) || wb_check_device_number(peer))
        return wb_return(cudaErrorInvalidDevice);
    *can = device != peer && link_between_devices() != WB_LINK_NONE;
    return cudaSuccess;
}

static uint32_t accessible[WB_MAX_DEVICES]; /* by device: a bit for each other one */

bool wb_can_access(unsigned device) {
    int error;
    const struct wb_session *s = wb_session(&error);
    bool has_all_access = s && s->grading && s->link != WB_LINK_NONE;
    return has_all_access || device == wb_current_device() ||
           accessible[wb_current_device()] >> device & 1;
}
void wb_reset_access(void) { accessible[wb_current_device()] = 0; }

static int set_access(int peer, bool is_enabled) {
    int error;
    if (!wb_device(&error)) return error;
    error = wb_check_device_number(peer);
    struct wb_req_peer_access q = {.peer = (uint32_t)peer, .is_enabled = is_enabled};
    if (!error) error = wb_request(peer_access, &q, NULL);
    if (error) return error;
    uint32_t bit = 1u << peer, *mask = &accessible[wb_current_device()];
    *mask = is_enabled ? *mask | bit : *mask & ~bit;
    return 0;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return wb_return(flags ? cudaErrorInvalidValue : set_access(peer, true));
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) { return wb_return(set_access(peer, false)); }

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr a, int from, int to) {
    if (wb_check_device_number(from) || wb_check_device_number(to) || from == to)
        return wb_return(cudaErrorInvalidDevice);
    if (!value) return wb_return(cudaErrorInvalidValue);
    unsigned link = link_between_devices();
    switch ((int)a) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; break;
    case cudaDevP2PAttrAccessSupported: *value = link != WB_LINK_NONE; break;
    case cudaDevP2PAttrNativeAtomicSupported: *value = link == WB_LINK_NVLINK; break;
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = link != WB_LINK_NONE; break;
    default: return wb_return(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

/* ---- copies ---- */

/* The server knows the owner of an exercise's buffer. */
static unsigned query_device(const void *p, unsigned otherwise) {
    int error;
    struct wb_rep_range r;
    const struct wb_session *s = wb_session(&error);
    if (!s || !s->grading || s->ndevices == 1) return otherwise;
    error = wb_request(range, &((struct wb_req_range){.address = (uint64_t)p}), &r);
    return error ? otherwise : (unsigned)r.device;
}

/* Of host memory, and memory that all share, the current one. */
static unsigned device_of(const void *p) {
    struct wb_range r;
    unsigned device = wb_current_device();
    if (wb_range_find(p, &r)) return r.kind == WB_MEMORY_DEVICE ? r.device : device;
    if (wb_is_device_variable(p, &device)) return device;
    return wb_is_device(p) ? query_device(p, device) : device;
}

bool wb_is_peer_copy(const void *to, const void *from) {
    return wb_is_device(to) && wb_is_device(from) && device_of(to) != device_of(from);
}

int wb_check_fill_device(const void *p) {
    unsigned device = device_of(p);
    if (wb_can_access(device)) return 0;
    return wb_refuse(
        cudaErrorInvalidValue,
        "the memory belongs to device %u, which device %u may not access: use a stream "
        "of device %u, or enable peer access",
        device, wb_current_device(), device);
}

/* In a default stream, a copy between devices waits for all work of both, and later work waits for
 * it. */
int wb_issue_copy(cudaStream_t s, const struct wb_command *c) {
    unsigned from = device_of(c->copy.from), to = device_of(c->copy.to),
             current = wb_current_device();
    bool is_ordered_with_both = (from != current || to != current) && (!s || s == cudaStreamLegacy);
    if (is_ordered_with_both) wb_order_peer_begin(from, to);
    int error = wb_issue_command(s, c);
    if (is_ordered_with_both) wb_order_peer_end(from, to);
    return error;
}

static int check_devices(int to, int from) {
    int error = wb_check_device_number(to);
    return error ? error : wb_check_device_number(from);
}

static int issue_peer_copy(void *to, int to_device, const void *from, int from_device, size_t bytes,
                           cudaStream_t s) {
    int error = check_devices(to_device, from_device);
    struct wb_command c = {.kind = WB_COPY,
                           .copy = {to, from, bytes, bytes, bytes, 1, cudaMemcpyDefault, true}};
    return error ? error : wb_issue_copy(s, &c);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes) {
    return wb_return(issue_peer_copy(to, to_device, from, from_device, bytes, 0));
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t s) {
    return wb_return(issue_peer_copy(to, to_device, from, from_device, bytes, s));
}

static int issue_peer_copy_3d(const struct cudaMemcpy3DPeerParms *p, cudaStream_t s) {
    struct wb_command c;
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms q = {.srcArray = p->srcArray,
                                  .srcPos = p->srcPos,
                                  .srcPtr = p->srcPtr,
                                  .dstArray = p->dstArray,
                                  .dstPos = p->dstPos,
                                  .dstPtr = p->dstPtr,
                                  .extent = p->extent,
                                  .kind = cudaMemcpyDefault};
    int error = check_devices(p->dstDevice, p->srcDevice);
    if (!error) error = wb_make_copy_command(&q, true, &c);
    return error ? error : wb_issue_copy(s, &c);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    return wb_return(issue_peer_copy_3d(p, 0));
}
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t s) {
    return wb_return(issue_peer_copy_3d(p, s));
}

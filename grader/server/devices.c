/* devices.c — the device server's devices: which one a message is for, and whose memory its kernels
 * may access. All of them are equal and share one range of addresses (sim.h). server.c calls it
 * before each message. With one device it does nothing. While grading, all devices have peer
 * access: a program enables it once, and an entry may be called often. */
#include "grader/server/internal.h"

#include <string.h>

bool server_select_device(struct server *s, unsigned device) {
    if (device >= WB_MAX_DEVICES || (device && device >= s->backend->ndevices)) return false;
    if (device == s->device) return true;
    s->device = device;
    s->backend->ops->select_device(s->backend, device, s->peers[device]);
    return true;
}

unsigned server_device_of(const struct server *s, uint64_t address) {
    return s->backend->ndevices > 1 ? s->backend->ops->device_of(s->backend, address) : 0;
}

static void set_peers(struct server *s, uint32_t peers) {
    s->peers[s->device] = peers;
    s->backend->ops->select_device(s->backend, s->device, peers);
}

void server_reset_device(struct server *s) {
    uint64_t start, bytes;
    s->backend->ops->reset_device(s->backend);
    set_peers(s, 0);
    server_forget_freed(s);
    if (!s->backend->ops->find_allocation(s->backend, s->graph_mailbox, &start, &bytes))
        s->graph_mailbox = 0;
}

void server_clear_devices(struct server *s) {
    bool has_all_access = s->options.grading && server_link(s) != WB_LINK_NONE;
    uint32_t all = (1u << s->backend->ndevices) - 1;
    for (unsigned d = 0; d < WB_MAX_DEVICES; d++) s->peers[d] = has_all_access ? all : 0;
    if (s->backend->ndevices > 1) set_peers(s, s->peers[s->device]);
}

uint32_t server_link(const struct server *s) {
    const struct gpu_device *d = s->backend->device;
    return !(d->peer_rate > 0)    ? WB_LINK_NONE
           : device_has_nvlink(d) ? WB_LINK_NVLINK
                                  : WB_LINK_PCIE;
}

int server_on_peer_access(struct server *s, const struct wb_req_peer_access *q,
                          struct message_tail tail, struct wb_rep_peer_access *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    if (q->peer >= s->backend->ndevices) return WB_cudaErrorInvalidDevice;
    uint32_t bit = 1u << q->peer;
    bool was_enabled = s->peers[s->device] & bit;
    if (q->is_enabled && (q->peer == s->device || server_link(s) == WB_LINK_NONE))
        return WB_cudaErrorPeerAccessUnsupported;
    if (s->options.grading && q->is_enabled) return 0;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotPermitted,
                             "an exercise's devices have peer access, and its entry must leave it "
                             "enabled");
    if (q->is_enabled && was_enabled) return WB_cudaErrorPeerAccessAlreadyEnabled;
    if (!q->is_enabled && !was_enabled) return WB_cudaErrorPeerAccessNotEnabled;
    set_peers(s, s->peers[s->device] ^ bit);
    return 0;
}

/* fake_host.c — see fake_host.h. */
#include "grader/tests/unit/fake_host.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static bool next_call(struct fake_host *host, enum wb_call_state state) {
    _Alignas(8) uint8_t out[256], in[WB_FRAME_BYTES];
    struct wb_req_next_call q = {.state = state};
    struct wb_header h = {
        .op = WB_OP_next_call, .seq = ++host->fixture->seq, .size = sizeof h + sizeof q};
    struct wb_rep_next_call p;
    memcpy(out, &h, sizeof h);
    memcpy(out + sizeof h, &q, sizeof q);
    size_t n = fixture_raw(host->fixture, out, h.size, in);
    if (!n) return false;
    memcpy(&p, in + sizeof h, sizeof p);
    host->nargs = p.nargs;
    size_t at = sizeof h + sizeof p, nargs = p.nargs * sizeof *host->args;
    ck_assert_uint_le(p.nargs, 8);
    memcpy(host->args, in + at, nargs);
    memcpy(host->name, in + at + nargs, n - at - nargs);
    host->name[n - at - nargs] = 0;
    return true;
}

static void *run_host_calls(void *p) {
    struct fake_host *host = p;
    host->add = fixture_kernel(host->fixture, "add");
    host->fault = fixture_kernel(host->fixture, "fault");
    for (bool more = next_call(host, WB_READY); more; more = next_call(host, WB_RETURNED))
        host->entry(host->args);
    return NULL;
}

struct recording *fake_host_record_again(struct fake_host *h, entry_fn *entry,
                                         struct server_outcome *out) {
    struct recording *r = NULL;
    struct server *s = h->fixture->server;
    h->entry = entry;
    struct wb_arg args[] = {{WB_PTR, 0, server_buffer_address(s, 0), 0},
                            {WB_PTR, 0, server_buffer_address(s, 1), 0},
                            {WB_I32, 0, 32, 0}};
    server_record(s, "entry", args, 3, server_now() + 10, -1, &r, out);
    return r;
}

struct recording *fake_host_record(struct fake_host *h, entry_fn *entry,
                                   struct server_outcome *out) {
    struct err e = {0};
    struct server *s = h->fixture->server;
    h->entry = entry;
    ck_assert_int_eq(pthread_create(&h->fixture->thread, NULL, run_host_calls, h), 0);
    ck_assert(server_wait_ready(s, server_now() + 10, -1, out));
    struct server_buffer buffers[] = {{.name = "in", .bytes = 32, .is_host_memory = h->owns},
                                      {.name = "out", .bytes = 32, .is_host_memory = h->owns}};
    ck_assert(server_buffers(s, buffers, 2, &e));
    return fake_host_record_again(h, entry, out);
}

void fake_host_replay(struct fake_host *h, const struct recording *r, const char in[32],
                      char out[32]) {
    struct err e = {0};
    struct server_outcome o;
    struct server *s = h->fixture->server;
    ck_assert_msg(server_restart(s, &e), "%s", e.text);
    ck_assert(server_write(s, server_buffer_address(s, 0), in, 32));
    memset(out, 0x5a, 32);
    ck_assert(server_write(s, server_buffer_address(s, 1), out, 32));
    ck_assert_msg(server_replay(s, r, 10, server_now() + 10, &o, &e), "%s", e.text);
    ck_assert_int_eq(o.fault, 0);
    ck_assert(server_read(s, server_buffer_address(s, 1), out, 32));
}

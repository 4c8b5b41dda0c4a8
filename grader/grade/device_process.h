/* device_process.h — the grader's side of a device process (grader/device,
 * grader/server/control.h).
 *
 *   d = device_process_start(&options, &err);        started in its sandbox, no request yet
 *   ... pass the client's descriptors to a host process; device_process_close_client_fds(d) ...
 *   switch (device_process_call(d, &request, fd, watch, &reply)) { ... }
 *   device_process_close(d);
 *
 * Whatever the process does, a call returns: with a reply that is valid in form, or with the reason
 * why there is none. After anything but DEVICE_REPLIED the process can't be used any more. */
#pragma once
#include "grader/server/backend_gpu.h"
#include "grader/server/control.h"

struct device_process_options {
    const struct gpu_device *device;
    const struct gpu_options *gpu; /* NULL = the simulated one */
    unsigned workers;              /* threads of a launch; 0 = one for each core */
    bool no_client;                /* the process serves no host process */
};

enum device_outcome {
    DEVICE_REPLIED,
    DEVICE_REFUSED, /* it could not serve the request; not the submission's fault: reply->reason */
    DEVICE_TIMEOUT, /* no reply within the time limit and a grace period; it was ended */
    DEVICE_OUT_OF_MEMORY,     /* it exceeded its memory limit and was ended */
    DEVICE_SECCOMP_VIOLATION, /* it made a forbidden system call */
    DEVICE_CRASHED,
    DEVICE_PROTOCOL_ERROR, /* it sent a malformed reply */
};

struct device_process;
/* Starts the process in its sandbox; NULL if that fails. */
struct device_process *device_process_start(const struct device_process_options *o, struct err *e);
/* Return the descriptors that its host process needs. */
int device_process_client_socket(const struct device_process *d);
int device_process_client_window(const struct device_process *d);
/* Closes our copy of the client's end; otherwise the death of a client would go unnoticed. */
void device_process_close_client_fds(struct device_process *d);
/* Sends a request and waits for the reply. Fills in version and serial; request->time_limit_seconds
 * limits the step. Sends `fd` along (-1 = none). If `watch` (a pidfd, -1 = none) becomes readable,
 * the client has died; the call then closes the client's connection, which tells the process. */
enum device_outcome device_process_call(struct device_process *d, struct control_request *request,
                                        int fd, int watch, struct control_reply *reply);
/* Returns in words why there was no reply. */
const char *device_process_exit_reason(const struct device_process *d);
/* For tests: runs another program instead of build/libexec/device, with one more argument. Both
 * strings must outlive every process. */
void device_process_set_test_program(const char *program, const char *argument);
/* For tests: attaches to `control`, the grader's end of a channel whose other end the caller
 * serves. Takes over the descriptor. */
struct device_process *device_process_attach(int control);
void device_process_close(struct device_process *d); /* d may be NULL */

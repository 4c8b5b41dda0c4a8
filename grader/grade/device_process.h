/* device_process.h — the grader's end of a device process (grader/device, grader/server/control.h).
 *
 *   struct device_process *d = device_process_start(&options, &err);    started, in its jail; not
 * yet asked anything
 *   ... give its client's descriptors to a host process; device_process_close_client_fds(d) ...
 *   switch (device_process_call(d, &request, fd, watch, &reply)) { ... }
 *   device_process_close(d);
 *
 * Whatever the process does, a question ends: with its answer, checked in form, or with the reason
 * why there is none. After anything but DEVICE_REPLIED the process is of no more use. */
#pragma once
#include "grader/server/backend_gpu.h"
#include "grader/server/control.h"

struct device_process_options {
    const struct gpu_device *device;
    const struct gpu_options *gpu; /* NULL = the simulated one */
    unsigned workers;              /* threads of a launch; 0 = one for each core */
    bool no_client;                /* no client */
};

enum device_outcome {
    DEVICE_REPLIED,
    DEVICE_REFUSED, /* it could not do as it was asked, for no fault of the submission's: `why` of
                       the reply */
    DEVICE_TIMEOUT, /* beyond the time that it was given and some more: it was ended */
    DEVICE_OUT_OF_MEMORY,     /* it used more memory than it may, and was ended */
    DEVICE_SECCOMP_VIOLATION, /* it made a system call that it has no use for */
    DEVICE_CRASHED,
    DEVICE_PROTOCOL_ERROR, /* what it sent is no answer */
};

struct device_process;
struct device_process *device_process_start(const struct device_process_options *o, struct err *e);
int device_process_client_socket(const struct device_process *d);
int device_process_client_window(const struct device_process *d);
/* Closes our copy of the client's end, without which a client that dies would not be noticed. */
void device_process_close_client_fds(struct device_process *d);
/* Fills in version, serial; `request->seconds` is what the step may take. `fd` goes along (-1 =
 * none). When `watch` (a pidfd, -1 = none) becomes readable, the client has died, and the process
 * is told by an end of its connection. */
enum device_outcome device_process_call(struct device_process *d, struct control_request *request,
                                        int fd, int watch, struct control_reply *reply);
/* What became of it, in words, after an end that is no answer. */
const char *device_process_exit_reason(const struct device_process *d);
/* For tests: another program in the place of build/libexec/device, with one more argument. Both
 * must outlive every process. */
void device_process_set_test_program(const char *program, const char *argument);
/* For tests: no process, but `control`, the grader's end of a channel whose other end the caller
 * serves. Takes it over. */
struct device_process *device_process_attach(int control);
void device_process_close(struct device_process *d); /* NULL is fine */

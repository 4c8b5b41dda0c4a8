/* serve.h — the device process: a device server (grader/server) for one submission. It answers the
 * grader's requests, the messages of grader/server/control.h. main.c restricts the process before
 * it reads the first byte, then calls device_serve. */
#pragma once

/* Answers requests until the grader hangs up. Returns an exit status. */
int device_serve(void);

/* serve.h — the device process: a device server (grader/server) for one submission, told what to do
 * by the grader over the messages of grader/server/control.h. It sees nothing else: main.c locks it
 * in before it reads a byte. */
#pragma once

/* Answers requests until the grader hangs up. Returns an exit status. */
int device_serve(void);

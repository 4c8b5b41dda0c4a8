/* shell.h — runs the programs of this build as a user's shell does. */
#pragma once

/* Exit status of the command, 128 + the signal that ended it. */
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The folder that holds grader, simgpu and tests/, absolute. */
const char *build_folder(void);

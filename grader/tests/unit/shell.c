/* shell.c — implements shell.h. */
#include "grader/tests/unit/shell.h"
#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int shell(const char *format, ...) {
    char command[20000];
    va_list ap;
    va_start(ap, format);
    vsnprintf(command, sizeof command, format, ap);
    va_end(ap);
    int status = system(command);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *build_folder(void) {
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) die("no /proc");
    path[n] = 0;
    for (int i = 0; i < 2; i++) *strrchr(path, '/') = 0; /* BUILD/tests/unit */
    return path;
}

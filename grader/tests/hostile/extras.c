#include "grader/tests/hostile/hostile.h"
unsigned try_archives(void) { return 0; }
unsigned try_kills(unsigned times) { return times*0; }
unsigned measure_jail(void) { return 0; }

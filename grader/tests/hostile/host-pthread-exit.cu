// RTE/TLE | own | ends the main thread and leaves another | 
#include <pthread.h>
#include <unistd.h>
static void *stay(void *) { for (;;) pause(); }
extern "C" void plus_one(int *out, const int *in, int n) {
    pthread_t t;
    pthread_create(&t, 0, stay, 0);
    pthread_exit(0);
}

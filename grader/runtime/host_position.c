/* host_position.c — says which line the host code executes when it crashes, or when a call of the
 * entry takes long. It prints the line on standard error, where the grader finds it
 * (WB_HOST_POSITION): a crash leaves nobody to ask, and a program that hangs does not answer.
 *
 * The handlers run on a stack of their own, because endless recursion leaves none. They take no
 * lock. A handler that the program's runtime or the program itself installed runs first, if it came
 * later; the runtime's restores this one. */
#include "grader/runtime/host_position.h"
#include "grader/runtime/line_table.h"
#include "grader/runtime/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { STACK_BYTES = 1 << 17 };

static void print_position(void) {
    struct line_position at;
    char text[400];
    if (!wb_find_interrupted_line(&at)) return;
    int n = snprintf(text, sizeof text, WB_HOST_POSITION "%s:%u\n", at.file, at.line);
    if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0) return;
}

/* The default action ends the process when the instruction faults again, or abort() raises again.
 */
static void on_crash(int signal_number) {
    signal(signal_number, SIG_DFL);
    print_position();
    if (signal_number == SIGABRT) raise(SIGABRT);
}

static void on_alarm(int signal_number) {
    (void)signal_number;
    print_position();
}

static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(signal_number, &action, NULL);
}

void wb_watch_host_position(void) {
    static char stack[STACK_BYTES];
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) handle(crashes[i], on_crash);
    handle(SIGALRM, on_alarm);
}

void wb_set_position_alarm(unsigned milliseconds) {
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = time}, NULL);
}

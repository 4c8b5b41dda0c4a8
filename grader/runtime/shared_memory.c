/* shared_memory.c — memory that host and device share, and what happens when the host touches a
 * device address.
 *
 * Theory of operation. The address range of the device is reserved in this process, without access.
 * Its first part is mapped from the same memory file as in the device server: managed and pinned
 * memory has one address on both sides, and the same pages. What of it is allocated is made
 * accessible; nothing is ever copied.
 *
 * Any other host access to a device address is a bug in the program; it ends with a message. */
#include "grader/runtime/line_table.h"
#include "grader/runtime/runtime.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction previous_action;
static uint64_t base, span;

uint64_t wb_page_size(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* ---- faults ---- */

static void write_message(const char *text, uint64_t address, const char *rest) {
    char line[640], location[300] = "";
    struct line_position at;
    if (wb_find_source_line(NULL, &at))
        snprintf(location, sizeof location, "%s:%u: ", at.file, at.line);
    int n = snprintf(line, sizeof line, "warpbook: %s%s0x%llx%s\n", location, text,
                     (unsigned long long)address, rest);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) return;
}

static _Atomic uint64_t moving_start, moving_bytes;
static _Atomic unsigned move_count;
void wb_set_moving_range(uint64_t start, uint64_t bytes) {
    if (bytes) move_count++;
    moving_start = start;
    moving_bytes = bytes;
}

/* Returns true if the write is to be retried: its pages are being replaced, or were since this
 * thread's last fault. */
static bool retry_after_move(uint64_t address) {
    static _Thread_local unsigned last_move_count;
    bool any = last_move_count != move_count;
    while (moving_bytes && address - moving_start < moving_bytes) sched_yield();
    last_move_count = move_count;
    return any;
}

#if defined(__x86_64__)
enum { TRAP_FLAG = 0x100, MAX_STEPS = 20000 /* of two signals each */ };

static void on_step(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    wb_inflight_guard_again();
}

/* Makes the processor call on_step behind the instruction. */
static bool step_instruction(void *context) {
    static unsigned steps;
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    if (!steps) sigaction(SIGTRAP, &action, NULL);
    if (steps == MAX_STEPS) return false;
    steps++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    return true;
}
#else
static bool step_instruction(void *context) {
    (void)context;
    return false;
}
#endif

/* Returns true if the instruction can be retried. */
static bool handle_early_access(uint64_t address, void *context) {
    if (wb_inflight_report(address)) return true;
    if (!wb_inflight_release(address)) return false;
    if (!step_instruction(context)) wb_inflight_retire_page(address);
    return true;
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    uint64_t address = (uint64_t)info->si_addr, start, bytes;
    if (retry_after_move(address) || handle_early_access(address, context)) return;
    if (wb_find_host_buffer(address, &start, &bytes))
        write_message(
            "host code accesses ", address,
            ", in the exercise's host memory: its data is generated only after the entry has "
            "returned; copy it to the device");
    else if (address >= base && address - base < span)
        write_message("host code dereferenced device address ", address,
                      ": copy the data with cudaMemcpy");
    /* Restores the previous handler and lets the instruction fault again. */
    sigaction(signal_number, &previous_action, NULL);
}

/* Called once, when the device is known. If the reservation fails, accesses still fault, because
 * nothing else is mapped there. */
void wb_reserve_addresses(const struct wb_session *s) {
    base = s->base;
    span = s->span;
    void *p = mmap((void *)base, span, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && p != (void *)base) munmap(p, span);
    else if (p != MAP_FAILED && s->shared_bytes)
        mmap(p, s->shared_bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, s->shared_fd,
             (off_t)s->shared_offset);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, &previous_action);
}

/* ---- allocations ---- */

/* Allocations don't share pages; two variables may. */
static bool protect(uint64_t address, uint64_t bytes, int protection) {
    uint64_t page = wb_page_size(), start = address & ~(page - 1),
             end = (address + bytes + page - 1) & ~(page - 1);
    return !mprotect((void *)start, end - start, protection);
}

int wb_shared_map(uint64_t address, uint64_t bytes, enum wb_memory_kind kind, unsigned flags) {
    const struct wb_session *s;
    int error;
    if (!wb_device(&error) || !(s = wb_session(&error))) return error; /* reserves the addresses */
    if (address - s->base >= s->shared_bytes) return cudaErrorNotSupported;
    return protect(address, bytes, PROT_READ | PROT_WRITE) &&
                   wb_range_add(address, bytes, kind, flags)
               ? 0
               : cudaErrorMemoryAllocation;
}

int wb_shared_alloc(void **out, size_t bytes, enum wb_memory_kind kind, unsigned flags) {
    struct wb_rep_alloc_shared p;
    struct wb_req_alloc_shared q = {.bytes = bytes, .managed = kind == WB_MEMORY_MANAGED};
    int error;
    *out = NULL;
    if (!wb_device(&error)) return error;
    error = wb_request(alloc_shared, &q, &p);
    if (!error) error = wb_shared_map(p.address, bytes, kind, flags);
    if (!error) *out = (void *)p.address;
    return error;
}

/* First waits for the device, as on a GPU. */
int wb_shared_free(void *p) {
    struct wb_range r;
    if (!wb_range_find(p, &r) || r.start != (uint64_t)p) return cudaErrorInvalidValue;
    int error = wb_sync();
    wb_order_host_wait_all();
    protect(r.start, r.bytes, PROT_NONE);
    wb_range_remove(r.start);
    int free_error = wb_request(free, &((struct wb_req_free){.address = r.start}), NULL);
    return error ? error : free_error;
}

/* managed.c — managed memory, and what happens when the host touches a device address.
 *
 * Theory of operation. The address range of the device is reserved in this process, without access. Managed
 * memory has one address on both sides: its pages in the reservation are made accessible, and all managed
 * memory is at any moment either with the host (pages readable and writable, the device's bytes stale) or
 * with the device (pages without access). Before the device looks at memory, the host's bytes are written
 * there; when the host touches managed memory that is with the device, the fault handler fetches the bytes
 * and lets the host go on. Moving it all, always, is simple and correct, not fast; and memory that was moved
 * counts as initialised.
 *
 * Any other touch of a device address is the classic mistake, and ends the program with a message that says so. */
#include "grader/runtime/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct region {
    struct region *next;
    uint64_t address, bytes;
};

static struct region *regions;
static bool with_host; /* all of them */
static struct sigaction previous;
static uint64_t base, span;

static const uint64_t page = 4096;

static void protect(int protection) {
    for (struct region *r = regions; r; r = r->next) {
        uint64_t start = r->address & ~(page - 1), end = (r->address + r->bytes + page - 1) & ~(page - 1);
        mprotect((void *)start, end - start, protection);
    }
}

static struct region *region_at(uint64_t address) {
    struct region *r = regions;
    while (r && (address < r->address || address - r->address >= r->bytes)) r = r->next;
    return r;
}

bool wb_is_managed(const void *p) {
    if (!regions) return false;
    wb_lock();
    bool found = region_at((uint64_t)p);
    wb_unlock();
    return found;
}

void wb_managed_to_device(void) {
    if (!regions || !with_host) return;
    wb_lock();
    for (struct region *r = regions; r; r = r->next)
        wb_write(r->address, r->bytes, (void *)r->address, r->bytes, r->bytes, 1);
    protect(PROT_NONE);
    with_host = false;
    wb_unlock();
}

/* 0, or the error that keeps the bytes from coming. */
static int to_host(void) {
    int error = 0;
    wb_lock();
    if (!with_host) {
        protect(PROT_READ | PROT_WRITE);
        for (struct region *r = regions; r && !error; r = r->next)
            error = wb_read((void *)r->address, r->bytes, r->address, r->bytes, r->bytes, 1);
        with_host = true;
    }
    wb_unlock();
    return error;
}

/* ---- faults ---- */

static void say(const char *text, uint64_t address, const char *rest) {
    char line[256];
    int n = snprintf(line, sizeof line, "warpbook: %s0x%llx%s\n", text, (unsigned long long)address, rest);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) return;
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    uint64_t address = (uint64_t)info->si_addr;
    bool ours = address >= base && address - base < span;
    if (ours && !with_host && region_at(address)) {
        int error = to_host();
        if (!error) return;
        say("managed memory at ", address, " cannot be read after an error on the device");
    } else if (ours) {
        say("host code dereferenced device address ", address, ": copy the data with cudaMemcpy");
    }
    /* Back to whoever was there before, and let the instruction fault again. */
    sigaction(signal_number, &previous, NULL);
}

/* Called once, when the device is known. Where address space is too tight for the reservation, faults still
 * come: nothing else is mapped there. */
void wb_reserve(uint64_t start, uint64_t bytes) {
    base = start;
    span = bytes;
    void *p =
        mmap((void *)start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && p != (void *)start) munmap(p, bytes);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, &previous);
}

/* ---- regions ---- */

static bool map_pages(uint64_t address, uint64_t bytes) {
    uint64_t start = address & ~(page - 1), end = (address + bytes + page - 1) & ~(page - 1);
    return !mprotect((void *)start, end - start, PROT_READ | PROT_WRITE);
}

int wb_managed_add(uint64_t address, uint64_t bytes) {
    int error;
    if (!wb_device(&error)) return error; /* reserves the addresses */
    struct region *r = malloc(sizeof *r);
    if (!r) return cudaErrorMemoryAllocation;
    error = to_host(); /* what is there already comes to the host, and the new one joins it */
    wb_lock();
    *r = (struct region){.next = regions, .address = address, .bytes = bytes};
    if (!error && !map_pages(address, bytes)) error = cudaErrorMemoryAllocation;
    if (!error) {
        regions = r;
        error = wb_read((void *)address, bytes, address, bytes, bytes, 1);
    }
    wb_unlock();
    return error;
}

bool wb_managed_remove(uint64_t address) {
    if (!regions) return false;
    wb_lock();
    if (with_host) wb_managed_to_device();
    struct region **at = &regions, *found;
    while (*at && (*at)->address != address) at = &(*at)->next;
    found = *at;
    if (found) *at = found->next;
    wb_unlock();
    free(found);
    return found;
}

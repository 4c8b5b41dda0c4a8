/* landlock.h — Landlock, the kernel's file, TCP and signal rules that a process applies to itself.
 * The code uses raw system calls: the C library has no wrappers, and headers of older systems lack
 * the newer rights. It allocates nothing, because it runs after clone. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Returns the kernel's Landlock version; 0 = none. */
int jail_landlock_abi(void);

enum landlock_grant {
    LANDLOCK_LIST,         /* read, list */
    LANDLOCK_READ_EXECUTE, /* read, list, execute */
    LANDLOCK_READ_WRITE,   /* read, write, create, remove; a program can't execute what it writes */
    LANDLOCK_DEVICE_NODE,  /* read and write */
    LANDLOCK_DRIVER        /* read and write a device, and call its driver with ioctl */
};

/* Returns a new ruleset, which forbids all that is not granted: files, TCP, and with Landlock 6
 * signals and abstract sockets to processes outside. Returns -1 on failure. */
int jail_landlock_create(void);
/* Grants access to `path` and everything beneath it. A path that does not exist is no error. */
bool jail_landlock_allow(int rules, const char *path, enum landlock_grant grant);
/* Applies the rules to this process and all that it starts later. Requires no_new_privs. Closes
 * `rules`. */
bool jail_landlock_restrict_self(int rules);

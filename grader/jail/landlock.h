/* landlock.h — Landlock, the kernel's file and signal rules that a process lays on itself. Raw
 * system calls: the C library has none, and the headers of older systems lack the newer rights.
 * Allocates nothing (runs after clone). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The kernel's version of Landlock; 0 = none. */
int jail_landlock_abi(void);

enum landlock_grant {
    LANDLOCK_LIST,         /* read, list */
    LANDLOCK_READ_EXECUTE, /* read, list, execute */
    LANDLOCK_READ_WRITE, /* read, write, create, remove; not execute: what a program writes it can't
                          * start
                          */
    LANDLOCK_DEVICE_NODE, /* read and write */
    LANDLOCK_DRIVER       /* a device whose driver is spoken to by ioctl, too */
};

/* A new set of rules, under which everything is forbidden that is not granted: files, TCP, and
 * where the kernel knows it, signals and abstract sockets across the border. -1 on failure. */
int jail_landlock_create(void);
/* Grants access to what lies at and beneath `path`. A path that does not exist is no error: nothing
 * is granted. */
bool jail_landlock_allow(int rules, const char *path, enum landlock_grant grant);
/* Lays the rules on this process and all that it will start. Needs no_new_privs. Closes `rules`. */
bool jail_landlock_restrict_self(int rules);

/* landlock.c — see landlock.h. The numbers are from Linux 6.18, include/uapi/linux/landlock.h; they
 * never change. supported_rights() leaves out rights that are newer than this kernel. */
#include "grader/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, VERSION = 1, PATH_BENEATH = 1 };

enum access_right {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,     /* version 2 */
    TRUNCATE = 1 << 14,  /* version 3 */
    IOCTL_DEV = 1 << 15, /* version 5 */
    ALL_ABI_1 = (1 << 13) - 1,
    FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
};

struct ruleset_attr {
    uint64_t handled_access_fs, handled_access_net, scoped;
};
struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

int jail_landlock_abi(void) {
    long abi = syscall(CREATE_RULESET, NULL, 0, VERSION);
    return abi > 0 ? (int)abi : 0;
}

/* Returns the rights of a Landlock version. Versions 1, 2 (moving between folders), 3 (truncating)
 * and 5 (device ioctls) added file rights, version 4 the two of TCP, version 6 abstract sockets and
 * signals. */
static struct ruleset_attr supported_rights(int abi) {
    struct ruleset_attr r = {.handled_access_fs = ALL_ABI_1};
    if (abi >= 2) r.handled_access_fs |= REFER;
    if (abi >= 3) r.handled_access_fs |= TRUNCATE;
    if (abi >= 5) r.handled_access_fs |= IOCTL_DEV;
    if (abi >= 4) r.handled_access_net = 3;
    if (abi >= 6) r.scoped = 3;
    return r;
}

int jail_landlock_create(void) {
    int abi = jail_landlock_abi();
    struct ruleset_attr r = supported_rights(abi);
    size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    return abi ? (int)syscall(CREATE_RULESET, &r, size, 0) : -1;
}

bool jail_landlock_allow(int rules, const char *path, enum landlock_grant grant) {
    static const uint64_t grants[] = {
        [LANDLOCK_LIST] = READ_FILE | READ_DIR,
        [LANDLOCK_READ_EXECUTE] = EXECUTE | READ_FILE | READ_DIR,
        [LANDLOCK_READ_WRITE] = WRITE_FILE | READ_FILE | READ_DIR | REMOVE_DIR | REMOVE_FILE |
                                MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER |
                                TRUNCATE,
        [LANDLOCK_DEVICE_NODE] = WRITE_FILE | READ_FILE | TRUNCATE,
        [LANDLOCK_DRIVER] = WRITE_FILE | READ_FILE | READ_DIR | TRUNCATE | IOCTL_DEV,
    };
    int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0) return errno == ENOENT || errno == EACCES;
    struct path_beneath_attr b = {
        grants[grant] & supported_rights(jail_landlock_abi()).handled_access_fs, fd};
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) b.allowed_access &= FILE_RIGHTS | IOCTL_DEV;
    bool ok = syscall(ADD_RULE, rules, PATH_BENEATH, &b, 0) == 0;
    close(fd);
    return ok;
}

bool jail_landlock_restrict_self(int rules) {
    bool ok = syscall(RESTRICT_SELF, rules, 0) == 0;
    close(rules);
    return ok;
}

/* jail_advice.c — see jail_advice.h. It reads the kernel's settings and names only those that
 * block the sandbox on this machine. */
#include "grader/jail/jail_advice.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* The settings of Debian's older kernels, of any kernel, and of Ubuntu since 23.10. If AppArmor
 * restricts user namespaces, one can be created, but nothing can be mounted in it. */
static const struct {
    const char *path;
    char blocking_value;
    const char *fix;
} settings[] = {
    {"kernel/unprivileged_userns_clone", '0', "kernel.unprivileged_userns_clone=1"},
    {"user/max_user_namespaces", '0', "user.max_user_namespaces=15000"},
    {"kernel/apparmor_restrict_unprivileged_userns", '1',
     "kernel.apparmor_restrict_unprivileged_userns=0"},
};

static const char *const container_markers[] = {"/.dockerenv", "/run/.containerenv",
                                                "/run/systemd/container"};

/* Returns the value of a setting of one character; 0 if it does not exist or is longer. */
static char read_setting(const char *root, const char *path) {
    char full_path[512], c[2] = {0};
    snprintf(full_path, sizeof full_path, "%s/proc/sys/%s", root, path);
    int fd = open(full_path, O_RDONLY | O_CLOEXEC);
    bool is_single_char = fd >= 0 && read(fd, c, 2) > 0 && (c[1] == '\n' || c[1] == 0);
    if (fd >= 0) close(fd);
    return is_single_char ? c[0] : 0;
}

static bool is_container(const char *root) {
    for (unsigned i = 0; i < sizeof container_markers / sizeof *container_markers; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", root, container_markers[i]);
        if (access(path, F_OK) == 0) return true;
    }
    return false;
}

static void advise_landlock(struct buf *out, int version) {
    if (version >= 6) return;
    if (version)
        buf_printf(out,
                   "  - use Linux 6.12 or newer, which has Landlock 6; this kernel has Landlock "
                   "%d\n",
                   version);
    else
        buf_printf(out, "  - use Linux 6.12 or newer, which has Landlock 6; if you set the boot "
                        "parameter lsm=, include landlock in it\n");
}

void jail_advice(struct buf *out, const char *root, int landlock) {
    bool found = false;
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (read_setting(root, settings[i].path) != settings[i].blocking_value) continue;
        buf_printf(out, "  - run sudo sysctl -w %s   (outside the container, if this is one)\n",
                   settings[i].fix);
        found = true;
    }
    if (is_container(root)) {
        buf_printf(out,
                   "  - start the container with --security-opt seccomp=unconfined --security-opt "
                   "apparmor=unconfined\n");
        found = true;
    }
    if (!found)
        buf_printf(out, "  - allow unprivileged user namespaces, which something here refuses (a "
                        "container's seccomp filter or a security module)\n");
    advise_landlock(out, landlock);
    buf_printf(out, "  - only for code that you trust, such as your own: pass --no-jail\n");
}

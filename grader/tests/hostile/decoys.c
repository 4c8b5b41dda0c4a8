/* decoys.c — plants decoys: a secret in a file, in the environment and behind a descriptor, and
 * watches the places where leftovers would show. The runner adopts orphans, so that a process
 * that outlives its submission becomes its child. */
#include "common/paths.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/tests/hostile/hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char token[40], folder[64], file[96], temporary[96];
static int queue = -1; /* a message queue of this user, which holds the token */

const char *decoy_token(void) { return token; }
const char *decoy_file(void) { return file; }
const char *decoy_folder(void) { return folder; }

void plant(void) {
    struct err e = {0};
    uint64_t bits[2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits) die("no random numbers");
    snprintf(token, sizeof token, "%016llx%016llx", (unsigned long long)bits[0],
             (unsigned long long)bits[1]);
    strcpy(folder, "/var/tmp/hostile-XXXXXX");
    if (!mkdtemp(folder)) die("%s: %s", folder, strerror(errno));
    chmod(folder, 0755);
    snprintf(file, sizeof file, "%s/secret.h", folder);
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    if (!file_write(file, token, strlen(token), &e) || mkdir(temporary, 0755) < 0)
        die("cannot plant: %s", e.text);
    setenv("TMPDIR", temporary, 1);
    setenv("WARPBOOK_PLANTED", token, 1);
    int fd = memfd_create("secret", 0), high = fcntl(fd, F_DUPFD, 40); /* both are inheritable */
    if (high < 0 || write(high, token, strlen(token)) < 0) die("memfd");
    struct {
        long type;
        char text[sizeof token];
    } m = {.type = 1};
    memcpy(m.text, token, sizeof token);
    queue = msgget(IPC_PRIVATE, 0600);
    if (queue >= 0 && msgsnd(queue, &m, sizeof m.text, IPC_NOWAIT) < 0)
        die("message queue: %s", strerror(errno));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The dead may still be on their way out. */
static bool report_live_processes(void) {
    for (unsigned i = 0; i < 300; i++) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0) return false;
        if (pid == 0) usleep(10000);
    }
    return true;
}

static void report_if_left(const char *path, struct buf *problems) {
    struct stat st;
    if (lstat(path, &st) == 0) buf_printf(problems, "%s was left behind; ", path);
}

void report_leftovers(struct buf *problems) {
    static const char *const folders[] = {"/tmp", "/dev/shm", "/var/tmp", "/run", "/home"};
    char path[PATH_MAX + 64];
    struct msqid_ds q;
    if (report_live_processes()) buf_puts(problems, "a process lives on; ");
    if (queue >= 0 && (msgctl(queue, IPC_STAT, &q) < 0 || !q.msg_qnum))
        buf_puts(problems, "a message queue was emptied; ");
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/wb-planted", folders[i]);
        report_if_left(path, problems);
    }
    report_if_left("/tmp/wb-planted.d", problems);
    snprintf(path, sizeof path, "%s/wb-planted", paths_program_dir()),
        report_if_left(path, problems);
    snprintf(path, sizeof path, "%s/wb-planted", book_root()), report_if_left(path, problems);
    snprintf(path, sizeof path, "%s/cache/wb-planted", paths_program_dir()),
        report_if_left(path, problems);
    snprintf(path, sizeof path, "%s/cache/obj/wb-planted", paths_program_dir()),
        report_if_left(path, problems);
    char **names = book_list_files(temporary, "", "");
    for (char **n = names; *n; n++)
        buf_printf(problems, "%s was left in the temporary folder; ", *n);
    book_free_list(names);
}

void remove_decoys(void) {
    if (queue >= 0) msgctl(queue, IPC_RMID, NULL);
    dir_remove(folder, &(struct err){0});
}

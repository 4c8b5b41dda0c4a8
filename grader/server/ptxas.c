/* ptxas.c — see ptxas.h. */
#include "grader/server/ptxas.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/hash.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs it with both of its outputs in a pipe. */
static bool run(const char *ptxas, unsigned arch, const char *path, struct buf *out, struct err *e) {
    char option[32], part[4096];
    int ends[2];
    snprintf(option, sizeof option, "-arch=sm_%u", arch);
    if (pipe(ends)) return err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1), dup2(ends[1], 2);
        close(ends[0]), close(ends[1]);
        execl(ptxas, ptxas, option, "-v", path, "-o", "/dev/null", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t k; pid > 0 && (k = read(ends[0], part, sizeof part)) > 0;) buf_add(out, part, (size_t)k);
    close(ends[0]);
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) return err_set(e, ERR_SYSTEM, "%s: %s", ptxas, strerror(errno));
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           err_set(e, ERR_SYSTEM, "%s failed: %.200s", ptxas, buf_str(out));
}

static bool run_on_text(const char *text, size_t n, unsigned arch, const char *ptxas, struct buf *out, struct err *e) {
    char path[] = "/tmp/warpbook-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return err_set(e, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    FILE *f = fdopen(fd, "w");
    bool ok = f && fwrite(text, 1, n, f) == n;
    if (f) ok = !fclose(f) && ok;
    ok = (ok || err_set(e, ERR_SYSTEM, "%s: %s", path, strerror(errno))) && run(ptxas, arch, path, out, e);
    unlink(path);
    return ok;
}

static void take(const struct sim_module *m, const char *text) {
    char name[512] = "";
    unsigned stack, stores, loads, registers, spilled = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "") {
        if (sscanf(line, "ptxas info : Function properties for %511s", name) == 1) spilled = 0;
        if (sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads", &stack, &stores,
                   &loads) == 3)
            spilled = stores + loads;
        if (sscanf(line, "ptxas info : Used %u registers", &registers) != 1) continue;
        const struct sim_kernel *k = sim_find_kernel(m, name);
        if (k) sim_set_registers(k, registers, spilled);
    }
}

bool ptxas_set_registers(const struct sim_module *m, const char *text, size_t n, unsigned arch, const char *ptxas,
                         const char *cache, struct err *e) {
    struct hash h;
    char key[HASH_HEX], path[PATH_MAX];
    struct buf out = {0};
    struct err ignored = {0};
    hash_start(&h);
    hash_add(&h, &arch, sizeof arch);
    hash_add(&h, text, n);
    hash_hex(&h, key);
    snprintf(path, sizeof path, "%s/ptxas-%s", cache ? cache : "", key);
    bool known = cache && file_read(path, 1 << 20, &out, &ignored),
         ok = known || run_on_text(text, n, arch, ptxas, &out, e);
    if (ok) take(m, buf_str(&out));
    if (ok && !known && cache && dir_make(cache, &ignored)) file_write(path, out.data, out.size, &ignored);
    buf_free(&out);
    return ok;
}

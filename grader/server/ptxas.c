/* ptxas.c — see ptxas.h. */
#include "grader/server/ptxas.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"

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

/* Ends at the largest value, not beyond. */
static uint32_t add_up(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

/* The text has a part for each kernel:
 *     ptxas info    : Compiling entry function 'NAME' for 'sm_90'
 *     ptxas info    : Function properties for NAME
 *         0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
 *     ptxas info    : Used 32 registers, used 1 barriers
 * and then, once more for each kernel, the properties of every function that it may call, through a register as well. */
static void read_line(const char *line, size_t n, struct ptxas_said *k) {
    static const char head[] = "ptxas info", entry[] = "Compiling entry function '";
    char start[256];
    unsigned stack, stores, loads;
    snprintf(start, sizeof start, "%.*s", (int)(n < sizeof start ? n : sizeof start - 1), line);
    bool info = text_starts(start, head);
    const char *name = info ? strstr(start, entry) : NULL, *used = info ? strstr(start, ": Used ") : NULL;
    if (name) {
        name = line + (name - start) + sizeof entry - 1;
        *k = (struct ptxas_said){.name = name, .length = strcspn(name, "'\n")};
    } else if (used) sscanf(used, ": Used %u registers", &k->registers);
    else if (sscanf(start, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads", &stack, &stores,
                    &loads) == 3)
        k->spill_bytes = add_up(k->spill_bytes, add_up(stores, loads));
}

void ptxas_read(const char *text, void (*each)(void *user, const struct ptxas_said *k), void *user) {
    struct ptxas_said k = {0};
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        struct ptxas_said before = k;
        n = strcspn(text, "\n");
        read_line(text, n, &k);
        if (k.name != before.name && before.length && before.registers) each(user, &before);
    }
    if (k.length && k.registers) each(user, &k);
}

static void take(void *module, const struct ptxas_said *said) {
    char *name = xmalloc(said->length + 1);
    memcpy(name, said->name, said->length);
    name[said->length] = 0;
    const struct sim_kernel *k = sim_find_kernel(module, name);
    if (k) sim_set_registers(k, said->registers, said->spill_bytes);
    free(name);
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
    if (ok) ptxas_read(buf_str(&out), take, (void *)m);
    if (ok && !known && cache && dir_make(cache, &ignored)) file_write(path, out.data, out.size, &ignored);
    buf_free(&out);
    return ok;
}

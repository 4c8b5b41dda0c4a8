/* ptxas.c — runs ptxas and parses its output; see ptxas.h. The output contains names chosen by the
 * program. The parser is safe from them: it recognizes lines by fixed prefixes, and no PTX
 * identifier holds a space or a newline. */
#include "grader/server/ptxas.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct ptxas_run {
    pid_t pid; /* 0: `out` is from the cache, or `why` has the error */
    int input_fd, output_fd;
    struct buf output;
    char cache_path[PATH_MAX]; /* in the cache; empty: not kept */
    struct err error;
};

/* ---- what it says ---- */

/* Saturates at the largest value. */
static uint32_t saturating_add(uint32_t a, uint32_t b) {
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void parse_usage(const char *line, struct ptxas_usage *out) {
    unsigned stack, stores, loads;
    const char *used = strstr(line, ": Used ");
    if (text_starts_with(line, "ptxas info")) {
        if (used) sscanf(used, ": Used %u registers", &out->registers);
    } else if (sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                      &stack, &stores, &loads) == 3)
        out->spill_bytes = saturating_add(out->spill_bytes, saturating_add(stores, loads));
}

/* The text has a part for each kernel:
 *     ptxas info    : Compiling entry function 'NAME' for 'sm_90'
 *     ptxas info    : Function properties for NAME
 *         0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
 *     ptxas info    : Used 32 registers, used 1 barriers
 * and then, once more for each kernel, the properties of every function that it may call, through a
 * register as well. */
const char *ptxas_parse_next(const char *text, struct ptxas_usage *out) {
    static const char head[] = "ptxas info", entry[] = "Compiling entry function '";
    char line[256];
    *out = (struct ptxas_usage){0};
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), text);
        const char *at = text_starts_with(line, head) ? strstr(line, entry) : NULL;
        if (at && out->length && out->registers) return text;
        if (at) {
            const char *name = text + (at - line) + sizeof entry - 1;
            *out = (struct ptxas_usage){.name = name, .length = strcspn(name, "'\n")};
        } else parse_usage(line, out);
    }
    return out->length && out->registers ? text : NULL;
}

static void apply_usage(const struct sim_module *m, const char *text) {
    struct ptxas_usage f;
    while ((text = ptxas_parse_next(text, &f))) {
        char *name = xmalloc(f.length + 1);
        memcpy(name, f.name, f.length);
        name[f.length] = 0;
        const struct sim_kernel *k = sim_find_kernel(m, name);
        if (k) sim_set_registers(k, f.registers, f.spill_bytes);
        free(name);
    }
}

/* ---- running it ---- */

/* The number in ".target sm_90a", 0 if there is none, and the letter after it, if there is one. */
static unsigned target_of(const char *text, size_t n, char suffix[2]) {
    static const char word[] = ".target sm_";
    const char *at = memmem(text, n, word, sizeof word - 1);
    unsigned sm = 0;
    for (at = at ? at + sizeof word - 1 : text + n;
         at < text + n && *at >= '0' && *at <= '9' && sm < 1000; at++)
        sm = sm * 10 + (unsigned)(*at - '0');
    suffix[0] = at < text + n && (*at == 'a' || *at == 'f') ? *at : 0, suffix[1] = 0;
    return sm;
}

static int make_memory_file(const void *data, size_t n) {
    int fd = memfd_create("ptxas", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < n;) {
        ssize_t k = write(fd, (const char *)data + at, n - at);
        if (k <= 0) return close(fd), -1;
        at += (size_t)k;
    }
    return fd;
}

/* Input and output are memory files, so that ptxas never blocks on us and leaves no files. */
static void spawn_ptxas(struct ptxas_run *r, const char *ptxas, unsigned arch, const char *suffix,
                        bool is_relocatable) {
    char option[32], input[32];
    snprintf(option, sizeof option, "-arch=sm_%u%s", arch, suffix);
    snprintf(input, sizeof input, "/proc/self/fd/%d", r->input_fd);
    r->pid = fork();
    if (r->pid == 0) {
        dup2(r->output_fd, 1), dup2(r->output_fd, 2);
        fcntl(r->input_fd, F_SETFD, 0);
        execl(ptxas, ptxas, option, "-v", input, "-o", "/dev/null",
              is_relocatable ? "-c" : (char *)NULL, (char *)NULL);
        _exit(127);
    }
    if (r->pid < 0) r->pid = 0, err_set(&r->error, ERR_SYSTEM, "fork: %s", strerror(errno));
}

static void cache_key(const char *text, size_t n, unsigned arch, bool is_relocatable,
                      char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update(&h, &arch, sizeof arch);
    if (is_relocatable) hash_update_string(&h, "-c");
    hash_update(&h, text, n);
    hash_final_hex(&h, key);
}

struct ptxas_run *ptxas_begin(const char *text, size_t n, unsigned arch, bool is_relocatable,
                              const char *ptxas, const char *cache) {
    struct ptxas_run *r = xcalloc(1, sizeof *r);
    struct err ignored = {0};
    char key[HASH_HEX_SIZE], suffix[2];
    unsigned target = target_of(text, n, suffix);
    if (target > arch) arch = target;
    if (target != arch)
        suffix[0] = 0; /* code for sm_90a runs only there: ptxas rejects it for other targets */
    cache_key(text, n, arch, is_relocatable, key);
    if (cache && dir_create(cache, &ignored))
        snprintf(r->cache_path, sizeof r->cache_path, "%s/ptxas-%s", cache, key);
    r->input_fd = r->output_fd = -1;
    if (r->cache_path[0] && file_read(r->cache_path, 1 << 20, &r->output, &ignored)) return r;
    buf_clear(&r->output);
    r->input_fd = make_memory_file(text, n), r->output_fd = make_memory_file("", 0);
    if (r->input_fd < 0 || r->output_fd < 0)
        err_set(&r->error, ERR_SYSTEM, "cannot create a memory file: %s", strerror(errno));
    else spawn_ptxas(r, ptxas, arch, suffix, is_relocatable);
    return r;
}

static void read_output(struct ptxas_run *r) {
    char chunk[4096];
    lseek(r->output_fd, 0, SEEK_SET);
    for (ssize_t k; (k = read(r->output_fd, chunk, sizeof chunk)) > 0;)
        buf_add(&r->output, chunk, (size_t)k);
}

static bool wait_for_ptxas(struct ptxas_run *r, struct err *e) {
    int status = -1;
    struct err ignored = {0};
    if (r->error.kind) return *e = r->error, false;
    if (!r->pid) return true;
    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR) {}
    read_output(r);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(e, ERR_SYSTEM, "ptxas failed: %.200s", buf_str(&r->output));
    if (r->cache_path[0]) file_write(r->cache_path, r->output.data, r->output.size, &ignored);
    return true;
}

bool ptxas_end(struct ptxas_run *r, const struct sim_module *m, struct err *e) {
    bool ok = wait_for_ptxas(r, e);
    if (ok && m) apply_usage(m, buf_str(&r->output));
    if (r->input_fd >= 0) close(r->input_fd);
    if (r->output_fd >= 0) close(r->output_fd);
    buf_free(&r->output);
    free(r);
    return ok;
}

bool ptxas_set_registers(const struct sim_module *m, const char *text, size_t n, unsigned arch,
                         const char *ptxas, const char *cache, struct err *e) {
    return ptxas_end(ptxas_begin(text, n, arch, false, ptxas, cache), m, e);
}

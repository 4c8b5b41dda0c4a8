/* host.c — build/libexec/hostproc OBJECT: the untrusted process in which a student's host code
 * runs.
 *
 * It inherits the descriptors that WARPBOOK_SOCKET and WARPBOOK_WINDOW name, loads the shared
 * object (constructors run, device code goes to the server), then requests calls from the
 * server, makes them and reports the results until the server disconnects. It exports client.c, so
 * that the object's runtime shares its connection. */
#include "grader/runtime/client.h"
#include "grader/runtime/host_position.h"

#include <dlfcn.h>
#include <elf.h>
#include <ffi.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names of an object's functions ---- */

struct symbols {
    const ElfW(Sym) * table;
    const char *names;
    const uint32_t *hash; /* DT_GNU_HASH */
};

static bool find_symbols(void *object, struct symbols *s) {
    struct link_map *map;
    if (dlinfo(object, RTLD_DI_LINKMAP, &map)) return false;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *p = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_SYMTAB) s->table = p;
        if (d->d_tag == DT_STRTAB) s->names = p;
        if (d->d_tag == DT_GNU_HASH) s->hash = p;
    }
    return s->table && s->names && s->hash;
}

/* The table's length isn't stored; the last hash chain ends at the table's end. */
static uint32_t count_symbols(const uint32_t *hash) {
    uint32_t nbuckets = hash[0], first = hash[1], bloom = hash[2], last = 0;
    const uint32_t *buckets = hash + 4 + bloom * 2, *chains = buckets + nbuckets;
    for (uint32_t i = 0; i < nbuckets; i++)
        if (buckets[i] > last) last = buckets[i];
    if (last < first) return 0;
    while (!(chains[last - first] & 1)) last++;
    return last + 1;
}

static bool is_runtime(const char *name) {
    static const char *const prefixes[] = {"cuda", "__cuda", "wb_", "_init", "_fini", "__"};
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
    return false;
}

static void describe_exports(void *object, const char *entry, char *out, size_t size) {
    struct symbols s = {0};
    size_t n = (size_t)snprintf(out, size, "the object exports no function `%s`", entry);
    if (!find_symbols(object, &s)) return;
    char mangled_name[256] = "";
    unsigned nlisted = 0;
    for (uint32_t i = 0, count = count_symbols(s.hash); i < count && nlisted < 12; i++) {
        const char *name = s.names + s.table[i].st_name;
        if (ELF64_ST_TYPE(s.table[i].st_info) != STT_FUNC || !s.table[i].st_shndx ||
            is_runtime(name))
            continue;
        if (!strncmp(name, "_Z", 2) && strstr(name, entry))
            snprintf(mangled_name, sizeof mangled_name, "%s", name);
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%.80s", nlisted ? ", " : "; it exports ",
                                  name);
        nlisted++;
    }
    if (*mangled_name && n < size)
        snprintf(out + n, size - n,
                 "\n`%.80s` is a C++ function: put extern \"C\" before its definition",
                 mangled_name);
}

/* ---- calls ---- */

static ffi_type *const types[WB_TYPE_COUNT] = {
#define X(id, ctype, ffi) [id] = &ffi,
    WB_ARGS(X)
#undef X
};

static void call_entry(void (*function)(void), struct wb_arg *args, uint32_t n) {
    ffi_type *arg_types[WB_MAX_ARGS];
    void *values[WB_MAX_ARGS];
    ffi_cif cif;
    for (uint32_t i = 0; i < n; i++) {
        if (args[i].type >= WB_TYPE_COUNT) abort();
        arg_types[i] = types[args[i].type];
        values[i] = &args[i].value;
    }
    if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, n, &ffi_type_void, arg_types) != FFI_OK) abort();
    ffi_call(&cif, function, NULL, values);
}

struct entry_call {
    uint32_t nargs;
    struct wb_arg args[WB_MAX_ARGS];
    char entry[256];
};

/* Buffers in host memory: the program copies from and to them, and must not access them. */
static void set_host_buffers(const struct entry_call *call, bool enabled) {
    for (uint32_t i = 0; i < call->nargs; i++)
        if (call->args[i].host_bytes)
            wb_set_host_buffer(call->args[i].value, enabled ? call->args[i].host_bytes : 0);
}

/* Reports the result, then waits for the next call. Returns false if there is none. */
static bool next_call(enum wb_call_state state, const char *text, struct entry_call *call) {
    char tail[sizeof call->args + sizeof call->entry];
    struct wb_req_next_call q = {.state = state};
    struct wb_rep_next_call p;
    struct wb_call c = {.op = WB_OP_next_call,
                        .request = &q,
                        .request_size = sizeof q,
                        .tail = text,
                        .tail_size = strlen(text),
                        .reply = &p,
                        .reply_size = sizeof p,
                        .out = tail,
                        .out_capacity = sizeof tail};
    fflush(NULL);
    if (wb_exchange(&c) || p.nargs > WB_MAX_ARGS) return false;
    size_t nargs = p.nargs * sizeof *call->args;
    if (c.out_size < nargs || c.out_size - nargs >= sizeof call->entry) return false;
    call->nargs = p.nargs;
    memcpy(call->args, tail, nargs);
    memcpy(call->entry, tail + nargs, c.out_size - nargs);
    call->entry[c.out_size - nargs] = 0;
    return true;
}

static void serve(void *object) {
    static char text[2048];
    struct entry_call call;
    enum wb_call_state state = WB_READY;
    while (next_call(state, text, &call)) {
        text[0] = 0;
        void *entry = dlsym(object, call.entry);
        state = entry ? WB_RETURNED : WB_NO_ENTRY;
        wb_exchange_device(0);
        set_host_buffers(&call, true);
        wb_set_position_alarm(HOST_POSITION_ALARM_MS);
        if (entry) call_entry((void (*)(void))entry, call.args, call.nargs);
        wb_set_position_alarm(0);
        set_host_buffers(&call, false);
        if (!entry) describe_exports(object, call.entry, text, sizeof text);
    }
}

int main(int argc, char **argv) {
    int error;
    if (argc != 2) return fprintf(stderr, "usage: hostproc OBJECT\n"), 2;
    if (!wb_session(&error)) return 2;
    wb_watch_host_position();
    void *object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    struct entry_call call;
    if (object) serve(object);
    else next_call(WB_NO_OBJECT, dlerror(), &call);
    fflush(NULL);
    _exit(0); /* skips the object's destructors */
}

/* source_line.c — finds the line of the program's source that called the runtime, for messages
 * about calls that failed. The call stack is walked outwards, and each frame's address looked up in
 * the line table that nvcc's host compiler wrote (LINE_TABLE_FLAGS) into the program or
 * the student's object. The first frame with a line of the program's own counts: the runtime has no
 * line table, and neither the system's headers nor nvcc's generated code count (line_table.h). With
 * -O2, calls that CUDA's templates make inside a function of the program have no line. */
#include "grader/runtime/line_table.h"
#include "grader/runtime/runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

enum { MAX_LOOKUPS = 256, MAX_FRAMES = 64 };

/* ---- the file ---- */

struct mapped_object {
    const uint8_t *bytes;
    size_t size;
};

static struct mapped_object map_object(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return (struct mapped_object){0};
    void *p = fstat(fd, &st) || st.st_size < (off_t)sizeof(ElfW(Ehdr))
                  ? MAP_FAILED
                  : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return p == MAP_FAILED ? (struct mapped_object){0}
                           : (struct mapped_object){p, (size_t)st.st_size};
}

static bool holds(const struct mapped_object *o, uint64_t offset, uint64_t bytes) {
    return offset <= o->size && bytes <= o->size - offset;
}

/* Returns an empty section if it lies outside of the file or is compressed. */
static struct line_section section_of(const struct mapped_object *o, const ElfW(Shdr) * h) {
    bool usable = h->sh_type == SHT_PROGBITS && !(h->sh_flags & SHF_COMPRESSED) &&
                  holds(o, h->sh_offset, h->sh_size);
    return usable ? (struct line_section){o->bytes + h->sh_offset, h->sh_size}
                  : (struct line_section){0};
}

static bool has_name(const struct mapped_object *o, const ElfW(Shdr) * names, uint32_t at,
                     const char *name) {
    size_t n = strlen(name) + 1;
    return at <= names->sh_size && n <= names->sh_size - at &&
           holds(o, names->sh_offset, names->sh_size) &&
           !memcmp(o->bytes + names->sh_offset + at, name, n);
}

static void find_sections(const struct mapped_object *o, struct line_sections *out) {
    ElfW(Ehdr) e;
    ElfW(Shdr) names, h;
    memcpy(&e, o->bytes, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_shentsize != sizeof h ||
        e.e_shstrndx >= e.e_shnum || !holds(o, e.e_shoff, (uint64_t)e.e_shnum * sizeof h))
        return;
    memcpy(&names, o->bytes + e.e_shoff + e.e_shstrndx * sizeof h, sizeof names);
    for (unsigned i = 0; i < e.e_shnum; i++) {
        memcpy(&h, o->bytes + e.e_shoff + i * sizeof h, sizeof h);
        if (has_name(o, &names, h.sh_name, ".debug_line")) out->line = section_of(o, &h);
        if (has_name(o, &names, h.sh_name, ".debug_line_str"))
            out->line_strings = section_of(o, &h);
        if (has_name(o, &names, h.sh_name, ".debug_str")) out->strings = section_of(o, &h);
    }
}

/* ---- frames ---- */

/* An address's object: its name, and the difference between its load address and the file's
 * addresses. */
static const char *object_at(uint64_t address, uint64_t *loaded_at) {
    Dl_info info;
    struct link_map *map;
    if (!dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return NULL;
    *loaded_at = map->l_addr;
    return map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
}

static bool find_line(uint64_t address, uint64_t function, struct line_position *out) {
    uint64_t loaded_at;
    const char *path = object_at(address, &loaded_at);
    struct mapped_object o = path ? map_object(path) : (struct mapped_object){0};
    struct line_sections sections = {0};
    out->is_inlined = false;
    if (!o.bytes) return false;
    find_sections(&o, &sections);
    bool found = wb_line_table_find(&sections, function - loaded_at, address - loaded_at, out);
    munmap((void *)o.bytes, o.size);
    return found;
}

struct walk {
    struct line_position *out;
    unsigned frames;
    bool found;
};

/* The address is that of the next instruction, and the call ends before it, unless a signal
 * interrupted the frame. */
static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *user) {
    struct walk *w = user;
    int is_interrupted = 0;
    uint64_t address = (uint64_t)_Unwind_GetIPInfo(context, &is_interrupted);
    if (!is_interrupted) address--;
    w->found = find_line(address, (uint64_t)_Unwind_GetRegionStart(context), w->out);
    return w->found || w->out->is_inlined || ++w->frames == MAX_FRAMES ? _URC_END_OF_STACK
                                                                       : _URC_NO_REASON;
}

/* A program may make a failing call a million times. */
static bool may_look_up(void) {
    static unsigned lookups;
    return lookups < MAX_LOOKUPS && lookups++ < MAX_LOOKUPS;
}

bool wb_find_source_line(const void *call_site, struct line_position *out) {
    struct walk w = {.out = out};
    wb_lock();
    if (!may_look_up()) w.found = false;
    else if (call_site)
        w.found = find_line((uint64_t)call_site - 1,
                            (uint64_t)_Unwind_FindEnclosingFunction((void *)call_site), out);
    else _Unwind_Backtrace(visit_frame, &w);
    wb_unlock();
    return w.found;
}

bool wb_find_interrupted_line(struct line_position *out) {
    struct walk w = {.out = out};
    _Unwind_Backtrace(visit_frame, &w);
    return w.found;
}

/* ---- lines of commands ---- */

enum { MAX_CALL_SITES = 64 };
static struct {
    uint64_t address;
    unsigned line;
} call_sites[MAX_CALL_SITES];
static unsigned ncall_sites;

/* Returns the line of a frame's address, 0 if it has none. Once the table is full, other addresses
 * have none. */
static unsigned call_site_line(uint64_t address, uint64_t function) {
    struct line_position at;
    unsigned i = 0;
    while (i < ncall_sites && call_sites[i].address != address) i++;
    if (i == MAX_CALL_SITES) return 0;
    if (i == ncall_sites) {
        bool found = find_line(address - 1, function, &at);
        call_sites[i].address = address, call_sites[i].line = found ? at.line : 0;
        ncall_sites++;
    }
    return call_sites[i].line;
}

static _Unwind_Reason_Code visit_call_site(struct _Unwind_Context *context, void *user) {
    unsigned *line = user;
    *line =
        call_site_line((uint64_t)_Unwind_GetIP(context), (uint64_t)_Unwind_GetRegionStart(context));
    return *line ? _URC_END_OF_STACK : _URC_NO_REASON;
}

unsigned wb_call_line(void) {
    unsigned line = 0;
    wb_lock();
    _Unwind_Backtrace(visit_call_site, &line);
    wb_unlock();
    return line;
}

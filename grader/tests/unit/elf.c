/* elf.c — implements elf.h. It reads only our own files and the system's C library, which are
 * trusted. */
#include "grader/tests/unit/elf.h"
#include "common/buf.h"
#include "common/file.h"

#include <elf.h>
#include <string.h>

struct elf {
    struct buf file;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;
};

static bool elf_open(struct elf *f, const char *path) {
    struct err e = {0};
    *f = (struct elf){0};
    if (!file_read(path, 1u << 30, &f->file, &e) || f->file.size < sizeof *f->head)
        return buf_free(&f->file), false;
    f->head = (const Elf64_Ehdr *)f->file.data;
    bool ok =
        !memcmp(f->head->e_ident, ELFMAG, SELFMAG) && f->head->e_ident[EI_CLASS] == ELFCLASS64;
    if (!ok) return buf_free(&f->file), false;
    f->sections = (const Elf64_Shdr *)(f->file.data + f->head->e_shoff);
    return true;
}

static void visit_table(const struct elf *f, const Elf64_Shdr *table,
                        void (*visit)(const char *name, bool function, void *user), void *user) {
    const Elf64_Sym *s = (const Elf64_Sym *)(f->file.data + table->sh_offset);
    const char *names = f->file.data + f->sections[table->sh_link].sh_offset;
    for (size_t i = 0; i < table->sh_size / sizeof *s; i++) {
        unsigned kind = ELF64_ST_TYPE(s[i].st_info);
        bool outside =
            ELF64_ST_BIND(s[i].st_info) == STB_GLOBAL || ELF64_ST_BIND(s[i].st_info) == STB_WEAK;
        if (!outside || s[i].st_shndx == SHN_UNDEF ||
            (kind != STT_FUNC && kind != STT_OBJECT && kind != STT_GNU_IFUNC))
            continue;
        visit(names + s[i].st_name, kind != STT_OBJECT, user);
    }
}

bool elf_names(const char *path, enum elf_table table,
               void (*visit)(const char *name, bool function, void *user), void *user) {
    struct elf f;
    if (!elf_open(&f, path)) return false;
    for (unsigned i = 0; i < f.head->e_shnum; i++)
        if (f.sections[i].sh_type == (table == ELF_OBJECT ? SHT_SYMTAB : SHT_DYNSYM))
            visit_table(&f, &f.sections[i], visit, user);
    buf_free(&f.file);
    return true;
}

const char *elf_missing_hardening(const char *path) {
    struct elf f;
    bool relro = false, now = false;
    if (!elf_open(&f, path)) return "no ELF file";
    bool is_pie = f.head->e_type == ET_DYN;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(f.file.data + f.head->e_phoff);
    for (unsigned i = 0; i < f.head->e_phnum; i++) {
        relro |= p[i].p_type == PT_GNU_RELRO;
        if (p[i].p_type != PT_DYNAMIC) continue;
        const Elf64_Dyn *d = (const Elf64_Dyn *)(f.file.data + p[i].p_offset);
        for (; d->d_tag != DT_NULL; d++)
            now |= d->d_tag == DT_FLAGS_1 && (d->d_un.d_val & DF_1_NOW);
    }
    buf_free(&f.file);
    return !is_pie  ? "not position-independent"
           : !relro ? "relocations stay writable"
           : !now   ? "bound lazily"
                    : NULL;
}

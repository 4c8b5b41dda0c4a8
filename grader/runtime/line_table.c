/* line_table.c — see line_table.h. A line table is a list of units, each with folders, files and a
 * program for a machine whose registers are a row: address, file, line. The program appends rows in
 * ascending order of the address; a row holds up to the address of the next. */
#include "grader/runtime/line_table.h"

#include <stdio.h>
#include <string.h>

/* ---- bounded reading: past the end everything is 0, and `failed` is set ---- */

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

static const uint8_t *take(struct reader *r, uint64_t n) {
    static const uint8_t zeros[8];
    if (n > (uint64_t)(r->end - r->at)) {
        r->failed = true, r->at = r->end;
        return zeros;
    }
    const uint8_t *p = r->at;
    r->at += n;
    return p;
}

/* Both processors that we support are little-endian. */
static uint64_t take_number(struct reader *r, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, take(r, bytes), bytes);
    return value;
}

static uint64_t take_uleb(struct reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; !r->failed; shift += 7) {
        uint8_t byte = (uint8_t)take_number(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t take_sleb(struct reader *r) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (uint8_t byte = 0x80; byte & 0x80 && !r->failed; shift += 7) {
        byte = (uint8_t)take_number(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80) && byte & 0x40 && shift + 7 < 64) value |= ~0ull << (shift + 7);
    }
    return (int64_t)value;
}

static const char *take_text(struct reader *r) {
    const uint8_t *zero = memchr(r->at, 0, (size_t)(r->end - r->at));
    if (!zero) return r->failed = true, r->at = r->end, "";
    return (const char *)take(r, (uint64_t)(zero - r->at) + 1);
}

static struct reader reader_of(struct line_section s) {
    return (struct reader){.at = s.data, .end = s.data + s.size};
}

/* ---- folders and files ---- */

enum { MAX_FILES = 4096 /* of a unit; later ones have no name */ };
enum { FORM_BLOCK = 9, FORM_DATA1 = 11, FORM_DATA2 = 5, FORM_DATA4 = 6, FORM_DATA8 = 7 };
enum { FORM_DATA16 = 30, FORM_STRING = 8, FORM_STRP = 14, FORM_LINE_STRP = 31, FORM_UDATA = 15 };
enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2 };

struct file_name {
    const char *name;
    uint32_t folder;
};

struct unit {
    const struct line_sections *sections;
    unsigned version, offset_bytes, address_bytes;
    uint8_t min_insn_bytes, line_range, opcode_base;
    int8_t line_base;
    const uint8_t *opcode_operands; /* of opcode 1, 2, … */
    struct file_name folders[MAX_FILES], files[MAX_FILES];
    uint64_t nfolders, nfiles;
};

static const char *text_at(struct line_section s, uint64_t offset) {
    struct reader r = reader_of(s);
    take(&r, offset);
    return r.failed ? "" : take_text(&r);
}

/* Reads a text or a number. Returns false for any other form. */
static bool take_form(struct reader *r, const struct unit *u, uint64_t form, const char **text,
                      uint64_t *number) {
    switch (form) {
    case FORM_STRING: return *text = take_text(r), true;
    case FORM_LINE_STRP:
        return *text = text_at(u->sections->line_strings, take_number(r, u->offset_bytes)), true;
    case FORM_STRP:
        return *text = text_at(u->sections->strings, take_number(r, u->offset_bytes)), true;
    case FORM_UDATA: return *number = take_uleb(r), true;
    case FORM_DATA1: return *number = take_number(r, 1), true;
    case FORM_DATA2: return *number = take_number(r, 2), true;
    case FORM_DATA4: return *number = take_number(r, 4), true;
    case FORM_DATA8: return *number = take_number(r, 8), true;
    case FORM_DATA16: return take(r, 16), true;
    case FORM_BLOCK: return take(r, take_uleb(r)), true;
    }
    return false;
}

/* A list of DWARF 5: its format, a content and a form for each field; then the entries. */
static bool read_entries(struct reader *r, const struct unit *u, struct file_name *out,
                         uint64_t *count) {
    uint64_t content[8], form[8];
    unsigned nfields = (unsigned)take_number(r, 1);
    if (nfields > 8) return false;
    for (unsigned i = 0; i < nfields; i++) content[i] = take_uleb(r), form[i] = take_uleb(r);
    *count = take_uleb(r);
    for (uint64_t k = 0; k < *count && !r->failed; k++) {
        struct file_name entry = {"", 0};
        for (unsigned i = 0; i < nfields; i++) {
            uint64_t number = 0;
            const char *text = "";
            if (!take_form(r, u, form[i], &text, &number)) return false;
            if (content[i] == CONTENT_PATH) entry.name = text;
            if (content[i] == CONTENT_FOLDER) entry.folder = (uint32_t)number;
        }
        if (k < MAX_FILES) out[k] = entry;
    }
    return !r->failed;
}

/* The lists before DWARF 5 end with an empty name and begin with number 1; 0 is the compiler's
 * folder. */
static void add_old_file(struct unit *u, const char *name, struct reader *r) {
    uint64_t folder = take_uleb(r);
    take_uleb(r), take_uleb(r); /* time, size */
    if (u->nfiles < MAX_FILES) u->files[u->nfiles] = (struct file_name){name, (uint32_t)folder};
    u->nfiles++;
}

static bool read_old_lists(struct reader *r, struct unit *u) {
    const char *name;
    u->folders[0] = u->files[0] = (struct file_name){"", 0};
    u->nfolders = u->nfiles = 1;
    while (*(name = take_text(r)) && !r->failed) {
        if (u->nfolders < MAX_FILES) u->folders[u->nfolders] = (struct file_name){name, 0};
        u->nfolders++;
    }
    while (*(name = take_text(r)) && !r->failed) add_old_file(u, name, r);
    return !r->failed;
}

/* Reads a unit's header; `*program` becomes the rest of the unit, `*r` what follows it. */
static bool read_header(struct reader *r, struct unit *u, struct reader *program) {
    uint64_t bytes = take_number(r, 4);
    u->offset_bytes = bytes == 0xffffffff ? 8 : 4;
    if (u->offset_bytes == 8) bytes = take_number(r, 8);
    const uint8_t *start = take(r, bytes);
    if (r->failed) return false;
    struct reader h = {.at = start, .end = start + bytes};
    u->version = (unsigned)take_number(&h, 2);
    u->address_bytes = 8;
    if (u->version >= 5) u->address_bytes = (unsigned)take_number(&h, 1), take(&h, 1);
    uint64_t header_bytes = take_number(&h, u->offset_bytes);
    if (u->version < 2 || u->version > 5 || header_bytes > (uint64_t)(h.end - h.at)) return false;
    *program = (struct reader){.at = h.at + header_bytes, .end = h.end};
    u->min_insn_bytes = (uint8_t)take_number(&h, 1);
    if (u->version >= 4) take(&h, 1); /* operations of an instruction */
    take(&h, 1);                      /* whether rows begin statements */
    u->line_base = (int8_t)take_number(&h, 1);
    u->line_range = (uint8_t)take_number(&h, 1);
    u->opcode_base = (uint8_t)take_number(&h, 1);
    if (!u->line_range || !u->opcode_base) return false;
    u->opcode_operands = take(&h, u->opcode_base - 1u);
    if (h.failed) return false;
    if (u->version < 5) return read_old_lists(&h, u);
    return read_entries(&h, u, u->folders, &u->nfolders) &&
           read_entries(&h, u, u->files, &u->nfiles);
}

/* ---- the program's own files ---- */

static const char *folder_of(const struct unit *u, const struct file_name *f) {
    bool known = f->folder < u->nfolders && f->folder < MAX_FILES;
    return f->folder && known ? u->folders[f->folder].name : ""; /* 0: the compiler's own */
}

static bool starts_with(const char *text, const char *prefix) {
    return !strncmp(text, prefix, strlen(prefix));
}

/* Returns true for files of the system or of CUDA, and for those that nvcc generates. */
static bool is_foreign(const char *folder, const char *name) {
    size_t n = strlen(folder);
    if (!*name || *name == '<' || strstr(name, ".cudafe1.") || strstr(name, ".fatbin.c"))
        return true;
    if (*name == '/') folder = name, n = 0;
    if (*folder != '/') return false;
    return starts_with(folder, "/usr/include/") || starts_with(folder, "/usr/lib/") ||
           strstr(folder, "/include/") || (n >= 8 && !strcmp(folder + n - 8, "/include"));
}

static bool set_position(const struct unit *u, uint64_t file, uint64_t line,
                         struct line_position *out) {
    if (file >= u->nfiles || file >= MAX_FILES || !line) return false;
    const struct file_name *f = &u->files[file];
    const char *folder = folder_of(u, f);
    if (is_foreign(folder, f->name)) return false;
    bool has_folder = *folder && *f->name != '/';
    snprintf(out->file, sizeof out->file, "%s%s%s", has_folder ? folder : "", has_folder ? "/" : "",
             f->name);
    out->line = (unsigned)line;
    return true;
}

/* ---- the program ---- */

struct row {
    uint64_t address, file, line;
};

struct search {
    const struct unit *u;
    uint64_t function, address;
    struct row current, previous; /* previous: the last row of this sequence; line 0 = none */
    bool has_own_rows;            /* The function has lines of the program, up to here. */
    struct line_position *out;
    bool found, is_finished;
};

/* A row holds up to the next one, which is what decides that the address lies in it. */
static void finish_row(struct search *s, bool ends_sequence) {
    struct row p = s->previous;
    if (p.line && p.address <= s->address && p.address >= s->function) {
        bool is_own = set_position(s->u, p.file, p.line, s->out);
        s->has_own_rows |= is_own;
        s->is_finished = s->current.address > s->address;
        s->found = s->is_finished && is_own;
        s->out->is_inlined = s->is_finished && !is_own && s->has_own_rows;
    }
    s->previous = ends_sequence ? (struct row){0} : s->current;
    if (ends_sequence) s->has_own_rows = false, s->current = (struct row){0, 1, 1};
}

enum { OP_COPY = 1, OP_ADVANCE_PC, OP_ADVANCE_LINE, OP_SET_FILE, OP_CONST_ADD_PC = 8 };
enum { OP_FIXED_ADVANCE_PC = 9, EXTENDED_END = 1, EXTENDED_SET_ADDRESS = 2 };

static void run_extended(struct search *s, struct reader *r) {
    uint64_t bytes = take_uleb(r);
    struct reader operand = {.at = take(r, bytes), .failed = r->failed};
    operand.end = r->failed ? operand.at : operand.at + bytes;
    unsigned op = (unsigned)take_number(&operand, 1);
    if (op == EXTENDED_END) finish_row(s, true);
    if (op == EXTENDED_SET_ADDRESS && s->u->address_bytes <= 8)
        s->current.address = take_number(&operand, s->u->address_bytes);
}

static void run_special(struct search *s, unsigned op, bool appends_row) {
    unsigned adjusted = op - s->u->opcode_base;
    s->current.address += (uint64_t)(adjusted / s->u->line_range) * s->u->min_insn_bytes;
    if (!appends_row) return;
    s->current.line += (uint64_t)(int64_t)(s->u->line_base + (int)(adjusted % s->u->line_range));
    finish_row(s, false);
}

static void run_program(struct search *s, struct reader *r) {
    s->current = (struct row){0, 1, 1};
    while (r->at < r->end && !r->failed && !s->is_finished) {
        unsigned op = (unsigned)take_number(r, 1);
        if (op >= s->u->opcode_base) run_special(s, op, true);
        else if (op == 0) run_extended(s, r);
        else if (op == OP_COPY) finish_row(s, false);
        else if (op == OP_ADVANCE_PC) s->current.address += take_uleb(r) * s->u->min_insn_bytes;
        else if (op == OP_ADVANCE_LINE) s->current.line += (uint64_t)take_sleb(r);
        else if (op == OP_SET_FILE) s->current.file = take_uleb(r);
        else if (op == OP_CONST_ADD_PC) run_special(s, 255, false);
        else if (op == OP_FIXED_ADVANCE_PC) s->current.address += take_number(r, 2);
        else
            for (unsigned i = 0; i < s->u->opcode_operands[op - 1]; i++) take_uleb(r);
    }
}

bool wb_line_table_find(const struct line_sections *sections, uint64_t function, uint64_t address,
                        struct line_position *out) {
    static struct unit u; /* too large for a small stack */
    struct reader r = reader_of(sections->line), program;
    out->is_inlined = false;
    while (r.at < r.end && !r.failed) {
        u = (struct unit){.sections = sections};
        if (!read_header(&r, &u, &program)) continue;
        struct search s = {.u = &u, .function = function, .address = address, .out = out};
        run_program(&s, &program);
        if (s.is_finished) return s.found;
    }
    return false;
}

/* archives.c — tests hostile archives, which this file writes with libarchive and reads as
 * `grader batch` reads hand-ins, and the gradebook of a class whose names are attacks. An honest
 * archive beside each must be read correctly. */
#include "common/paths.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/tests/hostile/hostile.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct archive *archive;

static void open_archive(const char *path, bool zip) {
    archive = archive_write_new();
    if (zip) archive_write_set_format_zip(archive);
    else archive_write_set_format_pax_restricted(archive), archive_write_add_filter_gzip(archive);
    if (archive_write_open_filename(archive, path) != ARCHIVE_OK) die("%s: cannot write", path);
}
static void close_archive(void) { archive_write_free(archive); }

static void add_entry(const char *name, unsigned type, const char *link, const char *data,
                      size_t size) {
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 0644);
    if (type == AE_IFREG && link) archive_entry_set_hardlink(e, link);
    else if (link) archive_entry_set_symlink(e, link);
    if (type == AE_IFREG && !link) archive_entry_set_size(e, (la_int64_t)size);
    if (type == AE_IFCHR) archive_entry_set_rdev(e, 0x101);
    if (archive_write_header(archive, e) == ARCHIVE_OK && type == AE_IFREG && !link)
        archive_write_data(archive, data, size);
    archive_entry_free(e);
}
static void add_file(const char *name, const char *data) {
    add_entry(name, AE_IFREG, NULL, data, strlen(data));
}

/* ---- each archive ---- */

static const char good[] = "// good\n";
static void zip_slip(void) {
    add_file("../../wanted.cu", "bad"), add_file("/tmp/wb-planted", "bad"),
        add_file("a/../../wanted.cu", "bad"), add_file("wanted.cu", good);
}
static void symlinks(void) {
    add_entry("wanted.cu", AE_IFLNK, decoy_file(), NULL, 0),
        add_entry("02/wanted.cu", AE_IFLNK, "/etc/passwd", NULL, 0);
}
static void hardlinks(void) { add_entry("wanted.cu", AE_IFREG, "/etc/passwd", NULL, 0); }
static void devices(void) {
    add_entry("wanted.cu", AE_IFCHR, NULL, NULL, 0),
        add_entry("x/wanted.cu", AE_IFIFO, NULL, NULL, 0);
}
static void link_then_file(void) {
    add_entry("d", AE_IFLNK, "/tmp", NULL, 0), add_file("d/wb-planted", "bad"),
        add_file("wanted.cu", good);
}
static void bomb(void) {
    static char zeros[8 << 20];
    for (unsigned i = 0; i < 64; i++) {
        char name[32];
        snprintf(name, sizeof name, "z%u", i);
        add_entry(name, AE_IFREG, NULL, zeros, sizeof zeros);
    }
}
static void small_bomb(void) {
    static char zeros[16 << 20];
    add_entry("wanted.cu", AE_IFREG, NULL, zeros, sizeof zeros);
}
static void big_file(void) {
    static char noise[2 << 20];
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (char)(i * 2654435761u >> 13);
    add_entry("wanted.cu", AE_IFREG, NULL, noise, sizeof noise);
}
static void many_entries(void) {
    for (unsigned i = 0; i < 6000; i++) {
        char name[32];
        snprintf(name, sizeof name, "e%u", i);
        add_file(name, "");
    }
}
static void odd_names(void) {
    char name[4097];
    memset(name, 'n', 4096), name[4096] = 0;
    add_file(name, "bad"), add_file("a\033[2Jb\n\r.cu", "bad"), add_file("..", "bad"),
        add_file("..\\wanted.cu", "bad"), add_file("wanted.cu", good);
}
/* The last of equal names counts, as tar unpacks them. */
static void add_duplicates(void) { add_file("wanted.cu", "bad"), add_file("./wanted.cu", good); }
static void put_plain_file(void) {
    add_file("student/wanted.cu", good), add_file("student/notes.txt", "x");
}

static const struct {
    const char *name, *threat, *tries;
    void (*write)(void);
    bool is_accepted;    /* wanted.cu holds what it should */
    const char *refused; /* what the reason names; NULL = not refused as a whole */
} archives[] = {
    {"zip-slip", "47", "paths that lead out of the folder", zip_slip, true, NULL},
    {"archive-symlinks", "47", "symbolic links to secrets", symlinks, false, NULL},
    {"archive-hardlinks", "47", "hard links to the password file", hardlinks, false, NULL},
    {"archive-devices", "47", "devices and pipes", devices, false, NULL},
    {"archive-link-then-file", "43", "a link, then a file through it", link_then_file, true, NULL},
    {"archive-bomb", "47", "512 MiB in a few hundred kB", bomb, false, "more than 64 MiB"},
    {"archive-small-bomb", "47", "16 MiB of zeros in a few kB", small_bomb, false,
     "times its size"},
    {"archive-big-file", "47", "a source file of 2 MiB", big_file, false, NULL},
    {"archive-many-entries", "47", "six thousand entries", many_entries, false, "4096 entries"},
    {"archive-odd-names", "48", "control characters, 4096 bytes, backslashes, dots", odd_names,
     true, NULL},
    {"archive-twice", "47", "the same file twice", add_duplicates, true, NULL},
    {"archive-honest", "-", "honest: a folder with the file and notes", put_plain_file, true, NULL},
};
enum { ARCHIVE_COUNT = sizeof archives / sizeof *archives };

static bool accept_wanted_file(void *user, const char *path) {
    (void)user;
    return !strcmp(path_basename(path), "wanted.cu");
}

/* Empty where all is well. */
static void check_intake(unsigned i, const char *path, struct buf *output, struct buf *problems) {
    struct intake in = {0};
    struct err e = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = intake_archive(fd, accept_wanted_file, NULL, &in, &e),
         is_accepted = ok && in.n == 1 && !strcmp(buf_str(&in.files[0].data), good);
    close(fd);
    if (!ok) buf_puts(output, e.text);
    for (unsigned k = 0; ok && k < in.nrejections; k++)
        buf_printf(output, "%s: %s\n", in.rejections[k].path, in.rejections[k].reason);
    if (archives[i].refused ? ok || !strstr(e.text, archives[i].refused) : !ok)
        buf_printf(problems, "refused: %s; ", ok ? "no" : e.text);
    if (is_accepted != archives[i].is_accepted)
        buf_puts(problems, is_accepted ? "it came through; " : "the file did not come through; ");
    for (unsigned k = 0; k < in.n; k++)
        if (strstr(buf_str(&in.files[k].data), "root:"))
            buf_puts(problems, "the password file shows; ");
    for (const char *s = buf_str(output); *s; s++)
        if ((unsigned char)*s < ' ' && *s != '\n') buf_puts(problems, "control characters; ");
    report_leftovers(problems);
    intake_free(&in);
}

static unsigned try_one(unsigned i, bool zip) {
    char path[PATH_MAX];
    struct buf problems = {0}, output = {0};
    snprintf(path, sizeof path, "%s/hostile.%s", decoy_folder(), zip ? "zip" : "tar.gz");
    open_archive(path, zip);
    archives[i].write();
    close_archive();
    check_intake(i, path, &output, &problems);
    unlink(path);
    printf("%s %-26s %-4s %-6s %s\n       stopped by: %.*s\n", problems.size ? "FAIL" : "ok  ",
           archives[i].name, archives[i].threat, zip ? "zip" : "tar.gz", archives[i].tries,
           output.size ? (int)strcspn(buf_str(&output), "\n") : 15,
           output.size ? buf_str(&output) : "nothing to stop");
    if (problems.size) printf("       WRONG: %s\n", buf_str(&problems));
    unsigned failed = problems.size > 0;
    buf_free(&problems), buf_free(&output);
    return failed;
}

/* Bytes that are no archive, and every cut of one. */
static unsigned try_damaged(void) {
    char path[PATH_MAX];
    struct buf original = {0};
    struct err e = {0};
    unsigned failed = 0;
    snprintf(path, sizeof path, "%s/whole.zip", decoy_folder());
    open_archive(path, true), put_plain_file(), close_archive();
    if (!file_read(path, 1 << 20, &original, &e)) die("%s", e.text);
    for (size_t length = 0; length < original.size; length += original.size / 12 + 1) {
        struct intake in = {0};
        struct err reason = {0};
        if (!file_write(path, original.data, length, &e)) die("%s", e.text);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (!intake_archive(fd, accept_wanted_file, NULL, &in, &reason) && !reason.text[0])
            failed++;
        close(fd);
        intake_free(&in);
    }
    unlink(path);
    buf_free(&original);
    printf("%s archive-damaged: cut at 12 places, each refused with a reason or read as far as it "
           "goes\n",
           failed ? "FAIL" : "ok  ");
    return failed;
}

/* ---- a gradebook ---- */

static void put_submission(const char *student, const char *source) {
    char path[PATH_MAX + 32], folder[PATH_MAX];
    struct err e = {0};
    snprintf(folder, sizeof folder, "%s/class/%s/02-coalescing", decoy_folder(), student);
    snprintf(path, sizeof path, "%s/transpose.cu", folder);
    if (!dir_create(folder, &e) || !file_write(path, source, strlen(source), &e)) die("%s", e.text);
}

static void run_batch(const char *class, const char *format, struct buf *out) {
    char grader[PATH_MAX], line[512];
    snprintf(grader, sizeof grader,
             "%s/grader batch %s --exercise transpose --format %s --seed 1 2>&1",
             paths_program_dir(), class, format);
    FILE *f = popen(grader, "r");
    while (f && fgets(line, sizeof line, f)) buf_puts(out, line);
    if (f) pclose(f);
}

/* Cells of a spreadsheet: none may begin like a formula. */
static bool has_formula(const char *csv) {
    for (const char *p = csv; (p = strchr(p, '"')); p++)
        if ((p == csv || p[-1] == ',' || p[-1] == '\n') && p[1] && strchr("=+-@\t", p[1]))
            return true;
    return false;
}

static unsigned try_gradebook(void) {
    static const char *const students[] = {
        "=cmd|' !A1", "+1", "-1", "@SUM(A1)", "name\nwith\033[2J,\"quotes\"", "<script>", "honest"};
    struct buf csv = {0}, json = {0};
    char class[PATH_MAX];
    snprintf(class, sizeof class, "%s/class", decoy_folder());
    for (unsigned i = 0; i < sizeof students / sizeof *students; i++)
        put_submission(students[i], "#error \"=HYPERLINK(1)\"\n");
    run_batch(class, "csv", &csv), run_batch(class, "json", &json);
    bool formula = has_formula(buf_str(&csv)),
         control = strchr(buf_str(&csv), 033) || strchr(buf_str(&json), 033);
    bool exists = strstr(buf_str(&csv), "\"honest\"") && strstr(buf_str(&json), "\"jail\": \"T") &&
                  strstr(buf_str(&csv), "\"'=cmd");
    bool ok = !formula && !control && exists;
    printf("%s gradebook                  51   formulas, control characters and HTML as names of "
           "students%s\n",
           ok ? "ok  " : "FAIL",
           formula   ? ": a formula"
           : control ? ": control characters"
           : exists  ? ""
                     : ": rows are missing");
    buf_free(&csv), buf_free(&json);
    dir_remove(class, &(struct err){0});
    return !ok;
}

unsigned try_archives(void) {
    unsigned failed = 0;
    for (unsigned i = 0; i < ARCHIVE_COUNT; i++)
        for (unsigned zip = 0; zip < 2; zip++)
            if (!zip || (archives[i].write != hardlinks && archives[i].write != devices))
                failed += try_one(i, zip);
    failed += try_damaged();
    failed += try_gradebook();
    printf("archives: %u failed\n\n", failed);
    return failed;
}

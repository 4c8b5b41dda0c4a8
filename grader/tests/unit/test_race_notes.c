/* test_race_notes.c — the planes of notes about global memory: what they cost. */
#include "grader/sim/race/race.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REACH = 256 << 20, FAR = 128 << 20 /* a buffer's offset */ };

static u64 resident_pages(void *at, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / page;
    unsigned char *pages = calloc(n, 1);
    u64 found = 0;
    ck_assert(pages && !mincore(at, bytes, pages));
    for (size_t i = 0; i < n; i++) found += pages[i] & 1;
    free(pages);
    return found;
}

/* One word far into memory, noted by halves: its row is forgotten, and no row besides is written
 * to. */
START_TEST(test_ticks_begin_anew_where_notes_are) {
    void *rows = mmap(NULL, REACH, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(rows != MAP_FAILED && !madvise(rows, REACH, MADV_NOHUGEPAGE));
    struct race_shadow p = {.covered_bytes = REACH,
                            .rows = rows,
                            .cell_shift = 1,
                            .row_state_base = 8,
                            .logical_clock = RACE_CLOCK_LIMIT};
    struct shadow_row *noted = &p.rows[(FAR >> p.cell_shift) / SHADOW_ROW_CELLS];
    p.accessed_range = (struct offset_range){FAR, FAR + 4};
    *noted = (struct shadow_row){
        .state = p.row_state_base + 1, .last_write_epoch = 7, .last_read_epoch = 9}; /* flat */
    race_reset_clock(&p);
    ck_assert(p.logical_clock == 1 && !noted->last_write_epoch && !noted->last_read_epoch);
    ck_assert_uint_eq(resident_pages(rows, REACH), 1);
    munmap(rows, REACH);
}
END_TEST

UNIT_SUITE(race_notes) {
    Suite *s = suite_create("race_notes");
    TCase *t = tcase_create("ticks");
    tcase_add_test(t, test_ticks_begin_anew_where_notes_are);
    suite_add_tcase(s, t);
    return s;
}

/* test_race_shadow.c — tests how much memory the shadow cells of global memory take. */
#include "grader/sim/race/race.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHADOW_REACH = 256 << 20, FAR_ADDRESS = 128 << 20 /* a buffer's offset */ };

static u64 resident_pages(void *at, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / page;
    unsigned char *pages = calloc(n, 1);
    u64 found = 0;
    ck_assert(pages && !mincore(at, bytes, pages));
    for (size_t i = 0; i < n; i++) found += pages[i] & 1;
    free(pages);
    return found;
}

/* Records one word far into memory, by halves: the reset clears its row and writes to no other. */
START_TEST(a_clock_reset_clears_only_recorded_shadow_rows) {
    void *rows = mmap(NULL, SHADOW_REACH, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(rows != MAP_FAILED && !madvise(rows, SHADOW_REACH, MADV_NOHUGEPAGE));
    struct race_shadow p = {.covered_bytes = SHADOW_REACH,
                            .rows = rows,
                            .cell_shift = 1,
                            .row_state_base = 8,
                            .logical_clock = RACE_CLOCK_LIMIT};
    struct shadow_row *recorded = &p.rows[(FAR_ADDRESS >> p.cell_shift) / SHADOW_ROW_CELLS];
    p.accessed_range = (struct offset_range){FAR_ADDRESS, FAR_ADDRESS + 4};
    *recorded = (struct shadow_row){
        .state = p.row_state_base + 1, .last_write_epoch = 7, .last_read_epoch = 9}; /* flat */
    race_reset_clock(&p);
    ck_assert(p.logical_clock == 1 && !recorded->last_write_epoch && !recorded->last_read_epoch);
    ck_assert_uint_eq(resident_pages(rows, SHADOW_REACH), 1);
    munmap(rows, SHADOW_REACH);
}
END_TEST

UNIT_SUITE(race_shadow) {
    Suite *s = suite_create("race_shadow");
    TCase *t = tcase_create("ticks");
    tcase_add_test(t, a_clock_reset_clears_only_recorded_shadow_rows);
    suite_add_tcase(s, t);
    return s;
}

/* test_tensor_map.c — tests tensor maps: where tiles lie, derived by hand; maps that a program
 * forged; what a copy counts. */
#include "grader/sim/mem/tensor_tile.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* 10 rows of 12 floats, 48 bytes each, at 4096; boxes of 4 rows of 8. */
static struct tensor_map matrix(uint64_t address) {
    struct tensor_map m = {.address = address,
                           .dim = {12, 10, 1, 1, 1},
                           .stride = {48},
                           .box = {8, 4, 1, 1, 1},
                           .element_stride = {1, 1, 1, 1, 1},
                           .type = TENSOR_FLOAT32,
                           .rank = 2};
    memcpy(&m.magic, "WBTENSOR", 8);
    return m;
}

static const char *map_error(const struct tensor_map *m) {
    struct tensor_map out;
    unsigned char bytes[TENSOR_MAP_BYTES];
    memcpy(bytes, m, sizeof bytes);
    return memory_tensor_map_parse(bytes, &out);
}

static struct memory_tile open_tile(struct tensor_map m, int x, int y) {
    struct memory_tile t;
    ck_assert_ptr_null(map_error(&m));
    ck_assert(memory_tile_init(&t, &m, (int32_t[]){x, y}));
    return t;
}

static void check_row(const struct memory_tile *t, unsigned row, uint64_t global, unsigned skip,
                      unsigned bytes) {
    struct tile_row r = memory_tile_row(t, row);
    ck_assert_uint_eq(r.inside_bytes, bytes);
    if (bytes) ck_assert_uint_eq(r.address, global);
    if (bytes) ck_assert_uint_eq(r.skip_bytes, skip);
}

/* Columns -1 to 6, rows 8 to 11: the first column and the last two rows lie outside. */
START_TEST(elements_outside_the_tensor_are_skipped) {
    struct memory_tile t = open_tile(matrix(4096), -1, 8);
    ck_assert_uint_eq(t.rows, 4);
    ck_assert_uint_eq(t.bytes, 128);
    ck_assert_uint_eq(t.low, 4096 + 8 * 48);
    ck_assert_uint_eq(t.high, 4096 + 9 * 48 + 7 * 4);
    check_row(&t, 0, 4096 + 8 * 48, 4, 28);
    check_row(&t, 1, 4096 + 9 * 48, 4, 28);
    check_row(&t, 2, 0, 0, 0);
    check_row(&t, 3, 0, 0, 0);
    t = open_tile(matrix(4096), 7, -1); /* columns 7 to 14, of which 5 are there */
    check_row(&t, 0, 0, 0, 0);
    check_row(&t, 1, 4096 + 28, 0, 20);
    t = open_tile(matrix(4096), 12, 0);
    ck_assert_uint_eq(t.low, t.high);
    check_row(&t, 0, 0, 0, 0);
    t = open_tile(matrix(4096), INT32_MIN, INT32_MAX);
    ck_assert_uint_eq(t.low, t.high);
}
END_TEST

/* 8 rows by steps of 3: ceil(8 / 3) = 3 of them, from row -2 on: -2, 1, 4. */
START_TEST(element_strides_round_up) {
    struct tensor_map m = matrix(4096);
    m.box[1] = 8;
    m.element_stride[1] = 3;
    struct memory_tile t = open_tile(m, 0, -2);
    ck_assert_uint_eq(t.rows, 3);
    check_row(&t, 0, 0, 0, 0);
    check_row(&t, 1, 4096 + 48, 0, 32);
    check_row(&t, 2, 4096 + 4 * 48, 0, 32);
    ck_assert_uint_eq(t.low, 4096 + 48);
    ck_assert_uint_eq(t.high, 4096 + 4 * 48 + 32);
}
END_TEST

/* PTX ISA, "swizzling modes": the chunk's number in its 128 bytes, xor the number of the 128 bytes
 * modulo 8, 4, 2. */
START_TEST(swizzles_match_the_ptx_isa) {
    struct tensor_map m = matrix(4096);
    m.swizzle = 3;
    struct memory_tile t = open_tile(m, 0, 0);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x070), 0x070);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x080), 0x090);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x3f4), 0x384);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x400), 0x400);
    m.swizzle = 2;
    t = open_tile(m, 0, 0);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x180), 0x1b0);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x1f0), 0x1c0);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x200), 0x200);
    m.swizzle = 1;
    t = open_tile(m, 0, 0);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x080), 0x090);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x0b0), 0x0a0);
    ck_assert_uint_eq(memory_tile_swizzle(&t, 0x100), 0x100);
}
END_TEST

/* Rows of 32 bytes: without a swizzle one behind another, within 64 bytes or 128 each at a multiple
 * of that. */
START_TEST(swizzled_rows_have_their_pitch) {
    struct tensor_map m = matrix(4096);
    struct memory_tile t = open_tile(m, 0, 0);
    ck_assert_uint_eq(memory_tile_shared_pitch(&t), 32);
    ck_assert_uint_eq(memory_tile_shared_bytes(&t), 4 * 32);
    for (m.swizzle = 1; m.swizzle <= 3; m.swizzle++) {
        t = open_tile(m, 0, 0);
        ck_assert_uint_eq(memory_tile_shared_pitch(&t), 16u << m.swizzle);
        ck_assert_uint_eq(memory_tile_shared_bytes(&t), 4 * (16u << m.swizzle));
        ck_assert_uint_eq(t.bytes, 4 * 32);
    }
}
END_TEST

START_TEST(out_of_bounds_elements_get_the_fill_value) {
    static const unsigned char f16[] = {0xf7, 0x7f}, f32[] = {0xf7, 0x7f, 0xf7, 0x7f};
    unsigned char row[TENSOR_MAX_ROW_BYTES];
    struct tensor_map m = matrix(4096);
    struct memory_tile t = open_tile(m, 0, 0);
    memory_tile_fill_row(&t, row);
    for (int i = 0; i < 32; i++) ck_assert_uint_eq(row[i], 0);
    m.fill_with_nan = 1;
    t = open_tile(m, 0, 0);
    memory_tile_fill_row(&t, row);
    ck_assert(!memcmp(row + 28, f32, 4));
    m.type = TENSOR_FLOAT16;
    t = open_tile(m, 0, 0);
    memory_tile_fill_row(&t, row);
    ck_assert(!memcmp(row + 14, f16, 2));
}
END_TEST

/* Changes one field of a valid map at a time. */
START_TEST(forged_tensor_maps_are_rejected) {
    struct tensor_map m = matrix(4096);
    ck_assert_ptr_null(map_error(&m));
#define REFUSED(change)                              \
    do {                                             \
        m = matrix(4096);                            \
        change;                                      \
        ck_assert_msg(map_error(&m), "%s", #change); \
    } while (0)
    REFUSED(m.magic++);
    REFUSED(m.type = TENSOR_TYPE_COUNT);
    REFUSED(m.type = 255);
    REFUSED(m.rank = 0);
    REFUSED(m.rank = 6);
    REFUSED(m.rank = 255);
    REFUSED(m.interleave = 1);
    REFUSED(m.swizzle = 4);
    REFUSED(m.swizzle = 255);
    REFUSED(m.address += 8);
    REFUSED(m.dim[1] = 0);
    REFUSED(m.dim[1] = (1ull << 32) + 1);
    REFUSED(m.dim[0] = UINT64_MAX);
    REFUSED(m.stride[0] = 8);
    REFUSED(m.stride[0] = 1ull << 40);
    REFUSED(m.box[0] = 0);
    REFUSED(m.box[0] = 3);
    REFUSED(m.box[1] = 257);
    REFUSED(m.box[1] = UINT32_MAX);
    REFUSED(m.box[0] = 0x40000004); /* times 4 bytes it is 16 in 32 bits */
    REFUSED(m.element_stride[1] = 0);
    REFUSED(m.element_stride[1] = 9);
    REFUSED(m.fill_with_nan = 2);
    REFUSED(m.fill_with_nan = 1; m.type = TENSOR_INT32);
    REFUSED(m.swizzle = 1; m.box[0] = 12);
#undef REFUSED
}
END_TEST

/* 5 dimensions of 2^32 with strides of almost 2^40: the far corner is 2^74 bytes away. */
START_TEST(tiles_beyond_the_address_space_are_rejected) {
    struct tensor_map m = matrix(4096);
    struct memory_tile t;
    m.rank = 5;
    for (int i = 0; i < 5; i++) m.dim[i] = 1ull << 32, m.box[i] = 256;
    for (int i = 0; i < 4; i++) m.stride[i] = (1ull << 40) - 16;
    m.box[0] = 256;
    ck_assert_ptr_null(map_error(&m));
    ck_assert(!memory_tile_init(
        &t, &m, (int32_t[]){INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}));
    ck_assert(memory_tile_init(&t, &m, (int32_t[]){0, 0, 0, 0, 0}));
    ck_assert_uint_eq(t.bytes, 4ull << 40);
    m.address = UINT64_MAX - 15;
    ck_assert(!memory_tile_init(&t, &m, (int32_t[]){0, 0, 0, 0, 0}));
}
END_TEST

/* For any bytes, rows lie within [low, high), and are no longer than a row. */
START_TEST(random_tensor_maps_stay_in_bounds) {
    uint64_t seed = 1, opened = 0;
    for (int i = 0; i < 200000; i++) {
        struct tensor_map m = matrix(4096), out;
        unsigned char *bytes = (unsigned char *)&m;
        struct memory_tile t;
        int32_t at[5];
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            unsigned position = 8 + (seed >> 33) % 120;
            bytes[position] =
                (unsigned char)(position >= 108 && seed >> 62 ? seed >> 56 & 7 : seed >> 56);
        }
        for (int k = 0; k < 5; k++) at[k] = (int32_t)(seed >> (7 * k)) >> (seed >> 59);
        if (memory_tensor_map_parse(bytes, &out) || !memory_tile_init(&t, &out, at)) continue;
        opened++;
        ck_assert(t.low <= t.high && t.rows <= 1ull << 32 &&
                  memory_tile_row_bytes(&t) <= TENSOR_MAX_ROW_BYTES);
        for (uint64_t r = 0; r < t.rows; r += 1 + t.rows / 7) {
            struct tile_row row = memory_tile_row(&t, r);
            if (!row.inside_bytes) continue;
            ck_assert(row.address >= t.low && row.address + row.inside_bytes <= t.high);
            ck_assert(row.skip_bytes + row.inside_bytes <= memory_tile_row_bytes(&t));
        }
    }
    ck_assert_uint_gt(opened, 1000);
}
END_TEST

/* ---- a kernel: line 10 loads a tile, line 11 stores it, line 12 adds it ---- */

#define PTX_HEADER ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
static const char copies[] = PTX_HEADER
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u32 x, .param .u32 y) {\n"
    ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %q<4>;\n.shared .align 128 .b8 s[256];\n"
    "ld.param.u32 %r0, [x];\nld.param.u32 %r1, [y];\nmov.b64 %q0, map;\ncvta.param.u64 %q1, %q0;\n"
    "mbarrier.init.shared.b64 [s+128], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [s+128], 128;\n"
    ".loc 1 10 0\ncp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[s], [%q1, "
    "{%r0, %r1}], "
    "[s+128];\n"
    "again: mbarrier.try_wait.parity.shared.b64 %p0, [s+128], 0;\n@!%p0 bra again;\n"
    ".loc 1 11 0\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%q1, {%r1, %r0}], "
    "[s];\n"
    ".loc 1 12 0\ncp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%q1, "
    "{%r0, %r1}], [s];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";

struct params {
    struct tensor_map map;
    int32_t x, y;
};

/* At (0, 4): rows 4 to 7 of columns 0 to 7, 48 r to 48 r + 31: bytes 192-223 in sector 6, 240-271
 * in 7-8, 288-319 in 9, 336-367 in 10-11. The store at (4, 0): 48 r + 16 to 48 r + 47: 16-47 in
 * 0-1, 64-95 in 2, 112-143 in 3-4, 160-191 in 5. */
START_TEST(tensor_copies_have_exact_sector_counts) {
    struct kernel_rig r = rig_open(copies);
    float values[120], after[120];
    for (int i = 0; i < 120; i++) values[i] = (float)i;
    uint64_t buffer = sim_alloc(r.sim, sizeof values, "matrix");
    sim_write(r.sim, buffer, values, sizeof values);
    struct params p = {matrix(buffer), 0, 4};
    struct sim_result result = rig_run(&r, "k", 1, 1, &p, sizeof p);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    struct sim_counters in = rig_line(&result, 10), out = rig_line(&result, 11),
                        add = rig_line(&result, 12);
    ck_assert_uint_eq(in.bulk_load_requests, 1);
    ck_assert_uint_eq(in.bulk_load_bytes, 128);
    ck_assert_uint_eq(in.bulk_load_sectors, 6);
    ck_assert_uint_eq(in.bulk_shared_store_bytes, 128);
    ck_assert_uint_eq(in.async_copy_byte_distance, 0);
    ck_assert_uint_eq(out.bulk_store_requests, 1);
    ck_assert_uint_eq(out.bulk_store_bytes, 128);
    ck_assert_uint_eq(out.bulk_store_sectors, 6);
    ck_assert_uint_eq(out.bulk_shared_load_bytes, 128);
    ck_assert_uint_eq(add.bulk_store_requests, 1);
    ck_assert_uint_eq(add.bulk_store_sectors, 6);
    sim_read(r.sim, buffer, after, sizeof after);
    ck_assert_float_eq(after[3], 3);                /* in neither */
    ck_assert_float_eq(after[4], 48);               /* stored: element (0, 4) */
    ck_assert_float_eq(after[3 * 12 + 11], 91);     /* stored: element (7, 7) */
    ck_assert_float_eq(after[7 * 12 + 7], 91 + 91); /* added to itself */
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Checks the fault and the message of a launch with these parameters. */
static void expect_report(struct params p, enum sim_fault fault, const char *expected_text) {
    struct kernel_rig r = rig_open(copies);
    uint64_t buffer = sim_alloc(r.sim, 480, "matrix");
    sim_fill(r.sim, buffer, 0, 480);
    if (p.map.address == 4096) p.map.address = buffer;
    struct sim_result result = rig_run(&r, "k", 1, 1, &p, sizeof p);
    const struct sim_report *report = rig_report(&result, fault);
    ck_assert_msg(report && strstr(report->text, expected_text), "%s: %s", expected_text,
                  result.nreports ? result.reports[0].text : "nothing");
    sim_result_free(&result);
    rig_close(&r);
}

START_TEST(invalid_tensor_copies_are_faults) {
    struct params good = {matrix(4096), 0, 0}, p = good;
    p.map.rank = 3, p.map.stride[1] = 480;
    expect_report(p, SIM_FAULT_TENSOR_MAP, "3 dimensions");
    p = good, p.map.dim[1] = 11, p.y = 8;
    expect_report(p, SIM_FAULT_OUT_OF_BOUNDS, "end of `matrix`");
    p = good, p.map.address = 16;
    expect_report(p, SIM_FAULT_OUT_OF_BOUNDS, "copies a tile");
    p = good, p.map.box[1] = 200;
    expect_report(p, SIM_FAULT_OUT_OF_BOUNDS, "copies a tile of 6400 bytes; the block has 256");
    p = good, p.map.type = TENSOR_UINT8, p.map.box[0] = 32, p.map.dim[0] = 48;
    expect_report(p, SIM_FAULT_TENSOR_MAP, "uses a reduction that does not exist");
    memset(&p.map, 255, sizeof p.map);
    expect_report(p, SIM_FAULT_TENSOR_MAP, "it was not made by cuTensorMapEncodeTiled");
}
END_TEST

/* What an H200 did for one copy in a kernel of its own, 64 x 64 elements or 256 x 64 bytes:
 * cudaErrorIllegalInstruction or not. */
static const struct {
    const char *copy;
    enum tensor_type type;
    int x, y;
    bool refused;
} measured[] = {
    {"load", TENSOR_FLOAT32, -4, 3, false},
    {"load", TENSOR_FLOAT32, -8, -3, false},
    {"load", TENSOR_FLOAT32, 0, -3, false},
    {"load", TENSOR_FLOAT32, 64, 0, false},
    {"load", TENSOR_FLOAT32, -64, 0, false},
    {"load", TENSOR_FLOAT32, 2000000000, -2000000000, false},
    {"load", TENSOR_FLOAT32, -3, 0, true},
    {"load", TENSOR_FLOAT32, 3, 0, true},
    {"load", TENSOR_UINT8, -16, 0, false},
    {"load", TENSOR_UINT8, 32, -2, false},
    {"load", TENSOR_UINT8, 8, 0, true},
    {"load", TENSOR_FLOAT16, -8, 2, false},
    {"load", TENSOR_FLOAT16, 4, 0, true},
    {"load", TENSOR_FLOAT64, -2, 3, false},
    {"load", TENSOR_FLOAT64, 1, 3, true},
    {"store", TENSOR_FLOAT32, 16, 8, false},
    {"store", TENSOR_FLOAT32, 48, 60, false},
    {"store", TENSOR_FLOAT32, 3, 0, true},
    {"store", TENSOR_FLOAT32, -4, 3, true},
    {"store", TENSOR_FLOAT32, 0, -3, true},
    {"store", TENSOR_UINT8, -16, 0, true},
    {"store", TENSOR_UINT8, 32, -2, true},
    {"add", TENSOR_UINT32, 48, 60, false},
    {"add", TENSOR_UINT32, 3, 0, true},
    {"add", TENSOR_UINT32, -4, 3, true},
    {"add", TENSOR_UINT32, 0, -3, true},
    {"add", TENSOR_UINT64, 0, 0, false},
    {"add", TENSOR_INT64, 0, 0, true},
    {"add", TENSOR_FLOAT32_FTZ, 0, 0, true},
    {"prefetch", TENSOR_FLOAT32, 4, 3, false},
    {"prefetch", TENSOR_FLOAT32, 3, 0, true},
};

static const char *instruction(const char *copy) {
    if (!strcmp(copy, "prefetch"))
        return "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%q1, {%r0, %r1}];\n";
    if (!strcmp(copy, "load"))
        return "mbarrier.init.shared.b64 [s+1024], 1;\n"
               "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[s], [%q1, {%r0, "
               "%r1}], [s+1024];\n";
    if (!strcmp(copy, "store"))
        return "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%q1, {%r0, %r1}], "
               "[s];\n";
    return "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%q1, {%r0, "
           "%r1}], [s];\n";
}

START_TEST(coordinates_match_measured_tiles) {
    char ptx[2048];
    static const unsigned char sizes[TENSOR_TYPE_COUNT] = {
#define TYPE(id, name, size, kind) [TENSOR_##id] = size,
#include "grader/sim/tensor_map.def"
    };
    unsigned bytes = sizes[measured[_i].type];
    snprintf(ptx, sizeof ptx,
             PTX_HEADER
             ".visible .entry k(.param .align 64 .b8 map[128], .param .u32 x, .param .u32 y) {\n"
             ".reg .b32 %%r<2>; .reg .b64 %%q<2>;\n.shared .align 128 .b8 s[1152];\n"
             "ld.param.u32 %%r0, [x];\nld.param.u32 %%r1, [y];\nmov.b64 %%q0, map;\ncvta.param.u64 "
             "%%q1, %%q0;\n%sret;\n}\n",
             instruction(measured[_i].copy));
    struct kernel_rig r = rig_open(ptx);
    struct params p = {matrix(sim_alloc(r.sim, 16384, "matrix")), measured[_i].x, measured[_i].y};
    sim_fill(r.sim, p.map.address, 0, 16384);
    p.map.type = measured[_i].type;
    p.map.dim[0] = 256 / bytes, p.map.dim[1] = 64, p.map.stride[0] = 256;
    p.map.box[0] = 128 / bytes, p.map.box[1] = 8;
    struct sim_result result = rig_run(&r, "k", 1, 1, &p, sizeof p);
    bool refused = rig_report(&result, SIM_FAULT_TENSOR_MAP) != NULL;
    ck_assert_msg(refused == measured[_i].refused, "%s at (%d, %d): %s", measured[_i].copy, p.x,
                  p.y, result.nreports ? result.reports[0].text : "taken");
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(tensor_map) {
    Suite *suite = suite_create("tensor_map");
    TCase *tc = tcase_create("tiles");
    tcase_add_test(tc, elements_outside_the_tensor_are_skipped);
    tcase_add_test(tc, element_strides_round_up);
    tcase_add_test(tc, swizzles_match_the_ptx_isa);
    tcase_add_test(tc, swizzled_rows_have_their_pitch);
    tcase_add_test(tc, out_of_bounds_elements_get_the_fill_value);
    tcase_add_test(tc, forged_tensor_maps_are_rejected);
    tcase_add_test(tc, tiles_beyond_the_address_space_are_rejected);
    tcase_add_test(tc, random_tensor_maps_stay_in_bounds);
    tcase_add_test(tc, tensor_copies_have_exact_sector_counts);
    tcase_add_test(tc, invalid_tensor_copies_are_faults);
    tcase_add_loop_test(tc, coordinates_match_measured_tiles, 0,
                        (int)(sizeof measured / sizeof *measured));
    suite_add_tcase(suite, tc);
    return suite;
}

/* test_hash.c — tests that digests by the processor's instructions equal libmd's. */
#include "common/hash.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum { MAX_BYTES = 1000 };

static uint8_t bytes[MAX_BYTES + 1];

static void fill_bytes(void) {
    uint32_t x = 1;
    for (unsigned i = 0; i <= MAX_BYTES; i++)
        bytes[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
}

/* Of every length, at an odd address. */
START_TEST(digests_equal_libmds) {
    char expected[HASH_HEX_SIZE], actual[HASH_HEX_SIZE];
    fill_bytes();
    for (size_t n = 0; n <= MAX_BYTES; n++) {
        SHA256Data(bytes + 1, n, expected);
        sha256_hex(bytes + 1, n, actual);
        ck_assert_str_eq(actual, expected);
    }
}
END_TEST

START_TEST(lists_of_parts_equal_libmds) {
    char expected[HASH_HEX_SIZE], actual[HASH_HEX_SIZE];
    fill_bytes();
    for (size_t first = 0; first < 200; first++)
        for (size_t second = 0; second < 300; second += 7) {
            uint64_t length[2] = {first, second};
            struct hash h;
            SHA2_CTX c;
            hash_init(&h), SHA256Init(&c);
            hash_update(&h, bytes, first), hash_update(&h, bytes + first, second);
            SHA256Update(&c, (const uint8_t *)&length[0], sizeof length[0]);
            SHA256Update(&c, bytes, first);
            SHA256Update(&c, (const uint8_t *)&length[1], sizeof length[1]);
            SHA256Update(&c, bytes + first, second);
            hash_final_hex(&h, actual), SHA256End(&c, expected);
            ck_assert_str_eq(actual, expected);
        }
}
END_TEST

/* The example of FIPS 180-4 that has two blocks. */
START_TEST(a_published_digest) {
    static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char actual[HASH_HEX_SIZE];
    sha256_hex(text, strlen(text), actual);
    ck_assert_str_eq(actual, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
END_TEST

UNIT_SUITE(hash) {
    Suite *suite = suite_create("hash");
    TCase *t = tcase_create("digests");
    tcase_add_test(t, digests_equal_libmds);
    tcase_add_test(t, lists_of_parts_equal_libmds);
    tcase_add_test(t, a_published_digest);
    suite_add_tcase(suite, t);
    return suite;
}

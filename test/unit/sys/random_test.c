/*
 * random_test.c: ids are fresh and well formed; the generator is splitmix64
 * and repeats itself from the same seed.
 */
#include "sys/random.h"

#include <string.h>

#include "test.h"

TEST(random, bytes_fill_the_whole_buffer)
{
    unsigned char buf[4097] = {0};
    unsigned seen = 0;
    CHECK_INT(hf__random_bytes(buf, 4096), 0);
    for (int i = 0; i < 4096; i += 256) {
        unsigned any = 0;
        for (int k = 0; k < 256; k++) any |= buf[i + k];
        seen += any != 0;
    }
    CHECK_INT(seen, 16);
    CHECK_INT(buf[4096], 0);
}

TEST(random, uuid_has_the_shape_of_version_4)
{
    for (int round = 0; round < 100; round++) {
        char id[40] = "";
        CHECK_INT(hf__random_uuid(id), 0);
        CHECK_INT(strlen(id), 36);
        CHECK_INT(strspn(id, "0123456789abcdef-"), 36);
        CHECK(id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-');
        CHECK_INT(id[14], '4');
        CHECK(strchr("89ab", id[19]) != NULL);
    }
}

TEST(random, uuids_differ)
{
    char a[37], b[37];
    CHECK_INT(hf__random_uuid(a), 0);
    CHECK_INT(hf__random_uuid(b), 0);
    CHECK(strcmp(a, b) != 0);
}

/* The published sequence from seed 1234567. */
TEST(random, next_is_splitmix64)
{
    uint64_t state = 1234567;
    CHECK(hf__random_next(&state) == UINT64_C(6457827717110365317));
    CHECK(hf__random_next(&state) == UINT64_C(3203168211198807973));
    CHECK(hf__random_next(&state) == UINT64_C(9817491932198370423));
}

TEST(random, same_seed_same_numbers)
{
    uint64_t a = 7, b = 7, c = 8;
    for (int i = 0; i < 10; i++)
        CHECK(hf__random_next(&a) == hf__random_next(&b));
    CHECK(hf__random_next(&a) != hf__random_next(&c));
}

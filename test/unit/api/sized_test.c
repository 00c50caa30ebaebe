/*
 * sized_test.c: structs that begin with their size, as another version has
 * them.
 */
#include "api/client/sized.h"

#include <string.h>

#include "test.h"

/* As it was first, and as it is. */
struct early {
    uint32_t struct_size;
    uint32_t flags;
    int64_t a;
};
struct now {
    uint32_t struct_size;
    uint32_t flags;
    int64_t a, b;
};

/* A field that is added where a struct ended in padding would lie within the
 * struct_size of callers that do not know it. */
TEST(sized, structs_do_not_end_in_padding)
{
#define CHECK_END(type, last)                                                  \
    if (strcmp(#type, "hf_info"))                                              \
        CHECK_INT(sizeof(struct type), SIZED_UPTO(type, last));
    SIZED_STRUCTS(CHECK_END)
#undef CHECK_END
    /* Grown since: */
    CHECK_INT(sizeof(struct hf_info), SIZED_UPTO(hf_info, node));
    CHECK_INT(sizeof(struct hf_node), SIZED_UPTO(hf_node, link));
    CHECK_INT(sizeof(struct hf_list_row), SIZED_UPTO(hf_list_row, info));
    CHECK_INT(sizeof(struct hf_value_next), SIZED_UPTO(hf_value_next, ttl_ms));
    CHECK_INT(sizeof(struct hf_quorum_node), SIZED_UPTO(hf_quorum_node, text));
    CHECK_INT(sizeof(struct hf_probe_node), SIZED_UPTO(hf_probe_node, facts));
}

TEST(sized, what_an_earlier_caller_does_not_have_is_zero)
{
    struct early from = {sizeof from, 3, 7};
    struct now to = {1, 1, 1, 1};
    CHECK_INT(
        hf__sized_read(&to, sizeof to, sizeof from, &from, sizeof from, NULL),
        HF_OK);
    CHECK_INT(to.struct_size, sizeof to);
    CHECK_INT(to.flags, 3);
    CHECK_INT(to.a, 7);
    CHECK_INT(to.b, 0);
}

TEST(sized, what_a_later_caller_has_must_be_zero)
{
    struct hf_error err = {0};
    struct now from = {sizeof from, 3, 7, 0};
    struct early to;
    CHECK_INT(
        hf__sized_read(&to, sizeof to, sizeof to, &from, sizeof from, &err),
        HF_OK);
    CHECK_INT(to.struct_size, sizeof to);
    CHECK_INT(to.a, 7);
    from.b = INT64_C(1) << 56;
    CHECK_INT(
        hf__sized_read(&to, sizeof to, sizeof to, &from, sizeof from, &err),
        HF_INVALID);
    CHECK(strstr(err.text, hf_version()) != NULL);
}

TEST(sized, an_earlier_caller_is_filled_as_far_as_it_goes)
{
    struct {
        struct early out;
        int64_t behind;
    } room = {{sizeof room.out, 0, 0}, 5};
    const struct now found = {0, 3, 7, 9};
    hf__sized_write(&room.out, &found, sizeof found);
    CHECK_INT(room.out.struct_size, sizeof room.out);
    CHECK_INT(room.out.a, 7);
    CHECK_INT(room.behind, 5);
}

TEST(sized, a_later_caller_is_told_what_is_there)
{
    struct now out = {sizeof out, 1, 1, 1};
    const struct early found = {0, 3, 7};
    hf__sized_write(&out, &found, sizeof found);
    CHECK_INT(out.a, 7);
    CHECK_INT(out.b, 0);
    CHECK(HF_HAS(&out, a));
    CHECK(!HF_HAS(&out, b));
}

TEST(sized, a_size_that_nobody_set_is_invalid)
{
    static const uint32_t bad[] = {0, 8, sizeof(struct early) - 1,
                                   SIZED_MAX + 1, UINT32_MAX};
    struct hf_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(hf__sized_check(bad[i], sizeof(struct early), &err),
                  HF_INVALID);
        CHECK(strstr(err.text, "INIT") != NULL);
    }
    CHECK_INT(hf__sized_check(SIZED_MAX, sizeof(struct early), &err), HF_OK);
}

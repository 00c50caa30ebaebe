/*
 * names_contract.c: what a lock may be called.  One rule: any 1 to 512 bytes
 * but NUL are a name, and different names are different locks.
 */
#include <string.h>

#include "lib/rig.h"

static const char *const odd[] = {"a",
                                  "A",
                                  "a ",
                                  " a",
                                  "a.lock",
                                  ".",
                                  "..",
                                  ".hidden",
                                  "~",
                                  "-n",
                                  "{a}",
                                  "{a}b",
                                  "a}b{c}d",
                                  "foo{bar",
                                  "{}x",
                                  "{",
                                  "}",
                                  "a:b",
                                  "a::b",
                                  "%61",
                                  "%",
                                  "%00",
                                  "a*",
                                  "a?",
                                  "[a]",
                                  "\\",
                                  "a\tb",
                                  "a\nb",
                                  "a\r\nb",
                                  "\x01",
                                  "\x7f",
                                  "\xff\xfe",
                                  "k\xc3\xb6nig",
                                  "\xe9\x8e\x96",
                                  "\"a\"",
                                  "'a'",
                                  "$HOME",
                                  "a;b",
                                  "a|b",
                                  "a&b",
                                  "a=b",
                                  "hf",
                                  "hf:{a}",
                                  "mode",
                                  "redisson_lock__channel:{a}",
                                  "0",
                                  "-1",
                                  "CON",
                                  "name.with.dots",
                                  "..a",
                                  "a..",
                                  "#a",
                                  "@a",
                                  "!",
                                  "^",
                                  "`"};
#define ODD_LEN (sizeof odd / sizeof odd[0])

TEST(names, of_any_bytes_work_and_are_all_different)
{
    rig_begin();
    if (rig_is_foreign()) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *l[ODD_LEN];
    for (size_t i = 0; i < ODD_LEN; i++) {
        l[i] = rig_lock(c, odd[i]);
        CHECK_STR(hf_lock_name(l[i]), odd[i]);
        int status = hf_lock_try(l[i], NULL, NULL);
        if (status != HF_OK) TEST_FAIL("\"%s\": status %d", odd[i], status);
    }
    for (size_t i = 0; i < ODD_LEN; i++)
        CHECK_INT(rig_probe(rig_lock(d, odd[i])), HF_TAKEN);
    for (size_t i = 0; i < ODD_LEN; i++) {
        CHECK_INT(hf_lock_release(l[i], NULL, NULL), HF_OK);
        CHECK_INT(rig_probe(rig_lock(d, odd[i])), HF_OK);
        if (i + 1 < ODD_LEN)
            CHECK_INT(rig_probe(rig_lock(d, odd[i + 1])), HF_TAKEN);
    }
}

TEST(names, wake_their_waiters_whatever_they_are)
{
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    for (size_t i = 0; i < ODD_LEN; i += 7) {
        hf_lock *l = rig_lock(c, odd[i]), *other = rig_lock(d, odd[i]);
        struct hf_acquire_options o = rig_options(0, 80, HF_ACQUIRE_FIXED);
        CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
        CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
        CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    }
}

TEST(names, may_be_512_bytes_long_and_every_byte_counts)
{
    char a[HF_NAME_MAX + 1], b[HF_NAME_MAX + 1];
    rig_begin();
    if (rig_is_foreign()) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    memset(a, 'x', HF_NAME_MAX);
    a[HF_NAME_MAX] = 0;
    memcpy(b, a, sizeof b);
    b[HF_NAME_MAX - 1] = 'y';
    hf_lock *l = rig_lock(c, a), *other = rig_lock(c, b);
    CHECK_STR(hf_lock_name(l), a);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(rig_lock(d, a)), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(rig_lock(d, a)), HF_OK);
    CHECK_INT(rig_probe(rig_lock(d, b)), HF_TAKEN);
}

TEST(names, that_are_empty_too_long_or_hold_a_nul_are_refused)
{
    char big[HF_NAME_MAX + 2];
    struct hf_error err = {0};
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = (hf_lock *)&big;
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    CHECK_INT(hf_lock_open(c, "", &l, &err), HF_INVALID);
    CHECK_INT(err.status, HF_INVALID);
    CHECK(err.text[0] != 0);
    CHECK_INT(hf_lock_open(c, big, &l, NULL), HF_INVALID);
    CHECK_INT(hf_lock_open_n(c, "a", 0, &l, NULL), HF_INVALID);
    CHECK_INT(hf_lock_open_n(c, "a\0b", 3, &l, NULL), HF_INVALID);
    CHECK_INT(hf_lock_open_n(c, big, HF_NAME_MAX + 1, &l, NULL), HF_INVALID);
    CHECK(l == (hf_lock *)&big); /* untouched on failure */
}

TEST(names, with_a_length_end_there)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open_n(c, "abcdef", 3, &l, NULL), HF_OK);
    int status = hf_lock_try(l, NULL, NULL);
    int same = !strcmp(hf_lock_name(l), "abc");
    hf_lock_close(l);
    CHECK_INT(status, HF_OK);
    CHECK(same);
    CHECK_INT(rig_probe(rig_lock(c, "abc")), HF_TAKEN);
    CHECK_INT(rig_probe(rig_lock(c, "abcdef")), HF_OK);
}

/* On `file` such a name is that very file; elsewhere it is only a name. */
TEST(names, with_a_slash_work_everywhere)
{
    char name[300];
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    snprintf(name, sizeof name, "%s/some.file", rig_dir() ? rig_dir() : "/x");
    hf_lock *l = rig_lock(c, name), *other = rig_lock(d, name);
    hf_hold *g, *next;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_STR(hf_hold_name(g), name);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, &next, NULL), HF_OK);
    CHECK(rig_fence_rises(fence, hf_hold_fence(next)));
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

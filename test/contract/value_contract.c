/*
 * value_contract.c: optimistic locking: a value with a version.  One rule for
 * all of it: a client that read an older version cannot write.
 */
#include <string.h>

#include "lib/rig.h"

static uint64_t put(hf_client *c, const char *key, uint64_t version,
                    const char *text)
{
    uint64_t written = 0;
    struct hf_error err = {0};
    if (hf_value_write(c, key, version, text, strlen(text), 0, &written, &err))
        TEST_FAIL("write: %s", err.text);
    CHECK(written > 0);
    return written;
}

static int put_status(hf_client *c, const char *key, uint64_t version,
                      const char *text)
{
    return hf_value_write(c, key, version, text, strlen(text), 0, NULL, NULL);
}

/* Read it and compare; returns its version. */
static uint64_t holds(hf_client *c, const char *key, const char *text)
{
    struct hf_value v = HF_VALUE_INIT;
    struct hf_error err = {0};
    if (hf_value_read(c, key, &v, &err)) TEST_FAIL("read: %s", err.text);
    CHECK(v.version > 0);
    CHECK_STR(v.data, text);
    CHECK_INT(v.len, strlen(text));
    uint64_t version = v.version;
    hf_value_free(c, &v);
    return version;
}

static int is_absent(hf_client *c, const char *key)
{
    struct hf_value v = HF_VALUE_INIT;
    CHECK_INT(hf_value_read(c, key, &v, NULL), HF_OK);
    int absent = v.version == 0 && v.data == NULL && v.ttl_ms == -2;
    hf_value_free(c, &v);
    return absent;
}

TEST(value, that_was_never_written_has_version_0)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK(is_absent(c, "a"));
}

TEST(value, is_read_as_it_was_written)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    uint64_t version = put(c, "a", 0, "first");
    CHECK_INT(holds(c, "a", "first"), version);
    CHECK_INT(holds(rig_client(NULL), "a", "first"), version);
}

TEST(value, may_hold_any_byte_and_none)
{
    static const char bytes[] = "\0\n\r \xff{}%";
    struct hf_value v = HF_VALUE_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, bytes, 9, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    CHECK(v.len == 9 && !memcmp(v.data, bytes, 9) && v.data[9] == '\0');
    uint64_t version = v.version;
    hf_value_free(c, &v);
    CHECK_INT(hf_value_write(c, "a", version, NULL, 0, 0, NULL, NULL), HF_OK);
    CHECK(holds(c, "a", "") > version);
}

TEST(value, of_the_largest_size_comes_back_whole)
{
    static char big[HF_VALUE_MAX + 1];
    struct hf_value v = HF_VALUE_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < HF_VALUE_MAX; i++) big[i] = (char)(i * 7 + i / 256);
    CHECK_INT(hf_value_write(c, "a", 0, big, HF_VALUE_MAX, 0, NULL, NULL),
              HF_OK);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    int is_same = v.len == HF_VALUE_MAX && !memcmp(v.data, big, v.len);
    hf_value_free(c, &v);
    CHECK(is_same);
    CHECK_INT(
        hf_value_write(c, "a", HF_VALUE_ANY, big, sizeof big, 0, NULL, NULL),
        HF_INVALID);
}

TEST(value, is_written_only_over_the_version_that_was_read)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *mine = rig_client(NULL), *theirs = rig_client(NULL);
    uint64_t first = put(mine, "a", 0, "1");
    uint64_t second = put(theirs, "a", first, "2");
    CHECK(second > first);
    CHECK_INT(put_status(mine, "a", first, "3"), HF_CHANGED);
    CHECK_INT(put_status(mine, "a", 0, "3"), HF_CHANGED);
    CHECK_INT(holds(mine, "a", "2"), second);
}

TEST(value, is_written_whatever_is_there_if_any_version_will_do)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    uint64_t first = put(c, "a", HF_VALUE_ANY, "1");
    CHECK(put(c, "a", HF_VALUE_ANY, "2") > first);
    holds(c, "a", "2");
}

TEST(value, is_deleted_only_in_the_version_that_was_read)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    uint64_t first = put(c, "a", 0, "1"), second = put(c, "a", first, "2");
    CHECK_INT(hf_value_delete(c, "a", first, NULL), HF_CHANGED);
    CHECK_INT(hf_value_delete(c, "a", 0, NULL), HF_CHANGED);
    holds(c, "a", "2");
    CHECK_INT(hf_value_delete(c, "a", second, NULL), HF_OK);
    CHECK(is_absent(c, "a"));
    CHECK_INT(hf_value_delete(c, "a", second, NULL), HF_CHANGED);
    CHECK_INT(hf_value_delete(c, "a", 0, NULL), HF_OK);
    CHECK_INT(hf_value_delete(c, "a", HF_VALUE_ANY, NULL), HF_OK);
}

TEST(value, has_a_higher_version_after_it_was_deleted)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    uint64_t first = put(c, "a", 0, "1");
    CHECK_INT(hf_value_delete(c, "a", first, NULL), HF_OK);
    CHECK(put(c, "a", 0, "2") > first);
    CHECK_INT(put_status(c, "a", first, "3"), HF_CHANGED);
}

static int a_is_absent(void *arg)
{
    return is_absent(arg, "a");
}

TEST(value, ends_by_itself_and_has_a_higher_version_afterwards)
{
    struct hf_value v = HF_VALUE_INIT;
    uint64_t first = 0;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 300, &first, NULL), HF_OK);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    CHECK(v.version == 0 || (v.ttl_ms >= 0 && v.ttl_ms <= 300));
    hf_value_free(c, &v);
    CHECK(rig_until(a_is_absent, c));
    CHECK(put(c, "a", 0, "2") > first);
}

TEST(value, loses_its_end_when_it_is_written_without_one)
{
    struct hf_value v = HF_VALUE_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 60000, NULL, NULL), HF_OK);
    put(c, "a", HF_VALUE_ANY, "2");
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    int64_t ttl_ms = v.ttl_ms;
    hf_value_free(c, &v);
    CHECK_INT(ttl_ms, -1);
}

TEST(value, tells_the_clock_of_the_store)
{
    struct hf_value v = HF_VALUE_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    CHECK(v.now_ms > INT64_C(1600000000000));
    uint64_t version = put(c, "a", 0, "1");
    /* Versions are that clock, in microseconds. */
    CHECK((int64_t)(version / 1000) >= v.now_ms);
}

TEST(value, refuses_bad_keys_and_lives_before_anything_is_sent)
{
    char key[HF_NAME_MAX + 2];
    struct hf_value v = HF_VALUE_INIT;
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    CHECK_INT(hf_value_read(c, key, &v, &err), HF_INVALID);
    CHECK(strstr(err.text, "512") != NULL);
    CHECK_INT(hf_value_read(c, "", &v, NULL), HF_INVALID);
    CHECK_INT(hf_value_read(c, NULL, &v, NULL), HF_INVALID);
    CHECK_INT(hf_value_write(c, "a", 0, "x", 1, -1, NULL, NULL), HF_INVALID);
    CHECK_INT(
        hf_value_write(c, "a", 0, "x", 1, HF_VALUE_TTL_MS_MAX + 1, NULL, NULL),
        HF_INVALID);
    CHECK_INT(hf_value_write(c, "a", 0, NULL, 1, 0, NULL, NULL), HF_INVALID);
    CHECK(is_absent(c, "a"));
}

TEST(value, keys_of_any_bytes_are_kept_apart)
{
    static const char *const keys[] = {
        "a/b", "a%2Fb", "a b", "{a}", "a\nb", "\xff\xfe", ".", "a.value",
    };
    char text[16], longest[HF_NAME_MAX + 1];
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    memset(longest, 'k', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    put(c, longest, 0, "long");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(text, sizeof text, "%d", (int)i);
        put(c, keys[i], 0, text);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(text, sizeof text, "%d", (int)i);
        holds(c, keys[i], text);
    }
    holds(c, longest, "long");
}

static int on_row(const struct hf_list_row *row, void *user)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

TEST(value, is_not_listed_as_a_lock)
{
    int rows = 0;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    put(c, "a", 0, "1");
    CHECK_INT(hf_client_list(c, NULL, on_row, &rows, NULL), HF_OK);
    CHECK_INT(rows, 0);
}

/* ---- asynchronously ----------------------------------------------------- */

struct heard {
    atomic_int calls;
    int status;
    uint64_t version;
    char data[32];
};

static void on_written(hf_client *c, int status, uint64_t version,
                       const struct hf_error *err, void *user)
{
    struct heard *h = user;
    (void)c;
    (void)err;
    h->status = status;
    h->version = version;
    atomic_fetch_add(&h->calls, 1);
}

static void on_read(hf_client *c, int status, const struct hf_value *v,
                    const struct hf_error *err, void *user)
{
    struct heard *h = user;
    (void)c;
    (void)err;
    h->status = status;
    h->version = v ? v->version : 0;
    if (v && v->data) snprintf(h->data, sizeof h->data, "%s", v->data);
    atomic_fetch_add(&h->calls, 1);
}

TEST(value, is_written_and_read_asynchronously)
{
    static struct heard w, r;
    memset(&w, 0, sizeof w);
    memset(&r, 0, sizeof r);
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    char text[] = "later";
    CHECK_INT(hf_value_write_start(c, "a", 0, text, 5, 0, on_written, &w, NULL),
              HF_OK);
    memset(text, 'x', 5); /* it was copied */
    CHECK(rig_until_equal(&w.calls, 1));
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(hf_value_read_start(c, "a", on_read, &r, NULL), HF_OK);
    CHECK(rig_until_equal(&r.calls, 1));
    CHECK_INT(r.status, HF_OK);
    CHECK_STR(r.data, "later");
    CHECK(r.version == w.version && w.version > 0);
}

TEST(value, is_deleted_asynchronously)
{
    static struct heard w;
    memset(&w, 0, sizeof w);
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    uint64_t first = put(c, "a", 0, "1");
    CHECK_INT(hf_value_delete_start(c, "a", first + 1, on_written, &w, NULL),
              HF_OK);
    CHECK(rig_until_equal(&w.calls, 1));
    CHECK_INT(w.status, HF_CHANGED);
    CHECK_INT(hf_value_delete_start(c, "a", first, on_written, &w, NULL),
              HF_OK);
    CHECK(rig_until_equal(&w.calls, 2));
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(w.version, 0);
    CHECK(is_absent(c, "a"));
    CHECK_INT(hf_value_delete_start(c, "", 0, on_written, &w, NULL),
              HF_INVALID);
}

TEST(value, tells_an_asynchronous_writer_that_it_has_changed)
{
    static struct heard w;
    memset(&w, 0, sizeof w);
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    uint64_t first = put(c, "a", 0, "1");
    put(c, "a", first, "2");
    CHECK_INT(
        hf_value_write_start(c, "a", first, "3", 1, 0, on_written, &w, NULL),
        HF_OK);
    CHECK(rig_until_equal(&w.calls, 1));
    CHECK_INT(w.status, HF_CHANGED);
    holds(c, "a", "2");
}

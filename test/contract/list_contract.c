/*
 * list_contract.c: going through the locks.  One rule: what is held and matches
 * is seen; what is free is not called held.
 */
#include <string.h>

#include "lib/rig.h"

struct seen {
    int rows;
    int locked[4];
    int others;
    int stop_after;
};

static const char *const names[4] = {"job:a", "job:b", "other", "job[1]"};

static int on_row(const struct hf_list_row *row, void *user)
{
    struct seen *s = user;
    int known = 0;
    for (int i = 0; i < 4; i++) {
        if (row->name_len != strlen(names[i])) continue;
        if (memcmp(row->name, names[i], row->name_len) != 0) continue;
        s->locked[i] += row->info->locked;
        known = 1;
    }
    if (!known && row->info->locked) s->others++;
    s->rows++;
    return s->stop_after > 0 && s->rows >= s->stop_after;
}

static struct seen listed(hf_client *c, const char *match)
{
    struct seen s = {0};
    CHECK_INT(hf_client_list(c, match, on_row, &s, NULL), HF_OK);
    CHECK_INT(s.others, 0);
    return s;
}

/* The same, by a client that only looks. */
static struct seen looked(const char *match)
{
    hf_client *c = rig_looker();
    struct seen s = listed(c, match);
    rig_close(c);
    return s;
}

static hf_client *client_that_lists(void)
{
    hf_client *c = rig_client(NULL);
    struct seen s = {0};
    if (rig_has(HF_CAP_LIST)) return c;
    CHECK_INT(hf_client_list(c, NULL, on_row, &s, NULL), HF_UNSUPPORTED);
    CHECK_INT(s.rows, 0);
    return NULL;
}

TEST(list, of_an_empty_store_is_empty)
{
    rig_begin();
    hf_client *c = client_that_lists();
    if (!c) return;
    CHECK_INT(listed(c, NULL).rows, 0);
    CHECK_INT(looked("*").rows, 0);
}

TEST(list, shows_what_is_held_by_whichever_client)
{
    rig_begin();
    hf_client *c = client_that_lists();
    if (!c) return;
    hf_client *d = rig_client(NULL);
    for (int i = 0; i < 4; i++)
        CHECK_INT(hf_lock_try(rig_lock(i % 2 ? c : d, names[i]), NULL, NULL),
                  HF_OK);
    struct seen s = listed(c, NULL);
    for (int i = 0; i < 4; i++) CHECK_INT(s.locked[i], 1);
    s = looked("*");
    for (int i = 0; i < 4; i++) CHECK_INT(s.locked[i], 1);
}

TEST(list, follows_the_pattern)
{
    rig_begin();
    hf_client *c = client_that_lists();
    if (!c) return;
    for (int i = 0; i < 4; i++)
        CHECK_INT(hf_lock_try(rig_lock(c, names[i]), NULL, NULL), HF_OK);
    struct seen s = looked("job:*");
    CHECK_INT(s.locked[0] + s.locked[1], 2);
    CHECK_INT(s.locked[2] + s.locked[3], 0);
    s = looked("job:?");
    CHECK_INT(s.locked[0] + s.locked[1], 2);
    s = looked("job:[b-z]");
    CHECK_INT(s.locked[0], 0);
    CHECK_INT(s.locked[1], 1);
    s = looked("job\\[1\\]");
    CHECK_INT(s.locked[3], 1);
    CHECK_INT(s.locked[0] + s.locked[1] + s.locked[2], 0);
    s = looked("nothing-like-it");
    CHECK_INT(s.rows, 0);
}

TEST(list, does_not_call_a_released_lock_held)
{
    rig_begin();
    hf_client *c = client_that_lists();
    if (!c) return;
    hf_lock *l = rig_lock(c, names[0]);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(looked(NULL).locked[0], 1);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(looked(NULL).locked[0], 0);
}

TEST(list, stops_when_told)
{
    rig_begin();
    hf_client *c = client_that_lists();
    if (!c) return;
    struct seen s = {.stop_after = 2};
    for (int i = 0; i < 4; i++)
        CHECK_INT(hf_lock_try(rig_lock(c, names[i]), NULL, NULL), HF_OK);
    CHECK_INT(hf_client_list(c, NULL, on_row, &s, NULL), HF_OK);
    CHECK_INT(s.rows, 2);
}

static int on_count(const struct hf_list_row *row, void *user)
{
    int *n = user;
    *n += row->info->locked && row->info->ttl_ms != -2 && row->info->owner[0];
    return 0;
}

TEST(list, goes_through_more_than_one_page)
{
    char name[32];
    int n = 0;
    rig_begin();
    hf_client *c = client_that_lists();
    if (!c) return;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "page-%d", i);
        CHECK_INT(hf_lock_try(rig_lock(c, name), NULL, NULL), HF_OK);
    }
    CHECK_INT(hf_client_list(rig_looker(), "page-*", on_count, &n, NULL),
              HF_OK);
    CHECK_INT(n, 300);
}

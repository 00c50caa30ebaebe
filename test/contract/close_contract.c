/*
 * close_contract.c: closing a client while calls of several operations are
 * under way.  One rule: they end with HF_CLOSED, and the client is there until
 * they have.
 */
#include "lib/rig.h"

#define PAUSE_MS 1000 /* long enough for a close that does not wait to return */

struct caller {
    hf_client *client;
    atomic_int entered;
    atomic_int closing; /* the close is called now */
    atomic_int left;    /* the callback has used the client's data */
    atomic_int status;
};

/* A client that the test closes itself. */
static hf_client *client_open(void)
{
    hf_client *c = NULL;
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    return c;
}

/* Close the client while the call is in its callback, which stays until then
 * and for a while longer. */
static void close_meanwhile(struct caller *w)
{
    CHECK(rig_until_equal(&w->entered, 1));
    atomic_store(&w->closing, 1);
    hf_client_close(w->client);
    CHECK_INT(atomic_load(&w->left), 1);
    rig_join();
}

static void stay(struct caller *w)
{
    atomic_store(&w->entered, 1);
    rig_until_equal(&w->closing, 1);
    rig_pause_ms(PAUSE_MS);
}

static int slow(const struct hf_value *now, struct hf_value_next *next,
                void *user)
{
    struct caller *w = user;
    next->data = "x";
    next->len = 1;
    stay(w);
    next->ttl_ms = now->version ? 1000 : 0;
    atomic_store(&w->left, 1);
    return 0;
}

static void update(void *arg)
{
    struct caller *w = arg;
    atomic_store(&w->status,
                 hf_value_update(w->client, "v", slow, w, NULL, NULL, NULL));
}

TEST(close, waits_for_an_update_which_is_told)
{
    static struct caller w;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    rig_client(NULL); /* a space in memory stays as long as its last client */
    w = (struct caller){.client = client_open()};
    rig_spawn(update, &w);
    close_meanwhile(&w);
    CHECK_INT(atomic_load(&w.status), HF_CLOSED);
}

static void begin(void *arg)
{
    struct caller *w = arg;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    atomic_store(&w->entered, 1);
    atomic_store(&w->status,
                 hf_once_begin(w->client, "job", NULL, &run, &r, NULL));
}

TEST(close, ends_a_begin_that_waits)
{
    static struct caller w;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, NULL), HF_OK);
    w = (struct caller){.client = client_open()};
    rig_spawn(begin, &w);
    CHECK(rig_until_equal(&w.entered, 1));
    rig_pause_ms(PAUSE_MS);
    hf_client_close(w.client);
    rig_join();
    CHECK_INT(atomic_load(&w.status), HF_CLOSED);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

static int row(const struct hf_list_row *row, void *user)
{
    struct caller *w = user;
    (void)row;
    stay(w);
    atomic_store(&w->left, 1);
    return 0;
}

static void list(void *arg)
{
    struct caller *w = arg;
    (void)hf_client_list(w->client, NULL, row, w, NULL);
}

TEST(close, waits_for_a_list)
{
    static struct caller w;
    rig_begin();
    hf_lock *a = rig_lock(rig_client(NULL), "a");
    if (!rig_has(HF_CAP_LIST)) return;
    CHECK_INT(hf_lock_try(a, NULL, NULL), HF_OK);
    w = (struct caller){.client = client_open()};
    rig_spawn(list, &w);
    close_meanwhile(&w);
}

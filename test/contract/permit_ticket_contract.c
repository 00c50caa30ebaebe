/*
 * permit_ticket_contract.c: permits that go to another process.  One rule: they
 * stay out until the ticket's holder gives them back, or their lease ends.
 */
#include <string.h>

#include "lib/rig_semaphore.h"

static int detached_take(hf_semaphore *s, int64_t permits, struct hf_permit *p)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, 30000, HF_ACQUIRE_DETACHED);
    o.permits = permits;
    return hf_semaphore_acquire(s, &o, p, NULL);
}

TEST(permit_ticket, permits_go_to_another_client)
{
    char ticket[HF_PERMIT_TICKET_MAX];
    struct hf_permit p, q;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_client *giver = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(giver, "a", 3);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "a", 3);
    CHECK_INT(detached_take(s, 2, &p), HF_OK);
    CHECK_INT(hf_semaphore_detach(s, &p, ticket, NULL), HF_OK);
    CHECK(strlen(ticket) < HF_PERMIT_TICKET_MAX);
    CHECK_INT(hf_semaphore_release(s, &p, NULL), HF_NOT_OWNER);
    CHECK_INT(rig_count(other).available, 1);
    CHECK_INT(hf_semaphore_attach(other, ticket, 40000, &q, NULL), HF_OK);
    CHECK_INT(q.count, 2);
    CHECK(q.fence == p.fence);
    CHECK(q.valid_ms > 0 && q.valid_ms <= 40000);
    CHECK_INT(hf_semaphore_extend(other, &q, 30000, NULL), HF_OK);
    CHECK_INT(hf_semaphore_release(other, &q, NULL), HF_OK);
    CHECK_INT(rig_count(other).available, 3);
}

/* A permit is the caller's to write to; the ticket says what was granted. */
TEST(permit_ticket, says_how_many_were_granted)
{
    char ticket[HF_PERMIT_TICKET_MAX];
    struct hf_permit p, q;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "a", 3);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "a", 3);
    CHECK_INT(detached_take(s, 2, &p), HF_OK);
    p.count = 1;
    CHECK_INT(hf_semaphore_detach(s, &p, ticket, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK_INT(q.count, 2);
    CHECK_INT(hf_semaphore_release(other, &q, NULL), HF_OK);
    CHECK_INT(rig_count(other).available, 3);
    CHECK_INT(detached_take(s, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_detach(s, &p, ticket, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK_INT(q.count, 1);
}

TEST(permit_ticket, permits_outlive_the_client_that_took_them)
{
    char ticket[HF_PERMIT_TICKET_MAX];
    struct hf_permit p, q;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *other = rig_semaphore_set(rig_client(NULL), "a", 1);
    hf_client *giver = rig_client(NULL);
    hf_semaphore *s;
    CHECK_INT(hf_semaphore_open(giver, "a", NULL, &s, NULL), HF_OK);
    CHECK_INT(detached_take(s, 1, &p), HF_OK);
    CHECK_INT(hf_semaphore_detach(s, &p, ticket, NULL), HF_OK);
    hf_semaphore_close(s);
    rig_close(giver);
    CHECK_INT(hf_semaphore_try(other, &q, NULL), HF_TAKEN);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK_INT(hf_semaphore_release(other, &q, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_EXPIRED);
    CHECK_INT(hf_semaphore_try(other, &q, NULL), HF_OK);
    CHECK_INT(hf_semaphore_release(other, &q, NULL), HF_OK);
}

TEST(permit_ticket, is_only_of_permits_that_were_taken_detached)
{
    char ticket[HF_PERMIT_TICKET_MAX] = "";
    struct hf_permit p, none = {0};
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "a", 1);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_detach(s, &p, ticket, NULL), HF_UNSUPPORTED);
    CHECK_STR(ticket, "");
    CHECK_INT(hf_semaphore_detach(s, &none, ticket, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_detach(hf_semaphore_lock(s), p.holder, ticket, &err),
              HF_UNSUPPORTED);
    CHECK(strstr(err.text, "hf_semaphore_detach"));
    CHECK_INT(hf_semaphore_release(s, &p, NULL), HF_OK);
}

TEST(permit_ticket, that_is_none_is_refused)
{
    static const char *const bad[] = {
        "",        "hf1:",           "hfp1:",       "hfp1:0:hf1:",
        "hfp1:1:", "hfp1:1001:hf1:", "hfp1:x:hf1:", "hfp1:1:hf1:nonsense"};
    struct hf_permit p;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "a", 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (hf_semaphore_attach(s, bad[i], 0, &p, NULL) != HF_INVALID)
            TEST_FAIL("\"%s\" is taken for a ticket", bad[i]);
    CHECK_INT(hf_semaphore_attach(s, NULL, 0, &p, NULL), HF_INVALID);
}

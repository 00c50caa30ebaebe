/*
 * permit_ticket_contract.c: permits that go to another process.  One rule: they
 * stay out until the ticket's holder gives them back, or their lease ends.
 */
#include <string.h>

#include "lib/rig_semaphore.h"

static int detached_take(hf_semaphore *s, int64_t permits, hf_hold **p)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, 30000, HF_ACQUIRE_DETACHED);
    o.permits = permits;
    return hf_semaphore_acquire(s, &o, p, NULL);
}

TEST(permit_ticket, permits_go_to_another_client)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *p, *q;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_DETACHED)) return;
    hf_client *giver = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(giver, "a", 3);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "a", 3);
    CHECK_INT(detached_take(s, 2, &p), HF_OK);
    uint64_t fence = hf_hold_fence(p);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, NULL), HF_OK);
    CHECK(strlen(ticket) < HF_TICKET_MAX);
    CHECK_INT(hf_hold_release(p, NULL), HF_INVALID);
    CHECK_INT(rig_count(other).available, 1);
    CHECK_INT(hf_semaphore_attach(other, ticket, 40000, &q, NULL), HF_OK);
    CHECK_INT(hf_hold_count(q), 2);
    CHECK(hf_hold_fence(q) == fence);
    CHECK(hf_hold_valid_ms(q) > 0 && hf_hold_valid_ms(q) <= 40000);
    CHECK_INT(hf_hold_extend(q, 30000, NULL), HF_OK);
    CHECK_INT(hf_hold_release(q, NULL), HF_OK);
    CHECK_INT(rig_count(other).available, 3);
}

/* Also by default, where their number was not given. */
TEST(permit_ticket, says_how_many_were_granted)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *p, *q;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_DETACHED)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "a", 3);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "a", 3);
    CHECK_INT(detached_take(s, 2, &p), HF_OK);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK_INT(hf_hold_count(q), 2);
    CHECK_INT(hf_hold_release(q, NULL), HF_OK);
    CHECK_INT(rig_count(other).available, 3);
    CHECK_INT(detached_take(s, 0, &p), HF_OK);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK_INT(hf_hold_count(q), 1);
}

TEST(permit_ticket, permits_outlive_the_client_that_took_them)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *p, *q;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_DETACHED)) return;
    hf_semaphore *other = rig_semaphore_set(rig_client(NULL), "a", 1);
    hf_client *giver = rig_client(NULL);
    hf_semaphore *s;
    CHECK_INT(hf_semaphore_open(giver, "a", NULL, &s, NULL), HF_OK);
    CHECK_INT(detached_take(s, 1, &p), HF_OK);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, NULL), HF_OK);
    hf_semaphore_close(s);
    rig_close(giver);
    CHECK_INT(hf_semaphore_try(other, &q, NULL), HF_TAKEN);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_OK);
    CHECK_INT(hf_hold_release(q, NULL), HF_OK);
    CHECK_INT(hf_semaphore_attach(other, ticket, 0, &q, NULL), HF_EXPIRED);
    CHECK_INT(hf_semaphore_try(other, &q, NULL), HF_OK);
    CHECK_INT(hf_hold_release(q, NULL), HF_OK);
}

TEST(permit_ticket, is_only_of_permits_that_were_taken_detached)
{
    char ticket[HF_TICKET_MAX] = "";
    hf_hold *p;
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_DETACHED)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "a", 1);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "not acquired detached") != NULL);
    CHECK_STR(ticket, "");
    CHECK_INT(hf_hold_ticket(NULL, ticket, sizeof ticket, NULL), HF_INVALID);
    CHECK_STR(ticket, "");
    CHECK_INT(hf_hold_state(p), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, NULL), HF_INVALID);
    CHECK_STR(ticket, "");
}

TEST(permit_ticket, that_is_none_is_refused)
{
    static const char *const bad[] = {
        "",        "hf1:",           "hfp1:",       "hfp1:0:hf1:",
        "hfp1:1:", "hfp1:1001:hf1:", "hfp1:x:hf1:", "hfp1:1:hf1:nonsense"};
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_DETACHED)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "a", 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (hf_semaphore_attach(s, bad[i], 0, &p, NULL) != HF_INVALID)
            TEST_FAIL("\"%s\" is taken for a ticket", bad[i]);
    CHECK_INT(hf_semaphore_attach(s, NULL, 0, &p, NULL), HF_INVALID);
}

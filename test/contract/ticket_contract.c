/*
 * ticket_contract.c: holds that outlive their process.  One rule: the ticket,
 * and only the ticket, gives the hold back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/rig.h"

/* Acquire detached; 0 if the store cannot, which it must say. */
static int detached_acquire(hf_lock *l, int64_t lease_ms, hf_hold **g)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, lease_ms, HF_ACQUIRE_DETACHED);
    struct hf_error err = {0};
    int status = hf_lock_acquire(l, &o, g, &err);
    if (rig_has(HF_CAP_DETACHED)) {
        CHECK_INT(status, HF_OK);
        return 1;
    }
    CHECK_INT(status, HF_UNSUPPORTED);
    CHECK(err.text[0] != 0);
    CHECK_INT(rig_probe(l), HF_OK);
    return 0;
}

TEST(ticket, hold_outlives_its_client)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g, *again;
    struct hf_info info = HF_INFO_INIT;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 30000, &g)) return;
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    CHECK(strlen(ticket) > 0 && strlen(ticket) < HF_TICKET_MAX);
    CHECK_INT(hf_hold_state(g), HF_STATE_NONE);
    CHECK_INT(hf_hold_release(g, NULL), HF_INVALID);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    rig_close(c);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.detached, 1);
    CHECK(info.ttl_ms > 0 && info.ttl_ms <= 30000);
    CHECK_INT(hf_lock_attach(other, ticket, 40000, &again, NULL), HF_OK);
    CHECK(hf_hold_fence(again) == fence);
    CHECK_INT(hf_hold_lease_ms(again), 40000);
    CHECK(hf_hold_valid_ms(again) > 20000 && hf_hold_valid_ms(again) <= 40000);
    CHECK_INT(hf_hold_state(again), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(again, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(ticket, releases_without_taking_over)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 30000, &g)) return;
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    CHECK_INT(hf_ticket_release(other, ticket, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
    /* The second time there is nothing left. */
    int status = hf_ticket_release(other, ticket, NULL);
    CHECK_INT(status, HF_EXPIRED);
    CHECK_INT(hf_lock_attach(other, ticket, 0, &g, NULL), HF_EXPIRED);
}

TEST(ticket, can_be_passed_on_many_times)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g, *again;
    rig_begin();
    hf_lock *l[2] = {rig_lock(rig_client(NULL), "a"),
                     rig_lock(rig_client(NULL), "a")};
    if (!detached_acquire(l[0], 30000, &g)) return;
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    for (int i = 1; i < 6; i++) {
        CHECK_INT(hf_lock_attach(l[i % 2], ticket, 0, &again, NULL), HF_OK);
        CHECK(hf_hold_fence(again) == fence);
        CHECK_INT(hf_hold_ticket(again, ticket, sizeof ticket, NULL), HF_OK);
    }
    CHECK_INT(hf_ticket_release(l[0], ticket, NULL), HF_OK);
    CHECK_INT(rig_probe(l[1]), HF_OK);
}

TEST(ticket, of_a_hold_whose_lease_ended_is_expired)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 2000, &g)) return;
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    rig_pause_ms(2300);
    CHECK_INT(hf_lock_attach(l, ticket, 0, &g, NULL), HF_EXPIRED);
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_EXPIRED);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(ticket, of_a_hold_that_somebody_else_has_now_is_lost)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g, *next;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 2000, &g)) return;
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    CHECK(rig_fence_rises(fence, hf_hold_fence(next)));
    CHECK_INT(hf_lock_attach(l, ticket, 0, &g, NULL), HF_LOST);
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_LOST);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

TEST(ticket, of_the_same_holders_earlier_hold_does_not_free_the_later_one)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 2000, &g)) return;
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_LOST);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

TEST(ticket, that_is_none_is_invalid)
{
    static const char *const bad[] = {
        "",
        "x",
        "0",
        "a:b:c",
        ":::::",
        "%s%n",
        "hf2.zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz:1.1",
        "hf2:01234567-89ab-4def-8123-456789abcdef:1:1:0:0",
        "hf2:01234567-89ab-4def-8123-456789abcdef:1:0123456789abcdeF:0:0",
        "hf2:01234567-89ab-4def-8123-456789abcdef:1:0123456789abcdef0:0:0",
        "hf1:01234567-89ab-4def-8123-456789abcdef:1:1:0:0",
        "99999999999999999999999999999999999999999999999999999999999999999999"
        "99999999999999999999999999999999999999999999999999999999999999999999"
        "99999999999999999999999999999999999999999999999999999999999999999999"};
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_error err = {0};
        hf_hold *hold;
        int attach = hf_lock_attach(l, bad[i], 0, &hold, &err);
        int release = hf_ticket_release(l, bad[i], NULL);
        if (!rig_has(HF_CAP_DETACHED) && attach == HF_UNSUPPORTED) continue;
        CHECK_INT(attach, HF_INVALID);
        CHECK_INT(release, HF_INVALID);
        CHECK(err.text[0] != 0);
    }
    CHECK_INT(rig_probe(l), HF_OK);
}

/* Tickets as they could be made of what a store shows about `l`. */
static void forgeries_fail(hf_lock *l, uint64_t fence)
{
    static const char *const forms[] = {"hf1:%s:%" PRIx64 ":0:0",
                                        "hf2:%s:%016" PRIx64 ":0:0"};
    struct hf_info info = HF_INFO_INIT;
    char bad[2 * HF_TICKET_MAX];
    hf_hold *hold;
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.owner[0] != 0);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t guess = i < 18 ? i : i == 18 ? fence : info.fence;
        snprintf(bad, sizeof bad, forms[i % 2], info.owner, guess);
        CHECK(hf_ticket_release(l, bad, NULL) != HF_OK);
        CHECK(hf_lock_attach(l, bad, 0, &hold, NULL) != HF_OK);
    }
    CHECK_INT(rig_probe(l), HF_TAKEN);
}

TEST(ticket, made_of_what_a_store_shows_is_worth_nothing)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *eve = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 30000, &g)) return;
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    forgeries_fail(eve, fence);
    CHECK_INT(hf_ticket_release(eve, ticket, NULL), HF_OK);
    /* What a process holds has no ticket at all. */
    CHECK_INT(rig_acquire(l, 0, 0, &g), HF_OK);
    forgeries_fail(eve, hf_hold_fence(g));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* `ticket` with `tail` in place of its number and its fence. */
static void ticket_forge(const char *ticket, const char *tail, char *out)
{
    size_t len = strlen(ticket);
    int colons = 0;
    while (len > 0 && (colons += ticket[len - 1] == ':') < 2) len--;
    snprintf(out, 2 * HF_TICKET_MAX, "%.*s%s", (int)len, ticket, tail);
}

TEST(ticket, that_is_damaged_moves_no_fence)
{
    static const char ahead[] = "9000000000000000:9000000000000000";
    char ticket[HF_TICKET_MAX], bad[2 * HF_TICKET_MAX];
    hf_hold *g, *next;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *b = rig_lock(rig_client(NULL), "b");
    if (!detached_acquire(l, 30000, &g)) return;
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    ticket_forge(ticket, "9000000000000000:1", bad); /* above its fence */
    CHECK_INT(hf_ticket_release(l, bad, NULL), HF_INVALID);
    CHECK_INT(hf_lock_attach(l, bad, 0, &next, NULL), HF_INVALID);
    ticket_forge(ticket, "1:9223372036854775807", bad);
    CHECK_INT(hf_ticket_release(l, bad, NULL), HF_INVALID);
    ticket_forge(ticket, ahead, bad);
    CHECK_INT(hf_ticket_release(b, bad, NULL), HF_EXPIRED);
    CHECK_INT(hf_lock_try(b, &next, NULL), HF_OK);
    CHECK(hf_hold_fence(next) < 9000000000000000);
    CHECK_INT(hf_ticket_release(l, bad, NULL), HF_OK); /* owner and attempt */
    CHECK_INT(hf_lock_try(l, &next, NULL), HF_OK);
    CHECK(rig_fence_rises(fence, hf_hold_fence(next)));
    CHECK(hf_hold_fence(next) < 9000000000000000);
}

TEST(ticket, is_not_given_for_an_ordinary_hold)
{
    char ticket[HF_TICKET_MAX] = "untouched";
    hf_hold *g;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_hold_ticket(NULL, ticket, sizeof ticket, NULL), HF_INVALID);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_UNSUPPORTED);
    CHECK_STR(ticket, "untouched");
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_INVALID);
    CHECK_STR(ticket, "untouched");
}

TEST(ticket, that_there_is_no_room_for_leaves_the_hold_as_it_was)
{
    char ticket[HF_TICKET_MAX] = "untouched";
    hf_hold *g;
    struct hf_error err = {0};
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 30000, &g)) return;
    CHECK_INT(hf_hold_ticket(g, ticket, 10, &err), HF_INVALID);
    CHECK(strstr(err.text, "room for 10 bytes") != NULL);
    CHECK_INT(hf_hold_ticket(g, NULL, sizeof ticket, NULL), HF_INVALID);
    CHECK_STR(ticket, "untouched");
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(ticket, hold_can_be_broken)
{
    char ticket[HF_TICKET_MAX];
    hf_hold *g, *next;
    int was = 77;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    if (!detached_acquire(l, 30000, &g)) return;
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    if (!rig_has(HF_CAP_BREAK)) {
        CHECK_INT(hf_lock_break(other, &was, NULL), HF_UNSUPPORTED);
        return;
    }
    CHECK_INT(hf_lock_break(other, &was, NULL), HF_OK);
    CHECK_INT(was, 1);
    CHECK_INT(hf_lock_try(other, &next, NULL), HF_OK);
    CHECK(rig_fence_rises(fence, hf_hold_fence(next)));
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_LOST);
}

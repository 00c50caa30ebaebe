/*
 * rules_boot_test.c: the model node as a member of a quorum.
 */
#include <string.h>

#include "rules/store.h"
#include "lib/fake_env.h"
#include "test.h"

#define NOW INT64_C(1700000000000000)
#define LEASE (30 * US_PER_S)
#define QUARANTINE (LEASE + 310 * US_PER_MS)

static struct store *s;
static struct reply rep;

static void stop(void *arg)
{
    (void)arg;
    hf__rules_store_close(s);
}

static void begin(void)
{
    s = hf__rules_store_open(&hf__alloc_default);
    CHECK(s != NULL);
    hf__rules_store_identify(s, 7, 0);
    test_cleanup(stop, NULL);
}

static struct request boot_of(unsigned flags)
{
    return (struct request){.verb = VERB_BOOT,
                            .flags = flags,
                            .name = "us",
                            .name_len = 2,
                            .lease_us = LEASE,
                            .window_us = QUARANTINE};
}

static enum verdict boot(unsigned flags)
{
    struct request req = boot_of(flags);
    hf__rules_store_apply(s, NOW, &req, &rep);
    return rep.verdict;
}

static enum verdict propose_of(unsigned flags, const char *group)
{
    struct request req = {.verb = VERB_PROPOSE,
                          .flags = flags,
                          .name = "job",
                          .name_len = 3,
                          .owner = "a:1",
                          .attempt = 1,
                          .ballot = NOW,
                          .count = 1,
                          .lease_us = LEASE,
                          .window_us = BALLOT_WINDOW_US,
                          .group = group};
    hf__rules_store_apply(s, NOW, &req, &rep);
    return rep.verdict;
}

static enum verdict propose(unsigned flags)
{
    return propose_of(flags, NULL);
}

TEST(memory_boot, without_a_marker_no_proposal_of_a_quorum_is_accepted)
{
    begin();
    CHECK_INT(propose(REQ_QUORUM), V_UNSETTLED);
    CHECK_INT(propose(REQ_SERVER_FENCE), V_GRANTED);
}

TEST(memory_boot, a_wipe_is_found_out_by_the_next_proposal)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW), V_GRANTED);
    CHECK_INT(propose(REQ_QUORUM), V_GRANTED);
    hf__rules_store_wipe(s, 0);
    CHECK_INT(propose(REQ_QUORUM), V_UNSETTLED);
}

TEST(memory_boot, a_restart_begins_a_quarantine)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW), V_GRANTED);
    CHECK_INT(rep.boot->left_us, 0);
    hf__rules_store_restart(s);
    CHECK_INT(boot(0), V_GRANTED);
    CHECK_INT(rep.boot->left_us, QUARANTINE);
}

TEST(memory_boot, a_restart_of_a_durable_store_begins_none)
{
    begin();
    hf__rules_store_identify(s, 7, 1);
    CHECK_INT(boot(REQ_BOOT_NEW), V_GRANTED);
    hf__rules_store_restart(s);
    CHECK_INT(boot(0), V_GRANTED);
    CHECK_INT(rep.boot->left_us, 0);
}

TEST(memory_boot, a_store_with_a_lock_is_not_new)
{
    begin();
    CHECK_INT(propose(REQ_SERVER_FENCE), V_GRANTED);
    CHECK_INT(boot(REQ_BOOT_NEW), V_ERROR);
    CHECK_INT(rep.status, HF_CONFLICT);
}

/* ---- through the backend ---------------------------------------------- */

static struct fake_env f, g;
static struct fake_answer a, b;

static void conns_close(void *arg)
{
    (void)arg;
    fake_close(&f);
    fake_close(&g);
}

static void conns_open(const char *first, const char *second)
{
    struct hf_error err;
    fake_init(&f, &hf__backend_memory);
    fake_init(&g, &hf__backend_memory);
    test_cleanup(conns_close, NULL);
    CHECK_INT(fake_open(&f, first, &err), HF_OK);
    CHECK_INT(fake_open(&g, second, &err), HF_OK);
}

TEST(memory_boot, a_space_is_one_node_for_all_and_each_is_another)
{
    struct request one = boot_of(0), two = boot_of(0);
    conns_open("memory:boot-a", "memory:boot-b");
    fake_call(&f, &one, &a);
    fake_call(&g, &two, &b);
    CHECK(strcmp(a.boot.identity, b.boot.identity) != 0);
    conns_close(NULL);
    conns_open("memory:boot-a", "memory:boot-a");
    fake_call(&f, &one, &a);
    fake_call(&g, &two, &b);
    CHECK_STR(a.boot.identity, b.boot.identity);
}

TEST(memory_boot, a_late_answer_has_all_of_it)
{
    struct request req = boot_of(REQ_BOOT_NEW);
    conns_open("memory:boot-c?delay_ms=5", "memory:boot-d");
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_STR(a.boot.group, "us");
}

TEST(memory_boot, a_refusal_names_the_node)
{
    struct request req = boot_of(REQ_BOOT_NEW);
    conns_open("memory:boot-e", "memory:boot-f");
    fake_call(&f, &req, &a);
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_STR(a.text,
              "memory:boot-e: boot: it is a member of a quorum already");
}

/* Its client has an old URL: the set of members was changed. */
TEST(memory_boot, a_proposal_of_another_group_is_refused)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW), V_GRANTED);
    CHECK_INT(propose_of(REQ_QUORUM, "them"), V_UNSETTLED);
    CHECK_INT(propose_of(REQ_QUORUM, "us"), V_GRANTED);
}

/*
 * file_detached_test.c: holds that outlive their process.  One rule: a
 * test that a hold lasts looks at it from another connection.
 */
#include "backend/file/record_text.h"
#include "file_rig.h"

static struct rig a, b;

static const char *rigs_start(void)
{
    const char *dir = dir_make();
    rig_start(&a, dir);
    rig_start(&b, dir);
    return dir;
}

static enum verdict renew(struct rig *r, const char *owner, uint64_t attempt,
                          int64_t lease_us)
{
    rig_req(r, VERB_RENEW, "x", owner, attempt, REQ_DETACHED);
    r->req.lease_us = lease_us;
    return rig_send(r);
}

TEST(detached, lasts_without_its_process)
{
    const char *dir = rigs_start();
    static struct holder h;
    holder_start(&h, dir, "x", REQ_DETACHED);
    CHECK(h.fence > 0);
    holder_end(&h);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_BUSY);
    CHECK(a.reply.ttl_us > 0 && a.reply.ttl_us <= LEASE_US);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_BUSY);
    CHECK_INT(rig_read(&b, "x", "b:1", 1), V_BUSY);
    CHECK_INT(rig_propose(&b, "x", "b:1", 2, REQ_DETACHED), V_BUSY);
    CHECK_INT(rig_inspect(&b, "x", "b:1"), V_GRANTED);
    CHECK(b.info.locked && b.info.detached && !b.info.foreign);
    CHECK(b.info.ttl_ms > 0 && b.info.ttl_ms <= LEASE_US / US_PER_MS);
    CHECK_INT(b.info.pid, 4711);
    CHECK_STR(b.info.owner, "holder:1");
    rig_list(&b, NULL);
    CHECK_INT(b.rows_len, 1);
    CHECK(b.row_infos[0].detached);
    CHECK_INT(rig_release(&b, "x", "holder:1", 1), V_GRANTED);
    CHECK_INT(rig_propose(&a, "x", "a:1", 3, 0), V_GRANTED);
    CHECK(a.reply.fence > h.fence);
}

TEST(detached, a_repeated_proposal_gets_the_same_answer)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    int64_t fence = a.reply.fence;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, REQ_DETACHED), V_BUSY);
}

TEST(detached, expires)
{
    rigs_start();
    rig_req(&a, VERB_PROPOSE, "x", "a:1", 1, REQ_DETACHED);
    a.req.ballot = rig_ballot();
    a.req.lease_us = 200 * US_PER_MS;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK(rig_get(&b, "x", "b:1", 1));
    CHECK_INT(renew(&a, "a:1", 1, LEASE_US), V_OTHER);
    CHECK_INT(rig_release(&b, "x", "b:1", 1), V_GRANTED);
    CHECK_INT(renew(&a, "a:1", 1, LEASE_US), V_ABSENT);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_ABSENT);
}

TEST(detached, is_renewed_and_released_by_its_ticket_only)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    CHECK_INT(renew(&b, "a:1", 2, LEASE_US), V_OTHER);
    CHECK_INT(renew(&b, "b:1", 1, LEASE_US), V_OTHER);
    CHECK_INT(renew(&b, "a:1", 1, 2 * LEASE_US), V_GRANTED);
    CHECK(b.reply.ttl_us > 0 && b.reply.ttl_us <= LEASE_US);
    CHECK_INT(renew(&b, "a:1", 1, LEASE_US), V_GRANTED);
    CHECK(b.reply.ttl_us > LEASE_US);
    CHECK_INT(rig_release(&b, "x", "a:1", 2), V_OTHER);
    CHECK_INT(rig_release(&b, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(rig_release(&b, "x", "a:1", 1), V_ABSENT);
}

TEST(detached, its_release_wakes_waiters)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    rig_ask(&b, VERB_WATCH, "x", "b:1", 0);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
    rig_poll(&b, 20, 0);
    b.wakes = 0;
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    for (int i = 0; i < 1000 && !b.wakes; i++) rig_poll(&b, 10, 0);
    CHECK(b.wakes > 0);
    CHECK_INT(rig_propose(&b, "x", "b:1", 2, 0), V_GRANTED);
}

/* Change the record of x as if it had been written elsewhere. */
static void record_edit(const char *dir, void (*edit)(struct record *r))
{
    char text[RECORD_MAX + 1], out[RECORD_MAX], title[] = "x";
    struct record r;
    size_t len = file_read_all(dir, "x.lock", text, sizeof text);
    CHECK_INT(hf__file_record_parse(text, len, &r), RECORD_OK);
    r.title = title;
    edit(&r);
    len = hf__file_record_format(&r, out);
    file_write(dir, "x.lock", out, len);
}

static void edit_boot(struct record *r)
{
    r->boot[0] = r->boot[0] == '0' ? '1' : '0';
}

static void edit_deadline(struct record *r)
{
    r->deadline_us += 10 * HF_LEASE_MS_MAX * US_PER_MS;
}

TEST(detached, ends_with_a_reboot)
{
    const char *dir = rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    int64_t fence = a.reply.fence;
    record_edit(dir, edit_boot);
    CHECK_INT(rig_inspect(&b, "x", ""), V_GRANTED);
    CHECK(!b.info.locked);
    CHECK_INT(renew(&a, "a:1", 1, LEASE_US), V_ABSENT);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_GRANTED);
    CHECK(b.reply.fence > fence);
}

TEST(detached, a_deadline_beyond_all_leases_is_not_believed)
{
    const char *dir = rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    record_edit(dir, edit_deadline);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_GRANTED);
}

TEST(detached, can_be_broken_with_a_fence_bump)
{
    rigs_start();
    CHECK_INT(rig_ask(&b, VERB_BREAK, "x", "b:1", 0), V_GRANTED);
    CHECK_INT(b.info.locked, 0);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    int64_t fence = a.reply.fence;
    CHECK_INT(rig_ask(&b, VERB_BREAK, "x", "b:1", 0), V_GRANTED);
    CHECK_INT(b.info.locked, 1);
    CHECK_STR(b.info.owner, "a:1");
    CHECK(b.reply.counter > fence);
    CHECK_INT(renew(&a, "a:1", 1, LEASE_US), V_ABSENT);
    rig_last_ballot = b.reply.counter;
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_GRANTED);
    CHECK(b.reply.fence > fence);
}

TEST(detached, breaking_a_living_process_is_refused_with_its_pid)
{
    const char *dir = rigs_start();
    char pid[32];
    static struct holder h;
    holder_start(&h, dir, "x", 0);
    CHECK(h.fence > 0);
    CHECK_INT(rig_ask(&b, VERB_BREAK, "x", "b:1", 0), V_ERROR);
    CHECK_INT(b.reply.status, HF_UNSUPPORTED);
    snprintf(pid, sizeof pid, "%d", (int)h.pid);
    CHECK(strstr(b.text, pid));
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
}

TEST(detached, needs_a_lease_and_a_plain_name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/file", rigs_start());
    CHECK_INT(rig_propose(&a, path, "a:1", 1, REQ_DETACHED), V_ERROR);
    CHECK_INT(a.reply.status, HF_UNSUPPORTED);
    CHECK_INT(rig_propose_as(&a, KIND_READ, "x", "a:1", 1, REQ_DETACHED),
              V_ERROR);
    CHECK_INT(a.reply.status, HF_UNSUPPORTED);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED | REQ_NO_EXPIRY),
              V_ERROR);
    CHECK_INT(a.reply.status, HF_UNSUPPORTED);
}

/* Contenders touch the kernel lock for a moment; a renewal must not take that
 * for the loss of the hold. */
TEST(detached, renewals_survive_contenders)
{
    enum { CONTENDERS = 3 };
    static struct rig r;
    char text[512];
    struct hf_error err;
    pid_t pids[CONTENDERS];
    snprintf(text, sizeof text, "file:%s", rigs_start());
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, REQ_DETACHED), V_GRANTED);
    fflush(stdout);
    for (int i = 0; i < CONTENDERS; i++) {
        pids[i] = fork();
        if (pids[i] != 0) continue;
        for (uint64_t n = 1; n < 300; n++) {
            /* A fresh connection knows nothing, so it takes the lock. */
            if (rig_open_url(&r, text, &err) != HF_OK) _exit(2);
            if (rig_propose(&r, "x", "c:1", n, 0) != V_BUSY) _exit(1);
            rig_close(&r);
        }
        _exit(0);
    }
    enum verdict worst = V_GRANTED;
    for (int i = 0; i < 1000; i++) {
        enum verdict got = renew(&b, "a:1", 1, LEASE_US);
        if (got != V_GRANTED) worst = got;
    }
    int status, bad = 0;
    for (int i = 0; i < CONTENDERS; i++)
        bad += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    CHECK_INT(worst, V_GRANTED);
    CHECK_INT(bad, 0);
    CHECK_INT(rig_release(&b, "x", "a:1", 1), V_GRANTED);
}

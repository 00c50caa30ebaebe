/*
 * why/text.c: why a lock cannot be had, in sentences.
 *
 * Every sentence is a fact that was asked for; what is unknown is left out or
 * called so.  The last sentence says what can be done.
 */
#include "common/duration.h"
#include "session/holder.h"
#include "why/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the holder ---- */

static const char *kind_text(const char *kind)
{
    if (strcmp(kind, "redisson") == 0)
        return "It was made by Redisson (Java), on the same keys.";
    if (strcmp(kind, "string") == 0)
        return "It was made by a library that uses SET NX PX, such as "
               "redsync, redis-py or node-redlock.";
    if (strcmp(kind, "flock") == 0)
        return "It is a kernel lock on the file of that name, as flock(1) "
               "takes it.";
    return NULL;
}

static void holder_print(const struct why *w)
{
    const struct hf_info *i = &w->info;
    char holder[HOLDER_TEXT_MAX], time[32];
    printf("%s: held by %s", w->s->shown,
           holder_name(i, holder, sizeof(holder)));
    if (i->since_ms > 0 && i->now_ms >= i->since_ms)
        printf(", for %s",
               duration_text(i->now_ms - i->since_ms, time, sizeof(time)));
    if (i->owner_count > 1) printf(", %" PRId64 " times", i->owner_count);
    if (i->fence && !i->foreign) printf(", with fence %" PRIu64, i->fence);
    printf(".\n");
    if (i->queued > 0)
        printf("%" PRId64 " queue for it, first come, first served.\n",
               i->queued);
    if (i->permits > 0)
        printf("It is a semaphore: %" PRId64 " of its %" PRId64
               " permits are free.\n",
               i->available, i->permits);
    if (kind_text(i->layout)) printf("%s\n", kind_text(i->layout));
    if (i->detached)
        printf("It is held by a ticket (holdfast acquire, or the rest of a "
               "--min-hold), not by a process.\n");
    if (i->guarantee == HF_GUARANTEE_LOCAL)
        printf("The store could not be asked: this is known on this host "
               "only.\n");
}

/* A quorum decides by its majority. */
static void nodes_tell(const struct why *w)
{
    const struct hf_info *i = &w->info;
    if (i->nodes == 0) return;
    if (i->locked)
        printf("It is held on %d of %d nodes", i->nodes_agree, i->nodes);
    else if (i->nodes_heard > i->nodes_agree)
        printf("It is stored on %d of %d nodes, which is no majority",
               i->nodes_heard - i->nodes_agree, i->nodes);
    else
        printf("%d of %d nodes say so", i->nodes_agree, i->nodes);
    if (i->nodes_heard < i->nodes) printf("; %d answered", i->nodes_heard);
    printf(".\n");
    nodes_print(&w->nodes);
}

static int can_vote(const struct why *w)
{
    return w->nodes.len == 0 || w->nodes.voting >= w->nodes.needed;
}

/* ---- how long ---- */

static void renewal_print(const struct why *w)
{
    char time[32];
    duration_text(w->looked_ms, time, sizeof(time));
    if (w->changed)
        printf("It went to another holder while we looked: it is in use.\n");
    else if (w->renewed)
        printf("It is being renewed: its lease went up while we looked.\n");
    else if (w->info.detached)
        printf("It was not renewed in the %s we looked; only holdfast renew "
               "renews it.\n",
               time);
    else
        printf("It was not renewed in the %s we looked; a holder renews "
               "every third of its lease (see --for).\n",
               time);
}

static void ending_print(const struct why *w)
{
    char time[32];
    switch (w->ending) {
    case ENDING_PROCESS:
        printf("It ends with its process, and not before.\n");
        break;
    case ENDING_NEVER:
        printf("It has no expiry: it never ends by itself.\n");
        break;
    case ENDING_SESSION:
        printf("It ends with its client's session: when the client gives it "
               "back, or some time after the client has died.\n");
        break;
    case ENDING_LEASE:
        printf("It ends in %s if it is not renewed.\n",
               duration_text(w->info.ttl_ms, time, sizeof(time)));
        renewal_print(w);
        break;
    }
}

static void process_print(const struct why *w)
{
    switch (w->process) {
    case PROCESS_ALIVE:
        printf("Its process is on this host, and lives.\n");
        break;
    case PROCESS_STOPPED:
        printf("Its process is on this host, and is stopped.\n");
        break;
    case PROCESS_GONE:
        printf("Its process was on this host, and is gone.\n");
        break;
    default:
        break;
    }
}

static void waiters_print(const struct hf_info *i)
{
    if (i->waiters == 0)
        printf("No process waits for it.\n");
    else if (i->waiters == 1)
        printf("1 process waits for it.\n");
    else if (i->waiters > 1)
        printf("%" PRId64 " processes wait for it.\n", i->waiters);
}

/* ---- what to do ---- */

static const char *advice_of_process(const struct why *w)
{
    if (w->process == PROCESS_STOPPED)
        return "let its process go on (kill -CONT), or end it: the lock goes "
               "with it";
    return "wait (holdfast run -w), or end its process: the lock goes with it";
}

static const char *advice_of_session(const struct why *w)
{
    if (w->process == PROCESS_STOPPED)
        return "let its process go on (kill -CONT), or wait for the end of "
               "its session";
    return "wait (holdfast run -w); take it away only if its holder is dead";
}

static const char *advice_of_lease(const struct why *w)
{
    if (w->changed)
        return "wait (holdfast run -w): it goes from one holder to the next";
    if (w->process == PROCESS_STOPPED)
        return "let its process go on (kill -CONT), or wait for the end of "
               "its lease";
    if (w->process == PROCESS_GONE && !w->renewed)
        return "wait for the end of its lease, or free it now";
    if (w->renewed || w->process == PROCESS_ALIVE)
        return "wait (holdfast run -w): its holder is at work; take it away "
               "only if you know better";
    if (w->info.detached)
        return "wait for the end of its lease (holdfast run -w); take it "
               "away only if the owner of the ticket is done";
    return "wait for the end of its lease (holdfast run -w); take it away "
           "only if its holder is dead";
}

/* 0 for a lock that changes hands: breaking it would hit the next holder. */
static int can_break(const struct why *w)
{
    return !w->changed && w->ending != ENDING_PROCESS && !w->info.permits
           && !session_is_refused(w->s, &w->info)
           && (hf_client_caps(w->s->client) & HF_CAP_BREAK) != 0;
}

static const char *refusal_advice(const struct why *w)
{
    static const char *const advice[] = {
        [REFUSED_BY_MEMORY] =
            "free memory on the server, or raise its maxmemory",
        [REFUSED_BY_REPLICAS] = "bring the server's replicas back, or lower "
                                "its min-replicas-to-write",
        [REFUSED_BY_QUORUM] =
            "name all members in the URL, redlock://h1,h2,h3 or quorum:A|B|C, "
            "or use redis://HOST?member=ok if a lock of this server alone is "
            "meant (a database's URL takes member=ok, too)"};
    return advice[w->refused_by];
}

const char *why_advice(const struct why *w, char *out, size_t size)
{
    const char *what = "make sure that its holder is dead, then take it away";
    if (!w->info.locked && !can_vote(w))
        what = "see to the nodes that may not vote; new ones are declared by "
               "holdfast init, restarted ones must wait";
    else if (!w->info.locked && w->refusal[0])
        what = refusal_advice(w);
    else if (!w->info.locked)
        what = "nothing keeps you out";
    else if (session_is_refused(w->s, &w->info))
        what = "use a URL with ?format=string for this name: with this URL it "
               "can be neither acquired nor broken";
    else if (w->info.available > 0)
        what = "take a free permit (holdfast run --slots)";
    else if (w->info.permits > 0)
        what = "wait for a permit to be released (holdfast run --slots), or "
               "give a higher number";
    else if (w->ending == ENDING_PROCESS)
        what = advice_of_process(w);
    else if (w->ending == ENDING_SESSION)
        what = advice_of_session(w);
    else if (w->ending == ENDING_LEASE)
        what = advice_of_lease(w);
    if (w->info.locked && can_break(w))
        snprintf(out, size, "%s: holdfast break %s --yes", what, w->s->shown);
    else
        snprintf(out, size, "%s", what);
    return out;
}

static void free_print(const struct why *w)
{
    printf("%s: %s", w->s->shown,
           w->refusal[0] ? "free, but it cannot be acquired" : "free");
    if (w->info.fence) printf("; its last fence was %" PRIu64, w->info.fence);
    printf(".\n");
    if (w->refusal[0]) printf("The store grants no lock: %s.\n", w->refusal);
    nodes_tell(w);
    if (w->info.permits > 0)
        printf("It is a semaphore of %" PRId64 " permits, for holdfast run "
               "--slots; as a lock the name cannot be had.\n",
               w->info.permits);
    if (!can_vote(w))
        printf("What to do: see to those nodes; new ones are declared by "
               "holdfast init, restarted ones must wait.\n");
    else if (w->refusal[0])
        printf("What to do: %s.\n", refusal_advice(w));
    else if (w->info.guarantee == HF_GUARANTEE_LOCAL)
        printf("The store could not be asked: it is free on this host, and "
               "may be held on another.\n");
    else if (w->info.waiters > 0)
        printf("Nothing keeps you out, but others wait and may be faster.\n");
    else
        printf("Nothing keeps you out.\n");
}

/* What is recorded of the last run by `holdfast once`. */
static void once_print(const struct why *w)
{
    const struct hf_once_result *o = &w->once;
    char when[32];
    if (o->outcome != HF_ONCE_DONE && o->outcome != HF_ONCE_DIED) return;
    printf("holdfast once began it at %s, and it ",
           when_text(o->began_ms, when, sizeof(when)));
    if (o->outcome == HF_ONCE_DONE)
        printf("ended with status %d: once does not run it again in the same "
               "period, or under the same name.\n",
               o->status);
    else
        printf("died: once runs it again only with --retry, or in the next "
               "period.\n");
}

void why_print(const struct why *w)
{
    char advice[TEXT_ESCAPED_MAX + 256];
    if (!w->info.locked) {
        free_print(w);
        once_print(w);
        return;
    }
    holder_print(w);
    nodes_tell(w);
    process_print(w);
    ending_print(w);
    waiters_print(&w->info);
    printf("What to do: %s\n", why_advice(w, advice, sizeof(advice)));
}

const char *why_check(int status)
{
    switch (status) {
    case HF_UNAVAILABLE:
        return "Check that the server runs, that the host and port of --url "
               "or HOLDFAST_URL are right, and that nothing between you and "
               "it drops the connection. A lock that is held stays held until "
               "its lease ends.";
    case HF_DENIED:
        return "Check the user and HOLDFAST_PASSWORD, and that this user may "
               "use the keys and commands named above; with rediss://, the "
               "certificates.";
    case HF_CONFLICT:
        return "The name is in use for something that is no lock, by holdfast "
               "or another program. Choose another name, or find out whose it "
               "is; nothing was changed there.";
    case HF_UNSUPPORTED:
        return "This store cannot tell; holdfast version lists the stores "
               "that there are.";
    default:
        return NULL;
    }
}

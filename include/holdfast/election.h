/*
 * holdfast/election.h: one of many leads.
 *
 *     hf_election *e;  struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
 *     hf_election_open(c, "scheduler", NULL, &e, &err);
 *     o.value = "10.0.0.5:8080";
 *     o.value_len = strlen(o.value);
 *     if (hf_election_campaign(e, &o, &hold, &err) == HF_OK) {
 *         ...               lead; hf_hold_fence(hold) with every write
 *         hf_election_resign(e, &err);
 *     }
 *
 * Who leads holds the lock of the election's name, and nothing else: it is
 * renewed, has a fence, and is seen, waited for and broken as any lock is.
 * Who leads may publish a value, such as its address; everybody can see who
 * leads and what he published.  A lock of this host alone (HF_FALLBACK_LOCAL)
 * is no leadership, and never taken for one.
 *
 * An object is one candidate: give each thread that campaigns its own.
 */
#ifndef HOLDFAST_ELECTION_H
#define HOLDFAST_ELECTION_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hf_election hf_election;

#define HF_ELECTION_NAME_MAX 480    /* bytes in a name */
#define HF_ELECTION_VALUE_MAX 60000 /* bytes in a published value */

/* Told of a change of a leadership: AT_RISK before its lease can end, LOST when
 * it is over, HELD when it is safe again.  `ev` is borrowed for the call.  It
 * runs before the client's own on_state, under the same rules; it may call
 * anything but hf_election_close(). */
typedef void (*hf_election_fn)(hf_election *election, const struct hf_event *ev,
                               void *user);

/* How to open one.  Zero is every field's default. */
struct hf_election_options {
    uint32_t struct_size; /* set by HF_ELECTION_OPTIONS_INIT */
    int32_t order;        /* HF_ORDER_ANY, or HF_ORDER_FAIR: who has campaigned
                           * longest is next; needs HF_CAP_QUEUE */
    int64_t lease_ms;     /* who is gone without resigning is replaced after so
                           * long; 0: the client's */
    int64_t renew_ms;     /* as in struct hf_acquire_options */
    hf_election_fn on_state; /* may be NULL */
    void *user;              /* passed to `on_state` */
};
#define HF_ELECTION_OPTIONS_INIT                                               \
    {                                                                          \
        sizeof(struct hf_election_options), 0, 0, 0, 0, 0                      \
    }

#define HF_CAMPAIGN_TRY 1u /* one try: HF_TAKEN if somebody else leads */

/* How to campaign.  Zero is every field's default. */
struct hf_campaign_options {
    uint32_t struct_size; /* set by HF_CAMPAIGN_OPTIONS_INIT */
    uint32_t flags;       /* HF_CAMPAIGN_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
    const void *value;    /* copied; published on the election; NULL: nothing
                           * is.  Needs HF_CAP_VALUE and HF_CAP_FENCE */
    size_t value_len;     /* at most HF_ELECTION_VALUE_MAX */
};
#define HF_CAMPAIGN_OPTIONS_INIT                                               \
    {                                                                          \
        sizeof(struct hf_campaign_options), 0, 0, 0, 0, 0                      \
    }

/* Who leads. */
struct hf_leader {
    int is_led;       /* 0: nobody does, and the rest is empty */
    int is_me;        /* it is this object's candidate */
    uint64_t fence;   /* of the leadership; 0: none */
    int64_t since_ms; /* wall clock of the store; 0 unknown */
    int64_t now_ms;   /* the same clock, now */
    int64_t ttl_ms;   /* as in struct hf_info */
    int64_t pid;      /* 0 unknown */
    char owner[HF_OWNER_MAX];
    char host[HF_HOST_MAX];   /* "" unknown */
    char label[HF_LABEL_MAX]; /* "" unknown */
    uint64_t version;         /* of the published value; 0: there is none */
    size_t len;               /* bytes in `data` */
    char *data; /* owned by the caller: hf_leader_free(); a NUL is behind it;
                 * NULL: nothing is published (yet) */
};

#define HF_AWAIT_TRY 1u /* look once: HF_TIMEOUT if nothing has changed */

/* How to wait for a change.  Zero is every field's default. */
struct hf_await_options {
    uint32_t struct_size; /* set by HF_AWAIT_OPTIONS_INIT */
    uint32_t flags;       /* HF_AWAIT_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    int64_t look_ms;      /* look so often, 10 ms to 24 h; 0: every 500 ms */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
};
#define HF_AWAIT_OPTIONS_INIT                                                  \
    {                                                                          \
        sizeof(struct hf_await_options), 0, 0, 0, 0                            \
    }

/* Told of asynchronous calls.  `hold` and `leader` are borrowed, and NULL
 * unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_campaigned_fn)(hf_election *election, int status,
                                 hf_hold *hold, const struct hf_error *err,
                                 void *user);
typedef void (*hf_resigned_fn)(hf_election *election, int status,
                               const struct hf_error *err, void *user);
typedef void (*hf_awaited_fn)(hf_election *election, int status,
                              const struct hf_leader *leader,
                              const struct hf_error *err, void *user);

/**
 * Make a candidate, or who only looks.  Nothing is asked of the store.
 *
 * @param client   borrowed; must outlive the object
 * @param name     1 to HF_ELECTION_NAME_MAX bytes, copied: the lock's name
 * @param options  copied; NULL means all defaults
 * @param out      the new object, owned by the caller: hf_election_close(),
 *                 before its client is closed
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK, HF_INVALID (name or options), HF_UNSUPPORTED (the store keeps
 *         no queue), HF_FORKED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_election_open(hf_client *client, const char *name,
                            const struct hf_election_options *options,
                            hf_election **out, struct hf_error *err);

/**
 * Forget a candidate.  If it leads it resigns first.
 *
 * @param election  taken; NULL does nothing; no call on it may be under way;
 *                  waits for a running `on_state`, and so not from within it
 *
 * Threads: any.
 */
HF_API void hf_election_close(hf_election *election);

/**
 * Campaign: wait until this candidate leads.
 *
 * @param election  borrowed
 * @param options   copied; NULL means all defaults
 * @param hold      filled on HF_OK; may be NULL.  Borrowed from `election`:
 *                  hf_election_resign(), the next campaign and
 *                  hf_election_close() end it
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           it leads, and its value is published
 *         HF_TAKEN        HF_CAMPAIGN_TRY, and somebody else leads
 *         HF_TIMEOUT      somebody else led until wait_ms were over
 *         HF_CANCELLED    the token was fired
 *         HF_UNAVAILABLE  the store did not answer; or it did not take the
 *                         value, and the leadership was given back
 *         HF_LOST         the leadership was lost before the value was
 *                         published
 *         HF_CONFLICT     something else is stored under the name, or where
 *                         the value should be
 *         HF_INVALID      a bad option; it leads or campaigns already
 *         HF_UNSUPPORTED  a value, and the store keeps none or has no fences
 *         HF_DENIED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * After any status but HF_OK it does not lead.
 *
 * Threads: any, one campaign at a time.
 */
HF_API int hf_election_campaign(hf_election *election,
                                const struct hf_campaign_options *options,
                                hf_hold **hold, struct hf_error *err);

/**
 * Campaign, asynchronously.
 *
 * @param election  borrowed until `cb` has been called
 * @param options   copied; NULL means all defaults
 * @param cb        called exactly once if, and only if, this returns HF_OK, and
 *                  never before this function has returned; may be NULL
 * @param user      passed to `cb`, never looked at
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK (it is on its way), HF_INVALID, HF_UNSUPPORTED, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as hf_election_campaign() returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_election_campaign_start(hf_election *election,
                                      const struct hf_campaign_options *options,
                                      hf_campaigned_fn cb, void *user,
                                      struct hf_error *err);

/**
 * Lead no more: take back what was published, and let the next one lead.
 *
 * @param election  borrowed
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK, HF_NOT_OWNER (it does not lead), HF_EXPIRED or HF_LOST (it was
 *         over before), HF_UNAVAILABLE (it ends with its lease at the latest),
 *         HF_DENIED, HF_CONFLICT, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Whatever it returns, it leads no more.
 *
 * Threads: any.
 */
HF_API int hf_election_resign(hf_election *election, struct hf_error *err);

/**
 * The same, asynchronously.
 *
 * @param election  borrowed until `cb` has been called
 * @param cb        as for hf_election_campaign_start(); may be NULL
 * @param user      passed to `cb`, never looked at
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK (it is on its way), HF_NOT_OWNER, HF_FORKED, HF_CLOSED,
 *         HF_NOMEM
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_election_resign_start(hf_election *election, hf_resigned_fn cb,
                                    void *user, struct hf_error *err);

/**
 * Publish another value.  Who has been succeeded cannot: the value carries the
 * fence, and a higher one is never replaced by a lower one.
 *
 * @param election  borrowed; it leads
 * @param value     borrowed for the call; may be NULL if value_len is 0
 * @param value_len at most HF_ELECTION_VALUE_MAX
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK
 *         HF_NOT_OWNER    it does not lead
 *         HF_LOST         it leads no more; nothing was changed
 *         HF_UNAVAILABLE  it may or may not have been published; it still
 *                         leads
 *         HF_INVALID, HF_CONFLICT, HF_UNSUPPORTED, HF_DENIED, HF_FORKED,
 *         HF_CLOSED, HF_NOMEM
 *
 * The value ends with the leadership as far as others see it; on the store it
 * ends by itself after 366 days.
 *
 * Threads: any.
 */
HF_API int hf_election_publish(hf_election *election, const void *value,
                               size_t value_len, struct hf_error *err);

/**
 * Who leads?  Asks the store.
 *
 * @param election  borrowed
 * @param out       filled on HF_OK; its data is owned by the caller:
 *                  hf_leader_free()
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK (also if nobody does), HF_UNAVAILABLE, HF_CONFLICT, HF_DENIED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_election_look(hf_election *election, struct hf_leader *out,
                            struct hf_error *err);

/**
 * Wait until somebody else leads, nobody does any more, or another value is
 * published.  The store is asked again and again: what comes and goes between
 * two looks is not seen.
 *
 * @param election  borrowed
 * @param seen      what is known: as an earlier call filled it, its data is not
 *                  looked at; NULL: nothing, so that this answers at once
 * @param options   copied; NULL means all defaults
 * @param out       filled on HF_OK; may be `seen` once its data is freed
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK         it has changed
 *         HF_TIMEOUT    it has not, within wait_ms or at the one look of
 *                       HF_AWAIT_TRY, as far as the store was heard of
 *         HF_UNAVAILABLE  the store did not answer, for as long as any call
 *                       waits for it, and no longer than wait_ms and a few
 *                       round trips
 *         HF_CANCELLED  the token was fired
 *         HF_INVALID, and as hf_election_look()
 *
 * Threads: any.
 */
HF_API int hf_election_await(hf_election *election,
                             const struct hf_leader *seen,
                             const struct hf_await_options *options,
                             struct hf_leader *out, struct hf_error *err);

/**
 * The same, asynchronously.  Called again with what it was told, `cb` is told
 * of one change after the other.
 *
 * @param election  borrowed until `cb` has been called
 * @param seen      copied
 * @param options   copied; NULL means all defaults
 * @param cb        as for hf_election_campaign_start()
 * @param user      passed to `cb`, never looked at
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK (it is on its way), HF_INVALID, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as hf_election_await() returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_election_await_start(hf_election *election,
                                   const struct hf_leader *seen,
                                   const struct hf_await_options *options,
                                   hf_awaited_fn cb, void *user,
                                   struct hf_error *err);

/**
 * Free the data of a leader.
 *
 * @param election  borrowed; the one that filled it
 * @param leader    its data is taken; the rest stays
 *
 * Threads: any.
 */
HF_API void hf_leader_free(hf_election *election, struct hf_leader *leader);

/**
 * The hold of the leadership: its state, fence and validity.
 *
 * @param election  borrowed
 * @return borrowed until hf_election_resign(), the next campaign or
 *         hf_election_close(); NULL if no campaign was won, or it resigned
 *
 * Threads: any; nothing is sent.
 */
HF_API hf_hold *hf_election_hold(hf_election *election);

#ifdef __cplusplus
}
#endif
#endif
